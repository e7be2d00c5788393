// Command bouncer is a local firewall between an AI agent and its MCP tool servers. See internal/cli for its verbs.
package main

import (
	"os"

	"github.com/mcp-bouncer/bouncer/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
