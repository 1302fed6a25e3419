# SPDX-License-Identifier: GPL-2.0-only
# Features that only the top instance has are used while somebody else has settings there: these must not affect the
# recording, and must all be restored.
everything() { state; grep -s '' $T/tracing_max_latency; grep -H '' $T/events/sched/*/enable $T/events/irq/*/enable; }

scenario() {
	has_tracer function_graph || { skip "borrow" "no such tracer"; return; }
	echo 'vfs_fsync' > $T/set_ftrace_filter
	echo 3 > $T/max_graph_depth
	echo 'prev_pid == 99999' > $T/events/sched/sched_switch/filter
	echo 'stacktrace if prev_pid == -5' > $T/events/sched/sched_switch/trigger
	echo 1 > $T/events/sched/sched_switch/enable
	echo 'stacktrace if prev_pid == -5' > $T/events/sched/sched_migrate_task/trigger
	echo 1 > $T/events/irq/enable
	echo 1 > $T/events/sched/sched_wakeup/enable
	echo 4321 > $T/set_event_pid
	echo 1 > $T/options/stacktrace
	echo 1 > $T/options/event-fork
	[ ! -e $T/tracing_max_latency ] || echo 5 > $T/tracing_max_latency
	everything > /tmp/before.txt
	record "weft records at the top beside somebody's settings" 0 -b 8192 -p function_graph -g do_sys_openat2 -e sched:sched_switch -e sched:sched_process_exec -- ls -l /bin
	everything > /tmp/after.txt
	same "all of them are back" /tmp/before.txt /tmp/after.txt
	check "it says that they were off" matches /tmp/r.err 'the top instance had settings that weft did not make'
	check "and the filter, too" matches /tmp/r.err 'the top instance had filters that weft did not set'
	weft info /tmp/r.dat > /tmp/info.txt 2>&1
	check "events of nobody else are in the file" lacks /tmp/info.txt ' irq:'
	check "somebody's filter and pids held nothing back" matches /tmp/info.txt ' sched:sched_switch'
	check "the command's exec is there" matches /tmp/info.txt ' sched:sched_process_exec'
	check "no stacks were recorded" lacks /tmp/info.txt 'kernel_stack'
	text
	check "the graph is deeper than somebody's depth" matches /tmp/r.txt '\|        [a-z_]+\('
	peers
	record "a private instance does not inherit somebody's stack traces" 0 -e sched:sched_switch -- ls -l /bin
	weft info /tmp/r.dat > /tmp/info.txt 2>&1
	check "no stacks were recorded there either" lacks /tmp/info.txt 'kernel_stack'
	everything > /tmp/after.txt
	same "all is still as it was" /tmp/before.txt /tmp/after.txt
}
