# SPDX-License-Identifier: GPL-2.0-only
# The option bin: the bytes are those of the kernel, with and without the context of lines.
scenario() {
	VARIANTS='bin bin,nocontext-info'
	live sched 'ls / > /dev/null' -e sched
	has_tracer function && live function 'cat /proc/uptime > /dev/null' -p function -l 'vfs_*'
	live stacks 'ls / > /dev/null' -e sched_process_exec -T
	live marker 'echo hello > $T/trace_marker' -e sched_process_exec
}
