// Package shell is a stub.
package shell

import "github.com/mcp-bouncer/bouncer/internal/destination"

type Kind string

const (
	Send     Kind = "send"
	Fetch    Kind = "fetch"
	Publish  Kind = "publish"
	Write    Kind = "write"
	ReadFile Kind = "read"
	Run      Kind = "run"
	Unknown  Kind = "unknown"
)

type Effect struct {
	Kind         Kind
	Destinations []destination.Destination
	Path         string
	Tree         bool
	Command      string
	Why          string
}
type Options struct{ Dir, Home string }

func Read(command string, o Options) []Effect { return nil }
