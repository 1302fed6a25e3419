#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only

load lib
load screens

setup()
{
	need_shared bench/sched-syscalls.dat
	FILE=$BATS_TEST_TMPDIR/sched.dat
	ln -s "$SHARED/bench/sched-syscalls.dat" "$FILE"
}

teardown()
{
	screen_end
}

# timeline WIDTH HEIGHT [OPTION...]: the time line of the whole file, when it has been read.
timeline()
{
	local width=$1 height=$2
	shift 2
	screen_start "$width" "$height" "$WEFT" view "$@" "$FILE"
	screen_await "1 events"
	screen_keys 2
	screen_await "a column is"
	screen_await_not "~"
}

# to_row NAME: moves down to the row that begins with this name, which the screen shows.
to_row()
{
	local steps
	steps=$(screen_show | sed '1,3d; s/^.//' | awk -v name="$1" 'index($0, name) == 1 { print NR - 1; exit }')
	for _ in $(seq "$steps"); do screen_keys j; done
	screen_await ">$1"
}

@test "view: the time line has a row for each CPU and each task, the busiest task first" {
	timeline 120 34
	screen_show | grep '^[> ][a-zA-Z]' > "$BATS_TEST_TMPDIR/rows"
	grep -q '^>events' "$BATS_TEST_TMPDIR/rows"
	grep -q '^ CPU 0 ' "$BATS_TEST_TMPDIR/rows"
	weft sched "$FILE" 2> /dev/null | awk 'NR > 2 && NF { print $1 "-" $2 } !NF { exit }' | head -n 8 > "$BATS_TEST_TMPDIR/sched"
	sed 's/^.//; s/ .*//' "$BATS_TEST_TMPDIR/rows" | grep -- '-[0-9]*$' | head -n 8 | diff "$BATS_TEST_TMPDIR/sched" -
}

@test "view: W goes to the longest wait of a task, as weft sched has it" {
	max=$(weft sched --format json "$FILE" 2> /dev/null | jq -r '.tasks[] | select(.comm == "rcu_preempt") | .delay_max_ns')
	timeline 120 34
	to_row rcu_preempt
	screen_keys W + + + + + + + +
	screen_await "waiting for a CPU"
	screen_await "longest wait 63.0 ms"
	[ "$((max / 100000))" = 630 ] || [ "$((max / 100000))" = 629 ]
	# Enter shows the event at which the wait began.
	screen_keys Enter
	screen_await "[1 events]"
	screen_show | grep -q 'sched_waking: comm=rcu_preempt'
}

@test "view: the time line comes as close as 1 ns, and goes back to the whole" {
	timeline 100 30
	screen_keys l l l l l l l l l l
	for _ in $(seq 31); do screen_keys +; done
	screen_await "a column is 1 ns"
	screen_await_not "~"
	screen_keys 0
	screen_await "a column is 536.9 ms"
}

@test "view: the command line that c copies prints what the row shows" {
	timeline 160 30
	to_row 'CPU 1'
	screen_keys c
	screen_await "weft sched --cpu 1 --since"
	command=$(screen_show | grep -o 'weft sched --cpu 1 .*dat')
	run -0 --separate-stderr sh -c "PATH=$(dirname "$WEFT"):\$PATH; cd $BATS_TEST_TMPDIR && $command"
	[[ "$output" == *"# CPUs"* ]]
}

@test "view: the time line in a small terminal, with ASCII only, and without colours" {
	timeline 40 12 --ascii --color=never
	screen_show | grep -q '^ CPU 1 *!#*'
	! screen_show | LC_ALL=C grep -q '[^ -~]'
	! screen_show -e | grep -q $'\033\[3[1-7]m'
}
