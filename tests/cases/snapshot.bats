#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What can be tested of snapshots on a kernel that may have none. tests/guest/scenarios/snapshot.sh takes some.
load lib

@test "snapshot: wrong words are usage errors" {
	for wrong in "tke" "take free" "free -c 1" "take --on a:b" "--on a:b filter" "--on a:b if" "--on a:b -c 1" "--count 3" "-c x" \
		"--on a:b --count 0" "-s -f"; do
		# shellcheck disable=SC2086
		run --separate-stderr weft snapshot $wrong
		[ "$status" -eq 2 ]
		[[ "$stderr" == "weft snapshot: "* ]]
	done
}

@test "snapshot: a kernel without them is told with the option that provides them" {
	need_tracefs
	[ ! -e /sys/kernel/tracing/snapshot ] || skip "this kernel has snapshots"
	for what in "take" "show" "clear" "free" "-s" "--on sched:sched_switch if prev_pid == 1"; do
		# shellcheck disable=SC2086
		run --separate-stderr weft snapshot $what
		[ "$status" -eq 1 ]
		[[ "$stderr" == "weft: this kernel has no 'snapshot'"*CONFIG_TRACER_SNAPSHOT* ]]
	done
}

@test "snapshot: an unknown instance comes with near names" {
	need_tracefs
	run --separate-stderr weft snapshot -B no-such-instance
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"no instance 'no-such-instance'"* ]]
}
