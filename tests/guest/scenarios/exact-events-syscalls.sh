# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	[ -d $T/events/syscalls ] || { skip "events-syscalls" "this kernel has no syscall events"; return; }
	echo 1 > $T/events/syscalls/enable
	ls -l /bin/busybox > /tmp/ls.out
	cat /proc/uptime > /tmp/cat.out
	exact events-syscalls
}
