# SPDX-License-Identifier: GPL-2.0-only
# Options that, as the file says, were set during the recording.
scenario() {
	live latency-format load -O latency-format -e sched
	live verbose load -O verbose -e sched:sched_switch
	live verbose-latency load -O verbose -O latency-format -C mono -e sched:sched_switch
	VARIANTS='norecord-tgid'
	live record-tgid load -O record-tgid -e sched
	has_tracer function && live record-tgid-function load -O record-tgid -p function -l 'vfs_*'
	VARIANTS=
	live bare load -O nocontext-info -e sched:sched_switch
	live irq-info load -O noirq-info -e sched:sched_switch
}
