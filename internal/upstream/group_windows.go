package upstream

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a Job Object that kills its members when its last handle closes. Bouncer holds the only one, so that the
// whole tree ends with Bouncer, also when the client kills Bouncer by force (B10).
//
// This file is compiled and vetted for Windows by the tests of other platforms, which cannot run it.
type group struct{ job windows.Handle }

// newGroup prepares cmd to start suspended: a server that ran before it was in the job could start children outside.
func newGroup(cmd *exec.Cmd) *group {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.CreationFlags |= windows.CREATE_SUSPENDED
	return &group{}
}

// adopt puts the suspended process into a new job and lets it run.
func (g *group) adopt(p *os.Process) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("create job object: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = assign(job, uint32(p.Pid))
	}
	if err == nil {
		err = resume(uint32(p.Pid))
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return fmt.Errorf("put the server into a job object: %w", err)
	}
	g.job = job // closed by the system when Bouncer ends
	return nil
}

func assign(job windows.Handle, pid uint32) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(process)
	return windows.AssignProcessToJobObject(job, process)
}

// resume starts the threads of a suspended process: one, unless a debugger or scanner added its own.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(snapshot)
	resumed := false
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(thread)
		_ = windows.CloseHandle(thread)
		if err != nil {
			return err
		}
		resumed = true
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return err
	}
	if !resumed {
		return errors.New("its first thread was not found")
	}
	return nil
}

// terminate reports false: there is no polite signal for a process without a console, so Stop goes on to kill.
func (g *group) terminate() bool { return false }

func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

// alive reports whether a member of the job still runs. An answer that cannot be had counts as yes: Stop then kills.
func (g *group) alive() bool {
	var info struct {
		userTime, kernelTime, periodUserTime, periodKernelTime        int64
		pageFaults, totalProcesses, activeProcesses, terminatedByJobs uint32
	}
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err != nil || info.activeProcesses > 0
}

// viaInterpreter prepares batch files (npx is npx.cmd), which nothing but cmd.exe can run. The system's own one is
// taken, never what an environment variable names.
func viaInterpreter(cmd *exec.Cmd) error {
	switch strings.ToLower(filepath.Ext(cmd.Path)) {
	case ".bat", ".cmd":
	default:
		return nil
	}
	line, err := batchCommandLine(cmd.Path, cmd.Args[1:])
	if err != nil {
		return err
	}
	system, err := windows.GetSystemDirectory()
	if err != nil {
		return fmt.Errorf("find cmd.exe: %w", err)
	}
	cmd.Path = filepath.Join(system, "cmd.exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: line}
	return nil
}
