package e2e

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

// scriptedMode, in front of a script's name in BOUNCER_E2E_STUB, makes the test binary an MCP server that keeps to that
// script. It writes its process id to the file pids, and every call that reaches it to the file calls, in its working
// directory: what was denied must not stand there.
const scriptedMode = "scripted:"

// scriptedTools is what every script lists. do misbehaves as its argument says; what the others do is of no interest,
// only whether they are reached.
const scriptedTools = `{"tools":[` +
	`{"name":"do","inputSchema":{"type":"object","properties":{"what":{"type":"string"},"n":{"type":"integer"}}}},` +
	`{"name":"read","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}},` +
	`{"name":"write","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}},` +
	`{"name":"send","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}]}`

// scriptedServer is a server in the middle of its script.
type scriptedServer struct {
	out   answers
	calls *os.File
	late  sync.WaitGroup // answers that are still to come
}

func scripted(script string) {
	note("pids", fmt.Sprint(os.Getpid()))
	switch script {
	case "plain":
	case "exit": // before a word was said
		os.Exit(7)
	case "silent": // neither reads nor answers, so that whoever waits for initialize waits for ever
		liveOn()
	case "mute": // hears the first request and never answers
		bufio.NewReader(os.Stdin).ReadString('\n')
		note("heard", "it")
		liveOn()
	case "flood": // far more than a pipe holds, beside everything else
		go flood(50 << 20)
	case "banner":
		os.Stdout.WriteString("\xef\xbb\xbfServer started on stdio\n" + noiseLines)
	case "bom": // right before its first answer
		os.Stdout.WriteString("\xef\xbb\xbf")
	case "stubborn": // neither the end of its input nor a polite signal ends it
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	case "grandchild", "daemon": // something that it started holds its output open
		startGrandchild(script == "daemon")
	default:
		fmt.Fprintln(os.Stderr, "no such script:", script)
		os.Exit(9)
	}
	s := &scriptedServer{calls: openNote("calls")}
	s.serve()
	s.late.Wait()
	s.out.flush()
	if script == "stubborn" {
		liveOn()
	}
}

// serve answers line by line. It never waits for its reader, as a server with threads of its own does not.
func (s *scriptedServer) serve() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		f := parseFrame(string(bytes.TrimSpace(line)))
		switch f.method {
		case "initialize":
			s.answer(f.id, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"scripted","version":"0"}}`)
		case "tools/list":
			s.answer(f.id, scriptedTools)
		case "tools/call":
			s.call(f)
		}
	}
}

func (s *scriptedServer) answer(id, result string) {
	s.out.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result))
}

func (s *scriptedServer) call(f frame) {
	var params struct {
		Name      string
		Arguments struct {
			What string
			N    int
		}
	}
	if err := json.Unmarshal(f.params, &params); err != nil {
		s.out.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"bad"}}`+"\n", f.id))
		return
	}
	fmt.Fprintln(s.calls, f.id, params.Name) // one write: it is there before anything is answered
	done := fmt.Sprintf(`{"content":[{"type":"text","text":"done %s"}]}`, strings.ReplaceAll(f.id, `"`, ""))
	switch params.Arguments.What {
	case "never":
	case "late":
		s.late.Go(func() {
			time.Sleep(200 * time.Millisecond) // the case itself: an answer that comes when the client has hung up
			s.answer(f.id, done)
		})
	case "twice":
		s.answer(f.id, done)
		s.answer(f.id, done)
	case "foreign":
		s.answer("999999", done)
		s.answer(`"`+f.id+`"`, done) // the string is another id than the number
		s.answer(f.id, done)
	case "noise":
		s.out.write(noiseLines)
		s.answer(f.id, done)
	case "big":
		s.out.write(bigAnswer(f.id, params.Arguments.N) + "\n")
	case "die", "torn", "close-stdout", "close-stdin":
		s.misbehave(params.Arguments.What, f.id, done)
	default:
		s.answer(f.id, done)
	}
}

