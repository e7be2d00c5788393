package policy

import "fmt"

// Profile is the first version's risk level: how the ladder of origins becomes a verdict.
type Profile string

// The profiles. Standard is the default.
const (
	Strict   Profile = "strict"   // tainted denies, unproven asks; nothing else
	Standard Profile = "standard" // equals Strict until it knows more of what the user vouches for
	Paranoid Profile = "paranoid" // asks for every call that carries values out
)

// ParseProfile reads a profile's name; "" is Standard.
func ParseProfile(s string) (Profile, error) {
	switch p := Profile(s); p {
	case "":
		return Standard, nil
	case Strict, Standard, Paranoid:
		return p, nil
	}
	return "", fmt.Errorf("%q is not a profile: write strict, standard or paranoid", s)
}
