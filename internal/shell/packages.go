package shell

import (
	"strings"
)

// manager is a package manager: which verbs publish, which fetch by name, which run a program from elsewhere.
type manager struct {
	publish, fetch, remote, run string // verbs
	registry                    string
	places                      string // options whose value is a registry
	values                      string // other options with a value
}

var managers = map[string]manager{
	"npm": {publish: "publish pub unpublish deprecate owner access team dist-tag token adduser login star hook", fetch: "install i in ins add isntall update up upgrade ci-install audit view info show v search find outdated pack",
		remote: "exec x create init innit", run: "run run-script test t start stop restart", registry: "registry.npmjs.org", places: "--registry --proxy --https-proxy --@*:registry", values: "-C --prefix -w --workspace --tag --access --otp --cache --omit --include --loglevel"},
	"pnpm":   {publish: "publish", fetch: "install i add update up upgrade", remote: "dlx create", run: "run test start exec", registry: "registry.npmjs.org", places: "--registry", values: "-C --dir --filter --prefix"},
	"yarn":   {publish: "publish npm", fetch: "add upgrade global up", remote: "dlx create", run: "run test start exec node", registry: "registry.npmjs.org", places: "--registry", values: "--cwd"},
	"bun":    {publish: "publish", fetch: "add install i update", remote: "x create", run: "run test", registry: "registry.npmjs.org", places: "--registry", values: "--cwd"},
	"pip":    {fetch: "install download wheel search index", registry: "pypi.org", places: "-i --index-url --extra-index-url --proxy -f --find-links --trusted-host", values: "-r --requirement -c --constraint -t --target -d --dest --prefix --root --python --cache-dir --upgrade-strategy --platform --only-binary --no-binary -e --editable"},
	"uv":     {publish: "publish", fetch: "add tool", remote: "x", run: "run", registry: "pypi.org", places: "--index-url --index --extra-index-url --default-index --publish-url --find-links", values: "--directory --project --python -p --with"},
	"poetry": {publish: "publish", fetch: "add self", run: "run", registry: "pypi.org", places: "--repository -r --source", values: "-C --directory"},
	"pdm":    {publish: "publish", fetch: "add", run: "run", registry: "pypi.org", places: "--repository -r"}, "pipenv": {fetch: "install", run: "run", registry: "pypi.org", places: "-i --index --pypi-mirror"}, "hatch": {publish: "publish", run: "run", registry: "pypi.org", places: "-r --repo"}, "flit": {publish: "publish", registry: "pypi.org", places: "--repository"},
	"pipx":     {fetch: "install inject upgrade", remote: "run", registry: "pypi.org", places: "--index-url -i --pip-args"},
	"twine":    {publish: "upload register", registry: "upload.pypi.org", places: "--repository-url -r --repository"},
	"cargo":    {publish: "publish yank owner login", fetch: "add install search update-registry binstall", registry: "crates.io", places: "--index --registry --git", values: "--manifest-path --package -p --features --target --bin --config --color -Z -j --version --path --root"},
	"gem":      {publish: "push yank owner signin", fetch: "install update fetch", registry: "rubygems.org", places: "--host --source -s -p --http-proxy --clear-sources", values: "-v --version -i --install-dir"},
	"bundle":   {fetch: "add", run: "exec", registry: "rubygems.org", places: "--source"},
	"composer": {fetch: "require global create-project", run: "run-script exec", registry: "packagist.org", places: "--repository --repository-url"},
	"brew":     {fetch: "install tap upgrade cask reinstall", registry: "formulae.brew.sh"}, "apt": {fetch: "install update upgrade", registry: "the distribution"}, "apt-get": {fetch: "install update upgrade source", registry: "the distribution"},
	"dnf": {fetch: "install update upgrade", registry: "the distribution"}, "yum": {fetch: "install update", registry: "the distribution"}, "apk": {fetch: "add update upgrade", registry: "the distribution", places: "-X --repository"}, "pacman": {fetch: "-S -Sy -Syu -U", registry: "the distribution"}, "snap": {fetch: "install", registry: "snapcraft.io"}, "flatpak": {fetch: "install", registry: "flathub.org"}, "nix": {remote: "run shell develop", fetch: "profile"}, "nix-env": {fetch: "-i -iA"},
	"conda": {fetch: "install create", run: "run", registry: "conda.anaconda.org", places: "-c --channel"}, "mamba": {fetch: "install create", run: "run", registry: "conda.anaconda.org", places: "-c --channel"},
	"dotnet": {publish: "nuget", fetch: "add tool", registry: "nuget.org", places: "-s --source --add-source"}, "nuget": {publish: "push", fetch: "install", registry: "nuget.org", places: "-Source -s --source"},
	"mvn": {publish: "deploy deploy:deploy-file site-deploy", values: "-f --file -pl -P"}, "gradle": {publish: "publish uploadArchives"}, "helm": {publish: "push", fetch: "pull install upgrade repo", registry: "a chart repository", places: "--repo"}, "vsce": {publish: "publish"}, "ovsx": {publish: "publish"},
	"lerna": {publish: "publish"}, "changeset": {publish: "publish"}, "semantic-release": {publish: "*"}, "goreleaser": {publish: "release publish"}, "np": {publish: "*"}, "jsr": {publish: "publish"},
	"vercel": {publish: "deploy *"}, "netlify": {publish: "deploy"}, "firebase": {publish: "deploy"}, "wrangler": {publish: "deploy publish"}, "fly": {publish: "deploy launch"}, "flyctl": {publish: "deploy launch"}, "heroku": {publish: "*"}, "surge": {publish: "*"}, "gh-pages": {publish: "*"}, "eas": {publish: "build submit update"}, "serverless": {publish: "deploy"}, "sls": {publish: "deploy"}, "cdk": {publish: "deploy"}, "terraform": {publish: "apply destroy import login", fetch: "init get"}, "tofu": {publish: "apply destroy import", fetch: "init get"}, "pulumi": {publish: "up destroy login"}, "ansible": {publish: "*"}, "ansible-playbook": {publish: "*"}, "mkdocs": {publish: "gh-deploy"}, "hf": {publish: "upload upload-large-folder", fetch: "download"}, "huggingface-cli": {publish: "upload", fetch: "download"}, "kaggle": {publish: "datasets kernels competitions"}, "ipfs": {publish: "add pin name"}, "skopeo": {publish: "copy sync"}, "crane": {publish: "push copy append cp"}, "oras": {publish: "push cp attach", fetch: "pull"}, "rsconnect": {publish: "deploy"}, "cloudsmith": {publish: "push upload"}, "jf": {publish: "rt"},
}

