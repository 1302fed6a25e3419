#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft sched: compares its counts and times with the kernel's own text of the same events.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
file=$golden/6.12-events-sched.dat
text=$golden/6.12-events-sched.txt

setup()
{
	out=$BATS_TEST_TMPDIR/out
}

# Prints "NUMBER COUNT" for each CPU with switches, from the kernel's text.
switches_of()
{
	grep ': sched_switch: ' "$1" | sed -E 's/^.*\[0*([0-9]+)\] .*/\1/' | sort -n | uniq -c | awk '{ print $2, $1 }'
}

# Prints "PID VOLUNTARY INVOLUNTARY" for each task that was switched away.
leavers_of()
{
	grep ': sched_switch: ' "$1" | sed -E 's/.*prev_pid=([0-9]+) .*prev_state=([^ ]+) .*/\1 \2/' |
		awk '$1 { seen[$1]; if ($2 ~ /^R/) i[$1]++; else v[$1]++ } END { for (p in seen) print p, v[p] + 0, i[p] + 0 }' | sort
}

@test "sched: switches of each CPU, and of each task by kind, are those of the kernel's text" {
	need_command jq
	for name in 6.12-events-sched 6.1-rt-events-sched; do
		weft sched "$golden/$name.dat" --format json > "$out"
		jq -r '.cpus[] | select(.switches > 0) | "\(.cpu) \(.switches)"' "$out" | diff <(switches_of "$golden/$name.txt") -
		jq -r '.tasks[] | select(.voluntary + .involuntary > 0) | "\(.pid) \(.voluntary) \(.involuntary)"' "$out" | sort |
			diff <(leavers_of "$golden/$name.txt") -
	done
}

@test "sched: times are those between the lines of the kernel's text, and add up" {
	need_command jq
	weft sched "$file" --format json > "$out"
	# In the text, cat-67 is on CPU 1 from 2.947936 to the end of its runs. The text has microseconds only.
	run -0 awk '/: sched_switch: / { ts = $0; sub(/.*\] +[^ ]+ +/, "", ts); sub(/:.*/, "", ts)
		prev = $0; sub(/.*prev_pid=/, "", prev); sub(/ .*/, "", prev); next_pid = $0; sub(/.*next_pid=/, "", next_pid); sub(/ .*/, "", next_pid)
		if (prev in since) { ran[prev] += ts - since[prev]; delete since[prev] }
		since[next_pid] = ts }
		END { printf "%.6f\n", ran[67] }' "$text"
	jq -e --argjson want "$output" '.tasks[] | select(.pid == 67) | (.run_ns / 1e9 - $want) | fabs < 5e-6' "$out"
	jq -e '[.cpus[] | .tasks_ns + .idle_ns + (.softirq_ns // 0) + (.irq_ns // 0) + .unknown_ns] | min == max' "$out"
	# The longest delay: the kernel's own two lines.
	jq -e '.wakeups[] | select(.part == "waking to running") | .max_at == 2.952458562 and (.max_ns / 1e9 - (2.952459 - 2.948405) | fabs) < 2e-6' "$out"
}

@test "sched: prints tables with units, sorted and cut as asked, and says what limits them" {
	weft sched "$file" > "$out"
	[ "$(sed -n 2p "$out" | awk '{ print $1, $2, $3 }')" = "TASK PID RUN" ]
	[ "$(sed -n 3p "$out" | awk '{ print $1, $2, $3, $4 }')" = "sh 62 27.9 ms" ]
	grep -q '^# longest delay of a wakeup: 4.1 ms, rcu_preempt-17 on CPU 0: weft report --since 2.948404772 --until 2.952458562 ' "$out"
	grep -q '^# cut by the start or the end: ' "$out"
	grep -q '^# broken by lost events: none$' "$out"
	grep -q '^# wanted and not recorded: .*-e irq ' "$out"
	# The command to paste shows that wakeup.
	eval "$(sed -n 's/^# longest .*: \(weft report .*\)/\1/p' "$out")" > "$out.shown"
	grep -q 'sched_waking: comm=rcu_preempt' "$out.shown"
	grep -q 'next_comm=rcu_preempt' "$out.shown"
	weft sched "$file" --sort max --top 1 > "$out"
	[ "$(sed -n 3p "$out" | awk '{ print $1 }')" = rcu_preempt ]
	[[ "$(sed -n 4p "$out")" == "... and "*" more; --top 0 shows all" ]]
	[ "$(weft sched "$file" --comm 'ca*' --table tasks --format csv | sed -n 2p | cut -d, -f1,2)" = cat,67 ]
	[ "$(weft sched "$file" --pid 66,67 --table tasks --format csv | wc -l)" -eq 3 ]
}

