package jsonrpc

// Side says who wrote a frame. The client's frames are judged and forwarded, so they are held to the strictest
// reading; the server's are observed and relayed (see Parse).
type Side uint8

// The two writers of frames.
const (
	FromClient Side = iota
	FromServer
)

// Shape is what a frame is by its members, whatever its method is called.
type Shape uint8

// The shapes of JSON-RPC 2.0.
const (
	Request Shape = iota + 1
	Notification
	Response
)

// ID is a request id as it was spelled. The zero ID is "no id".
type ID struct{ raw string }

// Message is one frame that has been proven to have a single reading. Every []byte is a span of Raw.
type Message struct {
	Raw    []byte // the frame without its newline
	Shape  Shape
	ID     ID
	Method string // decoded; empty for a Response
	Params []byte // nil when absent
	Result []byte // nil when absent
	Error  []byte // nil when absent

	// Extra says that the frame has members beside those of JSON-RPC. They are in Raw.
	Extra bool

	call callSpans
}

// Error says why a frame was refused. It becomes the JSON-RPC error that the sender gets, when ID is known.
type Error struct {
	Code   int    // -32700 (not JSON), -32600 (not one request)
	Reason string // one clear clause: "duplicate name \"arguments\" at byte 61"
	ID     ID     // the frame's id when it could be read without doubt

	// Response says that the frame has a result or an error and no method: ID is then an id of the other side, and
	// the sender, who may have a call of its own with the same id in flight, must not be answered with it.
	Response bool

	// Batch says that the frame is a list and nothing else is known of it: see SplitBatch.
	Batch bool
}

// Error returns the reason.
func (e *Error) Error() string { return e.Reason }
