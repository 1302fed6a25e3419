#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft latency: the longest wakeups of the kernel's own text, in parts that add up.
load lib

file=$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat

@test "latency: each wakeup's parts add up, and the longest is the one of the kernel's text" {
	need_command jq
	local out=$BATS_TEST_TMPDIR/out
	weft latency "$file" --format json > "$out"
	jq -e '[.wakeups[] | .queue_ns + .idle_ns + .irq_ns + .softirq_ns + .before_ns + .resched_ns + .others_ns + .unknown_ns == .delay_ns] | all' "$out"
	# Waking at 2.948405, queued at 2.948880 by the text; ls-66 has the CPU until 2.952459.
	jq -e '.wakeups[0] | .comm == "rcu_preempt" and .cpu == 0 and .before_comm == "ls" and (.queue_ns / 1e9 - 0.000475 | fabs) < 2e-6 and
		((.before_ns + .resched_ns) / 1e9 - 0.003579 | fabs) < 2e-6' "$out"
	[ "$(jq '.wakeups | length' "$out")" -eq 10 ]
}

@test "latency: --worst, --rt and files without switches" {
	[ "$(weft latency "$file" --worst 2 --format csv | wc -l)" -eq 3 ]
	[ "$(weft latency "$file" --rt --format csv | wc -l)" -eq 1 ]
	run -2 weft latency "$file" --worst 0
	run -1 weft latency "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-function.dat"
	[[ "$output" == *"no sched_switch among the events"* ]]
}
