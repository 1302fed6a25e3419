# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	local clock

	for clock in mono mono_raw boot tai global perf uptime counter x86-tsc ppc-tb s390-tod; do
		grep -qw -- $clock $T/trace_clock || { skip "$clock" "this kernel has no such clock"; continue; }
		VARIANTS='latency-format'
		live clock-$clock load -C $clock -e sched:sched_switch -e sched:sched_waking
	done
}
