# SPDX-License-Identifier: GPL-2.0-only
# Compares weft latency with the kernel's own text of the same file: samples of timerlat and osnoise, and the longest
# sections of latency tracers.

# column FILE NAME: prints the column's number in the CSV's first table
column() { head -n 1 "$1" | tr , '\n' | grep -n -x "$2" | cut -d: -f1; }
# table FILE FIRST-COLUMN: prints the table of a CSV whose first column has this name; only there may a cell contain a
# comma
table() { awk -v key="$2," 'index($0, key) == 1 { on = 1 } /^$/ { on = 0 } on' "$1" | sed 's/"[^"]*"/quoted/g'; }

# latency OPTION...: writes weft's answer about /tmp/r.dat to /tmp/latency.csv; fails unless its parts add up
latency() {
	tables latency /tmp/r.dat --slowest 1000 "$@" > /tmp/latency.csv 2> /tmp/r.err
	check "weft latency reads it, and its sums are right" status_is $? 0 /tmp/r.err
	weft report /tmp/r.dat > /tmp/r.txt
}

timerlat() {
	has_tracer timerlat || { skip "weft latency explains timerlat" "a kernel without it"; return; }
	record "weft records timerlat beside what a latency is made of" 0 -b 8M --for latency -p timerlat -- sleep 0.1
	latency
	# A line has "context irq timer_latency 123 ns".
	sed -nE 's/.* context +(irq|thread) timer_latency +([0-9]+) ns.*/\2 \1/p' /tmp/r.txt | sort -n | tail -n 1000 > /tmp/samples
	table /tmp/latency.csv delay_ns > /tmp/timerlat.csv
	awk -F, -v l="$(column /tmp/timerlat.csv late)" 'NR > 1 { print $1, $l }' /tmp/timerlat.csv | head -n "$(wc -l < /tmp/samples)" | sort -n > /tmp/explained
	check "there are samples of timerlat" more "$(wc -l < /tmp/samples)" 20
	same "it explains each sample of timerlat in the kernel's text" /tmp/samples /tmp/explained
}

