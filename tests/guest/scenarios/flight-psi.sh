# SPDX-License-Identifier: GPL-2.0-only
# weft flight: pressure of the machine and of a cgroup is a trigger, when the kernel's own totals have grown as was asked.
# total FILE: microseconds in which some task waited
total() { sed -n 's/^some.*total=//p' "$1"; }
# press NAME FILE COMMAND...: runs the load until the condition NAME was met, and compares the kernel's totals
press() {
	local name=$1 file=$2 before loads='' i
	shift 2
	before=$(total "$file")
	for i in 1 2 3 4 5 6; do
		"$@" sh -c 'while :; do :; done' &
		loads="$loads $!"
	done
	await "ls /tmp/flight/*-$name.json"
	check "the pressure of $name has grown by what was asked for" more "$(($(total "$file") - before))" 99999
	kill $loads
	wait $loads
	check "the marker of $name has the kernel's text" matches /tmp/flight.out "$name\.dat: some avg10=[0-9.]+ .*total=[0-9]+"
}
inside() { exec sh -c 'echo $$ > /tmp/cgroup/pressed/cgroup.procs; exec "$@"' sh "$@"; }

scenario() {
	has_command flight || { skip "pressure" "weft has no flights yet"; return; }
	[ -n "$(cat /proc/pressure/cpu 2> /dev/null)" ] || { skip "pressure" "this kernel measures none"; return; }
	remember
	mkdir -p /tmp/cgroup /tmp/flight
	mount -t cgroup2 none /tmp/cgroup && mkdir -p /tmp/cgroup/pressed
	set -- --when 'machine=psi:cpu some 100ms/1s'
	[ ! -e /tmp/cgroup/pressed/cpu.pressure ] || set -- "$@" --when 'group=psi:/tmp/cgroup/pressed/cpu.pressure some 100ms/1s'
	rm -f /tmp/flight/*
	weft flight start -o /tmp/flight -e sched:sched_process_exec --after 100ms "$@" > /tmp/flight.out 2>&1 &
	flight=$!
	await "grep -q 'has begun' /tmp/flight.out || ! kill -0 $flight"
	press machine /proc/pressure/cpu env
	if [ -e /tmp/cgroup/pressed/cpu.pressure ]; then
		press group /tmp/cgroup/pressed/cpu.pressure inside
	else
		skip "the pressure of a cgroup" "no cpu.pressure"
	fi
	kill -TERM $flight
	wait $flight
	check "it ends with status 0" status_is $? 0 /tmp/flight.out
	unchanged "conditions on pressure leave nothing behind"
	rmdir /tmp/cgroup/pressed
	umount /tmp/cgroup
}
