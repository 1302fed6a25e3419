# SPDX-License-Identifier: GPL-2.0-only
# The recording of `make demo`, for machines that permit no tracing (tests/fixtures/demo.dat), and the session of README.md.
scenario() {
	cd /tmp || return
	mkdir -p music/album
	echo one > music/one.ogg
	weft record -e sched -e syscalls -o demo.dat -- ls music missing > demo.out 2>&1
	check "demo: the exit status is the command's" equal $? 1
	check "demo: the summary tells what was lost" matches demo.out ' 0 lost'
	weft report demo.dat > demo.txt
	check "demo: the report has the command's system calls" matches demo.txt ' ls-[0-9]+ .*sys_newfstatat|sys_stat'
	check "demo: the report has the scheduler" matches demo.txt ' sched_switch: '
	check "demo: trace.dat is whole" weft check demo.dat
	cp demo.dat demo.out /host/golden/
}
