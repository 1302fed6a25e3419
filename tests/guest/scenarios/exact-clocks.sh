# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	for clock in mono; do
		reset 2> /dev/null
		echo $clock > $T/trace_clock
		echo 1 > $T/events/sched/enable
		load
		exact clock-$clock
	done
}
