package otlp

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// logsPath is where a collector takes log records.
const logsPath = "/v1/logs"

// ParseEndpoint reads the address of a collector, http or https. Where its path does not end in /v1/logs that is
// added. Credentials in it are an error: command lines are seen by every process.
func ParseEndpoint(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("it is no URL") // the parser's words repeat the text, and a password in it
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("it must begin with http:// or https://")
	case u.Hostname() == "":
		return nil, errors.New("it names no host")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery:
		return nil, errors.New("user, password and query do not belong there; credentials go into OTEL_EXPORTER_OTLP_HEADERS")
	case u.Fragment != "":
		return nil, errors.New("it has a fragment")
	}
	if !strings.HasSuffix(u.Path, logsPath) {
		u = u.JoinPath(logsPath)
	}
	return u, nil
}

// ParseHeaders reads OTEL_EXPORTER_OTLP_HEADERS: name=value,name=value with percent-encoded values. The errors repeat
// no value.
func ParseHeaders(text string) (http.Header, error) {
	h := http.Header{}
	for i, pair := range strings.Split(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		decoded, err := url.PathUnescape(value)
		if !ok || err != nil || !headerName(name) || strings.ContainsFunc(decoded, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return nil, fmt.Errorf("part %d is not name=value", i+1)
		}
		switch http.CanonicalHeaderKey(name) {
		case "Host", "Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding", "Connection":
			return nil, fmt.Errorf("header %s is not for a user to set", http.CanonicalHeaderKey(name))
		}
		h.Add(name, decoded)
	}
	return h, nil
}

// headerName reports whether s is a token of RFC 9110.
func headerName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
