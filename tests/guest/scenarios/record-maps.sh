# SPDX-License-Identifier: GPL-2.0-only
# User stacks with the mapped files, of processes that have ended when the text is made. For a process that lives only a
# few milliseconds, it is chance whether its maps can be read.
scenario() {
	# The text is as the kernel prints it for a living process.
	mkdir $T/instances/maps
	echo 1 > $T/instances/maps/options/userstacktrace
	echo 1 > $T/instances/maps/options/sym-userobj
	echo "common_pid == $$" > $T/instances/maps/events/syscalls/sys_enter_openat/filter
	echo 1 > $T/instances/maps/events/syscalls/sys_enter_openat/enable
	read -r line < /proc/version
	echo 0 > $T/instances/maps/tracing_on
	cat $T/instances/maps/trace > /tmp/want.txt
	cat "/proc/$$/maps" > /tmp/maps.txt
	weft extract -q -B maps -o /tmp/m.dat
	weft report -B maps /tmp/m.dat > /tmp/m.txt
	same "the report of an extraction equals the kernel's text with sym-userobj" /tmp/want.txt /tmp/m.txt
	echo 0 > $T/instances/maps/events/enable
	rmdir $T/instances/maps

	remember
	record "weft records user stacks" 0 -e syscalls:sys_enter_openat -O userstacktrace -O sym-userobj -F -c -- \
		sh -c 'for i in 1 2 3 4; do read -r line < /proc/version; usleep 100000; done'
	unchanged
	text
	case $(uname -m) in
	i?86) skip "user stacks name the file" "programs enter the kernel of i386 from the vDSO, which is no file" ;;
	*)
		if grep -q '<user stack trace>' /tmp/want.txt; then
			check "user stacks name the file" matches /tmp/r.txt '^ => /.*busybox\[\+0x[0-9a-f]+\]$'
		else
			skip "user stacks name the file" "this kernel takes the option, and records no user stacks"
		fi
		;;
	esac
	text -O nosym-userobj
	check "without the option they have addresses" lacks /tmp/r.txt '\[\+0x'
}
