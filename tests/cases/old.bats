#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# tests/old has a file of each kind from each released version, and from commits before the first release: weft reads them all
# (tests/old/make makes them).
load lib

old=$BATS_TEST_DIRNAME/../old

@test "old files: each is whole, and its text is the one that it had" {
	need_command zstd
	local file read=0
	for file in "$old"/*.dat; do
		"$WEFT" report "$file" > "$BATS_TEST_TMPDIR/text"
		zstd -dcq "${file%.dat}.txt.zst" | cmp - "$BATS_TEST_TMPDIR/text" || { echo "$file"; return 1; }
		"$WEFT" check "$file" > "$BATS_TEST_TMPDIR/said" || { cat "$BATS_TEST_TMPDIR/said"; return 1; }
		read=$((read + 1))
	done
	[ "$read" -ge 15 ]
}

@test "old files: trace-cmd reads those with events, and counts as many" {
	need_command trace-cmd
	local file lines
	for file in "$old"/*-events.dat "$old"/*-version6.dat; do
		lines=$("$WEFT" report --format json "$file" | grep -c '"event"')
		[ "$(trace-cmd report "$file" 2> /dev/null | grep -c '^ .*\[[0-9]*\] ')" = "$lines" ] || { echo "$file: not $lines"; return 1; }
	done
}

@test "old files: summary, info and a conversion take them" {
	local file
	for file in "$old"/*.dat; do
		"$WEFT" info "$file" > /dev/null
		"$WEFT" convert -q -o "$BATS_TEST_TMPDIR/new.dat" "$file"
		"$WEFT" check "$BATS_TEST_TMPDIR/new.dat"
		rm "$BATS_TEST_TMPDIR/new.dat"
	done
}

@test "old files: the corpus is small" {
	[ "$(cat "$old"/*.dat "$old"/*.zst | wc -c)" -le 2500000 ]
}
