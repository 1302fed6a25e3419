# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	remember
	weft record -q -o /tmp/one.dat -e sched --duration 3s 2> /tmp/one.err &
	local first=$!
	weft record -q -o /tmp/r.dat -e syscalls -- ls -l /bin > /dev/null 2> /tmp/two.err
	check "the second of two recordings ends well" status_is $? 0 /tmp/two.err
	wait $first
	check "the first of two recordings ends well" status_is $? 0 /tmp/one.err
	unchanged
	text
	check "the second has its events" matches /tmp/r.txt 'sys_'
	check "and not those of the first" lacks /tmp/r.txt ': sched_switch:'
	mv /tmp/one.dat /tmp/r.dat
	text
	check "the first has its events" matches /tmp/r.txt ': sched_switch:'
	check "and not those of the second" lacks /tmp/r.txt ': sys_'
}
