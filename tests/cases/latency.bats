#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft latency: the longest wakeups, samples and sections of the kernel's own text, in parts that add up.
load lib

file=$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat

@test "latency: each wakeup's parts add up, and the longest is the one of the kernel's text" {
	need_command jq
	local out=$BATS_TEST_TMPDIR/out
	weft latency "$file" --format json > "$out"
	jq -e '[.wakeups[] | .queue_ns + .idle_ns + .irq_ns + .softirq_ns + .before_ns + .resched_ns + .others_ns + .unknown_ns == .delay_ns] | all' "$out"
	# In the text, the waking is at 2.948405 and the queueing at 2.948880; ls-66 has the CPU until 2.952459.
	jq -e '.wakeups[0] | .comm == "rcu_preempt" and .cpu == 0 and .before_comm == "ls" and (.queue_ns / 1e9 - 0.000475 | fabs) < 2e-6 and
		((.before_ns + .resched_ns) / 1e9 - 0.003579 | fabs) < 2e-6' "$out"
	[ "$(jq '.wakeups | length' "$out")" -eq 10 ]
}

@test "latency: --slowest, --rt and files without switches" {
	[ "$(weft latency "$file" --slowest 2 --format csv | wc -l)" -eq 3 ]
	[ "$(weft latency "$file" --rt --format csv | wc -l)" -eq 1 ]
	run -2 weft latency "$file" --slowest 0
	run -1 weft latency "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-function.dat"
	[[ "$output" == *"no sched_switch among the events"* ]]
}

@test "latency: --longer has those of all wakeups that took longer" {
	need_command jq
	want=$(weft latency "$file" --slowest 1000 --format json | jq -c '[.wakeups[] | select(.delay_ns > 200000) | .delay_ns]')
	[ "$(jq length <<< "$want")" -gt 1 ]
	[ "$(weft latency "$file" --longer 200us --format json | jq -c '[.wakeups[].delay_ns]')" = "$want" ]
	[ "$(weft latency "$file" --longer 200us --slowest 1 --format json | jq -c '[.wakeups[].delay_ns]')" = "$(jq -c '.[:1]' <<< "$want")" ]
	run -0 weft latency "$file" --longer 200us
	[[ "$output" == *"# longer than 200.0 us: $(jq length <<< "$want") wakeups"* ]]
	run -0 weft latency "$file" --longer 1s
	[[ "$output" == *"none among the events"*"# longer than 1.00 s: 0 wakeups"* ]]
	for wrong in 0 x 2ns3; do run -2 weft latency "$file" --longer $wrong; done
}

@test "latency: a file with switches and without wakeups says what to record" {
	weft split -q -e sched:sched_switch -o "$BATS_TEST_TMPDIR/switches.dat" "$file"
	run --separate-stderr -1 weft latency "$BATS_TEST_TMPDIR/switches.dat"
	[ -z "$output" ]
	[[ "$stderr" == *"there are no wakeups among the events"* ]]
	# Where wakeups are there and the choice leaves none, the table is empty.
	run --separate-stderr -0 weft latency "$file" --pid 999999
	[[ "$output" == *"looked at: 0 wakeups"* ]]
}

@test "latency, sched, syscalls: on a terminal of 80 and of 100 columns no row of a table is wider" {
	need_command script
	local columns command
	for columns in 80 100; do
		for command in latency 'sched --top 5' 'syscalls --top 5'; do
			script -qec "stty cols $columns; $WEFT $command tests/fixtures/demo.dat" /dev/null | tr -d '\r' > "$BATS_TEST_TMPDIR/shown"
			[ "$(grep -vc '^#' "$BATS_TEST_TMPDIR/shown")" -gt 3 ]
			grep -v '^#' "$BATS_TEST_TMPDIR/shown" > "$BATS_TEST_TMPDIR/rows"
			run -1 grep -E "^.{$((columns + 1))}" "$BATS_TEST_TMPDIR/rows"
		done
	done
}

