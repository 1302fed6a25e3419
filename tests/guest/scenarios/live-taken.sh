# SPDX-License-Identifier: GPL-2.0-only
# Buffers that existed before weft ran.
scenario() {
	VARIANTS='raw latency-format nocontext-info'
	echo 1 > $T/events/sched/enable
	load
	taken events
	echo 0 > $T/events/enable
	mkdir $T/instances/guest
	echo mono > $T/instances/guest/trace_clock
	echo 1 > $T/instances/guest/events/irq/enable
	load
	echo 'a marker' > $T/instances/guest/trace_marker
	taken instance $T/instances/guest
	echo > $T/trace
	has_tracer function_graph || return
	echo 'vfs_*' > $T/set_ftrace_filter
	echo function_graph > $T/current_tracer
	echo 1 > $T/events/sched/sched_switch/enable
	echo 1 > $T/tracing_on
	load
	VARIANTS='funcgraph-proc,funcgraph-abstime nofuncgraph-duration raw latency-format'
	taken graph
}
