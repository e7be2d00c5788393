package mandate

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
			case prev == "order", prev == "and", prev == "or", using[v.low]:
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
	if s.expect == asked && (i == s.a || prev == "and") {
		s.fronted, s.front = true, asked
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
	if (loosePreps[low] || sourcePreps[low]) && was == asked && (i == s.a || s.before(i) == "and" || fillers[s.before(i)]) {
		s.fronted, s.front = true, was
	} else if subjects[low] || auxiliary[low] || openers[low] || past(low) {
		s.fronted = false
	}
	switch {
	case towardsPreps[low], low == "an" && i+1 < s.b && s.ts[i+1].kind == mention: // "schicke es an bob@x.example"
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
