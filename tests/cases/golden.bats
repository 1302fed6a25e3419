#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Compares reports of buffers of real kernels with the kernel's own text (tests/fixtures/record), byte for byte, from
# files only.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden

exact() {
	local pairs=0 text

	for text in "$golden"/*-"$1".txt; do
		weft report "${text%.txt}.dat" | cmp - "$text"
		pairs=$((pairs + 1))
	done
	[ $pairs -gt 0 ]
}

@test "golden: events of the scheduler are printed as the kernel printed them" {
	exact events-sched
}

@test "golden: system calls are printed as the kernel printed them" {
	exact events-syscalls
}

@test "golden: functions are printed as the kernel printed them" {
	exact function
}

@test "golden: function graphs are printed as the kernel printed them" {
	exact function_graph
}

@test "golden: stacks of events are printed as the kernel printed them" {
	exact event-stacktrace
}
