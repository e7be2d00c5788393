package ui

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

const host = "127.0.0.1:4711"

type rig struct {
	t    *testing.T
	ui   *UI
	dir  *approval.Dir
	home string
}

func newRig(t *testing.T) rig {
	t.Helper()
	home := t.TempDir()
	dir := approval.NewDir(filepath.Join(home, "pending"), nil)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	u, err := New(ctx, Config{Pending: dir, Log: filepath.Join(home, "audit.jsonl"), Version: "test",
		Book:    func() (*approval.Book, error) { return approval.OpenBook(filepath.Join(home, "approvals.yaml"), nil) },
		Servers: func() []Server { return []Server{{Client: "C", Name: "<b>files", State: "wrapped"}} }}, host)
	if err != nil {
		t.Fatal(err)
	}
	return rig{t, u, dir, home}
}

// waits puts a question there.
func (r rig) waits(to string) approval.Pending {
	r.t.Helper()
	q := approval.Question{ID: "abcdefgh", Client: "<script>alert(1)</script>", Server: "mail", Tool: "send", Reason: "unproven", Args: []byte(`{"to":"` + to + `"}`), Keys: []string{"k"},
		Asked: []approval.Destination{{Param: "to", Destination: destination.Parse(to)[0], Contract: "sink_gate", Origin: "unproven",
			Seen: &provenance.Sighting{Snippet: "<img src=x onerror=alert(1)>\u202e", Source: provenance.Source{Server: "web", Tool: "fetch", Kind: "result"}}}}}
	p := approval.Pending{Question: q, Key: q.Key(), Asked: time.Now(), Expires: time.Now().Add(time.Minute)}
	if _, err := r.dir.Put(p); err != nil {
		r.t.Fatal(err)
	}
	return p
}

type request struct {
	method, path string
	form         url.Values
	host         string
	header       map[string]string
	body         string
}

func (r rig) do(q request) *httptest.ResponseRecorder {
	body := q.body
	if q.form != nil {
		body = q.form.Encode()
	}
	req := httptest.NewRequest(q.method, "http://"+host+q.path, strings.NewReader(body))
	req.Host = host
	if q.host != "" {
		req.Host = q.host
	}
	if q.method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", "http://"+host)
	}
	for k, v := range q.header {
		if v == "" {
			req.Header.Del(k)
		} else {
			req.Header.Set(k, v)
		}
	}
	w := httptest.NewRecorder()
	r.ui.ServeHTTP(w, req)
	return w
}

func (r rig) form(p approval.Pending, choice string) url.Values {
	return url.Values{"id": {p.ID}, "key": {p.Key}, "choice": {choice}}
}

