package mandate

import (
	"slices"
	"unicode"
)

// verb is a verb in the user's own words.
type verb struct {
	tok      int // its token
	end      int // behind the last token it governs
	stance   stance
	acts     []string // stems of what it asks for: its own, its object's ("send an EMAIL"), its means' ("by EMAIL")
	low      string
	self     bool // "send me"
	back     bool // "send it back", "reply"
	doubted  bool
	clause   bool // in a clause of its own behind who, if, that ...
	sentence int
}

// scan reads one sentence from left to right.
type scan struct {
	ts    []token
	verbs *[]verb
	a, b  int // the sentence
	n     int // its number

	expect   stance // what a verb here would be
	strict   bool   // here only a known verb is one
	object   bool   // and only before an object
	cur      int    // the governing verb, or -1
	role     role
	prep     string
	nested   bool
	no       bool // a part that says no
	clause   bool // behind an opener
	question bool
	subject  bool // a statement: it began with a subject
	finite   bool // a past or auxiliary form stood since the last verb
	deep     bool // in what somebody is told: "tell Bob that ..."
	begun    bool // a word that is no filler has come
	wish     int8 // whether the sentence is concrete: 0 not known, 1 yes, -1 no
	outer    []state
}

// state is what a bracket interrupts.
type state struct {
	role   role
	prep   string
	nested bool
	cur    int
}

// sentence reads ts[a:b].
func sentence(ts []token, verbs *[]verb, a, b, n int) {
	s := scan{ts: ts, verbs: verbs, a: a, b: b, n: n, expect: asked, cur: -1}
	for i := a; i < b; {
		t := &ts[i]
		t.sentence = n
		if t.kind == word {
			next := s.word(i)
			for j := i; j < next; j++ {
				s.mark(j)
			}
			i = next
			continue
		}
		s.mark(i)
		if t.kind == punct {
			s.punct(i)
		} else {
			s.expect = none
		}
		i++
	}
	s.close(b)
}

func (s *scan) mark(i int) {
	t := &s.ts[i]
	t.sentence, t.verb, t.role, t.prep, t.nested, t.negated = s.n, s.cur, s.role, s.prep, s.nested, s.no || s.role == outside
	if s.cur >= 0 && (*s.verbs)[s.cur].stance == denied {
		t.negated = true
	}
}

// close ends what the current verb governs.
func (s *scan) close(at int) {
	if s.cur >= 0 {
		(*s.verbs)[s.cur].end = at
	}
}

func (s *scan) punct(i int) {
	switch s.ts[i].text {
	case ",", "—", "–", "-", "&", "/":
		s.coordinate(",", i+1)
	case ":":
		if s.cur >= 0 && (*s.verbs)[s.cur].stance == asked || i-s.a <= 2 && !s.subject {
			s.expect, s.strict, s.object = asked, true, false
		}
	case "(", "[":
		s.outer = append(s.outer, state{s.role, s.prep, s.nested, s.cur})
		s.expect = none
	case ")", "]":
		if n := len(s.outer); n > 0 {
			o := s.outer[n-1]
			s.outer = s.outer[:n-1]
			if s.cur == o.cur {
				s.role, s.prep, s.nested = o.role, o.prep, o.nested
			}
		}
	}
}

// coordinate decides what a verb behind "and", "or", "," or "then" would be: mostly what the one before it is.
func (s *scan) coordinate(by string, next int) {
	s.strict, s.object = true, true
	reset := next < s.b && resets[s.ts[next].low]
	comma := by == ","
	var last *verb
	if n := len(*s.verbs); n > 0 && (*s.verbs)[n-1].sentence == s.n {
		last = &(*s.verbs)[n-1]
	}
	switch {
	case by == "but", reset && (comma || last == nil || last.stance != told):
		s.expect = asked
		s.no = false
	case last == nil && (comma || by == "so" || by == "then" || s.question && s.finite):
		s.expect = asked
	case last == nil:
		s.expect = told
	case last.stance == told && last.clause && (comma || s.finite):
		s.expect = asked
	case last.stance == told && s.finite && comma:
		s.expect = asked
	default:
		s.expect = last.stance
	}
	if comma {
		s.clause = false
		if s.cur < 0 {
			s.no = false // "if not, send it"
		}
	}
}

