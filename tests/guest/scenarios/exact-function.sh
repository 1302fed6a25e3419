# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	has_tracer function || { skip "function" "no such tracer"; return; }
	for f in 'vfs_*' 'do_sys*'; do echo "$f" >> $T/set_ftrace_filter; done
	echo > $T/trace
	echo function > $T/current_tracer
	load
	exact function
}
