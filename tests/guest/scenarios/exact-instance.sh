# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	mkdir $T/instances/guest
	echo 1 > $T/instances/guest/events/sched/enable
	echo 'a marker' > $T/instances/guest/trace_marker
	load
	exact instance $T/instances/guest
}
