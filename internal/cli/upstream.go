package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/clientconfig"
	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
	"github.com/mcp-bouncer/bouncer/internal/policy/packs"
	"github.com/mcp-bouncer/bouncer/internal/upstream"
)

// server says which server to start. What stands after -- is started as it stands; else the config file says.
func (f runFlags) server(dash int, args []string) (policy.Server, upstream.Spec, error) {
	none := func(format string, a ...any) (policy.Server, upstream.Spec, error) {
		return policy.Server{}, upstream.Spec{}, fail(exitUsage, fmt.Errorf(format, a...), "bouncer run --help has examples")
	}
	if _, err := f.log.options(); err != nil {
		return none("%w", err)
	}
	switch {
	case f.audit != "required" && f.audit != "best-effort":
		return none("--audit is required or best-effort, not %q", f.audit)
	case f.store != "shared" && f.store != "memory":
		return none("--session is shared or memory, not %q", f.store)
	case f.maxFrame < 1<<10:
		return none("--max-frame is %d bytes, less than any message needs", f.maxFrame)
	case f.askTimeout < 0:
		return none("--ask-timeout must be more than nothing")
	case dash > 0 || dash < 0 && len(args) > 0:
		return none("%q stands before --; the server's command line stands after it", args[0])
	case f.name != "" && f.upstreamName != "":
		return none("--name and --upstream-name exclude each other")
	case f.upstreamName != "" && f.config == "" || f.upstreamName == "" && f.config != "":
		return none("--config and --upstream-name belong together")
	case f.name == "" && f.upstreamName == "":
		return none("which server? give --name NAME -- COMMAND, or --config FILE --upstream-name NAME")
	}
	name := f.name + f.upstreamName
	spec := upstream.Spec{StderrPrefix: "[" + destination.Visible(name, 80) + "] "}
	switch {
	case dash >= 0 && len(args) > 0:
		spec.Command, spec.Args = args[0], args[1:]
	case f.config != "":
		up, err := clientconfig.ReadUpstream(f.config, name)
		if err != nil {
			return policy.Server{}, upstream.Spec{}, fail(exitInvalid, err)
		}
		spec.Command, spec.Args, spec.Env, spec.Dir = up.Command, up.Args, up.Environ(os.Environ()), up.Dir
	default:
		return none("--name %s needs the server's command line after --", name)
	}
	return policy.Server{Name: name, Identity: policy.Identities(spec.Command, spec.Args)}, spec, nil
}

// rules loads the policy. A policy that cannot be loaded stops the start: no rules is not what the user asked for.
func (f runFlags) rules() (*policy.Set, policy.Profile, error) {
	set, err := loadPolicy(f.policy)
	if err != nil {
		return nil, "", err
	}
	name := f.profile
	if name == "" {
		name = string(set.Profile)
	}
	profile, err := policy.ParseProfile(name)
	if err != nil {
		return nil, "", fail(exitUsage, err)
	}
	return set, profile, nil
}

// loadPolicy reads the policy file, or the global one where none is named, over the curated packs.
func loadPolicy(path string) (*policy.Set, error) {
	set := &policy.Set{}
	if path == "" {
		dir, err := home()
		if err != nil {
			return nil, fail(exitFailed, err)
		}
		path = filepath.Join(dir, "policy.yaml")
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return set.WithPacksLater(packs.All), nil
		}
	}
	set, err := load.File(path)
	if err != nil {
		return nil, fail(exitInvalid, err, "nothing was started; bouncer policy check "+path+" lists what is wrong")
	}
	return set.WithPacksLater(packs.All), nil
}

// openLog opens the audit log. Without it nothing is started, unless the user does without.
func (f runFlags) openLog(path string) (sessionLog, error) {
	options, err := f.log.options()
	if err != nil {
		return nil, err
	}
	log, err := audit.Open(path, options)
	if err == nil {
		return log, nil
	}
	if f.audit != "best-effort" {
		return nil, err
	}
	say("%v; going on without a log", err)
	return noLog{}, nil
}

// sessionLog is a log that is sealed when the session ends.
type sessionLog interface {
	judge.Log
	Close() error
}

// noLog is the log of a user who chose to go on without one.
type noLog struct{}

func (noLog) Append(audit.Entry) error { return nil }
func (noLog) Close() error             { return nil }
