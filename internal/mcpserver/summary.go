package mcpserver

import (
	"bytes"
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Summary is what bouncer_audit_summary answers.
type Summary struct {
	Verdicts   int            `json:"verdicts" jsonschema:"verdicts in the current file of the log; a question is one, and how it ended is another"`
	Unreadable int            `json:"unreadable" jsonschema:"lines that cannot be read"`
	ByVerdict  map[string]int `json:"by_verdict"`
	ByContract map[string]int `json:"by_contract"`
	ByServer   map[string]int `json:"by_server"`
	ByTool     map[string]int `json:"by_tool"`
	Recent     []Line         `json:"recent" jsonschema:"the latest verdicts, oldest first, without the arguments of the calls"`
}

type summaryInput struct {
	Limit *int `json:"limit,omitempty" jsonschema:"how many of the latest verdicts, at most 200; 20 when absent"`
}

const defaultRecent = 20

func (s *Server) auditSummary(ctx context.Context, _ *mcp.CallToolRequest, in summaryInput) (*mcp.CallToolResult, Summary, error) {
	limit := defaultRecent
	if in.Limit != nil {
		limit = *in.Limit
	}
	if limit < 0 || limit > keepLines {
		return nil, Summary{}, fmt.Errorf("limit must be a number from 0 to %d", keepLines)
	}
	out, err := s.summary(ctx, limit)
	return nil, out, err
}

func (s *Server) summary(ctx context.Context, limit int) (Summary, error) {
	t, err := s.log.read(ctx)
	if err != nil {
		return Summary{}, err
	}
	out := Summary{Verdicts: t.verdicts, Unreadable: t.unreadable, ByVerdict: map[string]int{"allow": 0, "ask": 0, "deny": 0},
		ByContract: map[string]int{}, ByServer: map[string]int{}, ByTool: map[string]int{}, Recent: []Line{}}
	for key, n := range t.counts {
		out.ByVerdict[key.verdict] += n
		out.ByContract[key.contract] += n
		out.ByServer[key.server] += n
		out.ByTool[key.tool] += n
	}
	out.Recent = append(out.Recent, t.last[max(0, len(t.last)-limit):]...)
	return out, nil
}

// Entry is everything that the log has about one call, but for its arguments.
type Entry struct {
	ID    string      `json:"id"`
	Lines []EntryLine `json:"lines"`
}

// EntryLine is a line with its evidence.
type EntryLine struct {
	Line
	Evidence []Evidence `json:"evidence"`
}

// entry collects the lines of one call. An id that the log does not have gives none.
func (s *Server) entry(ctx context.Context, id string) (Entry, error) {
	out := Entry{ID: id, Lines: []EntryLine{}}
	f, _, err := openLog(s.cfg.Log)
	if err != nil {
		return out, err
	}
	defer f.Close()
	quotedID := jsonrpc.Quote(id)
	err = eachLine(ctx, f, 0, func(raw []byte, _ int64) bool {
		if !bytes.Contains(raw, quotedID) {
			return true
		}
		if line, v, ok := parseLine(raw); ok && line.ID == id {
			out.Lines = append(out.Lines, EntryLine{Line: line, Evidence: evidenceIn(v)})
		}
		return len(out.Lines) < keepLines
	})
	if err != nil {
		return out, fmt.Errorf("read audit log: %w", err)
	}
	return out, nil
}

func evidenceIn(line jsonrpc.Value) []Evidence {
	const most = 50
	out := []Evidence{}
	list, _ := line.Get("evidence")
	for _, v := range list.Elems {
		if len(out) == most {
			break
		}
		get := func(key string) string {
			member, _ := v.Get(key)
			if key == "snippet" {
				return snippet(member.Text)
			}
			return visible(member.Text)
		}
		out = append(out, Evidence{Contract: get("contract"), Param: get("param"), Destination: get("destination"), Kind: get("kind"),
			Origin: get("origin"), SeenServer: get("seen_server"), SeenTool: get("seen_tool"), SeenField: get("seen_field"),
			Snippet: get("snippet"), Match: get("match"), Reason: get("reason")})
	}
	return out
}
