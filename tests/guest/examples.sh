# SPDX-License-Identifier: GPL-2.0-only
# The examples of the kernel's own documentation (Linux 6.12: events.rst sections 2, 5 and 6, all of ftrace.rst), each
# beside the weft command that does the same. Both run from the same state; then the files that the example writes must
# have the same contents.
# Newer kernels lack some of the functions and modules: similar ones replace them.

# example LINES SHELL WEFT [BEFORE]: SHELL runs in tracefs; both fail, or both succeed
example() {
	local lines="$1" shell="$2" command="$3" before="$4" file targets status again

	targets=$(printf '%s\n' "$shell" | grep -o '>>* *[a-z/][^ ;&|]*' | grep -v /dev/ | tr -d '> ' | sort -u)
	for file in $targets; do
		case $file in
		/*) ;;
		*/*) [ -e "$T/${file%/*}" ] || case $file in instances/*) ;; *) skip "$lines: $shell" "no ${file%/*} here"; return ;; esac ;;
		*) [ -e "$T/$file" ] || { skip "$lines: $shell" "no $file here"; return; } ;;
		esac
	done
	for file in $(printf '%s\n' "$shell" | grep -o '[a-z_]* > current_tracer' | cut -d' ' -f1); do
		has_tracer "$file" || { skip "$lines: $shell" "no tracer $file here"; return; }
	done
	fresh
	(cd $T && eval "$before") > /dev/null 2>&1
	(cd $T && eval "$shell") > /dev/null 2>&1
	status=$?
	contents > /tmp/example.shell
	fresh
	(cd $T && eval "$before") > /dev/null 2>&1
	(cd /tmp && eval "$command") > /tmp/example.out 2>&1
	again=$?
	contents > /tmp/example.weft
	weft reset > /dev/null 2>&1
	if [ $status != 0 ] && [ $again != 0 ]; then
		pass "$lines: $command (fails like the example)"
	elif [ $again != 0 ]; then
		fail "$lines: $command" "status $again: $(head -c 200 /tmp/example.out | tr '\n' '|')"
	elif [ $status != 0 ] && [ $again = 0 ]; then
		fail "$lines: $command" "succeeds where the example fails"
	else
		same "$lines: $command" /tmp/example.shell /tmp/example.weft
	fi
}

# The content of the files without values that differ between runs: process ids, latencies, counts that run down.
contents() {
	local file

	for file in $targets; do
		echo "== $file"
		case $file in
		/*) cat "$file" ;;
		*_pid) sed 's/[0-9][0-9]*/N/' "$T/$file" | sort -u ;;
		*max_latency) echo "(varies)" ;;
		*snapshot) grep -c allocated "$T/$file" ;;
		*error_log) grep -c error "$T/$file" ;;
		*trigger) grep -v '^#' "$T/$file" | sed 's/count=[0-9]*/count=N/' ;;
		*) sed 's/count=[0-9]*/count=N/' "$T/$file" ;;
		esac
	done 2>&1
}

# holds FILE WORD: the file's first word is WORD. It starts no process, because each of them is slow here.
holds() {
	local word rest

	read -r word rest < "$1"
	[ "$word" = "$2" ]
}

# says_nothing FILE: the file has only comments, or "no pid"
says_nothing() {
	local first second

	{
		read -r first
		read -r second
	} < "$1"
	[ -z "$second" ] || [ "${second#'#'}" != "$second" ] || return 1
	case $first in '' | '#'* | 'no pid') return 0 ;; esac
	return 1
}

# Resets the settings of the examples to those after boot. A slow reset is skipped if the setting did not change.
fresh() {
	local file line

	for file in foo bar zoot; do
		[ -d $T/instances/$file ] && { echo 0 > $T/instances/$file/events/enable; rmdir $T/instances/$file; }
	done
	holds $T/current_tracer nop || echo nop > $T/current_tracer
	holds $T/events/enable 0 || echo 0 > $T/events/enable
	for file in events/sched/sched_wakeup events/signal/signal_generate events/syscalls/sys_enter_read events/syscalls/sys_exit_read \
		events/kmem/kmalloc events/block/block_unplug; do
		[ -e $T/$file/trigger ] && ! says_nothing $T/$file/trigger || continue
		grep -v '^#' $T/$file/trigger | while read -r line; do
			case $line in
			*able_event:*) echo "!$(echo "$line" | cut -d: -f1-3)" > $T/$file/trigger ;;
			*) echo "!${line%%:*}" > $T/$file/trigger ;;
			esac
		done
	done
	echo 0 > $T/events/sched/filter
	echo 0 > $T/events/signal/signal_generate/filter
	for file in set_ftrace_filter set_ftrace_notrace set_graph_function set_event_pid set_ftrace_pid; do
		[ -e $T/$file ] && ! says_nothing $T/$file || continue
		grep '^[^#].*:' $T/$file | while read -r line; do
			# A trigger with a count can only be removed with a count, which may be any number.
			case $line in
			*count=*) set -- :0 ;;
			*) set -- ;;
			esac
			case $line in
			*able_event:*) echo "!$(echo "$line" | cut -d: -f1-4)$1" >> $T/$file ;;
			*) echo "!$(echo "$line" | cut -d: -f1-2)$1" >> $T/$file ;;
			esac
		done
		echo > $T/$file
	done
	cmp -s /tmp/options.boot $T/trace_options || for line in $(cat /tmp/options.boot); do echo "$line" > $T/trace_options; done
	echo 1 > $T/options/function-trace
	[ -e $T/snapshot ] && echo 0 > $T/snapshot
	holds $T/buffer_size_kb 512 || echo 512 > $T/buffer_size_kb
	grep -q '\[local\]' $T/trace_clock || echo local > $T/trace_clock
	echo 1 > /proc/sys/kernel/ftrace_enabled
	[ -e /proc/sys/kernel/stack_tracer_enabled ] && echo 0 > /proc/sys/kernel/stack_tracer_enabled
	echo > $T/trace
	echo 1 > $T/tracing_on
} 2> /dev/null

# Called at the end of each scenario.
examples_end() {
	fresh
	[ -e $T/stack_trace_filter ] && echo > $T/stack_trace_filter
	reset
	unchanged "after all examples, tracefs is as it was before"
}