@test "latency: samples of osnoise are those of the kernel's text" {
	local golden=$BATS_TEST_DIRNAME/../fixtures/golden/6.12-osnoise
	weft latency "$golden.dat" --slowest 1000 --format csv > "$BATS_TEST_TMPDIR/out"
	awk -F, '/^$/ { exit } NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ printf "%d %d %d\n", $c["runtime_ns"] / 1000, $1 / 1000, $c["largest_ns"] / 1000 }' "$BATS_TEST_TMPDIR/out" | sort > "$BATS_TEST_TMPDIR/weft"
	# RUNTIME, NOISE, percent, largest
	sed -nE 's/.*[0-9]: +([0-9]+) +([0-9]+) +[0-9]+\.[0-9]+ +([0-9]+) .*/\1 \2 \3/p' "$golden.txt" | sort > "$BATS_TEST_TMPDIR/kernel"
	[ -s "$BATS_TEST_TMPDIR/kernel" ]
	diff "$BATS_TEST_TMPDIR/kernel" "$BATS_TEST_TMPDIR/weft"
	run -0 weft latency "$golden.dat"
	[[ "$output" == *"no event shows what the noise of osnoise was: record with -p osnoise -e osnoise"* ]]
}

@test "latency: the longest section of preemptoff, from the kernel's text" {
	need_command jq
	local text=$BATS_TEST_DIRNAME/../corpora/latency/accept/section-preemptoff out=$BATS_TEST_TMPDIR/out
	mkdir "$BATS_TEST_TMPDIR/dir"
	weft pack -q -o "$BATS_TEST_TMPDIR/r.dat" --latency "$text" --pages "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-function.dat" "$BATS_TEST_TMPDIR/dir"
	weft latency "$BATS_TEST_TMPDIR/r.dat" --slowest 3 --format json > "$out"
	# "latency: 8510 us, #138/138, CPU#1", "task: sh-163", "started at: _raw_read_lock", "ended at: _raw_read_unlock"
	jq -e '.sections[0] | .latency_ns == 8510000 and .cpu == 1 and .comm == "sh" and .pid == 163 and .started_at == "_raw_read_lock" and
		.ended_at == "_raw_read_unlock" and .nmi_ns + .irq_ns + .softirq_ns + .idle_ns + .tasks_ns + .unknown_ns == .latency_ns' "$out"
	# "1...1.    2us#: queued_read_lock_slowpath <-__do_wait", and the next entry is at 5214us.
	jq -e '.gaps | length == 3 and .[0].gap_ns == 5212000 and .[0].at_ns == 2000 and .[0].function == "queued_read_lock_slowpath" and
		.[0].caller == "__do_wait" and .[0].next == "irq_enter_rcu" and .[0].context == "task"' "$out"
	run -0 weft latency "$BATS_TEST_TMPDIR/r.dat"
	[[ "$output" == *"queued_read_lock_slowpath: 5.2 ms behind 1 entry"* ]]
	# The text has no times of the trace, so the command to paste prints all of it.
	[[ "$output" == *"# longest section of a latency tracer: 8.5 ms, sh-163 on CPU 1: weft report $BATS_TEST_TMPDIR/r.dat"* ]]
	jq -e '.longest[0] | .lasted_ns == 8510000 and .since == null and .until == null' "$out"
	[[ "$output" == *"# the stack at the end under "*": wait_consider_task <- __do_wait <- do_wait <- kernel_wait4"* ]]
}

@test "latency: of a file with samples of osnoise alone it says what to record, and of one without all that it needs it is refused" {
	weft latency "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-osnoise.dat" > "$BATS_TEST_TMPDIR/out"
	# The kernel's text has no event that says what the noises were.
	[ "$(grep -c 'sample_threshold\|_noise:' "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-osnoise.txt" || :)" = 0 ]
	grep -q 'record with -p osnoise -e osnoise$' "$BATS_TEST_TMPDIR/out"
	grep -q '^# wanted and not recorded: -e sched:sched_switch ' "$BATS_TEST_TMPDIR/out"
	run -1 --separate-stderr weft sched "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-osnoise.dat"
	[[ "$stderr" == *"record with -e sched" ]]
}

