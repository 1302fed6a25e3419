# SPDX-License-Identifier: GPL-2.0-only
# Functions of the scenarios about lists of tasks. ROOT is the directory of an instance.

# events ROOT, functions ROOT: prints how many of them the kernel itself traces during a small load
events() {
	echo > $1/trace
	echo 1 > $1/events/sched/sched_process_exec/enable
	for n in 1 2 3; do /bin/busybox true; done
	echo 0 > $1/events/sched/sched_process_exec/enable
	grep -c ': sched_process_exec:' $1/trace
}

functions() {
	echo > $1/trace
	echo do_sys_openat2 > $1/set_ftrace_filter
	echo function > $1/current_tracer
	/bin/busybox cat /dev/null /dev/null /dev/null
	grep -c 'do_sys_openat2' $1/trace
	echo nop > $1/current_tracer
	echo > $1/set_ftrace_filter
}

goes_on() {
	check "$1 events are traced" more "$(events $2)" 2
	has_tracer function || return 0
	check "$1 functions are traced" more "$(functions $2)" 2
}

# empty_lists ROOT: puts the lists into the state in which the kernel leaves them after all tasks of a list have ended
empty_lists() {
	local pid

	sleep 30 &
	pid=$!
	echo 1 > $1/options/event-fork
	echo 1 > $1/options/function-fork
	echo $pid > $1/set_event_pid
	echo $pid > $1/set_ftrace_pid
	end $pid
	is_empty $1
	echo 0 > $1/options/event-fork
	echo 0 > $1/options/function-fork
}

# end PID: ends a child process
end() {
	kill $1
	wait $1 2> /dev/null
}

is_empty() { await "[ -z \"\$(cat $1/set_event_pid)\" ]"; }

kill_children() {
	local child

	for child in $(cat /proc/$1/task/*/children); do kill -9 $child; done
}
