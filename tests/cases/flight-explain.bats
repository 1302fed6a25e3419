#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft flight explain. Who is to blame is judged in the guests (flight-explain), the figures by the unit tests (unusual).
load lib

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
}

teardown()
{
	[ -z "${PID:-}" ] || { kill "$PID" && wait "$PID"; } 2> /dev/null || true
}

@test "explain: the command line is checked" {
	run -2 weft flight explain
	[[ "$output" == *"explain what? Give a file that a flight has written"* ]]
	run -2 weft flight dump --brief
	[[ "$output" == *"only 'weft flight explain' takes --brief"* ]]
	run -2 weft flight dump --before 1s
	[[ "$output" == *"only start and explain take --before"* ]]
	run -2 weft flight explain a b
	run -2 weft flight explain a --format xml
}

@test "explain: a file that no flight wrote is refused" {
	run -1 weft flight explain "$BATS_TEST_DIRNAME/../fixtures/demo.dat"
	[[ "$output" == *"demo.dat': it is no file of weft flight: it has no trigger" ]]
}

@test "explain: it tells the trigger, and the same moment is that of --around trigger" {
	need_tracefs
	need_command jq
	weft flight start --name "t-$$" -e sched --keep 2s --after 50ms 2> log &
	PID=$!
	until grep -qs 'has begun' log; do kill -0 $PID; sleep 0.02; done
	file=$(weft flight dump --name "t-$$" --reason 'the button hung')
	kill -TERM $PID
	wait $PID
	PID=
	run -0 weft flight explain "$file"
	[ "${lines[0]}" = "# the trigger" ]
	[ "${lines[1]}" = "name    dump" ]
	[ "${lines[3]}" = "reason  the button hung" ]
	at=$(jq -r .time "${file%.dat}.json")
	awk -v told="${lines[2]#time    }" -v at="$at" 'BEGIN { exit !(told - at < 1e-6 && at - told < 1e-6) }'
	[ "$(weft flight explain --format json "$file" | jq -r '.trigger[2].value')" = 'the button hung' ]
	# Why there is a file comes first in what is told of it, also where something else stands out.
	run -0 weft brief "$file"
	tr -s '\n ' '  ' <<< "$output" | grep -q '^weft brief [^ ]*: weft flight saved it for the trigger dump the button hung see: weft flight explain '
	# On a narrow terminal no word of it is cut.
	SHELL=$BASH script -qec "stty cols 20; PAGER=cat $WEFT flight explain $file" /dev/null < /dev/null | tr -d '\r' | head -n 5 | tail -n 2 > narrow
	[ "$(cat narrow)" = $'reason  the button\n        hung' ]
	last=$(weft report -t "$file" --around trigger --before 2s 2> /dev/null | tail -n 1 | grep -oE ' [0-9]+\.[0-9]{9}')
	awk -v last="$last" -v at="$at" 'BEGIN { exit !(last <= at + 1e-6 && last > at - 2) }'
	weft report "$file" --around trigger --before 0 --after 1s | grep -q 'tracing_mark_write: weft: trigger dump'
}
