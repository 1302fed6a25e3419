# SPDX-License-Identifier: GPL-2.0-only
# Options of the function tracers: -n, --func-stack, -O, -F, and a file of version 6.
scenario() {
	has_tracer function_graph || { skip "tracer options" "no such tracer"; return; }
	remember
	record "weft leaves a function out" 0 -p function -l 'vfs_*' -n 'vfs_read' -- ls -l /bin
	text
	check "the others are there" matches /tmp/r.txt ': vfs_[a-z_]+ <-'
	check "that one is not" lacks /tmp/r.txt ': vfs_read <-'
	whole
	record "weft records the stack of a function" 0 -p function -l 'vfs_open' --func-stack -- ls -l /bin/busybox
	text
	check "stacks are printed" matches /tmp/r.txt '^ => '
	whole
	record "a function's graph in a file of version 6, with an option of its tracer" 0 --file-version 6 -p function_graph -l '*open*' -g 'vfs_open' -O nofuncgraph-irqs \
		-O funcgraph-tail -F -- ls -l /bin/busybox
	text
	check "the graph has the function" matches /tmp/r.txt 'vfs_open\(\) \{|vfs_open\(\);'
	check "the option is what the text was made with" matches /tmp/r.txt '\} /\* [a-z_]+'
	whole
	record "an unknown function is an error" 125 -p function -l 'vfs_nosuchthing' -- true
	check "that names it" matches /tmp/r.err 'vfs_nosuchthing'
	record "an unknown tracer is an error" 125 -p functoin -- true
	check "that suggests another" matches /tmp/r.err "'functoin'.*function"
	record "an unknown option is an error" 125 -p function -O nosuchoption -l vfs_open -- true
	check "that names it, too" matches /tmp/r.err 'nosuchoption'
	unchanged
}
