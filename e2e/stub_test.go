package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// stubMode in the environment turns the test binary into a server that behaves, or misbehaves, in one way.
const stubMode = "BOUNCER_E2E_STUB"

// startStub starts this test binary as a stub, with limits short enough for a test to wait out.
func startStub(t *testing.T, mode string, l limits) *client {
	t.Helper()
	return startWithin(t, l, newSandbox(t).with(stubMode+"="+mode), os.Args[0])
}

func stub(mode string) {
	if script, ok := strings.CutPrefix(mode, scriptedMode); ok {
		scripted(script)
		return
	}
	switch mode {
	case "launch":
		launch(os.Args[1:])
	case "deaf": // neither reads nor ends
		time.Sleep(time.Hour)
	case "die":
		fmt.Fprintln(os.Stderr, "stub: dying")
		os.Exit(3)
	case "panic":
		panic("stub")
	case "leave", "leave-badly": // something it started outlives it
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), stubMode+"=deaf")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(9)
		}
		if mode == "leave-badly" {
			os.Exit(3)
		}
		os.Exit(0)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		stubAnswer(mode, lines.Text(), lines)
	}
	os.Exit(0)
}

func stubAnswer(mode, line string, lines *bufio.Scanner) {
	id := parseFrame(line).id
	answer := func(result string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result) }
	switch mode {
	case "mute":
	case "echo":
		answer(line)
	case "twice":
		answer("1")
		answer("2")
	case "noise":
		fmt.Println("listening on stdio")
		answer("{}")
	case "torn":
		answer("{}")
		fmt.Print(`{"jsonrpc":`)
	case "burst": // many answers, and the end right behind them
		for i := range 5000 {
			id = fmt.Sprint(i)
			answer(`"` + strings.Repeat("x", 100) + `"`)
		}
		os.Exit(0)
	case "ask": // a request of its own before the answer
		fmt.Println(`{"jsonrpc":"2.0","id":"s1","method":"elicitation/create","params":{"message":"sure?"}}`)
		lines.Scan()
		answer(lines.Text())
	case "place":
		dir, _ := os.Getwd()
		data, _ := json.Marshal(map[string]any{"dir": dir, "env": os.Environ()})
		answer(string(data))
	default:
		fmt.Fprintln(os.Stderr, "stub: no such mode", mode)
		os.Exit(9)
	}
}
