# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	VARIANTS='noannotate raw latency-format'
	echo 16 > $T/buffer_size_kb
	echo 1 > $T/events/sched/enable
	echo 1 > $T/events/irq/enable
	for i in 1 2 3 4 5 6; do load; done
	taken overwritten
	echo nooverwrite > $T/trace_options
	echo > $T/trace
	echo 1 > $T/tracing_on
	for i in 1 2 3 4 5 6; do load; done
	taken not-overwritten
	echo overwrite > $T/trace_options
	has_tracer function_graph || return
	for f in 'vfs_*' '*schedule*'; do echo "$f" >> $T/set_ftrace_filter; done
	echo function_graph > $T/current_tracer
	echo 1 > $T/tracing_on
	for i in 1 2 3; do load; done
	taken overwritten-graph
	# A text does not contain what a reader of trace_pipe has taken.
	echo nop > $T/current_tracer
	echo 1 > $T/tracing_on
	load
	echo 0 > $T/tracing_on
	head -c 2000 $T/trace_pipe > /tmp/consumed
	echo 1 > $T/tracing_on
	load
	taken consumed
}
