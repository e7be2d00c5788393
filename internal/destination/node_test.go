package destination

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// TestHostsAsNodeReadsThem compares the reading of hosts with Node's URL, which many servers use: what is unambiguous here must be on
// the host that Node connects to. (A28 to A32.)
func TestHostsAsNodeReadsThem(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	texts := spellings(rand.New(rand.NewPCG(1, 2)), 20_000)
	input, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "-e", `
		const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
		for (const t of texts) { let h = null; try { const u = new URL(t); h = u.protocol + u.host } catch {} console.log(JSON.stringify(h)) }`)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	trusted, read := 0, 0
	for _, text := range texts {
		if !lines.Scan() {
			t.Fatal("node said too little")
		}
		var theirs *string
		if err := json.Unmarshal(lines.Bytes(), &theirs); err != nil {
			t.Fatal(err)
		}
		ds := Parse(text)
		d := ds[0]
		if theirs != nil {
			read++
		}
		if len(ds) > 1 || d.Kind != URL || d.Ambiguous != "" || !strings.Contains(text, "://") {
			continue
		}
		trusted++
		p := splitCanonical(d.Canonical)
		ours := p.scheme + ":" + p.host
		if p.port != "" {
			ours += ":" + p.port
		}
		if theirs == nil || sameMachine.Replace(*theirs+"/") != ours+"/" {
			t.Errorf("%q is on %s here and on %v for Node", text, ours, lines.Text())
		}
	}
	t.Logf("%d spellings, Node reads %d, %d are unambiguous here", len(texts), read, trusted)
	if trusted < 300 {
		t.Errorf("only %d were compared", trusted)
	}
}

// sameMachine takes away what Node keeps and we do not: the root's dot, and the IPv6 form of an IPv4 address.
var sameMachine = strings.NewReplacer("example./", "example/", "example.:", "example:", "[::ffff:7f00:1]", "127.0.0.1")

// spellings are URLs and what becomes of them when their parts are exchanged for odd ones.
func spellings(rng *rand.Rand, n int) (out []string) {
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	for range n {
		s := pick("https", "https", "http", "HTTPS", "hTTp", "ftp", "ht\ttps", "https:", "") + pick("://", "://", "://", ":/", ":", ":\\\\", ":///", "://\t", ":// ")
		s += pick("", "", "", "", "user@", "corp.example@", "u:p@", "@", "%40", "corp.example%20@", "a@b@")
		s += pick("corp.example", "corp.example", "CORP.example", "corp.example.", "c\u043erp.example", "corp\u3002example", "xn--crp-nmc.example", "b\u00fccher.example", "127.0.0.1", "0x7f.1", "2130706433",
			"0177.0.0.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "[fe80::1%25eth0]", "corp_x.example", "-corp.example", "corp..example", "co%72p.example", "corp.example%00", "corp\uff0eexample", "\u2113ocalhost", "corp.example\u200b", "1.2.3.4.5", "a.b.c.example", "evil.example#", "evil.example\\", "0", "example")
		s += pick("", "", "", ":443", ":80", ":8443", ":0443", ":", ":99999", ":x")
		s += pick("", "/", "/a/b", "/../x", "/%2e%2e/x", "?q=1", "#f", "\\evil.example", "/@evil.example/", "?@evil.example", "#@evil.example", " x", "\n", "/\u202ex")
		out = append(out, s)
	}
	return out
}
