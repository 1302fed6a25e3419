# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
. /host/examples.sh

# The latency tracers: each is set up, a command runs, and it is switched off again.
latency() {
	example "$1" "echo 0 > options/function-trace; echo $2 > current_tracer; echo 1 > tracing_on; echo 0 > tracing_max_latency; \
		$3 > /dev/null; echo 0 > tracing_on" \
		"weft start -O nofunction-trace -p $2 --max-latency-reset -- $3 > /dev/null; weft stop"
}

scenario() {
	remember
	local option before

	example "ftrace.rst 601" 'echo global > trace_clock' 'weft set -C global'
	example "ftrace.rst 900" 'echo xxx > events/sched/sched_wakeup/trigger' 'weft set -e sched:sched_wakeup -R xxx'
	example "ftrace.rst 913" 'echo > error_log' 'weft clear --errors' 'echo xxx > events/sched/sched_wakeup/trigger'
	for option in noprint-parent sym-offset nofuncgraph-cpu funcgraph-cpu nofuncgraph-duration funcgraph-duration nofuncgraph-overhead \
		funcgraph-overhead nofuncgraph-proc funcgraph-proc nofuncgraph-abstime funcgraph-abstime nofuncgraph-tail \
		funcgraph-tail nofuncgraph-retval funcgraph-retval nofuncgraph-retval-hex funcgraph-retval-hex; do
		# trace_options takes options of the current tracer only.
		before='echo vfs_read > set_ftrace_filter; echo function_graph > current_tracer'
		case $option in
		*funcgraph*) has_tracer function_graph || { skip "ftrace.rst 2628-2806: $option" "no tracer function_graph here"; continue; } ;;
		*) before= ;;
		esac
		case $option in
		*retval*) grep -q "${option#no}" $T/trace_options || [ -e $T/options/${option#no} ] ||
			{ skip "ftrace.rst 2779-2806: $option" "no such option here"; continue; } ;;
		esac
		example "ftrace.rst 1121, 1125, 2628-2806 ($option)" "echo $option > trace_options" "weft set -O $option" "$before"
	done
	latency "ftrace.rst 1466-1472" irqsoff 'ls -ltr'
	latency "ftrace.rst 1665-1671" preemptoff 'ls -ltr'
	latency "ftrace.rst 1817-1823" preemptirqsoff 'ls -ltr'
	latency "ftrace.rst 1987-1992" wakeup 'chrt -f 5 true'
	latency "ftrace.rst 2054-2059" wakeup_rt 'chrt -f 5 true'
	example "ftrace.rst 2230-2236" "echo 0 > options/function-trace; echo wakeup_rt > current_tracer; echo 1 > events/sched/enable; \
		echo 1 > tracing_on; echo 0 > tracing_max_latency; chrt -f 5 true; echo 0 > tracing_on" \
		'weft start -O nofunction-trace -p wakeup_rt -e sched --max-latency-reset -- chrt -f 5 true; weft stop'
	example "ftrace.rst 1523, 2110" 'echo 1 > options/function-trace' 'weft set -O function-trace' 'echo 0 > options/function-trace'
	example "ftrace.rst 1601" 'echo 1 > options/display-graph' 'weft set -O display-graph'
	example "ftrace.rst 2278" 'echo hwlat > current_tracer' 'weft set -p hwlat'
	examples_end
}
