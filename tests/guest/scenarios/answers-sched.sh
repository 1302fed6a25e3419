# SPDX-License-Identifier: GPL-2.0-only
# Compares weft sched and weft syscalls with the kernel's own counts of the same tasks: two that share a CPU, and sleeps
# with a known length.

# column FILE NAME: prints the column's number in the CSV table
column() { head -n 1 "$1" | tr , '\n' | grep -n -x "$2" | cut -d: -f1; }
# cell FILE PID NAME: prints this cell from the row of a task
cell() { awk -F, -v c="$(column "$1" "$3")" -v p="$(column "$1" pid)" -v pid="$2" '/^$/ { exit } $p == pid { print $c }' "$1"; }
# is_near A B: ns, within a tenth and 50 ms, for a task reads its own figures before it ends
is_near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a > b ? a - b : b - a; exit !(a != "" && b > 0 && d < b / 10 + 50000000) }'; }
near() { check "$1 ($2 and $3 ns)" is_near "$2" "$3"; }

# measure [OPTION...]: a recording of the workload and what weft sched says of it
measure() {
	rm -f /tmp/figures.*
	record "weft records two that share a CPU, and sleeps${*:+, with $*}" 0 -b 8M -e sched -e raw_syscalls "$@" -- sh /tmp/work
	check "it lost nothing" matches /tmp/r.err ' 0 lost'
	tables sched /tmp/r.dat > /tmp/sched.csv 2> /tmp/r.err
	check "weft sched reads it, and its sums are right" status_is $? 0 /tmp/r.err
}

# agree: the figures of both are near
agree() {
	local n pid ran waited rest

	for n in 1 2; do
		read -r pid ran waited rest < /tmp/figures.$n
		is_near "$(cell /tmp/sched.csv "$pid" run_ns)" "$ran" || return
		[ -z "$waited" ] || is_near "$(cell /tmp/sched.csv "$pid" wait_ns)" "$waited" || return
	done
}

scenario() {
	local n pid ran waited rest tries=5
	# A shell that counts, and then tells the kernel's figures of itself: PID, run, wait. Without schedstat there is
	# the run alone: user and system time in hundredths, which the kernel makes of the exact one.
	cat > /tmp/spin <<-'EOF'
		n=0
		while [ $n -lt 4000 ]; do n=$((n + 1)); done
		if [ -e /proc/$$/schedstat ]; then
			read -r figures < /proc/$$/schedstat
		else
			figures=$(awk '{ print ($14 + $15) * 10000000 }' /proc/$$/stat)
		fi
		echo "$$ $figures" > /tmp/figures.$1
	EOF
	cat > /tmp/work <<-'EOF'
		taskset 1 sh /tmp/spin 1 &
		taskset 1 sh /tmp/spin 2 &
		for n in 1 2 3; do sleep 0.3; done
		wait
	EOF
	# The kernel counts no interrupts as running, and a busy host may stop an emulated CPU in one for long. If weft
	# were wrong, it would be so each time.
	measure
	until agree || [ $((tries -= 1)) = 0 ]; do measure; done
	for n in 1 2; do
		read -r pid ran waited rest < /tmp/figures.$n
		near "spinner $n ran as long as the kernel says" "$(cell /tmp/sched.csv "$pid" run_ns)" "$ran"
		[ -n "$waited" ] || { skip "spinner $n waited as long as its schedstat says" "a kernel without schedstat"; continue; }
		near "spinner $n waited as long as its schedstat says" "$(cell /tmp/sched.csv "$pid" wait_ns)" "$waited"
	done
	tables syscalls /tmp/r.dat --comm sleep --by syscall --slowest 3 > /tmp/calls.csv 2> /tmp/r.err
	check "weft syscalls reads it" status_is $? 0 /tmp/r.err
	check "each sleep is one call" equal "$(awk -F, '/^$/ { exit } /nanosleep/ { print $3 }' /tmp/calls.csv)" 3
	check "of three tenths of a second, blocked" awk -F, 'p && /nanosleep/ { n++; if ($1 < 300000000 || $10 < 250000000) bad = 1 }
		/^$/ { p = 1 } END { exit n != 3 || bad }' /tmp/calls.csv
	of_a_filter
	of_all_events
}

# With a PID filter the kernel says nothing of what happens between other tasks: the figures of its own tasks are the
# same, a task that is not in it has no row, and no time is idle.
of_a_filter() {
	local n pid ran waited rest tries=5

	measure -F -c
	until agree || [ $((tries -= 1)) = 0 ]; do measure -F -c; done
	for n in 1 2; do
		read -r pid ran waited rest < /tmp/figures.$n
		near "in a PID filter, spinner $n ran as long as the kernel says" "$(cell /tmp/sched.csv "$pid" run_ns)" "$ran"
	done
	check "all tasks with rows are those of the filter" lacks /tmp/sched.csv '^(swapper|rcu_|kworker|weft)'
	check "no CPU is said to be idle" awk -F, '/^cpu,/ { for (i = 1; i <= NF; i++) if ($i == "idle_ns") c = i; next }
		/^$/ { c = 0 } c && $c != 0 { bad = 1 } END { exit bad }' /tmp/sched.csv
	weft sched /tmp/r.dat > /tmp/sched.txt 2>&1
	check "a line tells of the filter" matches /tmp/sched.txt 'only the tasks of a PID filter were recorded'
	check "no sched_switch of its tasks is missing" lacks /tmp/sched.txt 'was not on the CPU'
	check "weft record -F without the children ends with status 0" \
		timeout 100 weft record -q -F -e sched -o /tmp/r.dat -- sh -c 'sleep 0.3; true'
	tables sched /tmp/r.dat > /tmp/sched.csv 2> /tmp/r.err
	check "a child that is not recorded has no row" lacks /tmp/sched.csv '^sleep,'
}

# What the kernel does between sched_switch and the change of tasks is recorded with the PID of the task that leaves.
of_all_events() {
	check "weft records all events" timeout 200 weft record -q -b 16M -e all -o /tmp/r.dat -- sh -c 'for i in 1 2 3; do sleep 0.01; done'
	weft sched /tmp/r.dat > /tmp/sched.txt 2>&1
	if grep -q 'broken by lost events: none' /tmp/sched.txt; then
		check "with all events, every task is where the last sched_switch had left it" lacks /tmp/sched.txt 'was not on the CPU'
	else
		skip "with all events, every task is where the last sched_switch had left it" "events were lost on this slow machine"
	fi
	weft syscalls /tmp/r.dat > /tmp/calls.txt 2>&1
	check "no call is broken" lacks /tmp/calls.txt 'lost events: .* calls?'
}
