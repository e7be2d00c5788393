package jsonrpc

// ValueKind is the JSON type of a Value.
type ValueKind uint8

// The JSON types. The zero ValueKind is Null, so a missing Value reads as null.
const (
	Null ValueKind = iota
	Bool
	Number
	String
	Array
	Object
)

// Value is one decoded JSON value. Numbers keep their spelling (2^53+1 and 1e400 survive); nothing is a float.
type Value struct {
	Kind    ValueKind
	Raw     []byte   // the value's own bytes in the frame
	Text    string   // String: the decoded text. Number, Bool: the spelling in the frame
	Elems   []Value  // Array
	Members []Member // Object, in frame order
}

// Member is one name and value of an Object.
type Member struct {
	Name    string
	NameRaw []byte // the name's own bytes in the frame, with its quotes
	Value   Value
}

// Get returns the first member called exactly name. A Value of Decode has one at most; in one of DecodeLenient others
// may follow, so whoever looks for taint walks Members.
func (v Value) Get(name string) (Value, bool) {
	for _, m := range v.Members {
		if m.Name == name {
			return m.Value, true
		}
	}
	return Value{}, false
}
