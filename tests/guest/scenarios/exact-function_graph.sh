# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	has_tracer function_graph || { skip "function_graph" "no such tracer"; return; }
	# Without a filter an emulated guest is too slow.
	for f in 'vfs_*' 'do_sys*' 'path_*' '*schedule*' 'irq_*'; do
		echo "$f" >> $T/set_ftrace_filter
	done
	echo function_graph > $T/current_tracer
	load
	exact function_graph
}
