# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# Like lists-top, in somebody's instance, which has lists of its own.

. /host/lists.sh

scenario() {
	local i=$T/instances/somebody pid

	mkdir $i
	goes_on "at first" $i
	weft record -q -o /tmp/r.dat -B somebody -F -c -e sched -p function -l do_sys_openat2 -- ls /bin > /dev/null 2>&1
	goes_on "after record -F -c" $i
	weft stream -q -B somebody -F -c -e sched -- ls /bin > /dev/null 2>&1
	goes_on "after stream -F -c" $i
	[ ! -e $T/events/sched/sched_switch/hist ] || {
		weft hist -B somebody sched:sched_switch --keys next_pid -F -c -- ls /bin > /tmp/h.txt 2>&1
		goes_on "after hist -F -c" $i
	}
	sleep 30 &
	pid=$!
	weft start -B somebody -e sched -p function -l do_sys_openat2 -P $pid -c 2> /tmp/s.err
	end $pid
	weft reset 2> /dev/null
	goes_on "after start -P -c and reset" $i

	sleep 30 &
	pid=$!
	weft record -q -o /tmp/r.dat -B somebody -P $pid -c -e sched --duration 30s > /dev/null 2>&1 &
	await '[ "$(cat $i/set_event_pid)" = $pid ]'
	kill -9 $!
	wait $! 2> /dev/null
	end $pid
	weft reset 2> /dev/null
	goes_on "after a record that was killed, and reset" $i

	# The option alone makes the kernel remove tasks from a list.
	sleep 30 &
	pid=$!
	echo $pid > $i/set_event_pid
	weft set -B somebody -O event-fork 2> /tmp/s.err
	end $pid
	check "the kernel has taken it out" is_empty $i
	weft reset 2> /dev/null
	check "reset puts it back into the list" equal "$(cat $i/set_event_pid)" $pid
	echo > $i/set_event_pid

	empty_lists $i
	weft record -o /tmp/r.dat -B somebody -p function -l do_sys_openat2 -- ls /bin > /dev/null 2> /tmp/r.err
	check "record in it says that nobody is traced" matches /tmp/r.err 'set_ftrace_pid.* no task'
	weft stat > /tmp/stat.txt
	check "and so does stat" matches /tmp/stat.txt 'set_ftrace_pid .*no task'
	echo > $i/set_ftrace_pid
	weft record -o /tmp/r.dat -B somebody -e sched -- ls /bin > /dev/null 2> /tmp/r.err
	check "of a list of events that cannot be seen record tells when there was no event" matches /tmp/r.err "set_event_pid"
	rmdir $i
}