// word reads the word at i, and returns where to go on.
func (s *scan) word(i int) int {
	low := s.ts[i].low
	if !s.begun && !fillers[low] {
		s.begun, s.question, s.subject = true, questions[low], subjects[low] || determiner[low]
	}
	if next := s.phrase(i); next > i {
		return next
	}
	switch {
	case low == "to":
		return s.to(i)
	case low == "then" && s.before(i) == "and":
		return i + 1
	case low == "and" || low == "or" || low == "then" && i > s.a || low == "but" || low == "so" && i > s.a || low == "plus" || low == "und" || low == "oder":
		s.coordinate(map[string]string{"und": "and", "oder": "or"}[low]+low, i+1)
		if low == "but" && s.role == outside && !s.nextIs(i+1, "not") {
			s.role, s.prep = direct, ""
		}
		return i + 1
	case polite[low] && s.expect == denied:
		return i + 1
	case polite[low]:
		s.strict, s.object = s.expect == none || s.expect == told, false
		s.expect = asked
		return i + 1
	case excluding[low], low == "other" && s.nextIs(i+1, "than"), low == "instead" && s.nextIs(i+1, "of"), low == "rather" && s.nextIs(i+1, "than"), low == "apart" && s.nextIs(i+1, "from"):
		s.role, s.prep, s.expect = outside, low, none
		if low != "other" && low != "instead" && low != "rather" && low != "apart" {
			return i + 1
		}
		return min(i+2, s.b)
	case s.isVerb(i):
		return s.take(i)
	case s.expect != none && fillers[low]:
		return i + 1
	}
	return s.other(i)
}

func (s *scan) nextIs(i int, low string) bool { return i < s.b && s.ts[i].low == low }

// before returns the word before token i.
func (s *scan) before(i int) string {
	if i > s.a {
		return s.ts[i-1].low
	}
	return ""
}

// phrase reads a phrase that says what the verb behind it is.
func (s *scan) phrase(i int) int {
	behind := openers[s.before(i)] && !(s.before(i) == "that" && i-2 >= s.a && s.cur >= 0 && (*s.verbs)[s.cur].tok == i-2) // "note that you have to"
	if st, next := match(phrases, s.ts, i, s.b); next > i {
		switch {
		case st == inherit && (s.expect == none || s.isTold(i)), st == asked && s.isTold(i):
			return i // not in front of a request
		case st == inherit:
			s.strict = false
		case st == denied:
			s.deny(next)
		default:
			s.expect, s.strict = asked, false
		}
		s.object = false
		return next
	}
	if st, next := match(modals, s.ts, i, s.b); next > i && !s.question && !behind || next > i && i == s.a {
		if s.question && i > s.a {
			return i
		}
		s.expect, s.strict, s.object, s.subject, s.question = st, false, false, false, false
		return next
	}
	if _, next := match(wishes, s.ts, i, s.b); next > i && !s.question && !behind {
		s.expect, s.strict, s.object = told, false, false
		if s.concrete() {
			s.expect = asked
		}
		return next
	}
	return i
}

// isTold reports that token i stands behind an opener, in somebody's clause.
func (s *scan) isTold(i int) bool { return s.expect == told && s.clause }

// deny begins a part that says no: up to its verb, and of it if there is one.
func (s *scan) deny(next int) {
	s.expect, s.strict = denied, false
	if next >= s.b || s.ts[next].kind != word || !base(s.ts[next].low) || functionWords[s.ts[next].low] {
		s.role, s.prep, s.no = outside, "not", true
	}
}

// concrete reports whether a wish names a destination, and does not put it off.
func (s *scan) concrete() bool {
	if s.wish != 0 {
		return s.wish > 0
	}
	s.wish = -1
	found := false
	for _, t := range s.ts[s.a:s.b] {
		if t.kind == word && deferring[t.low] {
			return false
		}
		found = found || t.kind == mention || t.kind == name
	}
	if found {
		s.wish = 1
	}
	return found
}

// isVerb reports whether the word at i is a verb here.
func (s *scan) isVerb(i int) bool {
	t := s.ts[i]
	if t.low == "do" && i+1 < s.b && subjects[s.ts[i+1].low] && !determiner[s.ts[i+1].low] && s.ts[i+1].low != "it" {
		return false // "do you"
	}
	if s.expect == none || !base(t.low) || functionWords[t.low] && t.low != "do" || determiner[t.low] || subjects[t.low] || auxiliary[t.low] && t.low != "do" || openers[t.low] || loosePreps[t.low] || sourcePreps[t.low] {
		return false
	}
	if s.strict || s.expect == told {
		if title(t.text) || !verbs[t.low] && !(s.object && s.expect != told && s.follows(i, false)) {
			return false
		}
		return !nounish[t.low] || s.follows(i, true) || s.expect == told && (s.before(i) == "who" || subjects[s.before(i)] && !determiner[s.before(i)])
	}
	if i+1 < s.b && s.ts[i+1].text == ":" {
		return false // a label
	}
	if fillers[t.low] {
		return false
	}
	if !verbs[t.low] && i+1 < s.b && s.ts[i+1].kind == word && (auxiliary[s.ts[i+1].low] || past(s.ts[i+1].low)) {
		s.subject = true
		return false // "Amy sent", "Bob is"
	}
	return !nounish[t.low] || s.startsAct(i)
}

