package shell

import "strings"

// Variables whose value is a command that some program runs.
var commandVariables = setOf(`PROMPT_COMMAND ENV PS0 PS1 PS2 PS4 GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_EDITOR GIT_SEQUENCE_EDITOR
	GIT_PAGER GIT_ASKPASS EDITOR VISUAL PAGER MANPAGER LESSOPEN LESSCLOSE SSH_ASKPASS SUDO_ASKPASS RSYNC_RSH RSYNC_CONNECT_PROG CVS_RSH SVN_SSH
	BROWSER CARGO_HOME_RUSTC_WRAPPER RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER TAR_OPTIONS FZF_DEFAULT_COMMAND SYSTEMD_EDITOR KUBE_EDITOR MAKEFLAGS_SHELL`)

// Variables that load code into whatever runs next.
var loaderVariables = setOf(`BASH_ENV LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH PYTHONSTARTUP PERL5OPT PERL5DB
	RUBYOPT BASH_FUNC_ls%% GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_PARAMETERS CURL_HOME WGETRC
	JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS GCONV_PATH GLIBC_TUNABLES OPENSSL_CONF OPENSSL_ENGINES NETRC SSH_CONFIG ANSIBLE_CONFIG
	HOSTALIASES RES_OPTIONS LOCALDOMAIN RESOLV_HOST_CONF`)

// Variables whose value is where a program goes to.
var placeVariables = setOf(`HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY RSYNC_PROXY SOCKS_PROXY SOCKS_SERVER NPM_CONFIG_REGISTRY NPM_CONFIG_PROXY NPM_CONFIG_HTTPS_PROXY
	YARN_REGISTRY PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_PROXY PIP_FIND_LINKS UV_INDEX_URL UV_DEFAULT_INDEX UV_INDEX UV_EXTRA_INDEX_URL
	TWINE_REPOSITORY_URL DOCKER_HOST BUILDKIT_HOST AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3 GH_HOST OPENAI_BASE_URL ANTHROPIC_BASE_URL
	HF_ENDPOINT KUBERNETES_MASTER CARGO_REGISTRIES_CRATES_IO_INDEX GEM_HOST BUNDLE_MIRROR__ALL HOMEBREW_BOTTLE_DOMAIN MAVEN_REPO`)

// environment reads what it means when a variable is set that programs obey.
func (r *reader) environment(name, text string, sc *scope) {
	c := &invocation{reader: r, sc: sc, text: name + "=" + text}
	upper := strings.ToUpper(name)
	switch {
	case text == "":
	case commandVariables[name]:
		if strings.ContainsAny(text, "\x00") {
			c.doubt("a program runs this value, which is known only then")
			return
		}
		if name == "LESSOPEN" {
			text = strings.TrimPrefix(text, "|")
		}
		r.script(text, sc.branch(), content{kind: stream})
	case loaderVariables[name], strings.HasPrefix(name, "BASH_FUNC_"):
		c.doubt("it loads code or settings into every program that follows")
	case strings.HasPrefix(name, "GIT_CONFIG_VALUE_"), strings.HasPrefix(name, "GIT_CONFIG_KEY_"):
		c.doubt("it gives git settings, which can run commands")
	case name == "LESS" && strings.ContainsAny(text, "!|\x00"):
		c.doubt("less runs a command of it")
	case name == "NODE_OPTIONS":
		for _, bad := range []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "--eval", "-e"} {
			if strings.Contains(" "+strings.ReplaceAll(text, "=", " ")+" ", " "+bad+" ") || !fixed(text) {
				c.doubt("it loads code into every node that follows")
				return
			}
		}
	case placeVariables[upper]:
		c.place(text)
	case name == "GOPROXY", name == "GONOSUMDB_PROXY", name == "GOSUMDB":
		for _, p := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '|' }) {
			if p != "direct" && p != "off" {
				c.place(p)
			}
		}
	case name == "GOFLAGS" && (strings.Contains(text, "-toolexec") || strings.Contains(text, "-exec") || !fixed(text)):
		c.doubt("it makes go run another program")
	case name == "BOUNCER_HOME" || strings.HasPrefix(name, "BOUNCER_"):
		c.add(Effect{Kind: Run, Command: c.text, Why: "it sets what Bouncer obeys"})
	}
}

// place notes a place that later commands go to.
func (c *invocation) place(text string) {
	if fixed(text) && !strings.Contains(text, "://") {
		c.host(Send, word{text: text}, "")
		return
	}
	c.reach(Send, word{text: text})
}
