# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# Every trigger command of events.rst: set in the top instance, checked there, and removed. The last is that of snapshot --on.

. /host/start.sh

E=$T/events/sched/sched_switch/trigger

scenario() {
	has_command start || { skip "everything" "weft has no start"; return; }
	remember
	try "trigger traceon" $E '^traceon:unlimited if prev_prio' -e sched:sched_switch -R 'traceon if prev_prio > 5'
	try "trigger traceoff" $E '^traceoff:count=[0-9]' -e sched:sched_switch -R 'traceoff:3 if prev_pid == 99999'
	try "trigger stacktrace" $E '^stacktrace:unlimited' -e sched:sched_switch -R stacktrace
	try "trigger enable_event" $E '^enable_event:irq:irq_handler_entry:count=[0-2]' -e sched:sched_switch -R enable_event:irq:irq_handler_entry:2
	try "trigger disable_event" $E '^disable_event:irq:irq_handler_entry' -e sched:sched_switch -R disable_event:irq:irq_handler_entry
	if grep -q hist $E; then
		try "trigger hist" $E '^hist:keys=next_pid' -e sched:sched_switch -R hist:keys=next_pid
		try "trigger enable_hist" $E '^enable_hist:sched:sched_wakeup' -e sched:sched_wakeup -R hist:keys=pid:pause \
			-e sched:sched_switch -R enable_hist:sched:sched_wakeup
		try "trigger disable_hist" $E '^disable_hist:sched:sched_wakeup' -e sched:sched_wakeup -R hist:keys=pid \
			-e sched:sched_switch -R disable_hist:sched:sched_wakeup
		try "a histogram of CPUs" $E '^hist:keys=next_pid,.*cpu:' -e sched:sched_switch -R hist:keys=next_pid,cpu:sort=cpu
		try "a histogram of time" $E '^hist:keys=common_timestamp' -e sched:sched_switch -R hist:keys=common_timestamp:clock=mono
	else
		skip "trigger hist" "this kernel has none"
	fi
	if [ -e $T/snapshot ]; then
		try "trigger snapshot" $E '^snapshot:count=[0-9]' -e sched:sched_switch -R 'snapshot:1 if prev_pid == 99999'
		# weft renames its journal when it keeps the trigger.
		weft snapshot --on syscalls:sys_enter_renameat2 --count 5 2> /tmp/on.err
		check "snapshot --on ends with status 0" status_is $? 0 /tmp/on.err
		check "nothing that weft does itself has set it off" matches $T/events/syscalls/sys_enter_renameat2/trigger '^snapshot:count=5$'
		weft reset > /dev/null 2>&1
		check "reset removes it" matches $T/events/syscalls/sys_enter_renameat2/trigger '^# Available triggers'
	else
		skip "trigger snapshot" "this kernel has none"
	fi
}
