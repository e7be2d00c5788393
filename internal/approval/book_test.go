package approval

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

func bookAt(t *testing.T, text string) (*Book, string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "approvals.yaml")
	if text != "" {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := OpenBook(path, nil)
	return b, path, err
}

func to(s string) destination.Destination { return destination.Parse(s)[0] }

// TestScopes: an answer holds for what was answered, and for more only where the person said so.
func TestScopes(t *testing.T) {
	for _, tt := range []struct {
		choice Choice
		scope  Scope
		asked  string
		at     string // server tool destination
		covers bool
	}{
		{Always, "", "bob@corp.example", "mail send bob@corp.example", true},
		{Always, "", "bob@corp.example", "mail send BOB@corp.example", true},
		{Always, "", "bob@corp.example", "mail send eve@corp.example", false},
		{Always, "", "bob@corp.example", "mail forward bob@corp.example", false},
		{Always, "", "bob@corp.example", "other send bob@corp.example", false},
		{Always, ThisKind, "bob@corp.example", "mail forward bob@corp.example", true},
		{Always, ThisKind, "bob@corp.example", "other forward bob@corp.example", false},
		{Always, ThisDomain, "bob@corp.example", "mail send eve@corp.example", true},
		{Always, ThisDomain, "bob@corp.example", "mail send eve@sub.corp.example", false},
		{Always, ThisDomain, "bob@gmail.com", "mail send eve@gmail.com", false},
		{Always, ThisDomain, "bob@gmail.com", "mail send bob@gmail.com", true},
		{Always, "", "https://corp.example/a", "mail send https://corp.example/b", false},
		{Never, "", "bob@corp.example", "mail send bob@corp.example", true},
		{Never, ThisDomain, "bob@corp.example", "mail send eve@corp.example", true},
	} {
		b, path, err := bookAt(t, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Remember(about(tt.asked).Entries(tt.choice, tt.scope), time.Now()); err != nil {
			t.Fatal(err)
		}
		f := strings.Fields(tt.at)
		approves := b.View().Approves(f[0], "sink_gate", f[1], to(f[2]))
		_, refuses := b.View().Refuses(f[0], "sink_gate", f[1], to(f[2]))
		if approves != (tt.covers && tt.choice == Always) || refuses != (tt.covers && tt.choice == Never) {
			t.Errorf("%s %q of %s, at %s: approves %v, refuses %v", tt.choice, tt.scope, tt.asked, tt.at, approves, refuses)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
}

// TestBrokenBook: half a list of refusals is no list: every destination is refused, and the error says where.
func TestBrokenBook(t *testing.T) {
	head := "version: 1\napprovals:\n"
	good := `- {answer: never, server: mail, tool: send, kind: email, destination: eve@evil.example}` + "\n"
	for text, want := range map[string]string{
		head + good + "- {answer: maybe, server: mail, tool: send, kind: email, destination: bob@corp.example}\n": ":4:12: answer must be one of",
		head + "- {answer: always, server: mail, tool: send, kind: email}\n":                                      "needs the key destination",
		head + "- {answer: always, server: mail, tool: send, kind: email, destination: '@gmail.com'}\n":           "public mail provider",
		head + "- {answer: always, server: mail, tool: send, kind: email, destination: '@Corp.example'}\n":        "plain spelling",
		head + "- {answer: always, server: mail, tool: send, kind: email, destination: Bob}\n":                    "no email in its canonical spelling",
		head + "- {answer: always, server: mail, tool: send, kind: email, destination: b@c.example, x: 1}\n":      "is not a key",
		head + good + "extra: 1\n": "is not a key",
		"approvals: []\n":          "version",
		"version: 2\n":             "must be the number 1",
		"version: 1\napprovals: 3": "must be a list",
		"\x00":                     "approvals.yaml",
	} {
		b, path, err := bookAt(t, text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if _, refused := b.View().Refuses("mail", "sink_gate", "send", to("bob@corp.example")); !refused || b.View().Approves("mail", "sink_gate", "send", to("bob@corp.example")) {
			t.Errorf("%q: a broken file lets through", text)
		}
		if err := b.Remember(about("bob@corp.example").Entries(Always, ""), time.Now()); err == nil {
			t.Errorf("%q: a broken file was written to", text)
		}
		if data, _ := os.ReadFile(path); string(data) != text {
			t.Errorf("%q became %q", text, data)
		}
	}
}

// TestOthersMayWrite: a file that others may write says what others want.
func TestOthersMayWrite(t *testing.T) {
	_, path, _ := bookAt(t, "version: 1\napprovals:\n")
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	b, err := OpenBook(path, nil)
	if err == nil || !strings.Contains(err.Error(), "others may write it") {
		t.Errorf("opened with %v", err)
	}
	if _, refused := b.View().Refuses("mail", "sink_gate", "send", to("bob@corp.example")); !refused {
		t.Error("it is believed")
	}
}

// TestBookIsShared: what is answered or taken back in another process holds at once, and of many that write at the same time no
// answer is lost.
func TestBookIsShared(t *testing.T) {
	a, path, _ := bookAt(t, "# mine\nversion: 1\napprovals: # keep\n")
	var wg sync.WaitGroup
	const many = 20
	for i := range many {
		wg.Go(func() {
			b, err := OpenBook(path, nil)
			if err == nil {
				err = b.Remember(about(fmt.Sprintf("p%d@corp.example", i)).Entries(Always, ""), time.Now())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range many {
		if !a.View().Approves("mail", "sink_gate", "send", to(fmt.Sprintf("p%d@corp.example", i))) {
			t.Errorf("p%d is lost", i)
		}
	}
	entries, err := a.Entries()
	if err != nil || len(entries) != many {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	b, _ := OpenBook(path, nil)
	if err := b.Revoke(3, entries[2]); err != nil {
		t.Fatal(err)
	}
	if err := b.Revoke(3, entries[2]); err == nil {
		t.Error("the next entry was revoked in its place")
	}
	d := destination.Destination{Kind: entries[2].Kind, Canonical: entries[2].Destination}
	if a.View().Approves("mail", "sink_gate", "send", d) {
		t.Error("what was revoked in another process still holds")
	}
	if data, _ := os.ReadFile(path); !strings.HasPrefix(string(data), "# mine\nversion: 1\napprovals: # keep\n") {
		t.Errorf("the user's own lines are gone:\n%s", data)
	}
}

// TestNeverThatCannotBeWritten holds for this process all the same.
func TestNeverThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	b, err := OpenBook(filepath.Join(dir, "none", "approvals.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Remember(about("eve@evil.example").Entries(Never, ""), time.Now()); err == nil {
		t.Fatal("it was written into nowhere")
	}
	if _, refused := b.View().Refuses("mail", "sink_gate", "send", to("eve@evil.example")); !refused {
		t.Error("the refusal is lost")
	}
}
