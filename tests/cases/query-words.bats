#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The words that choose events mean the same in all commands that read recordings: each mistake has one message, and each
# word selects the same events. Those of weft report are tested by the cases of report.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
file=$golden/6.12-events-sched.dat

# messages_of OPTION READER...: what each reader says about the option, one line for each different text
messages_of()
{
	local option=$1 reader said words
	shift
	for reader; do
		read -ra words <<< "${reader//MADE/$BATS_TEST_TMPDIR/made}"
		said=$(weft "${words[0]}" "$option" "${words[@]:1}" "$file" 2>&1 > "$BATS_TEST_TMPDIR/out" < /dev/null) && { echo "$reader: no failure"; continue; }
		# Not compared: the command's name, and the file's, which diff puts in front because it has two.
		sed -E "s/^weft [a-z]+: /weft: /; s,^weft: '$file': (--),weft: \\1,; s/'weft help [a-z]+'/'weft help'/" <<< "$said" | tr '\n' '|'
		echo
	done | sort -u
}

# one_message OPTION TEXT READER...: all say the same, and TEXT is part of it
one_message()
{
	local option=$1 text=$2 said
	shift 2
	said=$(messages_of "$option" "$@")
	echo "$option: $said"
	[ "$(wc -l <<< "$said")" -eq 1 ]
	[[ "$said" == *"$text"* ]]
}

everything=(report "export --to csv -o MADE" "split -q -o MADE" "sql -q")
analyses=(summary sched syscalls latency graph irq block locks stacks memory power tasks "diff sched $file")
# diff has two files, so no number of events
counting=("${analyses[@]:0:11}")
hist="hist sched:sched_switch --keys prev_comm -i"

@test "query: a mistake in a time has one message in every reader" {
	one_message --since=tomorrow "'tomorrow' is not a time" "${everything[@]}" "${analyses[@]}" "$hist"
	one_message --until=1x "'1x' is not a time" "${everything[@]}" "${analyses[@]}" "$hist"
	one_message --since=@nosuch "--since: '@nosuch': the file knows no event 'nosuch'" "${everything[@]}" "${analyses[@]}" "$hist"
	one_message --until=10:30:00 "--until: '10:30:00': the file does not tell the time of day" "${everything[@]}" "${analyses[@]}" "$hist"
}

@test "query: a mistake in CPUs, tasks and instances has one message in every reader" {
	one_message --cpu=3-1 "--cpu: '3-1' is neither" "${everything[@]}" "${analyses[@]}"
	one_message --pid=x "--pid: 'x' is no number" "${everything[@]}" "${analyses[@]}"
	one_message --pid=1,5000000000 "--pid: 5000000000 is not between" "${everything[@]}" "${analyses[@]}"
	one_message --instance=nosuch "has no buffer of an instance 'nosuch'" "${everything[@]}" "${analyses[@]}" "$hist"
}

@test "query: a mistake in events, filters and numbers has one message in every reader that takes them" {
	one_message --event=nosuch "knows no event 'nosuch'" "${everything[@]}"
	one_message "--filter=((" "--filter: " "${everything[@]}"
	one_message "--filter=nosuch == 1" "--filter: Field not found" "${everything[@]}"
	one_message "--filter=duration > 1xs" "--filter: " "${everything[@]}"
	one_message --longer=1xs "--longer: " "${everything[@]}"
	one_message --limit=x "--limit: 'x' is no number" "${everything[@]}" "${counting[@]}"
	one_message --tail=-1 "--tail: '-1' is no number" "${everything[@]}" "${counting[@]}"
}

# selected OPTION...: the number of events that each reader selects is that of report, and not all or none
selected()
{
	local nr
	nr=$(weft report "$@" "$file" 2> /dev/null | grep -cv '^#')
	echo "$*: $nr"
	[ "$nr" -gt 0 ]
	[ "$nr" -lt "$all" ]
	[ "$(weft export --to jsonl "$@" "$file" 2> /dev/null | wc -l)" -eq "$nr" ]
	[ "$(weft split -q "$@" -o - "$file" | weft report - | grep -cv '^#')" -eq "$nr" ]
	[ "$(weft sql -q --format csv "$@" "$file" 'SELECT count(*) FROM ftrace_event' | tail -n 1)" -eq "$nr" ]
}

@test "query: each word selects the same events in report, export, split and sql" {
	all=$(weft report "$file" | grep -cv '^#')
	selected -e sched_switch
	selected -f 'prev_pid == 0'
	selected -v -f 'prev_pid == 0'
	selected -f 'prev_pid == 0' -f 'sched_waking: target_cpu == 1'
	selected -f 'duration > 1us'
	selected --longer 1us
	selected --cpu 1
	selected --pid "$(weft report "$file" | grep -v '^#' | sed -nE 's/^ *[^ ]+-([1-9][0-9]*) .*/\1/p' | head -n 1)"
	selected --comm sh
	selected -I -S
	selected --limit 5
	selected --tail 5
	selected --since +1ms
}