// TestForeignRequests: nobody but the page itself, at its own address, with its token, sees or answers anything.
func TestForeignRequests(t *testing.T) {
	r := newRig(t)
	p := r.waits("new@random.example")
	base := r.ui.Path()
	post := func(change func(*request)) request {
		q := request{method: http.MethodPost, path: base + "answer", form: r.form(p, "once"), header: map[string]string{}}
		change(&q)
		return q
	}
	for name, tt := range map[string]struct {
		request
		code int
	}{
		"no token":               {request{method: http.MethodGet, path: "/"}, 403},
		"a wrong token":          {request{method: http.MethodGet, path: "/" + strings.Repeat("a", 43) + "/"}, 403},
		"half a token":           {request{method: http.MethodGet, path: base[:len(base)-2] + "/"}, 403},
		"the token and more":     {request{method: http.MethodGet, path: strings.TrimSuffix(base, "/") + "x/"}, 403},
		"the token, no slash":    {request{method: http.MethodGet, path: strings.TrimSuffix(base, "/")}, 403},
		"a rebound name":         {request{method: http.MethodGet, path: base, host: "evil.example:4711"}, 403},
		"another port":           {request{method: http.MethodGet, path: base, host: "127.0.0.1:80"}, 403},
		"localhost":              {request{method: http.MethodGet, path: base, host: "localhost:4711"}, 403},
		"a script elsewhere":     {request{method: http.MethodGet, path: base, header: map[string]string{"Sec-Fetch-Site": "cross-site"}}, 403},
		"another local port":     {request{method: http.MethodGet, path: base, header: map[string]string{"Sec-Fetch-Site": "same-site"}}, 403},
		"a foreign origin":       {post(func(q *request) { q.header["Origin"] = "https://evil.example" }), 403},
		"a null origin":          {post(func(q *request) { q.header["Origin"] = "null" }), 403},
		"no origin":              {post(func(q *request) { q.header["Origin"] = "" }), 403},
		"another port's origin":  {post(func(q *request) { q.header["Origin"] = "http://127.0.0.1:80" }), 403},
		"a form opened directly": {post(func(q *request) { q.header["Sec-Fetch-Site"] = "none" }), 403},
		"a wrong token's answer": {post(func(q *request) { q.path = "/x/answer" }), 403},
		"an answer by GET":       {request{method: http.MethodGet, path: base + "answer?" + r.form(p, "once").Encode()}, 405},
		"a page by POST":         {request{method: http.MethodPost, path: base}, 405},
		"a page by PUT":          {request{method: http.MethodPut, path: base + "answer"}, 405},
		"a huge form":            {post(func(q *request) { q.form = url.Values{"x": {strings.Repeat("x", 1<<20)}} }), 413},
		"no such page":           {request{method: http.MethodGet, path: base + "../../etc/passwd"}, 404},
		"no such verdict":        {request{method: http.MethodGet, path: base + "verdict/<b>"}, 404},
		"the page":               {request{method: http.MethodGet, path: base}, 200},
		"its style":              {request{method: http.MethodGet, path: base + "style.css"}, 200},
		"its script":             {request{method: http.MethodGet, path: base + "script.js"}, 200},
	} {
		w := r.do(tt.request)
		if w.Code != tt.code {
			t.Errorf("%s: %d, want %d", name, w.Code, tt.code)
		}
		if tt.code != 200 && strings.Contains(w.Body.String(), "random.example") {
			t.Errorf("%s: it learns what is asked", name)
		}
		if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") || !strings.Contains(got, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", name, got)
		}
	}
	if _, err := r.dir.Get(p.ID); err != nil {
		t.Errorf("something answered the question: %v", err)
	}
}

// TestOthersText: what others wrote is text, whatever it looks like, and nothing comes from another host.
func TestOthersText(t *testing.T) {
	r := newRig(t)
	r.waits("new@random.example")
	line := `{"tool": "<script>x</script>", "args": {}, "verdict": "deny", "reason": "<img src=//evil.example>", "contract": "sink_gate", "id": "abcd", "time": "2026-01-02T03:04:05Z", "server": "s", "evidence": [{"contract":"sink_gate","param":"to","destination":"<b>@x.example","kind":"email","origin":"untrusted","seen_server":"web","seen_tool":"fetch","seen_field":"a","snippet":"<script>y</script>","reason":"r"}]}`
	if err := os.WriteFile(filepath.Join(r.home, "audit.jsonl"), []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "verdict/abcd"} {
		w := r.do(request{method: http.MethodGet, path: r.ui.Path() + path})
		text := w.Body.String()
		for _, bad := range []string{"<script>", "<img", "<b>", "\u202e", "//evil.example>"} {
			if strings.Contains(text, bad) {
				t.Errorf("%q holds %q", path, bad)
			}
		}
		if !strings.Contains(text, "&lt;script&gt;") {
			t.Errorf("%q does not show what was written:\n%s", path, text)
		}
	}
}

