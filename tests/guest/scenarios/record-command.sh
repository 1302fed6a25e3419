# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	local call='sys_openat\(dfd: '

	openat_occurs || call='sys_execve\(filename: '
	remember
	record "weft records a command" 0 -e sched -e syscalls -- ls -l /bin
	check "the command's output is its own" matches /tmp/r.out busybox
	check "the summary counts events" matches /tmp/r.err '[0-9] events?'
	unchanged
	text
	check "the exec of the command is recorded" matches /tmp/r.txt 'sched_process_exec: filename=/bin/ls'
	check "system calls are printed as the kernel does" matches /tmp/r.txt "$call"
	whole
	peers
	record "its status is the command's" 42 -q -e sched -- sh -c 'exit 42'
	check "-q says nothing" equal "$(cat /tmp/r.err)" ""
	record "a command that does not exist gives 127" 127 -e sched -- /no/such/command
	record "a command that cannot be executed gives 126" 126 -e sched -- /etc/passwd
	record "an event that does not exist is an error" 125 -e sched:sched_swich -- ls
	check "which names it and one that does" matches /tmp/r.err 'sched_swich.*sched_switch'
	record "or a warning" 0 -i -e sched:sched_swich -e sched:sched_switch -- ls
	unchanged "tracefs is as it was before them all"
}
