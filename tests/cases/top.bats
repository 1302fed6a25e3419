#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Tables of this machine's own kernel, in an instance of weft's own.

load lib
load screens

setup()
{
	need_tracefs
	T=/sys/kernel/tracing
	cd "$BATS_TEST_TMPDIR" || exit 1
	# A task that is always there, with a name of its own.
	cp "$(command -v sleep)" napper
	(while :; do ./napper 0.01; done) 3>&- &
	NAPS=$!
}

teardown()
{
	screen_end
	[ -z "${NAPS:-}" ] || kill "$NAPS"
}

# The instances of the process that draws, whose number is in their names.
instances_of()
{
	find $T/instances -mindepth 1 -maxdepth 1 -name "*$1*"
}

# top WIDTH HEIGHT [OPTION...]: until the first interval is shown.
top()
{
	local width=$1 height=$2
	shift 2
	screen_start "$width" "$height" "$WEFT" top --every 300ms "$@"
	screen_await "sorted by"
}

# ended STATUS: the terminal is as before, and no instance is left.
ended()
{
	screen_await "STATUS $1"
	screen_await ENDED
	[ "$(tmux -L "$SCREENS" display -p '#{alternate_on}#{mouse_any_flag}')" = 00 ]
	diff stty.before stty.after
	[ -z "$(new_instances "$before")" ]
}

@test "top: without a terminal it says so, and the exit status is 2" {
	run -2 --separate-stderr weft top < /dev/null
	[ "$output" = "" ]
	[[ "$stderr" == *"weft top needs a terminal"*"weft stream --summary"* ]]
}

@test "top: -F and --user need a command, as for stream" {
	run -2 weft top -F
	[[ "$output" == *"-F needs a COMMAND"* ]]
	run -2 weft top --user nobody
	[[ "$output" == *"--user needs a COMMAND"* ]]
}

@test "top: tasks that run are shown, other tables and columns are a key away" {
	before=$(ls $T/instances)
	top 130 40
	screen_await "[1 tasks]"
	screen_await "weft takes"
	screen_keys /
	screen_keys -l napper
	screen_keys Enter
	screen_await "/napper"
	screen_await "napper  "
	! screen_show | sed '1,3d' | grep -v '^$' | grep -v napper
	screen_keys Escape
	screen_keys Tab
	screen_await "[2 cpus]"
	screen_show | sed -n 3p | grep -q '^CPU .* IDLE'
	screen_keys 1 '>'
	screen_await "sorted by wait"
	screen_keys q
	ended 0
}

@test "top: a pause keeps the tables" {
	before=$(ls $T/instances)
	top 100 20
	screen_keys Space
	screen_await "PAUSED"
	screen_show | sed 1d > paused
	cost=$(screen_show | sed -n 1p)
	# The cost is asked each second, so two intervals have gone by at least.
	for _ in $(seq 400); do
		[ "$(screen_show | sed -n 1p)" = "$cost" ] || break
		sleep 0.025
	done
	[ "$(screen_show | sed -n 1p)" != "$cost" ]
	screen_show | sed 1d | diff paused -
	screen_keys Space
	screen_await_not "PAUSED"
	screen_keys q
	ended 0
}

@test "top: a signal ends it, and nothing is left" {
	before=$(ls $T/instances)
	top 80 24 --for irq
	kill -TERM "$(pgrep -f "^$WEFT top --every 300ms --for irq" | head -n 1)"
	ended 143
}

@test "top: an event that is not there is refused before the terminal is taken" {
	before=$(ls $T/instances)
	screen_start 100 20 "$WEFT" top -e no_such_event
	screen_await "no_such_event"
	ended 125
}
