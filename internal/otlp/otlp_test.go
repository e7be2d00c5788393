package otlp

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-bouncer/bouncer/internal/audit"
)

// collector keeps what it is sent.
type collector struct {
	mu      sync.Mutex
	bodies  []string
	headers []http.Header
	paths   []string
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies, c.headers, c.paths = append(c.bodies, string(body)), append(c.headers, r.Header), append(c.paths, r.Method+" "+r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, "{}")
}

func (c *collector) records(t *testing.T) (all []record) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, body := range c.bodies {
		var req exportRequest
		if err := json.Unmarshal([]byte(body), &req); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		for _, r := range req.ResourceLogs {
			for _, s := range r.ScopeLogs {
				all = append(all, s.LogRecords...)
			}
		}
	}
	return all
}

// session is a log with an exporter behind it.
type session struct {
	log  *Log
	e    *Exporter
	path string

	mu   sync.Mutex
	said []string
}

func begin(t *testing.T, address string, change func(*Options)) *session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "home", "audit.jsonl")
	log, err := audit.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := ParseEndpoint(address)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{path: path}
	o := Options{Endpoint: endpoint, Path: path, Session: "ours", Version: "1", Every: time.Millisecond, Problem: func(format string, args ...any) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.said = append(s.said, fmt.Sprintf(format, args...))
	}}
	if change != nil {
		change(&o)
	}
	s.e = Start(o)
	s.log = s.e.Count(log)
	return s
}

// end is what run does at the end of a session. It returns what the user was told.
func (s *session) end(t *testing.T) []string {
	t.Helper()
	if err := s.log.Close(); err != nil {
		t.Error(err)
	}
	s.e.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said)
}

func entry(session, tool string) audit.Entry {
	return audit.Entry{Tool: tool, Args: []byte(`{"body":"the-argument","password":"hunter2"}`), Verdict: "deny", Contract: "sink_gate", Session: session,
		Server: "mail", ID: "abc", Time: time.Unix(1_700_000_000, 0), Reason: "destination to='a@evil.example?token=abcdefgh' came from untrusted data", Origin: "untrusted",
		Evidence: []audit.Evidence{{Contract: "sink_gate", Param: "to", Destination: "a@evil.example", Snippet: "the-snippet"}}}
}

func (s *session) write(t *testing.T, e audit.Entry) {
	t.Helper()
	if err := s.log.Append(e); err != nil {
		t.Fatal(err)
	}
}

// TestExport: what arrives is every verdict of the session and no other, in the collector's own form, masked, without
// arguments and snippets.
func TestExport(t *testing.T) {
	c := &collector{}
	server := httptest.NewServer(c)
	defer server.Close()
	s := begin(t, server.URL, func(o *Options) { o.Header = http.Header{"X-Key": {"k"}} })
	s.write(t, entry("ours", "one"))
	s.log.inner.Append(entry("another", "foreign")) // another session's line in the shared log
	s.log.Buffer(entry("ours", "two"))
	s.log.Buffer(entry("ours", "three"))
	if err := s.log.Flush(); err != nil {
		t.Fatal(err)
	}
	if said := s.end(t); said != nil {
		t.Errorf("it says %q", said)
	}
	records := c.records(t)
	var tools []string
	for _, r := range records {
		for _, a := range r.Attributes {
			if a.Key == "bouncer.tool" {
				tools = append(tools, *a.Value.String)
			}
		}
	}
	if diff := cmp.Diff([]string{"one", "two", "three"}, tools); diff != "" {
		t.Fatalf("tools (-want +got):\n%s", diff)
	}
	all := strings.Join(c.bodies, "\n")
	for _, secret := range []string{"the-argument", "hunter2", "the-snippet", "abcdefgh", "foreign"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s was exported: %s", secret, all)
		}
	}
	r := records[0]
	if r.Time != "1700000000000000000" || r.Severity != 13 || r.Word != "deny" || !strings.HasPrefix(*r.Body.String, "deny mail/one: destination to='a@evil.example?token=[masked") {
		t.Errorf("record %+v, body %s", r, *r.Body.String)
	}
	if c.paths[0] != "POST /v1/logs" || c.headers[0].Get("X-Key") != "k" || c.headers[0].Get("Content-Type") != "application/json" {
		t.Errorf("%s with %v", c.paths[0], c.headers[0])
	}
}

