# SPDX-License-Identifier: GPL-2.0-only
freed() { grep -q '^# \* Snapshot is freed \*' "$1"; }

# snap STATUS WORD...: its output goes to /tmp/s.out, its messages to /tmp/s.err
snap() {
	local status="$1"

	shift
	timeout 30 weft snapshot "$@" > /tmp/s.out 2> /tmp/s.err
	check "weft snapshot $* ends with status $status" status_is $? "$status" /tmp/s.err
}

scenario() {
	local I=$T/instances/snap tracer

	[ -e $T/snapshot ] || { skip "everything" "this kernel has no snapshots"; return; }
	remember
	snap 1 show
	check "without a snapshot the message says so" matches /tmp/s.err "^weft: there is no snapshot; 'weft snapshot take' takes one$"

	echo 1 > $T/events/sched/enable
	load
	remember
	snap 0 take
	echo 0 > $T/tracing_on
	cat $T/snapshot > /tmp/want.txt
	snap 0 show
	same "show prints the kernel's text" /tmp/want.txt /tmp/s.out
	check "it has events" matches /tmp/s.out ': sched_switch: '
	cat "$T/per_cpu/cpu$(last_cpu)/snapshot" > /tmp/want.txt
	snap 0 -c "$(last_cpu)"
	same "show -c prints that of one CPU" /tmp/want.txt /tmp/s.out
	snap 1 -c 77
	check "a CPU that is not there is named" matches /tmp/s.err 'this machine has no CPU 77'
	snap 0 clear
	check "a cleared snapshot is empty, and allocated" matches $T/snapshot '^# \* Snapshot is allocated \*'
	snap 0 take
	check "taken while tracing is off, a note tells what that means" matches /tmp/s.err 'tracing is off'
	snap 0 free
	check "free frees it" freed $T/snapshot
	echo 1 > $T/tracing_on
	unchanged "nothing but the snapshot was changed"

	remember
	snap 0 take
	check "weft reset puts back what take has changed" weft reset
	check "the snapshot is freed" freed $T/snapshot
	unchanged "tracefs is as it was before take and reset"

	remember
	snap 0 --on sched:sched_process_exit --count 1 if 'prio > 100'
	check "the trigger is set" matches $T/events/sched/sched_process_exit/trigger '^snapshot:count=1 if prio > 100|^snapshot:count=0 if'
	ls / > /dev/null
	snap 0 show
	check "the event took one" matches /tmp/s.out ': sched_process_exit: '
	snap 1 free
	check "with the trigger, free is refused" matches /tmp/s.err "'sched:sched_process_exit' has a trigger that takes snapshots"
	check "weft reset takes the trigger away" weft reset
	unchanged "tracefs is as it was before --on and reset"
	check "and frees the snapshot" freed $T/snapshot

	remember
	snap 1 --on sched:sched_process_exit if 'no_such_field > 100'
	check "a refused filter shows the kernel's words" matches /tmp/s.err 'Field not found|no field'
	snap 1 --on sched:sched_proces_exit
	check "an unknown event comes with near names" matches /tmp/s.err "sched_process_exit"
	unchanged "what failed changed nothing"
	check "not even the snapshot" freed $T/snapshot

	mkdir $I
	if [ -e $I/snapshot ]; then
		echo 1 > $I/events/sched/enable
		load
		snap 0 take -B snap
		snap 0 show -B snap
		check "an instance has a snapshot of its own" matches /tmp/s.out ': sched_switch: '
		check "the top one has none" freed $T/snapshot
		snap 0 free -B snap
		weft reset > /dev/null
		echo 0 > $I/events/enable
	fi
	rmdir $I

	for tracer in irqsoff wakeup; do
		has_tracer $tracer || continue
		# All functions would take an emulated CPU long.
		echo 0 > $T/options/function-trace
		echo $tracer > $T/current_tracer
		# Otherwise the tracer may find longer ones meanwhile.
		echo 1000000000 > $T/tracing_max_latency
		remember
		snap 1 take
		check "under $tracer the message says why" matches /tmp/s.err "the tracer '$tracer' keeps its worst case in the snapshot"
		unchanged "and nothing is changed"
		echo nop > $T/current_tracer
	done
}
