package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/clientconfig"
	"github.com/mcp-bouncer/bouncer/internal/ui"
)

func newUI() *cobra.Command {
	var listen string
	var noOpen, quiet bool
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Open a page on this machine: waiting questions, live verdicts, remembered answers",
		Long: `Serve a page on 127.0.0.1, at an address that only this terminal prints. While it is open, calls that a client cannot ask about
wait for an answer given there. It needs an interactive terminal: whoever has the address may approve.`,
		Example: "  bouncer ui\n  bouncer ui --no-open --listen 127.0.0.1:7070",
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return serveUI(listen, !noOpen, !quiet) },
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "`ADDRESS` of this machine; port 0 takes a free one")
	cmd.Flags().BoolVar(&noOpen, "no-open", false, "do not open a browser")
	cmd.Flags().BoolVar(&quiet, "no-notify", false, "no desktop notification when a question waits")
	return cmd
}

func serveUI(listen string, open, notify bool) error {
	term, leave, err := atTerminal()
	if err != nil {
		return fail(exitFailed, err, "open a terminal of your own and run it there")
	}
	defer leave()
	dir, err := makeHome()
	if err != nil {
		return fail(exitFailed, err)
	}
	listener, err := ui.Listen(listen)
	if err != nil {
		return fail(exitUsage, fmt.Errorf("--listen: %w", err))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	cfg := ui.Config{Pending: pendingDir(dir), Log: filepath.Join(dir, "audit.jsonl"), Version: buildVersion().Version,
		Book:    func() (*approval.Book, error) { return approval.OpenBook(bookPath(dir), nil) },
		Servers: func() []ui.Server { return serversOf(dir) }}
	if notify {
		cfg.Notify = notifyDesktop
	}
	page, err := ui.New(ctx, cfg, listener.Addr().String())
	if err != nil {
		return fail(exitFailed, err)
	}
	fmt.Fprintf(term.out, "Bouncer's page: %s\nWhoever has this address may approve. Ctrl-C closes it.\n", page.URL())
	if open {
		openBrowser(page.URL())
	}
	server := &http.Server{Handler: page, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fail(exitFailed, err)
	}
	return nil
}

// serversOf lists what status would.
func serversOf(dir string) (out []ui.Server) {
	env, err := clientconfig.RealEnv()
	if err != nil {
		return nil
	}
	bouncer, _ := thisBinary()
	files, _ := clientconfig.Status(env, dir, bouncer)
	for _, f := range files {
		for _, s := range f.Servers {
			state := string(s.State)
			if s.State == clientconfig.Already {
				state = "wrapped"
			}
			out = append(out, ui.Server{Client: f.Title, Path: f.Path, Name: s.Name, State: state, Wrong: s.Wrong})
		}
	}
	return out
}

// openBrowser tries to; where it cannot, the address stands in the terminal.
func openBrowser(url string) {
	argv := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if argv == nil {
		argv = []string{"xdg-open"}
	}
	cmd := exec.Command(argv[0], append(argv[1:], url)...)
	if cmd.Start() == nil {
		go cmd.Wait()
	}
}

// notifyDesktop says that a question waits, where the platform has a way, and nothing that others wrote.
func notifyDesktop() {
	const title, text = "Bouncer", "A question waits for you."
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("osascript", "-e", `display notification "`+text+`" with title "`+title+`"`)
	case "windows":
		return
	default:
		cmd = exec.Command("notify-send", "--app-name", title, title, text)
	}
	if cmd.Start() == nil {
		go cmd.Wait()
	}
}
