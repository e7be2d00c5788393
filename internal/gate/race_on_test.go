//go:build race

package gate

const raceOn = true
