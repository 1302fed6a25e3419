#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only

load lib
load screens

setup()
{
	need_shared bench/sched-syscalls.dat
	FILE=$BATS_TEST_TMPDIR/sched.dat
	ln -s "$SHARED/bench/sched-syscalls.dat" "$FILE"
}

teardown()
{
	screen_end
}

# All keys were done: the prompt has what was typed last.
screen_done()
{
	screen_keys : here
	screen_await ":here"
	screen_keys Escape
	screen_await_not ":here"
}

# The lines of events on the screen, without the lines around them.
events_shown()
{
	screen_show | sed '1d' | head -n -2 | grep -v '^$'
}

@test "view: without a terminal it says so, and the exit status is 2" {
	run -2 --separate-stderr weft view "$FILE" < /dev/null
	[ "$output" = "" ]
	[[ "$stderr" == *"weft view needs a terminal"*"weft report"* ]]
}

@test "view: a dumb terminal is refused" {
	screen_start 80 24 env TERM=dumb "$WEFT" view "$FILE"
	screen_await "needs a terminal"
	screen_await "STATUS 2"
}

@test "view: the first screen has the first lines of report, at three sizes" {
	weft report --limit 100 "$FILE" 2> /dev/null | grep -v '^#' > "$BATS_TEST_TMPDIR/report"
	for size in 80x24 120x40 200x60; do
		screen_start "${size%x*}" "${size#*x}" "$WEFT" view "$FILE"
		screen_await "? keys"
		events_shown > "$BATS_TEST_TMPDIR/shown"
		[ "$(wc -l < "$BATS_TEST_TMPDIR/shown")" = $((${size#*x} - 3)) ]
		# A line that is too long ends with a mark.
		head -n $((${size#*x} - 3)) "$BATS_TEST_TMPDIR/report" |
			awk -v width="${size%x*}" '{ print (length($0) > width ? substr($0, 1, width - 1) ">" : $0) }' |
			sed 's/ *$//' | diff - "$BATS_TEST_TMPDIR/shown"
		screen_end
	done
}

@test "view: G and then pages up show the end of report backwards" {
	weft report --tail 1000 "$FILE" 2> /dev/null | grep -v '^#' | sed 's/ *$//' > "$BATS_TEST_TMPDIR/report"
	screen_start 250 30 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys G
	screen_await "100.0 %"
	tail -n 27 "$BATS_TEST_TMPDIR/report" | diff - <(events_shown)
	for page in $(seq 20); do
		screen_keys PageUp
		last=$(tail -n $((27 + page * 26)) "$BATS_TEST_TMPDIR/report" | head -n 1)
		screen_await "$last"
		tail -n $((27 + page * 26)) "$BATS_TEST_TMPDIR/report" | head -n 27 | diff - <(events_shown)
	done
}

@test "view: a time of the prompt is where report --since begins" {
	screen_start 250 30 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys : 40.5 Enter
	first=$(weft report --since 40.5 --limit 1 "$FILE" 2> /dev/null | grep -v '^#' | sed 's/ *$//')
	screen_await "$first"
	screen_keys : +1ms Enter
	screen_await " 40.501"
	screen_keys : 50% Enter
	screen_await " 50.0 %"
}

@test "view: the prompt says what is no time, and that a time is outside of the recording" {
	screen_start 80 30 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys : abc Enter
	screen_await "':abc' is no command and no time: 15.6, +2ms, 50%, #1000, 10:30:00"
	screen_keys : @nosuch Enter
	screen_await "nosuch"
	[[ "$(screen_show)" != *--since* ]]
	weft report "$FILE" 2> /dev/null | grep -v '^#' > "$BATS_TEST_TMPDIR/lines"
	stamp() { grep -oE '[0-9]+\.[0-9]{6}: ' | head -n 1 | tr -d ': '; }
	screen_keys : 99999 Enter
	screen_await "99999 is after the last event, at $(tail -n 1 "$BATS_TEST_TMPDIR/lines" | stamp)"
	screen_keys : 0.5 Enter
	screen_await "0.5 is before the first event, at $(head -n 1 "$BATS_TEST_TMPDIR/lines" | stamp)"
	screen_keys : 40.5 Enter
	screen_await_not "the first event"
}

@test "view: the command line that c copies prints the rows of the list, as view was started" {
	screen_start 250 24 "$WEFT" view --decode -t --cpu 1 -e sched "$FILE"
	screen_await "? keys"
	# Marks elsewhere.
	screen_keys : 41 Enter a : 42 Enter b : 40.5 Enter
	screen_await "40.500000000"
	screen_keys c
	screen_await "weft report --since 40."
	command=$(screen_show | grep -o 'weft report --since .*dat')
	[[ "$command" == *" --cpu 1 -e sched --decode -t "* ]]
	first=$(events_shown | sed 's/^ *//' | head -n 1)
	last=$(events_shown | sed 's/^ *//' | tail -n 1)
	run -0 --separate-stderr sh -c "PATH=$(dirname "$WEFT"):\$PATH; cd $BATS_TEST_TMPDIR && $command | grep -v '^#' | sed 's/^ *//; s/ *$//'"
	[ "${lines[0]}" = "$first" ]
	[ "${lines[-1]}" = "$last" ]
}

@test "view: a filter shows the lines that report -f prints, and Esc takes it away" {
	filter='sched_switch: next_pid > 150 && prev_prio < 120'
	screen_start 250 30 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys '&'
	screen_await "filter:"
	screen_keys -l "$filter"
	screen_keys Enter
	screen_await "1 of 1 filter on"
	weft report -f "$filter" --limit 27 "$FILE" 2> /dev/null | grep -v '^#' | sed 's/ *$//' > "$BATS_TEST_TMPDIR/report"
	screen_await "$(tail -n 1 "$BATS_TEST_TMPDIR/report")"
	diff "$BATS_TEST_TMPDIR/report" <(events_shown | head -n "$(wc -l < "$BATS_TEST_TMPDIR/report")")
	screen_keys Escape
	screen_await_not "filter on"
}

# The words of the help: of as many pages as there are.
help_words()
{
	screen_start "$1" "$2" "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys '?'
	screen_await "Esc leaves"
	while true; do
		screen_show > "$BATS_TEST_TMPDIR/page"
		sed '1d' "$BATS_TEST_TMPDIR/page" | head -n -2 >> "$BATS_TEST_TMPDIR/help-$1"
		state=$(tail -n 1 "$BATS_TEST_TMPDIR/page")
		[[ "$state" == *"lines more"* ]] || break
		screen_keys Space
		screen_await_not "$state"
	done
	screen_keys Escape
	screen_await "? keys"
	screen_end
	tr -s ' \n' '\n' < "$BATS_TEST_TMPDIR/help-$1" | sort -u
}

@test "view: the help is wrapped at the screen's width, and all of it can be reached by keys" {
	help_words 200 80 > "$BATS_TEST_TMPDIR/wide"
	help_words 40 12 > "$BATS_TEST_TMPDIR/narrow"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/wide")" -gt 100 ]
	diff "$BATS_TEST_TMPDIR/wide" "$BATS_TEST_TMPDIR/narrow"
	screen_start 40 12 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys '?' G
	screen_await "leave weft"
	screen_await "Esc leaves; back: k"
	screen_keys PageUp
	screen_await_not "leave weft"
	screen_keys g
	screen_await "Keys of the pane 'events'"
	screen_keys q
	screen_await_not "Keys of"
	screen_await "? keys"
}

# The time of the cursor, in the line above the keys.
cursor_at()
{
	screen_show | tail -n 2 | head -n 1 | cut -d' ' -f1
}

@test "view: Esc after a search that found nothing stays in place, and goes back after that" {
	screen_start 120 24 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys : 40 Enter
	screen_done
	at=$(cursor_at)
	# The longest wait of the task is 63 ms.
	screen_keys w "64ms 17" Enter
	screen_await "no later wakeup of this task behind the cursor"
	[ "$(cursor_at)" = "$at" ]
	screen_keys Escape
	screen_await "? keys"
	screen_done
	[ "$(cursor_at)" = "$at" ]
	screen_keys / nowhere Enter
	screen_await "no such text behind the cursor"
	screen_keys Escape
	screen_await "? keys"
	screen_done
	[ "$(cursor_at)" = "$at" ]
	screen_keys Escape
	screen_await "21.590462  0.0 %"
}

@test "view: a search without capitals finds a text in any case, one with capitals only that" {
	screen_start 120 24 "$WEFT" view "$FILE"
	screen_await "? keys"
	weft report "$FILE" 2> /dev/null | grep -v '^#' > "$BATS_TEST_TMPDIR/report"
	for text in prev_state=s prev_state=S; do
		run grep -m 1 -i "$text" "$BATS_TEST_TMPDIR/report"
		[[ "$output" =~ \ ([0-9]+\.[0-9]{6}): ]]
		screen_keys g / "$text" Enter
		screen_await "${BASH_REMATCH[1]}  "
		screen_done
		[ "$(cursor_at)" = "${BASH_REMATCH[1]}" ]
	done
	screen_keys g / PREV_STATE=s Enter
	screen_await "no such text behind the cursor"
}

@test "view: a search for the name of a system call says how raw_syscalls are searched" {
	screen_start 80 30 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys / kexec_load Enter
	# The number in arch/x86/entry/syscalls/syscall_64.tbl.
	screen_await "no such text; raw_syscalls have no names: -f 'id == 246' finds kexec_load"
	screen_keys / kexec_loads Enter
	screen_await "no such text behind the cursor"
	screen_keys '\\' kexec_loads Enter
	screen_await "no such text before the cursor"
}

@test "view: Enter opens the details of an event below the list, and Esc and q close them" {
	screen_start 120 30 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys j j
	screen_await "21.590488  0.0 %"
	for key in Escape q; do
		screen_keys Enter
		screen_await "context  preemption off"
		screen_await "[1 events]"
		# The keys are those of the details.
		screen_keys j j j j j Enter
		screen_await "21.590489  0.0 %"
		screen_keys '<'
		screen_await "21.590488  0.0 %"
		screen_keys "$key"
		screen_await_not "context  preemption off"
		screen_await "[1 events]"
		screen_await "21.590488  0.0 %"
	done
}

@test "view: on a narrow screen a line has its time, its task and the event's name" {
	screen_start 40 12 "$WEFT" view "$FILE"
	screen_await "? keys"
	weft report --limit 100 "$FILE" 2> /dev/null | grep -v '^#' | head -n 9 | screen_lines 40 > "$BATS_TEST_TMPDIR/lines"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/lines")" = 9 ]
	events_shown | diff "$BATS_TEST_TMPDIR/lines" -
}

# click COLUMN ROW, from 1
click()
{
	screen_keys -H 1b 5b 3c 30 3b $(printf %s "$1" | od -An -tx1) 3b $(printf %s "$2" | od -An -tx1) 4d
}

@test "view: a click on the name of a pane shows it, at any width" {
	screen_start 80 24 "$WEFT" view "$FILE"
	screen_await "? keys"
	click 15 1
	screen_await "[2 time line]"
	screen_await "a column is"
	click 2 1
	screen_await "[1 events]"
	click 3 4
	screen_await "21.590488  0.0 %"
	screen_end
	screen_start 40 12 "$WEFT" view "$FILE"
	screen_await "[1 events] 2  3  4  5"
	click 18 1
	screen_await "[4 tables]"
	click 2 1
	screen_await "[1 events]"
}

@test "view: a wrong filter is shown with a caret" {
	screen_start 100 30 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys '&'
	screen_keys -l "sched_switch: next_pid >"
	screen_keys Enter
	screen_await "^"
	screen_await "next_pid >"
	screen_keys Escape
	screen_await_not "^"
}

@test "view: the terminal is as before after q, SIGTERM and SIGSEGV" {
	for how in q TERM SEGV; do
		screen_start 80 24 "$WEFT" view "$FILE"
		screen_await "? keys"
		[ "$(tmux -L "$SCREENS" display -p '#{alternate_on}#{mouse_any_flag}')" = 11 ]
		if [ $how = q ]; then
			screen_keys q
		else
			kill -$how "$(pgrep -P "$(tmux -L "$SCREENS" display -p '#{pane_pid}')" weft)"
		fi
		screen_await ENDED
		[ "$(tmux -L "$SCREENS" display -p '#{alternate_on}#{mouse_any_flag}#{cursor_flag}')" = 001 ]
		diff "$BATS_TEST_TMPDIR/stty.before" "$BATS_TEST_TMPDIR/stty.after"
		[ $how != q ] || screen_show | grep -x "STATUS 0"
		screen_end
	done
}

@test "view: after random keys the screen is the one that Ctrl-L draws" {
	keys=(j j j k Down Up PageDown PageUp C-d C-u l h d T g G '[' ']' '{' '}' '%' o O Tab a b A B '<' '>' t e n)
	screen_start 120 40 "$WEFT" view "$FILE"
	screen_await "? keys"
	RANDOM=7
	for _ in $(seq 15); do
		picked=()
		for _ in $(seq 40); do picked+=("${keys[RANDOM % ${#keys[@]}]}"); done
		screen_keys "${picked[@]}"
		screen_done
		# Blanks at the end of a line that were never written have no colours of their own.
		screen_show -e | sed 's/\(\x1b\[[0-9;]*m\)*$//' > "$BATS_TEST_TMPDIR/drawn"
		screen_keys C-l
		screen_done
		screen_show -e | sed 's/\(\x1b\[[0-9;]*m\)*$//' | diff "$BATS_TEST_TMPDIR/drawn" -
	done
}

@test "view: the tables are those of the analysis, and Enter and o find why the longest wakeup was late" {
	weft sched --format json "$FILE" 2> /dev/null > "$BATS_TEST_TMPDIR/sched.json"
	screen_start 160 40 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys 4
	screen_await "tasks: how long each ran"
	weft sched "$FILE" 2> /dev/null | grep -E '^(storm-[0-3]|rcu_preempt) ' > "$BATS_TEST_TMPDIR/rows"
	while read -r task pid run _; do
		screen_await_line "^$task +$pid +$run "
	done < "$BATS_TEST_TMPDIR/rows"
	screen_keys G Enter
	screen_await "42.938772  74.7 %"
	screen_keys o
	screen_await "woken by rcuc/0-19 on CPU 0"
	screen_await "63.0 ms before"
	screen_await "waking to queued 38.8 ms, queued to here 24.2 ms"
	[ "$(jq '[.tasks[].delay_max_ns] | max / 100000 | round' "$BATS_TEST_TMPDIR/sched.json")" = 630 ]
}

@test "view: between the marks the tables are those of --since and --until" {
	screen_start 200 40 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys : 30 Enter a : 31 Enter b 4
	screen_await "tasks: how long each ran"
	screen_await "B-A 1.0"
	screen_keys c
	screen_await "weft sched --since 30.0"
	command=$(screen_show | tail -n 1 | sed 's/ *$//')
	$command 2> /dev/null | grep -E '^storm-[0-3] ' > "$BATS_TEST_TMPDIR/rows"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/rows")" -gt 1 ]
	while read -r task pid run unit wait rest; do
		screen_await_line "^$task +$pid +$run $unit +$wait "
	done < "$BATS_TEST_TMPDIR/rows"
}

@test "view: the tables are about the tasks and CPUs of the filters, and say which filters do not hold" {
	screen_start 160 40 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys : "comm storm-[01]" Enter : "cpu 1" Enter : "event sched" Enter 4
	screen_await "tasks: how long each ran"
	screen_await "only --pid, --comm and --cpu hold here"
	weft sched --comm 'storm-[01]' --cpu 1 "$FILE" 2> /dev/null | grep -E '^storm-[01] ' > "$BATS_TEST_TMPDIR/rows"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/rows")" -ge 1 ]
	while read -r task pid run unit wait rest; do
		screen_await_line "^$task +$pid +$run $unit +$wait "
	done < "$BATS_TEST_TMPDIR/rows"
	screen_show > "$BATS_TEST_TMPDIR/shown"
	run -1 grep -E '^storm-2 ' "$BATS_TEST_TMPDIR/shown"
	screen_keys c
	screen_await "weft sched --comm 'storm-[01]' --cpu 1"
}

@test "view: the tables are about what the time line shows, and 0 makes that the whole recording again" {
	screen_start 160 40 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys : 30 Enter a : 31 Enter b 2
	screen_await "a column is"
	screen_keys Z 1 -
	screen_await_not "B-A"
	screen_keys 4
	screen_await "tasks: how long each ran"
	screen_keys c
	screen_await "weft sched --since 30.0"
	screen_keys 0
	screen_await "21.590462 to 50.162043"
	screen_keys c
	screen_await "weft sched $FILE"
}

@test "view: summary is one of the tables, and rows of other analyses lead to their moments" {
	screen_start 160 50 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys 4
	screen_await "tasks: how long each ran"
	screen_keys h
	screen_await "[summary]"
	screen_await "3,010,019"
	screen_keys l l
	screen_await "system calls"
	at=$(weft syscalls --format json "$FILE" 2> /dev/null | jq -r '.syscalls[0].max_at')
	screen_keys j j Enter
	screen_await "[1 events]"
	screen_await "$(printf %.6f "$at")  "
	screen_keys 4 l l
	screen_await "the longest wakeups"
	at=$(weft latency --format json "$FILE" 2> /dev/null | jq -r ".wakeups[0].since")
	screen_keys j j Enter
	screen_await "[1 events]"
	screen_await "$(printf %.6f "$at")  "
}

@test "view: chosen columns have what report --format json has, and are saved in the session" {
	screen_start 140 24 "$WEFT" view -e sched_switch "$FILE"
	screen_await "? keys"
	screen_keys :
	screen_keys -l "columns time delta task cpu event next_pid"
	screen_keys Enter
	screen_await "next_pid"
	weft report --format json -e sched_switch --limit 40 "$FILE" 2> /dev/null |
		jq -r 'select(.event == "sched_switch") | [.ts, "\(.comm)-\(.pid)", .cpu, .event, .fields.next_pid] | @tsv' | head -n 18 |
		awk '{ printf "%.6f %s %s %s %s\n", $1 / 1e9, $2, $3, $4, $5 }' > "$BATS_TEST_TMPDIR/json"
	events_shown | grep sched_switch | awk '{ print $1, $4, $5, $6, $7 }' | head -n 18 | diff "$BATS_TEST_TMPDIR/json" -
	# A delta is the difference of the times of two rows.
	events_shown | grep sched_switch | head -n 18 | awk '
		NR > 1 { d = ($1 - last) * 1e6; shown = $2 * ($3 == "ms" ? 1000 : 1)
			 if (d - shown > shown / 10 + 1 || shown - d > shown / 10 + 1) { print d, shown; bad = 1 } }
		{ last = $1 }
		END { exit bad }'
	screen_keys :
	screen_keys -l "columns time nxet_pid"
	screen_keys Enter
	screen_await "no event has a field 'nxet_pid'; did you mean 'next_pid'"
	screen_keys c
	screen_await "weft export --to csv --fields ts,comm,pid,cpu,event,next_pid --since"
	screen_keys : w Enter
	screen_await "saved"
	grep -x "columns time delta task cpu event next_pid" "$FILE.view"
	screen_keys : columns Enter
	screen_await "sched_switch: prev_comm="
	screen_keys Q
	screen_await "STATUS 0"
	screen_end
	screen_start 140 24 "$WEFT" view "$FILE"
	screen_await "task"
	screen_await "next_pid"
}

@test "view: Tab completes the names of columns" {
	screen_start 100 24 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys :
	screen_keys -l "col"
	screen_keys Tab
	screen_await ":columns"
	screen_keys -l " next_pi"
	screen_keys Tab
	screen_await ":columns next_pid"
	screen_keys Enter
	screen_await_not ":columns"
	screen_show | sed -n 2p | grep -x "next_pid *"
}

@test "view: W finds the late wakeups that w finds, backwards" {
	screen_start 160 24 "$WEFT" view "$FILE"
	screen_await "? keys"
	# After each of them the state at the bottom has its time.
	screen_keys : 40 Enter
	screen_await "40.0"
	for _ in 1 2 3 4 5; do
		screen_keys w "8ms 17" Enter
		screen_done
		screen_show | tail -n 2 | head -n 1 | cut -d' ' -f1 >> "$BATS_TEST_TMPDIR/forward"
	done
	[ "$(sort -u "$BATS_TEST_TMPDIR/forward" | wc -l)" = 5 ]
	for _ in 1 2 3 4; do
		screen_keys W "8ms 17" Enter
		screen_done
		screen_show | tail -n 2 | head -n 1 | cut -d' ' -f1 >> "$BATS_TEST_TMPDIR/back"
	done
	head -n 4 "$BATS_TEST_TMPDIR/forward" | tac | diff - "$BATS_TEST_TMPDIR/back"
	# No other wait is longer than the longest.
	screen_keys G W "62ms 17" Enter
	screen_await "42.938772"
	screen_keys W "62ms 17" Enter
	screen_await "no later wakeup of this task before the cursor"
}

# late-7 is woken while it runs, is preempted and comes back 45 ms later: that was no wakeup. Then it sleeps, and a timer
# wakes it, which hit burner-9: it waits 3 ms.
no_wakeup()
{
	weft import -q -o "$BATS_TEST_TMPDIR/none.dat" - <<- 'END'
		# tracer: nop
		#
		          <idle>-0       [000] d..2.     1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=late next_pid=7 next_prio=120
		          burner-9       [001] d..2.     1.001000: sched_waking: comm=late pid=7 prio=120 target_cpu=000
		            late-7       [000] d..2.     1.002000: sched_switch: prev_comm=late prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=other next_pid=8 next_prio=120
		           other-8       [000] d..2.     1.046000: sched_switch: prev_comm=other prev_pid=8 prev_prio=120 prev_state=S ==> next_comm=late next_pid=7 next_prio=120
		            late-7       [000] d..2.     1.050000: sched_switch: prev_comm=late prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
		          burner-9       [001] d.h2.     1.060000: sched_waking: comm=late pid=7 prio=120 target_cpu=000
		          <idle>-0       [000] d..2.     1.063000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=late next_pid=7 next_prio=120
		            late-7       [000] d..2.     1.064000: sched_switch: prev_comm=late prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
	END
}

@test "view: w and W find no wakeup of a task that ran, and the details no waker but the interrupt that woke it" {
	no_wakeup
	screen_start 160 40 "$WEFT" view "$BATS_TEST_TMPDIR/none.dat"
	screen_await "? keys"
	screen_keys w "40ms 7" Enter
	screen_await "no later wakeup of this task behind the cursor"
	screen_keys w "2ms 7" Enter
	screen_await "1.063000"
	screen_keys o
	screen_await "woken by an interrupt that hit burner-9 on CPU 1"
	screen_end
	screen_start 160 40 "$WEFT" view "$BATS_TEST_TMPDIR/none.dat"
	screen_await "? keys"
	screen_keys G W "40ms 7" Enter
	screen_await "no later wakeup of this task before the cursor"
	screen_keys W "2ms 7" Enter
	screen_await "1.063000"
}

@test "view: w and W follow the task of one machine, where another has a task and CPUs of the same numbers" {
	no_wakeup
	weft import -q -o "$BATS_TEST_TMPDIR/other.dat" - <<- 'END'
		# tracer: nop
		#
		           other-9       [000] d..2.     1.000500: sched_switch: prev_comm=other prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=twin next_pid=7 next_prio=120
		            twin-7       [000] d..2.     1.061000: sched_switch: prev_comm=twin prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=other next_pid=9 next_prio=120
		           other-9       [000] d..2.     1.061500: sched_waking: comm=twin pid=7 prio=120 target_cpu=000
		           other-9       [000] d..2.     1.062000: sched_switch: prev_comm=other prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=twin next_pid=7 next_prio=120
		            twin-7       [000] d..2.     1.065000: sched_switch: prev_comm=twin prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=other next_pid=9 next_prio=120
	END
	weft merge -q --offset "$BATS_TEST_TMPDIR/other.dat=0" -o "$BATS_TEST_TMPDIR/both.dat" "$BATS_TEST_TMPDIR"/{none,other}.dat
	screen_start 160 40 "$WEFT" view "$BATS_TEST_TMPDIR/both.dat"
	screen_await "? keys"
	screen_keys w "2ms 7" Enter
	screen_await "1.063000"
	screen_keys o
	screen_await "woken by an interrupt that hit burner-9 on CPU 1"
	screen_end
	# The last event is one of the other machine.
	screen_start 160 40 "$WEFT" view "$BATS_TEST_TMPDIR/both.dat"
	screen_await "? keys"
	screen_keys G W "2ms 7" Enter
	screen_await "no later wakeup of this task before the cursor"
	screen_keys W "400us 7" Enter
	screen_await "1.062000"
}

@test "view: an event's number is that of its line in report" {
	screen_start 160 24 "$WEFT" view "$FILE"
	screen_await "? keys"
	weft report "$FILE" 2> /dev/null | grep -v -e '^#' -e '^CPU' | sed -n '1600000p;1600001p' | sed 's/ *$//' > "$BATS_TEST_TMPDIR/lines"
	screen_keys : "#1600000" Enter
	screen_await "$(head -n 1 "$BATS_TEST_TMPDIR/lines")"
	screen_await "#1600000"
	screen_keys j
	screen_await "#1600001"
	screen_keys y
	screen_await "copied: $(tail -n 1 "$BATS_TEST_TMPDIR/lines")"
	screen_keys G
	screen_await "#$(weft summary --format json "$FILE" 2> /dev/null | jq -r '[.. | strings | select(test("^3,010,019$"))][0]' | tr -d ,)"
	screen_keys : "#0" Enter
	screen_await "the first event is #1"
}

@test "view: damaged files and random keys end neither in a crash nor in a hang" {
	keys=(j k PageDown PageUp G g 1 2 4 5 o Tab '[' ']' '{' '}' '%' t C e a b l h s Enter '<' '>' d T R n)
	RANDOM=11
	for file in 1 2 3 4 5 6 7 8 9 10; do
		cp --no-preserve=mode "$SHARED/samples/v7-zstd-8cpu-stacks.dat" "$BATS_TEST_TMPDIR/damaged.dat"
		for _ in 1 2 3 4; do
			printf '\377' | dd of="$BATS_TEST_TMPDIR/damaged.dat" bs=1 conv=notrunc status=none \
				seek=$((790000 + (RANDOM * 32768 + RANDOM) % 62000))
		done
		screen_start 100 30 "$WEFT" view "$BATS_TEST_TMPDIR/damaged.dat"
		screen_await "? keys"
		for _ in $(seq 10); do
			picked=()
			for _ in $(seq 100); do picked+=("${keys[RANDOM % ${#keys[@]}]}"); done
			screen_keys "${picked[@]}"
		done
		screen_keys Q
		screen_await "STATUS 0"
		diff "$BATS_TEST_TMPDIR/stty.before" "$BATS_TEST_TMPDIR/stty.after"
		screen_end
	done
}

@test "view: weft with a file's name alone opens it, and weft alone tells of trace.dat" {
	cd "$BATS_TEST_TMPDIR"
	screen_start 100 24 "$WEFT" sched.dat
	screen_await "? keys"
	screen_keys q
	screen_await "STATUS 0"
	screen_end
	screen_start 100 60 "$WEFT" no-such.dat
	screen_await "no command 'no-such.dat'"
	screen_await "STATUS 2"
	screen_end
	mv sched.dat trace.dat
	screen_start 160 80 env PAGER=cat "$WEFT"
	screen_await "'weft view' looks around in it"
	screen_await "STATUS 0"
	# Not into a pipe.
	run -0 weft
	[[ "$output" != *"'weft view' looks"* ]]
}

@test "view: the list has what --mark chooses, as report has" {
	run -0 weft report -q --mark nosuch "$FILE"
	screen_start 80 24 "$WEFT" view --mark nosuch "$FILE"
	screen_done
	[ "$(events_shown | grep -c 'storm')" -eq 0 ]
}

# sh-74 is woken at 39.721837265 and gets its CPU 8.8 ms later, with the switch that w finds.
@test "view: X on the switch that w has found explains the wait before it" {
	file=$BATS_TEST_DIRNAME/../fixtures/session/why.dat
	screen_start 160 50 "$WEFT" view "$file"
	screen_await "? keys"
	screen_keys w "5ms 74" Enter
	screen_await "39.730668  "
	screen_keys X
	screen_await "in the order of time: who was waited for is indented"
	screen_await "A 39.721837"
	screen_await_line '^ *8.8 ms +100.0 .*sh +74 +waited +behind '
}

@test "view: X explains a call between the marks, as weft why has it, and Enter goes to a link of its path" {
	file=$BATS_TEST_DIRNAME/../fixtures/session/why.dat
	from=$(printf %.9f "$(weft why --format json "$file" | jq '.intervals[0].from')")
	weft why "$file" | awk '/^ *TIME/ { rows = 1; next } rows && /^#/ { exit } rows' > "$BATS_TEST_TMPDIR/rows"
	screen_start 160 50 "$WEFT" view "$file"
	screen_await "? keys"
	screen_keys : "$from" Enter X
	screen_await "in the order of time: who was waited for is indented"
	screen_await "between A and B"
	while read -r time unit percent _; do
		screen_await_line "^ *$time $unit +$percent "
	done < <(head -n 5 "$BATS_TEST_TMPDIR/rows")
	screen_keys c
	screen_await "weft why --since $from --until "
	screen_await " --task $(weft why --format json "$file" | jq .intervals[0].pid) --tree "
	# The last link of the path is the last row.
	at=$(printf %.9f "$(weft why --tree --format json "$file" | jq '.path[-1].from')")
	screen_keys G Enter
	screen_await "${at:0:9}  "
	screen_await "A ${from:0:9}"
	# The time line has the path: the link that takes most of it has most of the columns.
	screen_keys 2
	screen_await_line '^ path .*[[]sleep slept its own timer {20,}[]].*$'
	screen_keys Z
	screen_await_line '^ path +[[|].*[[]sleep slept its own timer {50,}[]][^ ]*[[]?'
}

@test "view: the last line says whom a choice of a process leaves out because nothing tells its process" {
	screen_start 140 24 "$WEFT" view --process sleep "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat"
	screen_await "-e task:task_newtask (the process of 1 new task, left out by --process)"
	screen_keys Escape
	screen_await "? keys"
	screen_await_not "left out by"
	screen_end
	screen_start 140 24 "$WEFT" view --comm sleep "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat"
	screen_await "? keys"
	screen_await_not "left out by"
}
