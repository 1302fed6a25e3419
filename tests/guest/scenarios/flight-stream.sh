# SPDX-License-Identifier: GPL-2.0-only
# weft flight: a latency that weft measures beside the same one that the kernel measures: both name the same wakeups.
# named NAME: the wakeups that this condition has named, by the time and the length
named() {
	for file in /tmp/flight/*.dat; do weft report "$file" 2> /dev/null; done |
		sed -n "s/.*weft: trigger $1 at \([0-9.]*\): .* lat=\([0-9]*\) next_comm=victim next_prio=.*/\1 \2/p" | sort -u
}

# both conditions together
triggers() { weft flight status | sed -n 's/^\([0-9]*\) triggers\{0,1\}, .*/\1/p'; }

# measure: the flight, a victim that is woken late, and the calls that each condition has named in /tmp/kernel and /tmp/weft
measure() {
	fly -e sched:sched_process_exec --after 100ms --cool-down 0 --max-files 0 --max-per-hour 0 \
		--when 'kernel=latency:wakeup>100ms if next_comm == "victim"' --when 'weft=latency:wakeup>100ms streamed if next_comm == "victim"' --when 'last=latency:syscall>900ms streamed if comm == "last"'
	victim
	for _ in $(seq 10); do
		intrude 90 30
		intrude 90 30
		[ "$(triggers)" -lt 4 ] || break
	done
	kill $victim
	# What weft measures comes later; when it has this call, it has all wakeups before it. If the kernel has lost just
	# this call, weft has the next one.
	await "sh -c 'echo -n last > /proc/\$\$/comm; read -r -t 1 nothing <> /tmp/never'; ls /tmp/flight/*-last.json"
	land
	named kernel > /tmp/kernel
	named weft > /tmp/weft
}

scenario() {
	has_command flight || { skip "streamed latencies" "weft has no flights yet"; return; }
	[ -e $T/synthetic_events ] && [ -e $T/events/sched/sched_switch/hist ] || { skip "streamed latencies" "this kernel has no synthetic events"; return; }
	remember
	# Beside other guests, an emulated CPU may be so slow that the kernel loses events, as weft tells.
	for _ in 1 2 3; do
		measure
		grep -q -- '--when weft: the kernel lost' /tmp/flight.out || break
	done
	check "the start says which one weft measures" matches /tmp/flight.out '--when weft: streamed; weft reads these events itself'
	check "and not the other" lacks /tmp/flight.out '--when kernel:'
	cp /tmp/flight.out /tmp/kernel /tmp/weft $OUT
	check "the kernel has measured some" more "$(wc -l < /tmp/kernel)" 1
	check "weft has named as many" equal "$(wc -l < /tmp/weft)" "$(wc -l < /tmp/kernel)"
	# Each instance stamps an event by itself, and an emulated CPU may rest between the two.
	paste /tmp/kernel /tmp/weft | awk '{ at = $1 - $3; lat = ($2 - $4) / 1e9; if (at > 0.02 || at < -0.02 || lat > 0.02 || lat < -0.02) print }' > /tmp/differ
	check "and the same ones, with the same lengths" equal "$(cat /tmp/differ)" ""
	unchanged "a streamed latency leaves nothing behind"
}
