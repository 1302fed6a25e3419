# SPDX-License-Identifier: GPL-2.0-only
# Two users of one existing instance: the first gets all its events; the second is told the user's name, waits, or
# starts when the first has ended. The reads of a dd are counted.
I=$T/instances/guest
reads() { weft report "$1" 2> /dev/null | grep -c "$READS"; }
R='-B guest -F -c -e raw_syscalls:sys_enter'

# inside COMMAND: what the first user runs, with the COMMAND of a second user in the middle
inside() {
	cat > /tmp/inside.sh <<-END
	dd if=/dev/zero of=/dev/null bs=1 count=500 2> /dev/null
	$1 2> /tmp/second.err
	echo \$? > /tmp/second.status
	dd if=/dev/zero of=/dev/null bs=1 count=500 2> /dev/null
	END
}

scenario() {
	local first status

	reads_of_a_byte
	mkdir $I
	remember
	inside "weft record -q -o /tmp/second.dat $R -- true"
	record "a recording with another inside of it ends well" 0 $R --fail-on-lost -- sh /tmp/inside.sh
	check "the inner one is refused" equal "$(cat /tmp/second.status)" 125
	check "and is told by whom" matches /tmp/second.err "the instance 'guest' is in use: 'weft record .*' \(process [0-9]+\) traces there"
	check "and what helps" matches /tmp/second.err '--wait'
	check "the outer one has all of the reads" equal "$(reads /tmp/r.dat)" 1000
	unchanged "all is as before"

	inside "timeout 20 weft start -B guest -e sched"
	timeout 60 weft stream -q $R --fail-on-lost -- sh /tmp/inside.sh > /tmp/s.txt 2> /tmp/s.err
	check "a stream with a start inside of it ends well" status_is $? 0 /tmp/s.err
	check "the start is refused" matches /tmp/second.err "the instance 'guest' is in use: 'weft stream .*--wait"
	check "the stream has all of the reads" equal "$(grep -c "$READS" /tmp/s.txt)" 1000
	inside "weft stat -B guest > /tmp/stat.txt; weft hist -B guest -F sched:sched_switch --keys next_pid -- true > /tmp/h.txt"
	record "one beside stat and hist ends well" 0 $R --fail-on-lost -- sh /tmp/inside.sh
	check "hist -F, which would change its tasks, is refused" matches /tmp/second.err "the instance 'guest' is in use"
	check "it has all of the reads, too" equal "$(reads /tmp/r.dat)" 1000
	weft stat > /tmp/stat.txt
	check "nobody is told to trace there when nobody does" lacks /tmp/stat.txt 'is traced by'
	unchanged "all is as before after stream and hist"

	weft record -q -o /tmp/one.dat $R --fail-on-lost -- sh -c 'echo > /tmp/one.begun; dd if=/dev/zero of=/dev/null bs=1 count=500 2> /dev/null
		until [ -e /tmp/one.end ]; do sleep 0.1; done' 2> /tmp/one.err &
	first=$!
	await '[ -e /tmp/one.begun ]'
	weft stat > /tmp/stat.txt
	check "stat tells who traces" matches /tmp/stat.txt "the instance 'guest' is traced by 'weft record .*' \(process $first\)"
	weft record -q -o /tmp/r.dat --wait=200ms $R -- true 2> /tmp/s.err
	check "waiting ends when its time is over" matches /tmp/s.err "timed out waiting: the instance 'guest' is in use"
	record "another instance is free meanwhile" 0 -B other -e sched -- true
	# Both want the same two instances, in different orders.
	weft record -q -o /tmp/r.dat --wait -B other -e sched $R --fail-on-lost -- dd if=/dev/zero of=/dev/null bs=1 count=500 2> /tmp/two.err &
	status=$!
	await 'grep -q waiting /tmp/two.err'
	echo > /tmp/one.end
	wait $first
	check "the one that is waited for ends well" status_is $? 0 /tmp/one.err
	wait $status
	check "so does the one that waits" status_is $? 0 /tmp/two.err
	check "the first has all of its reads" equal "$(reads /tmp/one.dat)" 500
	check "the second, too" equal "$(weft report /tmp/r.dat 2> /dev/null | grep -c "$READS")" 500
	unchanged "all is as before after both"

	weft record -q -o /tmp/k.dat $R -- sh -c 'kill -9 $PPID' 2> /dev/null
	rm -rf /tmp/k.dat.*.parts
	record "one that was killed holds nothing" 0 $R -- true
	weft reset > /tmp/s.err 2>&1
	unchanged "no task of a dead weft stays in a list"
	check "the lists of tasks are empty" equal "$(cat $I/set_event_pid $I/set_event_notrace_pid)" ""
	check "nothing is left in the directory of the journals" equal "$(ls /run/weft)" ""

	# Reading what start has set up is allowed.
	weft start -B guest -e raw_syscalls:sys_enter 2> /tmp/s.err
	check "start takes the instance" status_is $? 0 /tmp/s.err
	weft record -q -o /tmp/r.dat -B guest --fail-on-lost -- dd if=/dev/zero of=/dev/null bs=1 count=500 2> /tmp/s.err
	check "what it traces can be recorded" status_is $? 0 /tmp/s.err
	check "all of it" equal "$(reads /tmp/r.dat)" 500
	weft start -B guest -e raw_syscalls:sys_enter 2> /tmp/s.err
	check "it may be started once more" status_is $? 0 /tmp/s.err
	weft reset > /tmp/s.err 2>&1
	unchanged "all is as before after reset"
	check "nothing is left there either" equal "$(ls /run/weft)" ""
	rmdir $I
}
