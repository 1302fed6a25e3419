# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	local tracer

	set -f
	LIVE_KB=8192
	for tracer in wakeup wakeup_rt irqsoff preemptoff preemptirqsoff; do
		has_tracer $tracer || { skip "$tracer" "this kernel has no such tracer"; continue; }
		live $tracer 'for i in 1 2 3; do chrt -f 50 usleep 2000; usleep 1000; done' -p $tracer -O nofunction-trace
	done
	has_tracer wakeup_rt || return
	live wakeup-functions 'for i in 1 2 3; do chrt -f 50 usleep 2000; done' -p wakeup_rt -l 'try_to_wake*' -l '*schedule*' -l 'ttwu_*'
	live wakeup-graph 'chrt -f 50 usleep 200' -p wakeup_rt -O display-graph -l 'try_to_wake*' -l '*schedule*' -l 'ttwu_*'
	live wakeup-events 'for i in 1 2 3; do chrt -f 50 usleep 2000; done' -p wakeup_rt -O nofunction-trace -e sched -e irq
}