@test "sched: --timehist has a line for each switch away from a task, with the times between the kernel's lines" {
	weft sched "$file" --timehist > "$out"
	sed '/^$/,$d; /^#/d' "$out" | awk '{ print $4, $NF }' > "$out.lines"
	grep ': sched_switch: ' "$text" | sed -E 's/.*prev_pid=([0-9]+) .*prev_state=([^ ]+) .*/\1 \2/' | grep -v '^0 ' | diff - "$out.lines"
	# ls-66 ran from 2.946514 to 2.952459. Between the two runs of rcu_preempt-17 are 10.307 ms, of which 4.054
	# follow its wakeup.
	grep -qE ' ls +66 +- +0\.1[78][0-9]+ +5\.94[45][0-9]+  R\+$' "$out"
	grep -qE ' rcu_preempt +17 +10\.30[67][0-9]+ +4\.05[34][0-9]+ +0\.20[67][0-9]+  I$' "$out"
	grep -q '^# tasks: ' "$out"
	run -2 weft sched "$file" --timehist --format json
	[[ "${lines[0]}" == *"--timehist prints text only"* ]]
}

@test "sched: says what is wrong with a column, a format, a file without switches, a file that is none" {
	run -2 weft sched "$file" --sort maxx
	[[ "$output" == "weft: --sort: no table has a column 'maxx'; did you mean "* ]]
	run -2 weft sched "$file" --sort nosuch
	[[ "$output" == "weft: --sort: no table has a column 'nosuch'; there are task, pid, run, wait, "*", max at" ]]
	run -2 weft sched "$file" --format xml
	[[ "${lines[0]}" == *"unknown format 'xml'; use text, json, csv or schema"* ]]
	run -1 weft sched "$golden/6.12-function.dat"
	[[ "$output" == *"no sched_switch among the events"*"-e sched" ]]
	run -1 weft sched "$text"
	run -1 weft sched "$file" -B nobody
	[[ "$output" == *"has no buffer of an instance 'nobody'"* ]]
}

@test "sched --chain: of the kernel's text, who woke a task, and who had woken that one" {
	# sh-62 wakes cat-67; an interrupt had woken sh-62: the line of its sched_waking has the flag h.
	grep -qE ' sh-62 +.*sched_wak(ing|eup_new): comm=(sh|cat) pid=67 ' "$text"
	weft sched "$file" --chain 67 --format csv > "$out"
	sed -n 2p "$out" | grep -qE '^1,.*,"?(sh|cat) < sh < '
}

@test "sched --chain: a task that the file does not have is an error, and one that nobody woke is not" {
	run --separate-stderr -1 weft sched "$file" --chain nobody
	[ -z "$output" ]
	[ "$stderr" = "weft: the events name no task 'nobody'; without --chain, all tasks are listed" ]
	run --separate-stderr -1 weft sched "$file" --chain catt
	[[ "$stderr" == "weft: the events name no task 'catt'; did you mean 'cat'"* ]]
	run --separate-stderr -1 weft sched "$file" --chain 999999
	[[ "$stderr" == "weft: the events name no task '999999'; "* ]]
}

@test "sched --cpu: has one CPU's row, and says that tasks are those of all" {
	need_command jq
	run -0 weft sched "$file" --cpu 1
	[ "$(weft sched "$file" --cpu 1 --format json | jq -c '[.cpus[].cpu]')" = "[1]" ]
	[[ "$output" == *"# tasks and wakeups are for all CPUs: --cpu chooses "* ]]
	[ "$(weft sched "$file" | grep -c 'those of all CPUs')" -eq 0 ]
}

