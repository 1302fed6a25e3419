# SPDX-License-Identifier: GPL-2.0-only
# limit: 600
# Items of the kernel's documents that no other scenario has (tests/guest/documents): each option of ftrace.rst is set,
# read in the kernel's file, and put back; and files whose text show prints.

. /host/start.sh

# toggle "OPTIONS" ARGUMENTS...: weft start with all of them sets each; ARGUMENTS choose the tracer that has them
toggle() {
	local options option was now words=

	# shellcheck disable=SC2116,SC2086 # one blank between two words
	options=$(echo $1)
	shift
	[ "$#" -gt 0 ] && echo "$2" > $T/current_tracer 2> /dev/null
	for option in $options; do
		was=$(cat $T/options/$option 2> /dev/null)
		[ -n "$was" ] || { skip "the option $option" "this kernel has none"; continue; }
		[ "$was" = 1 ] && words="$words no$option" || words="$words $option"
	done
	echo nop > $T/current_tracer
	[ -n "$words" ] || return
	for option in $words; do set -- "$@" -O $option; done
	weft start -e sched:sched_process_exec "$@" > /tmp/s.err 2>&1
	check "the options $words are set" status_is $? 0 /tmp/s.err
	for option in $words; do
		case " $options " in
		*" $option "*) now=1 ;;
		*) now=0 option=${option#no} ;;
		esac
		check "the option $option is there" equal "$(cat $T/options/$option)" $now
	done
	check "reset works after the options $words" weft reset
}

toggle_all() {
	toggle "print-parent sym-offset sym-addr verbose raw hex bin block trace_printk annotate userstacktrace \
		sym-userobj printk-msg-only context-info latency-format pause-on-trace hash-ptr record-cmd record-tgid overwrite \
		disable_on_free irq-info markers event-fork function-fork stacktrace fields copy_trace_marker"
	# One instance must be the destination.
	[ ! -e $T/options/trace_printk_dest ] || tell "no destination of trace_printk" 'trace_printk_dest' -e sched:sched_process_exec -O notrace_printk_dest
	! grep -qw function $T/available_tracers || toggle "function-trace func_stack_trace func-args" -p function -l vfs_fsync
	! grep -qw function_graph $T/available_tracers || toggle "funcgraph-overrun funcgraph-cpu funcgraph-overhead \
		funcgraph-proc funcgraph-duration funcgraph-abstime funcgraph-irqs funcgraph-tail sleep-time graph-time \
		funcgraph-retval funcgraph-retval-hex funcgraph-args funcgraph-retaddr" -p function_graph -l vfs_fsync
	! grep -qw wakeup $T/available_tracers || toggle display-graph -p wakeup
	! grep -qw blk $T/available_tracers || toggle blk_classic -p blk
	# The tracer wakeup has written the longest latency there: a measurement, which weft reset leaves.
	[ ! -e $T/tracing_max_latency ] || echo 0 > $T/tracing_max_latency
	unchanged "the options leave nothing"
}

show_files() {
	local file

	for file in buffer_total_size_kb dyn_ftrace_total_info enabled_functions saved_tgids uprobe_profile kprobe_profile error_log timestamp_mode; do
		[ -e $T/$file ] || { skip "$file" "this kernel has none"; continue; }
		check "show prints $file" equal "$(weft show $file)" "$(cat $T/$file)"
	done
}

other_settings() {
	if grep -qw wakeup_dl $T/available_tracers; then
		try "the tracer wakeup_dl" $T/current_tracer '^wakeup_dl$' -p wakeup_dl
	else
		skip "wakeup_dl" "this kernel has none"
	fi
	if [ -e $T/osnoise/stop_tracing_total_us ]; then
		try "stop-total of osnoise" $T/osnoise/stop_tracing_total_us '^700$' -p osnoise --osnoise stop-total=700
	else
		skip "osnoise" "this kernel has none"
	fi
	if grep -q onchange $T/README; then
		try "a histogram that acts on changes" $T/events/sched/sched_waking/trigger 'onchange' -e sched:sched_waking \
			-R 'hist:keys=pid:p=prio:onchange($p).save(comm)'
	else
		skip "onchange" "this kernel has none"
	fi
}

scenario() {
	has_command start || { skip "everything" "weft has no start"; return; }
	weft start -e sched:sched_switch > /dev/null 2>&1
	weft reset > /dev/null 2>&1
	remember
	toggle_all
	show_files
	other_settings
}
