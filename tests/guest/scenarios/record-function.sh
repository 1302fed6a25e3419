# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	has_tracer function || { skip "function" "no such tracer"; return; }
	remember
	record "weft records with the function tracer" 0 -p function -l 'vfs_*' -- ls -l /bin
	unchanged
	text
	check "functions and their parents are printed" matches /tmp/r.txt ': vfs_[a-z_]+ <-'
	grep " <-" /tmp/r.txt | grep -v ": vfs_" > /tmp/others.txt
	check "and no others" equal "$(head -c 200 /tmp/others.txt)" ""
	check "the header names the tracer" matches /tmp/r.txt '^# tracer: function$'
	whole
	peers
}
