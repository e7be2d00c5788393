package approval

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// sinkGate is the contract whose answers are about destinations as such: gate.SinkGate, which is not imported so that the
// gate's room stays behind the judge.
const (
	sinkGate = "sink_gate"
	intent   = "intent"
)

// Scope says how wide a remembered answer is. The zero Scope is the narrowest: this tool and this destination.
type Scope string

// The wider scopes, which a person has to ask for.
const (
	ThisKind   Scope = "kind"   // every tool of this server that takes a destination of this kind
	ThisDomain Scope = "domain" // every address at this domain, for this tool
)

// ParseScope reads a scope; "" and "tool" are the narrowest.
func ParseScope(s string) (Scope, bool) {
	switch Scope(s) {
	case "", "tool":
		return "", true
	case ThisKind, ThisDomain:
		return Scope(s), true
	}
	return "", false
}

// Entry is one remembered answer: a line of approvals.yaml. It stands beside the rules and never replaces one: Always is
// an approval within its scope, Never a refusal before every trust.
type Entry struct {
	Choice      Choice // Always or Never
	Server      string
	Tool        string // "*" is every tool of the server
	Contract    string // whose question was answered
	Kind        destination.Kind
	Destination string // canonical, or "@domain"
	Since       string // a day, for people
	Number      int    // in the file, from 1
	At          string // file:line, for messages
}

// everyTool stands for all tools of a server.
const everyTool = "*"

// Line is the entry as it stands in approvals.yaml.
func (e Entry) Line() string {
	quote := func(s string) string { return string(jsonrpc.Quote(s)) } // JSON is YAML, and escapes what hides
	line := fmt.Sprintf("- {answer: %s, server: %s, tool: %s, kind: %s, destination: %s", e.Choice, quote(e.Server), quote(e.Tool), e.Kind, quote(e.Destination))
	if e.Contract != sinkGate {
		line += ", contract: " + e.Contract
	}
	if e.Since != "" {
		line += ", since: " + quote(e.Since)
	}
	return line + "}"
}

// same reports that two entries say the same.
func (e Entry) same(o Entry) bool {
	return e.Choice == o.Choice && e.Server == o.Server && e.Tool == o.Tool && e.Contract == o.Contract && e.Kind == o.Kind && e.Destination == o.Destination
}

// covers reports whether the entry is about a destination in a question of contract about a call of server's tool.
func (e Entry) covers(server, contract, tool string, d destination.Destination) bool {
	if e.Server != server || e.Contract != contract || e.Tool != tool && e.Tool != everyTool {
		return false
	}
	plain := d
	if e.Choice == Never { // a refusal holds for an unclear spelling of what it refuses as well
		plain.Ambiguous = ""
	}
	if plain.Ambiguous != "" || plain.Kind != e.Kind {
		return false
	}
	if domain, whole := strings.CutPrefix(e.Destination, "@"); whole && e.Kind == destination.Email {
		return plain.Host() == domain
	}
	return plain.Canonical == e.Destination
}

// Entries returns what the file gets when the question is answered with c: one entry for each destination.
func (q Question) Entries(c Choice, scope Scope) []Entry {
	var out []Entry
	for _, d := range q.Asked {
		e := Entry{Choice: c, Server: q.Server, Tool: q.Tool, Contract: d.Contract, Kind: d.Kind, Destination: d.Canonical}
		if e.Contract == "" || c == Never && e.Contract == intent { // never is never, asked for or not
			e.Contract = sinkGate
		}
		switch {
		case scope == ThisDomain && d.hasDomain():
			e.Destination = "@" + d.Host()
		case scope == ThisKind && d.tellsKind():
			e.Tool = everyTool
		}
		out = append(out, e)
	}
	return out
}

// Scopes returns the scopes that Always and Never can have for this question, the narrowest first. A wider one is offered
// only where it means something for every destination.
func (q Question) Scopes() []Scope {
	if !q.rememberable() {
		return nil
	}
	out := []Scope{""}
	kinds, domains := true, true
	for _, d := range q.Asked {
		kinds, domains = kinds && d.tellsKind(), domains && d.hasDomain()
	}
	if kinds {
		out = append(out, ThisKind)
	}
	if domains {
		out = append(out, ThisDomain)
	}
	return out
}

// tellsKind reports a destination that says itself what it is. "13" is another thing for every tool.
func (d Destination) tellsKind() bool {
	return d.Kind == destination.Email || d.Kind == destination.URL
}

// hasDomain reports an address whose domain belongs to one organisation. At a public provider everybody has an address.
func (d Destination) hasDomain() bool {
	return d.Kind == destination.Email && d.Host() != "" && !publicMail(d.Host())
}

// publicMail reports a domain, or one below it, where anybody can have an address.
func publicMail(host string) bool {
	for rest := host; rest != ""; {
		if publicProviders[rest] {
			return true
		}
		_, rest, _ = strings.Cut(rest, ".")
	}
	return false
}

var publicProviders = func() map[string]bool {
	out := map[string]bool{}
	for _, domain := range strings.Fields(`gmail.com googlemail.com outlook.com hotmail.com live.com msn.com passport.com
		hotmail.co.uk hotmail.fr hotmail.de hotmail.it outlook.fr outlook.de outlook.es live.co.uk live.fr live.nl
		yahoo.com yahoo.co.uk yahoo.co.jp yahoo.co.in yahoo.fr yahoo.de yahoo.it yahoo.es yahoo.com.br ymail.com rocketmail.com myyahoo.com aol.com
		icloud.com me.com mac.com privaterelay.appleid.com proton.me protonmail.com protonmail.ch pm.me tutanota.com tutanota.de tuta.io tuta.com tutamail.com keemail.me
		gmx.com gmx.de gmx.net gmx.at gmx.ch gmx.us gmx.co.uk web.de mail.com email.com usa.com t-online.de freenet.de arcor.de posteo.de mailbox.org
		mail.ru inbox.ru list.ru bk.ru internet.ru yandex.com yandex.ru ya.ru rambler.ru ukr.net
		qq.com foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com aliyun.com 139.com 189.cn naver.com daum.net hanmail.net
		zoho.com zohomail.com zohomail.eu fastmail.com fastmail.fm hey.com hushmail.com mailfence.com startmail.com runbox.com disroot.org riseup.net
		orange.fr wanadoo.fr free.fr laposte.net sfr.fr neuf.fr libero.it virgilio.it tiscali.it alice.it wp.pl o2.pl onet.pl interia.pl seznam.cz centrum.cz
		comcast.net verizon.net att.net sbcglobal.net cox.net charter.net btinternet.com sky.com virginmedia.com bigpond.com telus.net rogers.com shaw.ca
		rediffmail.com uol.com.br bol.com.br terra.com.br mailinator.com guerrillamail.com yopmail.com 10minutemail.com temp-mail.org duck.com simplelogin.com anonaddy.me mozmail.com`) {
		out[domain] = true
	}
	return out
}()

// today is the day for an entry's since.
func today(now time.Time) string { return now.UTC().Format(time.DateOnly) }

// About reports whether the entry is about d as a destination of server's tool, whatever the question was.
func (e Entry) About(server, tool string, d destination.Destination) bool {
	return e.covers(server, e.Contract, tool, d)
}
