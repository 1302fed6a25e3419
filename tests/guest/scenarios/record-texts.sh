# SPDX-License-Identifier: GPL-2.0-only
# Texts that only the kernel can make: --stored prints them unchanged.
scenario() {
	local f

	if [ -e $T/stack_trace ]; then
		# All functions would take an emulated CPU long.
		echo 'vfs_*' > $T/stack_trace_filter
		echo 1 > /proc/sys/kernel/stack_tracer_enabled
		load
		echo 0 > /proc/sys/kernel/stack_tracer_enabled
		echo > $T/stack_trace_filter
		cat $T/stack_trace > /tmp/stack.txt
		remember
		record "weft records with --save stack" 0 -e sched:sched_switch --save stack -- true
		unchanged
		weft report --stored stack /tmp/r.dat > /tmp/s.txt
		same "--stored stack equals stack_trace" /tmp/stack.txt /tmp/s.txt
	else
		skip "stack_trace" "this kernel has none"
	fi
	if [ -e $T/function_profile_enabled ]; then
		echo 'vfs_*' > $T/set_ftrace_filter
		echo 1 > $T/function_profile_enabled
		load
		echo 0 > $T/function_profile_enabled
		for f in $T/trace_stat/function*; do cat $f; done > /tmp/stat.txt
		remember
		record "weft records with --save stat" 0 -e sched:sched_switch --save stat -- true
		unchanged
		for f in $T/trace_stat/function*; do weft report --stored trace_stat/${f##*/} /tmp/r.dat; done > /tmp/s.txt
		same "--stored equals trace_stat" /tmp/stat.txt /tmp/s.txt
	else
		skip "trace_stat" "this kernel has no function profiler"
	fi
}
