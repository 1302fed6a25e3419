# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	# Until weft was stopped, its own reading was the longest time without interrupts, and its events were read. So
	# the maximum starts again from here.
	local tracer now='echo 0 > $I/tracing_max_latency'

	set -f
	LIVE_KB=8192
	for tracer in wakeup wakeup_rt irqsoff preemptoff preemptirqsoff; do
		has_tracer $tracer || { skip "$tracer" "this kernel has no such tracer"; continue; }
		live $tracer "$now; for i in 1 2 3; do chrt -f 50 usleep 2000; usleep 1000; done" -p $tracer -O nofunction-trace
	done
	has_tracer wakeup_rt || return
	live wakeup-functions "$now; for i in 1 2 3; do chrt -f 50 usleep 2000; done" -p wakeup_rt -l 'try_to_wake*' -l '*schedule*' \
		-l 'ttwu_*'
	live wakeup-graph "$now; chrt -f 50 usleep 200" -p wakeup_rt -O display-graph -l 'try_to_wake*' -l '*schedule*' -l 'ttwu_*'
	live wakeup-events "$now; for i in 1 2 3; do chrt -f 50 usleep 2000; done" -p wakeup_rt -O nofunction-trace -e sched -e irq
}
