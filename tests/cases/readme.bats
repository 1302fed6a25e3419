#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

# Each "# weft ... demo.dat" of README and the lines below it, but for record, which made the file.
@test "README: what it shows of demo.dat is what weft prints" {
	local command shown=0
	while IFS= read -r command; do
		awk -v command="# $command" '$0 == command { on = 1; next } /^```$|^# weft / { on = 0 } on' README.md > "$BATS_TEST_TMPDIR/shown"
		(cd tests/fixtures && bash -c "$command") > "$BATS_TEST_TMPDIR/printed"
		diff "$BATS_TEST_TMPDIR/shown" "$BATS_TEST_TMPDIR/printed"
		shown=$((shown + 1))
	done < <(sed -n 's/^# \(weft .*demo\.dat.*\)/\1/p' README.md | grep -v '^weft record')
	[ "$shown" -ge 5 ]
}
