#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft irq: compares its counts and times with the kernel's own text of the same events.
load lib

file=$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-irq-timer.dat
text=${file%.dat}.txt

setup()
{
	out=$BATS_TEST_TMPDIR/out
}

# Prints "NAME COUNT TOTAL LONGEST-DELAY" of each softirq, in us, from the kernel's text.
softirqs_of()
{
	awk '{ match($0, / \[[0-9]+\] /); cpu = substr($0, RSTART + 2, RLENGTH - 4) + 0
			ts = substr($0, RSTART + RLENGTH); sub(/^[^ ]+ +/, "", ts); sub(/:.*/, "", ts); ts *= 1e6
			vec = $0; sub(/.*action=/, "", vec); sub(/\].*/, "", vec) }
		/: softirq_raise: / && !((cpu, vec) in raised) { raised[cpu, vec] = ts }
		/: softirq_entry: / { since[cpu, vec] = ts
			if ((cpu, vec) in raised) { d = ts - raised[cpu, vec]; if (d > late[vec]) late[vec] = d; delete raised[cpu, vec] } }
		/: softirq_exit: / && (cpu, vec) in since { n[vec]++; total[vec] += ts - since[cpu, vec] }
		END { for (v in n) printf "%s %d %.0f %.0f\n", v, n[v], total[v], late[v] }' "$1" | sort
}

@test "irq: count, time and longest delay of each softirq are those of the kernel's text" {
	need_command jq
	weft irq "$file" --format json > "$out"
	softirqs_of "$text" > "$out.want"
	jq -r '.sources[] | select(.kind == "softirq") | "\(.source) \(.count) \(.total_ns / 1000) \(.delay_max_ns / 1000)"' "$out" | sort |
		join - "$out.want" > "$out.both"
	[ "$(wc -l < "$out.both")" -eq "$(wc -l < "$out.want")" ]
	# The text has microseconds.
	run -0 awk 'function far(a, b, by) { return a - b > by || b - a > by } $2 != $5 || far($3, $6, $2 + 1) || far($4, $7, 1.1)' "$out.both"
	[ -z "$output" ] || { echo "$output"; false; }
	[ "$(jq '[.cpus[].softirqs] | add' "$out")" -eq "$(grep -c ': softirq_exit: ' "$text")" ]
}

@test "irq: interrupts, timers and works are as many as in the kernel's text" {
	need_command jq
	weft irq "$file" --format json > "$out"
	for pair in irq=irq_handler_exit hrtimer=hrtimer_expire_exit timer=timer_expire_exit work=workqueue_execute_end; do
		[ "$(jq "[.sources[] | select(.kind == \"${pair%=*}\") | .count] | add" "$out")" -eq "$(grep -c ": ${pair#*=}: " "$text")" ]
	done
	# The time of what nests belongs to nothing else: all own times together are not longer than the trace on two
	# CPUs.
	jq -e '[.sources[] | select(.self_ns) | .self_ns <= .total_ns] | all' "$out"
}

@test "irq: prints tables with units, the longest run, and what limits them" {
	weft irq "$file" > "$out"
	[ "$(sed -n 2p "$out" | awk '{ print $1, $2, $3, $4, $5 }')" = "KIND SOURCE COUNT TOTAL SELF" ]
	grep -qE '^hrtimer +tick_nohz_handler +37 +9\.5 ms ' "$out"
	grep -qE '^irq +28 virtio0-requests +1 +69\.5 us ' "$out"
	grep -q '^# longest run, of hrtimer tick_nohz_handler: 5.8 ms, CPU 0: weft report --since 22.032164812 --until 22.038031096 ' "$out"
	grep -q '^# cut by the start or the end: none$' "$out"
	grep -q '^# broken by lost events: none$' "$out"
	[ "$(weft irq "$file" --sort d-max --format csv | sed -n 2p | cut -d, -f1,2)" = hrtimer,tick_nohz_handler ]
	[ "$(weft irq "$file" --cpu 1 --format csv | grep -c '^[01],')" -eq 1 ]
}

@test "irq: says when there are no interrupts in the file" {
	run -1 weft irq "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-function.dat"
	[[ "$output" == "weft: there are no interrupts, timers or works among the events; record with -e irq -e irq_vectors" ]]
	# The events are in the file, but not in this part of it.
	run -1 --separate-stderr weft irq "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-irq-timer.dat" --since 99999
	[[ "${stderr_lines[-1]}" == "weft: there are no interrupts, timers or works among the events: only a part of the file was looked at" ]]
}
