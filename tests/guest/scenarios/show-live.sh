# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	# Reading this buffer adds events to it.
	set_to $T/events/syscalls/enable 1
	load
	timeout 100 weft show > /tmp/shown.txt 2> /tmp/s.err
	check "the trace of a buffer that is written to ends" status_is $? 0 /tmp/s.err
	check "and the note says so" matches /tmp/s.err 'tracing goes on'
	timeout 100 weft show trace_pipe > /tmp/shown.txt 2> /tmp/s.err
	check "what trace_pipe has ends, too" status_is $? 0 /tmp/s.err
	check "it has lines" more "$(wc -l < /tmp/shown.txt)" 10
	echo 0 > $T/events/syscalls/enable
	timeout 100 weft show trace_pipe > /dev/null 2>&1
	timeout 100 weft show trace_pipe > /tmp/shown.txt 2> /tmp/s.err
	check "an empty trace_pipe is told" matches /tmp/s.err 'nothing to show now'
}
