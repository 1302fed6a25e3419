#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# How recordings of this machine's own kernel end: by signals, limits, missing rights, and a kill at any moment.
load lib

setup()
{
	need_tracefs
	cd "$BATS_TEST_TMPDIR" || exit 1
	T=/sys/kernel/tracing
}

# start: runs weft in the background and waits until it traces; $pid is its process.
start()
{
	weft record "$@" 2> err 3>&- &
	pid=$!
	await_tracing $pid
}

@test "record: SIGINT, SIGTERM and SIGHUP end a recording well" {
	for signal in INT TERM HUP; do
		rm -f s.dat
		# A shell starts background processes with SIGINT ignored; weft handles it all the same.
		start -o s.dat -e sched
		kill -$signal $pid
		wait $pid
		weft check s.dat
		grep -q 'events in' err
		[ ! -e $T/instances/weft-$pid ]
	done
}

@test "record: a signal is passed to the command, whose status counts" {
	start -o s.dat -e sched -- sleep 20
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ $status = 143 ]
	weft check s.dat
	[ ! -e $T/instances/weft-$pid ]
}

@test "record: -q says nothing" {
	run -0 weft record -q -e sched -- true
	[ -z "$output" ]
}

@test "record: -m keeps the newest, and says how many events it dropped" {
	for how in "" "--compression none" "--file-version 6"; do
		# shellcheck disable=SC2086
		# -F, because on a busy machine newer events of other tasks would push out the last event of dd.
		run -0 --separate-stderr weft record -m 64K $how -F -e syscalls -o m.dat -- \
			dd if=/dev/zero of=/dev/null bs=1 count=60000 status=none
		[[ "$stderr" == *"the oldest "*" events ("*" of pages) were dropped to keep to -m"* ]]
		events=$(sed 's/.*: \([0-9,]*\) events* in.*/\1/' <<< "${stderr_lines[0]}")
		[[ "$(weft check m.dat)" == *" $events event"* ]]
		[[ "$(weft report m.dat | sed -n 3p)" == "# entries-in-buffer/entries-written: ${events//,/}/"* ]]
		weft report m.dat | grep -q 'dd-.*sys_exit_group'
	done
}

@test "record: without the right to trace one line says what is missing and how to get it" {
	need_command setpriv
	cp "$WEFT" ./weft
	chmod 755 . ./weft
	for parent in "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR"; do chmod a+rx "$parent"; done
	setpriv --reuid=65534 --regid=65534 --clear-groups ./weft --version || skip "nobody cannot reach $PWD"
	mkdir open
	chmod 777 open
	cd open
	run -125 setpriv --reuid=65534 --regid=65534 --clear-groups ../weft record -e sched -- true
	[ "${#lines[@]}" = 1 ]
	[[ "$output" == *root* ]]
	[ -z "$(ls -A)" ]
	run -1 setpriv --reuid=65534 --regid=65534 --clear-groups ../weft list events
	[ "${#lines[@]}" = 1 ]
	[[ "$output" == *root* ]]
}

@test "record, report: what is left of a killed recording is told" {
	weft record -q -o k.dat -e sched -- true
	start -o k.dat -e sched
	run -0 --separate-stderr weft report k.dat
	[ -z "$stderr" ]
	kill -9 $pid
	wait $pid || true
	run -0 --separate-stderr weft report k.dat
	[[ "$stderr" == *"'k.dat.weft-$pid-"*".parts' is left of a recording that was killed; 'weft recover "* ]]
	run -0 weft record -o k.dat -e sched -- true
	[[ "$output" == *"is left of a recording that was killed"* ]]
	weft recover -o new.dat k.dat
	weft check new.dat
	run -0 --separate-stderr weft report k.dat
	[ -z "$stderr" ]
}

@test "recover: after a kill at any moment the data is there, and nothing of tracefs is left" {
	size=$(cat $T/saved_cmdlines_size)
	for ms in 2 10 25 40 60 90 130 180 250; do
		rm -rf ./k.dat*
		weft record -q -o k.dat -e sched -e syscalls --duration 120ms 2> err 3>&- &
		pid=$!
		sleep "$(printf '0.%03d' $ms)"
		kill -9 $pid 2> /dev/null || true
		wait $pid 2> /dev/null || true
		if [ -e k.dat ]; then
			weft check k.dat
			weft recover k.dat || true
		elif [ -n "$(ls -d k.dat.weft-*.parts 2> /dev/null)" ]; then
			# If weft was killed before the recording began, there is no data for a file, and the message
			# says so.
			run weft recover k.dat
			[ "$status" = 0 ] || [[ "$output" == *"ended before it had begun"* ]]
			[ "$status" != 0 ] || weft check k.dat
		else
			weft recover k.dat || true
		fi
		[ ! -e $T/instances/weft-$pid ]
		[ "$(cat $T/saved_cmdlines_size)" = "$size" ]
		[ -z "$(ls /run/weft/undo-$pid-* 2> /dev/null)" ]
		[ -z "$(ls -d k.dat.* 2> /dev/null)" ]
	done
}

# The buffer is so small that pages are stored uncompressed: a torn chunk is one whose pages were still being written.
@test "recover: after a kill during a flood all whole chunks are there" {
	for ms in 150 210 280 370; do
		rm -rf ./f.dat*
		dd if=/dev/zero of=/dev/null bs=1 count=100000000 status=none 3>&- &
		dd=$!
		weft record -q -o f.dat -b 32 -e raw_syscalls --duration 20s 2> err 3>&- &
		pid=$!
		until [ "$(find f.dat.weft-*.parts -name '0.*' -size +256k 2> /dev/null | wc -l)" -gt 0 ]; do kill -0 $pid; done
		sleep "$(printf '0.%03d' $ms)"
		kill -9 $pid $dd
		wait $pid $dd 2> /dev/null || true
		weft recover f.dat
		weft check f.dat
		weft report --format=ftrace f.dat | grep -q -- "-$dd .* sys_enter: NR 1 (1, "
		[ ! -e $T/instances/weft-$pid ]
		[ -z "$(ls -d f.dat.* 2> /dev/null)" ]
	done
}
