#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Tables of this machine's own kernel, in an instance of weft's own.

load lib
load screens

setup()
{
	need_tracefs
	T=/sys/kernel/tracing
	cd "$BATS_TEST_TMPDIR" || exit 1
	# A task that is always there, with a name of its own.
	cp "$(command -v sleep)" napper
	(while :; do ./napper 0.01; done) 3>&- &
	NAPS=$!
}

teardown()
{
	screen_end
	[ -z "${NAPS:-}" ] || kill "$NAPS"
}

# The instances of the process that draws, whose number is in their names.
instances_of()
{
	find $T/instances -mindepth 1 -maxdepth 1 -name "*$1*"
}

# top WIDTH HEIGHT [OPTION...]: until the first interval is shown.
top()
{
	local width=$1 height=$2
	shift 2
	screen_start "$width" "$height" "$WEFT" top --every 300ms "$@"
	screen_await "sorted by"
}

# ended STATUS: the terminal is as before, and no instance is left.
ended()
{
	screen_await "STATUS $1"
	screen_await ENDED
	[ "$(tmux -L "$SCREENS" display -p '#{alternate_on}#{mouse_any_flag}')" = 00 ]
	diff stty.before stty.after
	[ -z "$(new_instances "$before")" ]
}

@test "top: without a terminal it says so, and the exit status is 2" {
	run -2 --separate-stderr weft top < /dev/null
	[ "$output" = "" ]
	[[ "$stderr" == *"weft top needs a terminal"*"weft stream --summary"* ]]
}

@test "top: -F and --user need a command, as for stream" {
	run -2 weft top -F
	[[ "$output" == *"-F needs a COMMAND"* ]]
	run -2 weft top --user nobody
	[[ "$output" == *"--user needs a COMMAND"* ]]
}

@test "top: tasks that run are shown, other tables and columns are a key away" {
	before=$(ls $T/instances)
	top 130 40
	screen_await "[1 tasks]"
	screen_await "weft takes"
	screen_keys /
	screen_keys -l napper
	screen_keys Enter
	screen_await "/napper"
	screen_await "napper  "
	screen_show | sed '1,3d' | grep -v '^$' > "$BATS_TEST_TMPDIR/rows"
	run -1 grep -v napper "$BATS_TEST_TMPDIR/rows"
	screen_keys Escape
	screen_keys Tab
	screen_await "[2 cpus]"
	screen_show | sed -n 3p | grep -q '^CPU .* IDLE'
	screen_keys 1 '>'
	screen_await "sorted by wait"
	screen_keys q
	ended 0
}

@test "top: w keeps the last seconds as a file that is whole and has what happened" {
	before=$(ls $T/instances)
	top 110 20
	screen_keys w
	screen_await_line "^ kept the last [0-9.]+ m?s, [0-9,]+ events, as 'weft-top-[0-9]{8}-[0-9]{6}\.dat'"
	screen_keys '?'
	screen_await "w               writes the last seconds"
	screen_keys q
	ended 0
	[ "$(ls weft-top-*.dat | wc -l)" = 1 ]
	[ "$(stat -c %a weft-top-*.dat)" = 600 ]
	weft check weft-top-*.dat > checked
	grep ': ok, version 7' checked
	weft sched --comm napper weft-top-*.dat > tables
	grep -E '^napper +[0-9]+ ' tables
	# Names of tasks stand in the kernel's text, too.
	weft report weft-top-*.dat > text
	grep -c ' napper-.*: sched_switch: prev_comm=napper ' text
	run -2 weft top --for why
	[[ "$output" == *"no tables of intervals"* ]]
	run -2 weft stream --summary why
	[[ "$output" == *"no tables of intervals"* ]]
}

