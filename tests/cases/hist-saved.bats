#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft hist --input, compared with the kernel's own text of the same buffer.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
sched=$golden/6.12-events-sched

# pairs KEY: prints "VALUE HITS" for each value in the kernel's text of sched_switch
pairs() {
	sed -n "/ sched_switch: /s/.* $1=\([^ ]*\).*/\1/p" "$sched.txt" | sort | uniq -c | awk '{ print $2, $1 }' | sort
}

@test "hist: --input counts what the kernel's text has, by names and by numbers" {
	for key in next_comm next_pid prev_prio; do
		weft hist -i "$sched.dat" sched:sched_switch --keys $key --format json | jq -r '.rows[] | "\(.keys.'$key') \(.values.hitcount)"' | sort > "$BATS_TEST_TMPDIR/got"
		pairs $key > "$BATS_TEST_TMPDIR/want"
		[ -s "$BATS_TEST_TMPDIR/want" ]
		cmp "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
	done
}

@test "hist: --input names the values of a field as the kernel's text does" {
	weft hist -i "$sched.dat" sched:sched_switch --keys prev_state.sym --format json | jq -r '.rows[] | "\(.keys.prev_state) \(.values.hitcount)"' |
		sort > "$BATS_TEST_TMPDIR/got"
	pairs prev_state > "$BATS_TEST_TMPDIR/want"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/want")" -gt 2 ]
	cmp "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
}

@test "hist: --input sums up, and percentiles are those of the values" {
	sed -n '/ sched_switch: /s/.*prev_prio=\([0-9]*\).*/\1/p' "$sched.txt" | sort -n > "$BATS_TEST_TMPDIR/prios"
	n=$(wc -l < "$BATS_TEST_TMPDIR/prios")
	sum=$(awk '{ s += $1 } END { print s }' "$BATS_TEST_TMPDIR/prios")
	p50=$(sed -n "$(((n + 1) / 2))p" "$BATS_TEST_TMPDIR/prios")
	run -0 weft hist -i "$sched.dat" sched:sched_switch --keys common_type --values prev_prio,prev_prio.p50,prev_prio.max --format json
	[ "$(jq -c '.rows[0].values' <<< "$output")" = "{\"hitcount\":$n,\"prev_prio\":$sum,\"prev_prio.p50\":$p50,\"prev_prio.max\":$(tail -n 1 "$BATS_TEST_TMPDIR/prios")}" ]
}

