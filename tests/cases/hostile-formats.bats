#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Print fmts that no kernel writes: what weft cannot evaluate is printed as name=value, without delay.
load lib
load hostile

@test "report: a print fmt that weft cannot follow is printed as name=value, and told once" {
	tiny_tree "$BATS_TEST_TMPDIR/tree"
	tiny_event "$BATS_TEST_TMPDIR/tree" sys crash 2000 '"%d", REC->common_type[REC->x]'
	tiny_event "$BATS_TEST_TMPDIR/tree" sys reach 2001 '"%s", __print_hex(REC->x, REC->x>1?1000000000:1)'
	tiny_event "$BATS_TEST_TMPDIR/tree" sys odd 2002 '"%d", no_such_function(REC->x)'
	tiny_event "$BATS_TEST_TMPDIR/tree" sys whole 2003 '"x is %d", REC->x'
	tiny_pack "$BATS_TEST_TMPDIR/tree" "$BATS_TEST_TMPDIR/odd.dat"
	run --separate-stderr timeout 60 "$WEFT" report "$BATS_TEST_TMPDIR/odd.dat"
	[ "$status" = 0 ]
	[[ $output = *'crash:'*x=0x5* && $output = *'odd:'*x=0x5* && $output = *'whole: x is 5'* ]]
	[ "$(grep -c 'printed as name=value' <<< "$stderr")" = 1 ]
	[[ $stderr = *"weft: note: the fields of event 'sys:crash' are printed as name=value, and so are those of "* ]]
}

@test "report: 120 formats that no parser ends with take no time" {
	local i
	tiny_tree "$BATS_TEST_TMPDIR/tree"
	for i in {1..120}; do
		tiny_event "$BATS_TEST_TMPDIR/tree" sys "e$i" $((2000 + i)) '"%2000000000d %s", REC->x, __print_hex(REC->x, 1)'
	done
	tiny_pack "$BATS_TEST_TMPDIR/tree" "$BATS_TEST_TMPDIR/hang.dat"
	timeout 60 "$WEFT" report "$BATS_TEST_TMPDIR/hang.dat" > "$BATS_TEST_TMPDIR/text"
	[ "$(grep -c x=0x5 "$BATS_TEST_TMPDIR/text")" = 120 ]
}

@test "weft is not linked with libtraceevent: no stranger's print fmt reaches it" {
	need_command readelf
	readelf -d "$WEFT" > "$BATS_TEST_TMPDIR/needed"
	grep -q 'NEEDED.*libtracefs' "$BATS_TEST_TMPDIR/needed"
	run -1 grep 'NEEDED.*libtraceevent' "$BATS_TEST_TMPDIR/needed"
}

@test "the files that once crashed and hung report end at once" {
	need_shared hostile/fallback-crash.dat
	timeout 60 "$WEFT" report "$SHARED/hostile/fallback-crash.dat"
	timeout 60 "$WEFT" report "$SHARED/hostile/fallback-hang-6.dat"
}
