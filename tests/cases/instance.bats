#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

T=/sys/kernel/tracing

setup()
{
	need_tracefs
	SOME=weft-test-instance-$$
}

teardown()
{
	[ -z "${READER:-}" ] || kill "$READER" 2> /dev/null || true
	[ -z "${SOME:-}" ] && return
	for name in $SOME ${SOME}2; do
		for try in $(seq 100); do [ -e $T/instances/$name ] && ! rmdir $T/instances/$name 2> /dev/null || break; done
	done
}

@test "instance: create makes them, list shows them, remove takes them away" {
	run --separate-stderr weft instance create $SOME ${SOME}2
	[ "$status" -eq 0 ]
	[ -z "$output$stderr" ]
	[ "$(cat $T/instances/$SOME/tracing_on)" = 1 ]
	weft mark -B $SOME one
	run --separate-stderr weft instance
	[ "${lines[0]}" = "INSTANCE                 TRACING  TRACER           SIZE PER CPU      EVENTS HELD" ]
	grep -qE "^\(top\) +on +" <<< "$output" || grep -qE "^\(top\) +off +" <<< "$output"
	grep -qE "^$SOME +on +nop .* 1$" <<< "$output"
	run weft instance list ${SOME}2
	[ "${#lines[@]}" -eq 2 ]
	run --separate-stderr weft instance remove $SOME ${SOME}2
	[ "$status" -eq 0 ]
	[ ! -e $T/instances/$SOME ]
	[ ! -e $T/instances/${SOME}2 ]
	run ! grep -s $SOME /run/weft/*
}

@test "instance: one that exists is not created, an unknown one not removed, and both are named" {
	weft instance create $SOME
	run --separate-stderr weft instance create $SOME
	[ "$status" -eq 1 ]
	[ "$stderr" = "weft: the instance '$SOME' exists already" ]
	run --separate-stderr weft instance remove ${SOME}x
	[ "$status" -eq 1 ]
	[ "$stderr" = "weft: no instance '${SOME}x'; did you mean '$SOME'?" ]
	run --separate-stderr weft instance create a/b
	[ "$status" -eq 1 ]
	[ "$stderr" = "weft: 'a/b' cannot be the name of an instance" ]
	weft instance remove $SOME
}

@test "instance: one in use is left, and its user is named" {
	weft instance create $SOME
	sleep 60 < $T/instances/$SOME/trace_pipe 3>&- &
	READER=$!
	for try in $(seq 500); do
		[ "$(readlink /proc/$READER/exe)" = "$(realpath "$(command -v sleep)")" ] && break
	done
	run --separate-stderr weft instance remove $SOME
	[ "$status" -eq 1 ]
	[ "$stderr" = "weft: cannot remove the instance '$SOME': sleep (process $READER) has its 'trace_pipe' open" ]
	kill $READER
	wait $READER || true
	weft instance remove $SOME
}

@test "instance: wrong words are usage errors" {
	run --separate-stderr weft instance creat x
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"did you mean 'create'"* ]]
	run --separate-stderr weft instance remove
	[ "$status" -eq 2 ]
	[ "$stderr" = "weft: no instance given to remove" ]
}
