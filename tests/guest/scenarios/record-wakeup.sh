# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	has_tracer wakeup || { skip "wakeup" "this kernel has no such tracer"; return; }
	remember
	record "weft records with the wakeup tracer" 0 -p wakeup -O nofunction-trace -- ls -l /bin
	unchanged
	text
	check "the header names the tracer" matches /tmp/r.txt '^# tracer: wakeup$'
}