@test "top: a pause keeps the tables" {
	before=$(ls $T/instances)
	top 100 20
	screen_keys Space
	screen_await "PAUSED"
	screen_show | sed 1d > paused
	cost=$(screen_show | sed -n 1p)
	# The cost is asked each second, so two intervals have gone by at least.
	for _ in $(seq 400); do
		[ "$(screen_show | sed -n 1p)" = "$cost" ] || break
		sleep 0.025
	done
	[ "$(screen_show | sed -n 1p)" != "$cost" ]
	screen_show | sed 1d | diff paused -
	screen_keys Space
	screen_await_not "PAUSED"
	screen_keys q
	ended 0
}

@test "top: a signal ends it, and nothing is left" {
	before=$(ls $T/instances)
	top 80 24 --for irq
	kill -TERM "$(pgrep -f "^$WEFT top --every 300ms --for irq" | head -n 1)"
	ended 143
}

@test "top: several intervals of each analysis are shown" {
	before=$(ls $T/instances)
	for name in syscalls block locks; do
		screen_start 130 30 "$WEFT" top --every 200ms --for $name -P $NAPS
		screen_await "weft takes"
		screen_keys Tab
		first=$(screen_show | sed -n '1s/.* to \([0-9.]*\),.*/\1/p')
		# The next interval, for which the analysis begins anew.
		screen_await_not "to $first"
		screen_await "weft top $name"
		screen_keys q
		ended 0
		screen_end
	done
}

@test "top: whatever kills it, its instance is removed, and the message names the signal" {
	before=$(ls $T/instances)
	top 130 24 --for syscalls -P $NAPS
	drawing=
	for pid in $(pgrep -f "^$WEFT top --every 300ms --for syscalls"); do
		[ ! -d "$T/instances/weft-$pid" ] || drawing=$pid
	done
	[ -n "$drawing" ]
	kill -SEGV "$drawing"
	screen_await "killed by signal 11 (Segmentation fault): tracing has ended, 1 instance of weft removed"
	ended 1
}

@test "top: an event that is not there is refused before the terminal is taken" {
	before=$(ls $T/instances)
	screen_start 100 20 "$WEFT" top -e no_such_event
	screen_await "no_such_event"
	ended 125
}

# Each nap is a child that begins while top looks, and executes a program then.
@test "top: --by program and --by unit have rows of those to whom tasks belong, also of tasks that begin meanwhile" {
	before=$(ls $T/instances)
	top 130 30 --by program
	screen_await "napper "
	screen_keys q
	screen_await "STATUS 0"
	screen_end
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	mkdir -p "$root/weft-top-$$.service" || skip "no control group can be made"
	echo "$NAPS" > "$root/weft-top-$$.service/cgroup.procs"
	top 130 30 --by unit
	screen_await "weft-top-$$.service"
	screen_keys q
	screen_await "STATUS 0"
	kill "$NAPS"
	until rmdir "$root/weft-top-$$.service" 2> /dev/null; do sleep 0.05; done
	NAPS=''
}

@test "top: --by is that of each analysis, and what an analysis does not have is refused" {
	before=$(ls $T/instances)
	top 130 30 --for syscalls --by program --process "$NAPS"
	screen_await "PROGRAM"
	screen_await "napper "
	screen_keys q
	screen_await "STATUS 0"
	run -2 weft top --by stack --for irq
	[[ "$output" == *"--by: unknown value 'stack'; the values are task, process, program, unit, container, pod, cgroup and user"* ]]
	run -2 weft top --by unit --for summary
	[[ "$output" == *"--by: the tables of 'weft summary' have one kind of row"* ]]
}

is_as_before()
{
	[ -z "$(new_instances "$before")" ]
}

# as_before: the same, once the other side has ended
as_before()
{
	for _ in $(seq 400); do
		! is_as_before || return 0
		sleep 0.025
	done
	ls $T/instances
	return 1
}

@test "top --on: the tables and keys are those of here, also with words that choose, and q ends it there" {
	before=$(ls $T/instances)
	top 130 40 --on far --rsh env --by program
	screen_await "weft top sched"
	screen_keys /
	screen_keys -l napper
	screen_keys Enter
	screen_await "/napper"
	screen_await "napper  "
	screen_keys q
	ended 0
	screen_end
	top 130 30 --on far --rsh env --for syscalls -P $NAPS --time wall
	screen_await "weft top syscalls"
	screen_keys Tab
	screen_await_line 'to [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}'
	screen_keys q
	ended 0
}

