# SPDX-License-Identifier: GPL-2.0-only
# Compares weft sched and weft syscalls with perf, which records the same moment. The compared tasks are the children of
# one shell, which begin within both recordings: two that share a CPU and live on, sleeping ones, one that makes a known
# number of system calls, and one whose calls fail. Counts must be equal. Times differ by what the host takes from the
# guest between two readings of the clock at one event: on a busy host every other task has such a gap, of any length.
# So at least a third of the tasks must have nearly equal times; if weft were wrong, none would have.

perf() { timeout 100 /tmp/perf/loader --library-path /tmp/perf/lib /tmp/perf/perf "$@"; }

# both: runs the workload while weft records it within a recording of perf: /tmp/r.dat and /tmp/p.data. The processes
# that live on wait for a writer of /tmp/hold.
both() {
	cat > /tmp/spin <<-'EOT'
		n=0
		while [ $n -lt 2500 ]; do n=$((n + 1)); done
		echo $$ > /tmp/spun.$1
		read n < /tmp/hold
	EOT
	cat > /tmp/work <<-'EOT'
		echo $$ > /tmp/shell
		taskset 1 sh /tmp/spin 1 &
		one=$!
		taskset 1 sh /tmp/spin 2 &
		two=$!
		sleep 0.2
		sleep 0.2
		dd if=/dev/zero of=/dev/null bs=1 count=200 2> /dev/null
		cat /none1 /none2 /none3 2> /dev/null
		for n in 1 2; do until [ -e /tmp/spun.$n ]; do sleep 0.2; done; done
		# Waits until they sleep, so that all of their events are in the past.
		for pid in $one $two; do until grep -q ') S ' /proc/$pid/stat; do sleep 0.2; done; done
		# The kernel switches away from the last child only after its parent has seen it end, and nobody can see
		# when it has.
		read -t 1 n <> /tmp/last || :
	EOT
	rm -f /tmp/spun.* /tmp/shell /tmp/hold /tmp/last
	mkfifo /tmp/hold /tmp/last
	# perf's own system calls outnumber all others. Its switches must not be left out, because each is also a switch
	# of another task.
	perf record -q -a -c 1 -R -m 1024 -B -N --no-bpf-event --synth=no -e sched:sched_switch,sched:sched_waking,sched:sched_wakeup \
		-e sched:sched_wakeup_new,sched:sched_migrate_task,sched:sched_process_fork,sched:sched_process_exit,sched:sched_stat_runtime \
		-e 'raw_syscalls:*' --exclude-perf -o /tmp/p.data -- \
		weft record -o /tmp/r.dat -b 8M -e sched -e raw_syscalls -- sh /tmp/work > /tmp/r.out 2> /tmp/r.err
	status=$?
	: <> /tmp/hold
}

