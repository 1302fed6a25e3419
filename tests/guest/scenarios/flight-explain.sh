# SPDX-License-Identifier: GPL-2.0-only
# weft flight: who is to blame for a late wakeup is in the log, in the JSON, and in what explain prints.
# A task of SCHED_FIFO spins on CPU 0, longer than an emulated CPU keeps others waiting by itself. Prints its PID.
intrude() {
	chrt -f 90 busybox taskset 1 sh -c 'echo $$; read -r a _ < /proc/uptime; n=0
		while [ $n -lt 50 ]; do read -r b _ < /proc/uptime; [ $a = $b ] || n=$((n + 1)); a=$b; done'
}
# named FILE: the task that the file names is one of those that spun
named() { for pid in $(cat /tmp/intruders); do grep -qE "waited .* for CPU 0: (tasks that ran first|the task before it): [^ ]+-$pid(;|\"|$)" "$1" && return; done; return 1; }

scenario() {
	has_command flight || { skip "explanations" "weft has no flights yet"; return; }
	[ -e $T/synthetic_events ] && [ -e $T/events/sched/sched_switch/hist ] || { skip "explanations" "this kernel has no synthetic events"; return; }
	remember
	fly --for latency -b 4M --keep 10s --after 200ms --when 'latency:wakeup>400ms if next_comm == "usleep"'
	busybox taskset 1 sh -c 'while :; do usleep 1000; done' &
	victim=$!
	# The trigger is compared with a time in which nothing disturbs.
	sleep 3
	# An intruder may come while the victim itself is starting, and then delays no wakeup.
	for _ in $(seq 40); do
		intrude
		usleep 200000
		! ls /tmp/flight/*-wakeup.json > /dev/null 2>&1 || break
	done > /tmp/intruders
	await 'ls /tmp/flight/*-wakeup.json'
	kill $victim
	land
	mkdir -p $OUT
	cp -r /tmp/flight /tmp/flight.out /tmp/intruders $OUT
	check "the log names the task that had the CPU" named /tmp/flight.out
	for file in /tmp/flight/*-wakeup.json; do break; done
	check "the JSON does" named "$file"
	file=${file%.json}.dat
	weft flight explain "$file" > /tmp/explained 2>&1
	check "explain reads the file" status_is $? 0 /tmp/explained
	check "explain does" named /tmp/explained
	check "and says what was unusual before" matches /tmp/explained '^(tasks|victims|wakeups) '
	unchanged "an explained flight leaves nothing behind"

	# A task waits in read() of a FIFO until another one writes.
	remember
	fly --for syscalls --for sched -b 4M --keep 10s --after 200ms --when 'latency:syscall>3s if id == 0'
	rm -f /tmp/fifo
	mkfifo /tmp/fifo
	dd if=/tmp/fifo of=/dev/null bs=1 count=1 2> /dev/null &
	victim=$!
	{ sleep 5; echo; } > /tmp/fifo
	await 'ls /tmp/flight/*-syscall.json'
	wait $victim
	land
	cp /tmp/flight.out $OUT/syscall.out
	check "the log tells who was in which call, and who woke it" matches /tmp/flight.out "dd-$victim was [0-9.]+ s in read; [0-9.]+ s blocked.*; woken by [^ ]+-[0-9]+"
	unchanged "a flight with an explained call leaves nothing behind"
}
