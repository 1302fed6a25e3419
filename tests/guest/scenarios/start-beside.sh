# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# Triggers and function commands together with those of somebody else, messages about wrong ones, and a recording with
# them that is killed.

. /host/start.sh

E=$T/events/sched/sched_switch/trigger
F=$T/set_ftrace_filter

scenario() {
	has_command start || { skip "everything" "weft has no start"; return; }
	echo 'vfs_link:traceoff:7' >> $F
	echo 'traceoff:9 if prev_pid == 99998' > $E
	remember
	try "a command beside somebody's" $F '^vfs_open:traceoff:count=[0-2]' -e sched:sched_switch -l vfs_open:traceoff:2
	try "a trigger beside somebody's" $E '^stacktrace:count=[0-2]' -e sched:sched_switch -R stacktrace:2

	weft set -l '!vfs_link:traceoff:0' -e sched:sched_switch -R '!traceoff' > /tmp/s.err 2>&1
	check "set takes away a command and a trigger" status_is $? 0 /tmp/s.err
	check "the command is gone" lacks $F traceoff
	check "the trigger is gone" lacks $E '^traceoff'
	weft reset > /tmp/s.err 2>&1
	unchanged "reset sets them again"

	weft start -e sched:sched_switch -R 'traceof:3' > /tmp/s.err 2>&1
	check "a trigger that is not there is an error with a near one" matches /tmp/s.err "did you mean.*'traceoff'"
	weft start -e sched:sched_switch -l 'vfs_read:traceof' > /tmp/s.err 2>&1
	check "a command that is not there is an error with a near one" matches /tmp/s.err "did you mean.*'traceoff'"
	weft start -e sched:sched_switch -l 'vfs_link:traceoff:3' > /tmp/s.err 2>&1
	check "a command that is there already is told" matches /tmp/s.err "'vfs_link' has the command traceoff already"
	weft start -e sched:sched_switch -l 'vfs_raed:traceoff' > /tmp/s.err 2>&1
	check "a function that is not there is one" matches /tmp/s.err "did you mean 'vfs_read"
	weft start -e sched:sched_switch -l 'vfs_read:enable_event:sched' > /tmp/s.err 2>&1
	check "enable_event wants an event" matches /tmp/s.err 'takes an event'
	weft start -e sched:sched_switch -R 'enable_event:irq:no_such' > /tmp/s.err 2>&1
	check "a trigger's event that is not there is an error" equal $? 1
	unchanged "errors leave nothing"

	weft record -e sched:sched_switch -R 'stacktrace:2' -p function -l vfs_link -l 'vfs_*:traceoff:100000000' -o /tmp/k.dat \
		-B somewhere -e irq -R 'traceoff:5 if common_pid == 99998' > /tmp/s.err 2>&1 &
	local pid=$!
	await 'grep -q 1 $T/instances/somewhere/tracing_on'
	kill -9 $pid
	wait $pid 2> /dev/null
	weft reset > /tmp/s.err 2>&1
	check "reset works after a record that was killed" status_is $? 0 /tmp/s.err
	unchanged "a killed record leaves nothing once reset ran"
}
