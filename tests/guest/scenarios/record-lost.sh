# SPDX-License-Identifier: GPL-2.0-only
overruns() { cat $T/instances/guest/per_cpu/cpu*/stats | awk '/^(overrun|commit overrun|dropped events):/ { n += $NF } END { print n + 0 }'; }

scenario() {
	mkdir $T/instances/guest
	# A recorder cannot keep up: the buffer has one page, and the reader is stopped during the load.
	echo 4 > $T/instances/guest/buffer_size_kb
	echo 0 > $T/instances/guest/tracing_on
	weft record -B guest -b 8 -e sched -e irq -e syscalls -o /tmp/r.dat 2> /tmp/r.err &
	local pid=$!
	await 'grep -q 1 $T/instances/guest/tracing_on'
	load
	kill -STOP $pid
	load
	load
	kill -CONT $pid
	load
	echo "before the end: $(overruns) $(grep . $T/instances/guest/per_cpu/cpu0/stats | tr '\n' ' ')"
	kill -INT $pid
	wait $pid
	cat /tmp/r.err $T/instances/guest/per_cpu/cpu0/stats
	check "a recording that lost events ends well" status_is $? 0 /tmp/r.err
	check "and says how many" matches /tmp/r.err 'lost'
	check "an instance that was there is left there" test -d $T/instances/guest
	local kernel=$(overruns)
	local told=$(sed -n 's/,//g; s/.* \([0-9][0-9]*\) lost$/\1/p' /tmp/r.err)
	check "the kernel lost events" more "$kernel" 0
	text
	check "the summary's lost events are the kernel's" equal "$told" "$kernel"
	# The command stops its recorder for some time.
	weft record -q -B guest -b 8 --fail-on-lost -e syscalls -o /tmp/r.dat -- \
		sh -c 'kill -STOP $PPID; dd if=/dev/zero of=/dev/null bs=1 count=2000; kill -CONT $PPID' > /dev/null 2> /tmp/r.err
	check "--fail-on-lost makes it a status" status_is $? 123 /tmp/r.err
}
