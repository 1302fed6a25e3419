# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# Every option of start that is one setting or another: it is set and restored; and messages about settings that the
# kernel lacks.

. /host/start.sh

scenario() {
	has_command start || { skip "everything" "weft has no start"; return; }
	local e='-e sched:sched_switch' known large=$(($(page_kb) * 4)) sized='^(10[0-9]|11[0-9])$' cpu=$(last_cpu)

	# The kernel rounds up to full pages.
	[ "$(page_kb)" -lt 64 ] || sized='^12[78]$'
	remember
	try "a size for one CPU" $T/per_cpu/cpu$cpu/buffer_size_kb "$sized" $e --cpu-buffer-size $cpu=100
	try "buffer-percent" $T/buffer_percent '^7$' $e --buffer-percent 7
	try "tracing_thresh" $T/tracing_thresh '^250$' $e --thresh 250us
	try "tasks left out" $T/set_event_notrace_pid "^$$\$" $e --no-pid $$
	try "tasks left out of functions" $T/set_ftrace_notrace_pid "^$$\$" -p function -l vfs_fsync --no-pid $$
	try "children followed" $T/trace_options '^event-fork$' $e -P $$ -c
	try "functions of children followed" $T/trace_options '^function-fork$' -p function -l vfs_fsync -P $$ -c
	try "graph functions left out" $T/set_graph_notrace '^vfs_fsync$' -p function_graph --no-graph-function vfs_fsync -l vfs_read
	try "names remembered" $T/saved_cmdlines_size '^[0-9]{4,}$' $e --cmdlines-size 9000
	try "functions of a module or none" $T/set_ftrace_filter '^vfs_fsync$' -p function -l vfs_fsync
	if [ -e $T/tracing_max_latency ]; then
		echo 77 > $T/tracing_max_latency
		remember
		try "the largest latency" $T/tracing_max_latency '^0$' $e --max-latency-reset
		echo 0 > $T/tracing_max_latency
		remember
	else
		tell "the largest latency" 'tracing_max_latency.*CONFIG_TRACER_MAX_TRACE' $e --max-latency-reset
	fi
	if [ -e $T/buffer_subbuf_size_kb ]; then
		try "the size of sub-buffers" $T/buffer_subbuf_size_kb "^$large\$" $e --subbuf-size ${large}K
		record "a recording has larger sub-buffers" 0 -e sched --subbuf-size ${large}K -- ls /bin
		whole
	else
		tell "a size of sub-buffers" 'buffer_subbuf_size_kb.*Linux 6.8' $e --subbuf-size 16K
	fi
	if [ -e $T/syscall_user_buf_size ]; then
		try "the user data of system calls" $T/syscall_user_buf_size '^20$' $e --syscall-data 20
	else
		tell "the user data of system calls" 'syscall_user_buf_size.*Linux 6.19' $e --syscall-data 20
	fi
	mkdir $T/instances/asks
	echo ':mod:not_there_yet' 2> /dev/null > $T/instances/asks/set_event
	known=$?
	rmdir $T/instances/asks
	if [ $known = 0 ]; then
		try "events of a module that may come" $T/set_event ':mod:not_there_yet$' -e ':mod:not_there_yet'
	else
		tell "events of a module that may come" 'needs Linux 6.14' -e ':mod:not_there_yet'
	fi
	tell "absolute time" 'cannot be switched to absolute ones' $e --absolute-time
	tell "a CPU that is not there" 'there is no CPU 99' $e --cpu-buffer-size 99=100
	tell "a function that is not there" "no function 'vfs_raed'.*did you mean 'vfs_read" -p function -l vfs_raed
	tell "a clock that is not there" "no trace clock 'mon'" $e -C mon
	tell "an option that is not there" "no option" $e -O no_such_option
	weft start -e sched -f 'prio < 100' > /tmp/s.err 2>&1
	check "a filter of a system works where it fits" status_is $? 0 /tmp/s.err
	check "and weft says where it does not" matches /tmp/s.err 'is valid for [0-9]+ of the [0-9]+ events'
	weft reset 2> /dev/null
	unchanged "nothing is left"
}