// title reports a word in capitals at its start alone: in the middle of a sentence, a name.
func title(text string) bool {
	rs := []rune(text)
	return len(rs) > 1 && unicode.IsUpper(rs[0]) && unicode.IsLower(rs[1])
}

// startsAct tells "Email bob@x.example" from "Email from bob@x.example" at the start of a clause.
func (s *scan) startsAct(i int) bool {
	if i+1 >= s.b {
		return true
	}
	n := s.ts[i+1]
	return n.kind != word || !sourcePreps[n.low] && n.low != "in" && !auxiliary[n.low] && !past(n.low) && !compounds[n.low] || n.low == "about" && s.ts[i].low != "email" || n.low == "of"
}

// follows reports whether an object follows, as behind a verb. wide also takes names, destinations and prepositions.
func (s *scan) follows(i int, wide bool) bool {
	if i+1 >= s.b {
		return false
	}
	n := s.ts[i+1]
	if n.kind == word && (objects[n.low] || determiner[n.low]) {
		return true
	}
	if !wide {
		return false
	}
	switch {
	case n.kind == mention, n.kind == name, n.kind == thing:
		return true
	case n.kind == punct:
		return n.text == "$" || n.text == "€" || n.text == "£" || n.text == ":"
	case compounds[n.low]:
		return false
	case n.low == "to":
		return towards[s.ts[i].low]
	case n.low == "back", n.low == "there", n.low == "on" && towards[s.ts[i].low], n.low == "in" && s.ts[i].low == "post":
		return true
	}
	return title(n.text) || startsDigit(n.low) || n.low[0] == '$' || n.low[0] == '#' || n.low[0] == '@'
}

// take makes the word at i a verb.
func (s *scan) take(i int) int {
	s.close(i)
	t := s.ts[i]
	v := verb{tok: i, stance: s.expect, low: t.low, acts: []string{stem(t.low)}, doubted: t.doubted, clause: s.clause, sentence: s.n}
	v.back = answering[v.acts[0]] || answering[t.low]
	if stopping[t.low] && v.stance == asked {
		v.stance = denied
	}
	*s.verbs = append(*s.verbs, v)
	s.cur = len(*s.verbs) - 1
	s.expect, s.strict, s.object, s.finite = none, true, true, false
	s.role, s.prep, s.nested, s.no, s.deep = direct, "", false, false, false
	if i+1 < s.b && (s.ts[i+1].low == "me" || s.ts[i+1].low == "us") {
		(*s.verbs)[s.cur].self = true
	}
	s.objects(i)
	return i + 1
}

// objects collects what a verb does with its object or by its means: "send an email", "make a payment", "tell Bob by mail".
func (s *scan) objects(i int) {
	v := &(*s.verbs)[s.cur]
	carry := carrying[v.low]
	open := light[v.low]
	for j := i + 1; open && j < s.b && j < i+8 && s.ts[j].kind == word; j++ {
		low := s.ts[j].low
		switch {
		case definite[low] && !carry && !(low == "that" || low == "this"), towardsPreps[low], loosePreps[low], sourcePreps[low], low == "and", openers[low], past(low) && low != "set":
			open = false
		case functionWords[low], indefinite[low], determiner[low], j+1 < s.b && compounds[s.ts[j+1].low] && s.ts[j+1].kind == word:
		default:
			v.acts = append(v.acts, stem(low))
		}
	}
	if !speaking[v.low] {
		return
	}
	for j := i + 1; j+1 < s.b && j < i+40; j++ {
		if low := s.ts[j].low; s.ts[j].kind == word && (low == "via" || low == "by" || low == "through" || low == "over" || low == "using" || low == "in" || low == "with" || low == "as") {
			for k := j + 1; k < s.b && k < j+4 && s.ts[k].kind == word; k++ {
				if kl := s.ts[k].low; indefinite[kl] || k > j+1 && !functionWords[kl] || !functionWords[kl] && !definite[kl] {
					if !indefinite[kl] {
						v.acts = append(v.acts, stem(kl))
					}
				} else {
					break
				}
			}
		} else if low == "and" || low == "then" {
			break
		}
	}
	if len(v.acts) > 24 {
		v.acts = slices.Clip(v.acts[:24])
	}
}

