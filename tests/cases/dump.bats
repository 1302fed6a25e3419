#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft extract --dump: the buffers of a kernel out of a dump of its memory. What the kernel had printed before is the
# judge; tests/guest/dump makes new dumps and compares whole ones.
load lib

setup()
{
	need_command zstd
	fixtures=$BATS_TEST_DIRNAME/../fixtures/dump
	dump=$BATS_TEST_TMPDIR/vmcore
	zstd -qdc "$fixtures/6.1-rt.elf.zst" > "$dump"
}

@test "dump: the text of each instance is the kernel's, hashed pointers included" {
	run -0 --separate-stderr weft extract --dump "$dump" --hash-key -o "$BATS_TEST_TMPDIR/out.dat"
	[[ "$stderr" == *"the top instance: 8,958 events in "*"the kernel counted 8,958"* ]]
	[[ "$stderr" == *"instance 'big': 2,355 events in "*"the kernel counted 2,355"* ]]
	weft report -B '' "$BATS_TEST_TMPDIR/out.dat" | cmp - <(zstd -qdc "$fixtures/6.1-rt.trace.zst")
	weft report -B big "$BATS_TEST_TMPDIR/out.dat" | cmp - <(zstd -qdc "$fixtures/6.1-rt.big.trace.zst")
	weft check "$BATS_TEST_TMPDIR/out.dat"
}

@test "dump: without --hash-key the file has no key, and pointers are placeholders" {
	weft extract -q --dump "$dump" -o "$BATS_TEST_TMPDIR/out.dat"
	! weft info --settings "$BATS_TEST_TMPDIR/out.dat" | grep -q hash_key
	weft report -B '' "$BATS_TEST_TMPDIR/out.dat" | diff - <(zstd -qdc "$fixtures/6.1-rt.trace.zst") | grep '^<' > "$BATS_TEST_TMPDIR/differ"
	grep -q . "$BATS_TEST_TMPDIR/differ"
	! grep -v ptrval "$BATS_TEST_TMPDIR/differ"
}

@test "dump: -B takes one instance, -o - is a pipe, and the dump may come through one" {
	cat "$dump" | weft extract -q --dump - -B big -o - > "$BATS_TEST_TMPDIR/out.dat"
	[ "$(weft report "$BATS_TEST_TMPDIR/out.dat" | grep -vc '^#')" = 2355 ]
	run -1 --separate-stderr weft extract --dump "$dump" -B none -o "$BATS_TEST_TMPDIR/none.dat"
	[[ "$stderr" == *"the dump has no buffer of an instance 'none'"* ]]
	[ ! -e "$BATS_TEST_TMPDIR/none.dat" ]
	run -0 --separate-stderr weft extract -s --dump "$dump" -o "$BATS_TEST_TMPDIR/snapshot.dat"
	[[ "$stderr" == *"the snapshot of the top instance: 0 events "* ]]
}

@test "dump: info lists what is there" {
	run -0 --separate-stderr weft info --dump "$dump"
	[[ "$output" == *"release   6.1.0-56-rt-amd64"* ]]
	echo "$output" | tr -s ' ' | grep -qE '^\(top\) 2 [0-9.]+ [KM]iB 8958 8958 0$'
	echo "$output" | tr -s ' ' | grep -qE '^big 2 [0-9.]+ [KM]iB 2355 2355 0$'
}

@test "dump: what is no dump, is cut off, or lacks the kernel's tables is an error that says so" {
	run -1 --separate-stderr weft extract --dump "$BATS_TEST_DIRNAME/lib.bash" -o "$BATS_TEST_TMPDIR/out.dat"
	[[ "$stderr" == *"is no dump of a kernel"* ]]
	head -c 100000 "$dump" > "$BATS_TEST_TMPDIR/cut"
	run -1 --separate-stderr weft extract --dump "$BATS_TEST_TMPDIR/cut" -o "$BATS_TEST_TMPDIR/out.dat"
	[[ "$stderr" == "weft: "* ]]
	sed 's/VMCOREINFO/VMCOREINFX/; s/OSRELEASE=/OSRELEASX=/' "$dump" > "$BATS_TEST_TMPDIR/noinfo"
	run -1 --separate-stderr weft extract --dump "$BATS_TEST_TMPDIR/noinfo" -o "$BATS_TEST_TMPDIR/out.dat"
	[[ "$stderr" == *"it has no VMCOREINFO, neither as a note nor in its memory"* ]]
	[ ! -e "$BATS_TEST_TMPDIR/out.dat" ]
	run -2 --separate-stderr weft extract --btf "$dump"
	[[ "$stderr" == *"--btf goes with --dump"* ]]
}

@test "dump: pages that the dump lacks are counted, and the rest is in the file" {
	# The program header of a range in which pages of a ring buffer lie becomes that of nothing (PT_NULL).
	printf '\0\0\0\0' | dd of="$dump" bs=1 seek=$((64 + 56 * 283)) conv=notrunc status=none
	run -1 --separate-stderr weft extract --dump "$dump" -o "$BATS_TEST_TMPDIR/out.dat"
	[[ "$stderr" == *"the top instance: 4,745 events in "*"the kernel counted 8,958"*"the dump lacks 56 pages of it"* ]]
	weft report -B '' "$BATS_TEST_TMPDIR/out.dat" | grep -v '^#' > "$BATS_TEST_TMPDIR/some"
	[ "$(grep -vc 'LOST' "$BATS_TEST_TMPDIR/some")" = 4745 ]
	! diff "$BATS_TEST_TMPDIR/some" <(zstd -qdc "$fixtures/6.1-rt.trace.zst") | grep '^<' | grep -v 'ptrval\|LOST'
}
