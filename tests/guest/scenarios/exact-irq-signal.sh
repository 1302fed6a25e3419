# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	# No timers: their %p is hashed with a secret of the boot.
	for e in irq signal task; do
		[ -d $T/events/$e ] && echo 1 > $T/events/$e/enable
	done
	load
	exact irq-signal
}
