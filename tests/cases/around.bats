#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# --around MARK: the time before and after a marker, in every reader. The markers and their times are those that the
# kernel printed (6.12-markers.txt).
load lib
load screens

golden=$BATS_TEST_DIRNAME/../fixtures/golden
file=$golden/6.12-markers.dat

teardown()
{
	screen_end
}

# texts OPTION...: the text of each event that report prints
texts()
{
	weft report "$@" "$file" | sed -n 's/.*: tracing_mark_write: //p'
}

@test "around: a part of a marker's text is enough, and --before and --after say how much" {
	[ "$(texts --around 'tab' --before 0)" = $'tab\there' ]
	[ "$(texts --around 'tab' --before 3us)" = $'\ntab\there' ]
	[ "$(texts --around 'tab' --before 0 --after 4us)" = $'tab\there\nutf8 日本' ]
	[ "$(texts --around 'plain')" = plain ]
	[ "$(weft report --around tab --before 10us --after 4us "$file")" = "$(weft report --since 50.711966 --until 50.711980 "$file")" ]
}

@test "around: of several markers that have the text #2 means the second, and a message lists them" {
	[ "$(texts --around 'with#1' --before 0)" = 'with newline' ]
	run -1 --separate-stderr weft report --around e --before 0 "$file"
	[ "$output" = "" ]
	[[ "${stderr_lines[0]}" == "weft: --around: 'e': "*" markers have this text; give more of it, or 'e#2' for the second:" ]]
	[ "${stderr_lines[1]}" = "  50.711955 with newline" ]
	[ "${stderr_lines[2]}" = "  50.711968 two lines" ]
	[ "$(texts --around 'e#2' --before 0)" = two ]
}

@test "around: an unknown marker is told with those that are there, and a near one" {
	run -1 --separate-stderr weft report --around plian "$file"
	[ "${stderr_lines[0]}" = "weft: --around: 'plian': none of its 17 markers has this text; did you mean 'plain'?" ]
	[ "${stderr_lines[1]}" = "  50.711798 plain" ]
	run -1 --separate-stderr weft report --around plain "$golden/6.12-events-sched.dat"
	[ "$stderr" = "weft: --around: 'plain': the file has no markers" ]
}

@test "around: it also takes an event and a time, and not --since" {
	[ "$(texts --around '@mark:tab' --before 0)" = $'tab\there' ]
	[ "$(texts --around 50.711978 --before 3us --after 999ns)" = $'tab\there\nutf8 日本' ]
	run -2 weft report --around plain --since 1 "$file"
	[[ "$output" == *"--around cannot be combined with --since and --until"* ]]
	run -2 weft report --before 1s "$file"
	[[ "$output" == *"--before and --after are for --around"* ]]
}

@test "around: every reader selects the same events" {
	[ "$(weft export --to jsonl --around tab --before 10us "$file" | wc -l)" -eq 4 ]
	[ "$(weft split -q --around tab --before 10us -o - "$file" | weft report - | sed -n 's/.*: tracing_mark_write: //p')" = "$(texts --around tab --before 10us)" ]
	[ "$(weft sql -q --format csv --around tab --before 10us "$file" 'SELECT count(*) FROM ftrace_event' | tail -n 1)" -eq 4 ]
	weft summary --around tab --before 10us "$file" | grep -q '^events  *4'
	weft hist ftrace:print --keys common_pid --input "$file" --around tab --before 10us | grep -q '^ *681  *4 '
	run -1 weft diff sched "$file" "$file" --around nosuch
	[[ "$output" == *"--around: 'nosuch': none of its 17 markers"* ]]
}

@test "around: weft view opens at the mark, and still has what is far from it" {
	screen_start 100 10 weft view --around from "$file"
	screen_await "from shell"
	[ "$(screen_show | grep -c 'ctl')" -eq 0 ]
	screen_keys g
	screen_await "with newline"
}
