# SPDX-License-Identifier: GPL-2.0-only
# CPUs that are possible but were never online have files in tracefs and no buffer (the guest has 2 of 4); one that went
# offline before an instance was made has none in it until it comes back.
counted() {
	cat $T/instances/guest/per_cpu/cpu*/stats | awk -F': ' '/^(entries|read events)/ { n += $2 } END { print n + 0 }'
}
printed() { grep -c -v '^#' /tmp/s.txt; }
cpu1() { echo "$1" > /sys/devices/system/cpu/cpu1/online; }
# some_on CPU-MASK: makes 1,000 events on that CPU
some_on() { taskset "$1" dd if=/dev/zero of=/dev/null bs=1 count=500 2> /dev/null; }

scenario() {
	[ -e /sys/devices/system/cpu/cpu1/online ] || { skip "everything" "this machine has one CPU"; return; }
	# Only a kernel with ACPI knows that there could be more CPUs.
	[ -e $T/per_cpu/cpu3/stats ] || skip "CPUs that were never online" "all that this kernel knows of are online"
	timeout 60 weft stream -F -c -e raw_syscalls -- dd if=/dev/zero of=/dev/null bs=1 count=500 > /tmp/s.txt 2> /tmp/s.err
	check "a stream passes by CPUs that are absent" status_is $? 0 /tmp/s.err
	check "and tells nothing else" equal "$(grep -vc ' events* in ' /tmp/s.err)" "$(grep -c 'records in\|records out\|copied' /tmp/s.err)"

	cpu1 0
	mkdir $T/instances/guest
	timeout 60 weft stream -B guest -F -c -e raw_syscalls -- dd if=/dev/zero of=/dev/null bs=1 count=500 > /tmp/s.txt 2> /tmp/s.err
	check "so does one while CPU 1 is offline" status_is $? 0 /tmp/s.err
	check "it prints what the kernel counted" equal "$(printed)" "$(counted)"
	check "there is something to print" more "$(printed)" 1000
	check "and does not say that the output took less" lacks /tmp/s.err 'not printed'

	rmdir $T/instances/guest
	mkdir $T/instances/guest
	set_to $T/instances/guest/events/raw_syscalls/enable 1
	some_on 1
	set_to $T/instances/guest/tracing_on 0
	local there=$(cat $T/instances/guest/per_cpu/cpu*/stats | awk '/^entries/ { n += $2 } END { print n + 0 }')
	check "there is something to extract" more "$there" 1000
	timeout 60 weft extract -B guest -o /tmp/x.dat 2> /tmp/x.err
	check "what is in the buffers is extracted while CPU 1 is offline" status_is $? 0 /tmp/x.err
	check "all of it" equal "$(weft report /tmp/x.dat | grep -cv '^#')" "$there"
	timeout 60 weft extract -B guest -o /tmp/x.dat 2> /tmp/x.err
	check "then there is nothing more" matches /tmp/x.err 'there is nothing in the buffer'
	set_to $T/instances/guest/events/raw_syscalls/enable 0
	rmdir $T/instances/guest

	mkdir $T/instances/guest
	# CPU 1 gets its buffer while the stream is running.
	timeout 60 weft stream -B guest -F -c -e raw_syscalls -- sh -c '
		echo 1 > /sys/devices/system/cpu/cpu1/online
		taskset 2 dd if=/dev/zero of=/dev/null bs=1 count=500' > /tmp/s.txt 2> /tmp/s.err
	check "a CPU may come online during a stream" status_is $? 0 /tmp/s.err
	check "its events are printed" more "$(grep -c '\[001\]' /tmp/s.txt)" 1000
	check "all that the kernel counted" equal "$(printed)" "$(counted)"
	cat /tmp/s.err
	rmdir $T/instances/guest

	cpu1 0
	record "a recording meets a CPU that comes online" 0 -F -c -e raw_syscalls -- sh -c '
		echo 1 > /sys/devices/system/cpu/cpu1/online
		taskset 2 dd if=/dev/zero of=/dev/null bs=1 count=500'
	text
	check "its events are in the file" more "$(grep -c '\[001\]' /tmp/r.txt)" 1000
	cpu1 1
}
