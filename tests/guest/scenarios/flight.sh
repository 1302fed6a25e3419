# SPDX-License-Identifier: GPL-2.0-only
# weft flight: what the kernel says about a trigger is in the file, and nothing of a flight stays in tracefs.

# CPU 1 goes away and comes back, before and during a flight.
cpu1() { echo "$1" > /sys/devices/system/cpu/cpu1/online; }
number_on() {
	i=$2
	while [ $i -le $3 ]; do echo "number $i"; i=$((i + 1)); done > /tmp/numbers-in
	busybox taskset $1 sh -c "while read -r line; do echo \"\$line\" > $T/instances/weft-$flight/trace_marker; done < /tmp/numbers-in"
}
plug() {
	[ -e /sys/devices/system/cpu/cpu1/online ] || { skip "CPUs that come and go" "this machine has one CPU"; return; }
	remember
	cpu1 0
	fly -e sched:sched_process_exec --keep 5m --after 100ms "$@"
	number_on 1 1 100
	cpu1 1
	await "grep -q '1 CPU has come online, and is recorded from now on' /tmp/flight.out"
	number_on 2 101 300
	cpu1 0
	number_on 1 301 400
	weft flight dump > /tmp/path
	cpu1 1
	number_on 2 401 500
	weft flight dump >> /tmp/path
	weft flight status > /tmp/status
	check "the CPU that came is in the status $*" matches /tmp/status '^- *1 '
	land
	n=400
	for file in $(cat /tmp/path); do
		weft report "$file" 2> /dev/null | sed -n 's/.*tracing_mark_write: number //p' > /tmp/numbers
		seq $n > /tmp/wanted
		same "every event of a CPU that came and went is in the file of $n $*" /tmp/wanted /tmp/numbers
		n=500
	done
	unchanged "CPUs that come and go leave nothing behind $*"
}

# Somebody sets the clock, forwards by years and back again: the file has the time that the clock says, and every event.
step() {
	fly -e sched:sched_process_exec --keep 5m --after 100ms "$@"
	number_on 1 1 100
	date -s @1900000000 > /dev/null
	number_on 1 101 200
	weft flight dump > /tmp/path
	date -s @1790000000 > /dev/null
	number_on 1 201 300
	weft flight dump >> /tmp/path
	land
	check "a file's name has the time of the clock as it was set" matches /tmp/path '-2030-03-17T17-4'
	n=200
	for file in $(cat /tmp/path); do
		weft report "$file" 2> /dev/null | sed -n 's/.*tracing_mark_write: number //p' > /tmp/numbers
		seq $n > /tmp/wanted
		same "a clock that is set costs no event in the file of $n $*" /tmp/wanted /tmp/numbers
		n=300
	done
}

flights() {
	remember
	fly -e sched:sched_process_exec --keep 5m --after 100ms --when 'bad=exit:sh status!=0'
	i=0
	while [ $i -lt 500 ]; do i=$((i + 1)); echo "number $i" > $T/instances/weft-$flight/trace_marker; done
	sh -c 'exit 3'
	await 'ls /tmp/flight/*-bad.json'
	weft flight dump > /tmp/path
	check "dump writes a file" equal $? 0
	land
	for file in /tmp/flight/*-bad.dat $(cat /tmp/path); do
		weft report "$file" 2> /dev/null | sed -n 's/.*tracing_mark_write: number //p' > /tmp/numbers
		seq 500 > /tmp/wanted
		same "every event before the trigger is in the file" /tmp/wanted /tmp/numbers
	done
	check "the trigger is marked with the kernel's text of its event" matches /tmp/flight.out 'bad.dat: .*sys_exit_group\(error_code: (0x)?3\)'
	unchanged "a flight leaves nothing behind"

	for mode in ring kernel; do
		remember
		fly -e sched:sched_process_exec --keep 5m --keep-in $mode --max-memory 16M --when 'event:sched:sched_switch if prev_pid == 1 && prev_state == 77777'
		i=0
		while [ $i -lt 300 ]; do i=$((i + 1)); echo "number $i" > $T/instances/weft-$flight/trace_marker; done
		# In mode ring some are in the kernel's pages, some were read and are not yet compressed, some are compressed.
		[ $mode = ring ] || weft flight dump > /dev/null
		kill -KILL $flight
		wait $flight
		(cd /tmp/flight && weft recover > /tmp/recover.out 2>&1)
		check "recover ends with status 0 ($mode)" status_is $? 0 /tmp/recover.out
		unchanged "recover removes what a killed flight left ($mode)"
		weft report /tmp/flight/flight.dat 2> /dev/null | sed -n 's/.*tracing_mark_write: number //p' > /tmp/numbers
		seq 300 > /tmp/wanted
		same "and saves what it held ($mode)" /tmp/wanted /tmp/numbers
	done

	weft flight start -e sched:sched_switch --when 'event:sched:sched_switch if prev_pio < 3' > /tmp/flight.out 2>&1
	check "an unknown field is refused" equal $? 1
	check "with a similar name" matches /tmp/flight.out 'prev_prio'
	unchanged "a refused condition leaves nothing behind"

	[ -e $T/synthetic_events ] && [ -e $T/events/sched/sched_switch/hist ] || { skip "latencies" "this kernel has no synthetic events"; return; }
	fly -e sched -b 4M --after 100ms --when 'latency:wakeup>100ms'
	cat $T/instances/*/events/synthetic/weft_latency_*/filter > /tmp/filter
	check "a time below zero does not count as long" matches /tmp/filter '^lat > 100000000 && lat < 9223372036854775808$'
	victim
	await 'intrude 90 100; ls /tmp/flight/*-wakeup.json'
	kill $victim
	land
	weft report /tmp/flight/*-wakeup.dat 2> /dev/null | sed -n 's/.*weft: trigger wakeup at .*lat=\([0-9]*\).*/\1/p' > /tmp/lat
	check "the kernel has measured more than 100 ms" more "$(head -n 1 /tmp/lat)" 100000000
	unchanged "a condition on a latency leaves nothing behind"
	weft flight start -e sched:sched_switch --when 'latency:wakeup>1s if next_pio < 3' > /tmp/flight.out 2>&1
	check "an unknown field of a latency is refused" equal $? 1
	unchanged "and leaves nothing behind"
}

scenario() {
	has_command flight || { skip "flights" "weft has none yet"; return; }
	flights
	step
	step --keep-in kernel
	# Last, because a CPU that came back may have a clock that is behind.
	plug
	plug --keep-in kernel
}
