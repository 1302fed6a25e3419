# SPDX-License-Identifier: GPL-2.0-only
# The sessions of README.md. What comes back in golden/ is tests/fixtures/session.
scenario() {
	cd /tmp || return
	mkdir -p music/album
	echo one > music/one.ogg
	weft record -e sched -e syscalls -o demo.dat -- ls music missing > demo.out 2>&1
	check "demo: the exit status is the command's" equal $? 1
	check "demo: the summary tells what was lost" matches demo.out ' 0 lost'
	weft report demo.dat > demo.txt
	check "demo: the report has the command's system calls" matches demo.txt ' ls-[0-9]+ .*sys_(newfstatat|fstatat64|stat)'
	check "demo: the report has the scheduler" matches demo.txt ' sched_switch: '
	check "demo: trace.dat is whole" weft check demo.dat
	cp demo.dat /host/golden/
	hunt
}

# A program is slow because it waits for one that sleeps.
hunt() {
	printf '%s\n' '#!/bin/sh' 'read -r question < ask' 'sleep 0.3' 'echo yes > reply' > confd
	printf '%s\n' '#!/bin/sh' 'echo "may I?" > ask' 'read -r answer < reply' 'cp music/one.ogg music/two.ogg' > deploy
	chmod +x confd deploy
	mkfifo ask reply
	./confd &
	weft record -e syscalls -e sched -o slow.dat -- ./deploy > slow.out 2>&1
	check "hunt: the exit status is the command's" equal $? 0
	weft syscalls --slowest 1 --comm deploy slow.dat > slow.txt
	check "hunt: it waited for the other end of a FIFO" matches slow.txt '^ *[0-9.]+ ms +open'
	weft sched --chain deploy slow.dat > slow.txt
	check "hunt: who woke it had been woken by who slept" matches slow.txt 'sleep.*confd.*deploy|deploy.*confd.*sleep'
	cp slow.dat /host/golden/
	./confd &
	weft record --for why -o why.dat -- ./deploy > why.out 2>&1
	check "hunt: the exit status is the command's, with all events" equal $? 0
	weft why why.dat > why.txt
	check "hunt: in one command, it waited for a sleep" matches why.txt '^# [789][0-9] % of the .*: sleep-[0-9]+ slept on its own timer$'
	cp why.dat why.out /host/golden/
}
