package e2e

import (
	"bytes"
	"fmt"
	"os"
)

// zombie reports a process that has ended and that nobody has waited for: in a container whose first process reaps
// nobody, orphans stay like that for ever.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return os.IsNotExist(err)
	}
	_, after, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')'):], []byte(" "))
	return len(after) > 0 && (after[0] == 'Z' || after[0] == 'X')
}