// manage reads a package manager's command. A project's own lock file says what a bare install fetches; that is the user's.
func manage(c *invocation) content {
	m := managers[c.name]
	var places []string
	values := setOf(m.values + " " + m.places)
	var rest []word
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		name, v, has := strings.Cut(a.text, "=")
		if a.text == "--" {
			rest = append(rest, c.args[i+1:]...)
			break
		}
		if !strings.HasPrefix(name, "-") || contains(strings.Fields(m.publish+" "+m.fetch), a.text) {
			rest = append(rest, a)
			continue
		}
		isPlace := contains(strings.Fields(m.places), name) || strings.HasSuffix(name, ":registry")
		if !has && (values[name] || isPlace) && i+1 < len(c.args) {
			i++
			v = c.args[i].text
		}
		switch {
		case isPlace && v != "":
			places = append(places, v)
			c.packagePlace(Send, v)
		case (name == "-e" || name == "--editable") && m.registry == "pypi.org":
			rest = append(rest, word{text: v})
		case strings.Contains(v, "://"):
			c.reach(Send, word{text: v})
		case name == "--config" && c.name == "cargo" || name == "--script-shell" || name == "--node-options":
			c.doubt("an option that decides which programs run")
		}
	}
	if loose(c.args) && !(len(rest) > 0 && contains(strings.Fields(m.run), rest[0].text)) {
		c.doubt("some of its words are known only when it runs")
	}
	if len(rest) == 0 {
		if strings.Contains(" "+m.publish+" ", " * ") {
			c.implied(Publish, "what "+c.name+" is set up with says where")
		}
		return content{kind: stream}
	}
	verb, args := rest[0].text, rest[1:]
	if c.name == "uv" && (verb == "pip" || verb == "tool" && len(args) > 0 && args[0].text == "run") {
		if c.name, c.args = "pip", args; verb == "tool" {
			c.name, c.args = "uvx", args[1:]
		}
		return c.dispatch()
	}
	is := func(verbs string) bool { return contains(strings.Fields(verbs), verb) }
	switch {
	case !fixed(verb):
		c.doubt("what it does is known only when it runs")
	case is(m.publish) || strings.Contains(" "+m.publish+" ", " * "):
		for _, p := range places {
			c.packagePlace(Publish, p)
		}
		if len(places) == 0 {
			if m.registry != "" {
				c.to(Publish, asHost(m.registry))
			} else {
				c.implied(Publish, "what "+c.name+" is set up with says where")
			}
		}
		c.args = args
		c.shapes()
	case is(m.remote):
		c.remotePackage(m, verb, args)
	case is(m.run) && (verb == "exec" || verb == "run") && len(args) > 0 && (c.name != "npm" && c.name != "bun" && c.name != "composer"):
		c.run(args, c.sc, c.in)
	case is(m.run):
		c.writtenScripts()
		c.args = args
		c.shapes()
	case is(m.fetch):
		for _, w := range args {
			c.packageName(m, w)
		}
	case verb == "config" || verb == "c" || verb == "set":
		c.packageSetting(args)
	case c.name == "yarn" && (programs[baseName(verb)] != nil):
		c.run(rest, c.sc, c.in)
	default:
		c.args = args
		c.shapes()
	}
	return content{kind: stream}
}

