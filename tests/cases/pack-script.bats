#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The script for machines that have nothing but a shell.
load lib

@test "pack --script: shellcheck finds nothing in it" {
	need_command shellcheck
	weft pack --script | shellcheck -s sh -
}

@test "pack --script: with a directory it is wrong usage" {
	run --separate-stderr weft pack --script dir
	[ "$status" -eq 2 ]
}

@test "pack --script: without a directory the script says what it needs" {
	weft pack --script > "$BATS_TEST_TMPDIR/copy.sh"
	run sh "$BATS_TEST_TMPDIR/copy.sh"
	[ "$status" -ne 0 ]
	[[ "$output" == *"which directory?"* ]]
}

@test "pack --script: what it copies of an instance is packed to the kernel's own text" {
	need_tracefs
	local name=weft-test-script-$$ shell=sh i
	i=/sys/kernel/tracing/instances/$name
	command -v busybox > /dev/null && shell="busybox ash"
	cd "$BATS_TEST_TMPDIR"
	weft pack --script > copy.sh
	mkdir "$i"
	echo 1 > "$i/events/sched/enable"
	ls / > /dev/null
	echo 0 > "$i/tracing_on"
	echo 0 > "$i/events/enable"
	cat "$i/trace" > want
	echo 1 > "$i/options/latency-format"
	cat "$i/trace" > want.latency
	echo 0 > "$i/options/latency-format"
	(cd "$i" && grep -H '' trace_options tracing_on set_event buffer_size_kb) > before
	SYSTEMS=sched $shell copy.sh copy "$name"
	(cd "$i" && grep -H '' trace_options tracing_on set_event buffer_size_kb) > after
	rmdir "$i"
	diff before after
	weft pack -q copy -o p.dat
	weft report -B "$name" p.dat | cmp - want
	weft report -B "$name" -O latency-format p.dat | cmp - want.latency
}

# An instance of the test's own with tracing on, and the script.
traced_instance()
{
	need_tracefs
	NAME=weft-test-script-$$
	I=/sys/kernel/tracing/instances/$NAME
	cd "$BATS_TEST_TMPDIR"
	weft pack --script > copy.sh
	mkdir "$I"
}

@test "pack --script: TYPES=yes copies what the kernel and its modules say of types, and pack --btf takes the folder" {
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel tells no types"
	traced_instance
	TYPES=yes SYMBOLS=no SYSTEMS=timer sh copy.sh copy "$NAME"
	rmdir "$I"
	diff -r /sys/kernel/btf copy/btf
	weft pack -q copy --btf copy/btf/vmlinux -o kernel.dat
	# A module whose information is cut short adds nothing, and what is of no module is not in the way.
	head -c 20 copy/btf/vmlinux > copy/btf/module
	weft pack -q copy --btf copy/btf -o folder.dat
	weft info --setting weft/types kernel.dat > want
	grep -q '^v HRTIMER_MODE_' want
	weft info --setting weft/types folder.dat | cmp - want
	mkdir none
	run -1 weft pack -q copy --btf none -o none.dat
	[ "$output" = "weft: there is no file 'none/vmlinux'" ]
}

@test "pack --script: where nothing can be written tracing is as it was" {
	traced_instance
	touch file
	run ! sh copy.sh file "$NAME"
	on=$(cat "$I/tracing_on")
	rmdir "$I"
	[ "$on" = 1 ]
}

@test "pack --script: a signal leaves tracing as it was" {
	traced_instance
	# A program of the script waits for a writer, while tracing is off.
	mkdir bin
	mkfifo gate
	printf '#!/bin/sh\nread -r _ < "%s/gate"\n' "$PWD" > bin/head
	chmod 755 bin/head
	PATH=$PWD/bin:$PATH sh copy.sh copy "$NAME" 3>&- &
	for try in $(seq 1000); do
		[ "$(cat "$I/tracing_on")" = 1 ] || break
	done
	during=$(cat "$I/tracing_on")
	kill -TERM $!
	# A FIFO that is opened for reading and writing does not wait for another process.
	exec 4<> gate
	echo go >&4
	wait $! && false
	exec 4<&-
	on=$(cat "$I/tracing_on")
	rmdir "$I"
	[ "$during $on" = "0 1" ]
}

@test "pack --script: a directory that others have made or may write to is refused, and tracing is as it was" {
	traced_instance
	echo precious > victim
	mkdir theirs mine full
	ln -s ../victim theirs/uname
	chown 12345 theirs
	chmod 777 mine
	touch full/uname
	ln -s theirs link
	told=
	for dir in theirs mine full link; do
		SYSTEMS=sched SYMBOLS=no sh copy.sh $dir "$NAME" 2> text && told+="$dir: copied;"
		grep -q "^copy.sh: './$dir' is not empty, not yours, or others may write to it; name a new directory" text || told+="$dir: $(cat text);"
	done
	SYSTEMS=sched SYMBOLS=no sh copy.sh new/copy "$NAME" || told+="new: $?"
	# An empty one that is closed, and a name that looks like an option.
	mkdir -m 700 ./-e
	SYSTEMS=sched SYMBOLS=no sh copy.sh -e "$NAME" || told+="-e: $?"
	on=$(cat "$I/tracing_on")
	rmdir "$I"
	[ "$told" = "" ]
	[ "$on" = 1 ]
	[ "$(cat victim)" = precious ]
	[ "$(ls -A theirs mine full)" = $'full:\nuname\n\nmine:\n\ntheirs:\nuname' ]
	[ "$(stat -c %a new/copy/uname ./-e)" = $'600\n700' ]
	weft pack -q new/copy -o p.dat
}
