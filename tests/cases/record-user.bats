#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What a recorded command gets: the identity and environment of --user, and no file descriptor of weft's but a trace_marker.
load lib

setup()
{
	need_tracefs
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# The variables that a login shell of the user would set.
variables='echo "$HOME $USER $LOGNAME $SHELL $PATH"'

# Prints the same from the system's own files. $1: the user; $2: the name of the user's PATH in /etc/login.defs.
want()
{
	local path shell

	path=$(awk -v name="$2" '$1 == name { sub(/^PATH=/, "", $2); print $2; exit }' /etc/login.defs)
	shell=$(getent passwd "$1" | cut -d: -f7)
	echo "$(getent passwd "$1" | cut -d: -f6) $1 $1 $shell $path"
}

@test "record: --user has the ids, groups and environment of that user" {
	grep -q '^ENV_PATH' /etc/login.defs && grep -q '^ENV_SUPATH' /etc/login.defs || skip "/etc/login.defs says no PATH"
	export PATH=$PATH:/root/private HOME=/root SHELL=/bin/other USER=other LOGNAME=other KEPT=kept
	got=$(weft record -q -e sched -o u.dat --user nobody -- /bin/sh -c "$variables; echo \$KEPT; id -u; id -g; id -G")
	[ "$got" = "$(want nobody ENV_PATH)"$'\nkept\n'"$(id -u nobody)"$'\n'"$(id -g nobody)"$'\n'"$(id -G nobody)" ]
	got=$(weft record -q -e sched -o u.dat --user root -- /bin/sh -c "$variables")
	[ "$got" = "$(want root ENV_SUPATH)" ]
	# Compares with runuser itself, where it sets the same variables.
	need_command runuser
	ours='echo "$HOME $USER $LOGNAME"'
	[ "$(weft record -q -e sched -o u.dat --user nobody -- sh -c "$ours")" = "$(runuser -u nobody -- sh -c "$ours")" ]
}

@test "record: a command is looked for in the PATH of --user" {
	mkdir bin
	printf '#!/bin/sh\necho root-only\n' > bin/weft-test-tool
	chmod -R 755 bin
	PATH=$PWD/bin:$PATH run -127 weft record -q -e sched -o u.dat --user nobody -- weft-test-tool
	[[ "$output" != *root-only* ]]
}

@test "record, stream: the command has no file descriptor but those that it would have without weft" {
	list='for fd in /proc/self/fd/*; do [ "${fd##*/}" = "$WEFT_MARKER_FD" ] || echo "$fd"; done'
	want=$(sh -c "$list")
	[ "$(weft record -q -e sched -e syscalls -o f.dat -- sh -c "$list")" = "$want" ]
	[ "$(weft record -q -e sched -o f.dat -F -c -m 1M -- sh -c "$list")" = "$want" ]
	[ "$(weft record -q -e sched -o f.dat --user nobody -- sh -c "$list")" = "$want" ]
	[ "$(weft record -q -B one -e sched -B two -e irq -o f.dat -- sh -c "$list")" = "$want" ]
	[ "$(weft stream -e sched:sched_process_exit -- sh -c "exec >&2; $list" 2>&1 > /dev/null | grep '^/proc')" = "$want" ]
}

@test "record: --user can mark spans: the command gets a trace_marker, and the kernel has copies of its marks" {
	[ -e /sys/kernel/tracing/options/copy_trace_marker ] || skip "this kernel does not copy marks to other instances"
	need_command gcc
	printf '#include <weft/mark.h>\nint main(void) { weft_mark_begin("unprivileged"); weft_mark_end(); return 0; }\n' > prog.c
	gcc -I"$BATS_TEST_DIRNAME/../../include" -o prog prog.c
	# The folders of the test are root's.
	public=$(mktemp -d)
	cp prog "$public/"
	chmod -R a+rx "$public"
	weft record -q -e ftrace:print -o u.dat --user nobody -- "$public/prog"
	rm -r "$public"
	[ "$(weft sql --format csv u.dat 'SELECT name, count(*) FROM mark GROUP BY 1' | tail -n +2)" = unprivileged,1 ]
	# A process that goes on has it open, and keeps no instance.
	weft record -q -e ftrace:print -o u.dat -- sh -c 'sleep 30 > /dev/null 2>&1 & echo $! > left'
	[ -e "/proc/$(cat left)" ]
	kill "$(cat left)"
}

@test "record: --when-mark-longer keeps the file only if a span took longer" {
	[ -e /sys/kernel/tracing/options/copy_trace_marker ] || skip "this kernel does not copy marks to other instances"
	cat > spans <<- 'END'
		#!/bin/sh
		# spans NAME SECONDS...: marks a span of each of these lengths
		name=$1
		shift
		exec 9> /sys/kernel/tracing/trace_marker
		for seconds; do
			echo "B|$$|$name" >&9
			sleep "$seconds"
			echo "E|$$" >&9
		done
		exit 3
	END
	chmod +x spans
	run -3 weft record -q -e ftrace:print --when-mark-longer 'frame *>20ms' -o slow.dat -- ./spans 'frame 1' 0 0.03 0
	[ "$output" = "" ]
	[ "$(weft sql --format csv slow.dat 'SELECT count(*) FROM mark WHERE dur > 20000000' | tail -n 1)" -ge 1 ]
	# The next run would have its name.
	before=$(sha256sum slow.dat)
	run -125 weft record -q -e ftrace:print --when-mark-longer 'frame *>20ms' -o slow.dat -- touch ran
	[[ "$output" == *"'slow.dat' exists already, and --when-mark-longer replaces no file"* ]]
	[ ! -e ran ]
	[ "$(sha256sum slow.dat)" = "$before" ]
	run -3 weft record -e ftrace:print --when-mark-longer 'frame *>1h' --result result.json -o quick.dat -- ./spans 'frame 1' 0 0
	[[ "$output" == *"weft: 'quick.dat' was not kept: the longest of 2 spans 'frame *' took "*", not more than 1h"* ]]
	[ "$(ls -d quick.dat* | wc -l)" = 0 ]
	grep -q '"file":null' result.json
	run -3 weft record -q -e ftrace:print --when-mark-longer 'other>1us' -o quick.dat -- ./spans frame 0
	[[ "$output" == *"'quick.dat' was not kept: it has no span 'other', so none took more than 1"*"us"* ]]
	[ ! -e quick.dat ]
	run -2 weft record --when-mark-longer 20ms -- true
	[[ "$output" == *"--when-mark-longer: '20ms' is not NAME>TIME"* ]]
	run -2 weft record --when-mark-longer 'a>soon' -- true
	[[ "$output" == *"--when-mark-longer: 'a>soon'"* ]]
	run -2 weft record -o - --when-mark-longer 'a>1s' -- true
	[[ "$output" == *"--when-mark-longer keeps or removes a file"* ]]
}
