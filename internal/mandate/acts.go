package mandate

import (
	"slices"
	"strings"
	"unicode"
)

// isVerb reports whether the word at i is a verb here.
func (s *scan) isVerb(i int) bool {
	t := s.ts[i]
	if t.low == "do" && i+1 < s.b && subjects[s.ts[i+1].low] && !determiner[s.ts[i+1].low] && s.ts[i+1].low != "it" {
		return false // "do you"
	}
	if s.expect == none || !base(t.low) || functionWords[t.low] && t.low != "do" && t.low != "be" || determiner[t.low] || subjects[t.low] || auxiliary[t.low] && t.low != "do" && t.low != "be" || openers[t.low] || loosePreps[t.low] || sourcePreps[t.low] {
		return false
	}
	if t.low == "be" && s.expect == asked && !s.strict {
		return true // "be precise, and ..."
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
	case n.low == "back", n.low == "there", n.low == "up", n.low == "out", n.low == "on" && towards[s.ts[i].low], n.low == "in" && s.ts[i].low == "post":
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
	s.role, s.prep, s.nested, s.no, s.deep, s.fronted = direct, "", false, false, false, false
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
		case definite[low] && !carry && !(low == "that" || low == "this"), towardsPreps[low], loosePreps[low], sourcePreps[low], low == "and", openers[low], past(low) && !s.adjective(j):
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

// adjective tells "a scheduled payment" from "a mail written by Bob".
func (s *scan) adjective(j int) bool {
	if j+1 >= s.b || s.ts[j+1].kind != word {
		return false
	}
	low := s.ts[j+1].low
	return !functionWords[low] && !loosePreps[low] && !sourcePreps[low] && !towardsPreps[low] && !determiner[low]
}

// late reports the verb of a clause that began with a preposition: "to each user write the message". In front of it stands
// nothing that could be its subject, and behind it an object.
func (s *scan) late(i int) bool {
	t, before := s.ts[i], s.before(i)
	return verbs[t.low] && !nounish[t.low] && base(t.low) && !title(t.text) && s.ts[i-1].kind == word && !subjects[before] && !determiner[before] &&
		!strings.HasSuffix(before, "s") && before != "to" && s.follows(i, true)
}
