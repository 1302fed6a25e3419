#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft why: where the time of an interval went.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
events=$golden/6.1-rt-events-sched.dat

setup()
{
	need_command jq
}

@test "why: the parts add up to the interval, and so do the links of the path" {
	for choice in --wakeup '--run ls' '--run ?s --slowest 2' '--wakeup --slowest 5'; do
		run -0 weft why $choice --tree --format json "$events"
		jq -e <<< "$output" '
			([.intervals[].lasted_ns] | add) as $all
			| $all > 0 and ([.parts[].time_ns] | add) == $all and ([.path[].time_ns] | add) == $all
			and ([.intervals[].unknown_ns] | add) == ([.parts[] | select(.state == "unknown").time_ns] | add // 0)'
	done
}

@test "why: the longest wakeup is that of weft latency" {
	want=$(weft latency --slowest 1 --format json "$events" | jq '.wakeups[0] | [.pid, .delay_ns]' -c)
	got=$(weft why --wakeup --format json "$events" | jq '.intervals[0] | [.pid, .lasted_ns]' -c)
	[ "$got" = "$want" ]
}

@test "why: a call's own parts are those of weft syscalls" {
	file=tests/fixtures/demo.dat
	name=$(weft syscalls --slowest 1 --format json "$file" | jq -r '.slowest[0].syscall')
	want=$(weft syscalls --slowest 1 --format json "$file" | jq -c '.slowest[0] | [.pid, .lasted_ns, .on_cpu_ns, .wait_ns]')
	got=$(weft why --call "$name" --format json "$file" | jq -c '.intervals[0].pid as $pid
		| [$pid, .intervals[0].lasted_ns,
		   ([.parts[] | select(.pid == $pid and (.state == "ran" or .state == "interrupted")).time_ns] | add // 0),
		   ([.parts[] | select(.pid == $pid and .state == "waited").time_ns] | add // 0)]')
	[ "$got" = "$want" ]
}

@test "why: a task between two times, of which only the second around is read" {
	since=$(weft info --format json "$events" 2> /dev/null | jq -r '.buffers[0].first // empty')
	pid=$(weft why --wakeup --format json "$events" | jq .intervals[0].pid)
	run -0 weft why --task "$pid" --format json "$events"
	whole=$(jq '.intervals[0].lasted_ns' <<< "$output")
	[ "$whole" -gt 0 ]
	from=$(jq '.intervals[0].from' <<< "$output")
	until=$(awk -v t="$from" 'BEGIN { printf "%.9f", t + 0.005 }')
	run -0 weft why --task "$pid" --since "$from" --until "$until" --format json "$events"
	jq -e '([.parts[].time_ns] | add) == .intervals[0].lasted_ns and .intervals[0].lasted_ns <= 5000001' <<< "$output"
}

@test "why: what was not recorded is a row with the reason, and the event that would tell" {
	run -0 weft why --task rcu_preempt "$golden/6.12-events-sched.dat"
	[[ $output = *'unknown'*'an interrupt of which no event tells'* ]]
	[[ $output = *'is unknown: an interrupt of which no event tells; record it with -e irq,irq_vectors,timer, or with --for why'* ]]
}

@test "why: of a recorded command, what explains it is named, and is what is explained when it is recorded for this" {
	file=tests/fixtures/session/why.dat
	# The line of the list of tasks that the recorder itself wrote: its child.
	self=" $(weft info --setting weft/self "$file") "
	pid=$(weft info --setting weft/tasks "$file" | awk -v self="$self" 'index(self, " " $3 " ") && !index(self, " " $1 " ") { print $1 }')
	run -0 weft why "$file"
	[[ $output = *"# the command that was recorded is deploy-$pid: --task $pid explains where its time went"* ]]
	for choice in "--task $pid" --wakeup '--run deploy'; do
		run -0 weft why $choice "$file"
		[[ $output != *"the command that was recorded"* ]]
	done
	# Of a recording without a command there is no such line.
	run -0 weft why "$golden/6.12-events-sched.dat"
	[[ $output != *"the command that was recorded"* ]]
}

@test "why: wrong choices say what is wrong" {
	run -2 weft why --wakeup --call read "$events"
	[[ $output = *'only one of --call, --wakeup, --request, --run, --task and --all'* ]]
	run -1 weft why --call nosuch "$golden/6.12-events-syscalls.dat"
	[[ $output = *'no call of nosuch began and ended among the events'* ]]
	run -1 weft why --run nosuch "$events"
	[[ $output = *"no task 'nosuch' ended among the events"* ]]
	run -1 weft why --task nosuch "$events"
	[[ $output = *"name no task 'nosuch'"* ]]
	run -2 weft why --all --wakeup "$events"
	[[ $output = *"--all needs a value, call|wakeup|request|run|mark[:NAME], and '--wakeup' is an option"* ]]
	run -2 weft why --all sleep "$events"
	[[ $output = *"'sleep' is no kind; it is call, wakeup, request, run or mark"* ]]
	run -2 weft why --all wakeup:x "$events"
	[[ $output = *"'wakeup:x' has no name behind the colon"* ]]
	for share in 0 100% 1ms %; do
		run -2 weft why --wakeup --slow "$share" "$events"
		[[ $output = *"'$share' is no share between 0 and 100 percent"* ]]
	done
	run -2 weft why --to html "$events"
	[[ $output = *"unknown format 'html'; use folded or speedscope"* ]]
	for wrong in '--to folded --tree' '--to folded --slow 1%' '--to folded --format json' '--to speedscope --all call'; do
		run -2 weft why $wrong "$events"
		[[ $output = *--to* ]]
	done
	run -2 weft why --task 1 --slow 1% "$events"
	[[ $output = *'--task has one'* ]]
	run -2 weft why --slowest 0 "$events"
	[[ $output = *'0 is not between 1 and 1000'* ]]
	run -1 weft why "$golden/6.12-function.dat"
	[ -n "$output" ]
}

@test "why: a call that waited for a process that slept 0.3 s" {
	run -0 weft why --format json "$BATS_TEST_DIRNAME/../fixtures/session/why.dat"
	jq -e '.intervals[0].what == "openat" and .intervals[0].comm == "deploy"
		and (.intervals[0].unknown_ns * 100 <= .intervals[0].lasted_ns)
		and ([.parts[] | select(.state == "slept" and .comm == "sleep").time_ns] | add | . > 299000000 and . < 301000000)' <<< "$output"
}

# sw PID MICROSECONDS STATE TO: CPU 1 goes from the task with this PID to that one; they are called t and their PID.
sw()
{
	printf '             t%d-%-6d [001] d..2  10.%06d: sched_switch: prev_comm=t%d prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=t%d next_pid=%d next_prio=120\n' \
		"$1" "$1" "$2" "$1" "$1" "$3" "$4" "$4"
}

mark()
{
	printf '             t7-%-6d [001] ....  10.%06d: tracing_mark_write: %s\n' "$@"
}

# Twenty requests of task 7, of which each waits until task 9 has run for 10 us; for the last one it runs for 500 us.
requests()
{
	local at=0 works i

	sw 8 10 S 7
	for ((i = 1; i <= 20; i++)); do
		((works = i < 20 ? 10 : 500, at += 1000))
		mark 7 $at 'B|7|req'
		sw 7 $((at + 20)) S 9
		printf '             t9-9      [001] d..2  10.%06d: sched_waking: comm=t7 pid=7 prio=120 target_cpu=001\n' \
			$((at + 20 + works))
		sw 9 $((at + 30 + works)) S 7
		mark 7 $((at + 40 + works)) 'E|7'
	done
	mark 7 30000 'S|7|job|1'
	mark 7 30300 'F|7|job|1'
}

@test "why: a span that a program marks, and what the slowest of them do that the others do not" {
	cd "$BATS_TEST_TMPDIR"
	requests | weft import -o marks.dat - 2> /dev/null
	run -0 weft why --mark req marks.dat
	[ "${lines[0]}" = '# 93 % of the 540.0 us: t9-9 ran' ]
	[ "${lines[1]}" = '# req of t7-7, from 10.020000000 to 10.020540000' ]
	run -0 weft why --mark 'r*' --slow 5% --format json marks.dat
	jq -e '[.differences[] | [.more_ns, .slow_ns, .others_ns, .pid, .state]] == [[490000, 500000, 10000, 9, "ran"],
		[0, 30000, 30000, 7, "ran"], [0, 10000, 10000, 7, "waited"]]
		and [.groups[] | [.group, .count, .total_ns, .mean_ns]]
		== [["slowest", 1, 540000, 540000], ["others", 19, 950000, 50000], ["all", 20, 1490000, 74500]]' <<< "$output"
	run -0 weft why --all mark:req --format json marks.dat
	jq -e '([.parts[].time_ns] | add) == 1490000 and .parts[0].time_ns == 690000 and .groups[0].p50_ns == 50000' <<< "$output"
	run -0 weft why --mark job marks.dat
	[[ ${lines[0]} = '# 100 % of the 300.0 us: t7-7 ran' ]]
	run -1 weft why --mark nosuch marks.dat
	[[ $output = *"no span 'nosuch' began and ended among the events; weft marks lists"* ]]
	run -2 weft why --mark req --mark job marks.dat
	[[ $output = *'of one --mark'* ]]
	run -1 weft why --mark job --slow 1% marks.dat
	[[ $output = *'none of 1 span of job lasted longer than the others'* ]]
}

@test "why: differences add up to that of the means, and all parts to all of the time, of calls and wakeups" {
	while read -r kind file; do
		run -0 weft why --all "$kind" --slow 20% --format json "$golden/$file"
		jq -e '.groups as [$slow, $others, $all] | ([.differences[].more_ns] | add) == $slow.mean_ns - $others.mean_ns
			and ([.differences[].slow_ns] | add) == $slow.mean_ns and ([.differences[].others_ns] | add) == $others.mean_ns
			and $slow.count + $others.count == $all.count and $slow.total_ns + $others.total_ns == $all.total_ns' <<< "$output"
		run -0 weft why --all "$kind" --format json "$golden/$file"
		jq -e '([.parts[].time_ns] | add) == .groups[0].total_ns' <<< "$output"
	done <<- 'END'
		call 6.1-rt-events-syscalls.dat
		call:read 6.12-events-syscalls.dat
		wakeup 6.1-rt-events-sched.dat
		run:* 6.12-events-sched.dat
		call ../demo.dat
	END
}

@test "why: as many wakeups as weft latency counts" {
	want=$(weft latency --format json "$events" | jq -r '.notes | capture("looked at: (?<nr>[0-9]+) wakeups").nr')
	run -0 weft why --all wakeup --format json "$events"
	[ "$(jq '.groups[0].count' <<< "$output")" = "$want" ]
}

@test "why: stacks of who waited for whom add up to the time, and those of speedscope are in its order" {
	file=$BATS_TEST_DIRNAME/../fixtures/session/why.dat
	cd "$BATS_TEST_TMPDIR"
	weft why --slowest 2 --format json "$file" > table
	weft why --slowest 2 --to folded "$file" > folded
	[ "$(awk '{ ns += $NF } END { print ns }' folded)" = "$(jq '[.parts[].time_ns] | add' table)" ]
	[ "$(grep '^deploy-[0-9]*;confd-[0-9]*;sleep-[0-9]*;slept its own timer ' folded | awk '{ print $NF }')" = \
		"$(jq '.parts[] | select(.state == "slept") | .time_ns' table)" ]
	[ "$(cut -d' ' -f1- folded | sed 's/ [0-9]*$//' | sort | uniq -d)" = "" ]
	weft why --all call --format json "$file" > table
	weft why --all call --to folded "$file" > folded
	[ "$(awk '{ ns += $NF } END { print ns }' folded)" = "$(jq '.groups[0].total_ns' table)" ]
	# Each frame that is opened is closed, the innermost first, and no time goes back.
	weft why --slowest 2 --to speedscope "$file" > speedscope.json
	jq -e '(.shared.frames | length) as $names | [.profiles[] | .endValue as $whole | .events
		| reduce .[] as $e ({ open: [], at: 0, ok: true };
			.ok = (.ok and $e.at >= .at and $e.frame < $names and ($e.type == "O" or .open[-1] == $e.frame))
			| .at = $e.at | if $e.type == "O" then .open += [$e.frame] else .open |= .[:-1] end)
		| .ok and .open == [] and .at == $whole] == [true, true]' speedscope.json
}

@test "why: processes instead of tasks, with the same sum" {
	file=$BATS_TEST_DIRNAME/../fixtures/session/why.dat
	run -0 weft why --by process --format json "$file"
	jq -e '([.parts[].time_ns] | add) == .intervals[0].lasted_ns
		and ([.parts[] | select(.state == "slept") | [.comm, .pid]] | length) == 1' <<< "$output"
	run -0 weft why --by unit "$file"
	[[ $output = *'(unknown)'* ]]
	run -2 weft why --by user "$file"
	[[ $output = *'the values are task, process, program, unit, container, pod and cgroup'* ]]
}

# life MICROSECONDS: task 7 starts task 9, which runs for so long and ends.
life()
{
	sw 8 10 S 7
	printf '             t7-7      [001] ....  10.000100: sched_process_fork: comm=t7 pid=7 child_comm=t7 child_pid=9\n'
	printf '             t7-7      [001] d...  10.000110: sched_wakeup_new: comm=t9 pid=9 prio=120 target_cpu=001\n'
	sw 7 130 S 9
	sw 9 $((130 + $1)) X 7
	sw 7 $((230 + $1)) S 8
}

@test "why: diff and bench say which links of a command's life grew" {
	local i

	cd "$BATS_TEST_TMPDIR"
	for i in 1 2 3 4 5; do
		life $((1000 + i)) | weft import -o "old$i.dat" - 2> /dev/null
		life $((9000 + i)) | weft import -o "new$i.dat" - 2> /dev/null
	done
	run -0 weft diff why --per run --figure total --format json "$(echo old?.dat | tr ' ' ,)" "$(echo new?.dat | tr ' ' ,)"
	jq -e '[.changes[] | select(.row == "life t9 ran") | [.table, .verdict, .old, .new]] == [["why", "+", 1003000, 9003000]]
		and [.changes[] | select(.row == "life t9 waited").verdict] == ["~"]' <<< "$output"
	# Only who names it gets it: to follow all calls takes long.
	run -0 weft diff old1.dat new1.dat --format json
	jq -e '[.changes[].table] | index("why") == null' <<< "$output"
}