# Without events of the scheduler and of interrupts, those of osnoise show how the time was spent. The kernel's text has
# microseconds. A sample is left out if that is too coarse to tell what ended after the timer should have expired, and
# what ended after the thread read the clock.
timerlat_noise() {
	has_tracer timerlat || { skip "weft latency splits timerlat by osnoise" "a kernel without it"; return; }
	record "weft records timerlat with the events of osnoise" 0 -b 8M -p timerlat -e osnoise -- sleep 0.2
	latency
	table /tmp/latency.csv delay_ns > /tmp/timerlat.csv
	awk '{ match($0, /\[[0-9]+\] [^ ]+ +[0-9.]+: /); split(substr($0, RSTART, RLENGTH), head, " "); cpu = head[1]; gsub(/[^0-9]/, "", cpu); cpu += 0; at = head[3] * 1e6 }
		match($0, /_noise: .* duration [0-9]+ ns/) { kind = / irq_noise: /  ? "irq" : / softirq_noise: / ? "softirq" : "other"; sub(/ ns.*/, ""); sub(/.*duration /, "")
			n[cpu]++; kinds[cpu, n[cpu]] = kind; ends[cpu, n[cpu]] = at; took[cpu, n[cpu]] = $0 + 0 }
		/timer_latency/ { number = $0; sub(/.*: #/, "", number); sub(/ .*/, "", number); late = $0; sub(/ ns.*/, "", late); sub(/.* /, "", late) }
		/context +irq +timer_latency/ { hit[cpu] = number; from[cpu] = at - late / 1000; soft[cpu] = head[2] ~ /[sH]/ }
		/context +thread +timer_latency/ && hit[cpu] == number && !soft[cpu] { irq = softirq = 0; clear = 1
			for (i = n[cpu]; i > n[cpu] - 1000 && ends[cpu, i] > from[cpu] - 3; i--) {
				after = ends[cpu, i] - from[cpu] - late / 1000
				if (after > -3 && after < 3 || ends[cpu, i] - from[cpu] < took[cpu, i] / 1000 + 3) clear = 0
				if (after > 0) continue
				if (kinds[cpu, i] == "irq") irq += took[cpu, i]
				if (kinds[cpu, i] == "softirq") softirq += took[cpu, i] }
			if (clear && irq) printf "%.0f %d %.0f %.0f\n", late, cpu, irq, softirq }' /tmp/r.txt | sort > /tmp/clear
	awk -F, -v c="$(column /tmp/timerlat.csv cpu)" -v l="$(column /tmp/timerlat.csv late)" -v i="$(column /tmp/timerlat.csv irq_ns)" \
		-v s="$(column /tmp/timerlat.csv softirq_ns)" 'NR > 1 && $l == "thread" { print $1, $c, $i, $s }' /tmp/timerlat.csv | sort > /tmp/explained
	if [ "$(wc -l < /tmp/clear)" -gt 5 ]; then
		grep -vxFf /tmp/explained /tmp/clear > /tmp/differ
		# The text has microseconds, so an interrupt at the edge of a sample may count on the other side of the
		# edge there.
		check "interrupts and softirqs of each are the noises of the kernel's text, but of one in ten" more "$(wc -l < /tmp/clear)" \
			"$(($(wc -l < /tmp/differ) * 10 - 10))"
	else
		skip "interrupts and softirqs of each are the noises of the kernel's text" "$(wc -l < /tmp/clear) samples whose noises are clear in it"
	fi
	check "the parts of most are known" awk -F, -v u="$(column /tmp/timerlat.csv unknown_ns)" 'NR > 1 { n++; known += $u == 0 } END { exit !(known * 2 > n) }' \
		/tmp/timerlat.csv
}

# The tracer writes what the timer's interrupt hit behind each long sample of a thread: the stack below the functions of
# that interrupt, up to zeros. Interrupts may come in between; their stacks are not recorded here.
timerlat_stack() {
	has_tracer timerlat || { skip "weft latency shows the stacks of timerlat" "a kernel without it"; return; }
	record "weft records timerlat with stacks" 0 -b 8M -p timerlat -e osnoise --osnoise print-stack=1 -- sleep 0.2
	latency
	awk 'function finish() { if (on) print late, stack; on = 0 }
		/^ => / { if (!on) next; if ($2 == "0") next; if (!sep && /timerlat_|hrtimer_run_queues|hrtimer_interrupt|apic_timer_interrupt/) next; stack = stack sep $2; sep = " < "; next }
		{ finish(); match($0, /\[[0-9]+\]/); cpu = substr($0, RSTART, RLENGTH) }
		/<stack trace>/ { on = cpu in sample; late = sample[cpu]; stack = sep = ""; delete sample[cpu]; next }
		/context thread timer_latency/ { late = $0; sub(/ ns.*/, "", late); sub(/.* /, "", late); sample[cpu] = late }
		END { finish() }' /tmp/r.txt | sed 's/ *$//' | sort > /tmp/stacks
	table /tmp/latency.csv delay_ns > /tmp/timerlat.csv
	awk -F, -v l="$(column /tmp/timerlat.csv late)" -v s="$(column /tmp/timerlat.csv stack)" 'NR > 1 && $l == "thread" { print $1, $s }' \
		/tmp/timerlat.csv | sed 's/ *$//' | sort > /tmp/explained
	check "there are stacks of timerlat" more "$(grep -c ' < ' /tmp/stacks)" 20
	# The table has the longest 1000 samples of both kinds.
	grep -xFf /tmp/stacks /tmp/explained > /tmp/found
	same "weft latency has the stack of each of its samples in the kernel's text" /tmp/found /tmp/explained
}

osnoise() {
	has_tracer osnoise || { skip "weft latency explains osnoise" "a kernel without it"; return; }
	# The emulator itself causes many noises. The period is never the shorter one.
	echo 50 > $T/tracing_thresh
	echo 50000 > $T/osnoise/runtime_us
	echo 100000 > $T/osnoise/period_us
	record "weft records osnoise with its events" 0 -b 8M -p osnoise -e osnoise -- sleep 0.8
	echo 1000000 > $T/osnoise/period_us
	echo 1000000 > $T/osnoise/runtime_us
	echo 0 > $T/tracing_thresh
	latency
	# The tracer's lines are like "150000 31655 78.89666 2937 129 ...", noises like "duration 28002 ns interference
	# 0".
	sed -nE 's/.*[0-9]: +([0-9]+) +([0-9]+) +[0-9]+\.[0-9]+ +([0-9]+) .*/\2 \1 \3/p' /tmp/r.txt | sort -n > /tmp/samples
	# The first table is that of samples.
	awk -F, -v r="$(column /tmp/latency.csv runtime_ns)" -v l="$(column /tmp/latency.csv largest_ns)" '/^$/ { exit }
		NR > 1 { printf "%.0f %.0f %.0f\n", int($1 / 1000), $r / 1000, $l / 1000 }' /tmp/latency.csv | sort -n > /tmp/explained
	check "there are samples of osnoise" more "$(wc -l < /tmp/samples)" 1
	same "it has the figures of each sample of osnoise in the kernel's text" /tmp/samples /tmp/explained
	# For each kind, adds up the time inside noises by the kernel's text: an event belongs to a noise if its start
	# lies in it. The event may come before the noise that was being reported at that moment, so the last 50 events
	# are searched.
	sed -nE 's/.*\[0*([0-9]+)\].* (irq|softirq|thread|nmi)_noise: .*start ([0-9]+)\.([0-9]+) duration ([0-9]+) ns.*/\1 \2 \3\4 \5/p
		s/.*\[0*([0-9]+)\].* sample_threshold: start ([0-9]+)\.([0-9]+) duration ([0-9]+) ns.*/\1 noise \2\3 \4/p' /tmp/r.txt |
		awk '$2 != "noise" { n[$1]++; kind[$1, n[$1]] = $2; at[$1, n[$1]] = $3; took[$1, n[$1]] = $4; next }
			{ for (i = n[$1]; i > n[$1] - 50; i--) if (at[$1, i] >= $3 && at[$1, i] < $3 + $4) sum[kind[$1, i]] += took[$1, i]; all += $4 }
			END { printf "irq %.0f\nsoftirq %.0f\nthread %.0f\nall %.0f\n", sum["irq"], sum["softirq"], sum["thread"], all }' > /tmp/kinds
	awk -F, '/^source,/ { on = 1; next } /^$/ { on = 0 } on { split($1, w, " "); sum[w[1]] += $2; all += $2 }
		END { printf "irq %.0f\nsoftirq %.0f\nthread %.0f\nall %.0f\n", sum["irq"], sum["softirq"], sum["thread"], all }' /tmp/latency.csv > /tmp/sources
	same "its sources are the noises of the kernel's text" /tmp/kinds /tmp/sources
}

# Compares the complete head of the text, and each time of the section.
section() {
	local us

	has_tracer $1 || { skip "weft latency explains $1" "a kernel without it"; return; }
	# Functions of the scheduler and of locks only: all functions would take the emulator a minute.
	record "weft records with $1" 0 -b 8M -p $1 -l '*lock*' -l '*sched*' -l 'try_to_wake*' -- sh -c 'for n in 1 2 3; do chrt -f 50 usleep 2000; done'
	latency
	us=$(sed -nE 's/^# latency: ([0-9]+) us.*/\1/p' /tmp/r.txt)
	more "${us:-0}" 0 > /dev/null || { skip "weft latency explains $1" "it has met no section"; return; }
	table /tmp/latency.csv latency_ns > /tmp/s.csv
	check "the latency of $1 is that of the kernel's text" equal "$(tail -n 1 /tmp/s.csv | cut -d, -f1)" "${us}000"
	weft summary /tmp/r.dat > /tmp/sum.txt 2> /tmp/r.err
	check "a summary has it" matches /tmp/sum.txt "^# longest section of a latency tracer: "
	check "its task, too" matches /tmp/r.txt "task: $(tail -n 1 /tmp/s.csv | awk -F, -v c="$(column /tmp/s.csv comm)" -v p="$(column /tmp/s.csv pid)" \
		'{ print $c "-" $p }') "
	check "its parts add up to it" awk -F, -v u="$(column /tmp/s.csv unknown_ns)" -v n="$(column /tmp/s.csv nmi_ns)" \
		'NR > 1 { for (i = n; i <= u; i++) sum += $i; exit sum != $1 }' /tmp/s.csv
	table /tmp/latency.csv gap_ns > /tmp/g.csv
	check "its gaps are the known part of it" awk -F, -v known="$(tail -n 1 /tmp/s.csv | awk -F, -v u="$(column /tmp/s.csv unknown_ns)" '{ print $1 - $u }')" \
		'NR > 1 { sum += $1; n++ } END { exit !(n == 1000 ? sum <= known : sum == known) }' /tmp/g.csv
}

# A module of the kernel spins eight times for 100 ms without preemption, while tasks with a higher priority wake. The last
# function before that is the one that turns preemption off.
functions() {
	local module=/host/modules/preemptirq_delay_test.ko

	grep -q '^preempt_count_add$' $T/available_filter_functions && [ -e $module ] || { skip "weft latency shows functions" "no module that spins"; return; }
	insmod $module test_mode=preempt delay=100000 burst_size=8 cpu_affinity=1 || { skip "weft latency shows functions" "the module cannot be loaded"; return; }
	record "weft records functions beside wakeups" 0 -b 8M -p function -l 'preempt_count_*' -l 'vfs_*' -e sched -e irq -- sh -c \
		'for t in 400000 450000 500000; do chrt -f 50 busybox taskset 2 busybox usleep $t & done
			usleep 200000; echo 1 > /sys/kernel/preemptirq_delay_test/trigger; wait'
	rmmod preemptirq_delay_test
	latency
	# The command is the name of the task: kthread_run(..., "%s_test", test_mode).
	table /tmp/latency.csv delay_ns | awk -F, -v c="$(column /tmp/latency.csv before_comm)" -v r="$(column /tmp/latency.csv resched_ns)" \
		-v f="$(column /tmp/latency.csv function)" -v b="$(column /tmp/latency.csv caller)" \
		'$c == "preempt_test" && $r > 3e6 && $r * 1.5 > $1 { split($b, w, " "); print $f, w[1] }' > /tmp/found
	check "tasks waited for the module" more "$(wc -l < /tmp/found)" 0
	sort -u /tmp/found > /tmp/explained
	echo "preempt_count_add execute_preemptirqtest" > /tmp/expected
	same "weft latency names the function in which the module spins" /tmp/expected /tmp/explained
}

scenario() {
	timerlat
	timerlat_noise
	timerlat_stack
	osnoise
	functions
	# Other tracers differ in how their sections end, not in their text.
	for tracer in irqsoff wakeup_rt; do section $tracer; done
}
