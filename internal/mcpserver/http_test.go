package mcpserver

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/audit"
)

func TestListen(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "127.0.0.2:0"} {
		l, err := Listen(addr)
		if err != nil {
			t.Errorf("%s: %v", addr, err)
			continue
		}
		l.Close()
	}
	for _, addr := range []string{"", ":0", "0.0.0.0:0", "[::]:0", "localhost:0", "192.0.2.1:0", "[::ffff:192.0.2.1]:0", "127.0.0.1", "127.0.0.1:99999", "evil.example:80", "127.1:0", "2130706433:0"} {
		if l, err := Listen(addr); err == nil {
			l.Close()
			t.Errorf("%s is served", addr)
		}
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// TestForeignPages: what a web page could send, by itself or after DNS rebinding, is refused at every path.
func TestForeignPages(t *testing.T) {
	s, _ := newServer(t, "")
	h := httptest.NewServer(s.Handler())
	defer h.Close()
	_, port, _ := net.SplitHostPort(h.Listener.Addr().String())
	for _, row := range []struct {
		name, host, origin, site string
		want                     int
	}{
		{"a client", "", "", "", http.StatusOK},
		{"by name", "localhost:" + port, "", "", http.StatusOK},
		{"its own origin", "", "http://127.0.0.1:" + port, "same-origin", http.StatusOK},
		{"rebound", "evil.example:" + port, "", "", http.StatusForbidden},
		{"rebound with origin", "evil.example:" + port, "http://evil.example:" + port, "same-origin", http.StatusForbidden},
		{"another port's host", "127.0.0.1:1", "", "", http.StatusForbidden},
		{"no port", "127.0.0.1", "", "", http.StatusForbidden},
		{"a foreign page", "", "https://evil.example", "cross-site", http.StatusForbidden},
		{"a page of another local server", "", "http://localhost:1", "same-site", http.StatusForbidden},
		{"a file", "", "null", "", http.StatusForbidden},
		{"another scheme", "", "https://127.0.0.1:" + port, "", http.StatusForbidden},
		{"a picture", "", "", "cross-site", http.StatusForbidden},
		{"a look-alike", "127.0.0.1.evil.example:" + port, "", "", http.StatusForbidden},
		{"a user in the origin", "", "http://127.0.0.1:" + port + "@evil.example", "", http.StatusForbidden},
	} {
		for _, path := range []string{"/mcp", "/", "/metrics"} {
			t.Run(row.name+path, func(t *testing.T) {
				method, body := "POST", io.Reader(strings.NewReader(initialize))
				if path == "/metrics" {
					method, body = "GET", nil
				}
				req, err := http.NewRequest(method, h.URL+path, body)
				if err != nil {
					t.Fatal(err)
				}
				req.Host = row.host
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Accept", "application/json, text/event-stream")
				if row.origin != "" {
					req.Header.Set("Origin", row.origin)
				}
				if row.site != "" {
					req.Header.Set("Sec-Fetch-Site", row.site)
				}
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				if text, _ := io.ReadAll(res.Body); res.StatusCode != row.want {
					t.Errorf("%d, wanted %d: %s", res.StatusCode, row.want, text)
				}
			})
		}
	}
}

// TestNoLocalAddress: a request of which nobody knows where it arrived is refused.
func TestNoLocalAddress(t *testing.T) {
	s, _ := newServer(t, "")
	for _, at := range []net.Addr{nil, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}} {
		req := httptest.NewRequest("GET", "http://127.0.0.1:80/metrics", nil)
		if at != nil {
			req = req.WithContext(context.WithValue(req.Context(), http.LocalAddrContextKey, at))
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, req)
		if w.Code != http.StatusForbidden {
			t.Errorf("%v: %d", at, w.Code)
		}
	}
}

func TestMetrics(t *testing.T) {
	s, home := newServer(t, "")
	writeLog(t, home, append(entries(), audit.Entry{Tool: `a"} 1` + "\n" + `bouncer_fake{x="`, Server: `b\`, Verdict: "deny", Contract: "pinning"})...)
	h := httptest.NewServer(s.Handler())
	defer h.Close()
	res, err := http.Get(h.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	text := string(body)
	for _, want := range []string{"\nbouncer_verdicts_total{verdict=\"ask\",contract=\"sink_gate\",server=\"mail\",tool=\"send_email\"} 1\n",
		"\nbouncer_verdicts_total{verdict=\"allow\",contract=\"default\",server=\"files\",tool=\"read\"} 1\n",
		`server="b\\",tool="a\"} 1\\u{a}bouncer_fake{x=\""} 1` + "\n", "bouncer_info{version=\"test\"} 1\n", "bouncer_audit_unreadable_lines_total 0\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "# ") && !strings.HasPrefix(line, "bouncer_") || strings.HasPrefix(line, "bouncer_fake") {
			t.Errorf("a line that nobody meant: %q", line)
		}
	}
	if res.Header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Error(res.Header)
	}
}

// TestServeEnds: the server closes its listener when its context ends, and says nothing is wrong.
func TestServeEnds(t *testing.T) {
	s, _ := newServer(t, "")
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	res, err := http.Get("http://" + l.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("it still listens")
	}
}
