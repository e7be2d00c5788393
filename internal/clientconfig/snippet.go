package clientconfig

import (
	"fmt"

	"github.com/tailscale/hujson"
)

// Snippet returns what to paste into a client that keeps its servers in no file that could be edited, and why it has none;
// nothing for any other client.
func Snippet(name, bouncer string) (snippet, why string) {
	c := clientOf(name, "")
	if c.noFile == "" {
		return "", ""
	}
	return fmt.Sprintf(`{
  "mcpServers": {
    "NAME": {
      "command": %s,
      "args": ["run", "--name", "NAME", "--", "COMMAND", "ARGUMENT"]
    }
  }
}
`, []byte(hujson.String(bouncer))), c.title + ": " + c.noFile
}
