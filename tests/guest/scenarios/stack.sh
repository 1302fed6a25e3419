# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	[ -e $T/stack_trace ] || { skip "stack" "this kernel has no stack tracer"; return; }
	# stack reset must change this.
	echo 0 > $T/stack_max_size
	remember
	check "weft stack start ends with status 0" weft stack start --reset -l 'vfs_*' -l 'do_sys*'
	check "the tracer is on" equal "$(cat /proc/sys/kernel/stack_tracer_enabled)" 1
	load
	check "weft stack stop ends with status 0" weft stack stop
	check "the tracer is off" equal "$(cat /proc/sys/kernel/stack_tracer_enabled)" 0
	cat $T/stack_trace > /tmp/expected
	weft stack show > /tmp/stack 2> /tmp/err
	same "weft stack show prints what the kernel prints" /tmp/expected /tmp/stack
	check "a stack was found" matches /tmp/stack '^ +0\) '
	weft stack > /tmp/stack 2>&1
	check "without a word it shows, too, and says that it is off" matches /tmp/stack 'the stack tracer is off'
	check "weft stack reset ends with status 0" weft stack reset
	check "the deepest stack is forgotten" equal "$(cat $T/stack_max_size)" 0
	weft stack start -l 'vfs_reed' 2> /tmp/err
	check "an unknown function is an error" equal $? 1
	check "weft reset ends with status 0" weft reset
	unchanged
}
