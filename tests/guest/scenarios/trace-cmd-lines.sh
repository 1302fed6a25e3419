# SPDX-License-Identifier: GPL-2.0-only
# The command lines of tests/guest/trace-cmd-lines, by trace-cmd and by weft in its place.
# limit: 2400
settings='tracing_on current_tracer set_event trace_clock trace_options buffer_size_kb tracing_cpumask set_ftrace_filter set_ftrace_notrace
	set_graph_function set_graph_notrace set_event_pid set_ftrace_pid max_graph_depth saved_cmdlines_size snapshot
	events/sched/sched_switch/filter events/sched/sched_switch/trigger'

# shown: prints the settings that lines change
shown() {
	local d files=''

	for d in $T $T/instances/foo $T/instances/bar; do
		[ -d $d ] || continue
		files="$files $(printf "$d/%s " $settings)"
	done
	grep -s '' $files /proc/sys/kernel/stack_tracer_enabled /proc/sys/kernel/ftrace_enabled | grep -v '/snapshot:#$'
	ls $T/instances
	# While functions are traced, reading a trace adds to it.
	for d in $T $T/instances/foo $T/instances/bar; do
		[ -d $d ] || continue
		echo 0 > $d/tracing_on
		echo "${d#$T} markers: $(grep -c tracing_mark_write $d/trace)"
	done
}

# clean: sets them as they were
clean() {
	local d f

	echo 0 > $T/tracing_on
	for d in $T/instances/*; do
		[ -d "$d" ] && { echo 0 > "$d/events/enable"; echo nop > "$d/current_tracer"; rmdir "$d"; }
	done
	echo nop > $T/current_tracer
	echo 0 > $T/events/enable
	for f in $(cat $T/events/sched/sched_switch/trigger | grep -v '^#'); do echo "!${f%%:*}" >> $T/events/sched/sched_switch/trigger; done
	echo 0 > $T/events/sched/sched_switch/filter
	for f in set_ftrace_filter set_ftrace_notrace set_graph_function set_graph_notrace set_event_pid set_ftrace_pid; do
		echo > $T/$f
	done
	echo 0 > $T/max_graph_depth
	cmp -s /tmp/options.boot $T/trace_options || for f in $(cat /tmp/options.boot); do echo "$f" > $T/trace_options; done
	echo "${KB:-512}" > $T/buffer_size_kb
	echo 3 > $T/tracing_cpumask
	echo local > $T/trace_clock
	echo 128 > $T/saved_cmdlines_size
	echo 0 > /proc/sys/kernel/stack_tracer_enabled
	echo 1 > /proc/sys/kernel/ftrace_enabled
	rm -rf /run/weft
	echo 0 > $T/snapshot
	echo > $T/trace
	echo 1 > $T/tracing_on
} 2> /dev/null

# one WHO COMMAND: runs the line; what is compared is in /tmp/WHO.said
one() {
	clean
	rm -rf /tmp/place
	mkdir /tmp/place
	(
		cd /tmp/place
		[ "$before" = - ] || eval "$before"
		eval "command timeout -k 2 25 $2 $line" > /tmp/$1.out 2> /tmp/$1.err < /dev/null
		echo "status $?"
	) > /tmp/$1.said 2> /dev/null
	case $compared in *files*) (cd /tmp/place && ls -l | awk 'NR > 1 { print "file", $1, $NF }') >> /tmp/$1.said ;; esac
	case $compared in *out*) sed 's/^/out: /' /tmp/$1.out >> /tmp/$1.said ;; esac
	shown >> /tmp/$1.said 2> /dev/null
}

scenario() {
	local nr=0 tab before line compared why

	command -v trace-cmd > /dev/null || { skip "everything" "the host has no trace-cmd (apt-get install trace-cmd)"; return; }
	tab=$(printf '\t')
	grep -v '^#' /host/trace-cmd-lines > /tmp/lines
	while IFS=$tab read -r before line compared why <&3; do
		nr=$((nr + 1))
		one real trace-cmd
		echo $nr real > /host/alive
		one weft 'weft trace-cmd'
		echo $nr > /host/alive
		if cmp -s /tmp/real.said /tmp/weft.said; then
			[ "$why" = - ] && pass "$nr: trace-cmd $line" || fail "$nr: trace-cmd $line" "it differs no longer from: $why"
		elif [ "$why" != - ]; then
			pass "$nr: trace-cmd $line: as the page says"
		else
			diff /tmp/real.said /tmp/weft.said > $OUT/$nr.diff
			echo "trace-cmd: $(cat /tmp/real.err)" >> $OUT/$nr.diff
			echo "weft: $(cat /tmp/weft.err)" >> $OUT/$nr.diff
			fail "$nr: trace-cmd $line" "$(grep '^[-+][^-+]' $OUT/$nr.diff | head -n 4 | tr '\n' '|')"
		fi
	done 3< /tmp/lines
	clean
}
