# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# What the documents do with `>>`, with `!` and with the sysctls of tracing: lists of functions and of tasks grow and
# shrink, each is put back exactly, and the kernel's files are the judge.

. /host/start.sh

# names FILE: prints what the list has, sorted, on one line
names() { grep -v '^#' "$T/$1" | grep -v 'no pid' | sed 's/ \[.*//' | sort | tr '\n' ' ' | sed 's/ $//'; }

# set_is SENTENCE FILE NAMES OPTION...: after weft set with these options the list has these names
set_is() {
	local sentence="$1" file="$2" wanted="$3"

	shift 3
	weft set "$@" > /tmp/s.err 2>&1
	check "$sentence is set" status_is $? 0 /tmp/s.err
	check "$sentence is there" equal "$(names "$file")" "$wanted"
}

functions() {
	[ -e $T/set_ftrace_filter ] || { skip "lists of functions" "this kernel has no function tracing"; return; }
	set_is "a function" set_ftrace_filter vfs_read -l vfs_read
	set_is "another function instead" set_ftrace_filter vfs_write -l vfs_write
	set_is "one function more" set_ftrace_filter "vfs_read vfs_write" --add -l vfs_read
	set_is "a glob more" set_ftrace_filter "vfs_fsync vfs_fsync_range vfs_read vfs_write" --add -l 'vfs_fsync*'
	set_is "a glob less, a function more" set_ftrace_filter "vfs_open vfs_read vfs_write" --add -l vfs_open --remove -l 'vfs_fsync*'
	set_is "ten functions more" set_ftrace_filter "vfs_create vfs_fsync vfs_getattr vfs_llseek vfs_mkdir vfs_open vfs_read vfs_rename vfs_rmdir vfs_unlink vfs_write" \
		--add -l vfs_create -l vfs_fsync -l vfs_getattr -l vfs_llseek -l vfs_mkdir -l vfs_open -l vfs_rename -l vfs_rmdir -l vfs_unlink
	set_is "a function that is not in the list" set_ftrace_filter "vfs_create vfs_fsync vfs_getattr vfs_llseek vfs_mkdir vfs_open vfs_read vfs_rename vfs_rmdir vfs_unlink vfs_write" \
		--remove -l vfs_link
	weft set --add -l vfs_raed > /tmp/s.err 2>&1
	check "a function that the kernel lacks is an error" equal $? 1
	check "what is near is told" matches /tmp/s.err "no function 'vfs_raed'.*did you mean 'vfs_read"
	set_is "all but one" set_ftrace_filter vfs_read -l vfs_read
	set_is "the last function" set_ftrace_filter "" --remove -l vfs_read
	check "that all functions are traced now is told" matches /tmp/s.err "set_ftrace_filter.*all functions are traced"
	set_is "a command" set_ftrace_filter "vfs_fsync:traceoff:count=3" -l vfs_fsync:traceoff:3
	set_is "a command less" set_ftrace_filter "" --remove -l vfs_fsync:traceoff
	weft set -l vfs_read:traceoff
	cat /proc/version > /dev/null
	check "a command has turned tracing off" equal "$(cat $T/tracing_on)" 0
	set_is "functions left out" set_ftrace_notrace "vfs_fsync vfs_open" -n vfs_fsync --add -n vfs_open
	set_is "one function left out less" set_ftrace_notrace "vfs_open" --remove -n vfs_fsync
	check "reset works" weft reset
	unchanged "reset puts the lists of functions back"
	[ -e $T/set_graph_function ] || { skip "lists of function_graph" "this kernel has no function_graph"; return; }
	set_is "a graph function" set_graph_function vfs_read -g vfs_read
	set_is "a graph function more" set_graph_function "vfs_read vfs_write" --add -g vfs_write
	set_is "a graph function less" set_graph_function vfs_write --remove -g vfs_read
	set_is "graph functions left out" set_graph_notrace "vfs_fsync vfs_open" --no-graph-function vfs_open --add --no-graph-function vfs_fsync
	set_is "a graph function left out less" set_graph_notrace vfs_fsync --remove --no-graph-function vfs_open
	check "reset works again" weft reset
	unchanged "reset puts the lists of function_graph back"
	weft set -l vfs_read -g vfs_open -P 1
	weft set --add -l vfs_write
	weft start -p function 2> /tmp/s.err
	check "start: functions that set has set stay" equal "$(names set_ftrace_filter)" "vfs_read vfs_write"
	check "start: so do graph functions" equal "$(names set_graph_function)" vfs_open
	check "start: so do tasks" equal "$(names set_event_pid)" 1
	check "start: and nobody else is blamed" lacks /tmp/s.err 'weft did not make'
	check "reset works after set and start" weft reset
	unchanged "reset puts back what set and start have set"
	echo vfs_open > $T/set_ftrace_filter
	weft set --add -l vfs_read
	check "what another has set is kept" equal "$(names set_ftrace_filter)" "vfs_open vfs_read"
	weft reset > /dev/null 2>&1
	check "reset puts back what another has set" equal "$(names set_ftrace_filter)" vfs_open
	echo > $T/set_ftrace_filter
}

