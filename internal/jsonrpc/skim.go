package jsonrpc

// skim reads the top level of a frame that is refused or too large to keep, to find whom to tell. It is fed bytes as
// they come and holds none of them but the few that it looks for; the id may stand behind a gigabyte of result (B02).
// It knows brackets and strings, and does not mind what is wrong inside them; where the top level itself is malformed
// it stops and knows what it has read until then. The zero skim is ready.
type skim struct {
	state   skimState
	depth   int
	kinds   [(MaxDepth + 63) / 64]uint64 // a bit per open bracket: 1 is an object
	escape  bool                         // in a string: the next byte is escaped
	member  int                          // slot of the member being read
	token   []byte                       // name, id or method, as far as it is worth keeping
	keep    int                          // how much of the token to keep
	idRaw   []byte
	ids     int
	method  []byte
	answers bool // result or error is there
	calls   bool // method is there
	doubt   bool // another frame follows on the same line
}

type skimState uint8

const (
	skimStart skimState = iota
	skimFirst           // after {
	skimName            // after a comma
	skimInName
	skimColon
	skimValue
	skimString // a string that is a member's value
	skimScalar // a number or literal that is a member's value
	skimNested // inside a list or object
	skimInner  // inside a string in there
	skimAfter  // after a value
	skimDone
	skimLost
)

const (
	keepName   = 6 * len("jsonrpc") // every character spelled \uXXXX
	keepMethod = 256
)

// feed reads the next bytes of the frame.
func (k *skim) feed(b []byte) {
	for i := 0; i < len(b) && k.state != skimLost; {
		switch k.state {
		case skimInName, skimString, skimInner:
			i = k.inString(b, i)
		case skimNested:
			i = k.nested(b, i)
		case skimScalar:
			i = k.scalar(b, i)
		default:
			k.step(b[i])
			i++
		}
	}
}

// step reads a byte between the tokens of the top level.
func (k *skim) step(c byte) {
	if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
		return
	}
	switch {
	case k.state == skimStart && (c == 0xEF || c == 0xBB || c == 0xBF): // a byte order mark
	case k.state == skimStart && c == '{':
		k.state = skimFirst
	case (k.state == skimFirst || k.state == skimName) && c == '"':
		k.begin(skimInName, keepName)
	case (k.state == skimFirst || k.state == skimAfter) && c == '}':
		k.state = skimDone
	case k.state == skimColon && c == ':':
		k.state = skimValue
	case k.state == skimAfter && c == ',':
		k.state = skimName
	case k.state == skimValue:
		k.value(c)
	case k.state == skimDone:
		k.doubt = k.doubt || c == '{' || c == '['
	default:
		k.state = skimLost
	}
}

func (k *skim) begin(state skimState, keep int) {
	k.state, k.keep, k.token, k.escape = state, keep, k.token[:0], false
}

func (k *skim) save(b []byte) {
	if room := k.keep + 1 - len(k.token); room > 0 {
		k.token = append(k.token, b[:min(room, len(b))]...)
	}
}

// value starts a member's value by its first byte.
func (k *skim) value(c byte) {
	keep := 0
	switch k.member {
	case slotID:
		keep = MaxID
	case slotMethod:
		keep = keepMethod
		k.calls = true
	case slotResult, slotError:
		k.answers = true // from its first byte on: the rest may be what is wrong with the frame
	}
	switch c {
	case '"':
		k.begin(skimString, keep)
		k.save([]byte{c})
	case '{', '[':
		k.begin(skimNested, 0)
		k.open(c)
	case '}', ']', ',', ':':
		k.state = skimLost
	default:
		k.begin(skimScalar, keep)
		k.save([]byte{c})
	}
}

// inString reads on in a string and returns where it stopped.
func (k *skim) inString(b []byte, i int) int {
	if k.escape {
		k.save(b[i : i+1])
		k.escape = false
		return i + 1
	}
	n := special(b, i)
	k.save(b[i:n])
	if n == len(b) {
		return n
	}
	if b[n] != '"' || k.state == skimString { // a value is kept with its quotes, a name without
		k.save(b[n : n+1])
	}
	switch {
	case b[n] == '\\':
		k.escape = true
	case b[n] != '"':
	case k.state == skimInName:
		k.member = memberSlot(k.token)
		k.state = skimColon
	case k.state == skimInner:
		k.state = skimNested
	default:
		k.end()
	}
	return n + 1
}

func (k *skim) nested(b []byte, i int) int {
	for ; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			k.begin(skimInner, 0)
			k.keep = -1
			return i + 1
		case '{', '[':
			if k.open(c); k.state == skimLost {
				return i + 1
			}
		case '}', ']':
			if k.close(c); k.state != skimNested {
				return i + 1
			}
		}
	}
	return i
}

func (k *skim) open(c byte) {
	if k.depth+1 >= MaxDepth { // the frame itself is one
		k.state = skimLost
		return
	}
	bit := uint64(1) << (k.depth % 64)
	k.kinds[k.depth/64] &^= bit
	if c == '{' {
		k.kinds[k.depth/64] |= bit
	}
	k.depth++
}

func (k *skim) close(c byte) {
	k.depth--
	if isObject := k.kinds[k.depth/64]>>(k.depth%64)&1 == 1; isObject != (c == '}') {
		k.state = skimLost
		return
	}
	if k.depth == 0 {
		k.end()
	}
}

func (k *skim) scalar(b []byte, i int) int {
	for n := i; n < len(b); n++ {
		switch b[n] {
		case ',', '}', ' ', '\t', '\r', '\n':
			k.save(b[i:n])
			k.end()
			return n
		}
	}
	k.save(b[i:])
	return len(b)
}

// end takes note of a member whose value is over.
func (k *skim) end() {
	switch k.member {
	case slotID:
		k.ids++
		k.idRaw = append(k.idRaw[:0], k.token...)
	case slotMethod:
		k.method = append(k.method[:0], k.token...)
	}
	k.state = skimAfter
}

// memberSlot returns the envelope member that a raw name is, escapes undone.
func memberSlot(raw []byte) int {
	if len(raw) > keepName {
		return noSlot
	}
	t, _ := unquote(nil, raw)
	for i, n := range envelopeNames {
		if string(t) == string(n) {
			return slotVersion + i
		}
	}
	return noSlot
}

// id returns the frame's id when there was exactly one and it is valid, else the zero ID.
func (k *skim) id() ID {
	if k.ids != 1 || k.doubt {
		return ID{}
	}
	id, _ := ParseID(k.idRaw)
	return id
}

// methodName returns the frame's method, or "" where there is none or it is longer than any method has reason to be.
func (k *skim) methodName() string {
	if len(k.method) > keepMethod {
		return ""
	}
	s := newScanner(k.method, false, 0, false)
	defer s.free()
	if !s.whole(plain, nil) {
		return ""
	}
	m, _ := text(k.method)
	return m
}

func (k *skim) isResponse() bool { return k.answers && !k.calls }
