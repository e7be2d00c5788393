package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/upstream"
)

const (
	listWithin = time.Minute // a server's start, npx downloads included
	listTotal  = 10_000      // more tools than anybody reads about
)

// listTools starts a server, asks for its tools, and stops it.
func listTools(ctx context.Context, server policy.Server, spec upstream.Spec) (out []listed, err error) {
	child, err := upstream.Start(spec, stderr())
	if err != nil {
		return nil, fail(exitFailed, err)
	}
	defer func() {
		if stopped := child.Stop(context.Background()); err == nil {
			err = stopped
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "bouncer", Version: buildVersion().Version}, nil)
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: io.NopCloser(child.Stdout()), Writer: child.Stdin()}, nil)
	if err != nil {
		return nil, fail(exitFailed, fmt.Errorf("server %s did not start a session: %w", server.Name, err))
	}
	if info := session.InitializeResult().ServerInfo; info != nil {
		server.Reported = info.Name
	}
	s := listed{Server: server}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fail(exitFailed, fmt.Errorf("server %s did not list its tools: %w", server.Name, err))
		}
		if len(s.tools) == listTotal {
			return nil, fail(exitFailed, fmt.Errorf("server %s lists more than %d tools", server.Name, listTotal))
		}
		definition, err := definitionOf(tool)
		if err != nil {
			return nil, fail(exitFailed, err)
		}
		s.tools = append(s.tools, policy.ToolOf(definition))
	}
	return []listed{s}, nil
}

func definitionOf(tool *mcp.Tool) (jsonrpc.Value, error) {
	if tool == nil {
		return jsonrpc.Value{}, errors.New("the server lists an empty tool")
	}
	data, err := json.Marshal(tool)
	if err != nil {
		return jsonrpc.Value{}, fmt.Errorf("read tool %q: %w", tool.Name, err)
	}
	return jsonrpc.Decode(data)
}
