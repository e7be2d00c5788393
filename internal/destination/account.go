package destination

import "strings"

const (
	shortestAccount = 14 // two letters, two digits, and ten more
	longestAccount  = 34
)

// parseAccount reads a text with the shape of an IBAN, in one piece or in groups with a blank between them. Wrong check
// digits do not make it doubtful: test data and some banks are sloppy, and money goes there or nowhere.
//
// Upper and lower case are one account but may be two ids on another server. So lower case is an account only where the
// check digits say so, and mixed case is ambiguous even then.
func parseAccount(text string) []Destination {
	if len(text) < shortestAccount || len(text) > 2*longestAccount {
		return nil
	}
	canonical, ok := joinGroups(text)
	if !ok || !accountShaped(canonical) {
		return nil
	}
	upper := canonical == strings.ToUpper(canonical)
	if (!upper || strings.Contains(text, " ") && !grouped(text)) && !checked(strings.ToUpper(canonical)) {
		return nil
	}
	odd := ""
	if !upper && canonical != strings.ToLower(canonical) {
		odd = "account number in upper and lower case"
	}
	return one(Account, text, strings.ToUpper(canonical), odd)
}

// joinGroups takes out the blanks between groups. Two in a row, or one at an end, are no grouping.
func joinGroups(text string) (joined string, ok bool) {
	if strings.Contains(text, "  ") || strings.HasPrefix(text, " ") || strings.HasSuffix(text, " ") {
		return "", false
	}
	return strings.ReplaceAll(text, " ", ""), true
}

// grouped reports groups of four, the last one shorter at most, with more digits in them than a sentence in capitals has.
func grouped(text string) bool {
	groups := strings.Split(text, " ")
	for i, g := range groups {
		if len(g) != 4 && (i < len(groups)-1 || len(g) > 4) {
			return false
		}
	}
	return digits(text) >= someDigits
}

// someDigits is how many digits tell an account number from words in capitals, where blanks or other text leave doubt.
const someDigits = 8

func digits(s string) (n int) {
	for i := 0; i < len(s); i++ {
		if digit(s[i]) {
			n++
		}
	}
	return n
}

func accountShaped(s string) bool {
	if len(s) < shortestAccount || len(s) > longestAccount || !letter(s[0]) || !letter(s[1]) || !digit(s[2]) || !digit(s[3]) {
		return false
	}
	for i := 4; i < len(s); i++ {
		if !letter(s[i]) && !digit(s[i]) {
			return false
		}
	}
	return true
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// checked reports whether the check digits of an account in upper case are right (ISO 7064, 97-10).
func checked(s string) bool {
	rest := 0
	for i := range len(s) {
		switch c := s[(i+4)%len(s)]; {
		case digit(c):
			rest = (rest*10 + int(c-'0')) % 97
		default:
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest == 1
}
