# SPDX-License-Identifier: GPL-2.0-only
# kernel: reserve_mem=8M:4096:trace trace_instance=boot_map^traceoff@trace
# reboots: yes
# weft flight --keep-in persistent: what the kernel held when it crashed is a file of the next flight. The oracles are the
# numbers of the markers, and the next kernel's own text of the buffer.
B=$T/instances/boot_map

persist() { fly -e sched:sched_process_exec --keep-in persistent --after 100ms "$@"; }

# On CPU 1: of CPU 0 the next kernel finds an empty buffer where this one is 7.2, whoever has traced there.
write_numbers() {
	busybox taskset 2 sh -c 'i=$1; while [ $i -le $2 ]; do echo "number $i" > $3; i=$((i + 1)); done' sh "$1" "$2" $B/trace_marker
}

# numbers FILE FROM TO SENTENCE
numbers() {
	weft report "$1" 2> /dev/null | sed -n 's/.*tracing_mark_write: number //p' > /tmp/numbers
	seq "$2" "$3" > /tmp/wanted
	same "$4" /tmp/wanted /tmp/numbers
}

die() {
	persist
	cp /tmp/flight.out /host/$S.died
	write_numbers 1 300
	# After a panic, s390x stops unless it is told to start again.
	[ ! -e /sys/firmware/shutdown_actions/on_panic ] || echo reipl > /sys/firmware/shutdown_actions/on_panic
	sync
	echo c > /proc/sysrq-trigger
	sleep 20
}

# A flight that is killed in this boot: its numbers from FROM to TO, the first hundred of them already in a file
killed() {
	persist
	write_numbers "$1" $(($1 + 99))
	weft flight dump > /tmp/path
	numbers "$(cat /tmp/path)" "$1" $(($1 + 99)) "a trigger has what the instance holds ($3)"
	write_numbers $(($1 + 100)) "$2"
	kill -KILL $flight
	wait $flight
}

# The names of tasks are those that this kernel knows by now, so they are left out.
same_lines() {
	for f in "$2" "$3"; do sed -i 's/^ *[^ ].*-\([0-9]*\) *\[\([0-9]*\)\]/\1 [\2]/' "$f"; done
	same "$@"
}

scenario() {
	has_command flight || { skip everything "weft has no flights yet"; return; }
	[ -d $B ] || { skip everything "this kernel has no boot instance in reserved memory"; return; }
	[ -e /host/$S.died ] || { die; fail "the kernel dies when it is told to"; return; }
	check "the mode is told before the crash" matches /host/$S.died "mode persistent .*the instance 'boot_map' holds"
	rm /host/$S.died
	cat $B/trace > /tmp/boot.txt
	persist
	check "what the last boot held is told" matches /tmp/flight.out "left.dat: the machine's last boot ended; .* in the instance 'boot_map'"
	left=$(ls /tmp/flight/*-left.dat)
	check "and a file" test -s "$left"
	check "with its reason" matches /tmp/flight/*-left.json '"reason":"the machine.s last boot ended"'
	weft check "$left" > /tmp/c.txt 2>&1
	check "weft check finds nothing wrong" status_is $? 0 /tmp/c.txt
	numbers "$left" 1 300 "no event before the crash is missing"
	weft report -B boot_map "$left" > /tmp/left.txt 2> /tmp/left.err
	same_lines "its report equals the kernel's text" /tmp/boot.txt /tmp/left.txt
	weft flight status > /tmp/status
	check "the status names the mode" matches /tmp/status 'mode persistent'
	kill -TERM $flight
	wait $flight
	check "it ends with status 0" status_is $? 0 /tmp/flight.out
	remember
	weft flight start -e sched -B boot_map -e irq --keep-in persistent > /tmp/twice.out 2>&1
	check "the same instance for something else is refused" matches /tmp/twice.out '-B boot_map: the flight itself is in'
	weft flight start -e sched --keep-in persistent:bot_map > /tmp/near.out 2>&1
	check "a wrong name is refused with the right one" matches /tmp/near.out "did you mean 'boot_map'"
	weft flight start -e sched --keep-in persistent -b 1M > /tmp/size.out 2>&1
	check "a size is refused" equal $? 2
	persist
	check "an orderly end leaves nothing to save" lacks /tmp/flight.out 'left.dat'
	kill -TERM $flight
	wait $flight
	unchanged "such a flight leaves nothing behind"

	killed 1001 1200 "next flight"
	persist
	check "a flight that was killed is no crash" matches /tmp/flight.out 'left.dat: the previous flight ended without closing'
	numbers /tmp/flight/*-left.dat 1001 1200 "what a killed flight held is in one file"
	kill -TERM $flight
	wait $flight
	killed 2001 2200 "recover"
	(cd /tmp/flight && weft recover > /tmp/recover.out 2>&1)
	numbers /tmp/flight/flight.dat 2001 2200 "also in that of weft recover"
	unchanged "and nothing else is left of them"
}
