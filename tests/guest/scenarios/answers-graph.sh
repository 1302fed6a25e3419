# SPDX-License-Identifier: GPL-2.0-only
# Compares weft graph with the kernel's own function profiler of the same moment: how often each function was called, and
# how long it took with and without the functions that it called. Since Linux 6.11 both may run at once.

# profiled: prints "FUNCTION HITS TIME" of all CPUs from the kernel's profile; a time is in microseconds
profiled() {
	awk '$2 ~ /^[0-9]+$/ && $4 == "us" { hits[$1] += $2; time[$1] += $3 }
		END { for (f in hits) printf "%s %d %.0f\n", f, hits[f], time[f] }' $T/trace_stat/function* | sort
}

# both COLUMN graph-time|nograph-time: /tmp/both gets a line "FUNCTION KERNEL WEFT" of each function whose calls both
# counted alike: a call at one end of the trace may be missing in one of them
both_once() {
	echo 0 > $T/tracing_on
	echo > $T/trace
	echo function_graph > $T/current_tracer
	echo "$2" > $T/trace_options
	echo 1 > $T/function_profile_enabled
	echo 1 > $T/tracing_on
	for i in 1 2 3 4 5 6 7 8; do cat /proc/uptime; done > /dev/null
	echo 0 > $T/tracing_on
	echo 0 > $T/function_profile_enabled
	profiled > /tmp/profile
	weft extract -o /tmp/r.dat 2> /tmp/r.err
	echo graph-time > $T/trace_options
	echo nop > $T/current_tracer
	weft graph /tmp/r.dat --self --top 0 --table functions --format csv 2> /tmp/r.err | awk -F, -v column="$1" '
		/^$/ { exit }
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ calls[$1] += $at["calls"]; time[$1] += $at[column] }
		END { for (f in calls) printf "%s %d %.0f\n", f, calls[f], time[f] / 1000 }' | sort > /tmp/graph
	awk 'NR == FNR { hits[$1] = $2; time[$1] = $3; next } hits[$1] == $2 { print $1, time[$1], $3 }' /tmp/profile /tmp/graph > /tmp/both
}

# The profiler starts before the tracer and ends after it. On a busy machine interrupts between the two make nearly all
# counts differ: then the comparison is made again.
both() {
	for try in 1 2 3 4 5 6 7 8 9 10; do
		both_once "$@"
		[ "$(wc -l < /tmp/both)" -le 10 ] || break
	done
}

# alike WHAT: an interrupt between the clock and the record of a function belongs to that function in weft, to its caller
# in the profiler, so a few functions differ
alike() {
	local all

	awk '{ d = $2 - $3; if (d < 0) d = -d; if (d > 2 && d > $2 / 100) print }' /tmp/both > /tmp/differ
	all=$(wc -l < /tmp/both)
	check "the kernel and weft counted the calls of more than ten functions alike" more "$all" 10
	check "$1 is that of the kernel's profiler, but of one function in ten" more "$((all + 1))" "$(($(wc -l < /tmp/differ) * 10))"
}

scenario() {
	has_tracer function_graph && [ -e $T/function_profile_enabled ] || { skip "weft graph beside the profiler" "this kernel has no function profiler"; return; }
	# Without a filter an emulated guest is too slow.
	for f in 'vfs_*' 'ksys_*' '*softirq*' 'tick_*' 'hrtimer_*' '*irq*' 'schedule*' rcu_core; do echo "$f" >> $T/set_ftrace_filter; done
	echo function_graph > $T/current_tracer
	if ! echo 1 > $T/function_profile_enabled || [ "$(cat $T/function_profile_enabled)" != 1 ]; then
		skip "weft graph beside the profiler" "this kernel runs one of them at a time"
		return
	fi
	echo 0 > $T/function_profile_enabled
	both total_ns graph-time
	alike "the time with all that a function called"
	both self_ns nograph-time
	alike "the own time"
	# Deeper functions are not recorded, and belong to their caller; the profiler knows them all.
	echo 3 > $T/max_graph_depth
	both total_ns graph-time
	alike "the time of functions that are not too deep"
}
