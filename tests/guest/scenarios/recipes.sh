# SPDX-License-Identifier: GPL-2.0-only
# limit: 300
# The commands of weft-recipes(7), run as the page has them.

. /host/start.sh

# block NAME: prints the block of the page with this mark
block() {
	awk -v name="$1" '$0 == ".\\\" example: " name { on = 1; next } /^\.EX/ { inside = on; next }
		/^\.EE/ { inside = on = 0 } inside' /host/weft-recipes.7 | sed "s/\\\\-/-/g; s/\\\\(aq/'/g; s/\\\\\\\\/\\\\/g"
}

run_block() { block "$1" > /tmp/block; sh -e /tmp/block > /tmp/block.out 2>&1; }

# The recipes about files; their programs are replaced by some that every guest has.
files() {
	[ -e $T/kprobe_events ] || { skip "files" "this kernel has no probes of its functions"; return; }
	echo one > /tmp/there
	block files | sed 's, make$, cat /tmp/there,' > /tmp/block
	check "which files a program reads is told" sh -e /tmp/block
	check "by name and bytes" sh -c 'weft syscalls --by file --table syscalls --format csv 2> /dev/null | grep "^/tmp/there,"'
	block writer | sed 's,--duration 1m,-- sh -c "echo two > /tmp/hosts; rm /tmp/hosts",' > /tmp/block
	check "who wrote to a file is told" sh -ec '. /tmp/block > /tmp/block.out; grep "sh-.* write.*/tmp/hosts" /tmp/block.out; grep "rm-.*unlink.*/tmp/hosts" /tmp/block.out'
	block configuration | sed 's,nginx -t,sh -c "cat /tmp/there /tmp/missing; true",' > /tmp/block
	check "what was read and what was missing is told" sh -ec '. /tmp/block > /tmp/block.out; grep "open.*/tmp/there" /tmp/block.out; grep "/tmp/missing.*ENOENT" /tmp/block.out'
}

# The recipes about a control group, a span, and what happens now, with commands that end.
others() {
	block span | sed 's, make$, true,' > /tmp/block
	check "how long a named command took is told" sh -c '. /tmp/block > /tmp/block.out 2>&1; grep "^build " /tmp/block.out || { cat /tmp/block.out; false; }'
	block now | sed 's,$, -- ls /,' > /tmp/block
	check "the calls of now are told" sh -c '. /tmp/block > /tmp/block.out 2>&1; grep "^# system calls" /tmp/block.out || { cat /tmp/block.out; false; }'
	mkdir -p /sys/fs/cgroup
	if ! mount -t cgroup2 none /sys/fs/cgroup 2> /dev/null; then
		skip "a control group" "this kernel has no control groups"
		return
	fi
	mkdir /sys/fs/cgroup/web
	# It wakes ls until it is ended.
	sh -c 'echo $$ > /sys/fs/cgroup/web/cgroup.procs; while :; do ls / > /dev/null; done' &
	group=$!
	await "grep -q . /sys/fs/cgroup/web/cgroup.procs"
	block group | sed 's,--duration 10s,--duration 200ms,' > /tmp/block
	check "what a control group did is told" sh -c '. /tmp/block > /tmp/block.out 2>&1; grep "^/web " /tmp/block.out || { cat /tmp/block.out; false; }'
	kill $group
	wait $group 2> /dev/null
	await "rmdir /sys/fs/cgroup/web 2> /dev/null"
	umount /sys/fs/cgroup
}

scenario() {
	has_command start || { skip "everything" "weft has no start"; return; }
	[ -e $T/events/ftrace/print/trigger ] || { skip "everything" "this kernel has no triggers on ftrace:print"; return; }
	remember
	cd /tmp || return
	check "tracing starts" run_block start
	check "tracing is on" equal "$(cat $T/tracing_on)" 1
	check "the shell's line works" run_block shell
	check "tracing is off" equal "$(cat $T/tracing_on)" 0
	check "a file is made" run_block extract
	# Another CPU may have been in the middle of an event.
	check "the program's line is at the end" sh -c 'weft report slow.dat > slow.txt; tail -n 20 slow.txt; tail -n 20 slow.txt | grep -q "tracing_mark_write: too slow$"'
	unchanged "everything is put back"
	if grep -qw snapshot $T/events/sched/sched_switch/trigger; then
		check "tracing with a snapshot starts" run_block snapshot
		echo first > $T/trace_marker
		echo second > $T/trace_marker
		check "tracing goes on" equal "$(cat $T/tracing_on)" 1
		check "extract -s works" weft extract -s -o snap.dat
		check "the snapshot has the first line" sh -c 'weft report snap.dat | grep -q "first$"'
		check "the snapshot has not the second" sh -c '! weft report snap.dat | grep -q "second$"'
		weft reset > /dev/null 2>&1
	else
		skip "snapshots" "this kernel has none"
	fi
	if has_command flight; then
		block flight > /tmp/block
		mkdir -p /var/tmp
		sh -c "exec $(cat /tmp/block)" > /tmp/flight.out 2>&1 &
		flight=$!
		await "grep -q 'has begun' /tmp/flight.out || ! kill -0 $flight"
		check "a flight writes a file when a program asks" run_block dump
		check "its name is told, and the program's words are in it" sh -c 'weft report "$(tail -n 1 /tmp/block.out)" | grep -q "weft: trigger dump at .*too slow"'
		land
		rm -f /var/tmp/*.dat /var/tmp/*.json
	fi
	files
	others
	check "stopping at warnings is set" run_block warning
	check "the kernel stops at warnings" equal "$(cat /proc/sys/kernel/traceoff_on_warning)" 1
	weft reset > /dev/null 2>&1
	block free | sed 's/sleep 60/sleep 0/; s/64M/3M/' > /tmp/block
	check "the buffer is freed at the end" sh -e /tmp/block
	check "it is small then" more 100 "$(cat $T/buffer_size_kb)"
	weft reset > /dev/null 2>&1
	if grep -qw function $T/available_tracers; then
		check "lists change" run_block add
		check "the list is what the page says" equal "$(grep -v '^#' $T/set_ftrace_filter | sort | tr '\n' ' ')" "vfs_fsync vfs_fsync_range vfs_write "
		weft reset > /dev/null 2>&1
	fi
	unchanged "nothing is left"
}
