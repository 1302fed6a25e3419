#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Buffers of the kernel's last boot, when its symbols had other addresses: the text is the one that the kernel printed
# then.
load lib

moved=$((0x1200000))

# moved_symbols TRACE: prints a /proc/kallsyms whose addresses are larger by $moved, with the functions that the trace
# names
moved_symbols()
{
	local name offset size address

	printf '%x T _text\n' $((0xffffffff81000000 + moved))
	weft report -O sym-addr -O sym-offset "$1" |
		grep -oE '[A-Za-z_][A-Za-z0-9_.]*\+0x[0-9a-f]+/0x[0-9a-f]+ <[0-9a-f]+>' | sort -u |
		while IFS='+/ ' read -r name offset size address; do
			address=0x${address//[<>]/}
			printf '%x t %s\n' $((address - offset + moved)) "$name"
			printf '%x t ~end\n' $((address - offset + moved + size))
		done | sort | awk '!seen[$1]++'
}

# packed LAST-BOOT-INFO: packs the pages of the golden recording with symbols that have moved
packed()
{
	local dir=$BATS_TEST_TMPDIR/dir

	mkdir -p "$dir"
	moved_symbols tests/fixtures/golden/6.12-function.dat > "$BATS_TEST_TMPDIR/kallsyms"
	printf "$1" > "$dir/last_boot_info"
	weft pack -q "$dir" --pages tests/fixtures/golden/6.12-function.dat --kallsyms "$BATS_TEST_TMPDIR/kallsyms" -o "$BATS_TEST_TMPDIR/out.dat"
}

@test "last boot: functions have the names of then, as Linux 6.12 tells how far it has moved" {
	packed 'text delta:\t18874368\ndata delta:\t18874368\n'
	weft report "$BATS_TEST_TMPDIR/out.dat" > "$BATS_TEST_TMPDIR/out.txt"
	cmp "$BATS_TEST_TMPDIR/out.txt" tests/fixtures/golden/6.12-function.txt
}

@test "last boot: and as later kernels tell where they were" {
	packed 'ffffffff81000000\t[kernel]\n'
	weft report "$BATS_TEST_TMPDIR/out.dat" > "$BATS_TEST_TMPDIR/out.txt"
	cmp "$BATS_TEST_TMPDIR/out.txt" tests/fixtures/golden/6.12-function.txt
}

@test "last boot: the option sym-addr prints where they are now" {
	local address
	packed 'ffffffff81000000\t[kernel]\n'
	address=$(weft report -O sym-addr tests/fixtures/golden/6.12-function.dat | grep -oE '<[0-9a-f]{16}>' | head -n 1)
	run weft report -O sym-addr "$BATS_TEST_TMPDIR/out.dat"
	[[ "$output" == *"$(printf '<%x>' $((0x${address//[<>]/} + moved)))"* ]]
}

@test "last boot: a buffer of this boot is not moved" {
	packed '# Current\n'
	run weft report "$BATS_TEST_TMPDIR/out.dat"
	[[ "$output" != *vfs_* ]]
}
