# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	has_tracer function_graph || { skip "function_graph" "no such tracer"; return; }
	# Without a filter an emulated guest is too slow.
	local ticks few="-l vfs_* -l do_sys* -l path_* -l *schedule* -l irq_*"
	[ "$(wc -l < $T/available_filter_functions)" -gt 30000 ] && few="-l vfs_* -l do_sys*"

	set -f
	VARIANTS='latency-format funcgraph-proc funcgraph-abstime funcgraph-tail nofuncgraph-cpu nofuncgraph-duration nofuncgraph-overhead
		nofuncgraph-irqs noirq-info nocontext-info raw hex verbose sym-addr funcgraph-proc,funcgraph-abstime,funcgraph-tail'
	live graph load -p function_graph $few
	VARIANTS='funcgraph-proc,funcgraph-abstime nofuncgraph-abstime,nofuncgraph-tail raw'
	live graph-depth 'ls -l /bin/busybox > /tmp/ls.out' -p function_graph $few -g do_sys_openat2 --max-graph-depth 3
	live graph-tail 'ls -l /bin/busybox > /tmp/ls.out' -p function_graph $few -O funcgraph-tail -O funcgraph-proc -O funcgraph-abstime
	# The clock that counts ticks of this machine instead of time.
	ticks=$(grep -owE -m 1 'x86-tsc|ppc-tb|s390-tod' $T/trace_clock | head -n 1)
	if [ -n "$ticks" ]; then
		live graph-tsc 'ls -l /bin/busybox > /tmp/ls.out' -p function_graph $few -C "$ticks"
	else
		skip "graph-tsc" "this machine has no clock of its own"
	fi
	if grep -q . $T/options/funcgraph-retval 2> /dev/null; then
		VARIANTS='funcgraph-retval-hex nofuncgraph-retval'
		live graph-retval 'ls -l /bin/busybox > /tmp/ls.out' -p function_graph $few -O funcgraph-retval
	else
		skip "graph-retval" "this kernel's function_graph has no return values"
	fi
}
