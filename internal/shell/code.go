package shell

import (
	"regexp"
	"strings"
)

// codeWords are what code needs to reach another machine, to run a command or to hide that it does either. A piece of
// code without one of them reckons and prints. The list is wide: a word too many costs a question.
var codeWords = regexp.MustCompile(`(?i)socket|url|http|request|ftp|smtp|telnet|imap|pop3|ssh|paramiko|grpc|websock|axios|fetch|\bnet\b|net::|net/|io/socket|dgram|` +
	`\bdns|gethostby|getaddrinfo|resolve|connect|asyncio|twisted|scapy|xmlrpc|webbrowser|` +
	`subprocess|system|popen|exec|spawn|fork|child_process|process\.binding|\bpty\b|commands\b|os\.start|posix|\bqx\b|%x|open3|shell|backtick|proc_open|passthru|` +
	`eval|compile|__|importlib|getattr|setattr|globals|locals|\bvars\b|modules|builtins|marshal|pickle|ctypes|cffi|\bffi\b|dlopen|fiddle|syscall|` +
	`base64|b64|atob|btoa|decode|unhex|fromhex|unpack|pack\b|rot13|chr\b|fromcharcode|fromcodepoint|reverse|\[::-1\]|codecs|zlib|gzip|crypt|` +
	`\\x[0-9a-f]|\\u[0-9a-f]|\\[0-7]{2}|\bmail|curl|wget|\bnc\b|lwp|mechanize|fsockopen|stream_|file_get_contents|include|require_once|` +
	`invoke|\biwr\b|\birm\b|\biex\b|start-bits|instance_variable|\buri\b|\bssl\b|nntp|runpy|ensurepip|\bpip\b|attrgetter|methodcaller|breakpoint|download|deno\.|bun\.|constructor|globalthis|mainmodule|\breflect\b|` +
	`require\s*\(\s*[^'"\s]|(require|import)\s*\([^)]*[+$]|import\s*\(\s*[^'"\s]|open\W[^;]*\||&\s*[$\{]|\*\{|->\s*[($]|\$\w+\s*\(|(^|[^.\w])load(string|file)?\s*\(|\brun\s*\(|fopen|readfile|\bcopy\s*\(|` +
	`\bsend\b|public_send|__send__|\bmethod\(|constantize|const_get|\bbouncer|\.mcp\.json|\.claude|\.cursor|settings\.json|hooks|\.bashrc|\.zshrc|\.profile|\.git/|` + "`" + `.*` + "`")

// plainDunder are the names with underscores that every script has.
var plainDunder = strings.NewReplacer("__name__", "", "__main__", "", "__file__", "", "__version__", "", "__doc__", "")

// plainNames hold parts of codeWords and do nothing of the kind.
var plainNames = strings.NewReplacer("json.decoder", "", "JSONDecodeError", "", "sys.exit", "", "process.exit", "", "os.getcwd", "", "encoding", "", "executemany", "", "unescape", "")

// code reads a piece of a program in another language. It is not understood, only searched.
func (c *invocation) code(text string) {
	switch {
	case !fixed(text):
		c.doubt("a part of the code is known only when it runs")
	case codeWords.MatchString(plainNames.Replace(plainDunder.Replace(text))):
		c.doubt("the code can reach other machines, run commands or write what decides about tools: " + codeWords.FindString(plainNames.Replace(plainDunder.Replace(text))))
	}
}

// interpreter reads a language's program: inline code, code from standard input, a module or a script file.
type interpreter struct {
	grammar
	code    []string // options with code
	modules string   // option that runs a module by name
	loads   []string // options that load code by name
	subs    bool     // the first operand is a verb: deno run
}

