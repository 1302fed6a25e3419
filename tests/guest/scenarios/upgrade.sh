# SPDX-License-Identifier: GPL-2.0-only
# weft is replaced by a newer one while `start` of the older one holds settings: the journals of tests/old, as older
# releases left them in /run/weft, are listed, kept by a package that is installed anew, and undone by reset.

scenario() {
	local journal name

	has_command start || { skip "everything" "weft has no start"; return; }
	has_tracer function || { skip "everything" "this kernel has no function tracer"; return; }
	for journal in /host/*-journal; do
		[ -e "$journal" ] || { skip "everything" "tests/old has no journal"; return; }
		name=$(basename "$journal" -journal)
		remember
		# The journal is of this boot, and its owner has ended.
		(umask 077 && mkdir -p /run/weft && sed "1s/ [^ ]*\$/ $(cat /proc/sys/kernel/random/boot_id)/" "$journal" > /run/weft/held-start-000)
		# What that start had set (scenario old-files)
		set_to $T/buffer_size_kb 3072
		set_to $T/events/sched/sched_switch/filter 'prev_pid != 0'
		set_to $T/events/sched/sched_switch/enable 1
		set_to $T/set_ftrace_filter vfs_read
		set_to $T/current_tracer function
		weft stat > /tmp/u.out 2>&1
		check "$name: stat says that weft holds settings" matches /tmp/u.out 'weft'
		weft record -e irq -o /tmp/u.dat -- true > /tmp/u.out 2>&1
		check "$name: a recording beside it works" status_is $? 0 /tmp/u.out
		check "$name: and leaves the held settings" equal "$(cat $T/current_tracer)" function
		weft reset > /tmp/u.out 2>&1
		check "$name: reset undoes them" status_is $? 0 /tmp/u.out
		check "$name: reset says how many" matches /tmp/u.out 'put back [0-9]+ settings'
		unchanged "$name: all is as before"
	done
}
