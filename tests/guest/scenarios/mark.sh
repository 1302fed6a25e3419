# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	remember
	check "weft mark ends with status 0" weft mark a marker of weft
	printf 'line one\nline two\n' | weft mark -
	check "weft mark - ends with status 0" equal $? 0
	printf 'abcdefghijkl' | weft mark --raw 17 -
	check "weft mark --raw ends with status 0" equal $? 0
	echo 0 > $T/tracing_on
	sed -n 's/.*: tracing_mark_write: //p; s/.*: # 11 buf: /raw /p' $T/trace > /tmp/marks
	printf 'a marker of weft\nline one\nline two\nraw 61 62 63 64 65 66 67 68 69 6a 6b 6c\n' > /tmp/expected
	# The kernel counts the number twice (tracing_mark_raw_write()), so four bytes follow that its page contained
	# before.
	sed -i 's/^\(raw\( [0-9a-f][0-9a-f]\)\{12\}\)\( [0-9a-f][0-9a-f]\)\{4\} *$/\1/' /tmp/marks
	same "the trace has the markers in order" /tmp/expected /tmp/marks
	weft mark too late 2> /tmp/err
	check "with tracing off it fails" equal $? 1
	check "and says so" matches /tmp/err 'tracing is off in the top instance'
	echo 1 > $T/tracing_on
	weft record -e sched:sched_process_exec -o /tmp/m.dat -- sh -c 'echo from a program > /sys/kernel/tracing/trace_marker; weft mark from weft' 2> /tmp/err
	weft report /tmp/m.dat | sed -n 's/.*: tracing_mark_write: //p' > /tmp/marks
	if [ -e $T/options/copy_trace_marker ]; then
		printf 'from a program\nfrom weft\n' > /tmp/expected
		same "record has what was written to the top trace_marker meanwhile" /tmp/expected /tmp/marks
		check "-e ftrace:print alone records marks" sh -c 'weft record -q -e ftrace:print -o /tmp/m.dat -- weft mark alone && weft report /tmp/m.dat | grep -q "mark_write: alone"'
	else
		check "record tells of the two marks that it does not have" matches /tmp/err 'note: 2 marks written to the top trace_marker'
	fi
	weft record -e sched:sched_process_exec -o /tmp/m.dat -- true 2> /tmp/err
	check "record tells of no marks where there were none" lacks /tmp/err 'trace_marker'
	if [ -e $T/events/sched/sched_process_exit/inject ]; then
		echo > $T/trace
		check "weft mark --inject ends with status 0" weft mark --inject sched:sched_process_exit pid=4711
		check "the event is in the trace" matches $T/trace 'sched_process_exit: .*pid=4711'
		weft mark --inject sched:sched_process_exit
		check "without fields it is in the trace, too" matches $T/trace 'sched_process_exit: .*pid=0'
		weft mark --inject sched:sched_process_exit no_such=1 2> /tmp/err
		check "an unknown field is an error" equal $? 1
	else
		skip "weft mark --inject" "no inject files here"
	fi
	unchanged
}
