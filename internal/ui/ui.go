// Package ui is Bouncer's own page: waiting questions with their evidence, live verdicts and where their destinations came from,
// remembered answers, and which servers are wrapped. It is served on the machine's own address alone, to whoever has the
// token that the terminal printed.
//
// It must not decide anything, and it must not load anything from elsewhere: a page that can approve is worth attacking.
package ui

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/destination"
)

//go:embed page.html story.html style.css script.js
var files embed.FS

// Config is what a page is about.
type Config struct {
	Pending *approval.Dir
	Book    func() (*approval.Book, error)
	Log     string // path of the audit log
	Servers func() []Server
	Notify  func() // told when another question waits; nil tells nobody
	Version string
}

// Server is one entry of a client's config file, and how it stands.
type Server struct{ Client, Path, Name, State, Wrong string }

// UI is one page. Its handler answers for one address and one token.
type UI struct {
	cfg    Config
	host   string // 127.0.0.1:PORT
	token  string
	pages  *template.Template
	watch  *watcher
	closed context.Context
}

// New returns the page for requests to host. The token is drawn anew: who has it may approve.
func New(ctx context.Context, cfg Config, host string) (*UI, error) {
	var secret [32]byte
	rand.Read(secret[:])
	pages, err := template.New("").Funcs(template.FuncMap{"show": func(s string) string { return destination.Visible(s, 2000) },
		"ago": ago, "clock": func(t time.Time) string { return t.Local().Format("15:04:05") }}).ParseFS(files, "*.html")
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	u := &UI{cfg: cfg, host: host, token: base64.RawURLEncoding.EncodeToString(secret[:]), pages: pages, closed: ctx}
	u.watch = newWatcher(ctx, cfg)
	return u, nil
}

// Path is where the page is: the token is a part of it. It is not in a cookie, since cookies go to every port of a host, and so
// to every other program that serves on this machine.
func (u *UI) Path() string { return "/" + u.token + "/" }

// URL is the page's address.
func (u *UI) URL() string { return "http://" + u.host + u.Path() }

// Listen opens a port of this machine's own address. Another address is refused.
func Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%s is not an address of this machine alone: 127.0.0.1 is", host)
	}
	return net.Listen("tcp", address)
}

// ServeHTTP implements http.Handler.
func (u *UI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // the address is a secret; with no-referrer a form's Origin would be null
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if why := u.foreign(r); why != "" {
		http.Error(w, "bouncer: "+why, http.StatusForbidden)
		return
	}
	u.serve(w, r, strings.TrimPrefix(r.URL.Path, u.Path()))
}

// foreign says why a request is none of this page's: a rebound name (Host), another site's form or script (Origin and what
// browsers say of a request's site), or somebody without the token.
func (u *UI) foreign(r *http.Request) string {
	if r.Host != u.host {
		return "this page is at " + u.host + " and goes by no other name"
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(first), []byte(u.token)) != 1 || !strings.HasPrefix(r.URL.Path, u.Path()) {
		return "the address lacks its token: it is the one that the terminal printed"
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+u.host {
		return "the request comes from another page"
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && (site != "none" || r.Method != http.MethodGet) {
		return "the request comes from another site"
	}
	if r.Method == http.MethodPost && r.Header.Get("Origin") == "" {
		return "a form says where it comes from"
	}
	return ""
}

func (u *UI) serve(w http.ResponseWriter, r *http.Request, path string) {
	get := map[string]http.HandlerFunc{"": u.index, "style.css": asset("text/css"), "script.js": asset("text/javascript"), "events": u.events}
	post := map[string]http.HandlerFunc{"answer": u.answer, "revoke": u.revoke}
	switch id, story := strings.CutPrefix(path, "verdict/"); {
	case story && r.Method == http.MethodGet:
		u.story(w, r, id)
	case get[path] != nil && r.Method == http.MethodGet:
		get[path](w, r)
	case post[path] != nil && r.Method == http.MethodPost:
		r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
		if err := r.ParseForm(); err != nil {
			http.Error(w, "bouncer: the form cannot be read", http.StatusRequestEntityTooLarge)
			return
		}
		post[path](w, r)
	case get[path] != nil || post[path] != nil || story:
		http.Error(w, "bouncer: another method belongs here", http.StatusMethodNotAllowed)
	default:
		http.NotFound(w, r)
	}
}

func asset(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		data, _ := files.ReadFile(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		w.Write(data)
	}
}

func ago(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format("2006-01-02 15:04")
}
