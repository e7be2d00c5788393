//go:build !linux

package main

// resident is only known on Linux.
func resident(int, string) (kb int, ok bool) { return 0, false }
