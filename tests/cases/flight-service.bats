#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft flight as a service: a directory of options, what the manager of services is told, and options that are read anew.
load lib

T=/sys/kernel/tracing

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	umask 022
	mkdir conf
	case $BATS_TEST_DESCRIPTION in *"command line"*) return 0 ;; esac
	need_tracefs
	NAME=test-$$
	printf 'event = sched:sched_process_exec\nname = %s\noutput-dir = .\nafter = 10ms\n' "$NAME" > conf/50-all.conf
}

teardown()
{
	[ -z "${PID:-}" ] || { kill "$PID" && wait "$PID"; } 2> /dev/null || true
	[ -z "${LISTENER:-}" ] || { kill "$LISTENER" && wait "$LISTENER"; } 2> /dev/null || true
}

# await PATTERN FILE: waits until a line of the file matches
await()
{
	until grep -qs "$1" "$2"; do
		kill -0 $PID || return
		sleep 0.02
	done
}

# fly OPTION...: begins a flight in the background, and waits until it has begun.
fly()
{
	: > log
	weft flight start "$@" 2>> log &
	PID=$!
	await 'has begun' log
}

land()
{
	kill -TERM $PID
	landed=0
	wait $PID || landed=$?
	PID=
}

# listen ADDRESS: writes the datagrams that come there into the file told, a line for each with ; for its newlines
listen()
{
	need_command python3
	: > told
	python3 - "$1" <<- 'END' &
		import socket, sys
		listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		listener.bind(sys.argv[1].replace("@", "\0", 1))
		out = open("told", "a")
		print("listening", file=out, flush=True)
		while True:
		    print(listener.recv(4096).decode().replace("\n", ";"), file=out, flush=True)
	END
	LISTENER=$!
	until grep -qs listening told; do
		kill -0 $LISTENER || return
		sleep 0.02
	done
}

@test "flight service: a directory of options on the command line is all its files in the order of their names" {
	need_tracefs
	printf 'keep = 5s\n# what follows is for another instance\n[other]\nevent = sched:sched_process_exit\n' > conf/10-first.conf
	printf 'event = sched:sched_process_exec\nkeep = 2s\nbefore = 3s\n' > conf/20-second.conf
	echo 'what is not called .conf is not read' > conf/README
	run -2 weft flight start --config conf
	[[ "$output" == *"--before cannot be longer than --keep"* ]]
	sed -i '/before/d' conf/20-second.conf
	run -0 --separate-stderr weft flight start --config conf --dry-run
	[[ "$output" == *"instances/other/events/sched/sched_process_exit/enable"* ]]
	[[ "$output" != *"instances/other/events/sched/sched_process_exec/enable"* ]]
	[[ "$output" == *"/events/sched/sched_process_exec/enable"* ]]
}

@test "flight service: what is wrong in a directory of options is told with its file and its line on the command line" {
	printf 'event = sched\n\nkep = 10s\n' > conf/a.conf
	run -2 weft flight start --config conf
	[ "${lines[0]}" = "weft flight: conf/a.conf:3: no option 'kep'; did you mean 'keep'?" ]
	printf 'event = sched\nwhen = latncy:wakeup>5ms\n' > conf/a.conf
	run -2 weft flight start --config=conf
	[[ "${lines[0]}" == "weft flight: conf/a.conf:2: --when: "*"; did you mean 'latency'?" ]]
	[ "${lines[1]}" = "  latncy:wakeup>5ms" ]
	printf 'event = sched\nkeep = 10q\n' > conf/a.conf
	run -2 weft flight start --config conf
	[[ "${lines[0]}" == "weft flight: conf/a.conf:2: --keep: "* ]]
	printf 'keep 10s\n' > conf/a.conf
	run -2 weft flight start --config conf
	[ "${lines[0]}" = "weft flight: conf/a.conf:1: 'keep 10s' is not NAME or NAME = VALUE" ]
	rm conf/a.conf
	run -2 weft flight start --config conf
	[ "${lines[0]}" = "weft flight: 'conf' has no file whose name ends with .conf" ]
}

@test "flight service: options that another user may have written are refused on the command line" {
	echo 'event = sched' > conf/a.conf
	chmod 666 conf/a.conf
	run -2 weft flight start --config conf
	[[ "${lines[0]}" == "weft flight: others may write to 'conf/a.conf' "* ]]
	chmod 644 conf/a.conf
	chmod 777 conf
	run -2 weft flight start --config conf
	[[ "${lines[0]}" == "weft flight: others may write to 'conf' "* ]]
	chmod 755 conf
	ln -s /etc/passwd conf/b.conf
	run -2 weft flight start --config conf
	[ "${lines[0]}" = "weft flight: cannot open 'conf/b.conf': it is a symbolic link, and a directory of options has files" ]
	rm conf/b.conf
	need_root
	chown 12345 conf/a.conf
	run -2 weft flight start --config conf
	[[ "${lines[0]}" == "weft flight: 'conf/a.conf' belongs to another user (uid 12345)"* ]]
}