var interpreters = map[string]interpreter{
	"python":  {grammar: grammarOf("cmQWX", "check-hash-based-pycs"), code: []string{"-c"}, modules: "-m"},
	"node":    {grammar: grammarOf("eprC", "eval print require import loader experimental-loader env-file"), code: []string{"-e", "-p", "--eval", "--print"}, loads: []string{"-r", "--require", "--import", "--loader", "--experimental-loader"}},
	"deno":    {grammar: grammarOf("", ""), subs: true},
	"bun":     {grammar: grammarOf("er", "eval preload"), code: []string{"-e", "--eval"}, loads: []string{"-r", "--preload"}},
	"perl":    {grammar: grammarOf("eEIMmFx", ""), code: []string{"-e", "-E", "-M", "-m"}},
	"ruby":    {grammar: grammarOf("erICEF", ""), code: []string{"-e"}, loads: []string{"-r"}},
	"php":     {grammar: grammarOf("rdcBREF", "run"), code: []string{"-r", "--run", "-B", "-R", "-E", "-d"}},
	"lua":     {grammar: grammarOf("el", ""), code: []string{"-e"}},
	"rscript": {grammar: grammarOf("e", ""), code: []string{"-e"}}, "r": {grammar: grammarOf("ef", ""), code: []string{"-e"}},
	"julia":     {grammar: grammarOf("eEL", "eval print load"), code: []string{"-e", "-E", "--eval", "--print"}},
	"osascript": {grammar: grammarOf("el", ""), code: []string{"-e"}},
	"pwsh":      {grammar: grammarOf("", ""), subs: true}, "powershell": {grammar: grammarOf("", ""), subs: true},
	"groovy": {grammar: grammarOf("e", ""), code: []string{"-e"}}, "scala": {grammar: grammarOf("e", ""), code: []string{"-e"}},
	"tclsh": {}, "expect": {grammar: grammarOf("cf", ""), code: []string{"-c"}}, "elixir": {grammar: grammarOf("er", "eval"), code: []string{"-e", "--eval"}}, "erl": {grammar: singleDash("eval run s"), code: []string{"-eval", "-run", "-s"}},
	"ghc": {grammar: grammarOf("e", ""), code: []string{"-e"}}, "swift": {grammar: grammarOf("e", ""), code: []string{"-e"}}, "jshell": {}, "guile": {grammar: grammarOf("cls", ""), code: []string{"-c"}}, "racket": {grammar: grammarOf("e", "eval"), code: []string{"-e", "--eval"}},
	"sqlite3": {subs: true}, "gdb": {grammar: grammarOf("", "ex eval-command command"), subs: true}, "lldb": {subs: true}, "irb": {}, "ipython": {grammar: grammarOf("cm", ""), code: []string{"-c"}}, "ts-node": {grammar: grammarOf("epr", "eval print require"), code: []string{"-e", "-p", "--eval"}, loads: []string{"-r", "--require"}}, "tsx": {grammar: grammarOf("epr", "eval print require import"), code: []string{"-e", "-p", "--eval"}},
}

