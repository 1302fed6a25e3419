# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	mkdir $T/instances/guest
	echo 1 > $T/instances/guest/events/irq/enable
	echo mono > $T/instances/guest/trace_clock
	VARIANTS='latency-format'
	REPORT='-B guest'
	live instance 'echo "a marker" > $I/trace_marker; load' -B guest -e sched
	has_tracer function && live instance-function load -B guest -p function -l 'vfs_*'
}
