#!/bin/bash
# Measure the same binaries with a load driver, a null server and a byte relay that are not this repository's, where
# they stand beside it. Two tools that agree are believed more than one.
#
#     bash bench/shared.sh [ROUNDS]
#
# BOUNCER_SHARED_PERF names their directory; without it and without ../shared this does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=${BOUNCER_SHARED_PERF:-../shared/tools/perf}
rounds=${1:-5}
if [ ! -f "$tools/driver/main.go" ]; then
	echo "shared.sh: no driver in $tools, nothing measured" >&2
	[ "${BOUNCER_SHARED:-}" != required ]
	exit
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
gcc -O2 -w -o "$dir/nullsrv" "$tools/nullsrv.c"
gcc -O2 -w -o "$dir/theirs" "$tools/relay.c" -lpthread
(cd "$tools/driver" && go build -o "$dir/driver" .)
# bouncer-no-rule is left out: their server has no tool that only reads.
go run ./bench -print-commands -dir "$dir" -server "$dir/nullsrv" -only direct,go-relay,go-sdk,bouncer >"$dir/commands"
# The ratios are against their relay.
sed -i "s|^c-relay\t.*|c-relay\t$dir/theirs $dir/nullsrv|" "$dir/commands"

for round in $(seq "$rounds"); do
	echo "round $round of $rounds" >&2
	while IFS=$'\t' read -r label command; do
		# shellcheck disable=SC2086 # the words of a command line hold no blanks
		"$dir/driver" -label "$round:$label" -to team@partner.example -sizes 100,10240,1048576 -conc 1,64 \
			-calls 2000,800,60 -- $command >>"$dir/rows" </dev/null
	done < <(shuf "$dir/commands")
done
go run ./bench -from "$dir/rows" -markdown
