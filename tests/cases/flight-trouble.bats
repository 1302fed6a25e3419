#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft flight when the place of its files is in trouble: it says so, goes on, and writes again when it can.
load lib

setup()
{
	need_tracefs
	cd "$BATS_TEST_TMPDIR" || return
	NAME=test-$$
}

teardown()
{
	[ -z "${PID:-}" ] || { kill "$PID" && wait "$PID"; } 2> /dev/null || true
}

@test "flight: a directory that is removed while it flies is told, and files come again with the directory" {
	mkdir place
	: > log
	weft flight start --name "$NAME" -e sched:sched_process_exec --after 10ms -o place 2> log &
	PID=$!
	until grep -qs 'has begun' log; do kill -0 $PID; sleep 0.02; done
	[ -s "$(weft flight dump --name "$NAME")" ]
	rm -r place
	run -1 weft flight dump --name "$NAME"
	[[ "$output" == *"place"*"No such file or directory"* ]]
	grep -q '^weft: no file of the trigger dump (asked for): ' log
	weft flight status --name "$NAME" | grep -q '^1 could not be written'
	mkdir place
	[ -s "$(weft flight dump --name "$NAME")" ]
	kill $PID
	status=0
	wait $PID || status=$?
	PID=
	[ "$status" -eq 1 ]
}

@test "flight: a filesystem that becomes read-only while it flies is told, and files come again when it is not" {
	need_mounts
	mkdir place
	cat > inside <<- 'END'
		mount -t tmpfs -o size=16m tmpfs place
		: > log
		weft flight start --name "$1" -e sched:sched_process_exec --after 10ms -o place 2> log &
		until grep -qs "has begun" log; do kill -0 $! || exit; sleep 0.02; done
		mount -o remount,ro place
		weft flight dump --name "$1" 2>&1
		echo "dump $?"
		mount -o remount,rw place
		weft flight dump --name "$1"
		kill $!
		wait $!
	END
	run unshare -m bash inside "$NAME"
	[[ "${lines[0]}" == "weft: "*"Read-only file system"* ]]
	[ "${lines[1]}" = "dump 1" ]
	[[ "${lines[2]}" == "place/"*"-dump.dat" ]]
}
