#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft export --to perf, as perf itself reads it, and as weft import reads it back.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
corpus=$BATS_TEST_DIRNAME/../corpora/report/accept

setup()
{
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# same FILE: perf script prints the task, CPU, time, event and text of each line of weft report
same()
{
	weft export --to perf -q -o p.data "$1"
	perf script --ns -F tid,cpu,time,event,trace -i p.data 2> perf.err | sed -E 's/^ *([0-9]+) \[([0-9]+)\] +([0-9.]+): +[a-z_]+:([a-z_]+): +/\1 \2 \3 \4: /; s/ +$//' | sort > perf.txt
	weft report -t "$1" 2> /dev/null | sed -nE 's/^.*-([0-9]+) +\[([0-9]+)\] [^ ]+ +([0-9.]+): ([a-z_]+): */\1 \2 \3 \4: /p' | sed -E 's/ +$//' | sort > weft.txt
	[ "$(wc -l < weft.txt)" -gt 20 ]
	diff perf.txt weft.txt
}

# back FILE: imported again, it prints the same lines
back()
{
	weft export --to perf -q -o p.data "$1"
	weft import -q -o back.dat p.data
	weft check back.dat
	diff <(weft report "$1" 2> /dev/null | grep -v '^#') <(weft report back.dat | grep -v '^#')
}

@test "perf: perf script prints the lines of report" {
	need_command perf
	for file in 6.12-events-sched 6.1-rt-events-sched 5.10-rt-events-irq-signal; do
		same "$golden/$file.dat"
	done
}

@test "perf: perf sched, perf trace, perf evlist and perf report read it" {
	need_command perf
	weft export --to perf -q -o p.data "$golden/6.1-rt-events-sched.dat"
	run -0 --separate-stderr perf sched latency -i p.data
	[[ "$output" == *"sh:"*" ms | "* ]]
	run -0 --separate-stderr perf sched timehist -i p.data
	[[ "$output" == *"<idle>"* ]]
	run -0 --separate-stderr perf evlist -i p.data
	[[ "$output" == *"sched:sched_switch"* ]]
	run -0 --separate-stderr perf report --stdio -i p.data
	[[ "$output" == *"of event 'sched:sched_switch'"* ]]
	# The calls that perf trace counts are those of the file.
	weft export --to perf -q -o calls.data "$golden/6.12-events-syscalls.dat"
	perf trace -s -i calls.data > /dev/null
}

@test "perf: stacks are the callers of their event" {
	need_command perf
	weft export --to perf -q -o p.data "$golden/6.12-userstacktrace.dat"
	# Each event has its callers below it.
	[ "$(perf script -F event,ip -i p.data 2> /dev/null | grep -c '^\s*[0-9a-f]\+$')" = "$(weft report "$golden/6.12-userstacktrace.dat" | grep -c '^ => ')" ]
	run -0 weft export --to perf -o p.data "$golden/6.1-rt-event-stacktrace.dat"
	[[ "$output" == *"weft: p.data: 60 events, "* ]]
	[ "$(perf script -F event,ip -i p.data 2> /dev/null | grep -c '^\s*[0-9a-f]\+$')" = "$(weft report "$golden/6.1-rt-event-stacktrace.dat" | grep -c '^ => ')" ]
}

@test "perf: lost events are told with their number" {
	python3 "$BATS_TEST_DIRNAME/perf_data.py" lost.data lost
	weft import -q -o lost.dat lost.data
	[ "$(weft report lost.dat | grep -c 'LOST 7 EVENTS')" = 1 ]
	back lost.dat
	command -v perf > /dev/null || skip "perf is not installed"
	run -0 perf script --show-lost-events -i p.data
	[[ "$output" == *"PERF_RECORD_LOST lost 7"* ]]
}

@test "perf: what is imported again prints the same lines, with flags, losses and user stacks" {
	for file in 5.10-rt-events-irq-signal 6.1-rt-events-sched 6.1-rt-events-syscalls 6.12-events-sched 6.12-events-syscalls 6.12-hwlat \
		6.12-osnoise 6.12-synth-hist 6.12-user_events; do
		back "$golden/$file.dat"
	done
	back "$BATS_TEST_DIRNAME/../fixtures/demo.dat"
	for file in timerlat-6.12 osnoise-6.12 hwlat-6.12; do
		back "$corpus/$file.dat"
	done
}

@test "perf: a file of a machine of the other byte order has that order" {
	python3 "$BATS_TEST_DIRNAME/perf_data.py" big.data big
	weft import -q -o big.dat big.data
	back big.dat
	[ "$(head -c 8 p.data)" = 2ELIFREP ]
	command -v perf > /dev/null || skip "perf is not installed"
	[ "$(perf script -i p.data 2> /dev/null | grep -c sched_switch)" = 4 ]
}

@test "perf: it needs a file, and events with formats" {
	weft export --to perf -q -o named.data "$golden/6.12-events-sched.dat"
	weft export --to perf "$golden/6.12-events-sched.dat" > whole.data
	cmp named.data whole.data
	weft export --to perf -o /dev/null "$golden/6.12-events-sched.dat"
	run -1 bash -c "weft export --to perf '$golden/6.12-events-sched.dat' | cat; exit \${PIPESTATUS[0]}"
	[[ "$output" == *"format 'perf' needs a regular file: name one with -o FILE"* ]]
	run -1 weft export --to perf -o blk.data "$golden/6.12-blk.dat"
	[[ "$output" == *"no event has a format: a perf.data needs the format of each event"* ]]
	[ ! -e blk.data ]
	run -2 weft export --to perf --counter a:b -o x.data "$golden/6.12-events-sched.dat"
	run -0 weft export --to perf -e sched_switch -o some.data "$golden/6.12-events-sched.dat"
	[[ "$output" == *"weft: some.data: "*" events, "* ]]
}

@test "perf: it is told when perf sched latency has no run times, which perf confirms" {
	run -0 weft export --to perf -o with.data "$golden/6.1-rt-events-sched.dat"
	[[ "$output" != *"no run times"* ]]
	run -0 weft export --to perf -e sched:sched_switch -e sched:sched_wakeup -o without.data "$golden/6.1-rt-events-sched.dat"
	[[ "$output" == *"perf sched latency shows no run times without sched_stat_runtime"* ]]
	need_command perf
	# "TOTAL: | 12.345 ms | 67 |"
	[ "$(perf sched latency -i with.data 2> /dev/null | awk -F '|' '/TOTAL:/ { print ($2 + 0 > 0) }')" = 1 ]
	[ "$(perf sched latency -i without.data 2> /dev/null | awk -F '|' '/TOTAL:/ { print $2 + 0 }')" = 0 ]
}
