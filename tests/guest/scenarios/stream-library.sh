# SPDX-License-Identifier: GPL-2.0-only
# Events of the running kernel by weft_live_start() of libweft: tests/api/live.c.
scenario() {
	command -v follower > /dev/null || { skip "libweft reads the running kernel" "there is no program of it for this machine"; return; }
	local weft pid nr lost made
	weft=$(command -v weft)
	remember

	follower "$weft" lines -F -c -e sched:sched_process_exec -- sh -c '/bin/busybox true; /bin/busybox true' > /tmp/l.txt 2> /tmp/l.err
	check "the reader ends with the command" status_is $? 0 /tmp/l.err
	check "it has had the command's events" [ "$(grep -c 'sched_process_exec: filename=/bin/busybox' /tmp/l.txt)" = 2 ]

	# What was handed out and what was lost is what the kernel has counted.
	mkdir $T/instances/own
	follower "$weft" lines -B own -F -c -b 64 -e raw_syscalls -- sh -c 'dd if=/dev/zero of=/dev/null bs=1 count=20000' > /tmp/l.txt 2> /tmp/l.err
	check "a reader of many events ends well" status_is $? 0 /tmp/l.err
	nr=$(grep -vc '^CPU:' /tmp/l.txt)
	lost=$(awk '/^CPU:[0-9]+ \[LOST/ { l += $3 } END { print l + 0 }' /tmp/l.txt)
	check "the kernel has counted as many" [ "$nr $lost" = \
		"$(cat $T/instances/own/per_cpu/cpu*/stats | awk -F': ' '/^(entries|read events)/ { n += $2 } /^(overrun|commit overrun|dropped events)/ { l += $2 } END { print n + 0, l + 0 }')" ]

	# An event that is made and switched on meanwhile has its fields.
	follower "$weft" json -B own -e syscalls:sys_enter_swapoff -- sh -c "echo 'p:late/made do_nanosleep clock=\$comm:string' >> $T/dynamic_events &&
		echo 1 > $T/instances/own/events/late/made/enable && sleep 0.1; echo 0 > $T/instances/own/events/late/made/enable" > /tmp/l.txt 2> /tmp/l.err
	echo '-:late/made' >> $T/dynamic_events
	check "an event that was made meanwhile has its fields" matches /tmp/l.txt '"event":"made".*"clock":"sleep"'
	rmdir $T/instances/own

	follower "$weft" hold -e sched:sched_switch > /tmp/l.txt 2> /tmp/l.err &
	pid=$!
	await 'grep -q holds /tmp/l.txt'
	kill -9 $pid
	wait $pid 2> /dev/null
	await '[ -z "$(ls $T/instances)" ]'
	unchanged "after the death of the caller tracefs is as it was before"
}
