// Package demo is `bouncer demo`: a poisoned inbox, an agent that believes what it reads, and a real Bouncer process
// between the two. It needs no network, no key and no other program, and takes a few seconds.
//
//   - inbox.go, mailserver.go: the mail server, an MCP server like any other. It runs as a process of its own.
//   - policy.yaml: the policy, as a user would write it.
//   - story.go: what the agent tries, and what must become of it. Start reading here.
//   - play.go, check.go: does each step, and compares what happened with the story.
//   - bench.go, person.go: the real thing that the story is played on.
//   - show.go: what is printed.
//
// It must not decide anything, and must not ask the code that decides what to expect: expectations are written out in
// story.go, verdicts are read from what the client got and from the audit log, and what was sent from the mail
// server's own outbox. A demo that could only succeed would show nothing.
package demo