# read_perf writes four files. /tmp/tasks.perf: PID, runs, ms of running, ms of the longest delay, for each child of the
# shell, by perf's analysis. /tmp/counts.perf: PID, turns that ended, migrations, counted in perf's recording, because
# its analysis gives some of them to no task. /tmp/latency: PID, ms by the scheduler's own account. /tmp/calls.perf:
# PID, system call, calls, errors, ms. Its /tmp/script also has each system call's number: /tmp/numbers.perf has how many
# calls ended and how many failed, a line for each number.
read_perf() {
	perf sched timehist -S -i /tmp/p.data > /tmp/timehist 2> /tmp/perf.err && perf sched latency -p -i /tmp/p.data > /tmp/latency.txt 2>> /tmp/perf.err &&
		perf script -F tid,event,trace -i /tmp/p.data > /tmp/script 2>> /tmp/perf.err || return
	# On mips it has no names of system calls, on riscv64 (6.12) it crashes.
	perf trace -s -i /tmp/p.data > /tmp/trace.txt 2>&1
	case $? in
	0) ;;
	139) : > /tmp/trace.txt ;;
	*) return 1 ;;
	esac
	awk '$2 == "sched:sched_switch:" && match($0, / prev_pid=[0-9]+ /) { turns[substr($0, RSTART + 10) + 0]++ }
		$2 == "sched:sched_migrate_task:" && match($0, / pid=[0-9]+ /) { moves[substr($0, RSTART + 5) + 0]++ }
		END { for (pid in turns) print pid, turns[pid], moves[pid] + 0 }' /tmp/script | sort > /tmp/counts.perf
	# A task is "name[tid]" or "name[tid/pid]", and a name may have blanks. The output first has a line for each
	# run, with the delay as the second number; then one for each task, the parent first. The delay of a child's first
	# run is that of its fork, which weft sched does not count among those of wakeups.
	awk -v shell="$(cat /tmp/shell)" '/^Runtime summary/ { tasks = 1 }
		!tasks { sub(/\[[0-9]+\] /, "") }
		!match($0, /\[[0-9]+(\/[0-9]+)?\] /) { next }
		{ pid = substr($0, RSTART + 1) + 0; n = split(substr($0, RSTART + RLENGTH), f, " ") }
		!tasks && f[1] ~ /^[0-9]/ && runs[pid]++ && f[2] + 0 > longest[pid] { longest[pid] = f[2] + 0 }
		tasks && f[1] == shell { print pid, f[2], f[3], longest[pid] + 0 }' /tmp/timehist | sort > /tmp/tasks.perf
	awk 'NR == FNR { of[$1] = 1; next }
		!($1 in of) { next }
		$2 == "raw_syscalls:sys_enter:" { open[$1] = $4 }
		$2 == "raw_syscalls:sys_exit:" && open[$1] == $4 { calls[$4]++; errors[$4] += $6 < 0 && $6 > -4096; delete open[$1] }
		END { for (number in calls) print calls[number], errors[number] }' /tmp/tasks.perf /tmp/script | sort > /tmp/numbers.perf
	awk -F'|' '{ pid = $1; sub(/.*:/, "", pid) } pid + 0 > 0 { print pid + 0, $2 + 0 }' /tmp/latency.txt | sort > /tmp/latency
	awk 'match($0, /\([0-9]+\), [0-9]+ events/) { pid = substr($0, RSTART + 1) + 0; next }
		pid && $2 ~ /^[0-9]+$/ && $3 ~ /^[0-9]+$/ { print pid, $1, $2, $3, $4 }' /tmp/trace.txt > /tmp/calls.perf
}

# rows COLUMN...: prints these columns of a table of weft's as CSV
rows() {
	awk -F, -v wanted="$*" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(wanted, c, " "); next }
		/^$/ { exit } { for (i = 1; i <= n; i++) printf "%s%s", $at[c[i]], i < n ? " " : "\n" }'
}

# joined A B: prints the lines of A, each followed by the line of B with the same first word
joined() { awk 'NR == FNR { word = $1; sub(/^[^ ]* /, ""); rest[word] = $0; next }
	$1 in rest { print $0, rest[$1] }' "$2" "$1"; }

# near SENTENCE FILE RUNS EACH A B: in one of three lines, the columns A, in ms, and B, in ns, differ by at most a
# fiftieth plus EACH ms for each of the runs in column RUNS (0 means one run)
near() {
	check "$1" awk -v runs="$3" -v each="$4" -v a="$5" -v b="$6" '{ x = $a; y = $b / 1e6; d = x > y ? x - y : y - x
			if (d > x / 50 + each * (runs ? $runs : 1)) print "task " $1 ": perf " x " ms, weft " y " ms"; else close_by++ }
		END { print close_by + 0 " of " NR " are near"; exit NR < 6 || close_by * 3 < NR }' "$2"
}

scheduling() {
	tables sched /tmp/r.dat > /tmp/sched.csv 2> /tmp/r.err
	check "weft sched reads it, and its sums are right" status_is $? 0 /tmp/r.err
	rows pid voluntary involuntary migrations run_ns delay_max_ns < /tmp/sched.csv | awk '{ print $1, $2 + $3, $4, $5, $6 + 0 }' > /tmp/tasks.weft
	joined /tmp/tasks.perf /tmp/tasks.weft > /tmp/tasks
	check "weft knows the tasks of the workload that perf knows" equal "$(wc -l < /tmp/tasks)" "$(wc -l < /tmp/tasks.perf)"
	joined /tmp/tasks.weft /tmp/counts.perf | awk 'NR == FNR { of[$1] = 1; next } $1 in of' /tmp/tasks.perf - > /tmp/counts
	check "perf has recorded switches of each" equal "$(wc -l < /tmp/counts)" "$(wc -l < /tmp/tasks.perf)"
	check "each moved as many times as perf has recorded" awk '$3 != $7 { print; bad = 1 } END { exit bad }' /tmp/counts
	check "and left its CPU as many times" awk '$2 != $6 { print; bad = 1 } END { exit bad }' /tmp/counts
	near "and ran as long as perf sched timehist says" /tmp/tasks 2 0.1 3 7
	near "its longest delay from waking to running is that of the runs which perf lists" /tmp/tasks 0 0.1 4 8
	# The scheduler reads its clock before it chooses the next task.
	joined /tmp/tasks /tmp/latency > /tmp/tasks.latency
	near "it ran as long as perf sched latency says by the scheduler's own account" /tmp/tasks.latency 2 1 9 7
}

