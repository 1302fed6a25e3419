#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft-recipes(7): the lines of its programs do what the page says, here to a file in the place of trace_marker; the
# scenarios `recipes` and `guides` of tests/guest run its commands on a kernel.
load lib

# block NAME: prints the block of the page with this mark, with another file in the place of trace_marker
block()
{
	awk -v name="$1" '$0 == ".\\\" example: " name { on = 1; next } /^\.EX/ { inside = on; next }
		/^\.EE/ { inside = on = 0 } inside' man/weft-recipes.7 |
		sed "s/\\\\-/-/g; s/\\\\(aq/'/g; s/\\\\\\\\/\\\\/g; s,/sys/kernel/tracing/trace_marker,$BATS_TEST_TMPDIR/marker,"
}

setup() { : > "$BATS_TEST_TMPDIR/marker"; }

@test "weft-recipes(7): the shell's line writes to the marker" {
	block shell | sh
	[ "$(cat "$BATS_TEST_TMPDIR/marker")" = "too slow" ]
}

@test "weft-recipes(7): Python's lines write to the marker" {
	need_command python3
	block python > "$BATS_TEST_TMPDIR/p.py"
	python3 "$BATS_TEST_TMPDIR/p.py"
	[ "$(cat "$BATS_TEST_TMPDIR/marker")" = "too slow" ]
}

@test "weft-recipes(7): C's lines compile without a warning and write to the marker" {
	need_command cc
	{ block c; echo 'int main(void) { stop_tracing(); return 0; }'; } > "$BATS_TEST_TMPDIR/c.c"
	cc -Wall -Wextra -Werror -o "$BATS_TEST_TMPDIR/c" "$BATS_TEST_TMPDIR/c.c"
	"$BATS_TEST_TMPDIR/c"
	[ "$(cat "$BATS_TEST_TMPDIR/marker")" = "too slow" ]
}

@test "weft-recipes(7): the options of its commands exist" {
	local name
	for name in start extract snapshot flight dump warning free add; do
		block "$name" | grep '^weft' > "$BATS_TEST_TMPDIR/lines"
		[ -s "$BATS_TEST_TMPDIR/lines" ]
	done
}

@test "weft-recipes(7): a recording becomes files for a browser, and one of perf becomes a recording" {
	cd "$BATS_TEST_TMPDIR"
	cp "$BATS_TEST_DIRNAME/../fixtures/session/slow.dat" slow.dat
	(cd "$OLDPWD" && block browser) | sh -e
	[ -s slow.pftrace ]
	grep -q '<html' slow.html
	weft export --to perf -o perf.data slow.dat
	(cd "$OLDPWD" && block perf) | sh -e > out
	grep -qE '^events +450$' out
}
