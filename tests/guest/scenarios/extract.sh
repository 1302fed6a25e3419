# SPDX-License-Identifier: GPL-2.0-only
# A buffer that somebody else filled becomes a file whose report is the kernel's own text of the stopped buffer.

# kernel_text NAME FILE: reads FILE of tracefs, also with latency-format
kernel_text() {
	cat "$2" > "/tmp/$1.txt"
	echo 1 > $T/options/latency-format
	cat "$2" > "/tmp/$1.latency.txt"
	echo 0 > $T/options/latency-format
}

# extracted NAME OPTION...: weft extract changes no setting, and its report is that text
extracted() {
	local n="$1"

	shift
	remember
	timeout 60 weft extract -o "/tmp/$n.dat" "$@" > /tmp/x.out 2> /tmp/x.err
	check "weft extract of $n ends with status 0" status_is $? 0 /tmp/x.err
	unchanged "tracefs is as it was before the extraction of $n"
	weft report "/tmp/$n.dat" > "/tmp/$n.weft.txt"
	same "the report of $n equals the kernel's text" "/tmp/$n.txt" "/tmp/$n.weft.txt"
	weft report -O latency-format "/tmp/$n.dat" > "/tmp/$n.latency.weft.txt"
	same "the report of $n equals the kernel's text with latency-format" "/tmp/$n.latency.txt" "/tmp/$n.latency.weft.txt"
}

scenario() {
	echo 1 > $T/events/sched/enable
	load
	echo 0 > $T/tracing_on
	# The events in the buffer are disabled now.
	echo 0 > $T/events/enable
	kernel_text events $T/trace
	extracted events
	check "what was extracted is gone" matches $T/trace '^# entries-in-buffer/entries-written: 0/0 '

	if has_tracer function; then
		echo 'vfs_*' > $T/set_ftrace_filter
		echo function > $T/current_tracer
		echo 1 > $T/tracing_on
		load
		echo 0 > $T/tracing_on
		kernel_text function $T/trace
		extracted function --file-version 6
		echo nop > $T/current_tracer
	fi

	echo 1 > $T/events/sched/enable
	echo 1 > $T/tracing_on
	load
	if [ -e $T/options/pause-on-trace ]; then
		echo 0 > $T/events/enable
		kernel_text on $T/trace
		extracted on
		echo 1 > $T/events/sched/enable
		load
	fi
	check "a buffer that goes on becomes a file, too" timeout 60 weft extract -o /tmp/live.dat
	weft report /tmp/live.dat > /tmp/live.txt
	check "its head counts the events of the file" \
		matches /tmp/live.txt "^# entries-in-buffer/entries-written: $(grep -c '^[^#]' /tmp/live.txt)/"
	check "tracing is still on" equal "$(cat $T/tracing_on)" 1
	check "and so are the events" equal "$(cat $T/events/sched/enable)" 1
	check "the file of a buffer that goes on is whole" weft check /tmp/live.dat

	echo 0 > $T/events/enable
	mkdir $T/instances/one $T/instances/two
	echo 1 > $T/instances/one/events/sched/enable
	echo 1 > $T/instances/two/events/sched/enable
	load
	for i in one two; do
		echo 0 > $T/instances/$i/tracing_on
		cat $T/instances/$i/trace > /tmp/$i.txt
	done
	check "weft extract --all" timeout 60 weft extract --all -o /tmp/all.dat
	for i in one two; do
		weft report -B $i /tmp/all.dat > /tmp/$i.weft.txt
		same "of all, the report of instance $i equals the kernel's text" /tmp/$i.txt /tmp/$i.weft.txt
		echo 0 > $T/instances/$i/events/enable
		rmdir $T/instances/$i
	done

	weft start -O nooverwrite -b 8k -e sched -e raw_syscalls
	load
	weft stop
	dropped=$(cat $T/per_cpu/cpu*/stats | awk '/^dropped events:/ { n += $3 } END { print n }')
	check "the kernel drops events when the buffer is full" more "$dropped" 0
	weft extract -o /tmp/full.dat 2> /tmp/full.err
	check "extract counts what the kernel has dropped" matches /tmp/full.err "$(echo "$dropped" | sed ':a; s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; ta') events? (is|are) lost"
	weft summary /tmp/full.dat > /tmp/full.txt
	check "summary does, too" matches /tmp/full.txt 'events lost .*that the kernel dropped'
	weft reset > /dev/null 2>&1
}
