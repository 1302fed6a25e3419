# SPDX-License-Identifier: GPL-2.0-only
# A shell that has only busybox, without a weft, makes a recording for a weft: the file has the kernel's own text of a
# second instance, and the kernel's counters; tracefs is as before, also when either side was killed.
far="env -i PATH=/bin"

# instances: prints those that weft made
instances() { ls $T/instances | grep agentless; }
none_left() {
	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ -n "$(instances)" ] || return 0
		sleep 1
	done
	instances
	return 1
}
# text FILE...: without times and flags, which each buffer takes for itself
text() { sed -n 's/^\(.*\]\) [^ ]* *[0-9.]*: \(sched_process_exec: .*\)/\1 \2/p' "$@"; }

scenario() {
	judge=$T/instances/judge
	mkdir $judge
	echo 'filename == "/bin/true"' > $judge/events/sched/sched_process_exec/filter
	echo 1 > $judge/events/sched/sched_process_exec/enable
	remember
	weft record -o /tmp/a.dat --result /tmp/a.json --on far --rsh "$far" --agentless -C mono -b 256K -e sched_process_exec -f 'filename == "/bin/true"' -- \
		/bin/sh -c 'i=0; while [ $i -lt 20 ]; do /bin/true; i=$((i + 1)); done; exit 5' > /tmp/a.out 2>&1
	check "it ends with the status of the command" status_is $? 5 /tmp/a.out
	unchanged
	text $judge/trace > /tmp/want.txt
	rmdir $judge
	remember
	check "weft check finds the file good" weft check /tmp/a.dat
	weft report /tmp/a.dat > /tmp/a.txt
	text /tmp/a.txt > /tmp/got.txt
	check "20 events are in it" equal "$(wc -l < /tmp/got.txt)" 20
	same "the report equals the kernel's text" /tmp/want.txt /tmp/got.txt
	check "the counters of the kernel say so" matches /tmp/a.json '"events":20,.*"lost":0,'

	weft record -o /tmp/b.dat --result /tmp/b.json --on far --rsh "$far" --agentless -F -b 32K -e raw_syscalls:sys_enter -f 'id == 1' -- \
		/bin/dd if=/dev/zero of=/dev/null bs=1 count=50000 > /tmp/b.out 2>&1
	kept=$(weft report /tmp/b.dat | grep -c 'sys_enter: NR 1 ')
	lost=$(sed -n 's/.*"lost":\([0-9]*\),"cleared.*"missed.*/\1/p' /tmp/b.json)
	check "events of the file and lost ones are what was done, and what dd prints" more $((kept + lost)) 49999
	check "no more than that" more 50010 $((kept + lost))
	check "some were lost, so that this is worth something" more "$lost" 0
	unchanged

	for who in near far; do
		weft record -o /tmp/k.dat --on far --rsh "$far" --agentless -e sched -e raw_syscalls > /tmp/k.out 2>&1 &
		near=$!
		i=0
		until [ -n "$(find /tmp/k.dat.*.parts -name '0.*' -size +8k 2> /dev/null)" ] || [ $i = 600 ]; do
			i=$((i + 1))
			sleep 0.1
		done
		if [ $who = near ]; then
			kill -9 $near
			wait $near
			none_left > /tmp/k.left
			check "the near side was killed: nothing is left there" equal "$(cat /tmp/k.left)" ""
			check "and weft recover makes the file" weft recover /tmp/k.dat
		else
			kill -9 $(cat /proc/[0-9]*/stat 2> /dev/null | awk -v near=$near '$4 == near { print $1 }')
			wait $near
			none_left > /tmp/k.left
			check "the far shell was killed: nothing is left there" equal "$(cat /tmp/k.left)" ""
		fi
		check "$who: the file is good" weft check /tmp/k.dat
		rm -f /tmp/k.dat
	done
	unchanged "tracefs is as before"
}
