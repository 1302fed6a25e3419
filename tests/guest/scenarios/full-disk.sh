# SPDX-License-Identifier: GPL-2.0-only
# Every command that writes reports a full disk and destroys no existing file (record-full-disk has a recording that
# fills a disk).
D=/tmp/small
WHY='No space left on device'

# fill KIBIBYTES: fills the disk except for this size
fill() {
	rm -rf $D/*
	dd if=/dev/zero of=$D/zero bs=4k 2> /dev/null
	[ "$1" = 0 ] || truncate -s $((64 - $1))k $D/zero
}

# full WHAT COMMAND...: the command fails and says why
full() {
	local what="$1" status

	shift
	"$@" > /tmp/f.out 2> /tmp/f.err
	status=$?
	check "$what: fails on a full disk" test $status != 0
	check "$what: says why" matches /tmp/f.err "$WHY|are free|the disk is full"
	cat /tmp/f.err
}
# texts WHAT COMMAND...: the command writes into a file for which there is no room
texts() {
	local what="$1"

	shift
	fill 0
	full "$what" sh -c 'f=$1; shift; exec "$@" > $f' sh $D/f "$@"
}
entries() { cat $T/per_cpu/cpu*/stats | awk '/^entries/ { n += $2 } END { print n + 0 }'; }

# Commands that print.
prints() {
	local format

	texts report weft report /tmp/r.dat
	for format in trace_pipe json pretty; do
		texts "report --format $format" weft report --format $format /tmp/r.dat
	done
	texts "report --stored" weft report --stored trace_options /tmp/r.dat
	texts info weft info /tmp/r.dat
	texts check weft check /tmp/r.dat
	texts list weft list events
	texts "list formats" weft list formats
	texts show weft show available_events
	texts "show one line" weft show current_tracer
	texts stat weft stat --full
	texts "pack --script" weft pack --script
	texts stream timeout 60 weft stream -q -F -e sched -e raw_syscalls -- ls -l /bin
	if [ -e $T/events/sched/sched_switch/hist ]; then
		texts hist weft hist --format kernel sched:sched_switch --keys next_pid -- ls -l /bin
	else
		skip "hist" "this kernel has no histograms"
	fi
	[ ! -e "$T/function_profile_enabled" ] || texts profile-functions weft profile-functions -l 'vfs_*' -- ls -l /bin
}

# Commands that make files.
files() {
	local before

	fill 8
	full record weft record -q -o $D/x.dat -e sched -- true
	fill 0
	full "record without any room" weft record -q -o $D/x.dat -e sched -- true
	check "record without any room: nothing is left behind" equal "$(ls $D)" zero
	fill 32
	set_to $T/events/sched/enable 1
	load
	set_to $T/tracing_on 0
	before=$(entries)
	full extract weft extract -o $D/x.dat
	check "extract: has taken nothing out of the kernel" equal "$(entries)" "$before"
	check "extract: has left nothing behind" equal "$(ls $D)" zero
	set_to $T/events/sched/enable 0
	if [ -e $T/snapshot ]; then
		weft snapshot take
		texts "snapshot show" weft snapshot show
	fi
	set_to $T/tracing_on 1

	weft pack --script > /tmp/copy.sh
	SYMBOLS=no SYSTEMS=sched sh /tmp/copy.sh /tmp/copy > /dev/null 2>&1
	fill 8
	full pack weft pack -q --compression none -o $D/x.dat /tmp/copy
	check "pack: has left nothing behind" equal "$(ls $D)" zero

	# A killed recording for which there is no room keeps its parts.
	fill 32
	weft record -q -o /tmp/k.dat -e raw_syscalls -- sh -c 'ls -lR /sys/kernel/tracing/events > /dev/null; kill -9 $PPID'
	full recover weft recover /tmp/k.dat -o $D/k.dat
	weft recover /tmp/k.dat -o /tmp/r.dat > /dev/null 2> /tmp/f.err
	check "recover: still has the parts" status_is $? 0 /tmp/f.err
	whole
}

# The journal: if the old value of a setting cannot be noted, the setting is not changed.
journals() {
	mkdir -p /run/weft
	mount -t tmpfs -o size=16k,mode=700 small /run/weft
	dd if=/dev/zero of=/run/weft/zero bs=4k 2> /dev/null
	remember
	full start weft start -e sched:sched_switch -b 128
	unchanged "start: has changed nothing"
	full "record -B" weft record -q -o /tmp/x.dat -B guest -e sched -- true
	unchanged "record -B: has changed nothing"
	full "snapshot --on" weft snapshot --on sched:sched_switch
	full probe weft probe add 'p:guest do_sys_openat2'
	unchanged "snapshot, probe: have changed nothing"
	umount /run/weft
}

scenario() {
	mkdir -p $D
	mount -t tmpfs -o size=64k small $D
	mkdir $T/instances/guest
	weft record -q -o /tmp/r.dat -e sched -e raw_syscalls -- sh -c 'ls -l /bin > /dev/null; ls -lR /sys/kernel/tracing/events/sched > /dev/null'
	prints
	files
	journals
	umount $D
}
