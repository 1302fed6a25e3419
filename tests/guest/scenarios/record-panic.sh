# SPDX-License-Identifier: GPL-2.0-only
# The kernel crashes in the middle of a recording; the next kernel (tests/guest/run boots it with the same disk) reads
# the files on the disk. Without ext4 the disk is that of the host, where written data survives without a sync.
place() {
	mkdir -p /tmp/disk
	if [ "$1" = new ]; then
		/usr/bin/mke2fs -q -F -t ext4 /dev/vda >&2
	fi
	if mount -t ext4 /dev/vda /tmp/disk; then
		echo /tmp/disk
	else
		mkdir -p /host/disk
		echo /host/disk
	fi
}

die() {
	local disk=$(place new 2> /host/place)

	cat /host/place
	cat > /tmp/die.sh <<-END
	dd if=/dev/zero of=/dev/null bs=1 count=1000 2> /dev/null
	# Longer than the time of --sync.
	sleep 5
	dd if=/dev/zero of=/dev/null bs=2 count=10000 2> /dev/null
	echo \$\$ > /host/panicked
	echo > /host/reboot
	echo c > /proc/sysrq-trigger
	END
	timeout 100 weft record --sync 1s -o $disk/r.dat -F -c -e raw_syscalls:sys_enter -- sh /tmp/die.sh
	fail "the kernel dies when it is told to"
}

scenario() {
	[ -e /proc/sysrq-trigger ] || { skip everything "this kernel cannot be told to die"; return; }
	[ -e /host/panicked ] || { die; return; }
	local disk=$(place)

	reads_of_a_byte
	cat /host/place
	rm /host/panicked /host/place
	ls -laR $disk
	(cd $disk && timeout 100 weft recover r.dat -o /tmp/r.dat) > /tmp/c.out 2> /tmp/c.err
	check "after a panic there is something to recover" status_is $? 0 /tmp/c.err
	cat /tmp/c.err
	text
	whole
	check "all that is older than --sync is there" equal "$(grep -c "$READS" /tmp/r.txt)" 1000
	umount /tmp/disk 2> /dev/null
	rm -rf /host/disk
}
