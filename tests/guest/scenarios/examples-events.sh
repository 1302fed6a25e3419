# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
. /host/examples.sh

scenario() {
	remember
	local on='echo 1 > events/sched/sched_wakeup/enable'

	example "events.rst 32" 'echo sched_wakeup >> set_event' 'weft set -e sched_wakeup'
	example "events.rst 39" "echo '!sched_wakeup' >> set_event" 'weft set -v -e sched_wakeup' "$on"
	example "events.rst 43" 'echo > set_event' 'weft set -v -e all' "$on"
	example "events.rst 47" "echo '*:*' > set_event" 'weft set -e all'
	example "events.rst 56" "echo 'irq:*' > set_event" "weft set -e 'irq:*'"
	example "events.rst 66" 'echo 1 > events/sched/sched_wakeup/enable' 'weft set -e sched:sched_wakeup'
	example "events.rst 70" 'echo 0 > events/sched/sched_wakeup/enable' 'weft set -v -e sched:sched_wakeup' "$on"
	example "events.rst 74" 'echo 1 > events/sched/enable' 'weft set -e sched'
	example "events.rst 78" 'echo 1 > events/enable' 'weft set -e all'
	example "events.rst 245" "echo 'common_preempt_count > 4' > events/sched/sched_wakeup/filter" \
		"weft set -e sched:sched_wakeup -f 'common_preempt_count > 4'"
	example "events.rst 250" "echo '((sig >= 10 && sig < 15) || sig == 17) && comm != \"bash\"' > events/signal/signal_generate/filter" \
		"weft set -e signal_generate -f '((sig >= 10 && sig < 15) || sig == 17) && comm != \"bash\"'"
	example "events.rst 257" "echo '((sig >= 10 && sig < 15) || dsig == 17) && comm != \"bash\"' > events/signal/signal_generate/filter" \
		"weft set -e signal_generate -f '((sig >= 10 && sig < 15) || dsig == 17) && comm != \"bash\"'"
	example "events.rst 307" 'echo 0 > events/sched/filter; : > events/sched/sched_wakeup/filter' 'weft set -e sched -f 0' \
		"echo 'common_pid == 0' > events/sched/filter"
	example "events.rst 317" 'echo common_pid == 0 > events/sched/filter' "weft set -e sched -f 'common_pid == 0'"
	example "events.rst 328" 'echo prev_pid == 0 > events/sched/filter' "weft set -e sched -f 'prev_pid == 0'"
	example "events.rst 343-344" 'echo $$ > set_event_pid; echo 1 > events/sched/enable' 'weft set -P $$ -e sched'
	# weft refuses PIDs of no task, so these are of tasks.
	example "events.rst 351" 'echo 2 $$ 1 >> set_event_pid' 'weft set -P 2,$$,1'
	examples_end
}
