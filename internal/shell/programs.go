package shell

// program reads the arguments of one program. It returns what the program prints, where that is known.
type program func(*invocation) content

// programs are those of which something is known. Every other one is a stranger: see there.
var programs map[string]program

// versioned are programs whose names carry a version: python3.12, php8.
var versioned = setOf("python pip lua ruby perl php node clang gcc")

// reaches are the programs that can reach another machine or run any command. They are looked for among the words of a stranger,
// which may be a wrapper that nobody described here.
var reaches = map[string]bool{}

func init() {
	programs = map[string]program{
		"env": env, "command": command, "eval": eval, "source": source, ".": source, "xargs": xargs, "gxargs": xargs, "parallel": parallel, "find": find, "gfind": find,
		"curl": curl, "wget": wget, "wget2": wget, "git": git, "ssh": ssh, "autossh": ssh, "sshpass": sshpass, "scp": scp, "sftp": scp, "rsync": rsync, "socat": socat, "openssl": openssl,
		"echo": echo, "printf": printf, "cat": cat, "gcat": cat, "cd": cd, "pushd": cd, "popd": cd, "chdir": cd, "read": reads, "mapfile": reads, "readarray": reads, "getopts": reads, "trap": trap, "alias": alias, "set": set, "shift": shift,
		"unset": unsets, "export": exports, "declare": exports, "typeset": exports, "local": exports, "readonly": exports, "enable": binds, "hash": binds,
		"awk": awk, "gawk": awk, "mawk": awk, "nawk": awk, "sed": sed, "gsed": sed, "dd": dd, "tar": tar, "gtar": tar, "bsdtar": tar,
		"make": makes, "gmake": makes, "just": makes, "cmake": makes, "ninja": makes, "task": makes, "rake": makes,
		"npx": npx, "bunx": npx, "pnpx": npx, "uvx": npx, "go": golang, "gh": gh, "glab": gh, "hub": gh, "docker": docker, "podman": docker, "nerdctl": docker, "docker-compose": compose, "kubectl": kubectl, "oc": kubectl,
		"open": opens, "xdg-open": opens, "start": opens, "explorer": opens, "gio": opens, "sensible-browser": opens,
		"crontab": later, "at": later, "batch": later, "su": su, "runuser": su, "script": su, "bouncer": bouncer, "hyperfine": texts, "concurrently": texts, "nodemon": texts, "tmux": texts, "screen": texts, "watchexec": texts, "xterm": texts, "gnome-terminal": texts, "nix-shell": texts, "launchctl": texts,
		"sort": runsOption("--compress-program"), "split": runsOption("--filter"), "rg": runsOption("--pre", "--hostname-bin"), "man": runsOption("-P", "--pager", "-H", "--html"), "zip": runsOption("-TT", "--unzip-command"), "ag": runsOption("--pager"), "bat": runsOption("--pager"), "fzf": runsOption("--preview", "--bind"), "csplit": runsOption(), "pv": runsOption(),
		"mktemp": mktemp, "less": pager, "more": pager, "most": pager, "mount": mount, "mount.cifs": mount, "mount_smbfs": mount, "mount_nfs": mount, "complete": completes, "compgen": completes, "fc": asks, "cmd": cmdExe, "kill": kills, "pkill": kills, "killall": kills, "fd": fd, "fdfind": fd, "chsh": binds, "insmod": binds, "jq": harmlessly, "ansible": manage,
	}
	for name := range wrappers {
		programs[name] = wrap
	}
	for name := range interpreters {
		programs[name] = interpret
	}
	programs["python3"], programs["python2"], programs["pypy"], programs["pypy3"], programs["nodejs"] = renamed("python"), renamed("python"), renamed("python"), renamed("python"), renamed("node")
	programs["pip3"] = renamed("pip")
	for name := range managers {
		if programs[name] == nil || name == "bun" || name == "pipenv" || name == "poetry" || name == "pdm" || name == "hatch" || name == "bundle" || name == "conda" || name == "mamba" {
			programs[name] = manage
		}
	}
	programs["bun"] = interpret
	for _, name := range []string{"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "yash", "elvish", "nu", "xonsh", "osh"} {
		programs[name] = sh
	}
	for _, name := range []string{"nc", "ncat", "netcat", "nc.openbsd", "nc.traditional", "nc6", "pwncat", "rcat", "powercat", "pnc", "cryptcat"} {
		programs[name] = netcat
	}
	for _, name := range []string{"http", "https", "httpie", "xh", "xhs", "curlie", "aria2c", "axel", "lynx", "w3m", "links", "elinks", "links2", "httrack", "yt-dlp", "youtube-dl", "lwp-request", "ab", "wrk", "hey", "vegeta", "k6", "siege", "grpcurl", "grpc_cli", "websocat", "wscat", "chrome", "google-chrome", "chromium", "chromium-browser", "firefox", "safari", "wkhtmltopdf", "hurl", "newman", "puppeteer", "lighthouse", "svn", "hg", "bzr", "fossil", "cvs", "mc", "s3cmd", "s5cmd", "b2", "lftpget", "webhook", "apprise", "gurl", "fetch", "ftpget", "tftp", "oha", "bombardier", "skipfish", "nikto", "sqlmap", "gobuster", "ffuf"} {
		programs[name] = browse(Send)
	}
	reached, asked := hosts(grammarOf("ceEPpuqnlbisWwtTIMmRQSBOfkjAaZx", "user password port dbname username"), 9), hosts(grammarOf("bcfkpqtyx", ""), 9)
	for _, name := range []string{"ping", "ping6", "fping", "hping3", "arping", "traceroute", "traceroute6", "tracepath", "mtr", "nmap", "nping", "masscan", "whois", "finger", "ntpdate", "sntp", "mosh", "rsh", "rlogin", "rcp", "rexec", "dbclient", "ssh-copy-id", "ssh-keyscan", "sshfs", "mount.nfs", "showmount", "smbclient", "snmpget", "snmpwalk", "snmptrap", "rpcinfo", "nbtscan", "sslscan", "testssl", "iperf", "iperf3", "qperf", "tcptraceroute", "ztcp", "tcpconnect"} {
		programs[name] = reached
	}
	for _, name := range []string{"dig", "drill", "kdig", "delv", "nslookup", "host", "resolvectl", "systemd-resolve", "adig", "ahost", "dog", "doggo", "dnsq", "dnsip"} {
		programs[name] = asked
	}
	for _, name := range []string{"psql", "mysql", "mariadb", "mysqldump", "pg_dump", "pg_restore", "mongosh", "mongo", "mongodump", "redis-cli", "ldapsearch", "ldapadd", "ldapmodify", "mosquitto_pub", "mosquitto_sub", "kcat", "kafkacat", "kafka-console-producer", "nats", "amqp-publish", "influx", "cqlsh", "clickhouse-client", "sqlcmd", "isql", "sqlplus", "mssql-cli", "logger", "nsupdate", "etcdctl", "consul", "vault", "remmina", "xfreerdp", "rdesktop", "vncviewer", "wg", "wg-quick", "openvpn"} {
		programs[name] = service
	}
	for _, name := range []string{"ftp", "telnet", "lftp", "ncftp", "ncftpput", "smbmap", "cadaver", "tnftp"} {
		programs[name] = session
	}
	for _, name := range []string{"mail", "mailx", "s-nail", "nail", "bsd-mailx", "mutt", "neomutt", "sendmail", "msmtp", "ssmtp", "swaks", "sendemail", "mpack", "postfix", "exim", "exim4", "nullmailer-inject", "himalaya", "aerc", "thunderbird"} {
		programs[name] = mail
	}
	for _, name := range []string{"aws", "gcloud", "gsutil", "az", "azcopy", "rclone", "doctl", "oci", "ibmcloud", "aliyun", "linode-cli", "hcloud", "scw", "bq", "restic", "borg", "duplicity", "duplicacy", "kopia", "rustic", "megaput", "dropbox_uploader", "gdrive", "onedrive"} {
		programs[name] = cloudCopy
	}
	for _, name := range []string{"croc", "wormhole", "magic-wormhole", "ngrok", "cloudflared", "localtunnel", "lt", "bore", "tailscale", "frpc", "chisel", "pastebinit", "transfer", "gist", "wgetpaste", "termbin", "ix", "0x0", "ffsend", "onionshare", "syncthing", "qrcp", "serve", "http-server", "live-server", "caddy", "miniserve", "webfsd", "telegram-send", "slack", "slackcat", "slack-cli", "ntfy", "pushover", "signal-cli", "iodine", "dnscat", "dnscat2", "ptunnel", "telegram-cli", "discord", "irssi", "weechat", "matrix-commander", "inlets", "rathole", "zrok", "teleport", "tsh", "share", "upload", "sftpgo", "nfs"} {
		programs[name] = channel
	}
	for _, name := range []string{"cp", "mv", "ln", "install", "gcp", "gmv", "ginstall", "link", "ditto"} {
		programs[name] = copies
	}
	for name, short := range map[string]string{"tee": "", "gtee": "", "touch": "rdt", "truncate": "sr", "rm": "", "rmdir": "", "unlink": "", "shred": "sn", "trash": "", "chmod": "", "chown": "", "chattr": "", "sponge": "", "fallocate": "lo", "mkfifo": "m", "mknod": "m"} {
		programs[name] = names(grammarOf(short, "size reference mode date time iterations length offset"))
	}
	for _, name := range []string{"vi", "vim", "nvim", "view", "ex", "ed", "emacs", "emacsclient", "nano", "pico", "code", "cursor", "subl", "gedit", "kate", "micro", "hx", "red", "joe", "mcedit", "gvim", "vimdiff"} {
		programs[name] = editor
	}
	for _, name := range []string{"patch", "unzip", "7z", "cpio", "ar", "unar", "pax", "unrar", "bsdcpio", "gpatch"} {
		programs[name] = unpack
	}
	programs["gpg"], programs["gpg2"] = gpg, gpg
	for _, name := range []string{"claude", "codex", "gemini", "cursor-agent", "opencode", "goose", "aider", "amp", "crush", "copilot", "kiro", "kiro-cli", "qwen", "cline", "auggie", "droid"} {
		programs[name] = client
	}
	programs["getent"], programs["dscacheutil"] = service, service
	for name := range programs {
		if !quiet[name] {
			reaches[name] = true
		}
	}
}

