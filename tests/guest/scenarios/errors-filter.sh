# SPDX-License-Identifier: GPL-2.0-only
# limit: 600
# Filters and triggers that the kernel refuses, and unknown names: the messages have the kernel's words, the caret, and
# near names. None of them changes a setting, not even in somebody's instance.
refused() {
	local sentence="$1" regex="$2"

	shift 2
	timeout 40 weft set -B somebody "$@" > /tmp/e.out 2> /tmp/e.err
	check "$sentence: status 1" status_is $? 1 /tmp/e.err
	check "$sentence: $regex" matches /tmp/e.err "$regex"
	unchanged "$sentence: nothing is changed"
}
caret() { check "a caret stands under it" matches /tmp/e.err '^ *\^$'; }
filter() {
	refused "filter '$1'" "$2" -e sched:sched_switch -f "$1"
	caret
}
trigger() { refused "trigger '$1'" "$2" -e sched:sched_switch -R "$1"; }

scenario() {
	mkdir $T/instances/somebody
	echo 'prev_prio < 50' > $T/instances/somebody/events/sched/sched_switch/filter
	echo 'stacktrace if prev_pid == -5' > $T/instances/somebody/events/sched/sched_switch/trigger
	remember
	filter 'prev_pidd == 1' "did you mean 'prev_pid'"
	filter 'prev_pid == 1 && CMO == "sh"' "has no field 'CMO'"
	filter 'prev_pid >> 1' 'Invalid value|Illegal integer'
	filter 'prev_pid == one' 'Invalid value|Illegal integer'
	filter 'prev_comm == 7' 'Expecting string field'
	filter 'prev_comm == "sh' 'Missing matching quote'
	filter '(prev_pid == 1' "Too many '\\('"
	filter 'prev_pid == 1)' "Too few '\\('"
	filter 'prev_pid ~ "a*"' 'Illegal operation for field type|Expecting numeric field|Invalid'
	filter 'prev_pid is 1' 'Invalid operator'
	refused "a system of which no event has the field" "has no field 'nothing'" -e sched -f 'nothing == 1'
	trigger 'stacktrce' "did you mean 'stacktrace'"
	trigger 'enable_event:sched:sched_wakup' "did you mean .*sched:sched_wakeup"
	caret
	trigger 'traceoff if prev_pidd == 1' "did you mean 'prev_pid'"
	caret
	# Kernels before 6.2 have no message for this mistake.
	trigger 'traceoff if prev_comm == 7' 'Expecting string field|Invalid argument'
	if [ -e $T/events/sched/sched_switch/hist ]; then
		trigger 'hist:keys=prev_pidd' "did you mean 'prev_pid'"
		caret
		trigger 'hist:keys=prev_pid.lgo2' 'Invalid field modifier'
		caret
		trigger 'hist:keys=prev_pid:sort=next_pid' 'Sort field must be a key or a val'
		caret
		trigger 'hist:keys=prev_pid:vals=$nothing' "Couldn't find variable|Couldn't find field"
		trigger 'hist:keys=prev_pid:onmatch(sched.sched_waking).nothing(prev_pid)' "Couldn't find synthetic event|No action found|Invalid|Matching event histogram"
	fi
	refused "no such event" "did you mean .*sched:sched_switch" -e sched:sched_swich
	if has_tracer function; then
		refused "no such tracer" "did you mean 'function'" -p fuction
		refused "no such function" "did you mean .*vfs_read" -p function -l vfs_raed
		refused "a function filter command of no function" "vfs_raed" -p function -l vfs_raed:traceoff
	fi
	refused "no such clock" "did you mean 'mono'" -e sched -C mon
	refused "no such option" "did you mean" -e sched -O stacktrac
	rmdir $T/instances/somebody
}
