# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	for e in irq timer workqueue signal task; do
		[ -d $T/events/$e ] && echo 1 > $T/events/$e/enable
	done
	load
	exact irq-timer
}
