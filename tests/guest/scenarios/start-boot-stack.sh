# SPDX-License-Identifier: GPL-2.0-only
# kernel: trace_clock=mono
# start: --stack-tracer --stack-function='vfs_*,ksys_*'
# A kernel that was booted with the output of weft start --boot --stack-function looks for the deepest stack from boot on.

scenario() {
	[ -e $T/stack_trace ] || { skip "the stack tracer" "this kernel has none"; return; }
	check "the stack tracer is on" equal "$(cat /proc/sys/kernel/stack_tracer_enabled)" 1
	check "it looks at these functions" matches $T/stack_trace_filter '^vfs_read'
	check "and at those" matches $T/stack_trace_filter '^ksys_'
	check "at no others" equal "$(grep -cvE '^(vfs_|ksys_)' $T/stack_trace_filter)" 0
	cat /proc/uptime > /dev/null
	weft stack show > /tmp/stack.txt 2> /tmp/stack.err
	check "it has seen a stack" matches /tmp/stack.txt '^ *0\)'
}
