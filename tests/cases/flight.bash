# shellcheck shell=bash disable=SC2034 # the tests use these
# SPDX-License-Identifier: GPL-2.0-only
# For the tests of weft flight, after lib: flights in an instance of this machine's own tracefs.
T=/sys/kernel/tracing

setup()
{
	case $BATS_TEST_DESCRIPTION in *"command line"*) return 0 ;; esac
	need_tracefs
	cd "$BATS_TEST_TMPDIR" || return
	NAME=test-$$
}

teardown()
{
	[ -z "${PID:-}" ] || { kill "$PID" && wait "$PID"; } 2> /dev/null || true
	rm -f "/run/weft/${NAME:-none}.sock"
}

# fly OPTION...: begins a flight in the background, and waits until it has begun.
fly()
{
	# That of a flight before this one has begun, too.
	rm -f log
	weft flight start --name "$NAME" --keep 5m "$@" 2> log &
	PID=$!
	until grep -qs 'has begun' log; do
		kill -0 $PID || return
		sleep 0.02
	done
}

# land: ends it, and keeps its exit status
land()
{
	kill -TERM $PID
	landed=0
	wait $PID || landed=$?
	PID=
}

dump()
{
	weft flight dump --name "$NAME" "$@"
}

# write_numbers FROM TO: writes markers with these numbers
write_numbers()
{
	local i
	for ((i = $1; i <= $2; i++)); do echo "number $i" > $T/instances/weft-$PID/trace_marker; done
}

# numbers FILE: prints the numbers of the markers
numbers()
{
	weft report "$1" 2> /dev/null | sed -n 's/.*tracing_mark_write: number //p'
}

marks()
{
	weft report "$1" 2> /dev/null | sed -n 's/.*tracing_mark_write: \(weft: trigger\)/\1/p'
}