# the_same OPTION N OPTION TIME ANALYSIS...: the first N events, or the last ones, are those up to a time, or from it on
the_same()
{
	local analysis
	for analysis in "${@:5}"; do
		# Events of equal number stand in the order in which they were met, those before the tail, too.
		weft "$analysis" --format json "$1" "$2" "$file" | tr '{' '\n' | sed 's/[],]*$//' | sort > "$BATS_TEST_TMPDIR/by-number"
		weft "$analysis" --format json "$3" "$4" "$file" | tr '{' '\n' | sed 's/[],]*$//' | sort > "$BATS_TEST_TMPDIR/by-time"
		[ -s "$BATS_TEST_TMPDIR/by-time" ]
		diff "$BATS_TEST_TMPDIR/by-number" "$BATS_TEST_TMPDIR/by-time"
	done
	return 0
}

@test "query: --limit and --tail of an analysis are windows of its events, as --until and --since are" {
	local at
	at=$(weft report -t --limit 30 "$file" | tail -n 1 | grep -oE '[0-9]+\.[0-9]{9}')
	the_same --limit 30 --until "$at" summary sched
	at=$(weft report -t --tail 30 "$file" | grep -v '^#' | head -n 1 | grep -oE '[0-9]+\.[0-9]{9}')
	the_same --tail 30 --since "$at" summary sched tasks
	[ "$(weft sched --timehist --limit 30 "$file" | grep -c '^ .* [RSDZ]+*$')" -lt \
		"$(weft sched --timehist "$file" | grep -c '^ .* [RSDZ]+*$')" ]
	# In batches of a thread, over several buffers, and over intervals
	weft summary --limit 7 --tail 9 "$golden/6.12-events-syscalls.dat" > /dev/null
	[ "$(weft sched --every 1ms --format json --limit 30 "$file" | wc -c)" -lt "$(weft sched --every 1ms --format json "$file" | wc -c)" ]
}

@test "query: stacks counts the events of -e and -f, and the tasks' times go on" {
	local stacks=$golden/6.12-event-stacktrace.dat all one
	all=$(weft stacks --format json "$stacks")
	one=$(weft stacks --format json -e sched_switch "$stacks")
	[ "$(jq '[.[] | arrays[] | select(.event? == "sched:sched_switch") | .count] | add' <<< "$all")" = \
		"$(jq '[.[] | arrays[] | select(.event?) | .count] | add' <<< "$one")" ]
	[ "$(jq '[.[] | arrays[] | select(.times?)] | sort' <<< "$all")" = "$(jq '[.[] | arrays[] | select(.times?)] | sort' <<< "$one")" ]
	[ "$(weft stacks --table events --format csv -e sched_process_exec "$stacks" | grep -c sched_switch)" -eq 0 ]
	[ "$(weft stacks --format json -f 'prev_state & 0x100' "$stacks" | jq '[.[] | arrays[] | select(.times?) | .blocked_ns] | add')" -eq 0 ]
	said=$(weft stacks -e nosuch "$stacks" 2>&1) && return 1
	[[ "$said" == *"knows no event 'nosuch'"* ]]
	weft stacks -f 'prev_prio == 1' "$stacks" 2>&1 | grep -q "none meets the filter 'prev_prio == 1'"
}

@test "query: what plugins know can be asked for in export and sql, as in report" {
	local call=$golden/6.12-events-syscalls.dat
	[ "$(weft report --decode -f 'error == "ENOENT"' "$call" | grep -cv '^#')" -eq 1 ]
	[ "$(weft export --to jsonl --decode -f 'error == "ENOENT"' "$call" | wc -l)" -eq 1 ]
	[ "$(weft sql -q --decode --format csv -f 'error == "ENOENT"' "$call" 'SELECT count(*) FROM ftrace_event' | tail -n 1)" -eq 1 ]
}

@test "query: an option that would begin in the middle is refused in every reader" {
	one_message "--filter=duration > 1us" "--tail reads only the last events" "report --tail 2" "export --to csv -o MADE --tail 2" \
		"split -q -o MADE --tail 2" "sql -q --tail 2"
}

@test "query: diff takes rows of some CPUs and tasks as the analyses do, and counts per second of those CPUs" {
	local pid
	pid=$(weft sched --format json "$file" | jq '[.tasks[] | select(.comm == "sh")][0].pid')
	weft diff sched --format csv --pid "$pid" "$file" "$file" > "$BATS_TEST_TMPDIR/one"
	weft diff sched --format csv "$file" "$file" > "$BATS_TEST_TMPDIR/all"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/one")" -lt "$(wc -l < "$BATS_TEST_TMPDIR/all")" ]
	weft diff sched --per cpu-second "$file" "$file" > "$BATS_TEST_TMPDIR/two"
	weft diff sched --per cpu-second --cpu 1 "$file" "$file" > "$BATS_TEST_TMPDIR/one"
	# The span counts once for each CPU.
	awk -v one="$(grep -oE 'each CPU: [0-9.]+' "$BATS_TEST_TMPDIR/one" | cut -d' ' -f3)" \
		-v two="$(grep -oE 'each CPU: [0-9.]+' "$BATS_TEST_TMPDIR/two" | cut -d' ' -f3)" \
		'BEGIN { exit !(one > 0 && two > 1.9 * one && two < 2.1 * one) }'
}
