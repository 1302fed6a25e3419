# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	has_tracer function || { skip "function" "no such tracer"; return; }
	VARIANTS='latency-format verbose,latency-format raw hex sym-offset sym-addr noprint-parent noirq-info nocontext-info'
	live function load -p function -l 'vfs_*' -l 'do_sys*'
	VARIANTS='sym-offset raw'
	live function-stacks load -p function -l vfs_read --func-stack
}