@test "sched --map: each CPU of the kernel's text has a lane, and the letters are its tasks" {
	weft sched "$file" --map > "$out"
	[ "$(grep -c '^CPU  *[0-9]* [A-Za-z.?!*]*$' "$out")" -eq "$(switches_of "$text" | wc -l)" ]
	# In the text, sh-62 and cat-67 ran on CPU 1, and only rcu_preempt-17 ran on CPU 0.
	sign=$(sed -nE 's/^([A-Z]) rcu_preempt-17 .*/\1/p' "$out")
	grep -q "^CPU   0 .*$sign" "$out"
	run -2 weft sched "$file" --map --format csv
	[[ "${lines[0]}" == *"--map prints text only"* ]]
}

@test "analyses: the line to paste is one for a shell, whatever the file is called, and stands only where the file can be read again" {
	demo=$BATS_TEST_DIRNAME/../fixtures/demo.dat
	cp "$demo" "$BATS_TEST_TMPDIR/a b'c;\$(x).dat"
	cd "$BATS_TEST_TMPDIR"
	for command in sched syscalls latency; do
		line=$(weft $command "a b'c;\$(x).dat" | sed -n 's/^# longest .*: weft report --since/weft report --since/p')
		# Both times are times of events; the kernel's text has them in microseconds.
		read -r since until <<< "$(sed 's/.*--since \([0-9.]*\) --until \([0-9.]*\) .*/\1 \2/' <<< "$line")"
		eval "$line" | awk -v from="$since" -v to="$until" 'match($0, / [0-9]+\.[0-9]+: /) { at = substr($0, RSTART + 1, RLENGTH - 3); first = first ? first : at }
			END { exit !(first - from < 1e-6 && from - first < 1e-6 && at - to < 1e-6 && to - at < 1e-6) }'
		run -0 weft $command - < "$demo"
		grep -q '^# longest .*, from [0-9.]* to [0-9.]*$' <<< "$output"
		run -1 grep '^# longest .*weft report' <<< "$output"
	done
}

@test "sched: the line to paste prints what was measured, whatever the file and its instances are called" {
	cd "$BATS_TEST_TMPDIR"
	cp "$file" "it's b.dat"
	cp "$golden/6.12-events-syscalls.dat" other.dat
	weft merge -q -o "./-all x.dat" "it's b.dat" other.dat
	weft sched -B "it's b" -i "-all x.dat" > "$out"
	sed -n 's/^# longest delay of a wakeup: .*: \(weft report --since\)/\1/p' "$out" > pasted
	bash -c ". ./pasted" > printed
	# The window of the same line of the file alone, and no line of the other instance.
	since=$(sed -n 's/.*--since \([0-9.]*\) .*/\1/p' pasted) until=$(sed -n 's/.*--until \([0-9.]*\) .*/\1/p' pasted)
	weft report --since "$since" --until "$until" "$file" | cmp - printed
	[ "$(grep -vc '^#' printed)" -gt 1 ]
	# Of a file alone no instance is named.
	cp "$file" "./-one x.dat"
	weft sched -i "-one x.dat" > "$out"
	grep -q "weft report --since [0-9.]* --until [0-9.]* \./'-one x.dat'$" "$out"
	# A page of one instance has the same line.
	weft export -q --to html -B "it's b" -o x.html "./-all x.dat"
	grep -q "weft report --since [0-9.]* --until [0-9.]* -B 'it'" x.html
}

@test "sched --idle-while-waiting: on two CPUs the idle times of a task's waits are its W/IDLE" {
	need_command jq
	for file in "$BATS_TEST_DIRNAME"/../fixtures/golden/6.12-events-sched.dat "$BATS_TEST_DIRNAME"/../fixtures/golden/6.1-rt-events-sched.dat \
		"$BATS_TEST_DIRNAME"/../fixtures/demo.dat; do
		weft sched --idle-while-waiting --format json "$file" > "$BATS_TEST_TMPDIR/idle"
		jq -e '([.cpus[]] | length == 2) and ([.tasks[] | select(.wait_beside_idle_ns > 0) | [.pid, .wait_beside_idle_ns]] | sort) as $tasks
			| ($tasks | length > 0) and ([.idle_while_waiting | group_by(.pid)[] | [.[0].pid, ([.[].total_ns] | add)]] | sort) == $tasks
			and all(.idle_while_waiting[]; .cpu != .idle_cpu and .max_ns <= .total_ns)' "$BATS_TEST_TMPDIR/idle"
	done
}

