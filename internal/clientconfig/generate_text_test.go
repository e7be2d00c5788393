package clientconfig

import (
	"fmt"
	"strings"
)

// toml writes a config in random spellings of TOML.
func (g *generator) toml() string {
	var b strings.Builder
	line := func(parts ...string) {
		b.WriteString(strings.Join(parts, ""))
		b.WriteString(pick(g, "", "", "", " # it's \"a\" [comment] = {") + g.eol)
	}
	if g.r.IntN(6) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	line(`model = "m"`)
	dotted := g.r.IntN(4)
	for i := range dotted {
		p := fmt.Sprintf("mcp_servers.d%d.", i)
		line(p, "command = ", g.tomlString())
		if g.r.IntN(2) == 0 {
			line(p, `env.TOKEN = "t"`)
		}
		if g.r.IntN(2) == 0 {
			line(p, "args = ", g.tomlList())
		}
	}
	if dotted == 0 && g.r.IntN(3) == 0 {
		line("[mcp_servers]")
		for i := range g.r.IntN(3) {
			line(fmt.Sprintf("b%d = { command = ", i), g.tomlString(), pick(g, "", ", args = "+g.tomlInline()), pick(g, "", ", env = { K = 'v' }"), " }")
		}
	}
	line(pick(g, "[other]", "[profiles.x]"))
	line("f = 1E3")
	if dotted == 0 {
		for i := range g.r.IntN(4) {
			g.tomlTable(line, fmt.Sprintf("[%s.%s]", tomlKey, pick(g, fmt.Sprint("t", i), fmt.Sprintf(`"t %d.x"`, i), fmt.Sprintf(`'t"%d'`, i))))
		}
	}
	line("[last]")
	line("n = nan")
	return strings.TrimSuffix(b.String(), pick(g, "", g.eol))
}

func (g *generator) tomlTable(line func(...string), header string) {
	line(header)
	indent := pick(g, "", "", "  ", "\t")
	members := []string{indent + "command" + pick(g, " = ", "=", "  =\t") + g.tomlString()}
	if g.r.IntN(3) > 0 {
		members = append(members, indent+pick(g, "args", `"args"`)+" = "+g.tomlList())
	}
	members = append(members, indent+pick(g, "timeout = 30.0", "enabled = false", `env = { TOKEN = "t", "B C" = "1" }`, "# args = []"))
	g.r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	for _, m := range members {
		line(m)
	}
	if g.r.IntN(3) == 0 {
		line(strings.TrimSuffix(header, "]") + ".more]")
		line(`args = "not these"`)
	}
}

func (g *generator) tomlString() string {
	return pick(g, `"npx"`, `'C:\Tools\srv.exe'`, `"a \"q\" b"`, `"日本"`, `'--'`, `"run"`, `"a # b"`, `"[x]"`, `"t\tt"`, `"a,b"`)
}

func (g *generator) tomlInline() string {
	var words []string
	for range g.r.IntN(4) {
		words = append(words, g.tomlString())
	}
	return "[" + pick(g, "", " ") + strings.Join(words, pick(g, ", ", ",", " , ")) + pick(g, "", " ") + "]"
}

func (g *generator) tomlList() string {
	if g.r.IntN(2) == 0 {
		return g.tomlInline()
	}
	var b strings.Builder
	b.WriteString("[" + pick(g, "", " # first, \"of\" all]") + g.eol)
	for range g.r.IntN(4) {
		b.WriteString(pick(g, "  ", "\t", "") + g.tomlString() + pick(g, ",", " ,") + pick(g, "", " # ] c") + g.eol)
	}
	return b.String() + "]"
}

// yaml writes a config in random spellings of YAML.
func (g *generator) yaml() string {
	var b strings.Builder
	line := func(parts ...string) {
		b.WriteString(strings.Join(parts, "") + pick(g, "", "", "", " # it's: [a, \"comment\"") + g.eol)
	}
	if g.r.IntN(6) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	line("# settings")
	line("name: mine")
	line("日本: {a: [1, 2.50], é: \"x\"}")
	if g.r.IntN(3) > 0 {
		line("mcpServers:")
		in := pick(g, "", "  ", "    ")
		for i := range 1 + g.r.IntN(3) {
			members := g.yamlMembers("command")
			members = append(members, []string{fmt.Sprintf("name: n%d", i)})
			g.r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
			g.yamlItem(line, in+"- ", in+"  ", members)
		}
	}
	if g.r.IntN(3) > 0 {
		line("extensions:")
		for i := range 1 + g.r.IntN(3) {
			name := pick(g, fmt.Sprint("é", i), fmt.Sprintf(`"q %d"`, i), fmt.Sprintf("'s%d'", i))
			if g.r.IntN(4) == 0 {
				line("  ", name, ": {type: stdio, cmd: ", g.flowWord(), pick(g, "", ", args: "+g.flowList()), ", envs: {K: v}}")
				continue
			}
			line("  ", name, ":")
			members := g.yamlMembers("cmd")
			g.r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
			in := pick(g, "    ", "   ", "      ")
			g.yamlItem(line, in, in, members)
		}
	}
	line("last: 725653563933458432")
	return strings.TrimSuffix(b.String(), pick(g, "", g.eol))
}

// yamlItem writes members, the first behind first and the others behind rest.
func (g *generator) yamlItem(line func(...string), first, rest string, members [][]string) {
	for _, m := range members {
		line(first, m[0])
		for _, more := range m[1:] {
			line(rest, more)
		}
		first = rest
		if g.r.IntN(6) == 0 {
			line(rest, "# between")
		}
	}
}

func (g *generator) yamlMembers(command string) [][]string {
	members := [][]string{{pick(g, command, `"`+command+`"`) + ":" + pick(g, " ", "  ") + g.flowWord()}, {"env:", "  TOKEN: ${{ secrets.TOKEN }}"}}
	switch g.r.IntN(4) {
	case 0:
	case 1:
		list := []string{"args:"}
		dash := pick(g, "- ", "  - ", "-   ")
		for range 1 + g.r.IntN(3) {
			list = append(list, dash+pick(g, g.flowWord(), "a, b", "-y", "${X:-y}"))
		}
		members = append(members, list)
	default:
		members = append(members, []string{"args: " + g.flowList()})
	}
	return members
}

// flowWord is a word that means the same in a list between brackets.
func (g *generator) flowWord() string {
	return pick(g, "npx", "/a b/c", `"a \"q\" b"`, `'it''s'`, "日本", `"--"`, "run", `'C:\x'`, `"a # b"`, "a:b", `"é, [x]"`)
}

func (g *generator) flowList() string {
	var words []string
	for range g.r.IntN(4) {
		words = append(words, g.flowWord())
	}
	end := pick(g, "", " ")
	if len(words) > 0 {
		end = pick(g, "", " ", ",")
	}
	return "[" + pick(g, "", " ") + strings.Join(words, pick(g, ", ", " , ")) + end + "]"
}
