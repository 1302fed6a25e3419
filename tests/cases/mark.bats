#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Markers, in an instance of this machine's own tracefs.
load lib

T=/sys/kernel/tracing

setup()
{
	case $BATS_TEST_DESCRIPTION in *"command line"*) return 0 ;; esac
	need_tracefs
	SOME=weft-test-mark-$$
	mkdir $T/instances/$SOME
}

teardown()
{
	[ -n "${SOME:-}" ] || return 0
	rmdir $T/instances/$SOME
}

# Prints the markers as the kernel prints them.
markers()
{
	echo 0 > $T/instances/$SOME/tracing_on
	sed -n 's/^.*: tracing_mark_write: //p' $T/instances/$SOME/trace
}

@test "mark: the words become one marker" {
	run --separate-stderr weft mark -B $SOME begin of "phase  two"
	[ "$status" -eq 0 ]
	[ -z "$output$stderr" ]
	[ "$(markers)" = "begin of phase  two" ]
}

@test "mark: - makes a marker of each line, and of an end without a newline" {
	printf 'one\n\ntwo words\nlast' | weft mark -B $SOME -
	[ "$(markers)" = "$(printf 'one\ntwo words\nlast')" ]
}

@test "mark: options behind -- are text" {
	weft mark -B $SOME -- --raw is text
	[ "$(markers)" = "--raw is text" ]
}

@test "mark: --raw writes the number and the bytes of a file or of standard input" {
	printf 'abcd' > "$BATS_TEST_TMPDIR/raw"
	weft mark -B $SOME --raw 0x11 "$BATS_TEST_TMPDIR/raw"
	printf 'wxyz' | weft mark -B $SOME --raw 18 -
	echo 0 > $T/instances/$SOME/tracing_on
	run sed -n 's/^.*: # /# /p' $T/instances/$SOME/trace
	[ "${lines[0]}" = "# 11 buf: 61 62 63 64" ] || [[ "${lines[0]}" == "# 11 buf: 61 62 63 64 "* ]]
	[[ "${lines[1]}" == "# 12 buf: 77 78 79 7a"* ]]
}

@test "mark: text longer than a marker becomes several, and that is told" {
	local long
	long=$(head -c 9000 /dev/zero | tr '\0' x)
	run --separate-stderr weft mark -B $SOME "$long"
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"was split into several"* ]]
	[ "$(markers | tr -d '\n')" = "$long" ]
}

@test "mark: with tracing off it fails and says so" {
	echo 0 > $T/instances/$SOME/tracing_on
	run --separate-stderr weft mark -B $SOME text
	[ "$status" -eq 1 ]
	[ "$stderr" = "weft: no marker was written: tracing is off in '$SOME' (tracing_on)" ]
}

@test "mark: an unknown instance and a missing file are named" {
	run --separate-stderr weft mark -B ${SOME}x text
	[ "$status" -eq 1 ]
	[ "$stderr" = "weft: no instance '${SOME}x'; did you mean '$SOME'?" ]
	run --separate-stderr weft mark -B $SOME --raw 1 /no/such/file
	[ "$status" -eq 1 ]
	[[ "$stderr" == "weft: cannot open '/no/such/file': "* ]]
}

@test "mark: --inject makes up an event, or tells which option the kernel lacks" {
	run --separate-stderr weft mark -B $SOME --inject sched:sched_process_exit 'pid=4711'
	if [ -e $T/events/sched/sched_process_exit/inject ]; then
		[ "$status" -eq 0 ]
		echo 0 > $T/instances/$SOME/tracing_on
		grep -q 'sched_process_exit: comm= pid=4711' $T/instances/$SOME/trace
		echo 1 > $T/instances/$SOME/tracing_on
		weft mark -B $SOME --inject sched:sched_process_exit
		grep -q 'sched_process_exit: comm= pid=0' $T/instances/$SOME/trace
	else
		[ "$status" -eq 1 ]
		[[ "$stderr" == *"CONFIG_TRACE_EVENT_INJECT provides it" ]]
	fi
	run --separate-stderr weft mark -B $SOME --inject sched 'pid=4711'
	[ "$status" -eq 1 ]
	[[ "$stderr" == "weft: 'sched' matches "*" events; only one can be injected at a time" ]]
}

@test "mark: a wrong command line" {
	run weft mark
	[ "$status" -eq 2 ]
	run weft mark --raw x file
	[ "$status" -eq 2 ]
	run weft mark --raw 1 a b
	[ "$status" -eq 2 ]
}