@test "analyses: --table shows the tables that it names, alone, in every format" {
	local file=$BATS_TEST_DIRNAME/../fixtures/demo.dat
	cd "$BATS_TEST_TMPDIR"
	weft sched "$file" > all
	weft sched --table cpus "$file" > one
	# The same lines, without those of other tables.
	[ "$(grep -c '^# [a-zA-Z]*: ' one)" -lt "$(grep -c '^# [a-zA-Z]*: ' all)" ]
	sed -n '/^# CPUs: /,/^$/p' all | diff - <(sed -n '/^# CPUs: /,/^$/p' one)
	run -1 grep -E '^# (tasks|longest)|^TASK' one
	weft sched -o "$BATS_TEST_TMPDIR/csv" "$file"
	diff <(weft sched --table cpus --format csv "$file") "$BATS_TEST_TMPDIR/csv/cpus.csv"
	[ "$(weft sched --table cpus --table tasks --format json "$file" | jq -c '[.tasks, .cpus | length > 0]')" = '[true,true]' ]
	[ "$(weft sched --table cpus --format json "$file" | jq -c 'has("tasks")')" = false ]
	[ "$(weft sched --table cpus --every 5ms --format csv "$file" | head -n 1)" = "since,until,$(weft sched --table cpus --format csv "$file" | head -n 1)" ]
	[ "$(weft summary --table events --format csv "$file" | head -n 1)" = "event,count" ]
	run -2 weft sched --table cpu "$file"
	[ "$output" = "weft: --table: there is no table 'cpu'; did you mean 'cpus'?" ]
	run -2 weft sched --every 5ms --table wait "$file"
	[ "$output" = "weft: --table: there is no table 'wait'; there are tasks, cpus, wakeups" ]
}

@test "analyses: csv of several tables into one stream is refused with their names, and -o DIR has a file for each" {
	run -2 --separate-stderr weft sched --format csv "$file"
	[ -z "$output" ]
	[[ "$stderr" == *"there are tasks, cpus, wakeups; name one with --table,"*" -o DIR"* ]]
	run -2 --separate-stderr weft sched --every 5ms --format csv "$file"
	[[ "$stderr" == *"there are tasks, cpus, wakeups; "* ]]
	cd "$BATS_TEST_TMPDIR"
	run -0 weft sched -o tables "$file"
	[ -z "$output" ]
	[ "$(cd tables && echo *)" = "cpus.csv tasks.csv wakeups.csv" ]
	for table in cpus tasks wakeups; do
		weft sched --table $table --format csv "$file" | cmp - tables/$table.csv
	done
	# What is there stays.
	run -1 weft sched -o tables "$file"
	[[ "$output" == *"'tables' is a directory that is not empty"* ]]
	run -0 weft sched --every 5ms --table cpus -o parts "$file"
	[ "$(cd parts && echo *)" = cpus.csv ]
	weft sched --every 5ms --table cpus --format csv "$file" | cmp - parts/cpus.csv
	# A wrong question, a file that is not there and one without such events make no directory.
	run -2 weft sched --table nosuch -o none "$file"
	run -1 weft sched -o none nosuch.dat
	run -1 weft irq -o none "$file"
	[ ! -e none ]
	run -2 weft sched -o none --format json "$file"
	run -2 weft sched -o none --map "$file"
	run -2 weft sched -o '' "$file"
}

@test "sched: --chain and --map show only that, and --table other tables, too" {
	weft sched "$file" --chain cat > "$out"
	[ "$(grep -c '^# [a-zA-Z]* of wakeups: ' "$out")" -eq 1 ]
	run ! grep -E '^# (tasks|CPUs|longest)' "$out"
	weft sched "$file" --map > "$out"
	run ! grep -E '^# (tasks|CPUs|wakeups|longest)' "$out"
	grep -q '^# broken by lost events: none$' "$out"
	weft sched "$file" --map --chain cat --table chains --table cpus > "$out"
	[ "$(grep -cE '^# (chains|CPUs|a column)' "$out")" -eq 3 ]
}

@test "sched --by: a choice of tasks has no rows of groups in which none of them is" {
	weft sched "$BATS_TEST_DIRNAME/../fixtures/demo.dat" --process ls --by process --table groups --format csv > "$BATS_TEST_TMPDIR/out"
	[ "$(cut -d, -f1,2 "$BATS_TEST_TMPDIR/out")" = $'process,pid\nls,65' ]
}
