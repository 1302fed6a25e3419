# SPDX-License-Identifier: GPL-2.0-only
# latency TRACER: with latency-format on, only the snapshot of the graph is printed so, with the task that took it
latency() {
	echo $1 > $T/current_tracer
	echo 1 > $T/options/latency-format
	echo 1 > $T/tracing_on
	load
	echo 1 > $T/snapshot
	echo 0 > $T/tracing_on
	cat $T/snapshot > /tmp/latency.txt
	weft extract -q -s -o /tmp/l.dat
	weft report /tmp/l.dat > /tmp/l.txt
	same "the report equals the kernel's text of a snapshot of $1 with latency-format" /tmp/latency.txt /tmp/l.txt
}

scenario() {
	[ -e $T/snapshot ] || { skip "everything" "this kernel has no snapshots"; return; }
	echo 1 > $T/events/sched/enable
	load
	echo 1 > $T/snapshot
	load
	echo 0 > $T/tracing_on
	cat $T/snapshot > /tmp/snapshot.txt
	state | grep -v 'Snapshot is' > /tmp/state.before
	timeout 60 weft extract -s -o /tmp/s.dat 2> /tmp/x.err
	check "weft extract -s ends with status 0" status_is $? 0 /tmp/x.err
	# Extracting empties the snapshot; no setting shows this.
	state | grep -v 'Snapshot is' > /tmp/state.after
	same "tracefs is as it was before" /tmp/state.before /tmp/state.after
	check "the snapshot is still allocated" matches $T/snapshot '^# \* Snapshot is allocated \*'
	weft report /tmp/s.dat > /tmp/s.txt
	same "the report equals the kernel's text of the snapshot" /tmp/snapshot.txt /tmp/s.txt
	cat $T/trace > /tmp/main.txt
	weft extract -q -o /tmp/m.dat
	weft report /tmp/m.dat > /tmp/m.txt
	same "the buffer was left alone" /tmp/main.txt /tmp/m.txt
	latency nop
	has_tracer function_graph || { skip "a snapshot of function_graph" "this kernel has no such tracer"; return; }
	echo 'vfs_*' > $T/set_ftrace_filter
	latency function_graph
}
