package e2e

import (
	"errors"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

// needChromium returns the path of a Chromium. It skips where there is none: installing one takes longer than all else here.
func needChromium(t testing.TB) string {
	t.Helper()
	needE2E(t)
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	absent(t, false, errors.New("no Chromium is on PATH"))
	return ""
}

// TestReportPicture: the review pack of the demo's session in a real browser. It has its sections, tells the story, and there
// is something to see from the top to the bottom.
func TestReportPicture(t *testing.T) {
	t.Parallel()
	browser := needChromium(t)
	s := newSandbox(t)
	playStory(t, s)
	page, picture := filepath.Join(s.work, "review.html"), filepath.Join(s.work, "review.png")
	if keep := os.Getenv("BOUNCER_PICTURE"); keep != "" { // for who wants to look at it
		picture = keep
	}
	policy := filepath.Join(repoRoot(), "internal", "demo", "policy.yaml")
	if got := runs(t, s, bouncerBinary(t), "audit", "report", "--policy", policy, "--out", page); got.code != 0 {
		t.Fatalf("audit report: %v", got)
	}
	look := func(flags ...string) string {
		t.Helper()
		argv := append([]string{browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
			"--user-data-dir=" + filepath.Join(s.home, "chromium"), "--window-size=1100,3400"}, flags...)
		got := runs(t, s, append(argv, "file://"+page)...)
		if got.code != 0 {
			t.Fatalf("chromium %q: %v", flags, got)
		}
		return got.stdout
	}

	heads, text := readPage(t, look("--dump-dom"))
	want := []string{"Bouncer review pack", "What is protected", "Policies in force", "Verdicts over time", "Denials and their evidence",
		"Questions and approvals", "Changed tool definitions", "Is the log whole?", "What this report cannot say"}
	if diff := cmp.Diff(want, heads); diff != "" {
		t.Errorf("headings (-want +got):\n%s", diff)
	}
	for _, part := range []string{
		"log whole", "user file, line 3", "deny 5, ask 2, allow 8", "destination to[0]='ledger@evil.example' came from untrusted data",
		"First seen in what mail / read_email returned, field content[0].text", "call budget 2 for 'write_note' exceeded",
		"robin@corp.example", "chose yes in the client's form",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the page does not say %q:\n%s", part, text)
		}
	}

	look("--screenshot=" + picture)
	f, err := os.Open(picture)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if bands := bandsWithInk(seen, 200); bands < 8 {
		t.Errorf("of %v, %d bands of 200 pixels have something in them", seen.Bounds(), bands)
	}
}

var spaces = regexp.MustCompile(`\s+`)

// readPage returns the headings of a page, and its text as it is read.
func readPage(t *testing.T, page string) (heads []string, text string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var words func(n *html.Node) string
	words = func(n *html.Node) string {
		if n.Type == html.TextNode {
			return n.Data
		}
		if n.Data == "style" {
			return ""
		}
		var all strings.Builder
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			all.WriteString(words(child))
		}
		if n.Data == "h1" || n.Data == "h2" {
			heads = append(heads, strings.TrimSpace(all.String()))
		}
		return all.String()
	}
	text = words(root)
	return heads, spaces.ReplaceAllString(text, " ")
}

// bandsWithInk counts the horizontal bands of a picture in which pixels differ: a blank page has none.
func bandsWithInk(seen image.Image, height int) (n int) {
	b := seen.Bounds()
	for top := b.Min.Y; top+height <= b.Max.Y; top += height {
		first, ink := seen.At(b.Min.X, top), 0
		for y := top; y < top+height; y += 2 {
			for x := b.Min.X; x < b.Max.X; x += 2 {
				if seen.At(x, y) != first {
					ink++
				}
			}
		}
		if ink > 100 {
			n++
		}
	}
	return n
}

func TestBlankPictures(t *testing.T) {
	page := image.NewGray(image.Rect(0, 0, 400, 600))
	if n := bandsWithInk(page, 200); n != 0 {
		t.Errorf("a blank page has %d bands with ink", n)
	}
	for i := range 200 * 400 {
		page.Pix[200*400+i] = byte(i * 7)
	}
	if n := bandsWithInk(page, 200); n != 1 {
		t.Errorf("a page with one written band has %d", n)
	}
}