@test "top --on: w keeps the last seconds here, more than once" {
	before=$(ls $T/instances)
	top 110 20 --on far --rsh env
	screen_keys w
	screen_await_line "^ kept the last [0-9.]+ m?s, [0-9,]+ events, as 'weft-top-[0-9]{8}-[0-9]{6}\.dat'"
	first=$(ls weft-top-*.dat)
	while [ "$(date +weft-top-%Y%m%d-%H%M%S.dat)" = "$first" ]; do :; done
	screen_keys '?'
	screen_keys w
	screen_await_line "^ kept the last"
	screen_keys q
	ended 0
	[ "$(ls weft-top-*.dat | wc -l)" = 2 ]
	for file in weft-top-*.dat; do
		[ "$(stat -c %a "$file")" = 600 ]
		weft check "$file" | grep ': ok, version 7'
		weft report "$file" > text
		grep -c ' napper-.*: sched_switch: prev_comm=napper ' text
	done
}

@test "top --on: what is lost there, what its COMMAND prints and why it fails is told when the terminal is as before" {
	before=$(ls $T/instances)
	screen_start 130 30 "$WEFT" top --every 300ms --on far --rsh env -b 8K -e sched -e syscalls -- sh -c 'echo printed; dd if=/dev/zero of=/dev/null bs=1 count=400000'
	screen_await "ENDED"
	screen_await "printed"
	screen_await_line '^weft: far: [0-9]+ events were lost: a larger buffer \(-b\) may keep them'
	ended 0
	screen_end
	screen_start 130 30 "$WEFT" top --every 300ms --on far --rsh env -e no_such_event_at_all
	screen_await "ENDED"
	screen_await "weft: far: "
	screen_await "no_such_event_at_all"
	ended 125
	screen_end
	screen_start 130 30 "$WEFT" top --on far --rsh 'sh -c exit'
	screen_await "weft: far: weft serve does not answer"
	ended 125
	screen_end
	# 400,000 times read() and write() do not fit into 8 KB, here neither
	screen_start 130 30 "$WEFT" top --every 300ms -b 8K -e syscalls -- sh -c 'exec 2> /dev/null; dd if=/dev/zero of=/dev/null bs=1 count=400000'
	screen_await "ENDED"
	screen_await_line '^weft: [0-9]+ events were lost: a larger buffer \(-b\) may keep them'
}

@test "top --on: a signal here, and a killed far side, end both" {
	before=$(ls $T/instances)
	top 80 24 --on far --rsh env --for irq
	kill -TERM "$(pgrep -f "^$WEFT top --every 300ms --on far --rsh env --for irq" | head -n 1)"
	screen_await "STATUS 143"
	as_before
	screen_end
	top 80 24 --on far --rsh env --for irq
	for pid in $(pgrep -f "^$WEFT top --every 300ms --on far --rsh env --for irq"); do
		pgrep -P "$pid" -f 'weft serve' || true
	done > serves
	kill -KILL "$(cat serves)"
	screen_await "weft: far: the connection has ended"
	screen_await "STATUS 125"
	as_before
}

@test "top --on: what comes is read in the sandbox, without rights" {
	[ "$(id -u)" = 0 ] || skip "root only"
	before=$(ls $T/instances)
	top 80 24 --on far --rsh env --for irq
	for pid in $(pgrep -f "^$WEFT top --every 300ms --on far --rsh env --for irq"); do
		awk '/^Uid:/ { uid = $2 } /^Seccomp:/ { print uid, $2 }' "/proc/$pid/status"
	done | sort > modes
	grep -qx '65534 2' modes
	screen_keys q
	ended 0
	run -2 weft top --on far --dry-run -e sched
	[[ "$output" == *"--on cannot be used with --dry-run"* ]]
	run -2 weft top --on a --on b
	[[ "$output" == *"only 'weft record' takes several machines"* ]]
}