@test "latency: on a terminal of 80 columns the culprit is named whole" {
	local file=$BATS_TEST_DIRNAME/../fixtures/demo.dat
	SHELL=$BASH script -qec "stty cols 80; $(type -P weft) latency $file" /dev/null < /dev/null | tr -d '\r' > "$BATS_TEST_TMPDIR/narrow"
	[ "$(awk 'length > 80' "$BATS_TEST_TMPDIR/narrow")" = "" ]
	# Each cause of the JSON is there, in the same order.
	sed -n '/^# the longest wakeups/,/^#.* no room/p' "$BATS_TEST_TMPDIR/narrow" | sed '1,2d;$d' > "$BATS_TEST_TMPDIR/rows"
	weft latency --format json "$file" | jq -r '.wakeups[].cause' > "$BATS_TEST_TMPDIR/causes"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/causes")" = "$(wc -l < "$BATS_TEST_TMPDIR/rows")" ]
	grep -q ': ls-65$' "$BATS_TEST_TMPDIR/causes"
	paste -d '|' "$BATS_TEST_TMPDIR/rows" "$BATS_TEST_TMPDIR/causes" | while IFS='|' read -r row cause; do
		[[ "$row" == *"  $cause" ]] || { echo "$row: $cause"; exit 1; }
	done
}

@test "latency: --preempted explains the waits of tasks that lost their CPU, as the kernel's text has them" {
	need_command jq
	local out=$BATS_TEST_TMPDIR/out
	# cat loses its CPU to sh while it could go on, and has it back when sh sleeps.
	awk '/sched_switch/ { match($0, /[0-9]+\.[0-9]+: /); at = substr($0, RSTART, RLENGTH - 2) }
		/sched_switch/ && /prev_state=R[+ ]/ && !/prev_pid=0 / { match($0, /prev_pid=[0-9]+/); since[substr($0, RSTART + 9, RLENGTH - 9)] = at }
		/sched_switch/ { match($0, /next_pid=[0-9]+/); pid = substr($0, RSTART + 9, RLENGTH - 9); if (pid in since) { printf "%d %.0f\n", pid, (at - since[pid]) * 1e6; delete since[pid] } }
		' "${file%.dat}.txt" | sort > "$out.want"
	[ -s "$out.want" ]
	weft latency --preempted --slowest 1000 --format json "$file" > "$out"
	jq -r '.preemptions[] | "\(.pid) \(.delay_ns / 1000)"' "$out" | sort > "$out.got"
	[ "$(wc -l < "$out.got")" -eq "$(wc -l < "$out.want")" ]
	run -0 awk 'NR == FNR { want[$1 " " FNR] = $2; next } { d = want[$1 " " FNR] - $2; if (d < -1.1 || d > 1.1) print }' "$out.want" "$out.got"
	[ -z "$output" ]
	jq -e '[.preemptions[] | .idle_ns + .irq_ns + .softirq_ns + .before_ns + .resched_ns + .others_ns + .unknown_ns == .delay_ns] | all' "$out"
	# Without it there is one table, which is the one of a csv.
	[ "$(weft latency --format json "$file" | jq 'has("preemptions")')" = false ]
	[ "$(weft latency --worst 2 --format csv "$file")" = "$(weft latency --slowest 2 --format csv "$file")" ]
}

@test "latency, sched: --by refuses --comm, and names the option that chooses a program" {
	for command in latency sched; do
		run -2 weft "$command" --by process --comm sh "$BATS_TEST_DIRNAME/../fixtures/session/why.dat"
		[[ "$output" == *"instead of --comm, name a program by --process"* ]]
		run -0 weft "$command" --by process --process sh "$BATS_TEST_DIRNAME/../fixtures/session/why.dat"
	done
}
