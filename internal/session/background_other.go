//go:build !linux

package session

// inBackground has no effect where threads have no priority of their own.
func inBackground() {}
