#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What README.md shows of weft flight, "    $ weft ...", is what it prints here, but for numbers, names of files and flags.
load lib
load flight

# shape: standard input without what differs from run to run
shape()
{
	sed -E -e 's|/[^ :]*\.dat|FILE|' -e 's|in /[^ ]*$|in DIR|' -e 's/\[[0-9]+\] [^ ]+/[CPU]/' -e 's/[0-9][0-9,.]*/N/g' -e 's/N (B|KiB|MiB|us|ms|s)\b/N UNIT/g' -e 's/\b(trigger|file)s?\b/\1s/g' -e 's/ +/ /g'
}

# shown COMMAND: what README.md has below the command
shown()
{
	awk -v command="    \$ $1" '$0 == command { on = 1; next } on && !/^    / { exit } on { print substr($0, 5) }' "$BATS_TEST_DIRNAME/../../README.md"
}

@test "flight: what README shows of a flight is what it prints" {
	start="weft flight start --for sched --when 'signal:SEGV' -o /var/tmp"
	shown "$start" | shape > start.shown
	[ "$(wc -l < start.shown)" = 3 ]
	cp "$(command -v bash)" parser
	eval "exec ${start%% -o *} -o '$PWD' --name $NAME" 2> log &
	PID=$!
	until grep -qs 'has begun' log; do kill -0 $PID; sleep 0.02; done
	run ./parser -c 'kill -SEGV $$'
	until grep -qs 'written in' log; do kill -0 $PID; sleep 0.02; done
	# It may also tell what was unusual before, and another program may have died meanwhile.
	grep -v -e ': unusual: ' log | sed "s/[^ ]*-\([0-9]* *\[.*\) comm=[^ ]* /parser-\1 comm=parser /" | shape | awk '!seen[$0]++' | head -n 3 | diff start.shown -
	land
	[ "$landed" -eq 0 ]
}
