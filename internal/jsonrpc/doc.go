// Package jsonrpc reads MCP's newline-delimited JSON-RPC frames in the only way that is safe for a firewall: a frame
// has exactly one reading, or it is refused. What was judged is what is forwarded, so nothing here re-encodes: a
// Message carries spans of the frame's own bytes.
//
// There is one grammar (scanner.value). Parse, SplitBatch and Decode all go through it, so they cannot disagree about
// what a frame says; only skim, which recovers the id of a frame that was refused already, reads by looser rules.
//
// It must not know what a method means beyond the names of the envelope and of a tool call's params; it does no I/O
// but through the io.Reader it is given.
package jsonrpc
