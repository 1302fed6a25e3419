#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# report --format trace_pipe: the text of the consuming reader. tests/captures/run compares it on the captures, too.
load lib

corpus=tests/corpora/report/accept

# Makes from the text of trace the text of trace_pipe without losses: no header, and in the latency format no delay.
consumed()
{
	sed -E '/^#/d; s/^(.{8}-[0-9]+ .*[0-9]us)[$@*#!+ ]:/\1 :/'
}

@test "trace_pipe: is the trace without header, for events, stacks, graphs and the tracers of noise" {
	for name in graph-6.1 graph-6.12 hwlat-6.12 markers-6.12 osnoise-6.12 timerlat-6.12 userstack-6.12 blk-6.12; do
		weft report $corpus/$name.dat | consumed > "$BATS_TEST_TMPDIR/want"
		weft report --format trace_pipe $corpus/$name.dat | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "trace_pipe: -O latency-format has times and no delays" {
	weft report -O latency-format $corpus/userstack-6.12.dat | consumed > "$BATS_TEST_TMPDIR/want"
	weft report -O latency-format --format trace_pipe $corpus/userstack-6.12.dat | diff "$BATS_TEST_TMPDIR/want" -
	grep -q 'us : ' "$BATS_TEST_TMPDIR/want"
}

@test "trace_pipe: other options work as they do for the trace" {
	for option in raw hex fields sym-offset nocontext-info noirq-info; do
		weft report -O $option $corpus/userstack-6.12.dat | sed '/^#/d' > "$BATS_TEST_TMPDIR/want"
		weft report -O $option --format trace_pipe $corpus/userstack-6.12.dat | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "trace_pipe: says how many events each CPU lost, in front of its first one that is left" {
	weft report --format trace_pipe $corpus/lost-6.12.dat > "$BATS_TEST_TMPDIR/text"
	grep -n LOST "$BATS_TEST_TMPDIR/text" > "$BATS_TEST_TMPDIR/lost"
	# The first page of CPU 0 had no room for the number of lost events: the statistics of the buffer have it.
	diff - "$BATS_TEST_TMPDIR/lost" <<< $'1:CPU:1 [LOST 230 EVENTS]\n32:CPU:0 [LOST 223 EVENTS]'
	sed 32q "$BATS_TEST_TMPDIR/text" > "$BATS_TEST_TMPDIR/first"
	run -1 grep -F '[000]' "$BATS_TEST_TMPDIR/first"
	sed -n 33p "$BATS_TEST_TMPDIR/text" | grep -qF '[000]'
	weft report $corpus/lost-6.12.dat | sed '/^#/d' > "$BATS_TEST_TMPDIR/want"
	sed '/LOST/d' "$BATS_TEST_TMPDIR/text" | diff "$BATS_TEST_TMPDIR/want" -
}

@test "trace_pipe: the trace has a line where a CPU starts late, and none for what was lost" {
	run --separate-stderr weft report $corpus/lost-6.12.dat
	[ "$status" -eq 0 ]
	[[ "$output" == *"##### CPU 0 buffer started ####"* ]]
	[[ "$output" != *LOST* ]]
}

@test "trace_pipe: does not depend on the number of threads, and keeps to one CPU when asked" {
	weft report --format trace_pipe --threads 1 $corpus/lost-6.12.dat > "$BATS_TEST_TMPDIR/one"
	weft report --format trace_pipe --threads 5 $corpus/lost-6.12.dat | cmp - "$BATS_TEST_TMPDIR/one"
	[ "$(weft report --format trace_pipe --cpu 1 $corpus/lost-6.12.dat | grep -c LOST)" -eq 1 ]
}
