# SPDX-License-Identifier: GPL-2.0-only
counted() {
	cat $T/instances/$1/per_cpu/cpu*/stats |
		awk -F': ' '/^(entries|read events)/ { n += $2 } /^(overrun|commit overrun|dropped events)/ { l += $2 } END { print n + 0, l + 0 }'
}
lines_of() {
	sed -n "s/^ *$1: //p" "$2" | sed '/^#/d'
}
told() {
	lines_of "$1" "$2" |
		awk '/^CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]$/ { l += $3; next } { n++ } END { print n + 0, l + 0 }'
}

scenario() {
	local i reader pid id

	remember
	# The events already in two instances: the lines of each are the kernel's.
	for i in guest other; do
		mkdir $T/instances/$i
	done
	set_to $T/instances/guest/events/sched/enable 1
	set_to $T/instances/other/events/raw_syscalls/enable 1
	load
	for i in guest other; do
		echo 0 > $T/instances/$i/tracing_on
		echo 0 > $T/instances/$i/events/enable
	done
	for i in guest other; do
		sed '/^#/d' $T/instances/$i/trace > /tmp/expected.$i
		check "$i: there are events" more "$(wc -l < /tmp/expected.$i)" 20
	done
	timeout 100 weft stream -q --cmdlines-size 0 -B guest -e syscalls:sys_enter_swapoff -B other -e syscalls:sys_enter_swapoff \
		--limit "$(cat /tmp/expected.* | wc -l)" > /tmp/s.txt 2> /tmp/s.err
	check "weft stream of two instances ends with status 0" status_is $? 0 /tmp/s.err
	for i in guest other; do
		lines_of $i /tmp/s.txt > /tmp/s.$i
		same "$i: the lines are those of the kernel's trace" /tmp/expected.$i /tmp/s.$i
		rmdir $T/instances/$i
	done
	# A reader that sleeps until the load is over.
	for i in guest other; do
		mkdir $T/instances/$i
	done
	rm -f /tmp/text /tmp/go
	mkfifo /tmp/text /tmp/go
	{ read -r word < /tmp/go; cat > /tmp/s.txt; } < /tmp/text &
	reader=$!
	timeout 120 weft stream -F -c -B guest -b 32 -e raw_syscalls -B other -b 64 -e raw_syscalls:sys_enter -- \
		sh -c 'dd if=/dev/zero of=/dev/null bs=1 count=20000 2> /dev/null; echo > /tmp/go' > /tmp/text 2> /tmp/s.err
	check "a stream whose reader slept ends well" status_is $? 0 /tmp/s.err
	wait $reader
	cat /tmp/s.err
	for i in guest other; do
		check "$i: printed and lost are the kernel's counts" equal "$(told $i /tmp/s.txt)" "$(counted $i)"
		check "$i: there were losses" matches /tmp/s.txt "^ *$i: CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]\$"
		check "$i: the summary tells" matches /tmp/s.err "^weft: $i: .* events?, .* lost\$"
		rmdir $T/instances/$i
	done
	# Functions in one, events with their stacks in the other.
	if has_tracer function; then
		timeout 100 weft stream -q -F -c -B guest -p function -l 'vfs_*' -B other -T -e sched:sched_process_exec -- ls -l /bin/busybox \
			> /tmp/s.txt 2> /tmp/s.err
		check "a tracer beside events ends with status 0" status_is $? 0 /tmp/s.err
		check "each has its header" equal "$(grep -E '^guest: # tracer: function$|^other: # tracer: nop$' /tmp/s.txt | wc -l)" 2
		check "functions are named" matches /tmp/s.txt '^guest: .*: vfs_read <-'
		check "each line of a stack tells its instance" matches /tmp/s.txt '^other:  => [a-z_0-9]+$'
		check "no line is without" equal "$(grep -v -c -E '^(guest|other): ' /tmp/s.txt)" 0
	else
		skip "function" "no such tracer"
	fi
	# Somebody makes an event while it is streamed, and switches it on there.
	# The shell in the background may empty an old file too late.
	rm /tmp/s.txt
	mkdir $T/instances/guest
	weft stream -q -B other -e sched:sched_process_exit -B guest -e sched:sched_process_exec > /tmp/s.txt 2> /tmp/s.err &
	pid=$!
	# `/bin/busybox true` is a program of its own, so its exec is an event.
	await '/bin/busybox true; grep -q sched_process_exec: /tmp/s.txt'
	local late='e:weft_guest/late sched/sched_process_exec who=$pid:s32' fields='\(sched.sched_process_exec\) who=[0-9]+$'
	grep -qF 'e[:' $T/README || { late='p:weft_guest/late vfs_read who=$comm' fields='\(vfs_read.*\) who=".+"$'; }
	echo "$late" >> $T/dynamic_events
	set_to $T/instances/guest/events/weft_guest/late/enable 1
	await '/bin/busybox true; grep -q " late: " /tmp/s.txt'
	set_to $T/instances/guest/events/weft_guest/late/enable 0
	# And kills it.
	kill -9 $pid
	wait $pid 2> /dev/null
	check "an event that was made meanwhile is printed with its fields" matches /tmp/s.txt "^guest: .* late: $fields"
	check "no event is unknown" lacks /tmp/s.txt 'Unknown type'
	weft recover > /tmp/s.out 2> /tmp/s.err
	check "weft recover ends with status 0" status_is $? 0 /tmp/s.err
	check "the instance that was made is gone, the other is not" equal "$(ls $T/instances)" guest
	echo '-:weft_guest/late' >> $T/dynamic_events
	rmdir $T/instances/guest
	unchanged "tracefs is as it was before all of them"
}
