# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	local few=

	set -f
	remember
	if has_tracer function; then
		timeout 100 weft stream -q -p function -l 'vfs_*' -F -c -- ls -l /bin/busybox > /tmp/s.txt 2> /tmp/s.err
		check "weft stream -p function ends with status 0" status_is $? 0 /tmp/s.err
		check "functions are named" matches /tmp/s.txt ': vfs_read <-'
		unchanged "tracefs is as it was before the functions"
	else
		skip "function" "no such tracer"
	fi
	for tracer in irqsoff wakeup_rt; do
		has_tracer $tracer || { skip $tracer "no such tracer"; continue; }
		timeout 100 weft stream -p $tracer -O nofunction-trace -e sched:sched_switch -- chrt -f 10 sh -c 'i=0; while [ $i -lt 30 ]; do sleep 0.01; i=$((i + 1)); done' > /tmp/s.txt 2> /tmp/s.err
		check "weft stream -p $tracer ends with status 0" status_is $? 0 /tmp/s.err
		head -30 /tmp/s.txt; cat /tmp/s.err
		# The kernel prints no head to trace_pipe; how long the longest latency is going to be, nobody knows.
		check "the head of $tracer tells no latency" lacks /tmp/s.txt '^# latency:'
		check "nobody else has cleared the buffer of $tracer" lacks /tmp/s.err 'somebody else'
		unchanged "tracefs is as it was before $tracer"
	done
	has_tracer function_graph || { skip "function_graph" "no such tracer"; return; }
	[ "$(wc -l < $T/available_filter_functions)" -gt 30000 ] && few="-l do_sys* -l do_fil*_open -l path_openat -l *alloc_fd*"
	timeout 100 weft stream -q -p function_graph $few -g do_sys_openat2 -F -- ls -l /bin/busybox > /tmp/s.txt 2> /tmp/s.err
	check "weft stream -p function_graph ends with status 0" status_is $? 0 /tmp/s.err
	check "the header is the graph's" matches /tmp/s.txt '^# tracer: function_graph$'
	check "calls are nested" matches /tmp/s.txt '\|  do_sys_openat2\(\) \{'
	check "leaves are one line" matches /tmp/s.txt '\|    +[a-z_0-9.]+\(\);'
	unchanged "tracefs is as it was before the graph"
}
