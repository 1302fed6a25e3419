# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	has_tracer function_graph || { skip "function_graph" "no such tracer"; return; }
	for f in 'vfs_*' '*schedule*' 'ksys_*'; do echo "$f" >> $T/set_ftrace_filter; done
	echo function_graph > $T/current_tracer
	echo 1 > $T/events/sched/sched_switch/enable
	echo 1 > $T/events/sched/sched_waking/enable
	load
	echo 'a marker in the graph' > $T/trace_marker
	load
	exact graph-events
}
