package gate

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/shell"
)

var usualHome = []Reading{{"/home/u/.bouncer", "/home/u/.bouncer"}}

// guardSays is guard's reason about a call, or "".
func guardSays(t *testing.T, args string) string {
	t.Helper()
	v, err := jsonrpc.Decode([]byte(args))
	if err != nil {
		t.Fatal(err)
	}
	c := attempt{Tool: "run", Home: usualHome}.with(v)
	c.Leaves = policy.Leaves(v)
	found := guard(c, Rules{})
	if len(found) == 0 {
		return ""
	}
	if f := found[0]; f.Verdict != Deny || f.Contract != Guard {
		t.Errorf("%s: %+v", args, f)
	}
	return found[0].Reason
}

func TestGuardReadsCommands(t *testing.T) {
	const (
		home   = "command names Bouncer's own files in a command, which no tool may"
		person = "command runs a command of Bouncer that only a person may"
		client = "command writes a file that says which servers and hooks a client runs, which no tool may"
		start  = "command writes a file that a shell or a login runs, which no tool may"
	)
	for args, want := range map[string]string{
		`{"command":"bounc\"\"er approve abc"}`:                          person,
		`{"command":"b=bounc; ${b}er approve abc"}`:                      person,
		`{"command":"bash -c 'bo\\uncer pins accept x'"}`:                person,
		`{"command":"BOUNCER_HOME=/tmp/x ./run.sh"}`:                     person,
		`{"command":"bouncer","args":["approve","abc"]}`:                 person,
		`{"command":["bash","-c","b=bouncer; $b init --undo"]}`:          "command[2] runs a command of Bouncer that only a person may",
		`{"command":"bash","args":["-c","b=bouncer; $b ui"]}`:            "args[1] runs a command of Bouncer that only a person may",
		`{"command":"env","args":["-S","bouncer","approve"]}`:            person,
		`{"command":"echo x > ~/.boun''cer/policy.yaml"}`:                home,
		`{"command":"cd && cd .boun??r && rm policy.yaml"}`:              "",
		`{"command":"cat ~/.boun\"\"cer/audit.key"}`:                     home,
		`{"command":"mv ~ /tmp/x"}`:                                      home,
		`{"command":"cp a.txt ~"}`:                                       "",
		`{"command":"rm -rf /home"}`:                                     home,
		`{"command":"cd ~/.claude && echo '{}' > settings.json"}`:        client,
		`{"command":"echo '{}' > .m''cp.json"}`:                          client,
		`{"command":"F=.mcp; echo x | tee \"$F.json\""}`:                 client,
		`{"command":"cp x .git/hooks"}`:                                  client,
		`{"command":"cp x .git/hoo\"\"ks/pre-commit"}`:                   client,
		`{"command":"mv .claude y"}`:                                     client,
		`{"command":"cp","args":["x",".mc''p.json"]}`:                    "",
		`{"command":"cp","args":["x",".mcp.json"]}`:                      client,
		`{"command":"echo x >> ~/.bash\"\"rc"}`:                          start,
		`{"command":"sed -i '$a x' /home/u/.zshrc"}`:                     start,
		`{"command":"cat ~/.bashrc > copy"}`:                             "",
		`{"command":"grep -r bouncer . && go test ./..."}`:               "",
		`{"command":"bouncer version; bouncer audit summary"}`:           "",
		`{"command":"git add -A && git commit -m \"guard: see hooks\""}`: "",
		`{"code":"print('it\"s')"}`:                                      "",
		`{"text":"b=bounc; ${b}er approve abc"}`:                         "",
	} {
		if got := guardSays(t, args); got != want {
			t.Errorf("%s\n got %q\nwant %q", args, got, want)
		}
	}
}

// TestGuardDeniesWhatShellReads: every command of the shell's own table that writes a guarded file for certain, or runs
// what is a person's alone, is denied.
func TestGuardDeniesWhatShellReads(t *testing.T) {
	b, err := os.ReadFile("../shell/testdata/writes.txt")
	if err != nil {
		t.Fatal(err)
	}
	denied := 0
	for _, block := range strings.Split("\n"+string(b), "\n$ ")[1:] {
		command, _, _ := strings.Cut(block, "\n  ")
		command = strings.TrimSuffix(strings.ReplaceAll(command, "\n> ", "\n"), "\n")
		if strings.Contains(block, "\n  unknown") || strings.Contains(block, ".git/config") {
			continue // a question for those who ask
		}
		if got := guardSays(t, `{"command":`+string(jsonrpc.Quote(command))+`}`); got == "" {
			t.Errorf("%q is not denied", command)
		}
		denied++
	}
	if denied < 70 {
		t.Errorf("%d commands", denied)
	}
}

// TestShellKnowsTheGuardedFiles: a path that is not known may turn out to be any file that guard keeps.
func TestShellKnowsTheGuardedFiles(t *testing.T) {
	for _, file := range append(slices.Clone(clientFiles), startFiles...) {
		if strings.HasSuffix(file, "/") {
			file += "pre-commit"
		}
		for _, command := range []string{`echo x > "$D` + file + `"`, `echo x > "$D` + file[:len(file)-2] + `$E"`} {
			effects := shell.Read(command, shell.Options{Dir: "/w", Home: "/home/u"})
			if !slices.ContainsFunc(effects, func(e shell.Effect) bool { return e.Kind == shell.Unknown || e.Kind == shell.Write }) {
				t.Errorf("%s: %v", command, effects)
			}
		}
	}
}

func TestGuardKeepsStartFiles(t *testing.T) {
	for _, c := range []struct {
		path   string
		reader bool
		want   string
	}{
		{"/home/u/.bashrc", false, "path is a file that a shell or a login runs, which no tool may write"},
		{"/home/u/.BashRC", false, "path is a file that a shell or a login runs, which no tool may write"},
		{"/home/u/.ssh/authorized_keys", false, "path is a file that a shell or a login runs, which no tool may write"},
		{"/home/u/.bashrc", true, ""},
		{"/home/u/my.bashrc", false, ""},
		{"/home/u/.bashrc.d/x", false, ""},
	} {
		v, err := jsonrpc.Decode([]byte(`{"path":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		call := attempt{Tool: "write_file", Home: usualHome, Paths: map[string]Path{"path": at(c.path)}}.with(v)
		call.Leaves = policy.Leaves(v)
		got := ""
		for _, f := range guard(call, Rules{Reader: c.reader}) {
			got = f.Reason
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.path, got, c.want)
		}
	}
}
