# SPDX-License-Identifier: GPL-2.0-only
# Somebody unmounts tracefs while weft records or streams: the traced events are saved, and every setting is restored.
I=$T/instances/guest
reads() { grep -c "$READS" "$1"; }

# unmount DIRECTORY [COMMAND]: the workload; it runs COMMAND after the unmounting
unmount() {
	cat > /tmp/unmount.sh <<-END
	dd if=/dev/zero of=/dev/null bs=1 count=500 2> /dev/null
	umount -l $1
	${2:-:}
	dd if=/dev/zero of=/dev/null bs=1 count=500 2> /dev/null
	END
}

# back WHAT: checks that the mount is as its user left it; then mounts tracefs again, with its settings restored
back() {
	check "$1: tracefs is not mounted, as its user wanted" test ! -e $T/tracing_on
	mount -t tracefs nodev $T
	unchanged "$1: everything was put back"
	check "$1: no journal is left" equal "$(ls /run/weft | grep -c undo)" 0
}

# nowhere: the directory does not exist any more, so tracefs cannot be mounted again
nowhere() {
	umount $T
	mkdir /tmp/tracefs
	mount -t tracefs nodev /tmp/tracefs
	unmount /tmp/tracefs 'rmdir /tmp/tracefs'
	timeout 60 weft record -F -c -e sched:sched_process_exit -B guest -e raw_syscalls -o /tmp/r.dat -- sh /tmp/unmount.sh 2> /tmp/r.err
	check "nowhere: it is a failure" status_is $? 125 /tmp/r.err
	cat /tmp/r.err
	check "nowhere: weft says what is wrong, and what helps" matches /tmp/r.err "tracefs was unmounted from '/tmp/tracefs'.*'weft reset'"
	mount -t tracefs nodev $T
	weft reset > /tmp/reset.txt 2>&1
	check "nowhere: weft reset puts it back" status_is $? 0 /tmp/reset.txt
	unchanged "nowhere: everything was put back"
	(cd /tmp && [ -e r.dat ] || weft recover r.dat) > /tmp/recover.txt 2>&1
	weft report /tmp/r.dat > /tmp/r.txt 2> /tmp/r.err
	check "nowhere: nothing that was traced is missing" equal "$(reads /tmp/r.txt)" 1000
}

scenario() {
	reads_of_a_byte
	mkdir $I
	unmount $T
	remember
	timeout 60 weft record -F -c -B guest -e raw_syscalls -o /tmp/r.dat -- sh /tmp/unmount.sh 2> /tmp/r.err
	check "a recording goes on without tracefs" status_is $? 0 /tmp/r.err
	cat /tmp/r.err
	back record
	text
	check "record: nothing is missing" equal "$(reads /tmp/r.txt)" 1000
	timeout 60 weft stream -F -c -e raw_syscalls -- sh /tmp/unmount.sh > /tmp/s.txt 2> /tmp/s.err
	check "a stream goes on without tracefs" status_is $? 0 /tmp/s.err
	cat /tmp/s.err
	back stream
	check "stream: nothing is missing" equal "$(reads /tmp/s.txt)" 1000
	if [ -e $T/events/raw_syscalls/sys_enter/hist ]; then
		timeout 60 weft hist -F -c raw_syscalls:sys_enter --keys id -- sh /tmp/unmount.sh > /tmp/h.txt 2> /tmp/h.err
		check "so does a histogram" status_is $? 0 /tmp/h.err
		cat /tmp/h.err /tmp/h.txt
		back hist
	else
		skip "a histogram" "this kernel has no histograms"
	fi
	nowhere

	weft start -B guest -e sched -b 64 2> /tmp/s.err
	umount -l $T
	weft reset > /tmp/reset.txt 2>&1
	check "weft reset mounts it" status_is $? 0 /tmp/reset.txt
	[ -e $T/tracing_on ] || mount -t tracefs nodev $T
	unchanged "start: everything was put back"
	rmdir $I
}