// quiet are the known programs that a stranger may name in its words without running them.
var quiet = setOf(`echo printf cat cd read set shift unset export declare local touch rm cp mv ln install tee time exec trap alias start open get post links
	host view sort split man zip find make task code hash enable at script then do - command test serve share upload notify transfer gist slack mail link amp goose crush copilot claude codex gemini fc kill pkill killall cmd mktemp complete compgen opencode aider cline qwen droid kiro
	patch source . batch screen set r mc lt ix ar b2 op ts arch fetch red notify discord nats task ab hey task install nfs service upload watch env go jq
	ex chrome firefox safari bun node deno python python3 python2 ruby php perl lua git docker npm pip pip3 cargo gem yarn pnpm uv poetry apt apt-get brew go gh kubectl aws az
	just cmake ninja rake hub sed awk dd tar consul vault influx swift julia scala r fd bat rg ag fzf share nice expect irb mask wg k6 dog np hf jf jsr fly flit brew snap nix bundle conda composer helm terraform pulumi serverless vercel heroku netlify firebase surge ansible`)

func renamed(name string) program {
	return func(c *invocation) content {
		c.name = name
		return programs[name](c)
	}
}

// harmless programs stay on this machine, whatever their words: a link among them is text.
var harmless = setOf(`: true false test [ [[ ls dir tree pwd whoami id groups users who w date cal uptime uname hostname arch nproc free df du stat file wc head tail
	grep egrep fgrep zgrep ack ugrep cut tr uniq comm join paste column fold fmt nl expand unexpand rev tac od xxd hexdump strings base64 base32 base16 basenc md5sum
	sha1sum sha256sum sha512sum shasum cksum sum b2sum md5 diff diff3 cmp sdiff colordiff delta basename dirname realpath readlink seq shuf factor bc expr numfmt yes
	sleep wait jobs fg bg pgrep ps top htop pidof lsof fuser ulimit umask type which whereis whatis apropos help history
	compopt return exit break continue logout times shopt setopt unsetopt autoload zmodload dirs disown suspend let mkdir mkfs sync gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz
	xzcat zstd unzstd zstdcat lz4 compress tput stty clear reset tty printenv locale localectl timedatectl loginctl journalctl dmesg lsblk lscpu lspci lsusb
	gofmt goimports golangci-lint staticcheck gotestsum gopls gcc g++ cc c++ clang clang++ ld as nm objdump readelf strip ranlib gcov rustc rustfmt javac kotlinc
	tsc eslint prettier jest vitest mocha webpack rollup vite esbuild swc babel stylelint biome black ruff flake8 pylint mypy pyright isort pytest tox coverage
	bandit rubocop rspec phpunit shellcheck shfmt hadolint yamllint markdownlint jsonlint yq tq gron csvcut miller mlr dasel tokei cloc scc
	ctags ctest meson dot plantuml pdftotext exiftool sox
	diffstat lsattr getfacl pathchk tsort look spell aspell wdiff dos2unix unix2dos iconv uconv envsubst gettext msgfmt
	defaults sw_vers system_profiler pbcopy pbpaste xclip xsel wl-copy wl-paste say getconf getopt logname mesg egrep zcmp zdiff zless eza exa lsd dust duf procs btm`)
