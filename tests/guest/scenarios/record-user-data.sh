# SPDX-License-Identifier: GPL-2.0-only
# What programs write is in a recording of Linux 6.19 and later: record says so, and --no-user-data leaves it out.
scenario() {
	remember
	record "--no-user-data is taken by every kernel" 0 --no-user-data -e syscalls -- sh -c 'echo very secret > /tmp/u'
	text
	check "nothing of what was written is in it" lacks /tmp/r.txt 'very secret'
	check "nothing is said of it" lacks /tmp/r.err 'bytes of what programs wrote'
	[ -e $T/syscall_user_buf_size ] || { skip "the kernel's own data" "this kernel stores none"; return; }
	record "record stores it otherwise" 0 -e syscalls -- sh -c 'echo very secret > /tmp/u'
	check "and says so" matches /tmp/r.err 'has up to 63 bytes of what programs wrote'
	text
	check "it is there" matches /tmp/r.txt 'sys_write.*very secret'
	record "a size that was asked for is not told" 0 --syscall-data 8 -e syscalls -- true
	check "there is no note" lacks /tmp/r.err 'bytes of what programs wrote'
	unchanged
}
