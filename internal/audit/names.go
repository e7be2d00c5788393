package audit

import "strings"

// secretEnds are the ends of names that announce a secret, in normal form: access_token, X-Api-Key and dbPassword end
// in one; max_tokens and secret_name do not.
var secretEnds = []string{
	"password", "passwords", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets", "token", "apikey", "apikeys", "authorization",
	"privatekey", "secretkey", "accesskey", "accesskeyid", "signingkey", "encryptionkey", "sshkey", "cookie", "cookies", "credential", "credentials",
	"connectionstring",
}

// secretNames announce a secret only when they are the whole name.
var secretNames = map[string]bool{"pass": true, "otp": true, "auth": true, "bearer": true, "jwt": true, "mfacode": true, "cvv": true, "cvc": true}

// secretName reports whether an argument of this name holds a secret.
func (m *masker) secretName(name string) bool {
	if len(name) > 4*maxName {
		name = name[len(name)-4*maxName:] // the end decides
	}
	var buf [4 * maxName]byte
	n := 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c >= 'A' && c <= 'Z':
			buf[n] = c | 0x20
			n++
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			buf[n] = c
			n++
		}
	}
	low := buf[:n]
	if n < 3 {
		return m.names[string(low)]
	}
	switch low[n-1] { // the last letters of all that is listed; most names go no further
	case 'd', 's', 'e', 't', 'n', 'y', 'l', 'g':
		for _, end := range secretEnds {
			if n >= len(end) && string(low[n-len(end):]) == end {
				return true
			}
		}
	}
	return n <= 8 && secretNames[string(low)] || len(m.names) > 0 && m.names[string(low)]
}

// normal is a name without case and separators.
func normal(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r | 0x20
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		}
		return -1
	}, name)
}

// label is a name as a mask shows it: what a stranger wrote in a name neither leaves the mask nor fills the log.
func label(name string) string {
	name = strings.TrimLeft(name, "-")
	if len(name) > maxName {
		name = name[len(name)-maxName:]
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (alnum(byte(r)) || r == '_' || r == '-' || r == '.') {
			return r
		}
		return -1
	}, name)
}
