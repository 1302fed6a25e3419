#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# --every: the analyses over intervals of equal length.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden

setup()
{
	out=$BATS_TEST_TMPDIR/out
	sched=$golden/6.12-events-sched.dat
}

# sum COLUMN of the CSV on standard input
sum() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } /^$/ { exit } { all += $at } END { printf "%d\n", all }'; }

@test "every: the events of the intervals are those that the kernel's text has between the times" {
	weft summary --every 500us --table events --format csv "$sched" | tail -n +2 > "$out"
	[ "$(cut -d, -f1 "$out" | sort -u | wc -l)" -gt 5 ]
	weft report -t "$sched" > "$out.txt"
	# The last interval has the last event, too.
	cut -d, -f1,2 "$out" | uniq | while IFS=, read -r from to; do
		awk -v from="$from" -v to="$to" -F, '$1 == from { n += $4 } END { print from, n }' "$out"
	done > "$out.intervals"
	grep -v '^#' "$out.txt" | grep -Eo '[0-9]+\.[0-9]{9}: ' | tr -d ': ' | awk '
		NR == FNR { from[NR] = $1; nr = NR; next }
		{ for (i = nr; i > 1 && $1 < from[i]; i--); n[i]++ }
		END { for (i = 1; i <= nr; i++) print from[i], n[i] }' CONVFMT=%.9f OFMT=%.9f "$out.intervals" - |
		diff - "$out.intervals"
}

@test "every: run times and counts of the intervals add up to those of the whole" {
	# The file begins before its first switch, which tells that the tasks of the CPUs stay there.
	for column in run_ns voluntary involuntary; do
		[ "$(weft sched --since @sched_switch --every 300us --table tasks --format csv "$sched" | sum $column)" = \
			"$(weft sched --since @sched_switch --table tasks --format csv "$sched" | sum $column)" ]
	done
	# A selection by name stays one when tasks end and others take their places.
	slow=$BATS_TEST_DIRNAME/../fixtures/session/slow.dat
	[ "$(weft sched --comm deploy --every 20ms --table tasks --format csv "$slow" | sum run_ns)" -gt 0 ]
	[ "$(weft sched --comm deploy --every 20ms --table tasks --format csv "$slow" | sum run_ns)" = "$(weft sched --comm deploy --table tasks --format csv "$slow" | sum run_ns)" ]
	need_command jq
	weft sched --every 300us --format json "$sched" > "$out"
	jq -es '(map(.whole) | .[-1] and (.[:-1] | any | not)) and
		([.[:-1][] | .since] == ([.[0].since] + [.[:-2][] | .until]))' "$out"
	diff <(jq -cs '.[-1].tasks[]' "$out") <(weft sched --format json "$sched" | jq -c '.tasks[]')
}

@test "every: text has a row for each row, its rate, and a character for each interval" {
	LC_ALL=C.UTF-8 weft sched --every 500us --sort switches "$sched" > "$out"
	grep -qx '# cpus: SWITCHES in each 500.0 us' "$out"
	grep -Eqx 'CPU +SWITCHES +/S +LEAST +MOST +OVER TIME' "$out"
	grep -Eqx ' *[0-9]+ +[0-9,]+ +[0-9,]+ +[0-9,]+ +[0-9,]+  [.▁▂▃▄▅▆▇█]+' "$out"
	LC_ALL=C weft sched --every 500us --sort switches "$sched" > "$out"
	grep -Eqx ' *[0-9]+ +[0-9,]+ +[0-9,]+ +[0-9,]+ +[0-9,]+  [.1-9]+' "$out"
	# One interval: its figures are those of the whole.
	LC_ALL=C weft sched --every 1h --sort switches "$sched" | awk '/^CPU/ { on = 1; next } /^$/ { on = 0 } on && ($2 != $4 || $2 != $5) { bad = 1 } on { n++ } END { exit bad || !n }'
}

# For one analysis of one file: the sum of each column over intervals of several lengths is the same.
adds_up()
{
	local analysis=$1 file=$2 column all
	shift 2

	for column; do
		all=$(weft $analysis --every 1h --format csv "$file" | sum $column)
		[ "$all" -gt 0 ]
		for every in 70us 700us 13ms; do
			[ "$(weft $analysis --every $every --format csv "$file" | sum $column)" = "$all" ]
		done
	done
}

@test "every: calls, requests and interrupts of the intervals add up to those of the whole" {
	session=$BATS_TEST_DIRNAME/../fixtures/session
	adds_up syscalls "$session/slow.dat" calls total_ns on_cpu_ns blocked_ns wait_ns
	adds_up "block --table requests" "$session/disk.dat" requests bytes d2c_ns
	adds_up "irq --table sources" "$golden/6.12-events-irq-timer.dat" count total_ns self_ns
	adds_up "graph --table functions" "$golden/6.12-function_graph.dat" calls total_ns self_ns irq_ns
	adds_up "sched --idle --table idle_while_waiting" "$sched" times
	# Idle CPUs beside waits, of the whole and of the intervals.
	idle() { sum total_ns; }
	all=$(weft sched --idle --table idle_while_waiting --format csv "$sched" | idle)
	[ "$all" -gt 0 ]
	[ "$(weft sched --idle --every 300us --table idle_while_waiting --format csv "$sched" | idle)" = "$all" ]
	# The time of calls that return, without those under way at the end: as strace -c has it of a program.
	[ "$(weft syscalls --every 1ms --format csv "$session/before.dat" | sum total_ns)" = \
		"$(weft syscalls --format csv "$session/before.dat" | sum total_ns)" ]
}

