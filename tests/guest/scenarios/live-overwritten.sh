# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	echo 16 > $T/buffer_size_kb
	echo 1 > $T/events/sched/enable
	echo 1 > $T/events/irq/enable
	for i in 1 2 3 4 5 6; do load; done
	exact overwritten
	echo nooverwrite > $T/trace_options
	echo > $T/trace
	echo 1 > $T/tracing_on
	for i in 1 2 3 4 5 6; do load; done
	exact not-overwritten
	echo overwrite > $T/trace_options
	has_tracer function_graph || return
	for f in 'vfs_*' '*schedule*'; do echo "$f" >> $T/set_ftrace_filter; done
	echo function_graph > $T/current_tracer
	echo 1 > $T/tracing_on
	for i in 1 2 3; do load; done
	exact overwritten-graph
}
