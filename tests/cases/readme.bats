#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

# For each "# weft ... demo.dat" (or slow.dat) of README, the lines below it. record made the files in a guest
# (tests/guest/scenarios/demo.sh), and its messages are beside them.
@test "README: what it shows of demo.dat and slow.dat is what weft prints" {
	local command shown=0
	while IFS= read -r command; do
		awk -v command="# $command" '$0 == command { on = 1; next } /^```$|^# weft / { on = 0 } on' README.md > "$BATS_TEST_TMPDIR/shown"
		(cd tests/fixtures/session && if [[ $command == *"weft record "*slow.dat* ]]; then cat slow.out; elif [[ $command == "weft record "* ]]; then cat demo.out; else bash -c "$command"; fi) > "$BATS_TEST_TMPDIR/printed"
		diff "$BATS_TEST_TMPDIR/shown" "$BATS_TEST_TMPDIR/printed"
		shown=$((shown + 1))
	done < <(sed -n 's/^# \(weft .*\(demo\|slow\)\.dat.*\)/\1/p' README.md)
	[ "$shown" -ge 10 ]
}

# The numbers that record printed in the guest are those of the file.
@test "README: the recording is as small as it says, and holds as many events" {
	need_command trace-cmd
	[[ "$(cat tests/fixtures/session/demo.out)" == *"demo.dat: $(trace-cmd report tests/fixtures/session/demo.dat 2> /dev/null | grep -c '^ .*\[0') events in "* ]]
	[[ "$(cat tests/fixtures/session/demo.out)" == *" in a file of $(stat -c %s tests/fixtures/session/demo.dat | awk '{ printf "%.1f KiB", $1 / 1024 }'), 0 lost"* ]]
}

@test "README: its pictures are what tests/pictures/make makes, and small" {
	local picture shown=0
	while read -r picture; do
		[ -s "$picture" ]
		shown=$((shown + 1))
	done < <(grep -oE 'tests/pictures/[a-z]+\.[a-z]+' README.md)
	[ "$shown" = 5 ]
	[ "$(cat tests/pictures/*.png tests/pictures/*.svg | wc -c)" -le 200000 ]
	weft export -q --to flame -o - tests/fixtures/golden/6.12-event-stacktrace.dat | cmp - tests/pictures/flame.svg
	need_command script
	sed -nE 's/.*fill="#ddd">(.*)<\/text>/\1/p' tests/pictures/histogram.svg > "$BATS_TEST_TMPDIR/shown"
	LC_ALL=C.UTF-8 script -qec "stty cols 80; $WEFT hist -i tests/fixtures/golden/6.1-rt-events-sched.dat sched:sched_stat_runtime --keys runtime.log2" /dev/null |
		tr -d '\r' | diff "$BATS_TEST_TMPDIR/shown" -
}

@test "README: the picture of weft view is what a terminal shows" {
	need_shared bench/sched-syscalls.dat
	need_command tmux
	keys=$(sed -n 's/^\t\t4 G Enter \(.*\) > .*/4 G Enter \1/p' tests/pictures/make)
	[ -n "$keys" ]
	# shellcheck disable=SC2086
	NO_COLOR='' python3 tests/pictures/screen.py "$WEFT" "$SHARED/bench/sched-syscalls.dat" 116x22 'longest wait 63.0' $keys > "$BATS_TEST_TMPDIR/view.svg"
	cmp tests/pictures/view.svg "$BATS_TEST_TMPDIR/view.svg"
}
