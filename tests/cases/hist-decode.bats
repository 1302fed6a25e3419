#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# hist --input --decode: what plugins know as keys and in filters, counted as in the text of report --decode.
load lib

file=tests/fixtures/demo.dat

@test "hist --decode: a key is what a plugin knows" {
	need_command jq
	weft report --decode -e sched_waking $file | sed -n 's/^.* {priority=\(.*\)}$/\1/p' | sort | uniq -c |
		awk '{ print $2, $1 }' > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	for key in priority decoded_priority; do
		weft hist -i $file --decode sched_waking --keys $key --format json 2> /dev/null |
			jq -r --arg key $key '.rows[] | select(.keys[$key] != "") | "\(.keys[$key]) \(.values.hitcount)"' | sort |
			diff "$BATS_TEST_TMPDIR/want" -
	done
	# The others count, too, as the empty text.
	[ "$(weft hist -i $file --decode sched_waking --keys priority --format json | jq '[.rows[].values.hitcount] | add')" -eq \
		"$(weft report -e sched_waking $file | grep -vc '^#')" ]
}

@test "hist --decode: a filter names what a plugin knows" {
	need_command jq
	[ "$(weft hist -i $file --decode sys_exit_newfstatat -f 'error == "ENOENT"' --keys ret --format json | jq '[.rows[].values.hitcount] | add')" -eq \
		"$(weft report --decode -e sys_exit_newfstatat $file | grep -c error=ENOENT)" ]
}

@test "hist --decode: an unknown key has similar names; without --decode there is none" {
	run --separate-stderr weft hist -i $file --decode sched_waking --keys priorty
	[ "$status" -ne 0 ]
	[[ "$stderr" == *"Couldn't find field; did you mean 'priority'"* ]]
	run --separate-stderr weft hist -i $file sched_waking --keys priority
	[ "$status" -ne 0 ]
	[[ "$stderr" == *"Couldn't find field"* ]]
	run --separate-stderr weft hist --decode sched_waking --keys prio
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"--decode is for --input"* ]]
}
