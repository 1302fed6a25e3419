#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The options raw, hex and bin: small recordings of a real kernel and what it printed with them.
load lib

corpus=tests/corpora/report/accept

# Compares with the kernel's text, or with the beginning of it that was kept.
starts() {
	local option=$1 name=$2 want=$3

	weft report -O "$option" "$corpus/$name.dat" > "$BATS_TEST_TMPDIR/text"
	cmp -n "$(stat -c %s "$want")" "$want" "$BATS_TEST_TMPDIR/text"
}

@test "report: -O raw and -O hex are exact for types that print their numbers, and for those that do not" {
	for name in hwlat-6.12 osnoise-6.12; do
		for option in raw hex; do
			weft report -O $option "$corpus/$name.dat" | cmp - "tests/corpora/report/$name.$option.txt"
		done
	done
}

@test "report: -O raw gives a marker's address and its text, whatever lines it has" {
	starts raw markers-6.12 tests/corpora/report/markers-6.12.raw.txt
}

@test "report: -O bin gives blk's entries as bytes, -O raw only their type" {
	starts bin blk-6.12 tests/corpora/report/blk-6.12.bin
	starts raw blk-6.12 tests/corpora/report/blk-6.12.raw.txt
}

@test "report: bin goes before hex, hex before raw, and all before fields" {
	for pair in "bin hex" "bin raw" "hex raw" "raw fields"; do
		set -- $pair
		weft report -O "$1" "$corpus/blk-6.12.dat" > "$BATS_TEST_TMPDIR/one"
		weft report -O "$2" -O "$1" "$corpus/blk-6.12.dat" | cmp - "$BATS_TEST_TMPDIR/one"
	done
}

@test "report: with nocontext-info neither task, CPU nor time stand before what the type prints" {
	weft report -O nocontext-info -O raw "$corpus/hwlat-6.12.dat" > "$BATS_TEST_TMPDIR/text"
	grep -qx '8087 4317 1795226806 327340608 1' "$BATS_TEST_TMPDIR/text"
}

@test "report: the function graph's own lines are not changed by -O raw" {
	weft report -O raw "$corpus/graph-6.1.dat" | cmp - tests/corpora/report/graph-6.1.txt
}

@test "report: --raw prints fields, whatever -O says" {
	weft report --raw "$corpus/hwlat-6.12.dat" > "$BATS_TEST_TMPDIR/fields"
	weft report --raw -O bin "$corpus/hwlat-6.12.dat" | cmp - "$BATS_TEST_TMPDIR/fields"
}
