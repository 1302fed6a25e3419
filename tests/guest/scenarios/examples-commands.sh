# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
. /host/examples.sh

scenario() {
	remember
	example "ftrace.rst 3295" "echo 'write*:mod:ext3' > set_ftrace_filter" "weft set -l 'write*:mod:ext3'"
	example "ftrace.rst 3303" "echo '!writeback*:mod:ext3' >> set_ftrace_filter" "weft set -l '!writeback*:mod:ext3'"
	example "ftrace.rst 3308" "echo '!*:mod:!ext3' >> set_ftrace_filter" "weft set -l '!*:mod:!ext3'" 'echo vfs_read > set_ftrace_filter'
	example "ftrace.rst 3312" "echo '!*:mod:*' >> set_ftrace_filter" "weft set -l '!*:mod:*'" 'echo vfs_read > set_ftrace_filter'
	example "ftrace.rst 3316" "echo '*write*:mod:!*' >> set_ftrace_filter" "weft set -l '*write*:mod:!*'"
	example "ftrace.rst 3320" "echo '*write*:mod:*snd*' >> set_ftrace_filter" "weft set -l '*write*:mod:*snd*'"
	example "ftrace.rst 3329" "echo '__schedule_bug:traceoff:5' > set_ftrace_filter" "weft set -l __schedule_bug:traceoff:5"
	example "ftrace.rst 3333" "echo '__schedule_bug:traceoff' > set_ftrace_filter" "weft set -l __schedule_bug:traceoff"
	example "ftrace.rst 3339" "echo '!__schedule_bug:traceoff:0' > set_ftrace_filter" "weft set -l '!__schedule_bug:traceoff:0'" \
		"echo '__schedule_bug:traceoff:5' > set_ftrace_filter"
	example "ftrace.rst 3344" "echo '!__schedule_bug:traceoff' > set_ftrace_filter" "weft set -l '!__schedule_bug:traceoff'" \
		"echo '__schedule_bug:traceoff' > set_ftrace_filter"
	example "ftrace.rst 3350" "echo '__schedule_bug:snapshot' > set_ftrace_filter" "weft set -l __schedule_bug:snapshot"
	example "ftrace.rst 3355" "echo '__schedule_bug:snapshot:1' > set_ftrace_filter" "weft set -l __schedule_bug:snapshot:1"
	example "ftrace.rst 3359" "echo '!__schedule_bug:snapshot' > set_ftrace_filter" "weft set -l '!__schedule_bug:snapshot'" \
		"echo '__schedule_bug:snapshot' > set_ftrace_filter"
	example "ftrace.rst 3360" "echo '!__schedule_bug:snapshot:0' > set_ftrace_filter" "weft set -l '!__schedule_bug:snapshot:0'" \
		"echo '__schedule_bug:snapshot:1' > set_ftrace_filter"
	example "ftrace.rst 3371" "echo 'try_to_wake_up:enable_event:sched:sched_switch:2' > set_ftrace_filter" \
		'weft set -l try_to_wake_up:enable_event:sched:sched_switch:2'
	example "ftrace.rst 3381" "echo '!try_to_wake_up:enable_event:sched:sched_switch:0' > set_ftrace_filter" \
		"weft set -l '!try_to_wake_up:enable_event:sched:sched_switch:0'" \
		"echo 'try_to_wake_up:enable_event:sched:sched_switch:2' > set_ftrace_filter"
	example "ftrace.rst 3383" "echo '!schedule:disable_event:sched:sched_switch' > set_ftrace_filter" \
		"weft set -l '!schedule:disable_event:sched:sched_switch'" \
		"echo 'schedule:disable_event:sched:sched_switch' > set_ftrace_filter"
	examples_end
}
