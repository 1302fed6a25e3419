#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A small file has only the symbols to which its pages can refer: the text of weft and of other programs stays the same.
load lib

setup()
{
	need_tracefs
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "record: a recording of next to nothing takes less than 100 kB, with --all-symbols as much as all symbols take" {
	weft record -q -e sched -o chosen.dat -- true
	weft record -q -e sched --all-symbols -o all.dat -- true
	# The kernel keeps the thread groups of all tasks that were ever traced with record-tgid, and the file has them.
	[ "$(stat -c %s chosen.dat)" -lt $((100000 + $(weft info --setting saved_tgids chosen.dat | wc -c))) ]
	[ "$(stat -c %s all.dat)" -gt $((100000 + $(stat -c %s chosen.dat))) ]
	[ "$(weft info --setting weft/symbols chosen.dat)" = chosen ]
	[ "$(weft info --setting weft/symbols all.dat)" = all ]
	weft check -q chosen.dat
	weft check -q all.dat
}

@test "record: stacks are printed from the chosen symbols as from all" {
	local version

	for version in 7 6; do
		weft record -q -e sched:sched_switch -e sched:sched_waking -O stacktrace --file-version $version --all-symbols \
			-o all.dat -- sh -c 'ls / | cat > /dev/null; sleep 0.01'
		mkdir -p none
		weft pack -q none --pages all.dat --file-version $version -o chosen.dat
		[ "$(stat -c %s chosen.dat)" -lt "$(stat -c %s all.dat)" ]
		[ "$(weft info --setting weft/symbols chosen.dat)" = chosen ]
		weft report all.dat > all.txt
		grep -q ' => schedule' all.txt
		weft report chosen.dat | cmp - all.txt
		weft report -O sym-addr -O sym-offset all.dat > all.txt
		weft report -O sym-addr -O sym-offset chosen.dat | cmp - all.txt
	done
}

@test "record: trace-cmd names the same functions in a file of chosen symbols" {
	need_command trace-cmd
	weft record -q -e sched:sched_switch -O stacktrace --all-symbols --compression none -o all.dat -- sh -c 'ls / | cat > /dev/null'
	mkdir -p none
	weft pack -q none --pages all.dat --compression none -o chosen.dat
	trace-cmd report -i all.dat 2> /dev/null > all.txt
	trace-cmd report -i chosen.dat 2> /dev/null > chosen.txt
	grep -q '^=> schedule' all.txt
	cmp all.txt chosen.txt
}

@test "extract: a small extraction has few symbols, too" {
	local instance=/sys/kernel/tracing/instances/weft-test-small-$$

	mkdir "$instance"
	echo 1 > "$instance/events/sched/sched_switch/enable"
	ls / | cat > /dev/null
	echo 0 > "$instance/events/sched/sched_switch/enable"
	weft extract -q -B "weft-test-small-$$" -o chosen.dat
	rmdir "$instance"
	[ "$(weft info --setting weft/symbols chosen.dat)" = chosen ]
	[ "$(weft report chosen.dat | grep -c sched_switch:)" -gt 0 ]
}