// to is a preposition, or stands before a verb.
func (s *scan) to(i int) int {
	prev := s.before(i)
	next := token{}
	if i+1 < s.b {
		next = s.ts[i+1]
	}
	if next.kind == word && verbs[next.low] && !title(next.text) && base(next.low) && (!nounish[next.low] || s.follows(i+1, true)) {
		s.expect, s.strict, s.object = told, true, false
		if s.cur >= 0 {
			switch v := (*s.verbs)[s.cur]; {
			case v.stance == denied:
				s.expect = denied
			case prev == "order", using[v.low] && v.low != "remember":
				s.expect = v.stance
			}
		}
		return i + 1
	}
	s.finite = s.finite || past(prev)
	switch {
	case s.role == outside:
	case s.deep:
		s.role, s.prep = source, "to"
	case notTargets[prev], past(prev) && !(i-2 >= s.a && s.ts[i-2].low == "the"), s.foreignVerb(i - 1):
		s.role, s.prep, s.nested = source, "to", false
	default:
		s.role, s.prep, s.nested = toward, "to", false
	}
	s.expect = none
	return i + 1
}

// foreignVerb reports a third person form in front of "to": "the package goes to bob@x.example".
func (s *scan) foreignVerb(i int) bool {
	if i < s.a || s.ts[i].kind != word || s.cur < 0 || i == (*s.verbs)[s.cur].tok {
		return false
	}
	low := s.ts[i].low
	return low == "goes" || low == "belongs" || low == "points" || low == "refers" || low == "leads" || low == "writes" || low == "sends"
}

// other reads every other word: prepositions, openers, subjects, forms of verbs.
func (s *scan) other(i int) int {
	low := s.ts[i].low
	was := s.expect
	s.expect = none
	switch {
	case towardsPreps[low]:
		if s.role != outside && !s.deep {
			s.role, s.prep, s.nested = toward, low, false
		}
	case sourcePreps[low]:
		if s.role != outside {
			s.role, s.prep = source, low
		}
	case low == "based" && s.nextIs(i+1, "on"):
		s.role, s.prep = source, low
		return i + 2
	case loosePreps[low] && !(low == "as" && s.nextIs(i+1, "well")):
		if i > s.a && past(s.ts[i-1].low) && s.role != outside && !(i-2 >= s.a && s.ts[i-2].low == "the") {
			s.role, s.prep = source, low
		} else if s.role != outside && s.role != source {
			s.nested = s.nested || s.role == toward
			s.role, s.prep = loose, low
		}
	case low == "back" && s.cur >= 0:
		(*s.verbs)[s.cur].back = true
	case low == "that" && s.pointing(i):
	case openers[low]:
		s.open(i)
	case subjects[low] && !s.objective(i):
		s.expect, s.strict, s.object = told, true, false
	case auxiliary[low]:
		s.finite = true
		if s.clause || s.question || s.subject {
			s.expect, s.strict, s.object = told, true, false
		}
	case past(low):
		s.finite = true
	case was == told && !nounish[low] && (s.clause || fillers[low]):
		s.expect = told // the verb of the clause is still to come
	case was != none && len(low) > 4 && low[len(low)-2:] == "ly":
		s.expect = was
	}
	return i + 1
}

// open begins a clause of its own: who, if, that. What it names is no target of the verb before; unless somebody was named
// who is told it, a "to" behind it still can be: "send the report that Alice wrote to bob@x.example".
func (s *scan) open(i int) {
	s.expect, s.strict, s.object, s.clause = told, true, false, true
	if s.cur < 0 || s.role == outside {
		return
	}
	s.role, s.prep = source, s.ts[i].low
	p := s.ts[i-1]
	s.deep = s.deep || p.kind == mention || p.kind == name || p.kind == word && (title(p.text) || objects[p.low]) && i-1 != (*s.verbs)[s.cur].tok
}

// pointing tells "send that report" from "the report that".
func (s *scan) pointing(i int) bool {
	p := s.before(i)
	return p == "" || s.cur >= 0 && (*s.verbs)[s.cur].tok == i-1 || p == "to" || loosePreps[p] || sourcePreps[p] || p == "and" || fillers[p]
}

// objective reports a pronoun that is an object here: directly behind a verb or a preposition.
func (s *scan) objective(i int) bool {
	p := s.before(i)
	return objects[s.ts[i].low] && (s.cur >= 0 && (*s.verbs)[s.cur].tok == i-1 || towardsPreps[p] || loosePreps[p] || sourcePreps[p])
}
