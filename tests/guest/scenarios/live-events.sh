# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	VARIANTS='latency-format verbose verbose,latency-format raw hex fields nocontext-info noirq-info noannotate'
	live sched load -e sched
	# No timers, because their %p is hashed with a secret of the boot.
	VARIANTS='raw fields'
	live irq-signal 'load; sh -c "kill -USR1 \$\$"' -e irq:irq_handler_entry -e irq:irq_handler_exit -e irq:softirq_entry -e irq:softirq_exit \
		-e signal -e task
}
