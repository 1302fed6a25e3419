#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# libweft: the events of the running kernel as a reader.
load lib

setup()
{
	need_tracefs
	T=/sys/kernel/tracing
	I=weft-live-$$-$BATS_TEST_NUMBER
	LIVE=$BATS_FILE_TMPDIR/live
	[ -x "$LIVE" ] || "${CC:-gcc}" -O1 -g -Wall -Wextra -Werror -Iinclude -o "$LIVE" tests/api/live.c -L"$BUILD" -lweft -Wl,-rpath,"$BUILD"
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown()
{
	[ ! -d "$T/instances/$I" ] || rmdir "$T/instances/$I"
}

busy() { dd if=/dev/zero of=/dev/null bs=1 count="$1" 2> /dev/null; }
export -f busy

live() { timeout -s KILL 120 "$LIVE" "$WEFT" "$@"; }

# The numbers of events that the kernel has written into the instance and lost there, and those of a text: "READ LOST".
counted()
{
	cat "$T/instances/$I"/per_cpu/cpu*/stats |
		awk -F': ' '/^(entries|read events)/ { n += $2 } /^(overrun|commit overrun|dropped events)/ { l += $2 }
			END { print n + 0, l + 0 }'
}
told() { awk '/^CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]$/ { l += $3; next } { n++ } END { print n + 0, l + 0 }' "$1"; }

@test "live: a command's events come in order, with names, and nothing is left behind" {
	live lines -F -c -e sched:sched_process_exec -e sched:sched_process_exit -- sh -c '/bin/true; /bin/true' > out
	[ "$(grep -c sched_process_exec: out)" = 3 ]
	[ "$(grep -c ' true-[0-9]* .*sched_process_exit:' out)" = 2 ]
	grep -o ' [0-9]*\.[0-9]*: ' out | sort -n -c
}

@test "live: the text is that of the kernel's trace" {
	mkdir "$T/instances/$I"
	echo 1 > "$T/instances/$I/events/sched/enable"
	busy 10
	echo 0 > "$T/instances/$I/tracing_on"
	echo 0 > "$T/instances/$I/events/enable"
	sed '/^#/d' "$T/instances/$I/trace" > want
	[ -s want ]
	# The events already in an instance come first. The only event added to them never happens.
	live lines -B "$I" --cmdlines-size 0 -e syscalls:sys_enter_swapoff -- true | head -n "$(wc -l < want)" | diff want -
}

@test "live: what comes and what is lost is what the kernel counted, also with a reader that waits" {
	mkdir "$T/instances/$I"
	mkfifo go
	live lines -B "$I" -F -c -b 2M -e raw_syscalls -- bash -c 'busy 60000' > out
	[ "$(told out)" = "$(counted)" ]
	[ "$(told out | cut -d' ' -f1)" -gt 10000 ]
	rmdir "$T/instances/$I"
	mkdir "$T/instances/$I"
	GO=go live wait -B "$I" -F -c -b 128 -e raw_syscalls -- bash -c 'busy 300000; echo > go' > out
	[ "$(told out)" = "$(counted)" ]
	[ "$(told out | cut -d' ' -f2)" -gt 0 ]
	rmdir "$T/instances/$I"
	mkdir "$T/instances/$I"
	GO=go live wait -B "$I" -O nooverwrite -F -c -b 128 -e raw_syscalls -- bash -c 'busy 100000; echo > go; busy 100' > out
	[ "$(told out)" = "$(counted)" ]
	[ "$(told out | cut -d' ' -f2)" -gt 0 ]
}

@test "live: it ends when it is stopped, and nothing else can be asked of such a reader" {
	live stop -B "$I" -e sched:sched_switch > out
	grep -qE '^[0-9]+ events$' out
	[ ! -d "$T/instances/$I" ]
}

@test "live: an analysis counts the calls of a command, and its intervals end while tracing goes on" {
	need_command jq
	live syscalls:json -B "$I" --for syscalls -F -c -- dd if=/dev/zero of=/dev/null bs=1 count=4000 > out
	# A few more are of the shell's and the loader's making.
	jq -e '[.syscalls[] | select(.syscall == "read" or .syscall == "write") | .calls] | length == 2 and min >= 4000 and max < 4100' out
	[ ! -d "$T/instances/$I" ]
	live sched:stop -B "$I" --for sched > out
	grep -qE '^interval [0-9]+ [0-9]+ [0-9]+ ' out
	[ "$(awk '/^interval/ { n += $4 } END { print n }' out)" = "$(awk '/^whole/ { n += $4 } END { print n }' out)" ]
	[ "$(sed '1,/^whole/d' out | jq '.cpus | length')" -gt 0 ]
	[ ! -d "$T/instances/$I" ]
}

@test "live: when the caller is killed, everything is restored" {
	"$LIVE" "$WEFT" hold -B "$I" -e sched:sched_switch > out &
	pid=$!
	for _ in {1..400}; do
		! grep -q holds out || break
		sleep 0.05
	done
	[ -d "$T/instances/$I" ]
	kill -KILL $pid
	wait $pid || :
	for _ in {1..400}; do
		[ -d "$T/instances/$I" ] || break
		sleep 0.05
	done
	[ ! -d "$T/instances/$I" ]
}

@test "live: what weft refuses is told in its words" {
	run -1 live lines -e no_such_event
	[ "$output" = "live: no event 'no_such_event'; 'weft list events' lists them" ]
	run -1 live lines --no-such-option
	[[ "$output" == *"no option '--no-such-option'"* ]]
	run -1 "$LIVE" /nonexistent/weft lines -e sched
	[[ "$output" == *"/nonexistent/weft"* ]]
	run -1 live fd /dev/null
	[[ "$output" == *"before the end of its pages"* ]]
	run -1 live fd "$LIVE"
	[[ "$output" == *"no pages of weft stream --pages"* ]]
}

@test "live: pages in a file are read as those of a process, and weft stream --pages writes no text" {
	weft stream --pages -q -F -c -e sched:sched_process_exec -- sh -c '/bin/true; /bin/true' > pages
	[ "$(live fd pages | grep -c sched_process_exec:)" = 3 ]
	head -c 3000 pages > cut
	run -1 live fd cut
	run -2 weft stream --pages --format json -e sched
	run -2 weft stream --pages --limit 3 -e sched
}
