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

@test "irq: interrupts, timers and work items are as many as in the kernel's text" {
	need_command jq
	weft irq "$file" --format json > "$out"
	for pair in irq=irq_handler_exit hrtimer=hrtimer_expire_exit timer=timer_expire_exit work=workqueue_execute_end; do
		[ "$(jq "[.sources[] | select(.kind == \"${pair%=*}\") | .count] | add" "$out")" -eq "$(grep -c ": ${pair#*=}: " "$text")" ]
	done
	# The time of what nests belongs to nothing else: all own times together are not longer than the trace on two
	# CPUs.
	jq -e '[.sources[] | select(.self_ns) | .self_ns <= .total_ns] | all' "$out"
}

@test "irq: own times, the busiest 10 ms and what was taken from each task are those of an account of the kernel's text" {
	# shellcheck source=tests/guest/scenarios/answers-irq.sh
	. "$BATS_TEST_DIRNAME/../guest/scenarios/answers-irq.sh"
	account "$text" > "$out.account"
	weft irq --self "$file" -o "$out.csv"
	(cd "$out.csv" && sed '$s/$/\n/' sources.csv victims.csv) > "$out"
	run -0 agree "$out.account" "$out"
	[ "$(grep -c ^task, "$out.account")" -eq 7 ]
	# An account that is wrong by 20 us is another one.
	sed -i -E 's/^(task,475),([0-9]+),/\1,1\2,/' "$out.account"
	run -1 agree "$out.account" "$out"
	[[ "$output" == "task 475: "* ]]
}

@test "irq: prints whose time was taken, and the busiest 10 ms, with the command that prints them" {
	weft irq "$file" > "$out"
	sed -n '/^# tasks that were hit/,/^$/p' "$out" | head -n -1 > "$out.part"
	diff - "$out.part" <<- EOT
		# tasks that were hit: the time that interrupts and what they ran took from each
		TASK    PID  HITS     TAKEN  RUN  %       IRQ   SOFTIRQ  VECTOR     TIMER
		<idle>    -    69    8.3 ms    -  -   69.6 us    1.1 ms       -    7.1 ms
		hlp     475    12    4.5 ms    -  -      0 ns    2.4 ms       -    2.1 ms
		sh      467     5    1.9 ms    -  -      0 ns    1.7 ms       -  140.9 us
		sh      472    15  629.0 us    -  -      0 ns  167.6 us       -  461.3 us
		ls      476     4  464.8 us    -  -      0 ns  277.5 us       -  187.3 us
		sleep   474     5  398.6 us    -  -      0 ns   67.3 us       -  331.3 us
		tee     473     2  209.8 us    -  -  209.8 us      0 ns       -      0 ns
	EOT
	grep -q '^# longest time in a fixed window of 10 ms, of hrtimer tick_nohz_handler: 5.9 ms, CPU 0: weft report --since 22.030000000 --until 22.040000000 ' "$out"
	# A selection of tasks is one of victims; the sources are those of all tasks.
	weft irq "$file" --comm 'hl*' --table victims --format csv > "$out"
	[ "$(grep -A 9 '^task,pid,' "$out" | cut -d, -f1-4 | tr '\n' ' ')" = "task,pid,hits,taken_ns hlp,475,12,4464637 " ] || { grep -A 9 '^task,pid,' "$out"; false; }
	# A selected part has the same windows.
	[ "$(weft irq "$file" --since 22.03 --table sources --format csv | grep '^hrtimer,tick_nohz_handler,' | cut -d, -f12-14)" = 5881677,22.040000000,0 ] ||
		{ weft irq "$file" --since 22.03 --table sources --format csv | grep '^hrtimer,tick_nohz_handler,'; false; }
}

@test "irq: the tables fit into 80 columns" {
	script -qec "stty cols 80; $WEFT irq $file" /dev/null < /dev/null | tr -d '\r' > "$out"
	grep -q '^KIND ' "$out"
	run -1 grep -vE '^.{0,80}$|^#' "$out"
}

@test "irq: prints tables with units, the longest run, and what limits them" {
	weft irq "$file" > "$out"
	[ "$(sed -n 2p "$out" | awk '{ print $1, $2, $3, $4, $5 }')" = "KIND SOURCE COUNT TOTAL SELF" ]
	grep -qE '^hrtimer +tick_nohz_handler +37 +9\.6 ms ' "$out"
	grep -qE '^irq +28 virtio0-requests +1 +69\.6 us ' "$out"
	grep -q '^# longest run, of hrtimer tick_nohz_handler: 5.9 ms, CPU 0: weft report --since 22.032164812 --until 22.038031096 ' "$out"
	grep -q '^# cut by the start or the end: none$' "$out"
	grep -q '^# broken by lost events: none$' "$out"
	[ "$(weft irq "$file" --sort d-max --table sources --format csv | sed -n 2p | cut -d, -f1,2)" = hrtimer,tick_nohz_handler ]
	[ "$(weft irq "$file" --cpu 1 --table cpus --format csv | grep -c '^[01],')" -eq 1 ]
}

@test "irq: says when there are no interrupts in the file" {
	run -1 weft irq "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-function.dat"
	[[ "$output" == "weft: there are no interrupts, timers or work items among the events; record with -e irq -e irq_vectors" ]]
	# The events are in the file, but not in this part of it.
	run -1 --separate-stderr weft irq "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-irq-timer.dat" --since 99999
	[[ "${stderr_lines[-1]}" == "weft: there are no interrupts, timers or work items among the events: only a part of the file was looked at" ]]
}

@test "irq: --slowest and --longer show the longest runs one by one, as long as in the kernel's text" {
	need_command jq
	awk '{ match($0, / \[[0-9]+\] /); cpu = substr($0, RSTART + 2, RLENGTH - 4) + 0
			ts = substr($0, RSTART + RLENGTH); sub(/^[^ ]+ +/, "", ts); sub(/:.*/, "", ts); ts *= 1e6 }
		/: softirq_entry: / { since[cpu] = ts }
		/: softirq_exit: / && cpu in since { printf "%.0f\n", ts - since[cpu]; delete since[cpu] }' "$text" | sort -rn | head -n 3 > "$out.want"
	weft irq --slowest 1000 --format json "$file" > "$out"
	jq -r '[.slowest[] | select(.kind == "softirq")][:3][] | .lasted_ns / 1000' "$out" | paste - "$out.want" > "$out.both"
	[ "$(wc -l < "$out.both")" -eq 3 ]
	run -0 awk '$1 - $2 > 1.1 || $2 - $1 > 1.1' "$out.both"
	[ -z "$output" ]
	jq -e '[.slowest[].lasted_ns] | . == (sort | reverse)' "$out"
	run -0 weft irq --longer 1ms "$file"
	[[ "$output" == *"# longer than 1.0 ms: $(jq '[.slowest[] | select(.lasted_ns > 1000000)] | length' "$out") runs"* ]]
	run -2 weft irq --slowest 0 "$file"
}