// writtenScripts asks about a package.json that the same command writes: its scripts are run.
func (c *invocation) writtenScripts() {
	if _, ok := c.sc.files[c.sc.place("package.json")]; ok {
		c.doubt("it runs the scripts of a file that the same command writes")
	}
}

func (c *invocation) packagePlace(kind Kind, v string) {
	switch {
	case strings.Contains(v, "://"):
		c.reach(kind, word{text: strings.TrimPrefix(strings.TrimPrefix(v, "git+"), "sparse+")})
	case strings.HasPrefix(v, ".") || strings.HasPrefix(v, "/"):
	case strings.Contains(v, ".") || strings.Contains(v, ":"):
		c.endpoint(kind, word{text: v})
	case !fixed(v):
		c.doubt("the registry is known only when it runs")
	default:
		c.implied(kind, "the settings say where the registry "+v+" is")
	}
}

// packageName is a package by its name in the registry, by a link, by a repository, or a directory here.
func (c *invocation) packageName(m manager, w word) {
	t := w.text
	if _, after, at := strings.Cut(t, " @ "); at { // pip: name @ link
		t, w.text = strings.TrimSpace(after), strings.TrimSpace(after)
	}
	switch {
	case strings.Contains(t, "://"):
		c.reach(Fetch, word{t[strings.LastIndex(t[:strings.Index(t, "://")], "+")+1:], w.many})
	case !w.fixed():
		c.doubt("the package is known only when it runs")
	case strings.HasPrefix(t, "."), strings.HasPrefix(t, "/"), strings.HasPrefix(t, "~"), strings.HasPrefix(t, "file:"), strings.HasPrefix(t, "link:"), strings.HasPrefix(t, "workspace:"):
	case strings.HasPrefix(t, "git@"), remoteShape.MatchString(t):
		c.remote(Fetch, w)
	case strings.HasPrefix(t, "github:"), strings.HasPrefix(t, "gh:"), m.registry == "registry.npmjs.org" && strings.Count(t, "/") == 1 && !strings.HasPrefix(t, "@"):
		c.reach(Fetch, word{text: "https://github.com/" + strings.TrimPrefix(strings.TrimPrefix(t, "github:"), "gh:")})
	case strings.HasPrefix(t, "npm:"):
		c.packageName(m, word{text: t[len("npm:"):]})
	case strings.ContainsRune(t, ':'):
		c.doubt("the package is named in a form that is not read")
	case m.registry == "the distribution", m.registry == "a chart repository", m.registry == "":
		c.implied(Fetch, "what "+c.name+" is set up with says where")
	default:
		c.reach(Fetch, word{text: "https://" + m.registry + "/" + strings.TrimRight(strings.SplitN(strings.TrimPrefix(t, "@"), "@", 2)[0], "=<>~!^ ")})
	}
}

// remotePackage is npx and its like: a program from a registry is fetched and run.
func (c *invocation) remotePackage(m manager, verb string, args []word) {
	c.doubt("it runs a program that may come from a registry")
	if len(args) > 0 {
		c.packageName(m, args[0])
		if programs[baseName(args[0].text)] != nil {
			c.run(args, c.sc, c.in)
		}
		c.args = args[1:]
		c.shapes()
	}
}

