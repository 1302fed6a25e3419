#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

setup()
{
	file=tests/fixtures/demo.dat
	weft report "$file" | grep -v '^#' > "$BATS_TEST_TMPDIR/all"
	lines=$(wc -l < "$BATS_TEST_TMPDIR/all")
	[ "$lines" -gt 100 ]
}

# The time of line N.
time_of()
{
	sed -n "$1p" "$BATS_TEST_TMPDIR/all" | sed -E 's/.* ([0-9]+\.[0-9]{6}): .*/\1/'
}

# body ARG...: the events that a report of the file prints
body()
{
	weft report "$@" "$file" | grep -v '^#'
}

@test "report: --since begins where the whole report has that time" {
	at=$((lines / 2))
	body --since "$(time_of $at)" > "$BATS_TEST_TMPDIR/part"
	# Printed times are rounded, so the first line may belong to the microsecond before.
	got=$(wc -l < "$BATS_TEST_TMPDIR/part")
	[ "$got" -ge $((lines - at - 2)) ] && [ "$got" -le $((lines - at + 2)) ]
	tail -n "$got" "$BATS_TEST_TMPDIR/all" | diff - "$BATS_TEST_TMPDIR/part"
}

@test "report: --until ends where the whole report has that time" {
	at=$((lines / 3))
	body --until "$(time_of $at)" > "$BATS_TEST_TMPDIR/part"
	got=$(wc -l < "$BATS_TEST_TMPDIR/part")
	[ "$got" -ge $((at - 2)) ] && [ "$got" -le $((at + 2)) ]
	head -n "$got" "$BATS_TEST_TMPDIR/all" | diff - "$BATS_TEST_TMPDIR/part"
}

@test "report: --limit prints the first events, --tail the last" {
	body --limit 7 | diff - <(head -n 7 "$BATS_TEST_TMPDIR/all")
	body --tail 7 | diff - <(tail -n 7 "$BATS_TEST_TMPDIR/all")
	body --tail 1 | diff - <(tail -n 1 "$BATS_TEST_TMPDIR/all")
	body --tail 100000 | diff - "$BATS_TEST_TMPDIR/all"
	[ -z "$(body --tail 0)" ]
}

@test "report: --tail counts the events that are selected" {
	body --tail 5 -e sched_switch | diff - <(grep ' sched_switch: ' "$BATS_TEST_TMPDIR/all" | tail -n 5)
}

@test "report: --until and --tail together end before the end" {
	at=$((lines / 2))
	until=$(time_of $at)
	body --until "$until" --tail 3 | diff - <(body --until "$until" | tail -n 3)
}

@test "report: any number of threads prints the same" {
	for threads in 1 2 3 8; do
		weft report --threads "$threads" "$file" | md5sum
	done | uniq | wc -l | grep -qx 1
}

@test "report: a time that is none is refused" {
	run --separate-stderr weft report --since yesterday "$file"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"--since: 'yesterday' is not a time"* ]]
}
