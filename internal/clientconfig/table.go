package clientconfig

// client is one MCP client: where its config files are, and what is to be known about them. A new client is one more
// entry of clients, as long as its servers stand in one of the layouts.
type client struct {
	name    string
	title   string
	paths   []string // see Env.fill; a system's name and a colon in front says that the path is of that system alone
	keys    []string // the layouts that it reads; none: mcpServers
	inline  bool     // it refuses, or warns of, members that it does not know: no sentinel
	elicits bool     // it is known to show a server's questions
	strict  bool     // a comment makes it ignore, or wipe, the file (C20)
	advice  string   // what to do about a running client
	noFile  string   // why it has no file that could be edited; then there is a snippet to paste
}

// inEditors are the places of a file that an extension keeps below the data of each editor that it is installed in.
func inEditors(rest string) (out []string) {
	for _, editor := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"} {
		out = append(out, "{config}/"+editor+"/User/globalStorage/"+rest)
	}
	return out
}

var clients = []client{
	{
		name: "claude-code", title: "Claude Code", strict: true, elicits: true,
		paths:  []string{"{claude}/.claude.json", "{dir}/.mcp.json"},
		advice: "Claude Code rewrites ~/.claude.json while it runs: end its sessions before, and start new ones after",
	},
	{
		name: "claude-desktop", title: "Claude Desktop", strict: true,
		paths:  []string{"{config}/Claude/claude_desktop_config.json"},
		advice: "Claude Desktop can write this file anew from its own memory: quit it before, and start it after",
	},
	{name: "cursor", title: "Cursor", paths: []string{"{home}/.cursor/mcp.json", "{dir}/.cursor/mcp.json"}},
	{
		name: "vscode", title: "VS Code", keys: []string{"servers"}, inline: true, elicits: true,
		paths: []string{
			"{config}/Code/User/mcp.json", "{config}/Code/User/profiles/*/mcp.json",
			"{config}/Code - Insiders/User/mcp.json", "{config}/Code - Insiders/User/profiles/*/mcp.json",
			"{config}/VSCodium/User/mcp.json", "{dir}/.vscode/mcp.json",
		},
	},
	{name: "copilot-cli", title: "Copilot CLI", strict: true, paths: []string{"{copilot}/mcp-config.json", "{dir}/.mcp.json"}},
	{name: "windsurf", title: "Windsurf", paths: []string{"{home}/.codeium/windsurf/mcp_config.json", "{home}/.codeium/mcp_config.json"}},
	{
		name: "zed", title: "Zed", keys: []string{"context_servers"}, inline: true,
		paths: []string{
			"linux:{xdg}/zed/settings.json", "darwin:{xdg}/zed/settings.json", "darwin:{config}/Zed/settings.json",
			"windows:{config}/Zed/settings.json", "{dir}/.zed/settings.json",
		},
	},
	{
		name: "codex", title: "Codex", keys: []string{"mcp_servers"}, inline: true, elicits: true,
		paths: []string{"{codex}/config.toml", "{dir}/.codex/config.toml"},
	},
	{
		name: "gemini-cli", title: "Gemini CLI", inline: true,
		paths: []string{"{home}/.gemini/settings.json", "{dir}/.gemini/settings.json"},
	},
	{name: "antigravity", title: "Antigravity", paths: []string{"{home}/.gemini/antigravity/mcp_config.json"}},
	{name: "qwen-code", title: "Qwen Code", inline: true, paths: []string{"{home}/.qwen/settings.json", "{dir}/.qwen/settings.json"}},
	{
		name: "cline", title: "Cline", strict: true,
		paths: append(inEditors("saoudrizwan.claude-dev/settings/cline_mcp_settings.json"), "{home}/.cline/data/settings/cline_mcp_settings.json"),
	},
	{
		name: "roo", title: "Roo Code", strict: true,
		paths: append(inEditors("rooveterinaryinc.roo-cline/settings/mcp_settings.json"), "{dir}/.roo/mcp.json"),
	},
	{
		name: "kilo", title: "Kilo Code", strict: true,
		paths: append(inEditors("kilocode.kilo-code/settings/mcp_settings.json"), "{dir}/.kilocode/mcp.json"),
	},
	{
		name: "continue", title: "Continue",
		paths: []string{
			"{home}/.continue/config.yaml", "{home}/.continue/mcpServers/*.yaml", "{home}/.continue/mcpServers/*.yml", "{home}/.continue/mcpServers/*.json",
			"{dir}/.continue/mcpServers/*.yaml", "{dir}/.continue/mcpServers/*.yml", "{dir}/.continue/mcpServers/*.json",
		},
	},
	{
		name: "goose", title: "Goose", keys: []string{"extensions"}, inline: true, elicits: true,
		paths: []string{"linux:{xdg}/goose/config.yaml", "darwin:{xdg}/goose/config.yaml", "windows:{config}/Block/goose/config/config.yaml"},
	},
	{name: "lm-studio", title: "LM Studio", paths: []string{"{home}/.lmstudio/mcp.json", "{home}/.cache/lm-studio/mcp.json"}},
	{name: "junie", title: "Junie", paths: []string{"{home}/.junie/mcp/mcp.json", "{dir}/.junie/mcp/mcp.json"}},
	{
		name: "opencode", title: "opencode", keys: []string{"mcp"}, inline: true,
		paths: []string{
			"{xdg}/opencode/opencode.json", "{xdg}/opencode/opencode.jsonc", "{xdg}/opencode/config.json",
			"{dir}/opencode.json", "{dir}/opencode.jsonc", "{dir}/.opencode/opencode.json", "{dir}/.opencode/opencode.jsonc",
		},
	},
	{
		name: "amazon-q", title: "Amazon Q",
		paths: []string{
			"{home}/.aws/amazonq/mcp.json", "{home}/.aws/amazonq/default.json", "{home}/.aws/amazonq/cli-agents/*.json",
			"{dir}/.amazonq/mcp.json", "{dir}/.amazonq/default.json", "{dir}/.amazonq/cli-agents/*.json",
		},
	},
	{
		name: "kiro", title: "Kiro",
		paths: []string{
			"{home}/.kiro/settings/mcp.json", "{home}/.kiro/agents/*.json",
			"{dir}/.kiro/settings/mcp.json", "{dir}/.kiro/agents/*.json",
		},
	},
	{name: "warp", title: "Warp", paths: []string{"{home}/.warp/.mcp.json", "{dir}/.warp/.mcp.json"}},
	{
		name: "amp", title: "Amp", keys: []string{"amp.mcpServers"}, inline: true,
		paths: []string{
			"{xdg}/amp/settings.json", "{xdg}/amp/settings.jsonc", "windows:{config}/amp/settings.json",
			"{dir}/.amp/settings.json", "{dir}/.amp/settings.jsonc",
		},
	},
	{
		name: "crush", title: "Crush", keys: []string{"mcp"}, inline: true,
		paths: []string{
			"linux:{xdg}/crush/crush.json", "darwin:{xdg}/crush/crush.json", "windows:{local}/crush/crush.json",
			"{dir}/crush.json", "{dir}/.crush.json",
		},
	},
	{name: "factory", title: "Factory", paths: []string{"{home}/.factory/mcp.json", "{dir}/.factory/mcp.json"}},
	{name: "kimi", title: "Kimi CLI", paths: []string{"{home}/.kimi/mcp.json"}},
	{name: "trae", title: "Trae", paths: []string{"{config}/Trae/User/mcp.json", "{dir}/.trae/mcp.json"}},
	{
		name: "vibe", title: "Mistral Vibe", keys: []string{"mcp_servers"}, inline: true,
		paths: []string{"{home}/.vibe/config.toml", "{dir}/.vibe/config.toml"},
	},
	{name: "lobehub", title: "LobeHub", noFile: "it keeps its servers in a database of its own"},
	{name: "jetbrains", title: "JetBrains AI Assistant", noFile: "it keeps its servers in the settings of the IDE"},
}

// layout is one way to keep servers in a file: under which key, and whose way that is.
type layout struct {
	key    string
	whose  string
	inline bool
}

// layouts are tried in this order where it is not known whose file it is. Only mcpServers is so common that its readers
// are known to pass over a member more.
var layouts = []layout{
	{"mcpServers", "most clients", false},
	{"servers", "VS Code", true},
	{"context_servers", "Zed", true},
	{"mcp", "opencode or Crush", true},
	{"amp.mcpServers", "Amp", true},
	{"mcp_servers", "Codex", true},
	{"extensions", "Goose", true},
}
