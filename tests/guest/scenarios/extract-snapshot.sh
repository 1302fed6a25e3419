# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	[ -e $T/snapshot ] || { skip "everything" "this kernel has no snapshots"; return; }
	echo 1 > $T/events/sched/enable
	load
	echo 1 > $T/snapshot
	load
	echo 0 > $T/tracing_on
	cat $T/snapshot > /tmp/snapshot.txt
	# Its head names the task that took the snapshot.
	echo 1 > $T/options/latency-format
	cat $T/snapshot > /tmp/snapshot.latency.txt
	echo 0 > $T/options/latency-format
	state | grep -v 'Snapshot is' > /tmp/state.before
	timeout 60 weft extract -s -o /tmp/s.dat 2> /tmp/x.err
	check "weft extract -s ends with status 0" status_is $? 0 /tmp/x.err
	# What was extracted is gone from the snapshot: that it is empty is no setting.
	state | grep -v 'Snapshot is' > /tmp/state.after
	same "tracefs is as it was before" /tmp/state.before /tmp/state.after
	check "the snapshot is still allocated" matches $T/snapshot '^# \* Snapshot is allocated \*'
	weft report /tmp/s.dat > /tmp/s.txt
	same "the report equals the kernel's text of the snapshot" /tmp/snapshot.txt /tmp/s.txt
	weft report -O latency-format /tmp/s.dat > /tmp/s.latency.txt
	same "and with latency-format" /tmp/snapshot.latency.txt /tmp/s.latency.txt
	cat $T/trace > /tmp/main.txt
	weft extract -q -o /tmp/m.dat
	weft report /tmp/m.dat > /tmp/m.txt
	same "the buffer was left alone" /tmp/main.txt /tmp/m.txt
}
