package mandate

// A phrase in front of a verb says whose verb it is. They are matched word by word; words of fillers may stand between
// ("can you please also"), but not in front.
type phrase struct {
	words []string
	asks  stance
}

// stance is what a verb is in its sentence.
type stance byte

const (
	none   stance = iota // no verb is expected here
	asked                // the user asks for it
	denied               // the user asks not to
	told                 // somebody's, at some time: no request
	inherit
)

var phrases = func() map[string][]phrase {
	m := map[string][]phrase{}
	add := func(s stance, all ...string) {
		for _, text := range all {
			ws := words(text)
			m[ws[0]] = append(m[ws[0]], phrase{ws, s})
		}
	}
	add(inherit, "go ahead and", "go ahead", "feel free to", "make sure to", "make sure you", "make sure that you", "be sure to",
		"be so kind as to", "help me", "help us", "help me to", "help us to", "remember to", "try to", "try and", "proceed to",
		"proceed and", "see if you can", "check if you can", "ensure you", "ensure that you", "do me a favor and", "do me a favour and",
		"take a moment to", "be kind enough to")
	add(asked, "don't forget to", "do not forget to", "dont forget to", "never forget to", "don't hesitate to", "do not hesitate to",
		"don't fail to", "i want you to", "i need you to", "i'd like you to", "i would like you to", "i'd like for you to",
		"we want you to", "we need you to", "we'd like you to", "we would like you to", "i'd love you to", "i ask you to",
		"i'm asking you to", "i was hoping you could", "i hope you can", "it would be great if you could", "it would be nice if you could",
		"it'd be great if you could", "would be great if you could", "it would be helpful if you could", "i'd appreciate it if you could",
		"i would appreciate it if you could", "i'd be grateful if you could", "would you mind", "do you mind", "is it possible to",
		"would it be possible to", "are you able to", "your task is to", "your job is to", "your goal is to", "the task is to",
		"the goal is to", "let's", "lets", "let us", "can i ask you to", "may i ask you to", "can i get you to", "why don't you",
		"how about you", "wonder if you could", "wondering if you could")
	add(denied, "don't", "dont", "do not", "never", "must not", "mustn't", "should not", "shouldn't", "cannot", "can't", "won't", "will not",
		"no need to", "you don't have to", "you don't need to", "you do not need to", "you do not have to", "make sure not to",
		"make sure you don't", "make sure you do not", "be careful not to", "try not to", "refrain from", "under no circumstances",
		"there's no need to", "there is no need to", "needn't", "not to", "not", "no longer", "didn't", "doesn't", "haven't", "hasn't",
		"isn't", "aren't", "wasn't", "wouldn't", "couldn't")
	return m
}()

// modals are the phrases of a second person. What stands in front of them decides: "tell me if you can send" asks nothing.
var modals = func() map[string][]phrase {
	m := map[string][]phrase{}
	for _, modal := range []string{"can", "could", "would", "will", "should", "may", "might", "must"} {
		m[modal] = append(m[modal], phrase{[]string{modal, "you"}, asked}, phrase{[]string{modal, "u"}, asked})
		m["you"] = append(m["you"], phrase{[]string{"you", modal}, asked})
	}
	for _, text := range []string{"you need to", "you have to", "you'll have to", "you're going to", "you are going to", "you should also"} {
		ws := words(text)
		m[ws[0]] = append(m[ws[0]], phrase{ws, asked})
	}
	return m
}()

// wishes of the first person are a request only where they are concrete and not put off.
var wishes = func() map[string][]phrase {
	m := map[string][]phrase{}
	for _, text := range []string{"i want to", "i'd like to", "i would like to", "i need to", "we want to", "we'd like to", "we would like to",
		"we need to", "i wish to", "i have to", "i must", "i'd love to"} {
		ws := words(text)
		m[ws[0]] = append(m[ws[0]], phrase{ws, asked})
	}
	return m
}()

// match returns the longest phrase of the table at token i, and where it ends.
func match(table map[string][]phrase, ts []token, i, end int) (s stance, next int) {
	for _, p := range table[ts[i].low] {
		j, ok := i, true
		for k, w := range p.words {
			for k > 0 && j < end && ts[j].kind == word && ts[j].low != w && fillers[ts[j].low] {
				j++
			}
			if ok = j < end && ts[j].kind == word && ts[j].low == w; !ok {
				break
			}
			j++
		}
		if ok && j > next {
			s, next = p.asks, j
		}
	}
	return s, next
}
