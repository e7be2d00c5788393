package session

import (
	"strings"
	"unicode"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/mandate"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// maxLabels bounds what is kept of registers and secrets. Past it no further entry vouches, which costs a question; a
// secret past it goes unnoticed, so everything that could be one is taken for it.
const maxLabels = 100_000

// said is what the user said, and what their registers say.
type said struct {
	request *mandate.Request
	fetched map[string]map[string]int // registrable domain -> URL -> which of its URLs

	labels  map[entry]provenance.Labelled
	put     map[entry]bool // written by an agent's call before any directory had it
	secrets map[string]provenance.Labelled
	lost    bool // a secret was not kept
	first   map[spot]bool
	private []provenance.Labelled // objects that were read, the first two
	read    bool                  // something other than definitions was observed
}

type spot struct {
	kind      destination.Kind
	canonical string
}

type entry struct {
	server string
	spot
}

func entryOf(server string, d destination.Destination) entry {
	return entry{server, spot{d.Kind, d.Canonical}}
}

// Verbatim implements Store.
func (m *Memory) Verbatim(d destination.Destination) (provenance.Sighting, bool) {
	m.catchUp()
	return m.index.Verbatim(d.Raw)
}

// Label implements Store.
func (m *Memory) Label(l provenance.Labelled) {
	m.facts.Lock()
	defer m.facts.Unlock()
	if l.Label == provenance.Secret {
		m.keepSecret(l)
		return
	}
	if l.Label == provenance.Private {
		m.keepPrivate(l)
		return
	}
	if l.Destination.Ambiguous != "" {
		return
	}
	key := entryOf(l.Server, l.Destination)
	if l.Label == provenance.Directory && m.said.put[key] {
		return
	}
	have, known := m.said.labels[key]
	if known && (have.Label == provenance.Directory || l.Label == have.Label) || !known && len(m.said.labels) >= maxLabels {
		return
	}
	m.said.labels[key] = l
}

// keepPrivate keeps the first two different objects: of two, one is other than whatever is asked about.
func (m *Memory) keepPrivate(l provenance.Labelled) {
	for _, have := range m.said.private {
		if have.Server == l.Server && have.Destination.Raw == l.Destination.Raw {
			return
		}
	}
	if len(m.said.private) < 2 {
		m.said.private = append(m.said.private, l)
	}
}

// Private implements Store.
func (m *Memory) Private(server, object string) (provenance.Labelled, bool) {
	m.facts.Lock()
	defer m.facts.Unlock()
	for _, have := range m.said.private {
		if object == "" || have.Server != server || have.Destination.Raw != object {
			return have, true
		}
	}
	return provenance.Labelled{}, false
}

// news reports whether Label would change anything.
func (m *Memory) news(l provenance.Labelled) bool {
	m.facts.Lock()
	defer m.facts.Unlock()
	if l.Label == provenance.Secret {
		bare := squeeze(l.Destination.Raw)
		_, known := m.said.secrets[bare]
		return len(bare) >= shortSecret && !known
	}
	if l.Label == provenance.Private {
		return len(m.said.private) < 2
	}
	key := entryOf(l.Server, l.Destination)
	have := m.said.labels[key].Label
	return l.Destination.Ambiguous == "" && have != provenance.Directory && have != l.Label && !(l.Label == provenance.Directory && m.said.put[key])
}

// putNews reports whether Put would change anything for an entry.
func (m *Memory) putNews(key entry) bool {
	m.facts.Lock()
	defer m.facts.Unlock()
	return !m.said.put[key] && m.said.labels[key].Label != provenance.Directory
}

func (m *Memory) keepSecret(l provenance.Labelled) {
	bare := squeeze(l.Destination.Raw)
	if len(bare) < shortSecret {
		return
	}
	if len(m.said.secrets) >= maxLabels {
		m.said.lost = true
		return
	}
	if _, known := m.said.secrets[bare]; !known {
		m.said.secrets[bare] = l
	}
}

// Labelled implements Store.
func (m *Memory) Labelled(server string, d destination.Destination) (provenance.Labelled, bool) {
	if d.Ambiguous != "" {
		return provenance.Labelled{}, false
	}
	m.facts.Lock()
	defer m.facts.Unlock()
	l, ok := m.said.labels[entryOf(server, d)]
	return l, ok
}

// Put implements Store.
func (m *Memory) Put(server string, ds []destination.Destination) {
	m.facts.Lock()
	defer m.facts.Unlock()
	for _, d := range ds {
		key := entryOf(server, d)
		if m.said.labels[key].Label != provenance.Directory {
			m.said.put[key] = true
		}
	}
}

// shortSecret is the shortest value that counts as one: a single digit stands in every text.
const shortSecret = 4

// Secret implements Store. Blanks and dashes make no difference: card numbers are written with and without.
func (m *Memory) Secret(text string) (provenance.Labelled, bool) {
	m.facts.Lock()
	defer m.facts.Unlock()
	if len(m.said.secrets) == 0 {
		return provenance.Labelled{}, false
	}
	// Words, and runs of up to eight words written apart, squeezed together: 4111 1111 1111 1111.
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i := range words {
		joined := ""
		for j := i; j < len(words) && j < i+8 && len(joined) < 256; j++ {
			joined += squeeze(words[j])
			if l, ok := m.said.secrets[joined]; ok {
				return l, true
			}
		}
	}
	return provenance.Labelled{Destination: destination.Destination{Kind: destination.Opaque, Raw: text, Canonical: text}}, m.said.lost
}

// squeeze keeps the letters and digits of a text, in one case.
func squeeze(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// Say implements Store.
func (m *Memory) Say(prompt string) {
	m.facts.Lock()
	defer m.facts.Unlock()
	next := m.said.request.Follow(prompt)
	if next != m.said.request {
		m.said.fetched = map[string]map[string]int{}
	}
	m.said.request = next
}

// Request implements Store.
func (m *Memory) Request() *mandate.Request {
	m.facts.Lock()
	defer m.facts.Unlock()
	return m.said.request
}

// maxFetched bounds how many URLs of a domain are told apart. The next ones are all the last.
const maxFetched = 1000

// Fetch implements Store.
func (m *Memory) Fetch(domain, url string) int {
	m.facts.Lock()
	defer m.facts.Unlock()
	urls := m.said.fetched[domain]
	if urls == nil {
		if len(m.said.fetched) >= maxFetched {
			return maxFetched
		}
		urls = map[string]int{}
		m.said.fetched[domain] = urls
	}
	if n, ok := urls[url]; ok {
		return n
	}
	n := len(urls) + 1
	if n < maxFetched {
		urls[url] = n
	}
	return n
}
