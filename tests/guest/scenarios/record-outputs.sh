# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	weft record -q -o - -e sched -- ls -l /bin 2> /tmp/r.err > /tmp/both.out
	check "a recording goes to standard output" status_is $? 0 /tmp/r.err
	weft record -q -o - -e sched -- true 2> /tmp/r.err > /tmp/r.dat
	text
	record "version 6 is written" 0 -q --file-version 6 -e sched -- ls -l /bin
	whole
	record "version 7 is written without compression" 0 -q --compression none -e sched -- ls -l /bin
	whole
	record "other clocks are recorded" 0 -q -C mono -e sched -- ls -l /bin
	text
	whole
	[ -e $T/per_cpu/cpu1 ] || { skip "one CPU is recorded" "this machine has no other"; return; }
	record "one CPU is recorded" 0 -q -M 1 -e sched -- ls -lR /sys/kernel/tracing/events/sched
	text
	check "and no other" lacks /tmp/r.txt ' \[000\] '
}
