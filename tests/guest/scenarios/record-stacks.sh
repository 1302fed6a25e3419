# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	remember
	record "weft records stacks of events" 0 -T -e sched:sched_switch -- ls -l /bin
	unchanged
	text
	check "stacks have their head" matches /tmp/r.txt '<stack trace>$'
	check "stacks have symbols" matches /tmp/r.txt '^ => [a-z_]*schedule'
	whole
	has_tracer function || return
	record "weft records stacks of functions" 0 -p function -l vfs_read --func-stack -- ls -l /bin
	text
	check "stacks of functions have symbols" matches /tmp/r.txt '^ => '
	unchanged "tracefs is as it was before both"
}
