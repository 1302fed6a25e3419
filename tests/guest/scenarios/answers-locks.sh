# SPDX-License-Identifier: GPL-2.0-only
# Compares weft locks and weft sched with the measurements of two processes: one holds a futex for 5 ms, 20 times; the
# other one waits for it.

# cell FILE PID NAME: prints this cell from the row of a task
cell() { awk -F, -v name="$3" -v pid="$2" 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == name) c = i; if ($i == "pid") p = i } } /^$/ { exit } $p == pid { print $c }' "$1"; }

# measure: a recording of both, what they have measured and what weft says of it
measure() {
	record "weft records a futex held for 5 ms" 0 -b 4M -e sched -e raw_syscalls -- sh -c 'holder 20 5000 > /tmp/measured'
	check "it lost nothing" matches /tmp/r.err ' 0 lost'
	holder=$(awk '/^holder/ { print $2 }' /tmp/measured)
	read -r who pid ran queued <<-EOT
		$(grep '^waiter' /tmp/measured)
	EOT
	read -r who pid waits took <<-EOT
		$(grep '^waits' /tmp/measured)
	EOT
	tables locks /tmp/r.dat --by task > /tmp/locks.csv 2> /tmp/r.err
	check "weft locks reads it" status_is $? 0 /tmp/r.err
	tables sched /tmp/r.dat > /tmp/sched.csv 2> /tmp/r.err
	check "weft sched reads it" status_is $? 0 /tmp/r.err
	total=$(cell /tmp/locks.csv "$pid" total_ns)
	median=$(cell /tmp/locks.csv "$pid" p50_ns)
	slept=$(cell /tmp/sched.csv "$pid" sleep_ns)
	run=$(cell /tmp/sched.csv "$pid" run_ns)
	waited=$(cell /tmp/sched.csv "$pid" wait_ns)
}

# What has to be so, for ns that weft and others have measured.
# The task's figure has the way into the call and out of it, and its short waits are only in weft's.
took_as_long() { awk -v t="$total" -v m="$took" 'BEGIN { exit !(t > m * 0.85 && t < m * 1.15 + 50000000) }'; }
median_is() { awk -v p="$median" 'BEGIN { exit !(p > 2500000 && p < 50000000) }'; }
slept_as_long() { awk -v s="$slept" -v m="$took" 'BEGIN { exit !(s > m * 0.8) }'; }
# near A B MORE: they differ by a fifth and MORE at most
near() { awk -v a="$1" -v b="$2" -v more="$3" 'BEGIN { d = a > b ? a - b : b - a; exit !(a != "" && d < b / 5 + more) }'; }
# The kernel's figures are those of the ended task.
ran_as_long() { near "$run" "$ran" 0; }
waited_as_long() { near "$waited" "$queued" 50000000; }

agree() { [ "$waits" -gt 10 ] && took_as_long && median_is && slept_as_long && { [ "$ran" = 0 ] || ran_as_long && waited_as_long; }; }

scenario() {
	local who pid ran queued waits took holder total median slept run waited tries=5

	command -v holder > /dev/null || { skip "everything" "no program for it in this guest"; return; }
	! compat || { skip "everything" "no event shows which calls of 32-bit programs use futexes"; return; }
	# Where the host takes the CPU from the guest between a clock and its event, or inside an interrupt, a time is
	# one thing for weft and another one for the kernel or the task. If weft were wrong, it would be so each time.
	measure
	until agree || [ $((tries -= 1)) = 0 ]; do measure; done
	check "it has as many waits as the task has measured, and those that were short" more "$(($(cell /tmp/locks.csv "$pid" waits) + 1))" "$waits"
	check "most were of about 5 ms" more "$waits" 10
	check "they took as long as the task has measured ($total and $took ns)" took_as_long
	check "the median is 5 ms and the time until it ran" median_is
	check "who holds it waits for nobody" equal "$(cell /tmp/locks.csv "$holder" waits)" ""
	check "the waiter sleeps as long as it waits" slept_as_long
	[ "$ran" -gt 0 ] || { skip "a sleeper ran as long as its schedstat says" "a kernel without schedstat"; return; }
	check "a sleeper ran as long as its schedstat says ($run and $ran ns)" ran_as_long
	check "it waited for a CPU as long as that says ($waited and $queued ns)" waited_as_long
}
