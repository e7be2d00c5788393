package mandate

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
	fronted  bool // the clause began with a preposition: "on Monday send ..."
	front    stance
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
	case s.fronted && s.late(i):
		s.expect = s.front
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
