#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

# What "# weft ..." prints below it. A guest recorded the files (tests/guest/scenarios/tutorial.sh, demo.sh).
@test "README, weft-tutorial(7), weft-recipes(7): what they show is what weft prints" {
	need_command jq
	tests/sessions README.md man/weft-tutorial.7 man/weft-recipes.7
}

# The numbers that record printed in the guest are those of the file.
@test "README: the recording is as small as it says, and holds as many events" {
	need_command trace-cmd
	[[ "$(cat tests/fixtures/session/said)" == *"demo.dat: $(trace-cmd report tests/fixtures/session/demo.dat 2> /dev/null | grep -c '^ .*\[0') events in "* ]]
	[[ "$(cat tests/fixtures/session/said)" == *" in a file of $(stat -c %s tests/fixtures/session/demo.dat | awk '{ printf "%.1f KiB", $1 / 1024 }'), 0 lost"* ]]
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

# The scenario `recipes` runs the blocks of commands.
@test "weft-recipes(7): the programs in C and Python write their line into the trace" {
	need_tracefs
	need_command python3
	local instance=/sys/kernel/tracing/instances/weft-recipes-$$ name
	block() {
		awk -v name="$1" '$0 == ".\\\" example: " name { on = 1; next } /^\.EX/ { inside = on; next } /^\.EE/ { inside = on = 0 } inside' man/weft-recipes.7 |
			sed -e 's/\\-/-/g' -e 's/\\\\/\\/g' -e "s|/sys/kernel/tracing/|$instance/|"
	}
	mkdir "$instance"
	block python > "$BATS_TEST_TMPDIR/line.py"
	{ block c; echo 'int main(void) { stop_tracing(); }'; } > "$BATS_TEST_TMPDIR/line.c"
	gcc -Wall -Werror -o "$BATS_TEST_TMPDIR/line" "$BATS_TEST_TMPDIR/line.c"
	python3 "$BATS_TEST_TMPDIR/line.py"
	"$BATS_TEST_TMPDIR/line"
	grep -c 'tracing_mark_write: too slow$' "$instance/trace" > "$BATS_TEST_TMPDIR/count" || true
	rmdir "$instance"
	[ "$(cat "$BATS_TEST_TMPDIR/count")" = 2 ]
}

@test "README, man: each command line that they show in a block is run by a test" {
	local page left=0
	tests/man-commands | cut -f 2 > "$BATS_TEST_TMPDIR/run"
	for page in man/*.in man/*.5 man/*.7; do
		# Blocks with a mark, "example" or "file", are run by the tests that look for it; below "# COMMAND" is what it prints.
		awk '/^\.\\" (example|file): / { known = 1 } /^\.(nf|EX)/ { on = 1; next } /^\.(fi|EE)/ { on = known = 0 } on && /^# weft/ { known = 1 }
			on && !known && !/^\.|^# /' "$page" > "$BATS_TEST_TMPDIR/shown"
		while read -r line; do
			grep -qF -- "$line" "$BATS_TEST_TMPDIR/run" || { echo "$page: $line"; left=1; }
		done < <(sed -e 's/\\f[BIRP]//g' -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\(dq/"/g' -e 's/\\e/\\/g' -e 's/^\\&//' "$BATS_TEST_TMPDIR/shown" | tr '\t' ' ' | grep -E '^ *weft [a-z]')
	done
	# The blocks of README.md have "# weft" (tests/sessions) or "$ weft" (flight-readme.bats, dump.bats).
	[ "$(awk '/^```/ { on = !on } (on || /^    /) && /^ *weft [a-z]/' README.md)" = "" ]
	[ "$(grep -c '^    \$ weft ' README.md)" = 2 ]
	[ $left = 0 ]
}
