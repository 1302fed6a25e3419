# SPDX-License-Identifier: GPL-2.0-only
# Texts that only the kernel can make: --stored prints them as it did.
scenario() {
	local i=$T/instances/texts h f

	mkdir $i
	h=$i/events/sched/sched_process_fork
	if [ -e $h/hist ]; then
		echo 'hist:keys=parent_comm:vals=hitcount:size=128' > $h/trigger
		load
		echo 'hist:keys=parent_comm:vals=hitcount:size=128:pause' >> $h/trigger
		cat $h/hist > /tmp/hist.txt
		remember
		record "weft records with --save hist" 0 -B texts -e sched:sched_switch --save hist -- true
		unchanged
		weft report --stored hist /tmp/r.dat > /tmp/h.txt
		same "--stored hist equals the kernel's histogram" /tmp/hist.txt /tmp/h.txt
		echo '!hist:keys=parent_comm:vals=hitcount:size=128' >> $h/trigger
		remember
		record "weft records with a histogram of its own" 0 -e sched:sched_process_fork -R hist:keys=parent_comm -- sh -c 'ls; ls'
		unchanged
		weft report --stored hist /tmp/r.dat > /tmp/h.txt
		check "its histogram is kept without a word" matches /tmp/h.txt '^# trigger info: hist:keys=parent_comm:'
		check "and has entries" matches /tmp/h.txt 'Hits: [1-9]'
	else
		skip "histograms" "this kernel has none"
	fi
	rmdir $i
	if [ -e $T/stack_trace ]; then
		echo 1 > /proc/sys/kernel/stack_tracer_enabled
		load
		echo 0 > /proc/sys/kernel/stack_tracer_enabled
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