func (c *invocation) packageSetting(args []word) {
	for i, a := range args {
		name, v, has := strings.Cut(a.text, "=")
		if !has && i+1 < len(args) {
			v = args[i+1].text
		}
		low := strings.ToLower(name)
		if strings.HasSuffix(low, "registry") || strings.Contains(low, "proxy") || strings.HasSuffix(low, "index-url") || strings.HasPrefix(low, "repositories.") {
			if v != "" {
				c.packagePlace(Send, v)
			}
		}
		if low == "script-shell" || low == "shell" || low == "node-options" || low == "git" || low == "viewer" || low == "editor" {
			c.doubt("a setting that decides which programs run")
		}
	}
}

// npx runs a program of the project, or one that it fetches.
func npx(c *invocation) content {
	m := managers["npm"]
	if c.name == "uvx" {
		m = managers["uv"]
	}
	opts, rest := grammarOf("pcw", "package call workspace registry").parse(c.args, true)
	for _, o := range opts {
		switch o.name {
		case "-c", "--call":
			c.inner(o.value)
		case "-p", "--package":
			c.packageName(m, o.value)
		case "--registry":
			c.packagePlace(Send, o.value.text)
		}
	}
	if len(rest) == 0 {
		return content{kind: stream}
	}
	if hasFlag(c.args, "--no-install") || hasFlag(c.args, "--no") || hasFlag(c.args, "--offline") {
		return c.run(rest, c.sc, c.in)
	}
	c.remotePackage(m, "exec", rest)
	return content{kind: stream}
}

// golang is the go tool: build and test stay here, get, install and run fetch what they name.
func golang(c *invocation) content {
	rest := c.args
	if len(rest) > 1 && rest[0].text == "-C" {
		rest = rest[2:]
	}
	if len(rest) == 0 {
		return content{kind: stream}
	}
	verb, args := rest[0].text, rest[1:]
	for i, a := range args {
		name, v, has := strings.Cut(strings.TrimLeft(a.text, "-"), "=")
		if !has && i+1 < len(args) {
			v = args[i+1].text
		}
		if !strings.HasPrefix(a.text, "-") {
			continue
		}
		switch name {
		case "exec", "toolexec", "vettool":
			c.inner(word{text: v})
			c.doubt("go runs another program")
		case "o", "coverprofile", "cpuprofile", "memprofile", "outputdir":
			c.write(v, c.sc, c.text)
		}
	}
	switch verb {
	case "get", "install", "run":
		for i, a := range args {
			if strings.Contains(a.text, "cmd/bouncer") || strings.Contains(a.text, "mcp-bouncer/") {
				b := *c
				b.args = args[i+1:]
				bouncer(&b)
			}
		}
		for _, a := range args {
			t := a.text
			switch first, _, _ := strings.Cut(t, "/"); {
			case !fixed(t) && !strings.HasPrefix(t, "-") && verb != "run":
				c.doubt("the package is known only when it runs")
			case strings.HasPrefix(t, "-"), strings.HasPrefix(t, "."), strings.HasPrefix(t, "/"), !strings.Contains(first, "."), strings.HasSuffix(t, ".go"):
			case verb == "get", strings.Contains(t, "@"):
				c.reach(Fetch, word{text: "https://" + strings.SplitN(t, "@", 2)[0]})
			}
			if verb == "run" && (strings.Contains(t, "@") || strings.HasSuffix(t, ".go") || strings.HasPrefix(t, ".")) {
				break
			}
		}
		if verb == "run" {
			c.writtenGo(args)
			c.args = args
			c.shapes()
		}
	case "env":
		c.args = args
		exports(c)
	case "mod", "work":
		for _, a := range args {
			to := a.text[strings.LastIndexByte(a.text, '=')+1:]
			if first, _, _ := strings.Cut(to, "/"); len(to) < len(a.text) && strings.Contains(first, ".") && first[0] != '.' { // -replace old=host/path
				c.reach(Fetch, word{text: "https://" + strings.SplitN(to, "@", 2)[0]})
			}
		}
	}
	return content{kind: stream}
}

func (c *invocation) writtenGo(args []word) {
	for _, a := range args {
		if got, ok := c.sc.files[c.sc.place(a.text)]; ok {
			if got.kind == known {
				c.code(got.text)
			} else {
				c.doubt("it runs a file that the same command writes")
			}
		}
	}
}
