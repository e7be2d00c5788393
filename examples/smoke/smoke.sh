#!/usr/bin/env bash
# The smoke test that a person would do by hand: a client config with the reference filesystem server, a policy, init,
# a scripted client, the log, and everything put back. `make smoke` runs it; it needs Go and Node with npm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() { echo; echo "\$ $*"; "$@"; }

bash e2e/install
mkdir -p "$work/out" "$work/bin"
CGO_ENABLED=0 go build -trimpath -o "$work/bin/" ./cmd/bouncer ./examples/smoke
export BOUNCER_HOME=$work/home PATH=$work/bin:$PATH
mkdir -m 700 "$BOUNCER_HOME"

cat >"$work/mcp-config.json" <<JSON
{
  "mcpServers": {
    "filesystem": {
      "command": "node",
      "args": ["$root/e2e/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", "$work"]
    }
  }
}
JSON
# The user's own policy. In the Bouncer home it holds for every server that is started without --policy.
cat >"$BOUNCER_HOME/policy.yaml" <<YAML
write_file:
  write_params: [path]
  allowed_path_prefixes: ["$work/out"]
  max_calls: 2
YAML
cp "$work/mcp-config.json" "$work/before.json"

run bouncer policy check "$BOUNCER_HOME/policy.yaml"
run bouncer init --config "$work/mcp-config.json" --yes
run bouncer init --config "$work/mcp-config.json" --yes
run smoke "$work/mcp-config.json" filesystem "$work"
run ls "$work/out"
run bouncer audit tail
run bouncer audit tail -n 1 --json
run bouncer init --config "$work/mcp-config.json" --undo --yes
run cmp "$work/mcp-config.json" "$work/before.json"
echo
echo "smoke: passed; the config is as it was, byte for byte"
