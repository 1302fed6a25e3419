# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# Every command of functions (ftrace.rst, "Filter commands"): set in the top instance, checked there, and removed.

. /host/start.sh

F=$T/set_ftrace_filter

scenario() {
	has_command start || { skip "everything" "weft has no start"; return; }
	[ -e $F ] || { skip "everything" "no functions can be chosen"; return; }
	remember
	if [ -e $T/snapshot ]; then
		try "function command snapshot" $F '^vfs_fsync:snapshot:count=[0-9]' -e sched:sched_switch -l vfs_fsync:snapshot:1
	else
		skip "function command snapshot" "this kernel has none"
	fi
	try "function command traceoff" $F '^vfs_fsync:traceoff:count=[0-9]' -e sched:sched_switch -l vfs_fsync:traceoff:5
	try "function command traceon" $F '^vfs_fsync:traceon:unlimited' -e sched:sched_switch -l vfs_fsync:traceon
	try "function command stacktrace" $F '^vfs_fsync:stacktrace:unlimited' -e sched:sched_switch -l vfs_fsync:stacktrace
	try "function command enable_event" $F '^vfs_fsync:enable_event:irq:irq_handler_entry:count=[0-2]' -e sched:sched_switch \
		-l vfs_fsync:enable_event:irq:irq_handler_entry:2
	try "function command disable_event" $F '^vfs_fsync:disable_event:sched:sched_switch:unlimited' -e sched:sched_switch \
		-l vfs_fsync:disable_event:sched:sched_switch
	try "function command dump" $F '^vfs_fsync:dump:' -e sched:sched_switch -l vfs_fsync:dump
	try "function command cpudump" $F '^vfs_fsync:cpudump:' -e sched:sched_switch -l vfs_fsync:cpudump
	try "functions of a module that is not loaded" $F '^\*:mod:not_there_yet$' -p function -l '*:mod:not_there_yet'
	try "a command of many functions" $F '^vfs_write:traceoff:unlimited' -e sched:sched_switch -l 'vfs_*:traceoff' -l 'do_sys*:stacktrace:3'
}
