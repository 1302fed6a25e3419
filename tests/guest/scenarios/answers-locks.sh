# SPDX-License-Identifier: GPL-2.0-only
# Compares weft locks and weft sched with the measurements of two processes: one holds a futex for 5 ms, 20 times, the
# other one waits for it.

# cell FILE PID NAME: of the row of a task
cell() { awk -F, -v name="$3" -v pid="$2" 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == name) c = i; if ($i == "pid") p = i } } /^$/ { exit } $p == pid { print $c }' "$1"; }

scenario() {
	local who pid ran queued waits took holder total

	command -v holder > /dev/null || { skip "everything" "no program for it in this guest"; return; }
	record "weft records a futex held for 5 ms" 0 -b 4M -e sched -e raw_syscalls -- sh -c 'holder 20 5000 > /tmp/measured'
	check "it lost nothing" matches /tmp/r.err ' 0 lost'
	holder=$(awk '/^holder/ { print $2 }' /tmp/measured)
	read -r who pid ran queued <<-EOT
		$(grep '^waiter' /tmp/measured)
	EOT
	read -r who pid waits took <<-EOT
		$(grep '^waits' /tmp/measured)
	EOT
	weft locks /tmp/r.dat --by task --format csv > /tmp/locks.csv 2> /tmp/r.err
	check "weft locks reads it" status_is $? 0 /tmp/r.err
	check "it has as many waits as the task has measured, and those that were short" more "$(($(cell /tmp/locks.csv "$pid" waits) + 1))" "$waits"
	check "most were of about 5 ms" more "$waits" 10
	total=$(cell /tmp/locks.csv "$pid" total_ns)
	# The task's figure has the way into the call and out of it, and its short waits are only in weft's.
	check "they took as long as the task has measured ($total and $took ns)" \
		awk -v t="$total" -v m="$took" 'BEGIN { exit !(t > m * 0.85 && t < m * 1.15 + 50000000) }'
	check "the median is 5 ms and the time until it ran" awk -v p="$(cell /tmp/locks.csv "$pid" p50_ns)" 'BEGIN { exit !(p > 2500000 && p < 50000000) }'
	check "who holds it waits for nobody" equal "$(cell /tmp/locks.csv "$holder" waits)" ""
	weft sched /tmp/r.dat --format csv > /tmp/sched.csv 2> /tmp/r.err
	check "weft sched reads it" status_is $? 0 /tmp/r.err
	check "the waiter sleeps as long as it waits" awk -v s="$(cell /tmp/sched.csv "$pid" sleep_ns)" -v m="$took" 'BEGIN { exit !(s > m * 0.8) }'
	[ "$ran" -gt 0 ] || { skip "a sleeper ran as long as its schedstat says" "a kernel without schedstat"; return; }
	# The kernel's figures are those of the ended task; it may leave out interrupts. Where the host takes the CPU
	# from the guest between the clock of a switch and its event, some ms are run for one and waiting for the other:
	# the sleep of 100 ms is far above that.
	check "a sleeper ran as long as its schedstat says ($(cell /tmp/sched.csv "$pid" run_ns) and $ran ns)" \
		awk -v a="$(cell /tmp/sched.csv "$pid" run_ns)" -v b="$ran" 'BEGIN { d = a > b ? a - b : b - a; exit !(a != "" && d < b / 5) }'
	check "it waited for a CPU as long as that says ($(cell /tmp/sched.csv "$pid" wait_ns) and $queued ns)" \
		awk -v a="$(cell /tmp/sched.csv "$pid" wait_ns)" -v b="$queued" 'BEGIN { d = a > b ? a - b : b - a; exit !(a != "" && d < b / 5 + 50000000) }'
}
