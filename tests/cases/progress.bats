#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A long command shows its progress, on a terminal only. WEFT_PROGRESS=0 shows it at once, so that no test takes long.
load lib

setup()
{
	need_command script
	file=$PWD/tests/fixtures/demo.dat
	cd "$BATS_TEST_TMPDIR" || return
	export TERM=vt100 WEFT_PROGRESS=0
	unset PAGER
}

# on_terminal LINE: prints what a terminal shows that runs this line of bash
on_terminal()
{
	SHELL=$BASH timeout 60 script -qec "$1" /dev/null < /dev/null > screen
}

# shows WORD: the terminal had a progress line of that command, and at last the line was removed
shows()
{
	grep -aq "weft: $1: [0-9]* %\|weft: $1: [0-9.]* [KMG]*i*B read" screen
	local text
	text=$(tr -d '\0' < screen)
	[[ ${text##*$'\r\033[K'} != "weft: $1: "*[%d]* ]]
}

@test "progress: report into a file, check and export show a line on a terminal, and take it away" {
	on_terminal "$WEFT report $file > text"
	shows report
	"$WEFT" report "$file" | cmp - text
	on_terminal "$WEFT check $file"
	shows check
	on_terminal "$WEFT export --to csv -o out.csv $file"
	shows export
	on_terminal "$WEFT export --to csv $file > stdout.csv"
	shows export
	cmp out.csv stdout.csv
}

@test "progress: export tells how large a large output will be" {
	need_shared bench/sched-syscalls.dat
	mkfifo out
	"$WEFT" export --to jsonl --fields ts,cpu,pid,comm "$SHARED/bench/sched-syscalls.dat" 2> /dev/null | wc -c > whole
	SHELL=$BASH timeout 60 script -qefc "$WEFT export --to jsonl --fields ts,cpu,pid,comm -o out $SHARED/bench/sched-syscalls.dat" /dev/null < /dev/null > screen &
	# A reader that takes most of the output and then stops until the next line of the test.
	exec 7< out
	head -c $(($(cat whole) * 3 / 4)) <&7 > /dev/null
	drawn=$(tr '\r' '\n' < screen | grep -ac 'in all' || true)
	timeout 60 bash -c 'until [ "$(tr "\r" "\n" < screen | grep -ac "in all")" -gt "$1" ]; do sleep 0.05; done' - "$drawn"
	cat <&7 > /dev/null
	exec 7<&-
	wait $!
	told=$(tr '\r' '\n' < screen | sed -n 's/.*about \([0-9.]*\) MiB in all.*/\1/p' | tail -n 1)
	awk -v told="$told" -v whole="$(cat whole)" 'BEGIN { part = told * 1048576 / whole; exit !(part > 0.5 && part < 1.5) }'
}

@test "progress: pack, of a tree of files whose sizes are known" {
	load hostile
	tiny_tree tree
	tiny_event tree sys plain 2000 '"x=%d", REC->x'
	perl -e 'local $/; my $r = <STDIN>; print pack("Q< Q< a4080", 1000000000, length($r), $r)' < tree/per_cpu/cpu0/records > tree/per_cpu/cpu0/trace_pipe_raw
	rm tree/per_cpu/cpu0/records
	on_terminal "$WEFT pack -o a.dat tree"
	shows pack
	"$WEFT" pack -q -o b.dat tree
	cmp a.dat b.dat
}

@test "progress: -q, a pipe behind standard output, a dumb terminal and no terminal have none" {
	on_terminal "$WEFT report -q $file > text; $WEFT check -q $file; $WEFT export -q --to csv -o out.csv $file"
	[ ! -s screen ]
	on_terminal "$WEFT report $file | cat > text"
	[ ! -s screen ]
	TERM=dumb on_terminal "$WEFT report $file > text"
	[ ! -s screen ]
	"$WEFT" report "$file" > text 2> messages
	"$WEFT" check "$file" > said 2>> messages
	[ ! -s messages ]
}

@test "progress: short work shows nothing" {
	unset WEFT_PROGRESS
	on_terminal "$WEFT report $file > text; $WEFT check -q $file"
	[ ! -s screen ]
}

@test "progress: a message takes the line's place" {
	cp "$file" odd.dat
	at=$("$WEFT" info "$file" | awk '/pages of CPU 0/ { print $1; exit }')
	perl -e 'open my $f, "+<", "odd.dat"; seek $f, $ARGV[0] + 40, 0; print $f "\xff" x 200' "$at"
	on_terminal "$WEFT check odd.dat" || true
	grep -aq $'\r\033\[Kweft: .odd.dat. is damaged' screen
}

@test "record: without a command a line on the terminal says what it has come to, until it ends" {
	need_tracefs
	export WEFT_PROGRESS=200
	on_terminal "$WEFT record -e sched:sched_switch --duration 900ms -o run.dat"
	grep -aq $'weft: recording sched:sched_switch for 900.0 ms; Ctrl-C ends it' screen
	grep -aEq $'\033\\[Kweft: 0 s, [0-9.,]+[KM]? events/s, [0-9.]+ [KM]?i?B, buffers [0-9]+ % full, 0 lost' screen
	# The line was removed before the summary was printed.
	grep -aq $'\r\033\\[Kweft: run.dat: .* events* in ' screen
	on_terminal "$WEFT record -q -e sched:sched_switch --duration 500ms -o run.dat"
	[ ! -s screen ]
	"$WEFT" record -e sched:sched_switch --duration 500ms -o run.dat 2> messages
	run ! grep -q 'full' messages
	on_terminal "$WEFT record -e sched:sched_switch -o run.dat -- sleep 0.5"
	run ! grep -aq 'full' screen
}

@test "record: what takes time before and after COMMAND is told on a terminal, and is gone while it runs" {
	need_tracefs
	on_terminal "$WEFT record -e sched:sched_switch -o run.dat -- echo the command"
	tr -d '\0' < screen | tr '\r' '\n' > lines
	grep -aq $'^\033\\[Kweft: setting up tracing, 0 s' lines
	grep -aq $'^\033\\[Kweft: finishing the file, 0 s' lines
	grep -aq $'^\033\\[Kweft: restoring the settings of tracing, 0 s' lines
	# The line is removed before the command runs and comes back after it.
	sed -n '/the command/q;p' lines | tail -n 1 | grep -aqx $'\033\\[K' || grep -aq $'^\033\\[Kthe command' lines
	run ! grep -aq 'setting up' <(sed '1,/the command/d' lines)
	grep -aq $'^\033\\[Kweft: run.dat: ' lines
	on_terminal "$WEFT record -q -e sched:sched_switch -o run.dat -- true"
	[ ! -s screen ]
	on_terminal "$WEFT sched -- true"
	grep -aq 'weft: setting up tracing, 0 s' screen
	on_terminal "$WEFT stream -e sched:sched_switch --duration 1ms > out"
	grep -aq 'weft: setting up tracing, 0 s' screen
	unset WEFT_PROGRESS
	on_terminal "$WEFT record -e sched:sched_switch -o run.dat -- true"
	run ! grep -aq 'setting up' screen
}

@test "record: without an event it says which choice may be why" {
	need_tracefs
	weft record -e sched:sched_process_hang -o none.dat -- true 2>&1 | grep -q 'note: nothing was recorded: none of the requested events or functions occurred$'
	weft record -e sched:sched_switch -f 'prev_pid == -7' -F -o none.dat -- true 2>&1 |
		grep -q "note: nothing was recorded; possible reasons: the filter 'prev_pid == -7' matched no event; only COMMAND itself is traced, not its children (-F without -c)\$"
	run ! grep -q . <(weft record -q -e sched:sched_process_hang -o none.dat -- true 2>&1)
}
