#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The command line of weft hist. The histograms themselves are tested in guests (tests/guest/scenarios/hist-*.sh).
load lib

@test "hist: a wrong command line is a usage error that says what is missing" {
	run --separate-stderr weft hist
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"no EVENT given"* ]]
	run --separate-stderr weft hist sched:sched_switch
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"name fields of 'sched:sched_switch' with --keys"* ]]
	run --separate-stderr weft hist --latency sched:sched_waking
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"write EVENT..EVENT"* ]]
	run --separate-stderr weft hist sched:sched_switch --keys next_pid --format text
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"use table, json, kernel or schema"* ]]
	run --separate-stderr weft hist sched:sched_switch --keys next_pid --key pid
	[ "$status" -eq 2 ]
	run --separate-stderr weft hist sched:sched_switch --keys next_pid -F
	[ "$status" -eq 2 ]
}

@test "hist: a kernel without histograms is told by the option that it lacks, and nothing stays" {
	need_tracefs
	[ ! -e /sys/kernel/tracing/events/sched/sched_switch/hist ] || skip "this kernel has histograms"
	run --separate-stderr weft hist sched:sched_switch --keys next_pid -- true
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"CONFIG_HIST_TRIGGERS"* ]]
	run --separate-stderr weft hist --latency sched:sched_waking..sched:sched_switch --key pid -- true
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"CONFIG_HIST_TRIGGERS"* ]]
	[ -z "$(new_instances "")" ]
}
