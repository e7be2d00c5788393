// Package e2e tests Bouncer as its users meet it: the built binary, real MCP servers from npm, messages as raw lines on
// a pipe. Its helpers read what comes back with encoding/json, on purpose not with Bouncer's own reader: a fault that
// both shared would go unseen.
//
// The tests with real servers run when BOUNCER_E2E is 1 (what is not installed is skipped) or "required" (what is not
// installed is a failure, as `make test` has it; so it is with CI=true). Without it, only the helpers are tested.
//
// Nothing here may import the packages of Bouncer, touch the real home of the person who runs the tests, or be imported.
package e2e
