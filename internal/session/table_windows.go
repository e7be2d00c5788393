package session

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Processes is the system's process table.
var Processes Table = snapTable{}

type snapTable struct{}

const stillActive = 259

// Process looks one process up in a snapshot of them all: nothing else says who its parent is.
func (snapTable) Process(pid int) (Process, error) {
	if pid <= 0 {
		return Process{}, errNoProcess
	}
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return Process{}, err
	}
	defer windows.CloseHandle(snap)
	e := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snap, &e); err == nil && int(e.ProcessID) != pid; {
		err = windows.Process32Next(snap, &e)
	}
	if errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return Process{}, errNoProcess
	}
	if err != nil {
		return Process{}, err
	}
	name := windows.UTF16ToString(e.ExeFile[:])
	p := Process{PID: pid, Parent: int(e.ParentProcessID), Name: name, Title: name}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return Process{}, err
	}
	defer windows.CloseHandle(h)
	var code uint32
	if windows.GetExitCodeProcess(h, &code) == nil && code != stillActive {
		return Process{}, errNoProcess
	}
	var start, exit, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &start, &exit, &kernel, &user); err != nil {
		return Process{}, err
	}
	p.Start = uint64(start.HighDateTime)<<32 | uint64(start.LowDateTime)
	p.Args = commandLine(h)
	return p, nil
}

// commandLine returns the arguments of a process, or nothing where they cannot be read.
func commandLine(h windows.Handle) []string {
	buf := make([]uint64, 9<<10) // aligned, and more than the longest command line
	size := uint32(len(buf) * 8)
	if windows.NtQueryInformationProcess(h, windows.ProcessCommandLineInformation, unsafe.Pointer(&buf[0]), size, &size) != nil {
		return nil
	}
	args, err := windows.DecomposeCommandLine((*windows.NTUnicodeString)(unsafe.Pointer(&buf[0])).String())
	if err != nil {
		return nil
	}
	return args
}

// Realm is one for the machine: starts are times, which no boot repeats.
func (snapTable) Realm() string { return "windows/" }
