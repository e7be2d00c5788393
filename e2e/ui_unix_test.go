//go:build unix

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var pageURL = regexp.MustCompile(`http://127\.0\.0\.1:\d+/[A-Za-z0-9_-]{43}/`)

// openPage starts bouncer ui at a terminal, and a browser in front of it.
func openPage(t *testing.T, s sandbox, browser string) (context.Context, *person) {
	t.Helper()
	p := atTerminal(t, s, bouncerBinary(t), "ui", "--no-open", "--no-notify")
	p.reads("Ctrl-C closes it.")
	url := pageURL.FindString(p.text.String())
	if url == "" {
		t.Fatalf("no address on the screen:\n%s", p.text.String())
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.UserDataDir(filepath.Join(s.home, "chromium")), chromedp.WindowSize(1100, 1200))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, end := context.WithTimeout(ctx, usual.patience)
	t.Cleanup(end)
	if err := chromedp.Do(ctx, chromedp.Navigate(url), chromedp.WaitVisible("#questions")); err != nil {
		t.Fatal(err)
	}
	return ctx, p
}

// picture keeps a screenshot of the whole page, where somebody wants to look at it.
func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("BOUNCER_PICTURES")
	if dir == "" {
		dir = t.TempDir()
	}
	for _, scheme := range []string{"light", "dark"} {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		var png []byte
		if err == nil {
			png, err = chromedp.Run(ctx, chromedp.FullScreenshot(100))
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+"-"+scheme+".png"), png, 0o600)
		}
		if err != nil || len(png) < 5000 {
			t.Errorf("picture of %s: %d bytes, %v", name, len(png), err)
		}
	}
}

// TestPage: a question that the client cannot ask comes up on the open page by itself. Answered by a click, or by keyboard alone, the
// call that waits for it goes on. The page then tells where an address came from.
func TestPage(t *testing.T) {
	t.Parallel()
	browser := needChromium(t)
	h := wrap(t, "plain", "--ask", "out-of-band-only").open(nil)
	ctx, _ := openPage(t, h.s, browser)
	run := func(what string, actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, actions...); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	read := func(action chromedp.Action[string]) string {
		t.Helper()
		text, err := chromedp.Run(ctx, action)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	question := `article.question`

	h.send(callLine("60", "send", `{"to":"stranger@elsewhere.example"}`))
	run("the question comes up", chromedp.WaitVisible(question))
	text := read(chromedp.Text(question))
	if !strings.Contains(text, "stranger@elsewhere.example") || !strings.Contains(text, "first seen: nowhere") {
		t.Errorf("the question says:\n%s", text)
	}
	picture(t, ctx, "question")
	run("a click", chromedp.Click(question+` button[value=once]`), chromedp.WaitVisible(`.said`), chromedp.WaitNotPresent(question))
	if got := h.await("60"); isError(t, got) {
		t.Errorf("the approved call: %s", got.raw)
	}

	// By keyboard: Enter alone does nothing, Tab goes to Deny first, and the next button allows.
	h.send(callLine("61", "send", `{"to":"other@elsewhere.example"}`))
	where := chromedp.Evaluate[string](`document.activeElement.value || document.activeElement.tagName`)
	run("the question comes up", chromedp.WaitVisible(question), chromedp.KeyEvent(kb.Enter), chromedp.Sleep(300*time.Millisecond), chromedp.WaitVisible(question),
		chromedp.KeyEvent(kb.Tab))
	if active := read(where); active != "deny" {
		t.Errorf("Tab goes to %q first, want deny", active)
	}
	run("by keyboard", chromedp.KeyEvent(kb.Tab))
	if active := read(where); active != "once" {
		t.Errorf("Tab goes to %q next, want once", active)
	}
	run("by keyboard", chromedp.KeyEvent(" "), chromedp.WaitVisible(`.said`), chromedp.WaitNotPresent(question))
	if got := h.await("61"); isError(t, got) {
		t.Errorf("the call approved by keyboard: %s", got.raw)
	}

	h.send(callLine("62", "send", `{"to":"third@elsewhere.example"}`))
	run("a no", chromedp.WaitVisible(question), chromedp.Click(question+` button[value=deny]`), chromedp.WaitNotPresent(question))
	if got := h.await("62"); !isError(t, got) {
		t.Errorf("the denied call: %s", got.raw)
	}
	run("its story", chromedp.WaitVisible(`#verdicts a`), chromedp.Click(`#verdicts a`), chromedp.WaitVisible(`ol.way`))
	text = read(chromedp.Text(`body`))
	if !strings.Contains(text, "No server wrote it") || !strings.Contains(text, "third@elsewhere.example") {
		t.Errorf("the story says:\n%s", text)
	}
	picture(t, ctx, "story")
	h.closes(0)
	want := "ask,allow page,ask,allow page,ask,deny declined"
	if got := strings.Join(verdictsOf(t, h.s, "send"), ","); got != want {
		t.Errorf("log: %s, want %s", got, want)
	}
}

// TestPageNeedsATerminal: an agent's shell could read the address and approve for itself.
func TestPageNeedsATerminal(t *testing.T) {
	t.Parallel()
	needE2E(t)
	got := runs(t, newSandbox(t), bouncerBinary(t), "ui", "--no-open")
	if got.code != 1 || pageURL.MatchString(got.stdout+got.stderr) || !strings.Contains(got.stderr, "interactive terminal") {
		t.Errorf("from a pipe: %v", got)
	}
}
