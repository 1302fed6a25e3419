# SPDX-License-Identifier: GPL-2.0-only
# Machines that are set up in unusual ways: each is recorded, or refused with a reason.
reads() { weft report /tmp/r.dat 2> /tmp/r.err | grep -c "$READS"; }

# recorded WHAT: checks that 500 calls of read() are 500 events
recorded() {
	timeout 60 weft record -o /tmp/r.dat -F -e raw_syscalls:sys_enter -- dd if=/dev/zero of=/dev/null bs=1 count=500 > /tmp/r.out 2> /tmp/r.err
	check "$1: it is recorded" status_is $? 0 /tmp/r.err
	check "$1: each call is there" equal "$(reads)" 500
	check "$1: report has nothing to say" equal "$(head -c 300 /tmp/r.err)" ""
}

# refused WHAT REGEX OPTION...: checks that one line says why
refused() {
	local what="$1" regex="$2"

	shift 2
	timeout 60 weft record -o /tmp/r.dat "$@" > /tmp/r.out 2> /tmp/r.err
	check "$what: it is refused" status_is $? 125 /tmp/r.err
	check "$what: in one line" equal "$(wc -l < /tmp/r.err)" 1
	check "$what: which says why" matches /tmp/r.err "$regex"
}

# said WHAT COMMAND...: checks that another command says so, too
said() {
	local what="$1"

	shift
	timeout 60 "$@" > /tmp/s.out 2> /tmp/s.err
	check "$what: it is refused" more "$?" 0
	check "$what: for the same reason" matches /tmp/s.err 'ftrace_enabled'
}

functions_off() {
	echo 0 > /proc/sys/kernel/ftrace_enabled 2> /dev/null || return
	recorded "ftrace_enabled=0"
	if has_tracer function; then
		refused "ftrace_enabled=0, functions" 'ftrace_enabled' -p function -- true
		[ ! -e $T/function_profile_enabled ] || said "ftrace_enabled=0, profile-functions" weft profile-functions -- true
		[ ! -e $T/stack_trace ] || said "ftrace_enabled=0, stack" weft stack start
		check "ftrace_enabled=0: it is as it was" equal "$(cat /proc/sys/kernel/ftrace_enabled)" 0
	fi
	echo 1 > /proc/sys/kernel/ftrace_enabled
}

addresses_hidden() {
	local old=$(cat /proc/sys/kernel/kptr_restrict)

	echo 2 > /proc/sys/kernel/kptr_restrict
	recorded "kptr_restrict=2"
	weft doctor > /tmp/doctor 2>&1
	check "kptr_restrict=2: doctor says what is hidden" matches /tmp/doctor '^lacks +symbols .*kptr_restrict=2'
	echo $old > /proc/sys/kernel/kptr_restrict
}

no_types() {
	[ -e /sys/kernel/btf/vmlinux ] || { skip "no BTF" "this kernel has none: every scenario shows it"; return; }
	mount -t tmpfs none /sys/kernel/btf
	recorded "no BTF"
	umount /sys/kernel/btf
}

elsewhere() {
	umount $T || { skip "tracefs elsewhere" "it is in use"; return; }
	mkdir -p /tmp/elsewhere
	mount -t tracefs nodev /tmp/elsewhere
	recorded "tracefs elsewhere"
	check "tracefs elsewhere: nothing is left there" equal "$(ls /tmp/elsewhere/instances)" ""
	check "tracefs elsewhere: and none was mounted besides" equal "$(grep -c ' tracefs ' /proc/mounts)" 1
	umount /tmp/elsewhere
	rmdir /tmp/elsewhere
	mount -t tracefs nodev $T
}

read_only() {
	mount -o remount,ro $T
	refused "tracefs read-only" "read-only" -e raw_syscalls -- true
	weft doctor > /tmp/doctor 2>&1
	check "tracefs read-only: doctor says so" matches /tmp/doctor '^BAD .*Read-only file'
	mount -o remount,rw $T
}

# The group may read everything and write nothing.
of_a_group() {
	chmod 1777 /tmp
	mount -o remount,gid=65534,mode=750 $T
	rm -f /tmp/r.dat
	(cd /tmp && su -s /bin/sh nobody -c 'weft record -o /tmp/n.dat -e sched -- true' > /tmp/r.out 2> /tmp/r.err)
	check "tracefs of one's group: a recording is refused" status_is $? 125 /tmp/r.err
	check "tracefs of one's group: in one line" equal "$(wc -l < /tmp/r.err)" 1
	check "tracefs of one's group: which says why" matches /tmp/r.err '[Pp]ermission denied'
	mount -o remount,gid=0,mode=700 $T
}

no_latencies() {
	local tracer

	for tracer in wakeup irqsoff; do
		has_tracer $tracer || refused "no $tracer tracer" 'CONFIG_(SCHED|IRQSOFF)_TRACER' -p $tracer -- true
	done
}

scenario() {
	reads_of_a_byte
	remember
	functions_off
	addresses_hidden
	no_types
	elsewhere
	read_only
	of_a_group
	no_latencies
	recorded "after all that"
	unchanged
}
