# SPDX-License-Identifier: GPL-2.0-only
# An instance that a module made has the events of the systems that the module named, and no others.

scenario() {
	local file=/host/modules/sample-trace-array.ko I=$T/instances/sample-instance

	[ -e $file ] || { skip everything "the module is not there"; return; }
	insmod $file
	await "test -d $I"
	[ ! -e $I/events/ftrace ] || skip "an instance without the events of ftrace" "this kernel gives each instance all events"

	record "record takes the module's instance" 0 -B sample-instance -e sched:sched_switch -- sleep 0.3
	weft report /tmp/r.dat > /tmp/r.txt 2> /dev/null
	check "its events are in the file" matches /tmp/r.txt 'sched_switch: prev_comm='
	timeout 60 weft stream -B sample-instance -e sched:sched_switch -- sleep 0.3 > /tmp/s.txt 2> /tmp/s.err
	check "stream takes it, too" status_is $? 0 /tmp/s.err
	check "and prints its events" matches /tmp/s.txt 'sched_switch: prev_comm='

	echo 1 > $I/events/sched/sched_switch/enable
	echo 1 > $I/tracing_on
	load
	echo mark > $I/trace_marker
	echo 0 > $I/tracing_on
	echo 0 > $I/events/sched/sched_switch/enable
	cat $I/trace > /tmp/k.txt
	timeout 60 weft extract -B sample-instance -o /tmp/x.dat > /tmp/x.out 2> /tmp/x.err
	check "extract takes it" status_is $? 0 /tmp/x.err
	weft report -B sample-instance /tmp/x.dat > /tmp/x.txt
	same "the report is the kernel's text" /tmp/k.txt /tmp/x.txt
	if [ ! -e $I/events/irq ]; then
		timeout 60 weft record -B sample-instance -e irq:softirq_entry -o /tmp/n.dat -- true 2> /tmp/n.err
		check "an event that it lacks is refused" status_is $? 125 /tmp/n.err
		check "and the message says why" matches /tmp/n.err "'sample-instance' was made without 'irq:softirq_entry'"
	fi
	rmmod sample-trace-array
}
