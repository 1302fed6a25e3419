# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	remember
	timeout 60 weft stream -F -c -e sched:sched_process_exec -e sched:sched_process_exit -- sh -c '/bin/busybox true; exit 3' \
		> /tmp/s.txt 2> /tmp/s.err
	check "weft stream ends with its command's status" status_is $? 3 /tmp/s.err
	check "the command's program was printed" matches /tmp/s.txt 'sched_process_exec: filename=/bin/busybox'
	check "and its end" matches /tmp/s.txt 'sched_process_exit:'
	check "the summary tells events and losses" matches /tmp/s.err ' events? in .*, 0 lost$'
	unchanged
	# The events already in an instance are printed as the kernel prints them.
	mkdir $T/instances/guest
	set_to $T/instances/guest/events/sched/enable 1
	set_to $T/instances/guest/events/irq/enable 1
	load
	echo 0 > $T/instances/guest/tracing_on
	echo 0 > $T/instances/guest/events/enable
	sed '/^#/d' $T/instances/guest/trace > /tmp/expected.txt
	timeout 100 weft stream -q -B guest --cmdlines-size 0 -e syscalls:sys_enter_swapoff --limit "$(wc -l < /tmp/expected.txt)" \
		> /tmp/s.txt 2> /tmp/s.err
	check "weft stream ends with status 0" status_is $? 0 /tmp/s.err
	sed -i '/^#/d' /tmp/s.txt
	check "there are events" more "$(wc -l < /tmp/expected.txt)" 50
	same "the text is that of the kernel's trace" /tmp/expected.txt /tmp/s.txt
	rmdir $T/instances/guest
	# One object a line.
	timeout 60 weft stream -q -e sched:sched_switch --format json --limit 20 > /tmp/s.json 2> /tmp/s.err
	check "json: each line is an object" equal "$(grep -c '^{"ts":[0-9]*,"cpu":[0-9]*,"pid":.*}$' /tmp/s.json)" "$(wc -l < /tmp/s.json)"
	unchanged "tracefs is as it was before all three"
}
