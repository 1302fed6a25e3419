# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
. /host/examples.sh

scenario() {
	remember
	# All functions would take an emulated machine too long.
	example "ftrace.rst 2375-2378, 3411-3416" 'echo function > current_tracer; echo 1 > tracing_on; true; echo 0 > tracing_on' \
		'weft start -p function -- true; weft stop' 'echo vfs_read > set_ftrace_filter'
	example "ftrace.rst 2433-2436" 'echo 1 > set_ftrace_pid; echo function > current_tracer' 'weft set -P 1 -p function' \
		'echo vfs_read > set_ftrace_filter'
	example "ftrace.rst 2448" 'echo > set_ftrace_pid' "weft set -p function -P ''" \
		'echo vfs_read > set_ftrace_filter; echo 1 > set_ftrace_pid; echo function > current_tracer'
	example "ftrace.rst 2555-2558" 'echo 0 > tracing_on; echo $$ > set_ftrace_pid; echo function > current_tracer; echo 1 > tracing_on' \
		'weft start -p function -F -- true' 'echo vfs_read > set_ftrace_filter'
	example "ftrace.rst 2994-2998" 'echo hrtimer_nanosleep hrtimer_interrupt > set_ftrace_filter; echo function > current_tracer; \
		echo 1 > tracing_on; true; echo 0 > tracing_on' \
		'weft start -l hrtimer_nanosleep -l hrtimer_interrupt -p function -- true; weft stop'
	example "ftrace.rst 3043" "echo 'hrtimer_*' > set_ftrace_filter" "weft set -l 'hrtimer_*'"
	example "ftrace.rst 3096" 'echo > set_ftrace_filter' "weft set -l ''" 'echo vfs_read > set_ftrace_filter'
	example "ftrace.rst 3104-3107" "echo hrtimer_nanosleep > set_ftrace_filter; echo 'hrtimer_*' >> set_ftrace_filter" \
		"weft set -l hrtimer_nanosleep -l 'hrtimer_*'"
	example "ftrace.rst 3132" "echo '*preempt*' '*lock*' > set_ftrace_notrace" "weft set -n '*preempt*' -n '*lock*'"
	example "ftrace.rst 3175" 'echo 1 > set_ftrace_filter' 'weft set -l "$(weft list functions | head -n 1)"'
	example "ftrace.rst 3190" 'echo 1 50 > set_ftrace_filter' \
		'weft set -l "$(weft list functions | head -n 1)" -l "$(weft list functions | sed -n 50p)"'
	example "ftrace.rst 3205" 'echo vfs_open > set_graph_function' 'weft set -g vfs_open'
	example "ftrace.rst 3247-3248" 'echo vfs_open > set_graph_function; echo filp_close >> set_graph_function' \
		'weft set -g vfs_open -g filp_close'
	example "ftrace.rst 3253" 'echo > set_graph_function' "weft set -g ''" 'echo vfs_open > set_graph_function'
	example "ftrace.rst 3276" 'echo 0 > /proc/sys/kernel/ftrace_enabled' 'weft set --ftrace-enabled off'
	example "ftrace.rst 3277" 'echo 1 > /proc/sys/kernel/ftrace_enabled' 'weft set --ftrace-enabled on' \
		'echo 0 > /proc/sys/kernel/ftrace_enabled'
	examples_end
}
