//go:build !race

package gate

const raceOn = false
