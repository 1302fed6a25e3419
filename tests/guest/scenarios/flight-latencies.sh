# SPDX-License-Identifier: GPL-2.0-only
# weft flight: several conditions on latencies at once, each with a synthetic event of its own.
scenario() {
	has_command flight || { skip "latencies" "weft has no flights yet"; return; }
	[ -e $T/synthetic_events ] && [ -e $T/events/sched/sched_switch/hist ] || { skip "latencies" "this kernel has no synthetic events"; return; }
	remember
	rm -rf /tmp/flight
	mkdir /tmp/flight
	set -- --when 'latency:wakeup>20us' --when 'other=latency:wakeup>30us if next_prio >= 0' --when 'latency:syscall>1ms' --when 'latency:softirq>1us'
	[ ! -e $T/events/lock/contention_begin ] || set -- "$@" --when 'latency:lock>1us'
	weft flight start -o /tmp/flight -e sched:sched_process_exec --after 2s "$@" > /tmp/flight.out 2>&1 &
	flight=$!
	await "grep -q 'has begun' /tmp/flight.out || ! kill -0 $flight"
	equal "$(grep -c '^weft_latency_' $T/synthetic_events)" $(($# / 2)) && pass "each has an event of its own" || fail "each has an event of its own"
	# Many tasks that begin and end at once wait for one another's locks.
	for i in 1 2 3 4 5 6 7 8; do sh -c 'n=0; while [ $n -lt 40 ]; do n=$((n + 1)); cat /proc/self/maps > /dev/null; done' & loads="$loads $!"; done
	await 'ls /tmp/flight/*.json'
	wait $loads
	kill -TERM $flight
	wait $flight
	check "it ends with status 0" status_is $? 0 /tmp/flight.out
	for file in /tmp/flight/*.dat; do weft report "$file" 2> /dev/null; done | sed -n 's/.*weft: trigger \([a-z]*\) at .* lat=\([0-9]*\).*/\1 \2/p' > /tmp/lats
	for what in wakeup:20000 other:30000 syscall:1000000 softirq:1000; do
		check "the kernel has measured a longer ${what%:*}" more "$(awk -v n=${what%:*} '$1 == n { print $2; exit }' /tmp/lats)" ${what#*:}
	done
	if [ -e $T/events/lock/contention_begin ] && grep -q '^lock ' /tmp/lats; then
		check "the kernel has measured a longer wait for a lock" more "$(sed -n 's/^lock //p' /tmp/lats | head -n 1)" 1000
	else
		skip "the kernel has measured a longer wait for a lock" "no such event, or no wait"
	fi
	unchanged "several latencies leave nothing behind"
}
