#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft in namespaces of its own, as in a container: its PIDs, times, mounts and users are not those of the kernel's events.
load lib

setup()
{
	need_tracefs
	need_command unshare
	cd "$BATS_TEST_TMPDIR" || exit 1
	T=/sys/kernel/tracing
	instances=$(ls $T/instances) # of others
	# Executes three programs: the shell and two others.
	three='/bin/true; /bin/true; :'
}

teardown()
{
	[ -z "${pid:-}" ] || { kill -INT $pid && wait $pid; } 2> /dev/null || true
}

need_pid_namespace()
{
	unshare -p -f --mount-proc true 2> /dev/null || skip "no PID namespaces here"
}

# start: a recording outside of the namespaces; $pid is its process.
start()
{
	weft record "$@" 2> live.err 3>&- &
	pid=$!
	await_tracing $pid
}

@test "containers: record -F, stream -F and syscalls trace the command in a PID namespace" {
	need_pid_namespace
	unshare -p -f --mount-proc weft record -q -F -c -e sched_process_exec -o n.dat -- sh -c "$three"
	[ "$(weft report n.dat | grep -c ': sched_process_exec: ')" = 3 ]
	# With the /proc of the host, whose PIDs are others.
	unshare -p -f weft record -q -F -c -e sched_process_exec -o n.dat -- sh -c "$three"
	[ "$(weft report n.dat | grep -c ': sched_process_exec: ')" = 3 ]
	[ "$(unshare -p -f --mount-proc weft stream -q -F -c -e sched_process_exec -- sh -c "$three" | grep -c ': sched_process_exec: ')" = 3 ]
	unshare -p -f --mount-proc weft syscalls --format csv -- dd if=/dev/zero of=/dev/null bs=1 count=100 status=none > calls
	grep -q '^write,.*\b100\b' calls
	[ -z "$(new_instances "$instances")" ]
}

@test "containers: the file names weft's own threads by the kernel's PIDs" {
	need_pid_namespace
	# So many events that recorders wake up while the command runs.
	unshare -p -f --mount-proc weft record -q -e sched -e raw_syscalls -o n.dat -- dd if=/dev/zero of=/dev/null bs=1 count=50000 status=none
	weft report --self n.dat > all
	weft report --no-self n.dat > others
	# The main thread of weft and its recorders; the process that will be the command may have this name, too.
	diff all others | grep '^< ' > ours
	grep -q '^<  *weft-[0-9]' ours
	[ -z "$(grep -v '^<  *weft-[0-9]' ours)" ]
	# In the namespace weft has PID 1, which is another task in the kernel's events.
	[ -z "$(grep '^ *weft-1 ' all)" ]
}

@test "containers: -P takes no PID of a PID namespace, and the message says what does" {
	need_pid_namespace
	run -125 unshare -p -f --mount-proc sh -c 'sleep 60 & weft record -P $! -e sched -o n.dat -- true; status=$?; kill $!; exit $status'
	[[ "$output" == *"weft runs in a PID namespace"*"-F -c -- COMMAND"* ]]
	[ ! -e n.dat ]
	[ -z "$(new_instances "$instances")" ]
}

@test "containers: a live recording of the host is not called killed in a PID or time namespace" {
	need_pid_namespace
	start -e sched_process_exec -o live.dat
	size=$(cat $T/saved_cmdlines_size)
	for how in "-p -f --mount-proc" "-T --boottime 100000 -f"; do
		# shellcheck disable=SC2086
		unshare $how true 2> /dev/null || continue
		# shellcheck disable=SC2086
		run -0 unshare $how weft stat
		# Earlier tests may have left something that was killed.
		[[ "$output" != *"weft (process $pid) was"* ]]
		for command in "record -o n.dat" stream; do
			# shellcheck disable=SC2086
			run -0 unshare $how weft $command -e sched_process_exec -- true
			[[ "$output" != *killed*"process $pid"* ]]
		done
		# shellcheck disable=SC2086
		run -0 unshare $how weft reset
		# The size that the live recording asked for is still there, and so is its instance.
		[ "$(cat $T/saved_cmdlines_size)" = "$size" ]
		[ -d $T/instances/weft-$pid ]
	done
	/bin/true
	kill -INT $pid
	wait $pid
	pid=
	weft check live.dat
	[[ "$(weft report live.dat)" == *"filename=/bin/true"* ]]
}

