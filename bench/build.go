package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed c/*.c
var sources embed.FS

// nullServer is the name of the server's program; its memory is left out of every program's.
const nullServer = "nullsrv"

// program is one thing that is measured.
type program struct {
	label  string
	argv   []string
	env    []string
	home   string // of Bouncer; "" where there is none
	reads  bool   // call the tool that only reads
	stderr *os.File

	patience time.Duration // instead of the usual one, when not 0
}

// The labels that ratios are computed against.
const (
	yardstick   = "c-relay"
	goYardstick = "go-relay"
)

// policyText declares the tool as one that sends, so that every call goes through the whole decision, and trusts the
// one recipient.
const policyText = "# The benchmark's policy: every call is an outgoing one, to a recipient that the user trusts.\n" +
	sendTool + ":\n  exfiltrating: true\n  sink_params: [to]\n  trusted_destinations: [" + recipient + "]\n"

// build makes every program in dir. bouncer and server name binaries to use instead of building them; "" builds.
// others are further builds of Bouncer, "LABEL=BINARY", to compare it with.
func build(dir, bouncer, server string, others []string) ([]program, error) {
	relay := filepath.Join(dir, "relay")
	if err := compile(dir, "relay", relay); err != nil {
		return nil, err
	}
	if server == "" {
		server = filepath.Join(dir, nullServer)
		if err := compile(dir, nullServer, server); err != nil {
			return nil, err
		}
	}
	goRelay, sdk := filepath.Join(dir, "gorelay"), filepath.Join(dir, "sdkproxy")
	targets := [][2]string{{goRelay, "bench/gorelay"}, {sdk, "bench/sdkproxy"}}
	if bouncer == "" {
		bouncer = filepath.Join(dir, "bouncer")
		targets = append(targets, [2]string{bouncer, "cmd/bouncer"})
	}
	for _, t := range targets {
		if err := goBuild(t[0], "github.com/mcp-bouncer/bouncer/"+t[1]); err != nil {
			return nil, err
		}
	}
	policy := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte(policyText), 0o600); err != nil {
		return nil, err
	}
	run := func(label, binary string, flags ...string) program {
		argv := append([]string{binary, "run", "--name", "null"}, flags...)
		home := filepath.Join(dir, "home-"+label)
		return program{label: label, argv: append(argv, "--", server), env: []string{"BOUNCER_HOME=" + home}, home: home}
	}
	noRule := run("bouncer-no-rule", bouncer)
	noRule.reads = true
	programs := []program{
		{label: "direct", argv: []string{server}},
		{label: yardstick, argv: []string{relay, server}},
		{label: goYardstick, argv: []string{goRelay, server}},
		{label: "go-sdk", argv: []string{sdk, server}},
		run("bouncer", bouncer, "--policy", policy),
		noRule,
	}
	for _, other := range others {
		label, binary, ok := strings.Cut(other, "=")
		if !ok || label == "" || binary == "" {
			return nil, fmt.Errorf("%q is not LABEL=BINARY", other)
		}
		programs = append(programs, run(label, binary, "--policy", policy))
	}
	return programs, nil
}

// choose keeps the programs with one of the labels, all when there are none. The yardstick is always kept: without it
// there are no ratios.
func choose(all []program, labels []string) ([]program, error) {
	for _, label := range labels {
		if !slices.ContainsFunc(all, func(p program) bool { return p.label == label }) {
			return nil, fmt.Errorf("no program is called %q", label)
		}
	}
	if len(labels) == 0 {
		return all, nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(p program) bool {
		return p.label != yardstick && !slices.Contains(labels, p.label)
	}), nil
}

func compile(dir, name, to string) error {
	text, err := sources.ReadFile("c/" + name + ".c")
	if err != nil {
		return err
	}
	source := filepath.Join(dir, name+".c")
	if err := os.WriteFile(source, text, 0o600); err != nil {
		return err
	}
	cc, err := exec.LookPath("gcc")
	if err != nil {
		if cc, err = exec.LookPath("cc"); err != nil {
			return errors.New("the null server and the C relay need a C compiler, gcc or cc")
		}
	}
	return quietly(exec.Command(cc, "-O2", "-o", to, source, "-lpthread"))
}

func goBuild(to, pkg string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-o", to, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return quietly(cmd)
}

func quietly(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}
