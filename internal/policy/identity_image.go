package policy

import (
	"path"
	"slices"
	"strings"
)

// Flags of `docker run` that leave the image's own program in charge. --entrypoint does not, and is not here.
var (
	dockerQuiet = setOf("-i -t -d --interactive --tty --rm --init --detach --privileged --read-only -P --publish-all --quiet -q")
	dockerValue = setOf(`-e --env --env-file -v --volume --mount -p --publish --name --network --net -w --workdir -u
		--user -l --label -m --memory --cpus --platform --pull --add-host --cap-add --cap-drop --security-opt --gpus -h
		--hostname --dns --restart --log-driver --log-opt --ulimit --tmpfs --device --ipc --pid --shm-size
		--stop-timeout --pids-limit --memory-swap --userns --group-add`)
)

// fromDocker reads the image of `docker run`.
func fromDocker(args []string) []string {
	if len(args) > 0 && args[0] == "container" {
		args = args[1:]
	}
	if len(args) == 0 || args[0] != "run" {
		return nil
	}
	for i := 1; i < len(args); i++ {
		a := args[i]
		name, _, joined := strings.Cut(a, "=")
		switch {
		case !strings.HasPrefix(a, "-"):
			return imageSpec(a)
		case dockerQuiet[a] || dockerShort(a):
		case dockerValue[name] && joined:
		case dockerValue[a]:
			i++
		default:
			return nil
		}
	}
	return nil
}

// dockerShort reports whether a is short flags without values, written together, like -it.
func dockerShort(a string) bool {
	return len(a) > 2 && a[1] != '-' && strings.Trim(a[1:], "itdPq") == ""
}

// imageSpec reads registry/name:tag@digest, and returns registry/name. Docker's own registry goes without saying.
func imageSpec(image string) []string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndex(image, ":"); i > strings.LastIndex(image, "/") {
		image = image[:i]
	}
	for _, own := range []string{"index.docker.io/", "docker.io/", "library/"} {
		image = strings.TrimPrefix(image, own)
	}
	if !imageName.MatchString(image) {
		return nil
	}
	return []string{image}
}

// nodeQuiet are node's flags that load no other code.
var nodeQuiet = setOf("--no-warnings --enable-source-maps --no-deprecation --trace-warnings --use-system-ca --trace-deprecation --experimental-strip-types")

// fromNode reads the package that a script inside node_modules belongs to.
func fromNode(args []string) []string {
	for len(args) > 0 && (nodeQuiet[args[0]] || strings.HasPrefix(args[0], "--max-old-space-size=")) {
		args = args[1:]
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil
	}
	parts := strings.Split(path.Clean(slashed(args[0])), "/")
	at := -1
	for i, p := range parts {
		if p == "node_modules" {
			at = i
		}
	}
	rest := parts[at+1:]
	size := 1
	if at >= 0 && len(rest) > 0 && strings.HasPrefix(rest[0], "@") {
		size = 2
	}
	if at < 0 || len(rest) <= size || slices.Contains(rest, "..") {
		return nil
	}
	name := strings.Join(rest[:size], "/")
	if !npmName.MatchString(name) {
		return nil
	}
	return []string{name}
}
