#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# examples/weft-kdump, which kdump-tools runs in the kernel that it starts after a crash: here with a dump in place of
# /proc/vmcore.
load lib

setup()
{
	need_command zstd
	hook=$BATS_TEST_DIRNAME/../../examples/weft-kdump
	export WEFT_KDUMP_CORE=$BATS_TEST_TMPDIR/vmcore WEFT_KDUMP_DIR=$BATS_TEST_TMPDIR/crash
	zstd -qdc "$BATS_TEST_DIRNAME/../fixtures/dump/6.1-rt.elf.zst" > "$WEFT_KDUMP_CORE"
}

@test "kdump hook: the trace of the crashed kernel is saved under its time, and a report reads it" {
	run -0 "$hook"
	[[ "$output" == *"8,958 events in "*"weft-kdump: $WEFT_KDUMP_DIR/trace-20"*".dat" ]]
	[ "$(weft report -B big "$WEFT_KDUMP_DIR"/trace-*.dat | grep -vc '^#')" = 2355 ]
}

@test "kdump hook: options reach weft, and KDUMP_COREDIR of kdump-tools is the default place" {
	unset WEFT_KDUMP_DIR
	KDUMP_COREDIR=$BATS_TEST_TMPDIR/core WEFT_KDUMP_OPTIONS='-q --hash-key' run -0 "$hook"
	weft info --settings "$BATS_TEST_TMPDIR"/core/trace-*.dat | grep -q hash_key
}

@test "kdump hook: in an ordinary boot nothing happens, and what fails does not stop kdump" {
	rm "$WEFT_KDUMP_CORE"
	run -0 "$hook"
	[ -z "$output" ]
	[ ! -e "$WEFT_KDUMP_DIR" ]
	head -c 100000 /dev/zero > "$WEFT_KDUMP_CORE"
	run -0 "$hook"
	[[ "$output" == *"is no dump of a kernel"*"there is no trace of the crashed kernel" ]]
	# Too slow.
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\nexec sleep 50\n' > "$BATS_TEST_TMPDIR/bin/weft"
	chmod +x "$BATS_TEST_TMPDIR/bin/weft"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH WEFT_KDUMP_SECONDS=0.2 run -0 "$hook"
	[[ "$output" == *"there is no trace of the crashed kernel" ]]
}

@test "kdump hook: of the files of earlier crashes some stay, the newest ones" {
	mkdir "$WEFT_KDUMP_DIR"
	for day in 1 2 3; do echo "$day" > "$WEFT_KDUMP_DIR/trace-2026010${day}120000.dat"; done
	WEFT_KDUMP_KEEP=2 run -0 "$hook"
	[ "$(ls "$WEFT_KDUMP_DIR" | wc -l)" = 2 ]
	[ "$(cat "$WEFT_KDUMP_DIR/trace-20260103120000.dat")" = 3 ]
}
