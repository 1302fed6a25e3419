# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	local call calls=''

	[ -d $T/events/syscalls ] || { skip "syscalls" "this kernel has no syscall events"; return; }
	# All of them take a minute in an emulated guest.
	for call in openat read write close execve mmap newfstatat exit_group dup2 brk getdents64; do
		calls="$calls -e syscalls:sys_enter_$call -e syscalls:sys_exit_$call"
	done
	VARIANTS='verbose raw hex latency-format'
	if [ -e $T/syscall_user_buf_size ]; then
		skip "syscalls with fields" "this kernel prints where in its own buffer the pointer to a string lies"
	else
		VARIANTS="$VARIANTS fields"
	fi
	live syscalls 'ls -l /bin/busybox > /tmp/ls.out; cat /proc/uptime > /tmp/cat.out' $calls
}