// TestAnswers: a click answers the question that was shown, once, with one of its answers.
func TestAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(url.Values)
		said   string
		choice approval.Choice
		kept   string
	}{
		"once":              {func(f url.Values) {}, "approved", approval.Once, ""},
		"session":           {func(f url.Values) { f.Set("choice", "session") }, "approved", approval.Session, ""},
		"deny":              {func(f url.Values) { f.Set("choice", "deny") }, "denied", approval.Deny, ""},
		"always":            {func(f url.Values) { f.Set("choice", "always") }, "approved", approval.Always, `destination: "new@corp.example"`},
		"always, wider":     {func(f url.Values) { f.Set("choice", "always"); f.Set("scope", "domain") }, "approved", approval.Always, `destination: "@corp.example"`},
		"never":             {func(f url.Values) { f.Set("choice", "never") }, "denied", approval.Never, "answer: never"},
		"another question":  {func(f url.Values) { f.Set("id", "zzzzzzzz") }, "gone", 0, ""},
		"a changed one":     {func(f url.Values) { f.Set("key", "x") }, "changed", 0, ""},
		"no choice":         {func(f url.Values) { f.Del("choice") }, "none", 0, ""},
		"an unknown choice": {func(f url.Values) { f.Set("choice", "yes") }, "none", 0, ""},
		"an unknown scope":  {func(f url.Values) { f.Set("scope", "all") }, "none", 0, ""},
	} {
		r := newRig(t)
		p := r.waits("new@corp.example")
		form := r.form(p, "once")
		tt.change(form)
		w := r.do(request{method: http.MethodPost, path: r.ui.Path() + "answer", form: form})
		if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != r.ui.Path()+"?said="+tt.said {
			t.Errorf("%s: %d %s, want %s", name, w.Code, got, tt.said)
		}
		g, ok, err := r.dir.Take(p.Key)
		if err != nil || ok != (tt.said == "approved" || tt.said == "denied") || ok && (g.Choice != tt.choice || g.By != approval.ByPage) {
			t.Errorf("%s: took %+v, %v, %v", name, g, ok, err)
		}
		book, _ := os.ReadFile(filepath.Join(r.home, "approvals.yaml"))
		if (tt.kept == "") != (len(book) == 0) || !strings.Contains(string(book), tt.kept) {
			t.Errorf("%s: approvals.yaml:\n%s", name, book)
		}
		if tt.said == "approved" {
			if w := r.do(request{method: http.MethodPost, path: r.ui.Path() + "answer", form: form}); !strings.Contains(w.Header().Get("Location"), "gone") {
				t.Errorf("%s: it can be answered again", name)
			}
		}
	}
}

// TestRevoke takes back the line that was shown, and no other.
func TestRevoke(t *testing.T) {
	r := newRig(t)
	book, err := approval.OpenBook(filepath.Join(r.home, "approvals.yaml"), nil)
	if err == nil {
		err = book.Remember(r.waits("new@corp.example").Entries(approval.Always, ""), time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	entries, _ := book.Entries()
	for _, tt := range []struct {
		form url.Values
		said string
	}{
		{url.Values{"number": {"1"}, "line": {"another"}}, "changed"},
		{url.Values{"number": {"2"}, "line": {entries[0].Line()}}, "changed"},
		{url.Values{"number": {"1"}, "line": {entries[0].Line()}}, "revoked"},
	} {
		if w := r.do(request{method: http.MethodPost, path: r.ui.Path() + "revoke", form: tt.form}); !strings.HasSuffix(w.Header().Get("Location"), tt.said) {
			t.Errorf("%v: %s, want %s", tt.form, w.Header().Get("Location"), tt.said)
		}
	}
	if left, _ := book.Entries(); len(left) != 0 {
		t.Errorf("%d entries are left", len(left))
	}
}

// TestListen: the page is for this machine alone.
func TestListen(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "example.com:0", "192.0.2.1:0", "127.0.0.1"} {
		if l, err := Listen(address); err == nil {
			l.Close()
			t.Errorf("it listens at %s", address)
		}
	}
}

// TestEvents: a connected page is told of a question, and while it is connected calls wait for it.
func TestEvents(t *testing.T) {
	r := newRig(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		req.Host = host
		r.ui.ServeHTTP(w, req)
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+r.ui.Path()+"events", nil)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	buf := make([]byte, 1024)
	if n, err := res.Body.Read(buf); err != nil || !strings.Contains(string(buf[:n]), "hello") {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	r.waits("new@random.example")
	for got := ""; !strings.Contains(got, "event: change"); {
		n, err := res.Body.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got += string(buf[:n])
	}
	if !r.dir.Attended() {
		t.Error("nobody attends")
	}
}
