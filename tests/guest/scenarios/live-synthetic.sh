# SPDX-License-Identifier: GPL-2.0-only
# Synthetic events made by histogram triggers: numbers, strings of fixed and of dynamic size.

# made NAME DEFINITION WAKING SWITCH: the text of a synthetic event that these two triggers make
made() {
	if ! echo "$2" 2> /dev/null > $T/synthetic_events; then
		skip "$1" "this kernel has no synthetic event '$2'"
		return 1
	fi
	live $1 "echo '$3' > \$T/events/sched/sched_waking/trigger
		echo '$4' > \$T/events/sched/sched_switch/trigger
		load
		echo '!$4' > \$T/events/sched/sched_switch/trigger
		echo '!$3' > \$T/events/sched/sched_waking/trigger" -e synthetic
	weft report --format json /tmp/$1.dat > /tmp/json 2> /tmp/json.err
	check "$1: the JSON is complete" status_is $? 0 /tmp/json.err
	echo > $T/synthetic_events
}

scenario() {
	local first='hist:keys=pid:ts0=common_timestamp.usecs'
	local second='hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking)'

	[ -e $T/synthetic_events ] || { skip "synthetic" "this kernel has no synthetic events"; return; }
	VARIANTS='raw hex fields'
	made synthetic 'guest_lat u64 lat; pid_t pid; char comm[16]; int prio' "$first" \
		"$second.guest_lat(\$lat,next_pid,next_comm,next_prio)"
	if made synthetic-dynamic 'guest_dyn char comm[]; u64 lat; char from[]; int prio' "$first" \
		"$second.guest_dyn(next_comm,\$lat,prev_comm,next_prio)"; then
		check "JSON has the dynamic strings of each event" equal "$(grep -c guest_dyn /tmp/json)" \
			"$(grep -c '"fields":{"comm":"[!-~ ]*","lat":[0-9]*,"from":"[!-~ ]*","prio":[0-9]*}' /tmp/json)"
		check "JSON has the name of a task of the load" matches /tmp/json '"fields":{"comm":"(sh|ls|cat|head)"'
	fi
}
