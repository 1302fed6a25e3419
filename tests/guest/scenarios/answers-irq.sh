# SPDX-License-Identifier: GPL-2.0-only
# Compares weft irq with an account of the kernel's own text of the same buffer: the own time of each source, its busiest 10 ms, and
# what was taken from each task. tests/cases/irq.bats uses the account, too.

# account TEXT: reads each CPU's lines one after the other; the time between two of them belongs to the last run that the task on the
# CPU is in. Prints "source,KIND,NAME,SELF,PARTS,PEAK,PARTS" and "task,PID,TAKEN,PARTS", in us; each part is wrong by less than 1 us,
# for the text has no more digits.
account() {
	awk '
		function add(run, from, to, window) {
			for (; from < to; from = window * 10000 < to ? window * 10000 : to) {
				window = int(from / 10000) + 1
				if (!(run in first)) first[run] = window
				last[run] = window
				part[run, window] += (window * 10000 < to ? window * 10000 : to) - from
				parts[run, window]++
			}
		}
		function begin(kind, id, name) {
			run[cpu, pid, ++depth[cpu, pid]] = ++runs
			id_of[runs] = kind " " id
			source_of[runs] = kind "," name
		}
		# Runs above it whose end is missing are not counted.
		function finish(kind, id, at, number, window, source) {
			for (at = depth[cpu, pid]; at > 0 && id_of[run[cpu, pid, at]] != kind " " id; at--) { }
			if (at < 1) return
			depth[cpu, pid] = at - 1
			number = run[cpu, pid, at]
			source = source_of[number]
			ended[source]++
			for (window = first[number]; number in first && window <= last[number]; window++) {
				self[source] += part[number, window]; selves[source] += parts[number, window]
				sum[source, cpu, window] += part[number, window]; sums[source, cpu, window] += parts[number, window]
				taken[pid] += part[number, window]; takes[pid] += parts[number, window]
				if (sum[source, cpu, window] > peak[source]) peak[source] = sum[source, cpu, window]
				if (sums[source, cpu, window] > peaks[source]) peaks[source] = sums[source, cpu, window]
				delete part[number, window]; delete parts[number, window]
			}
			delete first[number]; delete last[number]
		}
		function value(key, text) { text = $0; sub(".*[ \\[]" key "=", "", text); sub(/ .*/, "", text); return text }
		/^#/ || !match($0, / [0-9]+\.[0-9]+: /) { next }
		{
			now = substr($0, RSTART, RLENGTH - 2); sub(/\./, "", now); now += 0
			event = substr($0, RSTART + RLENGTH); sub(/:.*/, "", event)
			match($0, / +\[[0-9]+\] /); cpu = substr($0, RSTART, RLENGTH); gsub(/[^0-9]/, "", cpu); cpu += 0
			pid = substr($0, 1, RSTART - 1); sub(/.*-/, "", pid); pid += 0
			if (cpu in on && depth[cpu, on[cpu]] > 0) add(run[cpu, on[cpu], depth[cpu, on[cpu]]], since[cpu], now)
			since[cpu] = now
			on[cpu] = pid
		}
		event == "sched_switch" { on[cpu] = value("next_pid") + 0; next }
		event == "irq_handler_entry" { name = $0; sub(/.* name=/, "", name); begin("irq", value("irq"), value("irq") " " name) }
		event == "irq_handler_exit" { finish("irq", value("irq")) }
		event == "softirq_entry" { name = value("action"); sub(/\].*/, "", name); begin("softirq", value("vec"), name) }
		event == "softirq_exit" { finish("softirq", value("vec")) }
		event == "hrtimer_expire_entry" { begin("hrtimer", value("hrtimer"), value("function")) }
		event == "hrtimer_expire_exit" { finish("hrtimer", value("hrtimer")) }
		event == "timer_expire_entry" { begin("timer", value("timer"), value("function")) }
		event == "timer_expire_exit" { finish("timer", value("timer")) }
		/: vector=/ && sub(/_entry$/, "", event) { begin("vector", event, event) }
		/: vector=/ && sub(/_exit$/, "", event) { finish("vector", event) }
		END {
			for (s in ended) printf "source,%s,%d,%d,%d,%d\n", s, self[s], selves[s], peak[s], peaks[s]
			for (p in taken) printf "task,%d,%d,%d\n", p, taken[p], takes[p]
		}' "$1"
}

