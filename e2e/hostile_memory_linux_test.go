package e2e

import (
	"fmt"
	"os"
	"strings"
)

// peakMemory is the most memory that a process had, in bytes.
func peakMemory(pid int) (int64, bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	_, err = fmt.Sscanf(after, "%d kB", &kib)
	return kib << 10, err == nil
}
