# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	echo 1 > $T/events/sched/enable
	load
	exact events-sched
}