// TestDeadCollectors: a collector that is not there, hangs, errs or redirects delays no line of the log and not the end
// of the session, and the loss is counted.
func TestDeadCollectors(t *testing.T) {
	hang := make(chan struct{})
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	serve := func(h http.HandlerFunc) string {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return server.URL
	}
	collectors := map[string]string{
		"unreachable":  "http://" + closed.Addr().String(),
		"silent":       "http://" + silent.Addr().String(),
		"hanging":      serve(func(http.ResponseWriter, *http.Request) { <-hang }),
		"hanging body": serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); w.(http.Flusher).Flush(); <-hang }),
		"500": serve(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "\x1b[31mno", http.StatusInternalServerError)
		}),
		"503": serve(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "later", http.StatusServiceUnavailable) }),
		"redirect": serve(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}),
		"rejects": serve(func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"partialSuccess":{"rejectedLogRecords":"9999"}}`)
		}),
		"odd redirect": serve(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(302) }),
	}
	t.Cleanup(func() { close(hang) }) // before the servers are closed, which wait for their handlers
	for name, address := range collectors {
		t.Run(name, func(t *testing.T) {
			s := begin(t, address, func(o *Options) { o.Grace = 100 * time.Millisecond })
			const lines = 3 * queueMost / 2
			for i := range lines { // returns although nothing of it is taken
				s.write(t, entry("ours", fmt.Sprint("tool", i)))
			}
			said := s.end(t) // returns although the collector does not
			if len(said) == 0 || !strings.Contains(said[len(said)-1], fmt.Sprintf("%d of %d verdicts were not exported", lines, lines)) {
				t.Errorf("it says %q", said)
			}
			if len(said) > 2 {
				t.Errorf("it says %d things: %q", len(said), said)
			}
			if strings.Contains(strings.Join(said, ""), "\x1b") {
				t.Errorf("the collector's words reach the terminal: %q", said)
			}
			kept := 0
			if err := audit.Scan(s.path, audit.Filter{}, func(audit.Record) { kept++ }); err != nil || kept != lines {
				t.Errorf("the log has %d lines of %d, %v", kept, lines, err)
			}
		})
	}
	if elsewhere.Load() > 0 {
		t.Error("a redirect was followed")
	}
}

// TestBusy: a collector that is busy at first gets everything, once.
func TestBusy(t *testing.T) {
	c, calls := &collector{}, atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		c.ServeHTTP(w, r)
	}))
	defer server.Close()
	s := begin(t, server.URL+"/base/", func(o *Options) { o.Grace = time.Minute })
	s.write(t, entry("ours", "one"))
	if said := s.end(t); said != nil {
		t.Errorf("it says %q", said)
	}
	if n := len(c.records(t)); n != 1 || c.paths[0] != "POST /base/v1/logs" {
		t.Errorf("%d records at %v", n, c.paths)
	}
}

// TestRotated: lines are found in the file that follows a rotated one, and a log that is taken away is told.
func TestRotated(t *testing.T) {
	c := &collector{}
	server := httptest.NewServer(c)
	defer server.Close()
	s := begin(t, server.URL, func(o *Options) { o.Grace = time.Minute })
	s.log.Close()
	log, err := audit.Open(s.path, audit.Options{MaxSize: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	s.log = s.e.Count(log)
	for i := range 100 {
		s.write(t, entry("ours", fmt.Sprint("tool", i)))
	}
	files, err := audit.Files(s.path)
	if err != nil || len(files) < 2 {
		t.Fatalf("not rotated: %v %v", files, err)
	}
	s.e.opts.Grace = time.Second // of 150 ms between two looks, several rotations may be missed; then it is counted
	said := s.end(t)
	if n := len(c.records(t)); n != 100 && (len(said) == 0 || !strings.Contains(said[len(said)-1], fmt.Sprintf("%d of 100", 100-n))) {
		t.Errorf("%d records of 100, and it says %q", n, said)
	}
}

func TestParseEndpoint(t *testing.T) {
	for in, want := range map[string]string{
		"http://localhost:4318":             "http://localhost:4318/v1/logs",
		"http://localhost:4318/":            "http://localhost:4318/v1/logs",
		"https://c.example/otlp":            "https://c.example/otlp/v1/logs",
		"https://c.example/otlp/v1/logs":    "https://c.example/otlp/v1/logs",
		"":                                  "",
		"localhost:4318":                    "",
		"file:///etc/passwd":                "",
		"http://":                           "",
		"http://u:p4ssw0rd@c.example":       "",
		"http://c.example/?key=p4ssw0rd":    "",
		"http://c.example/#x":               "",
		"http://u:p4ssw0rd@c.example:port/": "",
	} {
		got, err := ParseEndpoint(in)
		if (err != nil) != (want == "") || err == nil && got.String() != want {
			t.Errorf("%q is %v, %v; want %q", in, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "p4ssw0rd") {
			t.Errorf("%q: the error repeats the password: %v", in, err)
		}
	}
}

func TestParseHeaders(t *testing.T) {
	got, err := ParseHeaders("api-key=a%20b%3D, authorization = Basic eA==,,X=1")
	want := http.Header{"Api-Key": {"a b="}, "Authorization": {"Basic eA=="}, "X": {"1"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, bad := range []string{"p4ssw0rd", "=p4ssw0rd", "a b=p4ssw0rd", "x=p4ssw0rd%0d%0aEvil: 1", "x=%zzp4ssw0rd", "Content-Length=1", "host=x"} {
		if h, err := ParseHeaders(bad); err == nil || strings.Contains(err.Error(), "p4ssw0rd") {
			t.Errorf("%q: %v, %v", bad, h, err)
		}
	}
}

// FuzzParseEndpoint: what is accepted leads to an http address without credentials whose path is a collector's.
func FuzzParseEndpoint(f *testing.F) {
	f.Add("http://localhost:4318")
	f.Add("https://a@b/../v1/logs?x#y")
	f.Fuzz(func(t *testing.T, in string) {
		u, err := ParseEndpoint(in)
		if err != nil {
			return
		}
		again, err := url.Parse(u.String())
		if err != nil || again.User != nil || again.RawQuery != "" || again.Hostname() == "" || !strings.HasSuffix(again.Path, logsPath) {
			t.Errorf("%q is %q, %v", in, u, err)
		}
	})
}
