#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

corpus=tests/corpora/container

@test "check: a whole file is ok, in one line" {
	for file in "$corpus"/accept/*.dat; do
		run --separate-stderr weft check "$file"
		[ "$status" -eq 0 ]
		[ -z "$stderr" ]
		[[ "$output" == "$file: ok, version "*" 2 buffers, 1.2 KiB of pages, 18 events" ]]
	done
}

@test "check: each broken file fails with a line that names it and a place" {
	for file in "$corpus"/reject/*.dat; do
		run --separate-stderr timeout 60 weft check "$file"
		echo "$file: $status: $stderr"
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[[ "${stderr_lines[0]}" == "weft: '$file'"* ]]
		[[ "${stderr_lines[0]}" =~ [0-9] ]]
	done
}

@test "check: what is wrong is said with its offset" {
	run --separate-stderr weft check "$corpus/reject/page-size-0.dat"
	[[ "$stderr" == *"pages of 0 bytes (offset 14)"* ]]
	run --separate-stderr weft check "$corpus/reject/v7-options-loop.dat"
	[[ "$stderr" =~ "damaged at offset "[0-9]+": the chain of options is a loop" ]]
	run --separate-stderr weft check "$corpus/reject/codec-zlib.dat"
	[[ "$stderr" == *"compressed with 'zlib' (offset 18)"* ]]
	run --separate-stderr weft check "$corpus/reject/v7-cpu-count.dat"
	[[ "$stderr" == *"CPUs of buffer ''"* ]]
}

# bats test_tags=long
@test "check: no single changed byte makes it crash or hang" {
	cp "$corpus/accept/v7-zstd.dat" "$BATS_TEST_TMPDIR/x.dat"
	for ((at = 0; at < 2600; at += 37)); do
		cp "$corpus/accept/v7-zstd.dat" "$BATS_TEST_TMPDIR/x.dat"
		printf '\377' | dd of="$BATS_TEST_TMPDIR/x.dat" bs=1 seek=$at conv=notrunc status=none
		run timeout 60 weft check "$BATS_TEST_TMPDIR/x.dat"
		[ "$status" -le 1 ]
	done
}

@test "check: reads standard input" {
	run --separate-stderr weft check - < "$corpus/accept/v6.dat"
	[ "$status" -eq 0 ]
	[[ "$output" == "standard input: ok, "* ]]
	run --separate-stderr bash -c 'cat "$1" | weft check -' - "$corpus/accept/v7-zstd.dat"
	[ "$status" -eq 0 ]
	run --separate-stderr weft check - < /dev/null
	[ "$status" -eq 1 ]
	[[ "$stderr" == "weft: 'standard input': not a trace.dat: "* ]]
}

@test "check: a file that is not there, and a directory" {
	run --separate-stderr weft check "$BATS_TEST_TMPDIR/none.dat"
	[ "$status" -eq 1 ]
	[[ "$stderr" == "weft: cannot open '"*"/none.dat': No such file or directory" ]]
	run --separate-stderr weft check "$BATS_TEST_TMPDIR"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"is a directory"* ]]
}

@test "check: recordings of others are ok" {
	need_shared samples
	for file in "$SHARED"/samples/*.dat; do
		run --separate-stderr weft check "$file"
		[ "$status" -eq 0 ]
		[ -z "$stderr" ]
	done
}

@test "check: the committed samples are what the script makes" {
	run tests/corpora/make-container "$WEFT" "$BATS_TEST_TMPDIR/made"
	[ "$status" -eq 0 ]
	[ "$(cd "$corpus" && find . -type f | sort)" = "$(cd "$BATS_TEST_TMPDIR/made" && find . -type f | sort)" ]
}

@test "what was printed and not taken is no success: a full disk fails every command" {
	[ -w /dev/full ] || skip "no /dev/full"
	local arguments
	for arguments in "check tests/fixtures/demo.dat" "info tests/fixtures/demo.dat" "report tests/fixtures/demo.dat" \
		"sched tests/fixtures/demo.dat" "export --to csv -o - tests/fixtures/demo.dat" "convert -o - tests/fixtures/demo.dat" "list formats" help "report --help" --version; do
		# shellcheck disable=SC2086 # words
		run bash -c '"$0" "$@" 2>&1 > /dev/full' "$WEFT" $arguments
		[ "$status" = 1 ]
		[ "${lines[-1]}" = "weft: cannot write to standard output: No space left on device" ]
	done
}

@test "check: one flipped bit is told once" {
	local at
	# Inside the frames of the settings, of the formats of ftrace, and of the formats of the events.
	for at in 341 531 1255; do
		cp "$corpus/accept/v7-zstd.dat" "$BATS_TEST_TMPDIR/flipped.dat"
		printf "\\x$(printf %x $((0x$(od -An -tx1 -j $at -N 1 "$corpus/accept/v7-zstd.dat" | tr -d " ") ^ 255)))" |
			dd of="$BATS_TEST_TMPDIR/flipped.dat" bs=1 seek=$at conv=notrunc status=none
		run weft check "$BATS_TEST_TMPDIR/flipped.dat"
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -eq 1 ]
		[[ "$output" == *"is damaged at offset "* ]]
	done
}

@test "check: a bit that changed in a file of weft is found wherever it is, and told once" {
	local version at size byte

	mkdir "$BATS_TEST_TMPDIR/none"
	for version in 6 7; do
		weft pack -q "$BATS_TEST_TMPDIR/none" --pages tests/fixtures/demo.dat --file-version $version -o "$BATS_TEST_TMPDIR/whole.dat"
		weft check -q "$BATS_TEST_TMPDIR/whole.dat"
		size=$(stat -c %s "$BATS_TEST_TMPDIR/whole.dat")
		# Bytes from every part of the file, and the last ones.
		for at in 30 $(seq 400 $((size / 12)) $((size - 1))) $((size - 20)) $((size - 1)); do
			cp "$BATS_TEST_TMPDIR/whole.dat" "$BATS_TEST_TMPDIR/flipped.dat"
			byte=$((0x$(od -An -tx1 -j "$at" -N 1 "$BATS_TEST_TMPDIR/whole.dat" | tr -d ' ') ^ 1 << at % 8))
			printf "\\x$(printf %x $byte)" | dd of="$BATS_TEST_TMPDIR/flipped.dat" bs=1 seek="$at" conv=notrunc status=none
			run weft check "$BATS_TEST_TMPDIR/flipped.dat"
			[ "$status" -eq 1 ] || { echo "version $version, byte $at"; false; }
			[ "${#lines[@]}" -eq 1 ] || { echo "version $version, byte $at: $output"; false; }
		done
	done
}
