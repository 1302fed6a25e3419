#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A recording of a latency tracer with the pages of its longest section (weft/section): only the last events of the pages
# belong to it.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden/6.12-function

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p tree/weft
	echo irqsoff > tree/current_tracer
	printf '# latency: 68 us, #5/5, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n#    | task: sh-7 (uid:0 nice:0 policy:0 rt_prio:0)\n' > tree/weft/section
	printf '#  => started at: vfs_read <%s>\n#  => ended at:   vfs_write <%s>\n' "$(address vfs_read)" "$(address vfs_write)" >> tree/weft/section
	pack 5
}

# address FUNCTION: of its traced instruction, by the golden file
address() { weft report -O sym-addr "$golden.dat" | sed -nE "s/.*: $1 <([0-9a-f]+)> <-.*/\1/p" | head -n 1; }

# pack ENTRIES
pack()
{
	echo "$1/$1" > tree/weft/entries
	weft pack -q -o s.dat --pages "$golden.dat" tree
}

@test "section: only its events are printed, with the numbers of the kernel's head" {
	weft report s.dat | grep -v '^#' > lines
	tail -n 5 "$golden.txt" | cmp - lines
	weft report s.dat | grep -qx '# entries-in-buffer/entries-written: 5/5   #P:2'
	pack 1
	weft report s.dat | grep -v '^#' > lines
	tail -n 1 "$golden.txt" | cmp - lines
	# More than there are: all.
	pack 4711
	[ "$(weft report s.dat | grep -cv '^#')" -eq "$(grep -cv '^#' "$golden.txt")" ]
}

@test "section: formats, selections and exports have its events" {
	[ "$(weft report --format json s.dat | wc -l)" -eq 5 ]
	[ "$(weft report --tail 2 s.dat | grep -cv '^#')" -eq 2 ]
	[ "$(weft report --cpu 0 s.dat | grep -cv '^#')" -eq 2 ]
	[ "$(weft export --to jsonl -i s.dat | wc -l)" -eq 5 ]
	[ "$(weft report --since 10.683 s.dat | grep -cv '^#')" -eq 3 ]
	weft split -q -o part.dat --until 10.683 s.dat
	[ "$(weft report part.dat | grep -cv '^#')" -eq 2 ]
	weft convert -q --file-version 6 -o v6.dat s.dat
	[ "$(weft report v6.dat | grep -cv '^#')" -eq 5 ]
	weft check -q s.dat
}

@test "section: the functions in the head follow the options" {
	weft report -l s.dat > text
	grep -qx '#  => started at: vfs_read' text
	grep -qx '#  => ended at:   vfs_write' text
	grep -q '^# latency: 68 us, #5/5, CPU#1 ' text
	weft report -l -O sym-offset s.dat > text
	grep -qE '^#  => started at: vfs_read\+0x4/0x[0-9a-f]+$' text
	grep -qE '^#  => ended at:   vfs_write\+0x4/0x[0-9a-f]+$' text
}
