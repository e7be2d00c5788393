// Command smoke is the scripted client of smoke.sh: it starts the server that an MCP client config names, as a client
// would, makes a few calls, and prints what came back. Its arguments are the config, the entry's name and the working
// directory of the story. It exits 4 when an answer is not the expected one.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	ok, err := smoke(os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, "smoke:", err)
		os.Exit(1)
	}
	if !ok {
		os.Exit(4)
	}
}

// call is one line of the story.
type call struct {
	name, tool string
	args       map[string]any
	blocked    string // what the answer must hold after "[bouncer blocked] "; "" when the call must succeed
}

func smoke(config, name, work string) (bool, error) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	command, err := entry(config, name)
	if err != nil {
		return false, err
	}
	command.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "smoke", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		return false, err
	}
	defer session.Close()
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		return false, err
	}
	fmt.Printf("--- a the server's tools, re-exported 1:1: %d\n", len(tools.Tools))

	out := filepath.Join(work, "out")
	write := func(path string) map[string]any { return map[string]any{"path": path, "content": "hello\n"} }
	ok := true
	for _, c := range []call{
		{"b write_file to /etc", "write_file", write("/etc/bouncer_should_not_write.txt"), "path='/etc/bouncer_should_not_write.txt' outside allowed prefixes ['" + out + "']"},
		{"c write #1 into out", "write_file", write(filepath.Join(out, "note1.txt")), ""},
		{"c write #2 into out", "write_file", write(filepath.Join(out, "note2.txt")), "call budget 2 for 'write_file' exceeded"},
		{"c write #3 into out", "write_file", write(filepath.Join(out, "note3.txt")), "call budget 2 for 'write_file' exceeded"},
		{"d read it back", "read_text_file", map[string]any{"path": filepath.Join(out, "note1.txt")}, ""},
	} {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.tool, Arguments: c.args})
		if err != nil {
			return false, fmt.Errorf("%s: %w", c.name, err)
		}
		ok = show(c, result) && ok
	}
	return ok, nil
}

func show(c call, result *mcp.CallToolResult) bool {
	var text string
	if len(result.Content) > 0 {
		if t, isText := result.Content[0].(*mcp.TextContent); isText {
			text = t.Text
		}
	}
	verdict := "OK: "
	if result.IsError {
		verdict = "ERROR/DENY: "
	}
	fmt.Printf("--- %s\n    %s%s\n", c.name, verdict, strings.TrimSpace(text))
	want := c.blocked == "" && !result.IsError || c.blocked != "" && text == "[bouncer blocked] "+c.blocked
	if !want {
		fmt.Println("    NOT AS EXPECTED")
	}
	return want
}

// entry reads what the config says to launch.
func entry(config, name string) (*exec.Cmd, error) {
	data, err := os.ReadFile(config)
	if err != nil {
		return nil, err
	}
	var file struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", config, err)
	}
	e, ok := file.Servers[name]
	if !ok {
		return nil, fmt.Errorf("%s has no server %q", config, name)
	}
	return exec.Command(e.Command, e.Args...), nil
}
