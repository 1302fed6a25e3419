# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	local few

	set -f
	has_tracer function_graph || { skip "function_graph" "no such tracer"; return; }
	# All functions of a distribution's kernel are too many for an emulated CPU. Linux 7.3 calls do_filp_open
	# do_file_open.
	few=
	[ "$(wc -l < $T/available_filter_functions)" -gt 30000 ] && few="-l do_sys* -l do_fil*_open -l path_openat -l *alloc_fd*"
	remember
	record "weft records a function's graph" 0 -p function_graph $few -g do_sys_openat2 -- ls -l /bin/busybox
	unchanged
	text
	check "the graph begins with the function" matches /tmp/r.txt '\|  do_sys_openat2\(\) \{'
	check "the header names the tracer" matches /tmp/r.txt '^# tracer: function_graph$'
	whole
	peers
	record "and no deeper than asked" 0 -p function_graph $few -g do_sys_openat2 --max-graph-depth 1 -- ls -l /bin/busybox
	text
	grep -v '^#' /tmp/r.txt | grep '|    ' | grep -v '/\*' > /tmp/deeper.txt
	check "calls of the function are left out" equal "$(head -c 200 /tmp/deeper.txt)" ""
	unchanged "tracefs is as it was before both"
}
