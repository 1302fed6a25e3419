# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	# Somebody else uses the top buffer.
	echo 1 > $T/events/irq/enable
	echo 'prev_pid > 100' > $T/events/sched/sched_switch/filter
	echo 1 > $T/events/sched/sched_switch/enable
	echo noirq-info > $T/trace_options
	echo 700 > $T/buffer_size_kb
	remember
	record "weft records beside another user of the top buffer" 0 -e sched -- ls -l /bin
	unchanged
	grep -v '^#' $T/trace | head -n 1 > /tmp/top.txt
	check "whose events go on" more "$(wc -c < /tmp/top.txt)" 0
	text
	whole
}
