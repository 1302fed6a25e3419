#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A recording of a latency tracer whose worst case is there as the kernel's text only: what cannot be done with it is
# refused, and says what to do.
load lib

text=$BATS_TEST_DIRNAME/../corpora/latency/accept/section-preemptoff

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p tree/events
	printf '\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n' > tree/events/header_page
	printf '\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n' >> tree/events/header_page
	printf 'latency-format\nnoverbose\n' > tree/trace_options
	weft pack -q -o text.dat --latency "$text" tree
}

@test "text only: report prints the text, also with options that it was printed with" {
	weft report text.dat | cmp - "$text"
	weft report -l -O noverbose --no-self text.dat | cmp - "$text"
}

@test "text only: options that ask for other lines, or other text, are refused by their names" {
	local option
	for option in '-O verbose' '-O nolatency-format' '-O sym-offset' '-O fields' --raw -t --ts-diff '--ts-offset 5' '--cpu 1' '--pid 163' '--comm sh' \
		'--since 1' '--until 2' '--limit 3' '--tail 3' --no-hardirq --no-softirq '--format json' '--format pretty' '--format trace_pipe'; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr weft report $option text.dat
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[[ "$stderr" == "weft: 'text.dat' holds the worst case of a latency tracer as the kernel's text, and no events: leave out ${option%% *} to read it"* ]]
	done
	run --separate-stderr weft report -O verbose text.dat
	[[ "$stderr" == *", or record again with it (weft record -O)" ]]
}

@test "text only: exports, sql and split are refused, and leave no file" {
	local to
	for to in jsonl csv sqlite perfetto ctf; do
		run --separate-stderr weft export --to $to -o out -i text.dat
		[ "$status" -eq 1 ]
		[[ "$stderr" == *"and no events: 'weft report' prints this text, 'weft latency' explains it" ]]
		[ ! -e out ]
	done
	run --separate-stderr weft sql text.dat 'select count(*) from events'
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"and no events: 'weft report' prints this text"* ]]
	run --separate-stderr weft split -o out text.dat
	[ "$status" -eq 1 ]
	[ ! -e out ]
}

@test "text only: beside pages the text is refused the same, and other formats have the events of the pages" {
	weft pack -q -o both.dat --latency "$text" --pages "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-function.dat" tree
	run --separate-stderr weft report -O verbose both.dat
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"leave out -O to read it"* ]]
	weft report --format json both.dat > json
	[ -s json ]
}

@test "text only: beside the events of another buffer a note says what an option does not change" {
	weft pack -q -o both.dat --latency "$text" --pages "$BATS_TEST_DIRNAME/../corpora/container/accept/v6.dat" tree
	run --separate-stderr weft report -O verbose both.dat
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"note: 'both.dat' holds the worst case of a latency tracer as the kernel's text, which -O does not change"* ]]
	run --separate-stderr weft report -B '' -O verbose both.dat
	[ "$status" -eq 1 ]
}
