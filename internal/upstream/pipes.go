package upstream

import "os"

// pipePair is one pipe between Bouncer and the server.
type pipePair struct{ ours, child *os.File }

// pipeSet is the server's three standard streams.
type pipeSet struct{ stdin, stdout, stderr pipePair }

// openPipes opens all three or none. stdin and stdout carry the protocol and are blocking files where that is to be
// had (see blockingPipe); stderr is an ordinary Go pipe, because its read must be interruptible by Close.
func openPipes() (*pipeSet, error) {
	s := &pipeSet{}
	var err error
	if s.stdin.child, s.stdin.ours, err = blockingPipe(); err == nil {
		if s.stdout.ours, s.stdout.child, err = blockingPipe(); err == nil {
			if s.stderr.ours, s.stderr.child, err = os.Pipe(); err == nil {
				return s, nil
			}
		}
	}
	s.closeChild()
	s.closeOurs()
	return nil, err
}

// closeChild closes the server's ends in Bouncer. Left open, they would hide the server's death: no EOF, no EPIPE.
func (s *pipeSet) closeChild() { closeAll(s.stdin.child, s.stdout.child, s.stderr.child) }

func (s *pipeSet) closeOurs() { closeAll(s.stdin.ours, s.stdout.ours, s.stderr.ours) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
