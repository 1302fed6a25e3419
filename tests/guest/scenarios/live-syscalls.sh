# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	local call way calls=''

	[ -d $T/events/syscalls ] || { skip "syscalls" "this kernel has no syscall events"; return; }
	# All of them take a minute in an emulated guest.
	for call in openat read write close execve mmap newfstatat exit_group dup2 brk getdents64; do
		# Few machines have all of them: newer ones have no dup2, and s390x has an mmap with another name.
		for way in enter exit; do
			[ ! -d $T/events/syscalls/sys_${way}_$call ] || calls="$calls -e syscalls:sys_${way}_$call"
		done
	done
	VARIANTS='verbose raw hex latency-format'
	if [ -e $T/syscall_user_buf_size ] || case $(uname -r) in 6.1[678].*) true ;; *) false ;; esac; then
		skip "syscalls with fields" "this kernel prints where in its own buffer the pointer to a string lies"
	else
		VARIANTS="$VARIANTS fields"
	fi
	live syscalls 'ls -l /bin/busybox > /tmp/ls.out; cat /proc/uptime > /tmp/cat.out' $calls
}
