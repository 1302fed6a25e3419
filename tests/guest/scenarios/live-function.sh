# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	has_tracer function || { skip "function" "no such tracer"; return; }
	VARIANTS='latency-format verbose,latency-format raw hex sym-offset sym-addr noprint-parent noirq-info nocontext-info'
	live function load -p function -l 'vfs_*' -l 'do_sys*'
	VARIANTS='sym-offset raw'
	live function-stacks load -p function -l vfs_read --func-stack
	# An enum: its value has a name since 7.1.
	[ ! -e $T/options/func-args ] || ! grep -q '^__send_signal_locked' $T/available_filter_functions ||
		live args-of-enums load -p function -l __send_signal_locked -O func-args
	# Their parameters stand in the type information of modules.
	[ ! -e $T/options/func-args ] || ! grep -q '\[9pnet\]' $T/available_filter_functions ||
		live args-of-modules 'load; cat /host/lib.sh > /dev/null' -p function -l 'p9_*' -O func-args
}
