# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	remember
	weft stat > /tmp/stat 2> /tmp/err
	check "weft stat ends with status 0" status_is $? 0 /tmp/err
	# The size is what this test itself set (KB in guest.sh).
	printf 'top instance\n  buffer_size_kb         %s\n' "$(cat $T/buffer_size_kb)" > /tmp/expected
	same "after boot nothing differs but what was set" /tmp/expected /tmp/stat
	# The filter comes first: all functions would take an emulated CPU long.
	echo vfs_read > $T/set_ftrace_filter
	echo function > $T/current_tracer 2> /dev/null
	echo stacktrace > $T/trace_options
	echo 'p:weft_test vfs_write' > $T/kprobe_events
	echo 1 > $T/events/irq/irq_handler_entry/enable
	weft stat > /tmp/stat
	for line in 'current_tracer +function' 'set_ftrace_filter +vfs_read' 'options +stacktrace' 'events +X  irq' 'events +1  irq:irq_handler_entry' \
		'_events +p:kprobes/weft_test vfs_write'; do
		check "it tells: $line" matches /tmp/stat "^  [a-z]*$line"
	done
	echo > $T/kprobe_events
	reset
	unchanged "weft stat changes nothing"
}
