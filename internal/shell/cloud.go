package shell

import (
	"path"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// cloudCopy is for tools whose operands name buckets: aws s3 cp, gsutil cp, az storage, rclone.
func cloudCopy(c *invocation) content {
	verbs := operands(c.args)
	for i, a := range c.args {
		name, v, has := strings.Cut(a.text, "=")
		if !has && i+1 < len(c.args) {
			v = c.args[i+1].text
		}
		switch name {
		case "--endpoint-url", "--endpoint", "--api-endpoint", "--host", "--host-bucket", "--http-proxy", "--ca-bundle", "--server", "--destination", "--source", "--to", "--url", "--sftp-host", "--account-name", "--bucket", "--topic-arn", "--queue-url", "--function-name", "--target", "--repository":
			if strings.Contains(v, "://") || isShaped(v) || !fixed(v) {
				c.reach(Send, word{text: v})
			} else if v != "" && !strings.HasPrefix(v, "-") {
				c.to(Send, destination.Parse(v))
			}
		}
	}
	found := false
	for i, w := range verbs {
		t := w.text
		switch {
		case strings.Contains(t, "://"):
			kind := Fetch
			if i == len(verbs)-1 {
				kind = Send
			}
			c.reach(kind, w)
			found = true
		case c.name == "rclone" && strings.Contains(t, ":") || !fixed(t):
			c.remote(Send, w)
			found = true
		}
	}
	if loose(c.args) {
		c.doubt("some of its words are known only when it runs")
	} else if !found && !c.onlyLooks(verbs) {
		c.implied(Send, "the account that "+c.name+" is set up with")
	}
	return content{kind: stream}
}

func operands(args []word) []word {
	_, rest := grammarOf("", "").parse(args, false)
	return rest
}

var looks = setOf(`help version ls list describe get show config configure info status whoami login logout auth completion view diff checks logs top explain
	api-resources api-versions cluster-info ps images inspect events stats port history search context contexts`)

// onlyLooks holds for a cloud tool's verbs that ask and tell nothing.
func (c *invocation) onlyLooks(verbs []word) bool {
	if len(verbs) == 0 {
		return true
	}
	for _, v := range verbs[:min(3, len(verbs))] {
		for _, part := range strings.Split(v.text, "-")[:1] {
			if looks[part] {
				return true
			}
		}
	}
	return false
}

var kubectlLooks = setOf("get describe logs top explain api-resources api-versions cluster-info version config events auth diff wait completion options help plugin")

// kubectl talks to the cluster of the current context, and runs commands in it.
func kubectl(c *invocation) content {
	rest := operands(c.args)
	for i, a := range c.args {
		name, v, has := strings.Cut(a.text, "=")
		if !has && i+1 < len(c.args) {
			v = c.args[i+1].text
		}
		switch name {
		case "--server", "-s", "--context", "--cluster", "--kubeconfig", "--as", "--host", "-H", "--repo", "--url":
			if v != "" {
				c.endpoint(Send, word{text: v})
			}
		case "-f", "--filename", "-k":
			if strings.Contains(v, "://") {
				c.reach(Fetch, word{text: v})
			}
		}
		if a.text == "--" && i+1 < len(c.args) {
			c.run(c.args[i+1:], c.sc.branch(), content{kind: stream})
		}
	}
	if loose(c.args) {
		c.doubt("some of its words are known only when it runs")
	}
	if len(rest) > 0 && !kubectlLooks[rest[0].text] {
		c.implied(Send, "the cluster that "+c.name+" is set up with")
	}
	for _, w := range rest {
		if strings.Contains(w.text, "://") {
			c.reach(Send, w)
		}
	}
	return content{kind: stream}
}

// docker publishes, fetches and runs programs of which nothing is known here.
func docker(c *invocation) content {
	opts, rest := grammarOf("HclvD", "host context config log-level tlscacert tlscert tlskey namespace connection url").parse(c.args, true)
	for _, o := range opts {
		if o.name == "-H" || o.name == "--host" || o.name == "-c" || o.name == "--context" || o.name == "--url" || o.name == "--connection" {
			c.endpoint(Send, o.value)
		}
	}
	if len(rest) == 0 {
		return content{kind: stream}
	}
	verb := rest[0].text
	if (verb == "image" || verb == "container" || verb == "buildx" || verb == "compose" || verb == "manifest" || verb == "builder") && len(rest) > 1 {
		if verb == "compose" {
			_, after := grammarOf("fp", "file project-name profile env-file project-directory").parse(rest[1:], true)
			rest = append([]word{{text: "compose"}}, after...)
		}
		if len(rest) > 1 {
			verb += " " + rest[1].text
			rest = rest[1:]
		}
	}
	args := rest[1:]
	switch verb {
	case "push", "image push", "manifest push", "compose push":
		c.images(Publish, args)
	case "pull", "image pull":
		c.images(Fetch, args)
	case "login":
		c.images(Send, args)
	case "run", "create", "container run", "container create", "compose run":
		c.container(args, verb)
	case "exec", "container exec", "compose exec":
		_, inside := grammarOf("euwT", "env env-file user workdir detach-keys index").parse(args, true)
		if len(inside) > 1 {
			c.run(inside[1:], c.sc.branch(), content{kind: stream})
		}
	case "build", "image build", "buildx build", "import", "plugin install", "context create", "swarm join", "stack deploy", "service create":
		opts, _ := grammarOf("fto", "file tag output build-arg cache-from cache-to").parse(args, false)
		for _, o := range opts {
			if o.name == "--push" {
				c.doubt("what it builds is published")
			}
			if o.name == "-f" && o.value.text == "-" || o.name == "--file" && o.value.text == "-" {
				c.doubt("what it builds comes from a pipe")
			}
		}
		if hasFlag(args, "-") {
			c.doubt("what it builds comes from a pipe")
		}
		c.args = args
		c.shapes()
	case "cp", "container cp", "save", "image save", "export", "container export":
		for i, a := range args {
			if (a.text == "-o" || a.text == "--output") && i+1 < len(args) {
				c.write(args[i+1].text, c.sc, c.text)
			}
		}
	default:
		if !fixed(verb) {
			c.doubt("what docker does is known only when it runs")
		}
	}
	return content{kind: stream}
}

// images notes the registries of images; without one it is Docker Hub's.
func (c *invocation) images(kind Kind, args []word) {
	_, rest := grammarOf("up", "platform username password").parse(args, false)
	if loose(args) {
		c.doubt("some of its words are known only when it runs")
	}
	for _, w := range rest {
		t := w.text
		t = strings.TrimPrefix(t, "docker://")
		first, _, slash := strings.Cut(t, "/")
		if kind != Send && (!slash || !strings.ContainsAny(first, ".:\x00") && first != "localhost") {
			t = "docker.io/" + t
		}
		if at := strings.LastIndexAny(t, ":@"); at > strings.LastIndexByte(t, '/') {
			t = t[:at]
		}
		c.reach(kind, word{"https://" + t, w.many})
	}
	if len(rest) == 0 {
		c.implied(kind, "which registry is in docker's settings")
	}
}

// container is docker run: a program of the image's own, with the network unless that is taken away.
func (c *invocation) container(args []word, verb string) {
	_, inside := grammarOf("aceghlmpuvw", `add-host attach blkio-weight cap-add cap-drop cgroup-parent cgroupns cidfile cpus cpu-shares cpuset-cpus device dns dns-option
		dns-search domainname entrypoint env env-file expose gpus group-add health-cmd hostname ip ip6 ipc isolation label label-file link
		log-driver log-opt mac-address memory mount name network net network-alias oom-score-adj pid pids-limit platform publish pull
		restart runtime security-opt shm-size stop-signal storage-opt sysctl tmpfs ulimit user userns uts volume volume-driver
		volumes-from workdir`).parse(args, true)
	alone := false
	for i, a := range args {
		if a.text == "--network=none" || a.text == "--net=none" || (a.text == "--network" || a.text == "--net") && i+1 < len(args) && args[i+1].text == "none" {
			alone = true
		}
	}
	if verb != "compose run" && !alone {
		c.doubt("a container runs a program of which nothing is known, with the network")
	}
	if len(inside) > 1 {
		c.run(inside[1:], c.sc.branch(), content{kind: stream})
	}
}

// gh talks to the repository's forge. What it only looks at sends nothing.
func gh(c *invocation) content {
	rest := operands(c.args)
	opts, _ := grammarOf("RXHfFqt", "repo hostname method header field raw-field").parse(c.args, false)
	for _, o := range opts {
		switch o.name {
		case "-R", "--repo":
			c.reach(Send, word{repoLink(o.value.text), o.value.many})
			return content{kind: stream}
		case "--hostname":
			c.host(Send, o.value, "")
		}
	}
	if len(rest) == 0 {
		return content{kind: stream}
	}
	verb, second := rest[0].text, ""
	if len(rest) > 1 {
		second = rest[1].text
	}
	switch {
	case loose(c.args) || !fixed(verb+second):
		c.doubt("what it does is known only when it runs")
	case verb == "repo" && (second == "clone" || second == "view" || second == "fork") && len(rest) > 2:
		c.reach(Fetch, word{text: repoLink(rest[2].text)})
	case verb == "extension":
		c.doubt("an extension is a program from elsewhere")
	case verb == "alias":
		for _, w := range rest {
			if t, ok := strings.CutPrefix(w.text, "!"); ok {
				c.inner(word{text: t})
			}
		}
	case verb == "api":
		c.implied(Send, "the forge that gh is logged in at")
	case verb == "search", verb == "browse", looks[second], looks[verb], second == "checkout", second == "watch", second == "download":
	default:
		c.implied(Send, "the repository's forge")
	}
	c.args = rest
	c.shapes()
	return content{kind: stream}
}

func repoLink(text string) string {
	switch strings.Count(text, "/") {
	case 1:
		return "https://github.com/" + text
	case 2:
		if !strings.Contains(text, "://") {
			return "https://" + text
		}
	}
	return text
}

// opens is xdg-open, open, start: a link goes to the browser, and so does a mail.
func opens(c *invocation) content {
	for _, a := range c.args {
		if strings.HasPrefix(strings.ToLower(a.text), "mailto:") {
			c.reach(Send, a)
			continue
		}
		if !fixed(a.text) && path.Ext(a.text) == "" {
			c.doubt("what it opens is known only when it runs")
			continue
		}
		c.shape(a)
	}
	return content{kind: stream}
}
