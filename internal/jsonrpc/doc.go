// Package jsonrpc reads MCP's newline-delimited JSON-RPC frames in the only way that is safe for a firewall: a frame
// has exactly one reading, or it is refused. What was judged is what is forwarded, so nothing here re-encodes: a
// Message carries spans of the frame's own bytes.
//
// It must not know what a method means beyond the names of the envelope; it does no I/O but through the io.Reader it
// is given.
package jsonrpc
