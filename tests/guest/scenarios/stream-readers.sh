# SPDX-License-Identifier: GPL-2.0-only
counted() {
	cat $T/instances/guest/per_cpu/cpu*/stats |
		awk -F': ' '/^(entries|read events)/ { n += $2 } /^(overrun|commit overrun|dropped events)/ { l += $2 } END { print n + 0, l + 0 }'
}
told() {
	awk '/^#/ { next } /^CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]$/ { l += $3; next } { n++ } END { print n + 0, l + 0 }' "$1"
}

scenario() {
	remember
	# A reader that ends.
	timeout 60 weft stream -e sched -e syscalls 2> /tmp/s.err | head -n 20 > /tmp/s.txt
	check "head gets its lines" equal "$(wc -l < /tmp/s.txt)" 20
	check "weft says nothing of a reader that went away" equal "$(head -c 300 /tmp/s.err)" ""

	# A reader that sleeps until the load is over: the events that it gets plus those reported as lost are the
	# kernel's count.
	mkdir $T/instances/guest
	rm -f /tmp/text /tmp/go
	mkfifo /tmp/text /tmp/go
	{ read -r word < /tmp/go; cat > /tmp/s.txt; } < /tmp/text &
	local reader=$!
	timeout 120 weft stream -B guest -b 32 -F -c -e raw_syscalls -- \
		sh -c 'dd if=/dev/zero of=/dev/null bs=1 count=40000 2> /dev/null; echo > /tmp/go' > /tmp/text 2> /tmp/s.err
	check "a stream whose reader slept ends well" status_is $? 0 /tmp/s.err
	wait $reader
	cat /tmp/s.err
	check "printed and lost are the kernel's counts" equal "$(told /tmp/s.txt)" "$(counted)"
	check "there were losses" matches /tmp/s.txt '^CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]$'
	rmdir $T/instances/guest
	unchanged "tracefs is as it was before both readers"
}
