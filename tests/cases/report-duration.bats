#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# report -f 'duration > 1ms': events that end something long. The oracle pairs the lines of the kernel's text itself.
load lib

file=tests/fixtures/demo.dat

# calls NS: prints the time, in ns, of each exit of a system call that lasted longer, from pairs in the kernel's text by
# task
calls()
{
	weft report -t $file | awk -v limit="$1" '
		/^#/ { next }
		{ task = $1; time = $4; sub(":", "", time); split(time, part, "."); ns = part[1] * 1000000000 + part[2] }
		/: sys_[a-z0-9_]*\(/ { start[task] = ns }
		/: sys_[a-z0-9_]* -> / { if (task in start && ns - start[task] > limit) print time; delete start[task] }'
}

times()
{
	grep -v '^#' | awk '{ sub(":", "", $4); print $4 }'
}

@test "duration: system calls that lasted longer, by task, are those of the kernel's text" {
	local limit ns
	for limit in 20us 100us 1ms; do
		ns=$((${limit%?s} * (${#limit} > 3 ? 1000 : 1000000)))
		calls "$ns" > "$BATS_TEST_TMPDIR/want"
		[ -s "$BATS_TEST_TMPDIR/want" ]
		weft report -t -f "sys_exit_*: duration > $limit" $file | times | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "duration: turns on a CPU count, too; -v turns it round; && adds what the kernel's language says" {
	weft report -f 'duration > 1ms' $file | grep -v '^#' > "$BATS_TEST_TMPDIR/long"
	grep -q 'sched_switch: ' "$BATS_TEST_TMPDIR/long"
	grep -q 'sys_execve -> ' "$BATS_TEST_TMPDIR/long"
	all=$(weft report $file | grep -vc '^#')
	[ "$(weft report -v -f 'duration > 1ms' $file | grep -vc '^#')" = $((all - $(wc -l < "$BATS_TEST_TMPDIR/long"))) ]
	weft report -e 'sys_exit_*' -f 'duration > 1us && ret < 0' $file | grep -v '^#' | diff - <(weft report -f 'sys_exit_*: ret < 0' $file | grep -v '^#')
	[ "$(weft report -e sched_switch -f 'duration > 1ms' $file | grep -vc '^#')" = "$(grep -c 'sched_switch: ' "$BATS_TEST_TMPDIR/long")" ]
}

@test "duration: functions of the graph" {
	graph=tests/corpora/report/accept/graph-6.1.dat
	want=$(weft report $graph | grep -c '^ *[0-9]*) [!#*@$]')
	[ "$want" -gt 0 ]
	[ "$(weft report --format json -e funcgraph_exit -f 'duration > 100us' $graph | wc -l)" = "$want" ]
}

@test "duration: a field that is called so stays one, a wrong unit and --tail are told" {
	run weft report -f 'duration > 100' $file
	[[ $output == *"none meets the filter 'duration > 100'"* ]]
	run weft report -f 'duration > 1xs' $file
	[ "$status" -ne 0 ]
	run weft report --tail 3 -f 'duration > 1ms' $file
	[ "$status" -ne 0 ]
	[[ $output == *--tail* ]]
}

@test "duration: pretty prints a selected end of a call with its arguments and how long it lasted" {
	local out=$BATS_TEST_TMPDIR/pretty
	weft report --format pretty -f 'sys_exit_*: duration > 100us' $file | grep -v '^#' > "$out"
	[ -s "$out" ]
	[ "$(wc -l < "$out")" -eq "$(calls 100000 | wc -l)" ]
	# TIME SINCE LASTED CPU TASK CALL(ARGUMENTS) = RESULT
	run -1 grep -v -E '^ *[0-9.]+ +\+[0-9.]+[a-z]+ +[0-9.,]+(us|ms|s) .*[a-z0-9_]+\(.*\) = ' "$out"
	run -1 grep 'resumed' "$out"
}