// misbehave does what cannot be undone, after everything that was answered before is out.
func (s *scriptedServer) misbehave(what, id, done string) {
	if what == "close-stdin" {
		os.Stdin.Close()
		s.answer(id, done)
		s.out.flush()
		liveOn()
	}
	s.out.flush()
	switch what {
	case "die":
		os.Exit(7)
	case "torn":
		fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"te`, id)
		os.Exit(7)
	case "close-stdout":
		os.Stdout.Close()
		liveOn()
	}
}

// noiseLines are lines that are no messages: banners, box art, blank lines, JSON that is no JSON-RPC (B04, B05), some
// with the id of a call.
var noiseLines = "╔" + strings.Repeat("═", 40) + "╗\n║ 🚀 ready ║\n╚" + strings.Repeat("═", 40) + "╝\n\n \t\r\n" +
	"npm warn deprecated x@1.0.0\n{ debug: 1 }\n[INFO] x\n\"ready\"\n42\nnull\ntrue\n[]\n{}\n{\"level\":\"info\",\"msg\":\"hi\"}\n" +
	"{\n  \"pretty\": {\n    \"deep\": [1, 2]\n  }\n}\n\x00\x01\x02\xff\xfe\n{\"id\":1,\"level\":30}\n{\"jsonrpc\":\"1.0\",\"id\":2}\n"

// bigAnswer is a whole answer of about n bytes, without its newline, the same for the same arguments.
func bigAnswer(id string, n int) string {
	seed := sha256.Sum256([]byte(id))
	block := fmt.Sprintf(`%x é \" \\ \u00e9 </x> `, seed) // what a relay that decodes and encodes would spell differently
	return fmt.Sprintf(`{"jsonrpc": "2.0","id":%s, "result":{"content":[{"type":"text","text":"%s"}],"n":1.0e2}}`,
		id, strings.Repeat(block, n/len(block)+1))
}

// flood writes n bytes of log lines to standard error.
func flood(n int) {
	line := []byte("2026-01-01 INFO " + strings.Repeat("x", 1000) + "\n")
	chunk := bytes.Repeat(line, 64)
	for written := 0; written < n; written += len(chunk) {
		if _, err := os.Stderr.Write(chunk); err != nil {
			os.Exit(8)
		}
	}
	note("flooded", "all of it")
}

// liveOn is not select {}, which the runtime takes for a deadlock and ends.
func liveOn() { time.Sleep(time.Hour) }

func startGrandchild(daemon bool) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), stubMode+"=deaf")
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if daemon {
		leaveGroup(child)
	}
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	note("pids", fmt.Sprint(child.Process.Pid))
}

func openNote(name string) *os.File {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	return f
}

func note(name, line string) {
	f := openNote(name)
	defer f.Close()
	fmt.Fprintln(f, line)
}

// answers is an unbounded queue in front of standard output.
type answers struct {
	mu      sync.Mutex
	queue   []string
	writing sync.WaitGroup
	busy    bool
}

func (a *answers) write(s string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue = append(a.queue, s)
	if !a.busy {
		a.busy = true
		a.writing.Go(a.drain)
	}
}

func (a *answers) drain() {
	for {
		a.mu.Lock()
		out := strings.Join(a.queue, "")
		a.queue = nil
		a.busy = out != ""
		a.mu.Unlock()
		if out == "" {
			return
		}
		if _, err := os.Stdout.WriteString(out); err != nil {
			os.Exit(8)
		}
	}
}

func (a *answers) flush() { a.writing.Wait() }

// launch is a client's process: it starts the command, hands its own input and the command's output through, and notes
// the command's process id. It is there to be killed.
func launch(argv []string) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), stubMode+"="+os.Getenv(launchedMode))
	cmd.Stderr = os.Stderr
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		os.Exit(9)
	}
	note("pids", fmt.Sprint(cmd.Process.Pid))
	go func() {
		bufio.NewReader(os.Stdin).WriteTo(stdin)
		stdin.Close()
	}()
	bufio.NewReader(stdout).WriteTo(os.Stdout)
	cmd.Wait()
}

// launchedMode is the stubMode of what launch starts.
const launchedMode = "BOUNCER_E2E_LAUNCHED"
