# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# Triggers and function commands as events.rst has them: the workload gets the count that was asked for; a write to
# trace_marker is an event with triggers; what is armed acts from the workload's first instruction on; histograms with variables and actions go in the order of their references.

. /host/start.sh

stacks() { grep -c '<stack trace>'; }
none_left() { [ -z "$(ls $T/instances)" ] && ! grep -q '^hist' $T/events/sched/sched_switch/trigger $T/events/sched/sched_waking/trigger; }

counted() {
	local n files
	# single_open() allocates for each of them.
	files=$(for n in 1 2 3 4 5 6 7 8; do echo /proc/version /proc/version /proc/version; done)
	for n in 2 20; do
		weft record -q -e kmem:kmalloc -R "stacktrace:$n if bytes_req >= 8" -o /tmp/c.dat -- cat $files > /dev/null
		check "record: stacktrace:$n gives $n stacks" equal $n "$(weft report --self /tmp/c.dat | stacks)"
	done
	weft start -e kmem:kmalloc -R 'stacktrace:2 if bytes_req >= 8'
	cat $files > /dev/null
	weft stop
	check "start: stacktrace:2 gives 2 stacks in the kernel's own text" equal 2 "$(stacks < $T/trace)"
	weft reset > /dev/null 2>&1
	check "stream: stacktrace:2 gives 2 stacks" equal 2 "$(weft stream -q --self -e kmem:kmalloc -R 'stacktrace:2' -- cat $files 2> /dev/null | grep -v '^Linux version' | stacks)"
	weft record -q -e sched:sched_process_exec -R enable_event:sched:sched_process_exit:1 -o /tmp/c.dat -- sh -c 'busybox true; :'
	check "record: enable_event:...:1 acts on the workload's first exec" more "$(weft report /tmp/c.dat | grep -c sched_process_exit)" 0
	[ -e $T/set_ftrace_filter ] || { skip "function commands" "this kernel has no function tracing"; return; }
	weft record -q -e sched:sched_process_exec -l vfs_read:stacktrace:3 -o /tmp/c.dat -- dd if=/dev/zero of=/dev/null bs=1 count=10 2> /dev/null
	check "record: -l vfs_read:stacktrace:3 gives 3 stacks" equal 3 "$(weft report --self /tmp/c.dat | stacks)"
	check "record: a count that is none is refused before the command runs" \
		sh -c '! weft record -q -l vfs_read:stacktrace:x3 -o /tmp/c.dat -- touch /tmp/ran && [ ! -e /tmp/ran ]'
}

# by_hand COMMAND-OF-A-FUNCTION: prints how many kmalloc the kernel records of `cat` when it is set by hand
by_hand() {
	local I=$T/instances/hand

	mkdir $I
	echo 0 > $I/tracing_on
	echo "$2" > $I/events/kmem/kmalloc/enable
	busybox sh -c "echo \$\$ > $I/set_event_pid; echo '$1' >> $I/set_ftrace_filter; echo 1 > $I/tracing_on; exec busybox md5sum $files" > /dev/null
	echo 0 > $I/tracing_on
	grep -c 'kmalloc:' $I/trace
	rmdir $I
}

# Nothing that weft does before, or after the last step of start, sets off what a user arms.
placed() {
	local on=vfs_read:enable_event:kmem:kmalloc off=vfs_read:disable_event:kmem:kmalloc files='/proc/version /proc/version'

	[ -e $T/set_ftrace_filter ] || return
	weft record -q -e sched:sched_process_exec -l $on:1 -o /tmp/c.dat -- busybox md5sum $files > /dev/null
	weft report --self /tmp/c.dat | sed '/sched_process_exec/,$d' | grep -c 'kmalloc:' > /tmp/before
	check "record: enable_event:...:1 records nothing before the workload calls the function" equal 0 "$(cat /tmp/before)"
	check "record: enable_event:...:1 records what comes after" more "$(weft report --self /tmp/c.dat | grep -c 'kmalloc:')" 0
	check "by hand it does, too" more "$(by_hand $on:1 0)" 0
	weft record -q -e kmem:kmalloc -l $off -o /tmp/c.dat -- busybox cat /proc/version > /dev/null
	check "by hand there are kmalloc before disable_event" more "$(by_hand $off 1)" 0
	check "record: disable_event takes no effect before the workload calls the function" more "$(weft report --self /tmp/c.dat | grep -c 'kmalloc:')" 0
	weft start -l vfs_rename:traceoff -l vfs_write:traceoff
	check "start: its own last steps do not set traceoff off" equal 1 "$(cat $T/tracing_on)"
	check "start: the workload does" sh -c "mv /tmp/before /tmp/later; grep -q 0 $T/tracing_on"
	weft reset > /dev/null 2>&1
	weft set -l vfs_rename:traceoff
	check "set: its own last steps do not set traceoff off" equal 1 "$(cat $T/tracing_on)"
	weft reset > /dev/null 2>&1
	weft start -l vfs_rename:traceoff -- busybox cat $T/tracing_on > /tmp/on 2> /tmp/s.err
	check "start COMMAND: what weft does meanwhile does not set traceoff off" equal 1 "$(cat /tmp/on)"
	weft reset > /dev/null 2>&1
	weft start -l vfs_read:enable_event:sched:sched_switch
	cat /proc/version > /dev/null
	check "start: enable_event enables the event" equal '1*' "$(cat $T/events/sched/sched_switch/enable)"
	weft reset > /dev/null 2>&1
	check "reset: the event is off again" equal 0 "$(cat $T/events/sched/sched_switch/enable)"
	weft start -e sched:sched_process_exec -R enable_event:sched:sched_switch
	busybox true
	weft reset > /dev/null 2>&1
	check "reset: the event that a trigger has enabled is off again" equal 0 "$(cat $T/events/sched/sched_switch/enable)"
	check "the same trigger twice is one" weft start -e sched:sched_process_exec -R traceoff -e sched:sched_process_exec -R traceoff
	weft reset > /dev/null 2>&1
	check "a command that cannot run leaves nothing" sh -c '! weft start -l vfs_read:traceoff -e sched:sched_switch -- /no/such/program 2> /dev/null'
	unchanged "tracefs is as it was before that command"
	! grep -q hist $T/events/sched/sched_switch/trigger || ! openat_occurs || {
		weft record -q -e syscalls:sys_enter_openat -R hist:keys=common_pid -o /tmp/c.dat -- busybox md5sum $files > /dev/null
		weft report --stored hist /tmp/c.dat > /tmp/h.txt
		check "record: a histogram counts what is recorded, and nothing before" matches /tmp/h.txt \
			"Hits: $(weft report --self /tmp/c.dat | grep -c sys_openat)\$"
	}
}

