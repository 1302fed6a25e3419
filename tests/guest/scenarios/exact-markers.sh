# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	for i in 1 2 3 4 5; do
		echo "marker $i" > $T/trace_marker
		printf 'without a newline' > $T/trace_marker
	done
	echo 1 > $T/events/sched/sched_process_exec/enable
	load
	exact markers
}
