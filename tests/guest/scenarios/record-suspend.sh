# SPDX-License-Identifier: GPL-2.0-only
# The machine is suspended to RAM while weft records, until an alarm of its clock wakes it. The time of day is right on
# both sides, as clock_gettime() said it (tests/guest/instants.c). The directory of the host does not live through the
# suspend, but the disk does: it carries the files to the next kernel, which reads them (tests/guest/run boots it).

# asleep: what the recorded command does; it must not touch the directory of the host
asleep() {
	cat > /tmp/asleep.sh <<-'END'
	instants before1
	sleep 0.2
	instants before2
	# An alarm that rings before the machine sleeps counts as a wakeup, and the suspend fails.
	until cat /sys/power/wakeup_count > /tmp/count && cat /tmp/count > /sys/power/wakeup_count &&
		echo +30 > /sys/class/rtc/rtc0/wakealarm && echo mem > /sys/power/state; do
		echo 0 > /sys/class/rtc/rtc0/wakealarm
		sleep 1
	done
	instants after1
	sleep 0.5
	instants after2
	sleep 0.5
	instants after3
	END
	set --
	for clock in local mono boot; do
		set -- "$@" -B $clock -C $clock -e syscalls:sys_enter_getsid -e power:suspend_resume
	done
	mkdir -p /tmp/slept
	weft record -o /tmp/slept/r.dat "$@" -- sh /tmp/asleep.sh > /tmp/slept/truth 2> /tmp/slept/err
	echo $? > /tmp/slept/status
	tar -cf /dev/vda -C /tmp slept
	sync
	echo o > /proc/sysrq-trigger
	sleep 60
}

# ns WALL: a time of the JSON in ns since 1970
ns() {
	local text=${1%Z}

	echo "$(date -u -d "$(echo "${text%.*}" | tr T ' ')" +%s)${text#*.}"
}

# told CLOCK EVENT: the times of day of these events, in ns
told() {
	local wall

	weft report --time utc --format json -B $1 -e $2 /tmp/slept/r.dat 2> /dev/null | sed 's/.*"wall":"\([^"]*\).*/\1/' |
		while read -r wall; do ns "$wall"; done
}

# near CLOCK SPARE: each call was between the times that the program saw, give or take SPARE ns
near() {
	told $1 syscalls:sys_enter_getsid > /tmp/told
	equal "$(wc -l < /tmp/told)" 5 || return
	paste /tmp/told /tmp/slept/truth | while read -r is name before after rest; do
		[ $((before - is)) -le $2 ] && [ $((is - after)) -le $2 ] || echo "$name: told $is, was from $before to $after"
	done > /tmp/away
	equal "$(cat /tmp/away)" ""
}

# apart CLOCK: the steps of the suspend are before the sleep, and those of the resume behind it
apart() {
	local until=$(sed -n 's/^before2 [0-9]* \([0-9]*\) .*/\1/p' /tmp/slept/truth)
	local middle=$((until + slept / 2))
	local steps=$(told $1 power:suspend_resume | awk -v middle=$middle '{ print ($1 < middle ? "before" : "after") }' | uniq -c)

	# The machine was asleep at the end of machine_suspend.
	echo "$1:" $steps
	set -- $steps
	equal "$2 $4 $#" "before after 4" && more $1 10 && more $3 10
}

scenario() {
	local info slept awake clock

	grep -qw deep /sys/power/mem_sleep && [ -e /sys/class/rtc/rtc0/wakealarm ] && [ -b /dev/vda ] && [ -d $T/events/syscalls ] ||
		{ skip everything "this machine cannot be suspended to RAM, or woken again"; return; }
	if ! tar -xf /dev/vda -C /tmp slept 2> /dev/null; then
		# The emulator may miss the alarm when the host is very busy.
		echo try >> /host/suspended
		if [ $(wc -l < /host/suspended) -gt 3 ]; then
			rm /host/suspended
			fail "the machine wakes up again"
			return
		fi
		echo > /host/reboot
		asleep
	fi
	dd if=/dev/zero of=/dev/vda bs=4k count=4 2> /dev/null
	rm -f /host/suspended
	cat /tmp/slept/truth /tmp/slept/err
	check "the recording lives through the suspend" status_is $(cat /tmp/slept/status) 0 /tmp/slept/err
	slept=$(awk '/^before2/ { is = $5 - $4 } /^after1/ { printf "%.0f", $5 - $4 - is }' /tmp/slept/truth)
	check "the machine slept" more $slept 5000000000
	weft info /tmp/slept/r.dat > /tmp/info
	cat /tmp/info
	for clock in local mono boot; do weft info --setting weft/clocks -B $clock /tmp/slept/r.dat; done
	info=$(sed -n 's/^  the machine slept \([0-9]*\)\.\([0-9]*\) s until .*/\1\2/p' /tmp/info)
	check "info tells the sleep of each of the three buffers" equal "$(echo $info | wc -w)" 3
	for awake in $info; do
		check "info tells how long it was" [ $((awake - slept / 10000000)) -le 2 -a $((slept / 10000000 - awake)) -le 2 ]
	done
	# The clocks mono and boot run as the time of day does, and the bound of 10 us is that of a slow emulator. local was
	# sampled once before the suspend, and the emulator's TSC is not that of the kernel.
	check "mono: all calls have the right time of day" near mono 10000
	check "boot: all calls have the right time of day" near boot 10000
	check "local: all calls have the right time of day" near local 20000000
	for clock in local mono boot; do
		check "$clock: the steps of the suspend are before the sleep, those of the resume behind it" apart $clock
	done
}
