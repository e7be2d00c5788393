package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Identities returns the names that a configured command line gives to what it starts: the package of a launcher
// (npx, uvx, docker run, ...), else the base name of the command. It is what packs and scoped rules are matched with,
// so it reads the package's own position and nothing else: a later argument, a flag it does not know, a source that is
// not the public registry, or a shell line with more than one command make it give up (nil) rather than guess.
func Identities(command string, args []string) []string {
	switch name := baseName(command); name {
	case "":
		return nil
	case "cmd":
		return fromCmd(args)
	case "npx", "bunx", "pnpx":
		return fromNpm(args)
	case "pnpm", "yarn":
		return after(args, fromNpm, "dlx")
	case "bun":
		return after(args, fromNpm, "x")
	case "npm":
		return after(args, fromNpm, "exec", "x")
	case "uvx":
		return fromPython(args, "--from")
	case "uv":
		if len(args) > 1 && args[0] == "tool" && args[1] == "run" {
			return fromPython(args[2:], "--from")
		}
		return nil
	case "pipx":
		if len(args) > 0 && args[0] == "run" {
			return fromPython(args[1:], "--spec")
		}
		return nil
	case "docker", "podman", "nerdctl":
		return fromDocker(args)
	case "node":
		return fromNode(args)
	default:
		if pythonCommand.MatchString(name) {
			return fromModule(args)
		}
		if interpreters[name] {
			return nil // what runs is in the arguments, and they are a program
		}
		return []string{name}
	}
}

var (
	pythonCommand = regexp.MustCompile(`^(python[0-9.]*|py)$`)
	npmName       = regexp.MustCompile(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$`)
	npmVersion    = regexp.MustCompile(`^[A-Za-z0-9._+^~-]+$`)
	pythonName    = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]*)(\[[A-Za-z0-9._,-]*\])?((==|~=|>=|<=|<|>|@)[A-Za-z0-9.*,<>=~!+-]*)?$`)
	pythonModule  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)
	imageName     = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)*$`)
	interpreters  = setOf("sh bash zsh dash fish ksh pwsh powershell env sudo nohup xargs time deno ruby perl php java dotnet go cargo make wsl ssh")
)

// baseName is a command without its directory and without the endings that Windows adds.
func baseName(command string) string {
	name := strings.ToLower(path.Base(slashed(strings.TrimSpace(command))))
	for _, ending := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		name = strings.TrimSuffix(name, ending)
	}
	if name == "." || name == "/" {
		return ""
	}
	return name
}

func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// fromCmd reads `cmd /c npx ...`. cmd.exe joins its arguments to one line, so a character that starts a second command
// anywhere in them makes the line mean something else.
func fromCmd(args []string) []string {
	for len(args) > 0 && slices.Contains([]string{"/c", "/d", "/s", "/q"}, strings.ToLower(args[0])) {
		args = args[1:]
	}
	if strings.ContainsAny(strings.Join(args, " "), "&|<>^%()!\"\n\r") {
		return nil
	}
	if len(args) == 1 {
		args = strings.Fields(args[0])
	}
	if len(args) == 0 || baseName(args[0]) == "cmd" {
		return nil
	}
	return Identities(args[0], args[1:])
}

func after(args []string, read func([]string) []string, verbs ...string) []string {
	if len(args) == 0 || !slices.Contains(verbs, args[0]) {
		return nil
	}
	return read(args[1:])
}

// npmQuiet are the flags that change neither the package nor where it comes from.
var npmQuiet = setOf("-y --yes -q --quiet --silent --prefer-offline --offline --bun")

func fromNpm(args []string) []string {
	pkg := ""
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch value, joined := strings.CutPrefix(a, "--package="); {
		case npmQuiet[a]:
		case joined:
			if pkg != "" {
				return nil
			}
			pkg = value
		case a == "-p" || a == "--package":
			i++
			if pkg != "" || i == len(args) {
				return nil
			}
			pkg = args[i]
		case a == "--" && i+1 < len(args):
			return npmPackage(pkg, args[i+1])
		case strings.HasPrefix(a, "-"):
			return nil
		default:
			return npmPackage(pkg, a)
		}
	}
	return nil
}

// npmPackage reads `pkg` or, after -p, the package whose command is run. With -p, the command has to be the package's
// own: npx finds `node` and `sh` on the PATH just as well.
func npmPackage(pkg, command string) []string {
	if pkg == "" {
		return npmSpec(command)
	}
	ids := npmSpec(pkg)
	if len(ids) == 0 || path.Base(ids[0]) != command {
		return nil
	}
	return ids
}

// npmSpec reads name[@version]. Aliases, git, tarballs and directories are other packages under this name.
func npmSpec(spec string) []string {
	name, version := spec, ""
	if i := strings.LastIndex(spec, "@"); i > 0 {
		name, version = spec[:i], spec[i+1:]
		if !npmVersion.MatchString(version) {
			return nil
		}
	}
	if !npmName.MatchString(name) {
		return nil
	}
	return []string{name}
}

var pythonQuiet = setOf("-q --quiet --isolated --offline --refresh --no-cache -n")

// fromPython reads uvx and pipx run; source is the flag that names the package when the command is called otherwise.
func fromPython(args []string, source string) []string {
	pkg := ""
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case pythonQuiet[a]:
		case a == "-p" || a == "--python":
			i++
		case strings.HasPrefix(a, "--python="):
		case a == source:
			i++
			if pkg != "" || i == len(args) {
				return nil
			}
			pkg = args[i]
		case strings.HasPrefix(a, source+"="):
			if pkg != "" {
				return nil
			}
			pkg = a[len(source)+1:]
		case strings.HasPrefix(a, "-"):
			return nil
		case pkg != "" && (pythonCommand.MatchString(baseName(a)) || interpreters[baseName(a)]):
			return nil
		case pkg != "":
			return pythonSpec(pkg)
		default:
			return pythonSpec(a)
		}
	}
	return nil
}

func pythonSpec(spec string) []string {
	m := pythonName.FindStringSubmatch(spec)
	if m == nil {
		return nil
	}
	return []string{pythonCanonical(m[1])}
}

var pythonSeparators = regexp.MustCompile(`[-_.]+`)

// pythonCanonical is a name as the Python index compares it.
func pythonCanonical(name string) string {
	return strings.ToLower(pythonSeparators.ReplaceAllString(name, "-"))
}

// fromModule reads `python -m module`. A module's package is called alike but for "_".
func fromModule(args []string) []string {
	for len(args) > 0 && slices.Contains([]string{"-u", "-I", "-s", "-B", "-E", "-3"}, args[0]) {
		args = args[1:]
	}
	if len(args) < 2 || args[0] != "-m" || !pythonModule.MatchString(args[1]) {
		return nil
	}
	ids := []string{args[1]}
	if name := pythonCanonical(args[1]); name != args[1] {
		ids = append(ids, name)
	}
	return ids
}