tasks() {
	local a b list

	sleep 1000 & a=$!
	sleep 1000 & b=$!
	set_is "a task" set_event_pid $a -P $a
	set_is "another task instead" set_event_pid $b -P $b
	set_is "one task more" set_event_pid "$(printf '%s\n' $a $b | sort | tr '\n' ' ' | sed 's/ $//')" --add -P $a
	set_is "one task less" set_event_pid $a --remove -P $b
	set_is "the last task" set_event_pid "" --remove -P $a
	check "that all tasks are traced now is told" matches /tmp/s.err "set_event_pid.*all tasks are traced"
	weft set -e sched:sched_switch -f 'prev_pid > 1'
	weft set -e sched -f 'target_cpu < 9' 2> /tmp/s.err
	check "events that the filter does not fit keep theirs, and that is told" matches /tmp/s.err 'stay as they are, 1 with a filter'
	check "they do" equal "prev_pid > 1" "$(cat $T/events/sched/sched_switch/filter)"
	weft set -v -e sched
	weft set -e sched:sched_process_exec
	echo > $T/trace
	busybox true
	check "all tasks are traced" matches $T/trace sched_process_exec
	set_is "tasks left out" set_event_notrace_pid $a --no-pid $a
	set_is "another task left out instead" set_event_notrace_pid $b --no-pid $b
	set_is "one task more left out" set_event_notrace_pid "$(printf '%s\n' $a $b | sort | tr '\n' ' ' | sed 's/ $//')" --add --no-pid $a
	set_is "one task less left out" set_event_notrace_pid $a --remove --no-pid $b
	if grep -qw function $T/available_tracers; then
		set_is "a task of functions" set_ftrace_pid $a -p function -l vfs_fsync -P $a
		set_is "a task of functions more" set_ftrace_pid "$(printf '%s\n' $a $b | sort | tr '\n' ' ' | sed 's/ $//')" --add -P $b
		set_is "a task of functions less" set_ftrace_pid $b --remove -P $a
		check "the list of events has lost it, too" equal "$(names set_event_pid)" $b
	fi
	check "reset works" weft reset
	kill $a $b
	wait $a $b 2> /dev/null
	unchanged "reset puts the lists of tasks back"
}

events() {
	set_is "events" set_event "sched:sched_switch sched:sched_wakeup" -e sched:sched_switch -e sched:sched_wakeup
	set_is "an event with !" set_event "sched:sched_switch" -e '!sched:sched_wakeup'
	set_is "a bare event with !" set_event "" -e '!sched_switch'
	set_is "events again" set_event "sched:sched_switch sched:sched_wakeup" --add -e sched:sched_switch -e sched:sched_wakeup
	set_is "an event less" set_event "sched:sched_wakeup" --remove -e sched:sched_switch
	check "reset works" weft reset
	unchanged "reset puts the events back"
	record "a recording without an event" 0 -e sched -e '!sched_switch' -- ls /
	text
	check "the recording lacks it" lacks /tmp/r.txt 'sched_switch:'
	check "the recording has others" matches /tmp/r.txt 'sched_process_exec:'
}

# The kernel is the judge of a filter: does it let the event of a task through whose name ends so?
filter() {
	local f=$T/events/sched/sched_process_exec/filter n

	cp /bin/busybox /tmp/wefttrue
	for n in '*true' '**true'; do
		echo > $T/trace
		echo "comm ~ \"$n\"" > $f
		echo 1 > $T/events/sched/sched_process_exec/enable
		/tmp/wefttrue true
		echo 0 > $T/events/sched/sched_process_exec/enable
		grep -q 'wefttrue.*sched_process_exec' $T/trace
		echo "$n $?" >> /tmp/filters
	done
	echo 0 > $f
	echo > $T/trace
	check "the kernel's '*TEXT' matches nothing, its '**TEXT' does" equal "$(tr '\n' ' ' < /tmp/filters)" "*true 1 **true 0 "
	weft start -e sched:sched_process_exec -f 'comm ~ "*true"' > /tmp/s.err 2>&1
	check "weft tells what to write" matches /tmp/s.err 'matches nothing: write comm ~ "\*\*true"'
	weft reset > /dev/null 2>&1
	weft start -e sched:sched_process_exec -f 'comm ~ "**true"' > /tmp/s.err 2>&1
	check "weft warns of nothing else" equal "$(cat /tmp/s.err)" ""
	/tmp/wefttrue true
	check "what weft says to write works" matches $T/trace 'wefttrue.*sched_process_exec'
	weft reset > /dev/null 2>&1
	weft start -e sched:sched_process_exec -f 'filename ~ "*true"' > /tmp/s.err 2>&1
	check "weft warns of no string of variable size" equal "$(cat /tmp/s.err)" ""
	/tmp/wefttrue true
	check "such a string matches" matches $T/trace 'wefttrue.*sched_process_exec'
	weft reset > /dev/null 2>&1
	unchanged "filters leave nothing"
}

