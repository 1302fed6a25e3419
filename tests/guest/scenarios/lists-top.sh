# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# Lists of tasks from which the kernel has taken all that ended trace no task, and no control file shows it: after each
# way to end weft the kernel's own events and functions are counted, of a known load.

. /host/lists.sh

scenario() {
	has_tracer function_graph || { skip "everything" "no such tracer"; return; }
	# Few functions, because switching each one takes an emulated CPU long.
	local g='-p function_graph -l do_sys_openat2 -g do_sys_openat2' pid

	goes_on "at boot" $T
	weft record -q -o /tmp/r.dat -F -c $g -- ls /bin > /dev/null 2>&1
	goes_on "after record -F -c" $T
	weft record -q -o /tmp/r.dat -F -c $g -- ./no-such-command > /dev/null 2>&1
	goes_on "after a record that failed" $T
	weft stream -q -F -c $g -- ls /bin > /dev/null 2>&1
	goes_on "after stream -F -c" $T

	weft record -q -o /tmp/r.dat -F -c $g -- sh -c 'ls /bin > /dev/null; echo > /tmp/ready; exec sleep 30' > /dev/null 2>&1 &
	pid=$!
	await '[ -s /tmp/ready ]'
	kill_children $pid
	kill -9 $pid
	rm -rf /tmp/r.dat.*.parts
	wait $pid 2> /dev/null
	weft reset 2> /dev/null
	goes_on "after a record that was killed, and reset" $T

	sleep 30 &
	pid=$!
	weft start $g -e sched -P $pid -c 2> /tmp/s.err
	end $pid
	weft stop
	weft reset 2> /dev/null
	goes_on "after start -P -c, stop and reset" $T

	sleep 30 &
	pid=$!
	weft set -P $pid -c -p function -l do_sys_openat2 2> /tmp/s.err
	end $pid
	weft reset 2> /dev/null
	goes_on "after set -P -c and reset" $T

	# Somebody else's own lists.
	empty_lists $T
	check "by then nobody is traced" equal "$(events $T)" 0
	weft stat > /tmp/stat.txt
	check "stat tells of a list that traces nobody" matches /tmp/stat.txt 'set_ftrace_pid .*no task'
	weft doctor > /tmp/doctor.txt
	check "so does doctor" matches /tmp/doctor.txt 'set_ftrace_pid.* no task'
	record "record at the top works beside them" 0 $g -- cat /dev/null /dev/null
	check "and says that it takes one away" matches /tmp/r.err "'set_ftrace_pid' .*empty list of tasks.*removed"
	text
	check "and has the function" more "$(grep -c do_sys_openat2 /tmp/r.txt)" 1
	goes_on "after that recording" $T
	empty_lists $T
	weft reset --all --yes > /dev/null 2>&1
	goes_on "after reset --all" $T

	# Somebody else's list is restored, even if the kernel has changed it meanwhile.
	sleep 30 &
	pid=$!
	echo $pid > $T/set_event_pid
	echo $pid > $T/set_ftrace_pid
	remember
	weft record -q -o /tmp/r.dat -F -c $g -- ls /bin > /dev/null 2>&1
	unchanged "somebody's lists are back"
	check "and hold" equal "$(events $T) $(functions $T)" "0 0"
	weft record -q -o /tmp/r.dat -c $g -e sched -- ls /bin > /dev/null 2>&1
	unchanged "so they are after record -c"
	end $pid
	weft stat > /tmp/stat.txt
	check "stat tells that the tasks of a list have ended" matches /tmp/stat.txt 'names only tasks that have ended: no task is traced'
}
