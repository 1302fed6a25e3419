# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	has_tracer function_graph || { skip "function_graph" "no such tracer"; return; }
	set -f
	VARIANTS='funcgraph-proc nofuncgraph-irqs raw'
	live graph-events 'load; echo "a marker in the graph" > $I/trace_marker; load' -p function_graph -l 'vfs_*' -l '*schedule*' -l 'ksys_*' \
		-e sched:sched_switch -e sched:sched_waking
	live graph-stacks 'ls -l /bin/busybox > /tmp/ls.out' -p function_graph -l 'vfs_*' -e sched:sched_switch -T
}
