#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# report --format json, on files; tests/unit/json.c has the strings.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden

setup()
{
	need_command jq
}

@test "json: there is one object a line, as many as the trace has events" {
	for file in "$golden"/*.dat; do
		# A marker's text may have several lines.
		[[ $file != *markers* ]] || continue
		weft report --format json "$file" > "$BATS_TEST_TMPDIR/json"
		jq -c . < "$BATS_TEST_TMPDIR/json" | wc -l > "$BATS_TEST_TMPDIR/objects"
		[ "$(< "$BATS_TEST_TMPDIR/objects")" = "$(wc -l < "$BATS_TEST_TMPDIR/json")" ]
		# With --raw each record is a line. The kernel's text does not tell what was lost before a CPU's first event.
		[ "$(jq -c 'select(has("lost") | not)' "$BATS_TEST_TMPDIR/json" | wc -l)" = "$(weft report -R "$file" | grep -vcE '^#|LOST .*EVENTS')" ]
	done
}

@test "json: the text is that of the kernel, behind the columns" {
	weft report "$golden/6.12-events-sched.dat" | sed -n '/^#/d; s/^.\{16\}-.*[0-9]\.[0-9]\{6\}: //p' > "$BATS_TEST_TMPDIR/want"
	weft report --format json "$golden/6.12-events-sched.dat" | jq -r .text | diff "$BATS_TEST_TMPDIR/want" -
}

@test "json: fields are numbers and strings of the record" {
	weft report --format json "$golden/6.12-events-sched.dat" |
		jq -r 'select(.event == "sched_switch") |
			"prev_comm=\(.fields.prev_comm) prev_pid=\(.fields.prev_pid) prev_prio=\(.fields.prev_prio)"' > "$BATS_TEST_TMPDIR/got"
	weft report "$golden/6.12-events-sched.dat" |
		sed -n 's/.*sched_switch: \(prev_comm=.* prev_prio=[0-9-]*\) .*/\1/p' | diff - "$BATS_TEST_TMPDIR/got"
	[ -s "$BATS_TEST_TMPDIR/got" ]
}

@test "json: integers of 64 bits keep every digit" {
	# jq 1.6 would round them, so this compares bytes.
	weft report --format json "$golden/6.12-function.dat" | head -1 | grep -Eq '"ip":1844674407[0-9]{10}[,}]'
}

@test "json: lines are UTF-8 whatever the records hold" {
	for file in tests/corpora/report/accept/*.dat; do
		weft report --format json "$file" > "$BATS_TEST_TMPDIR/json" 2> /dev/null || true
		iconv -f UTF-8 -t UTF-8 "$BATS_TEST_TMPDIR/json" > /dev/null
		jq . < "$BATS_TEST_TMPDIR/json" > /dev/null
	done
}

@test "json: a gap says how many events are missing" {
	file=
	for each in tests/corpora/report/accept/*.dat; do
		if weft report --format trace_pipe "$each" 2> /dev/null | grep -q 'LOST [0-9]* EVENTS'; then
			file=$each
		fi
	done
	[ -n "$file" ] || skip "no sample has a gap"
	# The kernel's trace_pipe tells each gap, also the first one of a CPU.
	weft report --format trace_pipe "$file" | sed -n 's/.*\[LOST \([0-9]*\) EVENTS\]/\1/p' > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	weft report --format json "$file" > "$BATS_TEST_TMPDIR/json"
	[ "$(jq -r 'select(has("lost"))' < "$BATS_TEST_TMPDIR/json" | grep -c '"lost"')" = "$(wc -l < "$BATS_TEST_TMPDIR/want")" ]
	# trace_pipe has also the numbers that only the statistics of a CPU have.
	jq -r 'select(.lost) | .lost' < "$BATS_TEST_TMPDIR/json" > "$BATS_TEST_TMPDIR/numbers"
	[ -s "$BATS_TEST_TMPDIR/numbers" ]
	run ! grep -vxFf "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/numbers"
}