func interpret(c *invocation) content {
	in := interpreters[c.name]
	opts, rest := in.parse(c.args, true)
	ran, edits := false, false
	for _, o := range opts {
		switch {
		case o.name == in.modules && in.modules != "":
			return c.module(o.value, rest)
		case contains(in.code, o.name) || c.name == "perl" && strings.HasPrefix(o.name, "-e"):
			ran = true
			c.code(o.value.text)
			if o.value.many {
				c.doubt("the code is known only when it runs")
			}
		case o.name == "-i" && (c.name == "perl" || c.name == "ruby"):
			edits = true
		case contains(in.loads, o.name):
			if !strings.HasPrefix(o.value.text, "./") && !strings.HasPrefix(o.value.text, "/") || !o.value.fixed() {
				c.code(o.value.text)
			}
		}
	}
	if _, serves := valueOf(opts, "-S"); serves && c.name == "php" {
		c.implied(Send, "it serves files to whoever asks")
		return content{kind: stream}
	}
	switch {
	case in.subs:
		for _, a := range c.args {
			c.code(strings.TrimPrefix(a.text, "\x01"))
		}
		if c.in.kind == stream || c.in.kind == known {
			c.code(c.in.text)
		}
	case ran && edits:
		for _, w := range rest {
			c.writeWord(w)
		}
	case ran:
	case len(rest) == 0 || rest[0].text == "-" || strings.HasPrefix(rest[0].text, "/dev/stdin"):
		switch c.in.kind {
		case known:
			c.code(c.in.text)
		case stream:
			if len(rest) > 0 || len(opts) == 0 {
				c.doubt("it runs the code that it reads from a pipe")
			}
		}
		return content{kind: stream}
	default:
		if c.name == "bun" {
			return bunVerb(c)
		}
		if strings.Contains(rest[0].text, "://") {
			c.reach(Fetch, rest[0])
		}
		if got, ok := c.sc.files[c.sc.place(rest[0].text)]; ok && got.kind == known {
			c.code(got.text)
		} else {
			c.ranFile(rest[0])
		}
		rest = rest[1:]
	}
	c.args = rest
	c.shapes()
	return content{kind: stream}
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// module is python -m NAME: some are programs of their own.
func (c *invocation) module(name word, rest []word) content {
	switch name.text {
	case "pip", "pip3", "twine", "poetry", "uv", "awscli", "httpie":
		c.name = map[string]string{"pip3": "pip", "awscli": "aws", "httpie": "http"}[name.text]
		if c.name == "" {
			c.name = name.text
		}
		c.args = rest
		return c.dispatch()
	case "http.server", "SimpleHTTPServer", "smtplib", "telnetlib", "ftplib", "urllib", "webbrowser", "pyftpdlib", "code", "timeit", "pdb", "cProfile", "runpy", "trace":
		if name.text == "http.server" || name.text == "SimpleHTTPServer" || name.text == "pyftpdlib" {
			c.implied(Send, "it serves files to whoever asks")
			return content{kind: stream}
		}
		for _, a := range rest {
			c.code(a.text)
		}
		if name.text != "timeit" && name.text != "cProfile" && name.text != "trace" && name.text != "pdb" {
			c.doubt("the module reaches other machines or runs code")
		}
		return content{kind: stream}
	}
	if !name.fixed() {
		c.doubt("the module is known only when it runs")
	}
	c.args = rest
	c.shapes()
	return content{kind: stream}
}

// awkWords are how awk runs a command or opens a connection.
var awkWords = regexp.MustCompile(`system\s*\(|/inet|\|&|\|\s*getline|\|\s*"|"\s*\||print[^"|;}]*("[^"]*"[^"|;}]*)*\|[^|]|@load|\bENVIRON\b.*\||@[a-z_]+\(`)

func awk(c *invocation) content {
	opts, rest := grammarOf("fFvielE", "file field-separator assign include load exec source").parse(c.args, true)
	ran := false
	for _, o := range opts {
		switch o.name {
		case "-f", "--file", "-E", "--exec", "-i", "--include", "-l", "--load":
			ran = true
			if got, ok := c.sc.files[c.sc.place(o.value.text)]; ok && got.kind == known {
				c.awkCode(word{text: got.text})
			} else if strings.HasPrefix(o.value.text, "/dev/") || o.value.text == "-" || ok {
				c.doubt("its program is known only when it runs")
			}
		case "-e", "--source":
			ran = true
			c.awkCode(o.value)
		}
	}
	if !ran && len(rest) > 0 {
		c.awkCode(rest[0])
	}
	return content{kind: stream}
}

var awkOutput = regexp.MustCompile(`print[^|;}\n]*>>?\s*"([^"]+)"`)

func (c *invocation) awkCode(w word) {
	if !fixed(w.text) || w.many {
		c.doubt("a part of awk's program is known only when it runs")
		return
	}
	if awkWords.MatchString(w.text) {
		c.doubt("awk runs commands or opens a connection")
	}
	for _, m := range awkOutput.FindAllStringSubmatch(w.text, -1) {
		c.write(m[1], c.sc, c.text)
	}
}

// sedRuns finds sed's e, alone or after s///, and sedWrites its w.
var (
	sedRuns   = regexp.MustCompile(`(^|[;{}\n/!$0-9])\s*e(\s|$|;)`)
	sedWrites = regexp.MustCompile(`(?:^|[;{}\n/!$0-9])\s*[wW]\s+([^\s;}]+)|/[gpiImM0-9]*w\s+([^\s;}]+)`)
)

// sedFlags returns the flags of each s command, roughly: whatever stands after a third delimiter.
func sedFlags(script string) string {
	flags := ""
	for i := 0; i+1 < len(script); i++ {
		if script[i] != 's' || i > 0 && !strings.ContainsRune(" ;{}\n\t/$!0123456789,", rune(script[i-1])) {
			continue
		}
		d, seen, j := script[i+1], 0, i+1
		for ; j < len(script) && seen < 3; j++ {
			if script[j] == '\\' {
				j++
			} else if script[j] == d {
				seen++
			}
		}
		if seen < 3 {
			continue
		}
		for ; j < len(script) && strings.IndexByte("gpiImMew0123456789", script[j]) >= 0; j++ {
			flags += script[j : j+1]
		}
		i = j - 1
	}
	return flags
}

func sed(c *invocation) content {
	opts, rest := grammarOf("efl", "expression file line-length").parse(c.args, false)
	inPlace, scripts := false, []word{}
	for _, o := range opts {
		switch {
		case o.name == "-i", o.name == "--in-place", o.name == "-I":
			inPlace = true
		case o.name == "-e", o.name == "--expression":
			scripts = append(scripts, o.value)
		case o.name == "-f", o.name == "--file":
			scripts = append(scripts, word{})
			if got, ok := c.sc.files[c.sc.place(o.value.text)]; ok && got.kind == known {
				scripts = append(scripts, word{text: got.text})
			} else if ok || strings.HasPrefix(o.value.text, "/dev/") || o.value.text == "-" {
				c.doubt("its script is known only when it runs")
			}
		}
	}
	if inPlace && len(rest) > 0 && rest[0].text == "" && !rest[0].many { // -i "" on some systems
		rest = rest[1:]
	}
	if len(scripts) == 0 && len(rest) > 0 {
		scripts, rest = rest[:1], rest[1:]
	}
	for _, s := range scripts {
		if sedRuns.MatchString(s.text) || strings.Contains(sedFlags(s.text), "e") {
			c.doubt("sed runs a command")
		}
		for _, m := range sedWrites.FindAllStringSubmatch(s.text, -1) {
			c.write(m[1]+m[2], c.sc, c.text)
		}
	}
	if inPlace {
		for _, f := range rest {
			c.writeWord(f)
		}
	}
	return content{kind: stream}
}

// writeWord notes a file among the arguments that is written.
func (c *invocation) writeWord(w word) {
	text := w.text
	if w.many && text == "" {
		text = "\x00"
	}
	if w.many && text[0] != hole && fixed(text) {
		text = "\x00" + text
	}
	p := c.write(text, c.sc, c.text)
	c.sc.files[p] = content{kind: stream}
}

// editor is vim, ed, emacs and their like: commands in options or from standard input.
func editor(c *invocation) content {
	for i, a := range c.args {
		t := a.text
		switch {
		case strings.HasPrefix(t, "-"), strings.HasPrefix(t, "+"):
			if t == "-c" || t == "-S" || t == "-s" || t == "-u" || t == "-U" || t == "--cmd" || strings.HasPrefix(t, "+") && len(t) > 1 && strings.Trim(t[1:], "0123456789/") != "" ||
				strings.HasPrefix(t, "--eval") || t == "-eval" || t == "-l" || t == "--load" || t == "--script" || t == "-f" || t == "--funcall" {
				c.doubt("an editor is given commands, which can run others")
			}
		case i > 0 && (c.args[i-1].text == "-c" || c.args[i-1].text == "--cmd"):
		case strings.Contains(t, "://"):
			c.reach(Fetch, a)
		default:
			c.writeWord(a)
		}
	}
	if c.in.kind == known && strings.Contains(c.in.text, "!") || c.in.kind == stream && (c.name == "ed" || c.name == "ex") {
		c.doubt("an editor is given commands, which can run others")
	}
	return content{kind: stream}
}
