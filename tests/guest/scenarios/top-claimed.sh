# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# Two users of the top instance: the first gets all events that the kernel counts; the second is told the user's name,
# waits, or uses another instance.

# Few functions, because switching each one takes an emulated CPU long.
G='-p function_graph -l do_sys_openat2 -g do_sys_openat2 --max-graph-depth 1'

# opens N: makes the kernel enter do_sys_openat2 N times
opens() { /bin/busybox sh -c 'n='$1'; while [ $n -gt 0 ]; do : < /dev/null; n=$((n - 1)); done'; }

# roots FILE: counts how often it is a root of the graph in the file
roots() { weft report "$1" 2> /dev/null | grep -c 'do_sys_openat2'; }

begun() { await "[ \"\$(cat $T/current_tracer) \$(cat $T/tracing_on)\" = '$1 1' ]"; }

scenario() {
	has_tracer function_graph || { skip "everything" "no such tracer"; return; }
	local first second

	remember
	cat > /tmp/inside.sh <<-END
	weft record -q -o /tmp/second.dat $G -- true 2> /tmp/second.err
	echo \$? > /tmp/second.status
	n=300; while [ \$n -gt 0 ]; do : < /dev/null; n=\$((n - 1)); done
	END
	record "a recording with another inside of it ends well" 0 -F $G --fail-on-lost -- sh /tmp/inside.sh
	check "the inner one is refused" equal "$(cat /tmp/second.status)" 125
	check "and is told by whom" matches /tmp/second.err "the top instance is in use: 'weft record .*' \(process [0-9]+\) traces there"
	check "and what helps" matches /tmp/second.err '--wait'
	check "the outer one has all of the roots" more "$(roots /tmp/r.dat)" 299
	unchanged "all is as before"

	# The first user keeps the instance until the second one waits for it.
	mkfifo /tmp/one.go
	weft record -q -o /tmp/one.dat -F $G --fail-on-lost -- sh -c 'read -r n < /tmp/one.go; n=300; while [ $n -gt 0 ]; do : < /dev/null; n=$((n - 1)); done' 2> /tmp/one.err &
	first=$!
	begun function_graph
	weft record -o /tmp/r.dat --wait -F $G --fail-on-lost -- sh -c 'n=300; while [ $n -gt 0 ]; do : < /dev/null; n=$((n - 1)); done' 2> /tmp/two.err &
	second=$!
	await 'grep -q waiting /tmp/two.err'
	echo > /tmp/one.go
	wait $second
	check "one that waits ends well" status_is $? 0 /tmp/two.err
	wait $first
	check "so does the one that it waited for" status_is $? 0 /tmp/one.err
	check "the first has all of its roots" more "$(roots /tmp/one.dat)" 299
	check "the second, too" more "$(roots /tmp/r.dat)" 299
	unchanged "all is as before after both"

	weft start $G 2> /tmp/s.err
	check "start takes the top instance" status_is $? 0 /tmp/s.err
	opens 30
	record "record is refused while it was started" 125 $G -- true
	check "by the start's name" matches /tmp/r.err "'weft start -p function_graph .*' \(process [0-9]+, ended\) .*until 'weft reset'"
	timeout 20 weft stream -q $G -- true > /dev/null 2> /tmp/s.err
	check "so is stream" matches /tmp/s.err 'the top instance is in use'
	setsid weft start -p function -l do_sys_openat2 2> /tmp/s.err
	check "so is a start from elsewhere" matches /tmp/s.err 'the top instance is in use.*-B NAME'
	weft record -q -o /tmp/r.dat --wait=200ms $G -- true 2> /tmp/s.err
	check "waiting ends when its time is over" matches /tmp/s.err 'timed out waiting'
	weft stat > /tmp/stat.txt
	check "stat tells who traces" matches /tmp/stat.txt "the top instance is traced by 'weft start"
	weft doctor | tr -s '\n ' ' ' > /tmp/doctor.txt
	check "so does doctor" matches /tmp/doctor.txt "'weft start .*' \(process [0-9]+, ended"
	record "what needs no top instance goes on beside it" 0 -e sched -- true
	check "what was started is all there" more "$(grep -c 'do_sys_openat2' $T/trace)" 29
	check "the graph's function is the start's" equal "$(cat $T/set_graph_function)" do_sys_openat2
	weft start -e sched:sched_switch 2> /tmp/s.err
	check "who has started may start something else" status_is $? 0 /tmp/s.err
	# The shell in the background may empty an old file too late.
	rm /tmp/two.err
	weft record -o /tmp/r.dat --wait -F $G -- true 2> /tmp/two.err &
	first=$!
	await 'grep -q waiting /tmp/two.err'
	weft reset 2> /tmp/s.err
	wait $first
	check "reset lets one go on that waits for it" status_is $? 0 /tmp/two.err
	unchanged "all is as before after reset"

	for n in 1 2 3; do
		setsid weft start -p function -l do_sys_openat2 2> /tmp/s1.err &
		setsid weft start -e sched:sched_switch 2> /tmp/s2.err &
		wait
		weft reset 2> /tmp/s.err
		check "after two starts at once and reset tracing is on" equal "$(cat $T/tracing_on)" 1
	done
	unchanged "all is as before after them"

	weft record -q -o /tmp/r.dat $G --no-pid 1 --duration 30s 2> /tmp/one.err &
	first=$!
	begun function_graph
	weft set --thresh 5us 2> /tmp/s.err
	weft reset 2> /tmp/s.err
	kill -9 $first
	rm -rf /tmp/r.dat.*.parts
	wait $first 2> /dev/null
	weft record -q -o /tmp/r.dat -F $G -- true 2> /tmp/one.err
	check "one that was killed holds nothing" status_is $? 0 /tmp/one.err
	weft reset 2> /tmp/s.err
	unchanged "two journals go back to the oldest"
	check "nothing is left in the directory of the journals" equal "$(ls /run/weft)" ""
}
