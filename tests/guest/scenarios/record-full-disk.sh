# SPDX-License-Identifier: GPL-2.0-only
# The metadata, which weft writes before the first event, has 2 MB on 7.3.
scenario() {
	mkdir -p /tmp/small
	mount -t tmpfs -o size=3m small /tmp/small
	remember
	timeout 60 weft record -o /tmp/small/r.dat -e sched -e irq -e syscalls --compression none --duration 60s > /dev/null 2> /tmp/r.err &
	local pid=$! i=0
	while kill -0 $pid 2> /dev/null && [ $i -lt 1000 ]; do
		i=$((i + 1))
		load
	done
	wait $pid
	check "a full disk fails the recording" status_is $? 125 /tmp/r.err
	check "and is named" matches /tmp/r.err 'No space left|the only disk space left|ENOSPC'
	unchanged
	ls -la /tmp/small > /tmp/small.ls
	if [ -e /tmp/small/r.dat ]; then
		cp /tmp/small/r.dat /tmp/r.dat
		weft report /tmp/r.dat > /tmp/r.txt 2> /tmp/r2.err
		check "what was saved is readable" matches /tmp/r.txt 'sched_switch: prev_comm='
	else
		cp -r /tmp/small /tmp/big
		(cd /tmp/big && weft recover r.dat > /dev/null 2> /tmp/r2.err)
		check "what was saved can be recovered" status_is $? 0 /tmp/r2.err
	fi
	umount /tmp/small
}
