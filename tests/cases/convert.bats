#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft convert: makes another file that gives the same text, with weft and with trace-cmd.
load lib

forms=("--file-version 7" "--file-version 7 --compression none" "--file-version 6" "--compression zstd:19")

# bats test_tags=long
@test "convert: each version and compression gives the kernel's own text" {
	local golden text form count=0

	for text in tests/fixtures/golden/*.txt; do
		# Some files give the kernel's text only with a selection of events.
		weft report "${text%.txt}.dat" | cmp -s - "$text" || continue
		# Each text has two of the forms.
		for form in "${forms[count % 4]}" "${forms[(count + 1) % 4]}"; do
			# shellcheck disable=SC2086 # words
			weft convert -q $form -o "$BATS_TEST_TMPDIR/out.dat" "${text%.txt}.dat"
			weft report "$BATS_TEST_TMPDIR/out.dat" | cmp - "$text"
			weft check -q "$BATS_TEST_TMPDIR/out.dat"
		done
		count=$((count + 1))
	done
	[ $count -gt 4 ]
}

@test "convert: trace-cmd prints of each form what it prints of the source" {
	need_command trace-cmd
	local form

	trace-cmd report -i tests/fixtures/demo.dat 2> /dev/null > "$BATS_TEST_TMPDIR/want"
	[ "$(grep -c sched_switch "$BATS_TEST_TMPDIR/want")" -gt 10 ]
	for form in "${forms[@]}"; do
		# shellcheck disable=SC2086 # words
		weft convert -q $form -o "$BATS_TEST_TMPDIR/out.dat" tests/fixtures/demo.dat
		trace-cmd report -i "$BATS_TEST_TMPDIR/out.dat" 2> /dev/null | cmp - "$BATS_TEST_TMPDIR/want"
	done
}

@test "convert: what went there and back again tells the same in every setting" {
	weft convert -q --file-version 6 -o "$BATS_TEST_TMPDIR/six.dat" tests/fixtures/demo.dat
	weft convert -q -o - "$BATS_TEST_TMPDIR/six.dat" > "$BATS_TEST_TMPDIR/seven.dat"
	weft report "$BATS_TEST_TMPDIR/seven.dat" > "$BATS_TEST_TMPDIR/got"
	weft report tests/fixtures/demo.dat | cmp - "$BATS_TEST_TMPDIR/got"
	weft info --settings tests/fixtures/demo.dat | grep -v weft/sums > "$BATS_TEST_TMPDIR/want"
	weft info --settings "$BATS_TEST_TMPDIR/seven.dat" | grep -v weft/sums | diff "$BATS_TEST_TMPDIR/want" -
}

@test "convert: a file is converted in place" {
	cp tests/fixtures/demo.dat "$BATS_TEST_TMPDIR/here.dat"
	weft convert -q --file-version 6 -o "$BATS_TEST_TMPDIR/here.dat" "$BATS_TEST_TMPDIR/here.dat"
	weft check "$BATS_TEST_TMPDIR/here.dat" | grep -q 'ok, version 6'
	weft check -q "$BATS_TEST_TMPDIR/here.dat"
}

@test "convert: of a damaged file what can be read is written, and the damage is told" {
	head -c 10000 tests/fixtures/golden/6.12-function.dat > "$BATS_TEST_TMPDIR/cut.dat"
	run weft convert -q -o "$BATS_TEST_TMPDIR/out.dat" "$BATS_TEST_TMPDIR/cut.dat"
	[ "$status" -eq 1 ]
	[[ "$output" == "weft: "* ]]
}

@test "convert: wrong usage is told" {
	run -2 weft convert tests/fixtures/demo.dat
	[[ "$output" == *"-o FILE"* ]]
	run -2 weft convert -o x --file-version 6 --compression zstd tests/fixtures/demo.dat
	[[ "$output" == *"cannot be compressed"* ]]
	run -2 weft convert -o x --compression zlib tests/fixtures/demo.dat
	run -1 weft convert -o "$BATS_TEST_TMPDIR/x" /nonexistent
}

# A record of CPU 0 reaches beyond the committed bytes of its page. What report can print of it stays the same.
@test "convert: damaged records are told as report tells them, and the copy has what can be read" {
	damaged=tests/corpora/commands/found/diff-uaf.dat
	run -1 --separate-stderr weft report "$damaged"
	text=$output
	told=${stderr##*CPU 0: }
	for form in "${forms[@]}"; do
		# shellcheck disable=SC2086 # words
		run -1 --separate-stderr weft convert -q $form -o "$BATS_TEST_TMPDIR/copy.dat" "$damaged"
		[[ "$stderr" == *"'$damaged' is damaged at offset "*"CPU 0: $told" ]]
		run -1 --separate-stderr weft report "$BATS_TEST_TMPDIR/copy.dat"
		[ "$output" = "$text" ]
	done
}

# trace-cmd prints the times with and without the date.
@test "convert, split, merge and pack: a dated file stays dated" {
	need_command trace-cmd
	local file=$PWD/tests/fixtures/golden/6.12-events-sched.dat
	cd "$BATS_TEST_TMPDIR" || exit
	dated "$file" dated.dat
	times()
	{
		{ trace-cmd report "$1" && trace-cmd report --nodate "$1"; } 2> /dev/null | sed -nE 's/.* ([0-9]+\.[0-9]+): .*/\1/p'
	}
	times dated.dat > want
	grep -q '^17000' want
	grep -q '^[0-9]\{1,4\}\.' want
	mkdir empty
	weft convert -q -o 7.dat dated.dat
	weft convert -q -o 6.dat --file-version 6 dated.dat
	weft split -q -o part.dat dated.dat
	weft pack -q --pages dated.dat -o packed.dat empty
	for made in 7 6 part packed; do
		times $made.dat | diff want -
	done
	# The times of a merged file are those of the day.
	weft merge -q -o merged.dat dated.dat 7.dat
	since=$(date -d "@$(sed -n 9p want)" '+%F %T.%6N')
	lines=$(weft export --to jsonl --since "$since" dated.dat | wc -l)
	[ "$(weft export --to jsonl --since "$since" merged.dat | wc -l)" = $((2 * lines)) ]
	weft merge -q -o merged.dat dated.dat "$file"
	run -1 weft report --since "$since" merged.dat
	[[ "$output" == *"does not tell the time of day"* ]]
}
