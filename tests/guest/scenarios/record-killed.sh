# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	mkdir -p /tmp/k
	remember
	weft record -o /tmp/k/r.dat -b 64 -e sched -e irq -e syscalls 2> /tmp/k/err &
	local pid=$!
	# Waits until pages are on the disk.
	await 'load; find /tmp/k -type f ! -name metadata -size +32k | grep -q .'
	find /tmp/k -type f -exec ls -l {} \;
	kill -9 $pid
	wait $pid 2> /dev/null
	(cd /tmp/k && ls -la > /tmp/k.ls && weft recover r.dat > /tmp/k.out 2> /tmp/k.err)
	check "weft recover rebuilds what a killed recording left" status_is $? 0 /tmp/k.err
	mv /tmp/k/r.dat /tmp/r.dat
	text
	check "it has events" matches /tmp/r.txt ': sched_switch: prev_comm='
	whole
	peers
	check "no part is left behind" equal "$(ls -A /tmp/k | grep -v err)" ""
	unchanged "tracefs is as it was before the recording that was killed"
}