calls() {
	local pids unknown

	pids=$(cut -d' ' -f1 /tmp/tasks.perf | paste -s -d, -)
	tables syscalls /tmp/r.dat --pid "$pids" > /tmp/calls.csv 2> /tmp/r.err
	check "weft syscalls reads it" status_is $? 0 /tmp/r.err
	# perf counts the calls that have ended. The first call that ends in a child is its parent's fork, which perf
	# counts as a call without time.
	awk -v pids=",$pids," 'index(pids, "," $1 ",") && !($2 ~ /^(clone3?|v?fork)$/ && $5 == 0)' /tmp/calls.perf > /tmp/calls
	awk '{ calls[$2] += $3; errors[$2] += $4 } END { for (c in calls) print c, calls[c], errors[c] }' /tmp/calls | sort > /tmp/ended.perf
	rows syscall calls errors endless < /tmp/calls.csv | awk '$2 > $4 { print $1, $2 - $4, $3 }' | sort > /tmp/ended.weft
	rows syscall calls total_ns < /tmp/calls.csv | sed -n 's/^clock_nanosleep\(_time64\)* //p' > /tmp/slept
	cut -d' ' -f2- /tmp/ended.weft | sort > /tmp/numbers.weft
	same "each number of a system call ended and failed as many times as perf has recorded" /tmp/numbers.perf /tmp/numbers.weft
	check "the calls of dd are among them" awk '/^(read|write) / && $2 >= 200 { n++ } END { exit n != 2 }' /tmp/ended.weft
	check "and the files that are not there" awk '/^open/ && $3 >= 3 { n++ } END { exit !n }' /tmp/ended.weft
	check "each sleep is of two tenths of a second" awk '{ n += $1; ns += $2 } END { exit !n || ns < n * 200000000 }' /tmp/slept
	if [ ! -s /tmp/calls.perf ]; then
		skip "the names of system calls, and their times" "perf trace -s tells of none on this machine"
		return
	fi
	# On arm64 perf 6.1 has no names for some, and leaves them out.
	awk 'NR == FNR { known[$2] = 1; next } $1 in known' /tmp/calls.perf /tmp/ended.weft > /tmp/named.weft
	unknown=$(awk 'NR == FNR { known[$1] = 1; next } !($1 in known) { print $1 }' /tmp/named.weft /tmp/ended.weft | paste -s -d ' ' -)
	[ -z "$unknown" ] || skip "the names of $unknown" "perf trace -s tells of no such system call of any task"
	same "each system call ended and failed as many times as perf trace -s says" /tmp/ended.perf /tmp/named.weft
	awk '{ calls[$1] += $3; ms[$1] += $5 } END { for (pid in calls) print pid, calls[pid], ms[pid] }' /tmp/calls > /tmp/spent.perf
	tables syscalls /tmp/r.dat --pid "$pids" --by task 2> /tmp/r.err | rows pid total_ns > /tmp/spent.weft
	joined /tmp/spent.perf /tmp/spent.weft > /tmp/spent
	near "they took each task as long" /tmp/spent 2 0.1 3 4
}

scenario() {
	local status

	[ -x /host/perf/perf ] || { skip "weft sched and weft syscalls beside perf" "$(tail -n 1 /host/perf.lacking)"; return; }
	cp -r /host/perf /tmp/perf
	if ! perf stat -e sched:sched_switch true > /tmp/perf.err 2>&1; then
		skip "weft sched and weft syscalls beside perf" "perf counts no events of this kernel: $(grep . /tmp/perf.err | tail -n 1)"
		rm -rf /tmp/perf
		return
	fi
	both
	check "weft records within what perf records" status_is $status 0 /tmp/r.err
	check "weft lost nothing" matches /tmp/r.err ' 0 lost'
	check "perf reads its recording" read_perf
	if grep -q 'lost [0-9]* chunks' /tmp/perf.err; then
		skip "weft sched and weft syscalls beside perf" "perf has lost events"
	else
		scheduling
		calls
	fi
	[ ! -e "$OUT/check.log" ] || cp /tmp/*.perf /tmp/*.weft /tmp/tasks* /tmp/spent "$OUT/" 2> /dev/null
	rm -rf /tmp/perf /tmp/p.data
}
