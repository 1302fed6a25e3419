# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	[ -e $T/synthetic_events ] || { skip "synthetic" "this kernel has no synthetic events"; return; }
	echo 'guest_lat u64 lat; pid_t pid; char comm[16]; int prio' > $T/synthetic_events
	VARIANTS='raw hex fields'
	live synthetic 'echo "hist:keys=pid:ts0=common_timestamp.usecs" > $T/events/sched/sched_waking/trigger
		echo "hist:keys=next_pid:lat=common_timestamp.usecs-\$ts0:onmatch(sched.sched_waking).guest_lat(\$lat,next_pid,next_comm,next_prio)" \
			> $T/events/sched/sched_switch/trigger
		load
		echo "!hist:keys=next_pid:lat=common_timestamp.usecs-\$ts0:onmatch(sched.sched_waking).guest_lat(\$lat,next_pid,next_comm,next_prio)" \
			> $T/events/sched/sched_switch/trigger
		echo "!hist:keys=pid:ts0=common_timestamp.usecs" > $T/events/sched/sched_waking/trigger' -e synthetic
	echo > $T/synthetic_events
}