# agree ACCOUNT CSV: weft says the same of each source and each task, and nothing of others; what differs is printed
agree() {
	awk -F, '
		function far(us, ns, parts, d) { d = us * 1000 - ns; return d > (parts + 1) * 1000 || -d > (parts + 1) * 1000 }
		FNR == NR && $1 == "source" { self[$2, $3] = $4; selves[$2, $3] = $5; peak[$2, $3] = $6; peaks[$2, $3] = $7; next }
		FNR == NR { taken[$2] = $3; takes[$2] = $4; next }
		/^kind,source,/ || /^task,pid,hits,/ { table = $1 == "kind" ? "sources" : "tasks"; for (i = 1; i <= NF; i++) at[$i] = i; next }
		/^$/ { table = ""; next }
		table == "sources" && $at["self_ns"] != "" {
			if (!(($1, $2) in self)) { print "no " $0; bad = 1; next }
			if (far(self[$1, $2], $at["self_ns"], selves[$1, $2])) { print "self is " self[$1, $2] " us: " $0; bad = 1 }
			if (far(peak[$1, $2], $at["peak_ns"] + 0, peaks[$1, $2])) { print "peak is " peak[$1, $2] " us: " $0; bad = 1 }
			if ($at["peak_ns"] > 10000000 || $at["peak_ns"] > $at["self_ns"]) { print "too large: " $0; bad = 1 }
			own += $at["self_ns"]; delete self[$1, $2]
		}
		table == "tasks" { if ($2 == "") $2 = 0; got[$2] += $at["taken_ns"]; all += $at["taken_ns"] }
		END {
			for (s in self) { print "weft has no " s; bad = 1 }
			for (p in got) if (!(p in taken) ? got[p] > 0 : far(taken[p], got[p], takes[p])) { print "task " p ": " taken[p] " us, " got[p] " ns"; bad = 1 }
			for (p in taken) if (!(p in got)) { print "weft has no task " p; bad = 1 }
			if (own != all) { print "sources took " own " ns, from tasks were taken " all; bad = 1 }
			if (!all) { print "there is nothing"; bad = 1 }
			exit bad
		}' "$1" "$2"
}

scenario() {
	local e

	echo 0 > $T/tracing_on
	echo 8192 > $T/buffer_size_kb
	for e in irq irq_vectors timer/timer_expire_entry timer/timer_expire_exit timer/hrtimer_expire_entry timer/hrtimer_expire_exit \
		sched/sched_switch; do
		[ ! -e "$T/events/$e/enable" ] || echo 1 > "$T/events/$e/enable"
	done
	echo 1 > $T/tracing_on
	# Tasks that are hit, timers, and where there is a disk its interrupts.
	for e in 1 2 3; do
		i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done
		sleep 0.05
		[ ! -b /dev/vda ] || dd if=/dev/vda of=/dev/null bs=4k count=64 iflag=direct 2> /dev/null
	done
	echo 0 > $T/tracing_on
	echo 0 > $T/events/enable
	cat $T/trace > /tmp/irq.txt
	timeout 60 weft extract -o /tmp/irq.dat > /tmp/x.out 2> /tmp/x.err
	check "weft extracts what happened" status_is $? 0 /tmp/x.err
	check "nothing of it is lost" lacks /tmp/irq.txt 'LOST'
	tables irq --self /tmp/irq.dat > /tmp/irq.csv 2> /tmp/r.err
	check "weft irq reads it" status_is $? 0 /tmp/r.err
	account /tmp/irq.txt > /tmp/account
	check "own times, peaks and victims are those of the kernel's text" agree /tmp/account /tmp/irq.csv
	[ ! -d /host/spare ] || cp /tmp/irq.dat /tmp/irq.txt /host/spare/
}
