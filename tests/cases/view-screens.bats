#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Whole screens, at three sizes, beside those in tests/cases/screens: WEFT_SCREENS=write writes these anew.

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

# compare NAME: waits until the screen is the one that is kept under this name.
compare()
{
	local kept=$BATS_TEST_DIRNAME/screens/$1.txt
	if [ "${WEFT_SCREENS:-}" = write ]; then
		sleep 1
		screen_show | sed 's/ *$//' > "$kept"
		return
	fi
	for _ in $(seq 200); do
		screen_show | sed 's/ *$//' > "$BATS_TEST_TMPDIR/screen"
		! cmp -s "$kept" "$BATS_TEST_TMPDIR/screen" || return 0
		sleep 0.025
	done
	diff "$kept" "$BATS_TEST_TMPDIR/screen"
}

# each_size NAME TEXT KEY...: the screen after the keys, when it has the text, at three sizes
each_size()
{
	local name=$1 text=$2 size
	shift 2
	for size in 40x12 80x24 140x45; do
		screen_start "${size%x*}" "${size#*x}" "$WEFT" view "$FILE"
		screen_await "1 events"
		screen_keys "$@"
		screen_await "$text"
		compare "$name-$size"
		screen_end
	done
}

@test "view: the screens of the list of events, of its columns and of its help" {
	each_size events "35.876253" : 50% Enter
	each_size columns "storm-1-150  sys_e" : "columns time delta task event next_pid" Enter
	each_size help "Keys of the pane 'events'" '?'
}

@test "view: the screens of the calls" {
	each_size calls "- all calls" 3
}

@test "view: the screens of the tables" {
	each_size tables "tasks: how long each ran" 4
	each_size summary "3,010,019" 4 h
}

@test "view: the screens of the details" {
	each_size details "sys_enter_getppid" : "#6" Enter 5
}

@test "view: a long line of the details goes on in the next row, and is copied as one" {
	screen_start 40 12 "$WEFT" view "$FILE"
	screen_await "1 events"
	screen_keys : "#6" Enter 5
	screen_await "  task: 21.590494, 1.1 us before"
	screen_keys ' '
	screen_await "21.590495: sys_getppid -> 0x94"
	run ! grep -q '>$' <(screen_show | sed 1d)
	screen_keys y
	screen_await "copied:          storm-1-150     [001]"
}
