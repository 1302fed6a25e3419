# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	echo 16 > $T/buffer_size_kb
	echo 1 > $T/events/sched/enable
	echo 1 > $T/events/irq/enable
	for i in 1 2 3 4 5 6; do load; done
	exact overwritten
}