@test "hist: --input knows results below 0: their least, median and largest, and the steps that they are in" {
	ids=$golden/6.12-events-syscalls
	# A system call that failed returns a number below 0.
	weft report "$ids.dat" -R | grep -o ' sys_exit_[a-z0-9_]*: .*ret=0x[0-9a-f]*' > "$BATS_TEST_TMPDIR/exits"
	event=$(grep 'ret=0xf' "$BATS_TEST_TMPDIR/exits" | awk -F'[ :]' '{ print $2; exit }')
	[ -n "$event" ]
	sed -n "s/.* $event: .*ret=0x//p;s/^ $event: .*ret=0x//p" "$BATS_TEST_TMPDIR/exits" |
		while read -r digits; do echo $((16#$digits)); done | sort -n > "$BATS_TEST_TMPDIR/results"
	n=$(wc -l < "$BATS_TEST_TMPDIR/results")
	run -0 weft hist -i "$ids.dat" "syscalls:$event" --keys common_type --values ret.min,ret.p50,ret.max --format json
	[ "$(jq -c '.rows[0].values' <<< "$output")" = "{\"hitcount\":$n,\"ret.min\":$(head -n 1 "$BATS_TEST_TMPDIR/results"),\"ret.p50\":$(sed -n "$(((n + 1) / 2))p" "$BATS_TEST_TMPDIR/results"),\"ret.max\":$(tail -n 1 "$BATS_TEST_TMPDIR/results")}" ]
	# 0 is in the first step, as in the kernel, and what is below 0 is in the last one.
	run -0 weft hist -i "$ids.dat" "syscalls:$event" --keys ret.log2 --format json
	jq -e '.rows[-1].keys.ret.from > 9e18 and .rows[-1].keys.ret.to > 18e18' <<< "$output"
	run -0 weft hist -i "$sched.dat" sched:sched_switch --keys prev_state.log2 --format json
	[ "$(jq -c '.rows[0].keys.prev_state' <<< "$output")" = '{"from":0,"to":1}' ]
}

@test "hist: --input as JSON: hexadecimal numbers are texts, and no two columns have one name" {
	run -0 weft hist -i "$sched.dat" sched:sched_switch --keys next_prio.hex,next_prio,prev_prio --values next_prio.hex,next_prio,prev_prio.hex --format json
	[ "$(jq -c '[.rows[].values["next_prio.hex"] | type] + [.rows[].values.prev_prio | type] | unique' <<< "$output")" = '["string"]' ]
	jq -e '.rows | length > 0 and all(.keys["next_prio.hex"] and .keys.next_prio and .keys.prev_prio)' <<< "$output"
	# Each column has its own figure: the key in hexadecimal is the key.
	while read -r hex number; do
		[ $((16#$hex)) -eq "$number" ]
	done < <(jq -r '.rows[] | "\(.keys["next_prio.hex"]) \(.keys.next_prio)"' <<< "$output")
}

@test "hist: --max-bytes leaves out the last rows, and says how many and how to get them" {
	local size all

	weft hist -i "$sched.dat" sched:sched_switch --keys next_comm --format json > "$BATS_TEST_TMPDIR/all"
	all=$(jq '.rows | length' "$BATS_TEST_TMPDIR/all")
	for size in 400 450; do
		weft hist -i "$sched.dat" sched:sched_switch --keys next_comm --format json --max-bytes $size > "$BATS_TEST_TMPDIR/part"
		[ "$(wc -c < "$BATS_TEST_TMPDIR/part")" -le $size ]
		[ "$(jq '(.rows | length) + .rows_left_out.rows' "$BATS_TEST_TMPDIR/part")" = "$all" ]
		[ "$(jq -c '.rows[]' "$BATS_TEST_TMPDIR/part")" = "$(jq -c '.rows[]' "$BATS_TEST_TMPDIR/all" | head -n "$(jq '.rows | length' "$BATS_TEST_TMPDIR/part")")" ]
		jq -e '.for_more | test("max-bytes")' "$BATS_TEST_TMPDIR/part"
	done
	weft hist -i "$sched.dat" sched:sched_switch --keys next_comm --format json --max-bytes 100000 | cmp - "$BATS_TEST_TMPDIR/all"
	weft hist -i "$sched.dat" sched:sched_switch --keys next_comm > "$BATS_TEST_TMPDIR/text"
	weft hist -i "$sched.dat" sched:sched_switch --keys next_comm --max-bytes 300 > "$BATS_TEST_TMPDIR/part"
	[ "$(wc -c < "$BATS_TEST_TMPDIR/part")" -le 300 ]
	[ "$(tail -n 1 "$BATS_TEST_TMPDIR/part")" = "$(tail -n 1 "$BATS_TEST_TMPDIR/text")" ]
	[ "$(sed -n 's/^\.\.\. and \([0-9]*\) more rows; --max-bytes .*/\1/p' "$BATS_TEST_TMPDIR/part")" = $((all - $(wc -l < "$BATS_TEST_TMPDIR/part") + 3)) ]
	run -2 weft hist -i "$sched.dat" sched:sched_switch --keys next_comm --format kernel --max-bytes 400
	run -1 weft hist -i "$sched.dat" sched:sched_switch --keys next_comm --format json --max-bytes 50
	[[ $output == *'without any row the answer has '*' bytes, more than --max-bytes' ]]
}

@test "hist: --input has no 99th percentile of fewer than 100 values" {
	file=$golden/6.1-rt-events-sched
	# One row of all, and one for each task, none of which has as many.
	sed -n '/ sched_stat_runtime: /s/.* runtime=\([0-9]*\).*/\1/p' "$file.txt" | sort -n > "$BATS_TEST_TMPDIR/times"
	n=$(wc -l < "$BATS_TEST_TMPDIR/times")
	[ "$n" -ge 100 ]
	run -0 weft hist -i "$file.dat" sched:sched_stat_runtime --keys common_type --values runtime.p99,runtime.p999 --format json
	[ "$(jq -c '.rows[0].values' <<< "$output")" = "{\"hitcount\":$n,\"runtime.p99\":$(sed -n "$(((n * 99 + 99) / 100))p" "$BATS_TEST_TMPDIR/times"),\"runtime.p999\":null}" ]
	run -0 weft hist -i "$file.dat" sched:sched_stat_runtime --keys comm --values runtime.p99 --format json
	jq -e '[.rows[].values | has("runtime.p99") and .["runtime.p99"] == null] | length > 3 and all' <<< "$output"
	run -0 weft hist -i "$file.dat" sched:sched_stat_runtime --keys comm --values runtime.p99
	[[ "${lines[1]}" =~ ^[^\ ]+\ +[0-9]+\ .*\ -$ ]]
}

@test "hist: --input prints the table of weft hist" {
	run -0 weft hist -i "$sched.dat" sched:sched_switch --keys next_comm,next_prio --sort next_comm
	[[ "${lines[0]}" =~ ^next_comm\ +next_prio\ +hitcount ]]
	[[ "${lines[1]}" =~ \ +[0-9]+\ +[0-9]+\ +#+$ ]]
	[[ "${lines[-1]}" == "sched:sched_switch: $(grep -c ' sched_switch: ' "$sched.txt") hits in "* ]]
}

@test "hist: --input with --format kernel is a histogram as the kernel prints it" {
	run -0 weft hist -i "$sched.dat" sched:sched_switch --keys next_pid --format kernel
	[ "${lines[0]}" = "# event histogram" ]
	[ "${lines[2]}" = "# trigger info: hist:keys=next_pid:vals=hitcount:sort=hitcount.descending:size=2048 [active]" ]
	[[ "$output" == *"    Hits: $(grep -c ' sched_switch: ' "$sched.txt")"$'\n'* ]]
}

@test "hist: --input refuses with the place of the culprit, and says what is near" {
	run -1 --separate-stderr weft hist -i "$sched.dat" sched:sched_switch --keys next_comm,nxt_pid
	[[ "$stderr" == *"Couldn't find field; did you mean 'next_pid'"* ]]
	[[ "$stderr" == *"  next_comm,nxt_pid"$'\n'"            ^" ]]
	run -1 --separate-stderr weft hist -i "$sched.dat" sched:sched_swich --keys next_comm
	[[ "$stderr" == *"did you mean 'sched:sched_switch'"* ]]
	run -2 --separate-stderr weft hist -i "$sched.dat" sched:sched_switch --keys next_pid --filter 'next_pid = 1'
	[[ "$stderr" == *"--filter: Invalid operator"* ]]
	run -2 --separate-stderr weft hist -i "$sched.dat" sched:sched_switch --keys next_pid -- true
	[[ "$stderr" == *"cannot be combined with a COMMAND"* ]]
	run -2 --separate-stderr weft hist sched:sched_switch --keys next_pid --since 1
	[[ "$stderr" == *"are for --input"* ]]
}

# bats test_tags=long
@test "hist: --input of damaged files and of strange ones ends with words" {
	head -c $(($(stat -c %s "$sched.dat") / 2)) "$sched.dat" > "$BATS_TEST_TMPDIR/cut.dat"
	run --separate-stderr timeout 60 weft hist -i "$BATS_TEST_TMPDIR/cut.dat" sched:sched_switch --keys next_pid
	[ "$status" -le 1 ]
	for file in "$BATS_TEST_DIRNAME"/../corpora/report/*/*.dat; do
		for what in "sched:sched_switch --keys next_comm,prev_state.log2,stacktrace --values prev_prio.p99" "function --keys ip.sym,parent_ip.sym-offset" \
			"--latency raw_syscalls:sys_enter..raw_syscalls:sys_exit --keys id.syscall,lat.log2 --filter lat>1"; do
			# shellcheck disable=SC2086
			run --separate-stderr timeout 60 weft hist -i "$file" $what
			[ "$status" -le 1 ]
		done
	done
}

@test "hist --input: on a terminal its bars are of block characters where the locale has them, and lines fit" {
	command -v script > /dev/null || skip "no script(1)"
	file=$BATS_TEST_DIRNAME/../fixtures/demo.dat
	bars()
	{
		SHELL=$BASH script -qec "stty cols $1 rows 50; env LC_ALL=$2 $(printf '%q ' "$WEFT" hist --input "$file" sched:sched_switch --keys next_comm --values prev_prio)" \
			/dev/null < /dev/null | tr -d '\r'
	}
	# The most frequent value in the kernel's text.
	most=$(weft report "$file" -e sched:sched_switch | grep -o 'next_comm=[^ ]*' | sort | uniq -c | sort -rn | head -1 | awk '{ print $1 }')
	run -0 bars 80 C.UTF-8
	[[ "${lines[1]}" =~ ^[a-z]+\ +$most\ \ (█{40})\ +[0-9]+$ ]]
	run -0 bars 80 C
	[[ "${lines[1]}" =~ ^[a-z]+\ +$most\ \ (#{40})\ +[0-9]+$ ]]
	for columns in 44 60; do
		run -0 bars $columns C
		[[ "${lines[1]}" =~ \ #{8,}\ +[0-9]+$ ]]
		[ "$(printf '%s\n' "${lines[@]:0:8}" | awk '{ n = length > n ? length : n } END { print n }')" -eq $columns ]
	done
	# A value's own bar begins at the left.
	run -0 weft hist --input "$file" sched:sched_switch --keys next_comm --values prev_prio.graph
	[[ "${lines[2]}" =~ ^[^\ ]+\ +[0-9]+\ \ #+\ +#+$ ]]
	[ "$(printf '%s\n' "${lines[@]:1:8}" | sed 's/#*$//' | awk '{ print length }' | sort -u | wc -l)" -eq 1 ]
	# A file or a pipe has the same bars in every locale.
	[ "$(LC_ALL=C.UTF-8 weft hist --input "$file" sched:sched_switch --keys next_comm)" = "$(LC_ALL=C weft hist --input "$file" sched:sched_switch --keys next_comm)" ]
}

@test "hist: --comm, --pid, --process and --cpu choose events of a file, and are refused without one" {
	file=$BATS_TEST_DIRNAME/../fixtures/demo.dat
	for words in "--comm ls" "--pid 65" "--process ls" "--cpu 1"; do
		# shellcheck disable=SC2086
		want=$(weft report $words -e sched_waking "$file" 2> /dev/null | grep -vc '^#')
		# shellcheck disable=SC2086
		[ "$(weft hist -i "$file" sched_waking --keys common_cpu --format json $words 2> /dev/null | grep -o '"hits":[0-9]*')" = "\"hits\":$want" ]
		# shellcheck disable=SC2086
		run -2 weft hist sched_waking --keys pid $words
		[[ "$output" == *"are for --input: write -f 'common_pid == N'"* ]]
	done
}
