# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	has_tracer function || { skip "function" "no such tracer"; return; }
	echo vfs_read > $T/set_ftrace_filter
	echo function > $T/current_tracer
	echo 1 > $T/options/func_stack_trace
	load
	echo 0 > $T/tracing_on
	exact function-stacktrace
	echo 0 > $T/options/func_stack_trace
}
