# SPDX-License-Identifier: GPL-2.0-only
# Somebody has settings in the top instance and in another one, and recordings must change each of them.
scenario() {
	has_tracer function_graph || { skip "undo" "no such tracer"; return; }
	echo 'prev_pid != 77' > $T/events/sched/sched_switch/filter
	echo 'stacktrace if prev_pid == -5' > $T/events/sched/sched_switch/trigger
	echo 1 > $T/events/sched/sched_wakeup/enable
	echo 'vfs_read' > $T/set_ftrace_filter
	echo 'vfs_write' >> $T/set_ftrace_filter
	echo 'vfs_open' > $T/set_ftrace_notrace
	echo 'vfs_fsync' > $T/set_graph_function
	echo 7 > $T/max_graph_depth
	echo global > $T/trace_clock
	echo 4321 > $T/set_event_pid
	echo 1 > $T/options/sym-offset
	mkdir $T/instances/somebody
	echo 'prev_prio < 50' > $T/instances/somebody/events/sched/sched_switch/filter
	echo 1 > $T/instances/somebody/events/irq/enable
	echo 'stacktrace if prev_pid == -5' > $T/instances/somebody/events/sched/sched_switch/trigger
	echo mono > $T/instances/somebody/trace_clock
	echo 300 > $T/instances/somebody/buffer_size_kb
	everything > /tmp/before.txt

	weft record -p function_graph -g do_sys_openat2 -l 'do_sys*' --max-graph-depth 3 -O funcgraph-tail -C mono -b 600 -o /tmp/graph.dat -- \
		ls / > /dev/null 2> $OUT/graph.err
	check "function_graph with -g is recorded" equal $? 0
	weft report /tmp/graph.dat > $OUT/graph.txt
	check "its text has the function" matches $OUT/graph.txt 'do_sys_openat2'
	everything > /tmp/after-graph.txt
	same "recording with -g puts the top instance back" /tmp/before.txt /tmp/after-graph.txt

	weft record -B somebody -e sched -f 'common_pid > 0' -e block -R stacktrace -C local -b 100 -o /tmp/some.dat -- ls / > /dev/null \
		2> $OUT/some.err
	check "an existing instance is recorded" equal $? 0
	everything > /tmp/after-some.txt
	same "recording in an existing instance leaves it as it was" /tmp/before.txt /tmp/after-some.txt

	weft record -p function_graph -l 'vfs_*' -g vfs_read -e sched -C mono -o /tmp/killed.dat 2> /dev/null &
	local pid=$!
	await '[ "$(cat $T/current_tracer) $(cat $T/tracing_on)" = "function_graph 1" ]'
	kill -9 $pid
	wait $pid 2> /dev/null
	weft recover /tmp/killed.dat > $OUT/recover.log 2>&1
	everything > /tmp/after.txt
	same "after a kill, weft recover puts the top instance back" /tmp/before.txt /tmp/after.txt
	rmdir $T/instances/somebody
}

everything() {
	state
	grep -H '' $T/events/sched/*/enable $T/instances/somebody/events/sched/*/enable
	grep -H '' $T/instances/somebody/events/sched/*/filter $T/instances/somebody/events/*/*/trigger \
		$T/instances/somebody/set_event $T/instances/somebody/trace_clock $T/instances/somebody/buffer_size_kb \
		$T/instances/somebody/tracing_on $T/instances/somebody/trace_options
}
