# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	chmod 1777 /tmp
	(cd /tmp && su -s /bin/sh nobody -c 'weft record -e sched -- ls' > /tmp/r.out 2> /tmp/r.err)
	check "without the right to trace nothing is recorded" status_is $? 125 /tmp/r.err
	check "one message says so" equal "$(wc -l < /tmp/r.err)" 1
	check "and how to get it" matches /tmp/r.err 'as root.*gid='
}
