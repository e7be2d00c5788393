package policy_test

import (
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

func TestIdentities(t *testing.T) {
	cases := []struct{ line, want string }{ // fields of the command line -> identities
		{"npx @modelcontextprotocol/server-filesystem /tmp", "@modelcontextprotocol/server-filesystem"},
		{"npx -y @modelcontextprotocol/server-github@2025.4.8", "@modelcontextprotocol/server-github"},
		{"npx --yes fetch-mcp@latest", "fetch-mcp"},
		{"/usr/local/bin/npx -y fetch-mcp", "fetch-mcp"},
		{`C:\node\npx.cmd -y fetch-mcp`, "fetch-mcp"},
		{"npx -y -- fetch-mcp", "fetch-mcp"},
		{"npx -p @x/server-y server-y --flag", "@x/server-y"},
		{"npx --package=@x/server-y server-y", "@x/server-y"},
		{"npm exec -- fetch-mcp", "fetch-mcp"},
		{"bunx fetch-mcp", "fetch-mcp"},
		{"bun x fetch-mcp", "fetch-mcp"},
		{"pnpm dlx fetch-mcp", "fetch-mcp"},
		{"yarn dlx fetch-mcp", "fetch-mcp"},
		{"cmd /c npx -y fetch-mcp", "fetch-mcp"},
		{`C:\Windows\System32\cmd.exe /C npx -y @a/b`, "@a/b"},
		{"uvx mcp-server-fetch", "mcp-server-fetch"},
		{"uvx mcp_server_fetch@1.2.3", "mcp-server-fetch"},
		{"uvx --from mcp-server-fetch==1.0 fetch", "mcp-server-fetch"},
		{"uvx --python 3.12 mcp-server-fetch[extra]", "mcp-server-fetch"},
		{"uv tool run mcp-server-fetch", "mcp-server-fetch"},
		{"pipx run mcp-server-fetch", "mcp-server-fetch"},
		{"pipx run --spec mcp-server-fetch run-it", "mcp-server-fetch"},
		{"python -m mcp_server_fetch", "mcp_server_fetch mcp-server-fetch"},
		{"python3.12 -u -m mcp_server_fetch --x", "mcp_server_fetch mcp-server-fetch"},
		{"docker run -i --rm ghcr.io/github/github-mcp-server", "ghcr.io/github/github-mcp-server"},
		{"docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server:v1 stdio", "ghcr.io/github/github-mcp-server"},
		{"docker run -it -e=A=b --mount type=bind,src=/x,dst=/y mcp/filesystem:latest /y", "mcp/filesystem"},
		{"docker run docker.io/mcp/slack@sha256:aa", "mcp/slack"},
		{"docker run localhost:5000/mcp/slack:1", "localhost:5000/mcp/slack"},
		{"podman container run mcp/fetch", "mcp/fetch"},
		{"node /p/node_modules/@modelcontextprotocol/server-github/dist/index.js", "@modelcontextprotocol/server-github"},
		{"node --no-warnings /p/node_modules/fetch-mcp/dist/index.js x", "fetch-mcp"},
		{`node C:\p\node_modules\@a\b\index.js`, "@a/b"},
		{"node /p/node_modules/outer/node_modules/inner/x.js", "inner"},
		{"/opt/bin/github-mcp-server stdio", "github-mcp-server"},
		{`C:\bin\GitHub-MCP-Server.EXE stdio`, "github-mcp-server"},

		// What is not the package's place is not looked at, however much it looks like a package.
		{"npx -y evil @modelcontextprotocol/server-github", "evil"},
		{"my-server @modelcontextprotocol/server-github", "my-server"},
		{"docker run evil/image ghcr.io/github/github-mcp-server", "evil/image"},
		{"docker run --name mcp/slack evil/image", "evil/image"},
		{"node evil.js /p/node_modules/@a/b/index.js", ""},
		{"uvx evil mcp-server-fetch", "evil"},
		// Flags and sources that change what runs.
		{"npx --registry https://evil.example fetch-mcp", ""},
		{"npx --unknown fetch-mcp", ""},
		{"npx fetch-mcp@npm:evil", ""},
		{"npx fetch-mcp@github:evil/x", ""},
		{"npx fetch-mcp@https://evil.example/x.tgz", ""},
		{"npx github:evil/fetch-mcp", ""},
		{"npx ./fetch-mcp", ""},
		{"npx ../@modelcontextprotocol/server-github", ""},
		{"npx -c fetch-mcp", ""},
		{"npx -p @x/server-y sh -c evil", ""},
		{"npx -p @x/server-y -p evil server-y", ""},
		{"npx", ""},
		{"npx -y", ""},
		{"npx -p", ""},
		{"npm run fetch-mcp", ""},
		{"yarn fetch-mcp", ""},
		{"uvx --from git+https://evil.example/x fetch", ""},
		{"uvx --from mcp-server-fetch python -c evil", ""},
		{"uvx --with evil mcp-server-fetch", ""},
		{"uvx --index-url https://evil.example mcp-server-fetch", ""},
		{"uv run mcp-server-fetch", ""},
		{"python server.py", ""},
		{"python -c evil -m mcp_server_fetch", ""},
		{"docker run --entrypoint sh mcp/slack", ""},
		{"docker --context x run mcp/slack", ""},
		{"docker run --unknown mcp/slack", ""},
		{"docker exec mcp/slack", ""},
		{"docker run -e", ""},
		{"node -e evil /p/node_modules/@a/b/index.js", ""},
		{"node --require evil /p/node_modules/@a/b/index.js", ""},
		{"node /p/node_modules/@a/b/../../../evil.js", ""},
		{"node /p/node_modules/@a/../evil/x.js", "evil"},
		{"node /p/node_modules/@a", ""},
		{"cmd /c npx -y fetch-mcp & evil", ""},
		{"cmd /c cmd /c npx fetch-mcp", ""},
		{"cmd /c", ""},
		{"sh -c npx", ""},
		{"env X=1 npx fetch-mcp", ""},
		{"", ""},
	}
	for _, c := range cases {
		command, rest, _ := strings.Cut(c.line, " ")
		if got := strings.Join(policy.Identities(command, strings.Fields(rest)), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
	if got := policy.Identities("cmd", []string{"/c", "npx -y fetch-mcp"}); len(got) != 1 || got[0] != "fetch-mcp" {
		t.Errorf("cmd /c with one argument: %q", got)
	}
	if got := policy.Identities("npx", []string{"-y", "fetch-mcp evil"}); got != nil {
		t.Errorf("a package with a space: %q", got)
	}
}

func FuzzIdentities(f *testing.F) {
	f.Add("npx", "-y\x00fetch-mcp")
	f.Add("cmd", "/c\x00npx -y a")
	f.Add("docker", "run\x00-e\x00A\x00x")
	f.Fuzz(func(t *testing.T, command, args string) {
		for _, id := range policy.Identities(command, strings.Split(args, "\x00")) {
			if id == "" {
				t.Error("an empty identity")
			}
		}
	})
}
