# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	remember
	# Somebody presses Ctrl-C.
	weft stream -e sched > /tmp/s.txt 2> /tmp/s.err &
	local pid=$!
	await 'grep -q sched_switch: /tmp/s.txt'
	kill -INT $pid
	wait $pid
	check "a signal ends it well" status_is $? 0 /tmp/s.err
	check "with the summary" matches /tmp/s.err ' events? in .* lost$'

	# Somebody kills it. The shell in the background may empty an old file too late.
	rm /tmp/s.txt
	weft stream -e sched -e irq -C global -b 64 > /tmp/s.txt 2> /tmp/s.err &
	pid=$!
	await 'grep -q sched_switch: /tmp/s.txt'
	kill -9 $pid
	wait $pid 2> /dev/null
	weft recover > /tmp/s.out 2> /tmp/s.err
	check "weft recover ends with status 0" status_is $? 0 /tmp/s.err
	unchanged "after a signal, a kill and weft recover tracefs is as it was before"
}
