//go:build !unix

package upstream

import "os"

// Stdio returns os.Stdin and os.Stdout: there are no blocking descriptors and no SIGPIPE to arrange for here.
func Stdio() (in, out *os.File) { return os.Stdin, os.Stdout }

// Stderr returns os.Stderr.
func Stderr() *os.File { return os.Stderr }

// Hangup returns nil, which never fires: nothing here announces the end of an anonymous pipe but reading it. A client
// that ends is noticed by the reader; while that is blocked, by nobody.
func Hangup(*os.File) <-chan struct{} { return nil }
