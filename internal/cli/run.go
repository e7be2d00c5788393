package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/otlp"
	"github.com/mcp-bouncer/bouncer/internal/pin"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/packs"
	"github.com/mcp-bouncer/bouncer/internal/proxy"
	"github.com/mcp-bouncer/bouncer/internal/session"
	"github.com/mcp-bouncer/bouncer/internal/upstream"
)

// runFlags are the flags of bouncer run.
type runFlags struct {
	config, upstreamName, name string
	policy, profile, audit     string
	log                        logFlags
	maxFrame                   int
	askTimeout                 time.Duration
	ask                        string
	otlp                       string
	intent                     string
	answers                    *approval.Book
	session                    string // its name in the log
	store                      string // where the session's facts are
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run (--name NAME | --config FILE --upstream-name NAME) [flags] [-- COMMAND ARGS...]",
		Short: "Start a tool server behind Bouncer, on stdin and stdout",
		Long: `Start the real tool server and gate every call between it and the client on stdin and stdout. MCP clients run this;
what stands after -- is launched exactly as it stands. Without it, the entry's x-bouncer-upstream in the config file is.`,
		Example: `  bouncer run --name files -- npx -y @modelcontextprotocol/server-filesystem ~/work
  bouncer run --config mcp.json --upstream-name files --policy bouncer.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error { return run(f, cmd.ArgsLenAtDash(), args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "client config `FILE` that the entry stands in")
	flags.StringVar(&f.upstreamName, "upstream-name", "", "`NAME` of the entry in that file")
	flags.StringVar(&f.name, "name", "", "`NAME` of the server, where no config file has one")
	flags.StringVar(&f.policy, "policy", "", "policy `FILE` (default: policy.yaml in the Bouncer home, if it is there)")
	flags.StringVar(&f.profile, "profile", "", "strict, standard or paranoid (default: what the policy says, else standard)")
	flags.StringVar(&f.audit, "audit", "required", "required: a call that cannot be logged is denied; best-effort: it is not")
	f.log.add(cmd)
	flags.IntVar(&f.maxFrame, "max-frame", jsonrpc.DefaultLimit, "`BYTES` that one message may have")
	flags.StringVar(&f.intent, "intent", "", "the user's own `WORDS`: what they ask for in this session, where no hook can tell")
	flags.StringVar(&f.store, "session", "shared", "shared: what one server of a client wrote counts for its other servers too; memory: it does not")
	flags.StringVar(&f.otlp, "otlp", "", "also send verdicts, without arguments, to the OpenTelemetry collector at this `URL` (headers: OTEL_EXPORTER_OTLP_HEADERS)")
	flags.DurationVar(&f.askTimeout, "ask-timeout", 0, "how long a person has to answer in the client's dialogue (default: what the policy says, else 2m)")
	flags.StringVar(&f.ask, "ask", "", "client: ask in the client's own dialogue first; out-of-band-only: at a terminal or page of Bouncer's alone (default: what the policy says, else client)")
	return cmd
}

func run(f runFlags, dash int, args []string) error {
	server, spec, err := f.server(dash, args)
	if err != nil {
		return err
	}
	rules, profile, err := f.rules()
	if err != nil {
		return err
	}
	if f.ask != "" && f.ask != "client" && f.ask != "out-of-band-only" {
		return fail(exitUsage, fmt.Errorf("--ask is client or out-of-band-only, not %q", f.ask))
	}
	collector, err := f.collector()
	if err != nil {
		return err
	}
	dir, err := makeHome()
	if err != nil {
		return fail(exitFailed, err)
	}
	f.session = audit.NewID()
	log, err := f.openLog(filepath.Join(dir, "audit.jsonl"))
	if err != nil {
		return fail(exitFailed, err, "--audit best-effort goes on without a log")
	}
	if f.answers, err = approval.OpenBook(bookPath(dir), say); err != nil {
		return fail(exitInvalid, errors.Join(err, log.Close()), "mend or remove the file; nothing was started")
	}
	facts, leave, err := f.openSession(dir)
	if err != nil {
		return fail(exitFailed, errors.Join(err, log.Close()), "--session memory goes on without what other servers wrote")
	}
	defer leave()
	signals := make(chan os.Signal, 1) // from here on a signal ends the server too
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	child, err := upstream.Start(spec, stderr())
	if err != nil {
		return fail(exitFailed, err)
	}
	log, exported := f.export(collector, filepath.Join(dir, "audit.jsonl"), log)
	defer exported()
	go packs.All() // while the server starts
	tune()
	err = relay(f, server, rules, profile, dir, facts, log, child, signals)
	if closeErr := log.Close(); closeErr != nil {
		say("%v", closeErr)
	}
	return err
}

// collector says where verdicts are sent to; nil is nowhere, which is the default.
func (f runFlags) collector() (*otlp.Options, error) {
	if f.otlp == "" {
		return nil, nil
	}
	endpoint, err := otlp.ParseEndpoint(f.otlp)
	if err != nil {
		return nil, fail(exitUsage, fmt.Errorf("--otlp takes the address of a collector, such as http://localhost:4318: %w", err))
	}
	header, err := otlp.ParseHeaders(os.Getenv("OTEL_EXPORTER_OTLP_HEADERS"))
	if err != nil {
		return nil, fail(exitUsage, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err))
	}
	return &otlp.Options{Endpoint: endpoint, Header: header, Version: buildVersion().Version, Problem: say}, nil
}

// export has the verdicts of the session sent to a collector, if there is one. What it returns is called when the log is
// closed.
func (f runFlags) export(collector *otlp.Options, path string, log sessionLog) (sessionLog, func()) {
	whole, ok := log.(*audit.Log)
	if collector == nil {
		return log, func() {}
	}
	if !ok { // what is sent is read back from the log
		say("otlp: nothing is exported, since there is no log")
		return log, func() {}
	}
	collector.Path, collector.Session = path, f.session
	exporter := otlp.Start(*collector)
	return exporter.Count(whole), exporter.Close
}

// openSession joins the session of the client that started this process. Which one that is, no flag says: whoever brings a
// config along could pick one that knows nothing.
func (f runFlags) openSession(home string) (facts session.Store, leave func(), err error) {
	if f.store == "memory" {
		memory := session.NewMemory()
		if f.intent != "" {
			memory.Say(f.intent)
		}
		return memory, func() {}, nil
	}
	who, err := session.Here()
	if err != nil {
		return nil, nil, err
	}
	local, err := session.Open(home, who)
	if err != nil {
		return nil, nil, err
	}
	if f.intent != "" {
		local.SayHere(f.intent)
	}
	return local, func() {
		if err := local.Close(); err != nil {
			say("%v", err)
		}
	}, nil
}

// tune gives the relay's goroutines processors of their own: on a small machine the indexer or the collector would hold
// one for milliseconds while a frame waits. Goroutines that wait in a read cost nothing.
func tune() { runtime.GOMAXPROCS(max(4, runtime.NumCPU()+2)) }

// lastWords is how long a session may go on after its client hung up, so that calls in flight are finished and logged.
const lastWords = 5 * time.Second

// relay runs the session until the client or the server ends it, and leaves nothing of the server behind.
func relay(f runFlags, server policy.Server, rules *policy.Set, profile policy.Profile, dir string, facts session.Store, log judge.Log, child *upstream.Process, signals <-chan os.Signal) error {
	in, out := upstream.Stdio()
	pins := &pin.Book{}
	j := judge.New(judge.Config{
		Server: server, Policy: rules, Profile: profile, Session: facts, SessionID: f.session, Log: log,
		BestEffort: f.audit == "best-effort", Pins: pins, Paths: &judge.Paths{Guarded: f.guarded(dir)}, Problem: say,
		Answers: f.answers, Digest: string(profile) + rules.Digest,
	})
	p := proxy.New(proxy.Config{
		Name: server.Name, Judge: j, Session: facts, Pins: pins, Limit: f.maxFrame, Desk: f.desk(rules.Asking, dir), AskFor: cmp.Or(f.askTimeout, rules.Asking.Client, 2*time.Minute), Problem: say,
		OnPinned: func(tools []jsonrpc.Value) {
			for _, warning := range rules.Warnings(j.Server(), toolsOf(tools)) {
				say("%s", warning)
			}
		},
		CloseUpstream: func() { go child.Stop(context.Background()) },
	}, proxy.Pipe{In: in, Out: out}, proxy.Pipe{In: child.Stdout(), Out: child.Stdin()})

	return supervise(p, child, in, server.Name, signals)
}

// desk is how people are asked. The command line may only take the client's dialogue away: it may stand in a project's file.
func (f runFlags) desk(asking policy.Asking, home string) *approval.Desk {
	return approval.NewDesk(approval.Settings{OutOfBandOnly: asking.OutOfBandOnly || f.ask == "out-of-band-only",
		Own: asking.Own, Keep: asking.Keep, Most: asking.Questions}, pendingDir(home), say)
}

// supervise runs the relay until the client, the server or a signal ends it.
func supervise(p *proxy.Proxy, child *upstream.Process, in *os.File, name string, signals <-chan os.Signal) error {
	ended := make(chan error, 1)
	go func() { ended <- p.Run() }()

	var err error
	over := false // Run has returned
	within := func(limit time.Duration) {
		select {
		case err = <-ended:
			over = true
		case <-signals:
		case <-time.After(limit):
		}
	}
	select {
	case err = <-ended:
		over = true
	case got := <-signals:
		err = fail(exitFailed, fmt.Errorf("ended by %s", got))
	case <-upstream.Hangup(in): // the client is gone, though the relay may be stuck in a write
		within(lastWords)
	case <-child.Done(): // the server is gone, though something that it started may still hold its output open
		err = proxy.ErrServerGone
		within(lastWords)
	}
	if stopErr := child.Stop(context.Background()); stopErr != nil {
		say("%v", stopErr)
	}
	if !over {
		p.Abandon()
	}
	if errors.Is(err, proxy.ErrServerGone) {
		return fail(exitFailed, fmt.Errorf("server %s ended before the client did (exit status %d)", name, child.ExitCode()))
	}
	return err
}

// guarded is what no tool may touch: whoever may write the policy or the command line of the next start has no policy.
func (f runFlags) guarded(home string) []string {
	out := []string{home}
	for _, file := range []string{f.policy, f.config} {
		if abs, err := filepath.Abs(file); file != "" && err == nil {
			out = append(out, abs)
		}
	}
	if self, err := os.Executable(); err == nil {
		out = append(out, self)
	}
	return out
}

func toolsOf(definitions []jsonrpc.Value) []policy.Tool {
	tools := make([]policy.Tool, len(definitions))
	for i, definition := range definitions {
		tools[i] = policy.ToolOf(definition)
	}
	return tools
}