@test "every: what the ends of intervals cut is told" {
	human() { awk -v ns="$1" 'BEGIN { printf "%.1f ms", ns / 1e6 }'; }
	# More than the whole: calls whose ends are lost. The sums are those of the CSV.
	file=$golden/6.12-events-syscalls.dat
	LC_ALL=C weft syscalls --every 1ms "$file" > "$out"
	part=$(human "$(weft syscalls --every 1ms --table syscalls --format csv "$file" | sum total_ns)")
	all=$(weft syscalls --every 1h --format json "$file" | jq -s '.[-1] | [.syscalls[].total_ns] | add')
	grep -qF "# the intervals show $part of TOTAL (syscalls) together, more than the $(human "$all") of the whole: what has no recorded end " "$out"
	# Less: who had the CPUs at the start, only the first switches tell.
	LC_ALL=C weft sched --every 500us "$sched" > "$out"
	part=$(human "$(weft sched --every 500us --table tasks --format csv "$sched" | sum run_ns)")
	all=$(human "$(weft sched --table tasks --format csv "$sched" | sum run_ns)")
	grep -qxF "# of the $all of RUN (tasks) the intervals show $part: what the rest was, an event told only after the end of its interval" "$out"
	for choice in 'syscalls --every 1h' 'sched --since @sched_switch --every 300us'; do
		LC_ALL=C weft $choice "$sched" > "$out" || LC_ALL=C weft $choice "$file" > "$out"
		run -1 grep -q 'the intervals show' "$out"
	done
}

@test "every: wrong uses are refused" {
	run -2 weft sched --every 0 "$sched"
	[[ $output == *"--every: the time cannot be 0"* ]]
	run -2 weft sched --every 1ms --timehist "$sched"
	run -2 weft graph --every 1ms --tree vfs_read "$golden/6.12-function_graph.dat"
	[[ $output == *"--every shows the table of functions, not --tree"* ]]
	run -2 weft graph --every 1ms --longer 1us "$golden/6.12-function_graph.dat"
	run -2 weft sched --every 1ms --sort nonsense "$sched"
	[[ $output == *"--sort: no table has a column 'nonsense'"* ]]
	run -1 weft sched --every 1ns "$sched"
	[[ $output == *"more than 100000 intervals; choose a longer one"* ]]
}

@test "every: a file without the events is refused as without --every" {
	for analysis in graph memory power stacks syscalls block; do
		for format in text json csv; do
			run -1 --separate-stderr weft $analysis --every 1ms --format $format "$sched"
			[ "$output" = "" ]
			[ "$stderr" = "$(weft $analysis --format $format "$sched" 2>&1)" ]
		done
	done
}

@test "every: what the intervals cut is told of all rows, however many are shown" {
	calls=$golden/6.12-events-syscalls.dat
	told() { LC_ALL=C weft syscalls --every 1ms "$@" "$calls" | grep '^# the intervals show'; }
	[ -n "$(told --top 0)" ]
	[ "$(told --top 1)" = "$(told --top 0)" ]
	LC_ALL=C weft syscalls --every 1ms --top 1 "$calls" > "$out"
	[ "$(sed -n '/^SYSCALL/,/^\.\.\. and/p' "$out" | wc -l)" = 3 ]
}

@test "every: each row of a summary is named" {
	LC_ALL=C weft summary --every 5ms "$golden/6.12-events-irq-timer.dat" > "$out"
	grep -q '^# sources: SELF in each' "$out"
	# The tables of irq that the page without --every lacks.
	run ! grep -E '^# (victims|cpus): ' "$out"
	run ! grep -E '^[A-Z]+ +/S ' "$out"
}

@test "every: all analyses take it" {
	for analysis in summary sched syscalls latency irq block locks memory power stacks tasks graph; do
		for form in '--format text' '--format json' "-o $out.$analysis"; do
			weft $analysis --every 1ms $form "$sched" > "$out" 2> "$out.err" || [ $? = 1 ]
			run -1 grep -q bug "$out.err"
		done
	done
	LC_ALL=C weft graph --every 100us "$golden/6.12-function_graph.dat" | grep -q '^# functions: SELF in each 100.0 us$'
}

@test "every: an analysis whose rows are single cases says so" {
	weft latency --every 5ms "$sched" > "$out"
	grep -q '^# the rows of wakeups are single cases, which do not go on over intervals: leave out --every' "$out"
	weft tasks --every 5ms "$sched" > "$out"
	grep -q '^# the rows of tasks are single cases' "$out"
	weft sched --every 5ms "$sched" > "$out"
	run ! grep -q 'single cases' "$out"
}
