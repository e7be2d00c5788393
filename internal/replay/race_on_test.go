//go:build race

package replay

const raceOn = true
