#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Files that are no recordings, and recordings cut at each of their boundaries: weft never ends with status 0 and no
# message.
load lib

setup()
{
	work=$BATS_TEST_TMPDIR
}

@test "report, info, check: what is no recording is told in one line" {
	cd "$work" || exit 1
	: > empty
	truncate -s 10G sparse
	cp /bin/true elf
	for what in empty sparse elf . /dev/null missing elf/below; do
		for command in report info check; do
			run -1 --separate-stderr timeout 60 weft $command "$what"
			[ -z "$output" ]
			[ "${#stderr_lines[@]}" = 1 ]
			[[ "$stderr" == "weft: "*"'$what'"* ]]
		done
	done
}

# cut_everywhere: cuts at the beginning of each section, and a byte before and after it
cut_everywhere()
{
	local file=$1 size offset at status said
	size=$(stat -c %s "$file")
	for offset in 9 16 $((size - 1)) $(weft info "$file" | sed -n 's/^ *\([0-9]\+\) \+[0-9]\+ .*/\1/p' | sort -nu); do
		for at in $((offset - 1)) $((offset + 1)); do
			if [ "$at" -lt 0 ] || [ "$at" -ge "$size" ]; then continue; fi
			head -c "$at" "$file" > "$work/cut"
			# Hundreds of cuts: bats' run starts many more programs than weft.
			for command in report info check; do
				status=0
				weft $command "$work/cut" > "$work/out" 2> "$work/err" || status=$?
				said=$(< "$work/err")
				[[ $status = 1 && "$said" == "weft: "*[0-9]* ]] || { echo "$command of $file cut at $at: $status, $said"; return 1; }
			done
		done
	done
}

@test "report, info, check: a file of version 7 that was cut anywhere is told" {
	cut_everywhere tests/fixtures/demo.dat
}

# bats test_tags=long
@test "report, info, check: so is one of version 6" {
	for sample in tests/corpora/container/accept/v6*.dat; do
		grep -q weft-set "$sample" || continue
		cut_everywhere "$sample"
	done
	need_tracefs
	cd "$work" || exit 1
	weft record -q --file-version 6 -o six.dat -e sched -- true
	cut_everywhere six.dat
}

@test "a stranger who names no file is told how one is made" {
	cd "$BATS_TEST_TMPDIR" || return 1
	for command in summary report brief why info; do
		run -1 weft $command
		[[ "$output" == *"'trace.dat'"*"weft record -- COMMAND" ]] || { echo "$command: $output"; return 1; }
	done
	run -1 weft summary other.dat
	[[ "$output" != *"weft record"* ]]
	: > own.dat
	run -2 weft own.dat
	[ "$output" = "weft: no command 'own.dat', but a file: 'weft summary FILE' is the first look at one" ]
}

@test "bad input: what a command does not take, or takes already, is named" {
	cd "$BATS_TEST_TMPDIR"
	file=$BATS_TEST_DIRNAME/../fixtures/session/slow.dat
	run -2 weft doctor it
	[ "${lines[0]}" = "weft doctor: takes no word 'it'" ]
	run -2 weft merge -o out.dat "$file"
	[[ "${lines[0]}" == "weft merge: only one file given: "* ]]
	run -1 weft import -o out.dat "$file"
	[ "$output" = "weft: '$file' is a trace.dat already: all commands read it as it is" ]
	run -2 weft report --until 19 --since 19.2 "$file"
	[ "$output" = "weft: --until 19 is before --since 19.2: nothing is chosen" ]
	run -1 weft why --call nosuch "$file"
	[ "$output" = "weft: no call of nosuch began and ended among the events; 'weft syscalls' lists those that did" ]
	run -1 weft why --task nosuch "$file"
	[ "$output" = "weft: the events name no task 'nosuch'; 'weft list tasks' lists those they name" ]
	run -1 weft sql -q "$file" 'SELECT'
	[ "$output" = "weft: incomplete input: the statement of SQL ends too early" ]
	[ ! -e out.dat ]
}
