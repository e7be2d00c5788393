// Command sdkproxy is what a proxy costs that is built from the official SDK: it connects to a server as a client and
// offers the same tools as a server, decoding and encoding every message on the way.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	if err := proxy(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sdkproxy:", err)
		os.Exit(1)
	}
}

func proxy(ctx context.Context, argv []string) error {
	if len(argv) == 0 {
		return fmt.Errorf("usage: sdkproxy COMMAND [ARGS...]")
	}
	self := &mcp.Implementation{Name: "sdkproxy", Version: "1"}
	upstream, err := mcp.NewClient(self, nil).Connect(ctx, &mcp.CommandTransport{Command: exec.Command(argv[0], argv[1:]...)}, nil)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", argv[0], err)
	}
	defer upstream.Close()
	server := mcp.NewServer(self, nil)
	forward := func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return upstream.CallTool(ctx, &mcp.CallToolParams{Name: req.Params.Name, Arguments: req.Params.Arguments})
	}
	for tool, err := range upstream.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list tools: %w", err)
		}
		server.AddTool(tool, forward)
	}
	return server.Run(ctx, &mcp.StdioTransport{})
}
