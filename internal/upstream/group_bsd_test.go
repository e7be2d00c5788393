//go:build unix && !linux

package upstream

const hasParentDeathSignal = false
