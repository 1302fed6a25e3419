# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	remember
	record "weft records the command alone" 0 -F -e syscalls -- ls -l /bin
	text
	grep -v '^#' /tmp/r.txt | grep -vE '^ *(ls|weft)-[0-9]' > /tmp/others.txt
	check "no other task is in it" equal "$(head -n 2 /tmp/others.txt)" ""
	check "the command is" matches /tmp/r.txt '^ *ls-[0-9]'
	record "weft records the command and its children" 0 -F -c -e syscalls -- sh -c 'ls /bin > /tmp/1; cat /tmp/1'
	text
	check "the first child is in it" matches /tmp/r.txt '^ *ls-[0-9]'
	check "the second child is in it" matches /tmp/r.txt '^ *cat-[0-9]'
	sleep 30 &
	record "weft records a task by its number" 0 -P $! -e sched -- true
	kill $!
	unchanged
}
