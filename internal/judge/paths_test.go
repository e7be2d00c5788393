package judge

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// tree makes a scratch directory: "a/" is a directory, "l -> t" a link, anything else a file.
func tree(t *testing.T, entries ...string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("links and slashes of this table are those of Unix")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		link, target, isLink := strings.Cut(e, " -> ")
		path := filepath.Join(root, link)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case isLink:
			err = os.Symlink(target, path)
		case strings.HasSuffix(e, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func decoded(t *testing.T, s string) jsonrpc.Value {
	t.Helper()
	v, err := jsonrpc.Decode([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestConfinement: A73, A40, A80 and the first version's line. A path is inside only if every reading of it is.
func TestConfinement(t *testing.T) {
	root := tree(t, "out/", "out/sub/", "out/file", "outside/", "secret", "out/link -> ../outside", "out/abs -> /etc", "out/chain -> link",
		"out/dangling -> ../new", "out/loop -> loop", "out/ok -> sub", "alias -> out", "out/up -> ..", "home/out/", "cwd/out/")
	paths := &Paths{Dir: root, UserHome: filepath.Join(root, "home")}
	for _, c := range []struct {
		prefix, path string
		want         gate.Verdict
	}{
		{"out", "out", gate.Allow},
		{"out", "out/new.txt", gate.Allow},
		{"out", "out/a/b/c/new.txt", gate.Allow},
		{"./out", root + "/out/x", gate.Allow},
		{root + "/out", "out/x", gate.Allow},
		{root + "/out/", "out/x", gate.Allow},
		{"out", "./out/./sub/../x", gate.Allow},
		{"out", "out//x", gate.Allow},
		{"out", "file://" + root + "/out/x", gate.Allow},
		{"out", "file://localhost" + root + "/out/x", gate.Allow},
		{"~/out", "~/out/x", gate.Allow},
		{"~/out", root + "/home/out/x", gate.Allow},
		{"out", "out/ok/x", gate.Allow},
		{"alias", "alias/x", gate.Allow}, // the prefix may be a link, in both spellings
		{"alias", "out/x", gate.Allow},
		{"out", "out/x...", gate.Allow},
		{"out", "out/a%20b", gate.Allow},
		{"/", "anything", gate.Allow},

		{"out", "outside/x", gate.Deny},
		{"out", "/etc/passwd", gate.Deny},
		{"out", "out/../secret", gate.Deny},
		{"out", "out/../../../../etc/passwd", gate.Deny},
		{"out", "out/link/x", gate.Deny},
		{"out", "out/abs/passwd", gate.Deny},
		{"out", "out/chain/x", gate.Deny},
		{"out", "out/dangling", gate.Deny}, // a write goes to the link's target
		{"out", "out/loop", gate.Deny},
		{"out", "out/loop/x", gate.Deny},
		{"out", "out/up/secret", gate.Deny},
		{"out", "out/ok/../../secret", gate.Deny},
		{"out", "out/link/../x", gate.Deny}, // cleaned first it is out/x, walked by the kernel it is x
		{"out", "out./x", gate.Deny},
		{"out", "out /x", gate.Deny},
		{"out", "~/out/x", gate.Deny},
		{"out", "~root/x", gate.Deny},
		{"out", "out/%2e%2e/secret", gate.Deny},
		{"out", "out%2f..%2fsecret", gate.Deny},
		{"out", `out\..\secret`, gate.Deny},
		{"out", "file:///etc/passwd", gate.Deny},
		{"out", "FILE:///etc/passwd", gate.Deny},
		{"out", "file://host.example" + root + "/out/x", gate.Deny},
		{"out", "file:out/x", gate.Deny},
		{"out", "", gate.Deny},
		{"out", "out/a\x00b", gate.Deny},
		{"out", "out/" + strings.Repeat("x", 5000), gate.Deny},
		{"out", "", gate.Deny},
	} {
		args := decoded(t, `{"path":`+string(jsonrpc.Quote(c.path))+`}`)
		call := gate.Call{Args: args, Leaves: policy.Leaves(args), Pin: gate.Pin{State: gate.PinHeld}}
		rules := gate.NewRules(policy.Rule{WriteParams: []policy.Param{policy.MustParam("path")}, AllowedPathPrefixes: []string{c.prefix}}, "")
		paths.resolve(&call, rules)
		if got := gate.Decide(call, rules, nil); got.Verdict != c.want {
			t.Errorf("prefix %q, path %q: %v (%s), want %v\n%+v", c.prefix, c.path, got.Verdict, got.Reason, c.want, call.Paths)
		}
	}
}

// TestGuardedPaths: the home is found behind links and spellings, in any argument (A76).
func TestGuardedPaths(t *testing.T) {
	root := tree(t, "home/.bouncer/policy.yaml", "work/", "work/link -> ../home/.bouncer", "away -> home")
	guarded := filepath.Join(root, "home", ".bouncer")
	paths := &Paths{Dir: filepath.Join(root, "work"), UserHome: filepath.Join(root, "home"), Guarded: []string{guarded}}
	for _, c := range []struct {
		path string
		want gate.Verdict
	}{
		{guarded, gate.Deny}, {guarded + "/policy.yaml", gate.Deny}, {"~/.bouncer/x", gate.Deny}, {"link/policy.yaml", gate.Deny},
		{"../home/.bouncer/x", gate.Deny}, {root + "/away/.bouncer/x", gate.Deny}, {"file://" + guarded + "/x", gate.Deny},
		{"../home/%2ebouncer/x", gate.Deny}, {"./x", gate.Allow}, {"~/.bouncerx", gate.Allow}, {"https://x.example/.bouncer/", gate.Allow},
		{"see " + guarded + "\nfor more", gate.Allow},
	} {
		args := decoded(t, `{"any":[`+string(jsonrpc.Quote(c.path))+`]}`)
		call := gate.Call{Args: args, Leaves: policy.Leaves(args), Pin: gate.Pin{State: gate.PinHeld}}
		paths.resolve(&call, gate.Rules{})
		if got := gate.Decide(call, gate.Rules{}, nil); got.Verdict != c.want {
			t.Errorf("%q: %v (%s), want %v", c.path, got.Verdict, got.Reason, c.want)
		}
	}
}

// FuzzFollow: following never fails to end, and its result needs no more following.
func FuzzFollow(f *testing.F) {
	root, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	os.MkdirAll(filepath.Join(root, "a", "b"), 0o755)
	for link, target := range map[string]string{"l": "a/b", "a/up": "..", "a/b/loop": "loop", "dangling": "gone/x", "abs": root + "/a"} {
		os.Symlink(target, filepath.Join(root, link))
	}
	for _, s := range []string{"", "l/..", "a/up/l", "a/b/loop", "dangling/y", "abs/./b//c", "../../..", "l/up/a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(s, "\x00") {
			return
		}
		got, err := follow(root + "/" + s)
		if err != nil {
			return
		}
		again, err := follow(got)
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("follow(%q) = %q, and following that gives %q, %v", s, got, again, err)
		}
	})
}
