package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Listen opens addr, which must be a loopback address by number with a port: 127.0.0.1:8600, [::1]:0. Everything else
// is an error. A name could lead anywhere, and an empty host is every interface.
func Listen(addr string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: write a loopback address and a port, such as 127.0.0.1:8600", addr)
	}
	if !at.Addr().Unmap().IsLoopback() {
		return nil, fmt.Errorf("listen on %q: only loopback addresses are served", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", addr, err)
	}
	return l, nil
}

// Serve serves MCP at /mcp (and /) and the metrics at /metrics on l until ctx ends. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	// Reading is bounded; writing is not, as a client of the newest protocol may keep one answer open.
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	stop := context.AfterFunc(ctx, func() {
		soon, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if server.Shutdown(soon) != nil {
			server.Close()
		}
	})
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return nil
}

// Handler is what Serve serves. It answers requests that came over a loopback address alone.
func (s *Server) Handler() http.Handler {
	// No sessions: nothing has to be kept for a client that never comes back.
	stream := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, PropagateRequestCancellation: true})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.Handle("/mcp", stream)
	mux.Handle("/{$}", stream)
	return local(mux)
}

// local refuses what a web page sends. A page whose name was made to resolve to 127.0.0.1 (DNS rebinding) still names
// its own host, and a page that posts to 127.0.0.1 names its origin.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !ok || !isOurs(r.Host, at) {
			http.Error(w, "the Host is not this server", http.StatusForbidden)
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			u, err := url.Parse(origin)
			if err != nil || u.Scheme != "http" || !isOurs(u.Host, at) {
				http.Error(w, "the Origin is not this server", http.StatusForbidden)
				return
			}
		}
		// A request without an Origin may still be a page's: an image, a script, a link.
		if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "none" && site != "same-origin" {
			http.Error(w, "the request comes from another site", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isOurs reports whether host names the loopback address and port that a request arrived at.
func isOurs(host string, at net.Addr) bool {
	local, err := netip.ParseAddrPort(at.String())
	if err != nil || !local.Addr().Unmap().IsLoopback() {
		return false
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil || port != fmt.Sprint(local.Port()) {
		return false
	}
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}
