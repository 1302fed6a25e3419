# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	echo stacktrace > $T/trace_options
	echo 1 > $T/events/sched/sched_switch/enable
	echo 1 > $T/events/sched/sched_process_exec/enable
	load
	exact event-stacktrace
}