@test "containers: an instance that the host records is in use in a PID namespace, too" {
	need_pid_namespace
	mkdir $T/instances/weft-test-shared
	weft record -B weft-test-shared -e sched_process_exec -o live.dat 2> live.err 3>&- &
	pid=$!
	until [ -n "$(ls $T/per_cpu)" ] && [ "$(cat $T/instances/weft-test-shared/events/sched/sched_process_exec/enable)" = 1 ]; do
		kill -0 $pid
		sleep 0.02
	done
	run -125 unshare -p -f --mount-proc weft record -B weft-test-shared -e sched -o n.dat -- true
	kill -INT $pid
	wait $pid
	pid=
	rmdir $T/instances/weft-test-shared
	[[ "$output" == *"is in use: 'weft record -B weft-test-shared"* ]]
}

@test "containers: a killed recording is found from a PID namespace" {
	need_pid_namespace
	start -e sched_process_exec -o live.dat
	kill -9 $pid
	wait $pid || true
	run -0 unshare -p -f --mount-proc weft stat
	[[ "$output" == *"was killed and left behind "[12]" instance"* ]]
	unshare -p -f --mount-proc weft reset
	# The other one is that in which its clock was sampled.
	[ ! -e $T/instances/weft-$pid ]
	[ ! -e $T/instances/weft-$pid-2 ]
	pid=
}

@test "containers: without /proc or /sys the message says which is not mounted" {
	need_mounts
	run -125 unshare -m sh -c 'umount -l /proc && exec weft record -e sched -o n.dat -- true'
	[[ "$output" == *"/proc is not mounted"* ]]
	run -125 unshare -m sh -c 'umount -l /sys && exec weft record -e sched -o n.dat -- true'
	[[ "$output" == *"/sys is not mounted"* ]]
	# tracefs bind-mounted elsewhere: weft finds it, but not the CPUs.
	mkdir elsewhere
	run -125 unshare -m sh -c 'mount --bind /sys/kernel/tracing elsewhere && umount -l /sys && exec weft record -e sched -o n.dat -- true'
	[[ "$output" == *"/sys/devices/system/cpu/"*"/sys is not mounted"* ]]
	[ -z "$(new_instances "$instances")" ]
}

@test "containers: tracefs that is bind-mounted elsewhere is found, also in a chroot" {
	need_mounts
	need_command ldd
	mkdir -p root/proc root/sys root/bin root/tracing root/run root/tmp
	cp "$(command -v weft)" /bin/true root/bin/
	ldd root/bin/weft root/bin/true | grep -o '/[^ ]*' | sort -u | grep -v '^root/' | while read -r library; do
		library=${library%:}
		[ -f "$library" ] || continue
		mkdir -p "root${library%/*}"
		cp -n "$library" "root$library" 2> /dev/null || true
	done
	unshare -m sh -c 'mount -t proc proc root/proc && mount -t sysfs sysfs root/sys &&
		mount --bind /sys/kernel/tracing root/tracing &&
		exec chroot root /bin/weft record -q -F -e sched_process_exec -o /tmp/n.dat -- /bin/true'
	[ "$(weft report root/tmp/n.dat | grep -c ': sched_process_exec: ')" = 1 ]
	[ -z "$(new_instances "$instances")" ]
}

@test "containers: root of a user namespace is told that it is not root of the host" {
	setpriv --reuid 65534 --regid 65534 --clear-groups unshare -U -r true 2> /dev/null || skip "no user namespaces for users here"
	[ "$(stat -c %a $T)" = 700 ] || skip "tracefs is open to others here"
	run -125 setpriv --reuid 65534 --regid 65534 --clear-groups unshare -U -r "$WEFT" record -e sched -o n.dat -- true
	[[ "$output" == *"root of this user namespace is not root of the host"* ]]
}

@test "record: who may not trace learns that first, also where no file can be written" {
	need_command setpriv
	[ "$(stat -c %a $T)" = 700 ] || skip "tracefs is open to others here"
	run -125 setpriv --reuid 65534 --regid 65534 --clear-groups "$WEFT" record -e sched -o /no-folder/n.dat -- true
	[[ "$output" == *"run weft as root"* ]]
}

@test "record, stream, start: -P of a task that does not exist is an error, and for set a note" {
	true 3>&- &
	gone=$!
	wait $gone
	for command in "record -o n.dat" "record -c -o n.dat" stream start; do
		# shellcheck disable=SC2086
		run -125 timeout 60 weft $command -P $gone -e sched || [ "$status" = 1 ]
		[[ "$output" == *"there is no task with pid $gone"* ]]
	done
	[ ! -e n.dat ]
	weft start -B weft-test-gone -e sched:sched_process_exit
	run weft set -B weft-test-gone -P $gone
	pids=$(cat $T/instances/weft-test-gone/set_event_pid)
	weft reset -B weft-test-gone
	[ "$status" = 0 ]
	[[ "$output" == *"there is no task with pid $gone now"* ]]
	[ "$pids" = $gone ]
	weft stat --check || [ -z "$(new_instances "$instances")" ]
}