@test "flight service: --check sets everything up and removes it again" {
	run -0 weft flight start --config conf --check
	[[ "$output" == *"the flight could begin"* ]]
	echo 'when = event:sched:sched_proces_exec' >> conf/50-all.conf
	run -1 weft flight start --config conf --check
	[[ "$output" == *"did you mean 'sched:sched_process_exec'"* ]]
	[ -z "$(ls -d $T/instances/weft-[0-9]* 2> /dev/null)" ] || ! grep -q "$NAME" $T/instances/weft-*/set_event
	[ ! -e "/run/weft/$NAME.sock" ]
}

@test "flight service: the manager is told when tracing is on, that the flight lives, and that it ends" {
	listen "$PWD/notify"
	NOTIFY_SOCKET=$PWD/notify WATCHDOG_USEC=100000 fly --config conf
	await WATCHDOG told
	[ "$(cat $T/instances/weft-$PID/tracing_on)" = 1 ]
	: > told
	await WATCHDOG=1 told
	land
	[ "$landed" -eq 0 ]
	until grep -qs STOPPING=1 told; do sleep 0.02; done
	[ "$(grep -vE 'STATUS' told | tail -n1)" = STOPPING=1 ]
}

@test "flight service: the socket of the manager may be a name that begins with @; the order of what it gets" {
	listen "@weft-test-$$"
	NOTIFY_SOCKET=@weft-test-$$ WATCHDOG_USEC=50000 fly --config conf
	await WATCHDOG told
	land
	until grep -qs STOPPING=1 told; do sleep 0.02; done
	[ "$(sed -e '/listening/d' -e '/STATUS/d' told | uniq | tr '\n' ' ')" = "READY=1 WATCHDOG=1 STOPPING=1 " ] ||
		[ "$(sed -e '/listening/d' -e '/STATUS/d' told | uniq | tr '\n' ' ')" = "WATCHDOG=1 READY=1 WATCHDOG=1 STOPPING=1 " ]
	# Without a manager, and for another process, nothing is told.
	: > told
	NOTIFY_SOCKET=@weft-test-$$ WATCHDOG_PID=1 WATCHDOG_USEC=50000 fly --config conf
	await READY told
	land
	until grep -qs STOPPING=1 told; do sleep 0.02; done
	run -1 grep -q WATCHDOG told
	run -1 env NOTIFY_SOCKET=nowhere weft flight start --config conf
	[[ "$output" == *"NOTIFY_SOCKET: 'nowhere' is no path of a socket"* ]]
}

@test "flight service: SIGHUP reads the options anew, and the next flight is the same process" {
	listen "$PWD/notify"
	NOTIFY_SOCKET=$PWD/notify fly --config conf --keep 7s
	weft flight status --name "$NAME" | grep -q ': 7.00 s asked for'
	sed -i 's/name = .*/&-new/' conf/50-all.conf
	kill -HUP $PID
	until weft flight status --name "$NAME-new" > status 2> /dev/null; do kill -0 $PID; sleep 0.02; done
	grep -q ': 7.00 s asked for' status
	[ -d "$T/instances/weft-$PID" ]
	await 'begins anew' log
	land
	[ "$landed" -eq 0 ]
	until grep -qs STOPPING=1 told; do sleep 0.02; done
	[[ "$(sed -e '/listening/d' -e '/STATUS/d' told | tr '\n' ' ')" == "READY=1 RELOADING=1;MONOTONIC_USEC="[0-9]*" READY=1 STOPPING=1 " ]]
}

@test "flight service: wrong options are told on SIGHUP, and the flight goes on with the old ones" {
	listen "$PWD/notify"
	NOTIFY_SOCKET=$PWD/notify fly --config conf
	echo 'kep = 3s' >> conf/50-all.conf
	kill -HUP $PID
	await 'the new options are refused; the flight goes on with the old ones' log
	grep -q "conf/50-all.conf:5: no option 'kep'; did you mean 'keep'?" log
	sed -i 's/^kep.*/when = event:sched:no_such_event/' conf/50-all.conf
	kill -HUP $PID
	until [ "$(grep -c 'the new options are refused' log)" = 2 ]; do kill -0 $PID; sleep 0.02; done
	grep -q "no event 'sched:no_such_event'" log
	[ -s "$(weft flight dump --name "$NAME")" ]
	land
	[ "$landed" -eq 0 ]
	until grep -qs STOPPING=1 told; do sleep 0.02; done
	[[ "$(sed -e '/listening/d' -e '/STATUS/d' told | tr '\n' ' ')" == "READY=1 RELOADING"*" READY=1 RELOADING"*" READY=1 STOPPING=1 " ]]
	grep -q 'STATUS=the new options are refused' told
}

@test "flight service: without options from a file SIGHUP ends the flight" {
	fly --name "$NAME" -e sched:sched_process_exec
	kill -HUP $PID
	wait $PID
	PID=
	grep -q '0 triggers in' log
}
