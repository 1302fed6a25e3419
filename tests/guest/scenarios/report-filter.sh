# SPDX-License-Identifier: GPL-2.0-only
# Compares report -f with the kernel's own filter: two instances of one recording have the same events, and one of them
# has the filter in the kernel. All filters select tasks that begin and end while both instances trace. For wrong
# filters, report has the kernel's messages. The last heads wait for their input, so that there are
# switches to them.
work='i=0; while [ $i -lt 12 ]; do head -n 1 /proc/version > /dev/null; i=$((i + 1)); done
while [ $i -lt 16 ]; do { sleep 0.2; echo; } | head -n 1; i=$((i + 1)); done'

# told INSTANCE OPTION...: prints its events in an order of their own, without what each instance sees for itself: the
# time, the flags and a state that changes meanwhile
told() {
	local name="$1"

	shift
	weft report -B "$name" "$@" /tmp/f.dat 2> /tmp/f.err | sed -E '/^#/d; s/ (\[[0-9]+\]) +[^ ]+ +[0-9]+\.[0-9]+: / \1 /; s/ prev_state=[^ ]+//' | sort
}

filter() {
	timeout 60 weft record -q -o /tmp/f.dat -B all -e "$1" -B kernel -e "$1" -f "$2" -- sh -c "$work" > /dev/null 2> /tmp/f.rec
	check "$2: is recorded" status_is $? 0 /tmp/f.rec
	told kernel > /tmp/f.want
	check "$2: has events" more "$(wc -l < /tmp/f.want)" 0
	told all -f "$1: $2" > /tmp/f.got
	same "$2: is what the kernel selects" /tmp/f.want /tmp/f.got
}

wrong() {
	local said

	echo "$1" > $T/events/sched/sched_switch/filter 2> /dev/null
	said=$(sed -n 's/^parse_error: //p' $T/events/sched/sched_switch/filter)
	echo 0 > $T/events/sched/sched_switch/filter
	check "'$1' is wrong for the kernel" [ -n "$said" ]
	weft report -f "sched:sched_switch: $1" /tmp/f.dat > /tmp/f.out 2> /tmp/f.err
	check "'$1' is wrong for report" status_is $? "${2-2}" /tmp/f.err
	check "'$1': with the kernel's words" grep -qF "$said" /tmp/f.err
}

scenario() {
	remember
	filter sched:sched_switch 'next_comm == "head"'
	filter sched:sched_switch 'prev_comm ~ "hea*" && prev_prio <= 120 && !(next_pid & 1)'
	filter sched:sched_switch '(prev_comm == "head" || next_comm ~ "?ea[a-d]") && next_prio > 0x10'
	filter sched:sched_process_exec 'filename ~ "*/sh" && old_pid > 1'
	filter syscalls:sys_exit_openat 'COMM == "head" && ret >= -2 && ret != 1'
	filter sched:sched_process_exit 'comm == "head" && prio != 77'
	filter sched:sched_switch 'next_comm != "head" && prev_comm == "head"'
	unchanged
	# Whether there is such a field depends on the file.
	wrong 'next_pidd == 1' 1
	wrong 'next_pid = 1'
	wrong 'next_pid == one'
	wrong 'next_pid == 1x'
	wrong 'next_pid == "1"'
	wrong 'next_comm == 1'
	wrong 'next_comm == "sh'
	wrong 'next_comm > "sh"'
	wrong '(next_pid == 1'
	wrong 'next_pid == 1)'
	wrong 'next_pid == 1 next_pid == 2'
	wrong 'next_pid == 1 & next_pid == 2'
	# Before the stable versions of 2026 a kernel ignores the operator at the end.
	echo 'next_pid == 1 &&' > $T/events/sched/sched_switch/filter 2> /dev/null &&
		skip "next_pid == 1 &&" "this kernel takes it" || wrong 'next_pid == 1 &&'
	echo 0 > $T/events/sched/sched_switch/filter
	unchanged "wrong filters leave nothing behind"
}
