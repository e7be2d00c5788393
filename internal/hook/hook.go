// Package hook is the front door for what never passes the proxy: the user's own prompt, and the tools that are built into
// the client. A client starts it as a command for every event, with the event as JSON on stdin.
//
// It must not decide by itself: native tools go through judge and gate by rules of their own (rules.go), and into the log.
// It must not be the reason why a call goes unjudged: whatever goes wrong is an error, and its caller blocks. And it must not
// answer for the client: a call that Bouncer has nothing against is still the client's to ask about.
package hook

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/session"
	"github.com/mcp-bouncer/bouncer/internal/shell"
)

// Server is what native tools are known by in policies, in evidence and in the log, beside the names of wrapped servers.
const Server = "claude-code"

// Config is what a Hook needs. Everything that costs time is opened when an event needs it: most calls stay on this machine.
type Config struct {
	Open     func() (session.Store, error)
	Log      func() (judge.Log, error)
	Policy   func() (*policy.Set, policy.Profile, error)
	Guarded  []string // what no tool may touch
	UserHome string   // what ~ means
	Speaker  Speaker
	Shell    func(command string, o shell.Options) []shell.Effect // nil is shell.Read
}

// Hook answers the events of one client.
type Hook struct {
	cfg   Config
	store session.Store
}

// New returns a Hook.
func New(cfg Config) *Hook {
	if cfg.Shell == nil {
		cfg.Shell = shell.Read
	}
	return &Hook{cfg: cfg}
}

// Handle answers one event: with what goes to the client, nothing when there is no opinion, or with the reason why the event
// must be blocked.
func (h *Hook) Handle(text []byte) (answer []byte, err error) {
	defer func() { // a defect must not look like a call without effect
		if p := recover(); p != nil {
			answer, err = nil, fmt.Errorf("the hook broke down: %v", p)
		}
	}()
	e, err := readEvent(text)
	if err != nil {
		return nil, err
	}
	switch e.name {
	case sessionStart:
		return nil, h.begin(e)
	case promptSubmit:
		return nil, h.prompt(e)
	case preTool:
		if strings.HasPrefix(e.tool, "mcp__") { // the proxy judges them, once
			return nil, nil
		}
		return h.judge(e)
	case postTool, postFailure:
		if strings.HasPrefix(e.tool, "mcp__") {
			return nil, nil
		}
		return h.observe(e)
	}
	return nil, nil
}

// facts opens the session's store, once.
func (h *Hook) facts() (session.Store, error) {
	if h.store != nil {
		return h.store, nil
	}
	if h.cfg.Open == nil {
		return nil, errors.New("there is no session to look into")
	}
	s, err := h.cfg.Open()
	if err != nil {
		return nil, err
	}
	h.store = s
	return s, nil
}
