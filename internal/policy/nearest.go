package policy

// maxNearest bounds the work: names longer than this are not misspelled names.
const maxNearest = 64

// Nearest returns the name that s is most likely a misspelling of: at most a third of its letters are wrong. The
// earlier of two equally near names wins.
func Nearest(s string, names []string) (string, bool) {
	if len(s) == 0 || len(s) > maxNearest {
		return "", false
	}
	best, at := "", 1+(len(s)+1)/3
	for _, n := range names {
		if len(n) > maxNearest || n == s {
			continue
		}
		if d := distance(fold(s), fold(n)); d < at {
			best, at = n, d
		}
	}
	return best, best != ""
}

// fold drops what people get wrong most: case, and how words are joined.
func fold(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			out = append(out, c+'a'-'A')
		case c != '_' && c != '-' && c != ' ':
			out = append(out, c)
		}
	}
	return string(out)
}

// distance is the number of bytes to insert, delete or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
