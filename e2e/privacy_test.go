package e2e

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// planted are secrets of the shapes that the log knows how to mask, put together here so that no scanner takes this
// file for a leak.
var planted = map[string]string{
	"aws key":        "AKIA" + "QX7Z2MPLANTED0AB",
	"github token":   "ghp_" + "plantedPLANTEDplantedPLANTED1234567890",
	"jwt":            "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiJwbGFudGVkIn0.c2lnbmF0dXJlLXBsYW50ZWQ",
	"pem":            "MIIEplantedpemBODYplantedpemBODYplantedpemBODY0123456789",
	"password":       "correct-horse-planted-staple",
	"bearer":         "planted.bearer.0123456789abcdef",
	"env":            "env-planted-9f8e7d6c5b4a",
	"url password":   "planted-in-a-url",
	"server's words": "ghp_" + "stderrSTDERRstderrSTDERRstderr0987654321",
	"header":         "planted-collector-key",
}

func pem() string {
	return "-----BEGIN RSA PRIVATE KEY-----\n" + planted["pem"] + "\n-----END RSA PRIVATE KEY-----"
}

// TestNoSecretIsKept: secrets pass through a session in arguments, results, names of files, the entry's environment and
// what the server writes to its standard error. When it is over none of them is in a file of the Bouncer home, in a line of
// Bouncer's own on standard error, in either report, or at the collector that verdicts are exported to. The server's own standard
// error, which is relayed with its prefix, is the server's and the client would have got it without Bouncer: it is left out.
func TestNoSecretIsKept(t *testing.T) {
	server := needPackage(t, filesystemServer)
	s := newSandbox(t)
	exported := &sink{}
	collector := httptest.NewServer(exported)
	defer collector.Close()
	config := filepath.Join(s.work, "mcp.json")
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	script := filepath.Join(s.work, "loud.sh") // the real server is quiet: something says a line before it
	write(t, script, "echo \"server starts with $SAY\" >&2\nexec \"$@\"\n")
	writeJSON(t, config, map[string]any{"mcpServers": map[string]any{"files": map[string]any{
		"command": "bouncer", "args": []string{"run", "--config", config, "--upstream-name", "files"},
		"x-bouncer-upstream": map[string]any{
			"command": shell, "args": append(append([]string{script}, server...), s.work),
			"env": map[string]string{"SERVICE_TOKEN": planted["env"], "SAY": planted["server's words"]},
		},
	}}})
	policy := filepath.Join(s.home, "policy.yaml")
	write(t, policy, "write_file:\n  write_params: [path]\n  allowed_path_prefixes: [\""+s.work+"\"]\nedit_file:\n  exfiltrating: true\n  sink_params: [path]\n")

	// The client is a process of its own: what a session holds while its client runs is another matter.
	c := start(t, s.with("OTEL_EXPORTER_OTLP_HEADERS=x-api-key="+planted["header"], stubMode+"=launch"), os.Args[0], bouncerBinary(t), "run", "--config", config, "--upstream-name", "files",
		"--policy", policy, "--otlp", collector.URL)
	c.initialize(nil)
	all := strings.Join([]string{planted["aws key"], planted["github token"], planted["jwt"], pem(), "password=" + planted["password"],
		"Authorization: Bearer " + planted["bearer"], "https://me:" + planted["url password"] + "@host.example/"}, "\n")
	inside := filepath.Join(s.work, "notes.txt")
	named := filepath.Join(s.work, planted["github token"]+".txt")
	for _, call := range []struct {
		tool string
		args map[string]any
	}{
		{"write_file", map[string]any{"path": inside, "content": all}}, // arguments
		{"read_text_file", map[string]any{"path": inside}},             // a result
		{"write_file", map[string]any{"path": named, "content": "x"}},  // the name of a file
		{"list_directory", map[string]any{"path": s.work}},
		{"write_file", map[string]any{"path": "/etc/" + planted["aws key"], "content": all}}, // a denial that quotes its argument
		{"write_file", map[string]any{"path": inside, "content": "x", "password": planted["password"], "headers": map[string]any{"Authorization": "Bearer " + planted["bearer"]}}},
		{"edit_file", map[string]any{"path": "https://me:" + planted["url password"] + "@host.example/" + planted["jwt"], "edits": []any{}}}, // a destination
		{"edit_file", map[string]any{"path": planted["github token"] + ".txt", "edits": []any{}}},                                            // one that was read: a snippet
		{"edit_file", map[string]any{"path": planted["aws key"], "edits": []any{}}},
		{"no_such_tool_" + planted["github token"], map[string]any{}},
	} {
		c.call(call.tool, call.args)
	}
	if code := c.close(); code != 0 {
		t.Errorf("exit code %d", code)
	}

	if verdicts := auditLog(t, s); len(verdicts) < 10 {
		t.Errorf("only %d verdicts were logged: the session is not what it was meant to be", len(verdicts))
	}
	if !strings.Contains(c.stderr(), "[files] server starts with "+planted["server's words"]) {
		t.Errorf("the server said nothing: %s", c.stderr())
	}
	for name, text := range kept(t, s, c) {
		mustHide(t, name, text)
	}
	if body := exported.String(); !strings.Contains(body, "write_file") {
		t.Errorf("nothing was exported: %q", body)
	} else {
		mustHide(t, "what was exported", body)
	}
}

// kept is everything that stays behind a session: files, Bouncer's own words, reports.
func kept(t *testing.T, s sandbox, c *client) map[string]string {
	t.Helper()
	out := map[string]string{}
	var own []string
	for _, line := range strings.Split(c.stderr(), "\n") {
		if !strings.HasPrefix(line, "[files] ") { // the server's
			own = append(own, line)
		}
	}
	out["Bouncer's standard error"] = strings.Join(own, "\n")
	write(t, filepath.Join(s.home, ".claude.json"), fmt.Sprintf(`{"mcpServers": {"other": {"command": "x --token %s", "args": ["--password", %q], "env": {"T": %q}},
		"far": {"url": "https://me:%s@host.example/", "headers": {"Authorization": "Bearer %s"}}}}`,
		planted["env"], planted["password"], planted["env"], planted["url password"], planted["bearer"]))
	for _, format := range []string{"markdown", "html"} {
		report := filepath.Join(s.home, "report."+format)
		r := start(t, s, bouncerBinary(t), "audit", "report", "--format", format, "--out", report)
		r.tolerant = true // it speaks no protocol
		if code := r.close(); code != 0 {
			t.Errorf("audit report: exit code %d", code)
		}
		text, err := os.ReadFile(report)
		if err != nil || !strings.Contains(string(text), "edit_file") || !strings.Contains(string(text), "other") {
			t.Errorf("the %s report is not about this session, %v: %s", format, err, text)
		}
		out["the "+format+" report"] = string(text)
	}
	files := 0
	err := filepath.WalkDir(s.bouncer, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		out[path] = path + "\n" + string(text)
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files in the Bouncer home, %v", files, err)
	}
	return out
}

// mustHide fails the test for each planted secret in text, as it is or as JSON spells it.
func mustHide(t *testing.T, where, text string) {
	t.Helper()
	for name, secret := range planted {
		if at := strings.Index(text, secret); at >= 0 {
			t.Errorf("the %s is in %s: ...%s...", name, where, text[max(0, at-120):min(len(text), at+len(secret)+20)])
		}
	}
}

// sink is a collector that keeps the bodies that it gets.
type sink struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	io.Copy(&s.text, r.Body)
	io.WriteString(w, "{}")
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
