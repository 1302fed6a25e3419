# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	VARIANTS='sym-offset sym-addr sym-offset,sym-addr raw verbose,latency-format'
	live event-stacks load -T -e sched:sched_switch -e sched:sched_process_exec
	VARIANTS='sym-addr raw'
	[ -d $T/events/syscalls ] && live user-stacks 'ls -l /bin/busybox > /tmp/ls.out' -O userstacktrace -e syscalls:sys_enter_openat \
		-e syscalls:sys_enter_write -e syscalls:sys_enter_execve
	echo > $T/trace
}
