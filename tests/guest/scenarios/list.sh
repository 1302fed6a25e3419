# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	has_command list || { skip "everything" "weft has no list yet"; return; }
	weft list events > /tmp/l.txt 2> /tmp/r.err
	check "weft list events ends well" status_is $? 0 /tmp/r.err
	sort $T/available_events > /tmp/e.txt
	sort /tmp/l.txt > /tmp/l2.txt
	same "weft list events names the kernel's" /tmp/e.txt /tmp/l2.txt
	weft list tracers | tr ' ' '\n' | sort > /tmp/l.txt
	tr ' ' '\n' < $T/available_tracers | grep . | sort > /tmp/e.txt
	same "weft list tracers names the kernel's" /tmp/e.txt /tmp/l.txt
	for what in clocks options functions instances formats; do
		weft list $what > /tmp/l.txt 2> /tmp/r.err
		check "weft list $what ends well" status_is $? 0 /tmp/r.err
	done
}
