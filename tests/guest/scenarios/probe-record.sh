# SPDX-License-Identifier: GPL-2.0-only
# record --probe and start --probe: the probe is made before and removed with the recording, also if that was killed.
scenario() {
	has_command probe || { skip "record --probe" "weft has no probe yet"; return; }
	remember
	record "record with probes of its own" 0 --probe 'do_sys_openat2 filename:ustring' -f 'filename ~ "/proc/*"' \
		--probe 'opened=do_sys_openat2%return ret' -e sched:sched_process_exec -- sh -c 'head -n 1 /proc/version > /dev/null'
	text
	check "the argument is there" matches /tmp/r.txt 'do_sys_openat2: \(do_sys_openat2.*filename="/proc/version"'
	check "the filter is that of the probe before it" lacks /tmp/r.txt 'do_sys_openat2: .*filename="/[^p]'
	check "the return is there" matches /tmp/r.txt 'opened: \(.* <- do_sys_openat2\) ret=[0-9]'
	unchanged "probes of a recording go with it"

	record "a probe that cannot be made ends it" 125 --probe 'vfs_read count' --probe 'no_such_function_here' -- true
	check "with the kernel's words" matches /tmp/r.err '\^$'
	unchanged "and the one before it goes, too"

	weft record -q -o /tmp/killed.dat --probe 'vfs_read count' 2> /tmp/r.err &
	local pid=$!
	await 'grep -qs vfs_read $T/instances/weft-$pid/set_event && grep -qs 1 $T/instances/weft-$pid/tracing_on'
	check "it records" matches $T/dynamic_events '^p:weft/vfs_read '
	kill -9 $pid
	wait $pid 2> /dev/null
	weft reset > /tmp/p.out 2> /tmp/p.err
	check "weft reset after a kill" status_is $? 0 /tmp/p.err
	unchanged "nothing of the killed recording stays"

	weft start --probe 'vfs_read count' 2> /tmp/p.err
	check "weft start --probe" status_is $? 0 /tmp/p.err
	check "its event is on" matches $T/events/weft/vfs_read/enable '^1'
	weft reset > /tmp/p.out 2> /tmp/p.err
	check "weft reset switches it off and removes it" status_is $? 0 /tmp/p.err
	unchanged "nothing of start stays"
}
