# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	local signal pid

	remember
	for signal in INT TERM HUP; do
		rm -f /tmp/r.dat
		weft record -o /tmp/r.dat -e sched 2> /tmp/r.err &
		pid=$!
		await 'grep -qs . $T/instances/*/set_event'
		load
		kill -$signal $pid
		wait $pid
		check "SIG$signal ends a recording well" status_is $? 0 /tmp/r.err
		check "and its file is there" test -s /tmp/r.dat
	done
	text
	unchanged
	record "a duration ends a recording" 0 -e sched --duration 500ms
	whole
	unchanged "tracefs is as it was before them all"
}
