#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

T=/sys/kernel/tracing

@test "doctor: where recording works it says so, exits with 0 and leaves nothing behind" {
	need_tracefs
	weft doctor > "$BATS_TEST_TMPDIR/out" 2> "$BATS_TEST_TMPDIR/err" &
	local pid=$!
	wait $pid
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
	grep -qE '^ok +recording +works' "$BATS_TEST_TMPDIR/out"
	grep -qE '^ok +tracers .*nop' "$BATS_TEST_TMPDIR/out"
	run -1 grep -q ^BAD "$BATS_TEST_TMPDIR/out"
	# Others may be tracing meanwhile: what belongs to this process has its PID in its name.
	[ ! -e $T/instances/weft-$pid ]
	[ -z "$(ls /run/weft 2> /dev/null | grep -- "-$pid-")" ]
}

@test "doctor: a tracer that the kernel lacks comes with the option that provides it" {
	need_tracefs
	grep -qw mmiotrace $T/available_tracers && skip "this kernel has every tracer"
	run weft doctor
	tr -s '\n ' ' ' <<< "$output" | grep -q 'mmiotrace (CONFIG_MMIOTRACE)'
}

@test "doctor: it stays on one screen" {
	need_tracefs
	run weft doctor
	[ "${#lines[@]}" -le 40 ]
	[ "$(wc -L <<< "$output")" -le 118 ]
}

@test "doctor: whoever may not trace hears why, and the status is 1" {
	need_tracefs
	need_command setpriv
	[ "$(stat -c %a $T)" = 700 ] || skip "others may look into tracefs here"
	cp "$WEFT" "$BATS_TEST_TMPDIR/weft"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/weft"
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$BATS_TEST_TMPDIR/weft" doctor
	[ "$status" -eq 1 ]
	grep -q '^BAD *tracefs .*Permission denied' <<< "$output"
}
