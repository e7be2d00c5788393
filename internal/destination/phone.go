package destination

import "strings"

const (
	shortestPhone = 8 // digits, with the country's
	longestPhone  = 15
)

// parsePhone reads a telephone number in international form (E.164), however it is grouped: +1 (555) 010-9999, 0041 44 ..., tel:+1...,
// and the account that a messenger makes of it, 15550109999@s.whatsapp.net (A10). Digits without a sign that says so are an id.
func parsePhone(text string) []Destination {
	if number := PhoneNumber(text); number != "" {
		return one(Phone, text, number, "")
	}
	return nil
}

// PhoneNumber returns the digits of a telephone number with a plus before them; "" for every other text.
func PhoneNumber(text string) string {
	rest := strings.TrimSpace(text)
	if len(rest) > 64 {
		return ""
	}
	if scheme, after, ok := strings.Cut(rest, ":"); ok && (strings.EqualFold(scheme, "tel") || strings.EqualFold(scheme, "sms") || strings.EqualFold(scheme, "whatsapp")) {
		rest = after
		if !strings.HasPrefix(rest, "+") {
			rest = "+" + rest
		}
	}
	if user, host, ok := strings.Cut(rest, "@"); ok {
		switch strings.ToLower(host) {
		case "s.whatsapp.net", "c.us":
			rest = "+" + strings.TrimPrefix(user, "+")
		default:
			return ""
		}
	}
	switch {
	case strings.HasPrefix(rest, "+"):
		rest = rest[1:]
	case strings.HasPrefix(rest, "00") && len(rest) > 2:
		rest = rest[2:]
	default:
		return ""
	}
	var digits strings.Builder
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case digit(c):
			digits.WriteByte(c)
		case strings.IndexByte(" ()-./", c) < 0 || i+1 == len(rest) && c != ')':
			return ""
		}
	}
	number := digits.String()
	if len(number) < shortestPhone || len(number) > longestPhone || number[0] == '0' {
		return ""
	}
	return "+" + number
}