sysctls() {
	local option name value words was

	while read -r option name value words; do
		[ -e /proc/sys/kernel/$name ] || { skip "$name" "this kernel has none"; continue; }
		was=$(cat /proc/sys/kernel/$name)
		weft set $option $words > /tmp/s.err 2>&1
		check "$name is set" status_is $? 0 /tmp/s.err
		check "$name is there" equal "$(cat /proc/sys/kernel/$name)" $value
		check "show tells $name" equal "$(weft show $name)" $value
		weft stat > /tmp/s.out
		check "stat tells $name" matches /tmp/s.out "$name"
		check "stat --check fails with $name" sh -c '! weft stat --check > /dev/null'
		check "reset works after $name" weft reset
		check "reset puts $name back" equal "$(cat /proc/sys/kernel/$name)" "$was"
		echo $value > /proc/sys/kernel/$name
		check "reset --all works with $name" weft reset --all --yes
		check "reset --all puts $name back" equal "$(cat /proc/sys/kernel/$name)" "$was"
	done <<- EOF
		--stack-tracer stack_tracer_enabled 1 on
		--traceoff-on-warning traceoff_on_warning 1 on
		--dump-on-oops ftrace_dump_on_oops 1 on
		--dump-on-oops ftrace_dump_on_oops 2 orig_cpu
	EOF
	weft set --tracepoint-printk on > /tmp/s.err 2>&1
	check "tracepoint_printk needs tp_printk" equal $? 1
	check "that is told" matches /tmp/s.err "stays '0'.*booted with tp_printk"
	weft set --dump-on-oops maybe > /tmp/s.err 2>&1
	check "another word is a wrong usage" equal $? 2
}

freed() {
	local was kb

	weft start -e sched:sched_switch -b 2M > /dev/null 2>&1
	weft reset > /dev/null 2>&1
	remember
	was=$(cat $T/buffer_size_kb)
	weft start --free-on-exit -e sched:sched_switch -b 3M -- sh -c "cat $T/buffer_size_kb > /tmp/during" > /tmp/s.err 2>&1
	check "start --free-on-exit works" status_is $? 0 /tmp/s.err
	check "the buffer is large while the command runs" more "$(cat /tmp/during)" 3000
	kb=$(cat $T/buffer_size_kb)
	check "the buffer is freed when it has ended" more 100 "$kb"
	check "reset works after that" weft reset
	check "reset puts the size back" equal "$(cat $T/buffer_size_kb)" "$was"
	weft start --free-on-exit -e sched:sched_switch -b 3M -- sh -c 'sleep 1000 < /dev/null > /dev/null 2>&1 & echo $! > /tmp/child'
	check "what the command has started keeps the buffer" more "$(cat $T/buffer_size_kb)" 3000
	kill -9 "$(cat /tmp/child)"
	until [ "$(cat $T/buffer_size_kb)" -lt 100 ] || [ $((n += 1)) -gt 500 ]; do sleep 0.1; done
	check "a kill frees the buffer, too" more 100 "$(cat $T/buffer_size_kb)"
	weft reset > /dev/null 2>&1
	weft start --free-on-exit -e sched:sched_switch -b 3M -- /nosuch > /tmp/s.err 2>&1
	check "a command that is missing is an error" equal $? 127
	check "its buffer is as before" equal "$(cat $T/buffer_size_kb)" "$was"
	weft start --free-on-exit -B own -e sched:sched_switch -b 3M -- true
	check "the buffer of an instance is freed" more 100 "$(cat $T/instances/own/buffer_size_kb)"
	weft reset > /dev/null 2>&1
	weft start --free-on-exit -e sched:sched_switch > /tmp/s.err 2>&1
	check "without a command it is a wrong usage" equal $? 2
	unchanged "it leaves nothing"
}

scenario() {
	has_command start || { skip "everything" "weft has no start"; return; }
	remember
	functions
	tasks
	events
	filter
	sysctls
	freed
}
