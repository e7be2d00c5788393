#!/usr/bin/env bash
# Bouncer in a session with other, idle processes, for `go run ./bench -against`. The name says how many: a link called peers4 to
# this file starts four. BOUNCER is the binary; peers0 has --session memory, which is what sharing is compared with.
#   for n in 0 1 4; do ln -sf "$PWD/bench/peers.sh" "/tmp/peers$n"; done
#   BOUNCER=$PWD/bin/bouncer go run ./bench -rounds 9 -sizes 100,10240 -conc 1 -bouncer bin/bouncer \
#     -against memory=/tmp/peers0,one=/tmp/peers1,four=/tmp/peers4 -only bouncer,memory,one,four,c-relay
set -u
n=${0##*peers}
if [ "$n" = 0 ]; then
	exec "$BOUNCER" run --session memory "${@:2}"
fi
for i in $(seq "$n"); do
	# A peer's input ends with this process, which becomes Bouncer below.
	(tail --pid=$$ -f /dev/null | "$BOUNCER" run --name "peer$i" -- cat) </dev/null >/dev/null 2>&1 &
	disown
done
exec "$BOUNCER" "$@"
