# SPDX-License-Identifier: GPL-2.0-only
# weft hist --latency: the time between two events, by task. Its synthetic event and its triggers are removed, also
# after a kill.
hist() {
	local sentence="$1" status="$2"

	shift 2
	timeout 40 weft hist "$@" > /tmp/h.txt 2> /tmp/h.err
	check "$sentence" status_is $? "$status" /tmp/h.err
}
work='i=0; while [ $i -lt 20 ]; do head -n 1 /proc/version | cat > /dev/null; i=$((i + 1)); done'

scenario() {
	has_command hist || { skip "latencies" "weft has no hist yet"; return; }
	[ -e $T/synthetic_events ] && [ -e $T/events/sched/sched_switch/hist ] || { skip "latencies" "this kernel has no synthetic events"; return; }
	remember
	hist "from waking to running, by task" 0 --latency sched:sched_waking..sched:sched_switch --key pid -- sh -c "$work"
	check "titles" matches /tmp/h.txt '^next_pid +lat us +hitcount'
	check "rows" matches /tmp/h.txt '^ *[0-9]+ +[0-9]+ - [0-9]+ +[0-9]+ +#'
	check "a sum" matches /tmp/h.txt '^sched:sched_waking\.\.sched:sched_switch: [1-9][0-9,]* hits'
	hist "by name, in steps" 0 --latency sched:sched_waking..sched:sched_switch --key pid=next_pid --keys next_comm,lat.buckets=1000 \
		--filter 'lat < 1000000' --ns -- sh -c "$work"
	check "rows by name" matches /tmp/h.txt '^[^ ]+ +[0-9]*000 - [0-9]*999 +[0-9]+'
	hist "only the time" 0 --latency irq:softirq_entry..irq:softirq_exit --key vec --keys lat --format json -- sh -c "$work"
	check "as JSON, with its unit" matches /tmp/h.txt '"unit":"us".*"keys":\{"lat":[0-9]+\}'
	hist "a system call" 0 --latency raw_syscalls:sys_enter..raw_syscalls:sys_exit --keys id.syscall,lat.log2 -- sh -c "$work"
	check "by its name" matches /tmp/h.txt '^sys_[a-z0-9_]+ +[0-9]+( - [0-9]+)? +[0-9]+'
	unchanged "latencies leave nothing behind"

	mkdir $T/instances/somebody
	echo mono > $T/instances/somebody/trace_clock
	hist "in an instance of somebody" 0 -B somebody --latency sched:sched_waking..sched:sched_switch --key pid -- sh -c "$work"
	check "rows there, too" matches /tmp/h.txt '^ *[0-9]+ +[0-9]+ - [0-9]+ +[0-9]+ +#'
	check "its clock is put back" matches $T/instances/somebody/trace_clock '\[mono\]'
	check "no trigger stays there" equal "$(grep -L '^hist' $T/instances/somebody/events/sched/sched_switch/trigger | wc -l)" 1
	echo 0 > $T/instances/somebody/tracing_on
	hist "in an instance that somebody stopped" 1 -B somebody --latency sched:sched_waking..sched:sched_switch --key pid -- true
	check "it is told, and stays stopped" matches /tmp/h.err 'tracing is off'
	check "it is off" equal "$(cat $T/instances/somebody/tracing_on)" 0
	rmdir $T/instances/somebody

	hist "no such field" 1 --latency sched:sched_waking..sched:sched_switch --key pidd -- true
	check "is told with those that fit" matches /tmp/h.err "did you mean 'pid'"
	hist "no such key" 1 --latency sched:sched_waking..sched:sched_switch --key pid --keys next_com -- true
	check "is told with those that fit, too" matches /tmp/h.err "did you mean 'next_comm'"
	unchanged "refusals leave nothing behind"

	weft hist --latency sched:sched_waking..sched:sched_switch --key pid > /tmp/h.txt 2> /tmp/h.err &
	local pid=$!
	await 'grep -qs "^hist" $T/instances/weft-$pid/events/synthetic/*/trigger'
	check "it runs" matches $T/synthetic_events 'weft_latency_'
	kill -9 $pid
	wait $pid 2> /dev/null
	weft reset > /tmp/p.out 2> /tmp/p.err
	check "weft reset after a kill" status_is $? 0 /tmp/p.err
	unchanged "nothing of the killed one stays"
}
