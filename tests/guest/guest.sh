#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs inside the guest: the scenarios named in /host/scenarios.list, one after another, each in a shell of its own and
# with tracefs as after boot. Results go to /host/results, files that a failure left behind to /host/out/SCENARIO/.
# `guest.sh SCENARIO` runs one.
export PATH=/usr/bin:/bin HOME=/tmp
T=/sys/kernel/tracing
. /host/lib.sh
. /host/compare.sh

if [ $# = 1 ]; then
	S=$1 OUT=/tmp/out/$1
	mkdir -p "$OUT"
	. "/host/scenarios/$S.sh"
	case $S in
	record-*)
		if ! has_command record; then
			skip "everything" "weft has no record yet"
			exit 0
		fi
		;;
	esac
	scenario > "$OUT/log" 2>&1
	exit 0
fi

# left: sets $left to the processes that a scenario has left running; threads of the kernel have no command line
left() {
	local dir line

	left=''
	for dir in /proc/[0-9]*; do
		line=''
		read -r line < "$dir/cmdline"
		[ -z "$line" ] || [ "$dir" = /proc/1 ] || [ "$dir" = "/proc/$$" ] || left="$left ${dir#/proc/}"
	done 2> /dev/null
}

# end_left: ends these processes
end_left() {
	local tries=0

	left
	while [ -n "$left" ] && [ $((tries += 1)) -le 20 ]; do
		[ $tries -lt 10 ] && kill $left 2> /dev/null || kill -9 $left 2> /dev/null
		sleep 0.5
		left
	done
}

cat $T/trace_options > /tmp/options.boot
# Copied once: no module is loaded or unloaded after boot, and on 6.1 these symbols have 15 MB.
cat /proc/kallsyms > /tmp/kallsyms
chmod 755 /bin /bin/busybox /usr /usr/bin / 2> /dev/null
[ -d /host/spare ] && cp /tmp/kallsyms /host/spare/kallsyms
NCPU=$(nproc)
uname -r > /host/release
for s in $(cat /host/scenarios.list); do
	# A scenario with a guest of its own starts with the settings of its kernel's command line.
	grep -q '^# kernel: ' "/host/scenarios/$s.sh" || reset 2> /dev/null
	echo "weft-guest: $s $(cut -d' ' -f1 /proc/uptime)"
	# A scenario with "# limit:" may take longer.
	limit=$(sed -n 's/^# limit: //p' "/host/scenarios/$s.sh")
	timeout -k 5 "${LIMIT:-${limit:-240}}" sh /host/guest.sh "$s"
	status=$?
	[ $status = 0 ] || result "not ok $s: scenario ends (status $status)"
	end_left
	mkdir -p /host/out
	[ -d /tmp/out/$s ] && cp -r /tmp/out/$s /host/out/
	# No scenario finds the files of another one, whichever ran before it.
	find /tmp -mindepth 1 -maxdepth 1 ! -name '*.boot' ! -name kallsyms ! -name 'settings*.list' -exec rm -rf {} +
	echo "done $s" >> /host/results
done
grep -q '^# kernel: ' "/host/scenarios/$s.sh" || reset 2> /dev/null
echo "weft-guest: end $(cut -d' ' -f1 /proc/uptime)"
sync
