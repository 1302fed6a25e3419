#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

file=tests/corpora/container/accept/v7-zstd.dat

@test "info: head, sections, CPUs and types of a file" {
	run --separate-stderr weft info "$file"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ "$output" == *"trace.dat version 7, zstd, little endian, 64-bit, pages of 256 bytes"* ]]
	[[ "$output" == *"kernel     Linux loom 6.1.0 x86_64"* ]]
	[[ "$output" == *"CPUs       2"* ]]
	[[ "$output" == *"  pages of CPU 1 of side"* ]]
	[[ "$output" == *"  16 events in 1.00 s, none lost, clock local"* ]]
	grep -Eq '^ +0 +[0-9]+ B +512 B +8 +0 +1\.000001 +2\.000003 +0 +0$' <<< "$output"
	grep -Eq '^ +1 +[0-9]+ B +512 B +8 +0 +1\.000002 +2\.000003 +1 +0$' <<< "$output"
	grep -Eq '^ +16 +demo:tick$' <<< "$output"
	[[ "$output" == *"Instance side"*"  2 events in "*", clock global"* ]]
}

@test "info: the same of version 6" {
	run --separate-stderr weft info tests/corpora/container/accept/v6.dat
	[ "$status" -eq 0 ]
	[[ "$output" == *"trace.dat version 6, none, "* ]]
	grep -Eq '^ +16 +demo:tick$' <<< "$output"
}

@test "info: its lines fit 80 columns, and its counts have separators as in every table" {
	for file in tests/fixtures/profile.dat tests/old/0.3.0-marks.dat tests/old/0.3.0-stacks.dat; do
		# The kernel's own words have the length that they have.
		run ! grep -E '^.{81}' <<< "$(weft info "$file" | grep -v -e '^kernel' -e '^file')"
		[[ "$(weft info "$file")" == *$'\n  the trace clock drifts by '[-+]*' ppm'* ]]
	done
	need_command jq
	weft info tests/fixtures/quota.dat > "$BATS_TEST_TMPDIR/text"
	events=$(weft info --format json tests/fixtures/quota.dat | jq '.buffers[0].cpus[0].events')
	[ "$events" -gt 999 ]
	grep -Eq "^ +0 .* $((events / 1000)),$(printf %03d $((events % 1000))) " "$BATS_TEST_TMPDIR/text"
}

@test "info: --no-events reads none" {
	run --separate-stderr weft info --no-events "$file"
	[ "$status" -eq 0 ]
	[[ "$output" != *"demo:tick"* ]]
	[[ "$output" == *"512 B"* ]]
}

@test "info: settings are listed and printed as they were" {
	run --separate-stderr weft info --settings "$file"
	[ "$status" -eq 0 ]
	grep -Eq '^current_tracer +nop$' <<< "$output"
	grep -Eq '^weft/mode +pack$' <<< "$output"
	run --separate-stderr weft info --setting trace_options "$file"
	[ "$output" = $'print-parent\nnosym-offset' ]
	run --separate-stderr weft info --setting trace_clock -B side "$file"
	[ "$output" = "[global] local counter" ]
	run --separate-stderr weft info --setting no_such "$file"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"contains no setting 'no_such'"* ]]
	run --separate-stderr weft info --settings -B nowhere "$file"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"has no instance 'nowhere'"* ]]
}

@test "info: a damaged file shows what could be read, one line on stderr, and fails" {
	run --separate-stderr weft info tests/corpora/container/reject/v6-cut-in-pages.dat
	[ "$status" -eq 1 ]
	[[ "$output" == *"demo:tick"* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == *"damaged at offset "*"the pages of CPU 0 end after 196 of 512 bytes" ]]
}

@test "info: the worst case that a tracer kept is told with its entries; report prints it, and says where it cannot" {
	printf '# tracer: irqsoff\n#\n# irqsoff latency trace v1.1.5 on 6.12\n# latency: 68 us, #12/34, CPU#0 | (M:server VP:0)\n' > "$BATS_TEST_TMPDIR/worst"
	mkdir "$BATS_TEST_TMPDIR/empty"
	weft pack -q "$BATS_TEST_TMPDIR/empty" --pages tests/corpora/container/accept/v6.dat --latency "$BATS_TEST_TMPDIR/worst" -o "$BATS_TEST_TMPDIR/w.dat"
	weft info "$BATS_TEST_TMPDIR/w.dat" | grep -qx "  the tracer's worst case as the kernel's text: 12 entries, latency 68 us"
	weft report -B "" "$BATS_TEST_TMPDIR/w.dat" | cmp - "$BATS_TEST_TMPDIR/worst"
	run --separate-stderr weft report --format json --pid 999999 "$BATS_TEST_TMPDIR/w.dat"
	[[ "$stderr" == *"leave out --format to read it"* ]]
}
