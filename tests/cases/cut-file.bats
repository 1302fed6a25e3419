#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What tables say of a file that was cut, or is damaged in the middle: nothing that is longer than in the whole file.

load lib

fixtures=$BATS_TEST_DIRNAME/../fixtures
golden=$fixtures/golden

# Every time of a row, and each longest one, is at most what the whole file has for the same task, call or lock.
no_longer()
{
	python3 - "$@" <<- 'EOF'
		import json, sys

		def times(path):
		    ret = {}
		    for table, rows in json.load(open(path)).items():
		        for row in rows if isinstance(rows, list) else []:
		            key = (table,) + tuple((name, value) for name, value in sorted(row.items())
		                                   if isinstance(value, str) or name in ("pid", "generation", "cpu", "nr"))
		            for name, value in row.items():
		                # Not what is unknown, and quantiles of fewer values may be larger.
		                if name.endswith("_ns") and value is not None and \
		                   not any(word in name for word in ("unknown", "other", "p50", "p90", "p99")):
		                    ret[key, name] = value
		    return ret

		whole, cut = times(sys.argv[1]), times(sys.argv[2])
		longer = [(key, value, whole.get(key)) for key, value in cut.items()
		          if key[0] in {k[0] for k in whole} and value > whole.get(key, 0)]
		for line in longer:
		    print(*line)
		sys.exit(bool(longer))
	EOF
}

# Cuts a file at several places of its pages, and asks what ends early there.
try_file()
{
	local file=$1 from size at command
	shift
	"$WEFT" convert -q --file-version 6 -o whole.dat "$file"
	size=$(stat -c %s whole.dat)
	from=$("$WEFT" info whole.dat | awk '/pages of CPU 0$/ { print $1 }')
	for command in "$@"; do
		"$WEFT" $command --self --format json whole.dat > whole.json
		for at in $(seq $((from + 300)) $(((size - from) / 11)) $((size - 1))); do
			head -c "$at" whole.dat > cut.dat
			"$WEFT" $command --self --format json cut.dat > cut.json 2> err || [ -s err ]
			[ -s cut.json ] || continue
			no_longer whole.json cut.json || { echo "$file: $command, cut at $at"; return 1; }
		done
	done
}

@test "cut file: no time of tasks, calls, locks and requests is longer than in the whole file" {
	cd "$BATS_TEST_TMPDIR"
	try_file "$golden/6.12-events-sched.dat" sched tasks
	try_file "$golden/6.12-events-syscalls.dat" syscalls
	cat > requests.txt <<- EOF
		# tracer: nop
		#
		           dd-10      [000] .....     1.000000: block_rq_issue: 8,0 R 4096 () 100 + 8 [dd]
		           dd-10      [001] .....     1.001000: block_rq_complete: 8,0 R () 100 + 8 [0]
		           dd-10      [001] .....     1.400000: block_rq_issue: 8,0 R 4096 () 100 + 8 [dd]
		           dd-10      [000] .....     1.402000: block_rq_complete: 8,0 R () 100 + 8 [0]
		           dd-10      [000] .....     1.500000: block_rq_issue: 8,0 R 4096 () 200 + 8 [dd]
		           dd-10      [000] .....     1.503000: block_rq_complete: 8,0 R () 200 + 8 [0]
	EOF
	"$WEFT" import -q -o requests.dat requests.txt
	try_file requests.dat block
	try_file "$fixtures/files.dat" syscalls
}

@test "cut file: what went on while a CPU is missing is broken by lost events" {
	cd "$BATS_TEST_TMPDIR"
	# Pages of one CPU are left.
	head -c $(($(stat -c %s "$golden/6.12-events-sched.dat") * 8 / 10)) "$golden/6.12-events-sched.dat" > cut.dat
	run -1 --separate-stderr weft sched cut.dat
	[[ "$output" == *$'\n# broken by lost events: 4 wakeups\n'* ]]
	[[ "$output" == *"what went on while they are missing is broken by lost events"* ]]
	# No event of it is there, so it is unknown what it did.
	grep -qE '^  1    0 ns   0.0     0 ns        -    - +[0-9.]+ ms         0$' <<< "$output"
	grep -q '^rcu_preempt .* 0 ns *0 ns *0 ns *0 ns ' <<< "$output"
	run -1 --separate-stderr weft summary cut.dat
	[[ "$output" =~ $'\n'"CPUs with events "+"1"$'\n' ]]
	# One page in the middle of a CPU is broken.
	"$WEFT" convert -q --file-version 6 -o whole.dat "$golden/6.12-events-sched.dat"
	head -c 64 /dev/zero | tr '\0' '\377' |
		dd of=whole.dat bs=1 seek=$(($("$WEFT" info whole.dat | awk '/pages of CPU 0$/ { print $1 }') + 600)) conv=notrunc status=none
	run -1 --separate-stderr weft sched whole.dat
	[[ "$stderr" == *"is damaged: CPU 0: "* ]]
	[[ "$output" != *"broken by lost events: none"* ]]
}

