package mandate

import "strings"

// stem brings the forms of a verb, and the noun of its act, to one spelling: lower case, irregular forms by a table, then
// the endings -ies, -ied, -ing, -ed, -es, -s and -e cut, a doubled consonant made one, -ise and -ize alike. It is light on
// purpose: two words that are not the same act must not meet.
func stem(word string) string {
	w := strings.ToLower(word)
	w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
	if s, ok := stems[w]; ok {
		return s
	}
	if s := pastForms[w]; s != "" {
		w = s
	}
	w = ending(w)
	if s, ok := stems[w]; ok {
		return s
	}
	if strings.HasSuffix(w, "is") && len(w) > 5 {
		w = w[:len(w)-2] + "iz"
	}
	return w
}

func ending(w string) string {
	cut := func(end, put string, least int) bool {
		if base, ok := strings.CutSuffix(w, end); ok && len(base) >= least {
			w = base + put
			return true
		}
		return false
	}
	switch {
	case keepsS(w):
	case cut("ies", "y", 2), cut("ied", "y", 2):
		return w
	case cut("ation", "", 5):
		return w
	case cut("ing", "", 3) && vowelled(w), cut("ed", "", 3) && vowelled(w):
		return undouble(strings.TrimSuffix(w, "e"))
	case cut("sses", "ss", 1), cut("shes", "sh", 2), cut("ches", "ch", 2), cut("xes", "x", 1):
	case cut("s", "", 3):
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

// keepsS reports words whose s is their own: access, process, status, bus.
func keepsS(w string) bool {
	return strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "us") || !strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ed") &&
		!strings.HasSuffix(w, "ing") && !strings.HasSuffix(w, "ation")
}

func vowelled(w string) bool { return strings.ContainsAny(w, "aeiouy") }

func undouble(w string) string {
	if n := len(w); n > 3 && w[n-1] == w[n-2] && strings.IndexByte("bdgkmnprt", w[n-1]) >= 0 {
		return w[:n-1]
	}
	return w
}

// base reports whether a word can be an imperative: no past, no -ing, no plural or third person, no noun of an act.
func base(low string) bool {
	if s, ok := pastForms[low]; ok {
		return s == ""
	}
	switch {
	case len(low) < 2, strings.ContainsAny(low, "0123456789@/.#$%'’"):
		return false
	case low == "ping", low == "bring", low == "ring", low == "string", low == "feed", low == "need", low == "embed", low == "proceed", low == "seed", low == "pass", low == "discuss", low == "process", low == "access", low == "address", low == "compress", low == "bus":
		return true
	case strings.HasSuffix(low, "ing") && len(low) > 4, strings.HasSuffix(low, "ed") && len(low) > 3:
		return false
	case strings.HasSuffix(low, "s") && !strings.HasSuffix(low, "ss") && !strings.HasSuffix(low, "us"):
		return false
	case strings.HasSuffix(low, "tion"), low == "payment", low == "summary":
		return false
	}
	return true
}

// past reports a past form or participle.
func past(low string) bool {
	if _, ok := pastForms[low]; ok {
		return true
	}
	return len(low) > 3 && strings.HasSuffix(low, "ed") && !base(low)
}

// matches reports whether the stem of a word in the prompt is the act that an intent word names. Policies may list
// stems instead of words ("summar"), so a long one may lack its end.
func matches(word, intent string) bool {
	return word == intent || len(intent) >= 5 && len(word)-len(intent) <= 3 && strings.HasPrefix(word, intent)
}
