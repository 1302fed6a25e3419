# SPDX-License-Identifier: GPL-2.0-only
# The kernel's lockdown cannot be lifted, but the next guest has none.
scenario() {
	local file=/sys/kernel/security/lockdown

	mount -t securityfs none /sys/kernel/security 2> /dev/null
	[ -e $file ] || { skip everything "this kernel has no lockdown"; return; }
	reads_of_a_byte
	remember
	echo integrity > $file
	record "integrity: events are recorded" 0 -F -e raw_syscalls:sys_enter -- dd if=/dev/zero of=/dev/null bs=1 count=500
	text
	check "integrity: each call is there" equal "$(grep -c "$READS" /tmp/r.txt)" 500
	unchanged "integrity: nothing is left"
	weft doctor > /tmp/doctor 2>&1
	check "integrity: doctor says so" matches /tmp/doctor '^ok +lockdown +integrity'

	echo confidentiality > $file
	timeout 60 weft record -o /tmp/c.dat -e raw_syscalls -- true > /tmp/r.out 2> /tmp/r.err
	check "confidentiality: a recording is refused" status_is $? 125 /tmp/r.err
	check "confidentiality: in one line" equal "$(wc -l < /tmp/r.err)" 1
	check "confidentiality: which says why" matches /tmp/r.err 'lockdown|locked down'
	weft doctor > /tmp/doctor 2>&1
	check "confidentiality: doctor's status is that of bad news" equal $? 1
	check "confidentiality: doctor says so" matches /tmp/doctor '^BAD +lockdown +confidentiality'

	result "done $S"
	echo > /host/reboot
	sync
	reboot -f
	sleep 100
}
