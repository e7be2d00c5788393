//go:build !race

package mandate

const raceOn = false
