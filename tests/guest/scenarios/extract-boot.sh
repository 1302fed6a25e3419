# SPDX-License-Identifier: GPL-2.0-only
# kernel: reserve_mem=8M:4096:trace trace_instance=boot_map^traceoff@trace trace_instance=early,sched:sched_process_exec
# reboots: yes
# The kernel crashes; its buffer in memory that survives the crash becomes a file under the next kernel. The oracles are
# the number of markers written before, and the next kernel's own text.
B=$T/instances/boot_map

die() {
	local i=0

	for e in sched/sched_switch sched/sched_process_exec signal/signal_generate; do echo 1 > $B/events/$e/enable; done
	if grep -qw function $B/available_tracers; then
		echo vfs_open > $B/set_ftrace_filter
		echo function > $B/current_tracer
	fi
	echo 1 > $B/options/stacktrace
	echo 1 > $B/events/sched/sched_process_exec/enable
	echo 1 > $B/tracing_on
	load
	echo 0 > $B/options/stacktrace
	while [ $i -lt 300 ]; do
		i=$((i + 1))
		echo "before the end: $i" > $B/trace_marker
	done
	# After a panic, s390x stops unless it is told to start again.
	[ ! -e /sys/firmware/shutdown_actions/on_panic ] || echo reipl > /sys/firmware/shutdown_actions/on_panic
	echo > /host/$S.died
	sync
	echo c > /proc/sysrq-trigger
	sleep 20
}

# The names of tasks are those that this kernel knows by now, so they are left out.
same_lines() {
	for f in "$2" "$3"; do sed -i 's/^ *[^ ].*-\([0-9]*\) *\[\([0-9]*\)\]/\1 [\2]/' "$f"; done
	same "$@"
}

scenario() {
	[ -d $B ] || { skip everything "this kernel has no boot instance in reserved memory"; return; }
	[ -e /host/$S.died ] || { die; fail "the kernel dies when it is told to"; return; }
	rm /host/$S.died
	cat $B/last_boot_info $B/trace > /tmp/before.txt
	cat $B/last_boot_info
	cat $B/trace > /tmp/boot.txt
	check "what was traced has outlived the kernel" equal "$(grep -c 'before the end' /tmp/boot.txt)" 300
	# None of these commands changes anything by reading.
	{ weft stat; weft instance; weft list instances; weft doctor; weft show -B boot_map; weft hist; weft snapshot -B boot_map; } > /tmp/looks.txt 2>&1
	weft reset --all --yes > /tmp/reset.txt 2> /tmp/reset.err
	check "weft reset --all ends with status 0" status_is $? 0 /tmp/reset.err
	check "and says that it leaves the instance alone" matches /tmp/reset.txt "the instance 'boot_map' stays"
	check "and the other one of the command line" matches /tmp/reset.txt "the instance 'early' stays"
	check "which is there" test -d $T/instances/early
	check "with its event" matches $T/instances/early/set_event sched_process_exec
	cat $B/last_boot_info $B/trace > /tmp/after.txt
	same_lines "looking at it and resetting change nothing of it" /tmp/before.txt /tmp/after.txt
	echo 1 > $B/options/sym-addr
	echo 1 > $B/options/sym-offset
	cat $B/trace > /tmp/addr.txt
	echo 0 > $B/options/sym-addr
	echo 0 > $B/options/sym-offset
	rm -f /tmp/r.dat
	timeout 60 weft extract -B boot_map -o /tmp/r.dat 2> /tmp/x.err
	check "weft extract makes a file of it" status_is $? 0 /tmp/x.err
	whole
	weft report -B boot_map /tmp/r.dat > /tmp/boot.weft.txt
	same_lines "its report equals the kernel's text" /tmp/boot.txt /tmp/boot.weft.txt
	weft report -O sym-addr -O sym-offset -B boot_map /tmp/r.dat > /tmp/addr.weft.txt
	same_lines "also with the addresses of functions" /tmp/addr.txt /tmp/addr.weft.txt
	weft report --stored last_boot_info -B boot_map /tmp/r.dat > /tmp/stored.txt 2>&1
	check "the file tells of the last boot" lacks /tmp/stored.txt '# Current'
}