# What a task did on a CPU of which the data is cut off is not taken for more of the same on another one.
@test "cut file: no interval of an export is longer than in the whole file" {
	cd "$BATS_TEST_TMPDIR"
	cat > text <<- EOF
		# tracer: nop
		#
		            a-10      [000] .....     0.990000: tracing_mark_write: B|10|work
		            a-10      [000] .....     0.995000: block_rq_issue: 8,0 R 4096 () 100 + 8 [a]
		            a-10      [000] d....     1.000000: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=b next_pid=11 next_prio=120
		            b-11      [001] .....     1.050000: sched_waking: comm=a pid=10 prio=120 target_cpu=001
		       <idle>-0       [001] d....     1.100000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120
		            a-10      [001] .....     1.110000: tracing_mark_write: E|10
		            a-10      [001] .....     1.120000: block_rq_complete: 8,0 R () 100 + 8 [0]
		            a-10      [001] .....     1.130000: tracing_mark_write: B|10|more
		            a-10      [001] .....     1.140000: block_rq_issue: 8,0 R 4096 () 100 + 8 [a]
		            a-10      [001] d....     1.200000: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
		            b-11      [000] .....     1.400000: sched_waking: comm=a pid=10 prio=120 target_cpu=000
		            b-11      [000] d....     1.500000: sched_switch: prev_comm=b prev_pid=11 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120
		            a-10      [000] .....     1.550000: tracing_mark_write: E|10
		            a-10      [000] .....     1.560000: block_rq_complete: 8,0 R () 100 + 8 [0]
		            a-10      [000] d....     1.600000: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=b next_pid=11 next_prio=120
	EOF
	"$WEFT" import -q -o text.dat text
	"$WEFT" convert -q --file-version 6 -o whole.dat text.dat
	head -c $(("$("$WEFT" info whole.dat | awk '/pages of CPU 1$/ { print $1 }')" + 40)) whole.dat > cut.dat
	run -0 weft export -q --to sqlite -o whole.db whole.dat
	run -1 weft export -q --to sqlite -o cut.db cut.dat
	asleep="select printf('%d', dur / 1000000) from thread_state join thread using (utid) where tid = 10 and state = 'S' order by ts"
	[ "$(sqlite3 whole.db "$asleep" | xargs)" = "50 200" ]
	# It slept from 1.0 on, and nothing tells until when.
	[ "$(sqlite3 cut.db "$asleep" | xargs)" = "" ]
	[ "$(sqlite3 cut.db "select count(*), cpu from lost")" = "1|1" ]
	known="select printf('%d', dur / 1000000) from mark where end is null union all select printf('%d', dur / 1000000) from slice where category = 'pair' order by 1"
	[ "$(sqlite3 whole.db "$known" | xargs)" = "120 125 420 420" ]
	[ "$(sqlite3 cut.db "$known" | xargs)" = "" ]
}

# Events of two CPUs, of which the first one's are left.
@test "cut file: report --longer and --format pretty pair nothing over what is missing, and say so" {
	cd "$BATS_TEST_TMPDIR"
	cat > text <<- EOF
		# tracer: nop
		#
		            a-10      [000] .....     1.000000: block_rq_issue: 8,0 R 4096 () 100 + 8 [a]
		            a-10      [001] .....     1.100000: block_rq_complete: 8,0 R () 100 + 8 [0]
		            a-10      [001] .....     1.200000: block_rq_issue: 8,0 R 4096 () 100 + 8 [a]
		            a-10      [000] .....     1.500000: block_rq_complete: 8,0 R () 100 + 8 [0]
		            a-10      [000] d....     1.600000: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=b next_pid=11 next_prio=120
		            b-11      [000] d....     1.650000: sched_switch: prev_comm=b prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=a next_pid=10 next_prio=120
	EOF
	"$WEFT" import -q -o text.dat text
	"$WEFT" convert -q --file-version 6 -o whole.dat text.dat
	head -c $(("$("$WEFT" info whole.dat | awk '/pages of CPU 1$/ { print $1 }')" + 40)) whole.dat > cut.dat
	run -0 weft report --longer 1ms whole.dat
	[ "$(grep -c block_rq_complete <<< "$output")" -eq 2 ]
	run -0 weft report --format pretty whole.dat
	[[ "$output" == *" 300ms "* ]]
	# The request that ended at 1.5 did not begin at 1.0.
	for choice in "--longer 1ms" "-f duration>20us"; do
		# shellcheck disable=SC2086 # words
		run -1 weft report $choice cut.dat
		[[ "$output" == *"prev_comm=b"* && "$output" != *block_rq_complete* ]] || { echo "$choice: $output"; false; }
		[[ "$output" == *"note: what went on while events are missing has no duration, and is left out"* ]]
	done
	run -1 weft report --format pretty cut.dat
	[[ "$output" == *"block_rq_complete"* && "$output" != *" 500ms "* ]]
	[[ "$output" == *"note: what went on while events are missing has no duration"$'\n'* ]]
}
