#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

# completes LINE: the words that bash offers at the end of it, one a line
completes()
{
	bash -c '
		. completions/weft.bash
		COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=$'\'' \t\n"><=;|&(:'\''
		_weft
		printf "%s\n" "${COMPREPLY[@]}"' - "$1"
}

offers()
{
	completes "$1" | grep -qx -e "$2"
}

@test "bash completes commands" {
	offers 'weft re' report
	offers 'weft re' record
	offers 'weft ' help
	! offers 'weft rep' record
}

@test "bash completes the long and short options of the command only" {
	offers 'weft record --ev' --event
	offers 'weft record -' -e
	! offers 'weft report -' --duration
}

@test "bash completes events, also behind the colon and behind an equals sign" {
	need_tracefs
	offers 'weft record -e sched' sched
	offers 'weft record -e sched:sched_sw' sched_switch
	offers 'weft record --event=sched:sched_sw' sched_switch
}

@test "bash completes tracers, clocks, formats and choices" {
	need_tracefs
	offers 'weft record -p ' nop
	offers 'weft record -C glo' global
	offers 'weft report --format ' ftrace
}

@test "bash completes a file for report and a command for record" {
	cd "$BATS_TEST_TMPDIR"
	: > seen.dat
	run bash -c '
		. "$1/completions/weft.bash"
		COMP_LINE="weft report se" COMP_POINT=14
		_weft
		echo "${COMPREPLY[@]}"' - "$OLDPWD"
	[[ "$output" == *seen.dat* ]]
	cd "$OLDPWD"
	offers 'weft record -- mkd' mkdir
	offers 'weft record mkd' mkdir
}

@test "bash completes nothing of weft behind the command that is recorded" {
	! offers 'weft record -- ls --ev' --event
	! offers 'weft record ls --ev' --event
}

@test "fish completes commands, options and events" {
	need_command fish
	export HOME=$BATS_TEST_TMPDIR
	fish -c 'source completions/weft.fish; complete -C "weft re"' | grep -q '^report'
	fish -c 'source completions/weft.fish; complete -C "weft record --ev"' | grep -q '^--event'
	need_tracefs
	fish -c 'source completions/weft.fish; complete -C "weft record -e sched:sched_sw"' | grep -q sched_switch
}

@test "zsh reads its completion" {
	need_command zsh
	zsh -n completions/_weft
}

@test "the man pages render without a warning" {
	need_command groff
	for page in man/*.[1-8]; do
		run groff -ww -man -z -T utf8 "$page"
		[ "$status" -eq 0 ]
		[ -z "$output" ]
	done
}
