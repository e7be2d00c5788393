package destination

// Mention is a destination that stands in a text.
type Mention struct {
	Destination
	At, End int // where it stands, in bytes
}

// Mentions returns the links, addresses and account numbers that stand in a text, in their order.
func Mentions(text string) []Mention { return nil }