actions() {
	weft set -e sched:sched_process_exec -R traceoff
	busybox true
	check "set: traceoff has turned tracing off" equal 0 "$(cat $T/tracing_on)"
	weft reset > /dev/null 2>&1
	check "reset: turns tracing on again" equal 1 "$(cat $T/tracing_on)"
	grep -qw snapshot $T/events/sched/sched_switch/trigger || { skip "snapshots" "this kernel has none"; return; }
	check "record: refuses a snapshot that nobody could see" \
		sh -c '! weft record -q -e sched:sched_switch -R snapshot:1 -o /tmp/c.dat -- touch /tmp/ran2 && [ ! -e /tmp/ran2 ]'
	check "stream: refuses a histogram that takes snapshots" \
		sh -c 'weft stream -q -e sched:sched_switch -R "hist:keys=next_pid:s=prev_prio:onchange(\$s).snapshot()" -- touch /tmp/ran2 2>&1 |
			grep -q "extract -s" && [ ! -e /tmp/ran2 ]'
}

marker() {
	local E=$T/events/ftrace/print/trigger
	[ -e $E ] || { skip "triggers on ftrace:print" "this kernel has none"; return; }
	weft start -e sched:sched_process_exec -e ftrace:print -R traceoff
	check "start: the kernel has the trigger on ftrace:print" matches $E '^traceoff:unlimited'
	echo stop > $T/trace_marker
	check "what is written to trace_marker stops tracing" equal 0 "$(cat $T/tracing_on)"
	weft reset > /dev/null 2>&1
	check "reset removes the trigger on ftrace:print" lacks $E '^traceoff'
	echo stacktrace > $E
	weft stat > /tmp/stat
	check "stat shows a trigger on ftrace:print" matches /tmp/stat 'ftrace:print *stacktrace:unlimited'
	check "stat --check fails with it" sh -c '! weft stat --check > /dev/null'
	weft reset --all --yes > /dev/null 2>&1
	check "reset --all removes it" lacks $E '^stacktrace'
}

hists() {
	local first='hist:keys=pid:ts0=common_timestamp.usecs' pid second
	grep -q hist $T/events/sched/sched_switch/trigger || { skip "histograms" "this kernel has none"; return; }
	second='hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmax($lat).save(next_comm)'
	check "record: such triggers end well" weft record -q -e sched:sched_waking -R "$first" -e sched:sched_switch -R "$second" -o /tmp/h.dat -- ls /
	check "record: such triggers leave nothing" none_left
	weft record -q -e sched:sched_waking -R "$first" -e sched:sched_switch -R "$second" -o /tmp/h.dat &
	pid=$!
	await 'grep -qs sched $T/instances/weft-$pid/set_event && grep -qs 1 $T/instances/weft-$pid/tracing_on'
	kill -9 $pid
	wait $pid 2> /dev/null
	check "reset: works after kill -9 of such a recording" weft reset
	check "reset: nothing is left after kill -9" none_left
	rm -rf /tmp/h.dat*
	check "start -B: takes such triggers" weft start -B here -e sched:sched_waking -R "$first" -e sched:sched_switch -R "$second"
	check "reset: removes the instance of start -B" weft reset
	check "reset: nothing is left of start -B" none_left
	check "start: takes such triggers in the top instance" weft start -e sched:sched_waking -R "$first" -e sched:sched_switch -R "$second"
	check "reset: removes them from the top instance" weft reset
	check "reset: nothing is left in the top instance" none_left
	mkdir $T/instances/others
	echo "$first" > $T/instances/others/events/sched/sched_waking/trigger
	echo "$second" > $T/instances/others/events/sched/sched_switch/trigger
	check "reset --all: removes an instance with such triggers" weft reset --all --yes
	check "reset --all: nothing is left" none_left
}

scenario() {
	has_command start || { skip "everything" "weft has no start"; return; }
	remember
	counted
	placed
	actions
	marker
	hists
}
