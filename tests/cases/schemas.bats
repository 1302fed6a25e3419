#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# --format schema: what the JSON of each analysis looks like. The judge is Python's jsonschema.
load lib

setup()
{
	need_command python3
	python3 -c 'import jsonschema' 2> /dev/null || skip "python3-jsonschema is not installed"
	cd "$BATS_TEST_TMPDIR" || return 1
	fixtures=$BATS_TEST_DIRNAME/../fixtures
}

analyses()
{
	sed -n 's/^	X(\([a-z]*\)).*/\1/p' "$BATS_TEST_DIRNAME/../../lib/answers/frame/analysis_list.h"
}

# check COMMAND OPTIONS... FILE: false if the analysis has nothing to say of the file
check()
{
	weft "$@" --format json > answer.json 2> /dev/null || return 1
	weft "$@" --format schema > schema.json
	weft "$@" --format json --max-bytes 100000 > small.json
	python3 "$BATS_TEST_DIRNAME/schemas.py" schema.json answer.json small.json >> errors 2>&1 || echo "$*" >> errors
}

# Marks of a program, and waits for a lock, which no fixture has.
make_files()
{
	cat > marks.txt <<- 'END'
		           job-501     [000] .....   100.000010: tracing_mark_write: B|501|read
		           job-501     [000] .....   100.000310: tracing_mark_write: E|501
		           job-501     [000] .....   100.000410: tracing_mark_write: B|501|sort
		           job-501     [000] .....   100.000910: tracing_mark_write: E|501
	END
	weft import -q -o marks.dat marks.txt
	python3 "$BATS_TEST_DIRNAME/brief.py" planted 10
}

# bats test_tags=long
@test "schema: the JSON of every analysis is as its schema says" {
	local name file judged

	make_files
	for name in $(analyses) brief; do
		judged=
		for file in marks.dat planted/cause-10.dat "$fixtures"/demo.dat "$fixtures"/session/{late,memory,open,sleep,slow}.dat \
			"$fixtures"/resources/*.dat; do
			check "$name" "$file" || continue
			judged=yes
		done
		[ -n "$judged" ] || echo "no file for $name" >> errors
	done
	[ ! -s errors ] || { cat errors; false; }
}

@test "schema: of other rows, and with times of day" {
	check sched --by program "$fixtures/session/slow.dat"
	check syscalls --by errno "$fixtures/session/slow.dat"
	check syscalls --slowest 3 "$fixtures/session/slow.dat"
	check latency --time relative "$fixtures/session/late.dat"
	check sched --table cpus "$fixtures/session/slow.dat"
	for options in --tree '--slowest 3' '--all call' '--by program'; do
		# shellcheck disable=SC2086
		check why $options "$fixtures/session/slow.dat"
	done
	check why --all wakeup --slow 10% "$fixtures/session/late.dat"
	weft why --slowest 3 --format json "$fixtures/session/late.dat" 2> /dev/null |
		jq -e '([.intervals[].lasted_ns] | add) == ([.parts[].time_ns] | add)' > /dev/null
	[ ! -s errors ] || { cat errors; false; }
}

@test "schema: without a file it is one of any file, with the tables of the one that has them" {
	local name options

	for name in $(analyses) brief; do
		weft "$name" --format schema > schema.json
		jq -e '[.properties[] | select(.items.properties)] | length > 1' schema.json > /dev/null || echo "$name has no table" >> errors
	done
	for options in sched latency 'syscalls --slowest 3' 'syscalls --by errno' why summary tasks brief; do
		# shellcheck disable=SC2086
		set -- $options
		weft "$@" --format schema > schema.json
		weft "$@" --format json "$fixtures/session/slow.dat" > answer.json
		python3 "$BATS_TEST_DIRNAME/schemas.py" schema.json answer.json >> errors 2>&1 || echo "$*" >> errors
	done
	[ ! -s errors ] || { cat errors; false; }
	# A file that is named is the one that is asked for, and so is a command.
	run -1 weft sched --format schema nosuch.dat
	[[ $output = *"nosuch.dat"* ]]
	# What the time of one file was spent on is no part of a schema.
	weft why --format schema "$fixtures/session/slow.dat" > slow.json
	weft why --format schema "$fixtures/session/late.dat" | cmp slow.json -
}

@test "schema: it is strict: what is not in it is an error, and so is what lacks" {
	check sched "$fixtures/session/slow.dat"
	[ ! -s errors ]
	for change in '.tasks[0].more = 1' 'del(.tasks[0].run_ns)' '.version = 2' 'del(.cpus)' '.more = []' '.tasks[0].run_ns = "1"'; do
		jq "$change" answer.json > wrong.json
		run -1 python3 "$BATS_TEST_DIRNAME/schemas.py" schema.json wrong.json
	done
}

@test "schema: of the answer of each interval of --every" {
	local options

	for options in 'sched --every 50ms' 'syscalls --every 50ms --time relative' 'summary --every 100ms'; do
		# shellcheck disable=SC2086 # words
		set -- $options
		weft "$@" --format schema > schema.json
		weft "$@" --format json "$fixtures/session/slow.dat" > answers.json
		[ "$(jq -s length answers.json)" -gt 3 ]
		jq -s . answers.json > list.json
		jq '{type: "array", items: .}' schema.json > of-list.json
		python3 "$BATS_TEST_DIRNAME/schemas.py" of-list.json list.json
		jq 'map(del(.since))' list.json > wrong.json
		run -1 python3 "$BATS_TEST_DIRNAME/schemas.py" of-list.json wrong.json
	done
}

# answer COMMAND OPTIONS...: the JSON of this command, with any status, is as its schema says
answer()
{
	weft "$1" --format schema > schema.json
	weft "$@" --format json > answer.json 2> /dev/null || true
	python3 "$BATS_TEST_DIRNAME/schemas.py" schema.json answer.json
	[ "$(jq .version answer.json)" = 1 ]
}

@test "schema: what info, check, list and recover say is as their schemas say, and as the manual names it" {
	for file in "$fixtures"/*.dat "$fixtures"/session/slow.dat; do
		answer info "$file"
		answer check "$file"
	done
	answer info --settings "$fixtures/demo.dat"
	answer info --no-events "$fixtures/demo.dat"
	cp "$fixtures/demo.dat" damaged.dat
	printf weft | dd of=damaged.dat bs=1 seek=20000 conv=notrunc status=none
	answer check damaged.dat
	for list in events tracers syscalls tasks options; do answer list "$list" -i "$fixtures/demo.dat"; done
	for keys in next_comm next_pid.log2 next_pid.buckets=10 common_pid.execname prev_prio.hex next_comm,next_pid; do
		answer hist -i "$fixtures/session/late.dat" sched:sched_switch --keys $keys --values next_prio,next_prio.p99
		answer hist -i "$fixtures/session/late.dat" --max-bytes 400 sched:sched_switch --keys $keys
	done
	answer hist -i "$fixtures/session/late.dat" --latency sched:sched_waking..sched:sched_switch --key pid=next_pid
	jq -e '.unit == "us"' answer.json
	answer hist -i "$fixtures/session/late.dat" raw_syscalls:sys_enter --keys id.syscall
	answer list events --max-bytes 500 -i "$fixtures/demo.dat"
	answer list -F events sched_switch -i "$fixtures/demo.dat"
	answer list -i "$fixtures/demo.dat"
	[ "$(jq '.event_count' answer.json)" = "$(weft list events -i "$fixtures/demo.dat" | wc -l)" ]
	[ "$(jq -r '.clocks[].name' answer.json)" = "$(weft list clocks -i "$fixtures/demo.dat")" ]
	jq '.more = 1' answer.json > wrong.json
	run -1 python3 "$BATS_TEST_DIRNAME/schemas.py" schema.json wrong.json
	# Each member stands in the page.
	weft hist -i "$fixtures/session/late.dat" sched:sched_switch --keys next_pid --format json | jq -r 'keys[]' | while read -r member; do
		grep -qF "$member" <(man -l "$BUILD/docs/man/weft-hist.1" 2> /dev/null) || { echo "no $member in weft-hist(1)"; false; }
	done
	weft check --format json "$fixtures/demo.dat" | jq -r 'keys[]' | while read -r member; do
		grep -qF "$member" <(man -l "$BUILD/docs/man/weft-check.1" 2> /dev/null) || { echo "no $member in weft-check(1)"; false; }
	done
}

@test "schema: what doctor, status, diff and record --result say is as they say" {
	need_tracefs
	answer doctor
	answer status --full
	answer list
	[ "$(jq -r .kernel answer.json)" = "$(uname -srm)" ]
	weft diff --format schema "$fixtures/session/slow.dat" "$fixtures/session/late.dat" > schema.json
	weft diff --format json "$fixtures/session/slow.dat" "$fixtures/session/late.dat" > answer.json
	python3 "$BATS_TEST_DIRNAME/schemas.py" schema.json answer.json
	# Without files it is the same, but for what one file a side cannot tell.
	weft diff --format schema > any.json
	python3 "$BATS_TEST_DIRNAME/schemas.py" any.json answer.json
	weft diff --old "$fixtures/session/slow.dat" --new "$fixtures/session/late.dat" --format json --max-bytes 1500 > answer.json
	python3 "$BATS_TEST_DIRNAME/schemas.py" any.json answer.json
	jq -e '.rows_left_out.changes > 0' answer.json
	weft bench --format schema > any.json
	for commands in '-- true -- :' '-- true'; do
		# shellcheck disable=SC2086 # words
		weft bench --runs 2 --plain --format json $commands > answer.json 2> /dev/null
		python3 "$BATS_TEST_DIRNAME/schemas.py" any.json answer.json
		jq -e '.runs | length >= 2' answer.json
	done
	weft record -q -e sched:sched_switch --result result.json -o a.dat -- true
	weft record --format schema > schema.json
	python3 "$BATS_TEST_DIRNAME/schemas.py" schema.json result.json
	run -2 weft record --format json -- true
	jq -r 'to_entries[] | if .key == "cpus" then (.value[0] | keys[] | "cpus[].\(.)") else .key end' result.json | grep -vx version | sort > got
	weft __describe | awk -F '\t' '$1 == "answer" && $2 == "record" { print $3 }' | sort | diff - got
}

@test "schema: lines of events, lost ones too, and rows of SQL" {
	local file
	weft report --format schema > schema.json
	weft stream --format schema | cmp schema.json -
	{
		for file in session/demo session/disk session/memory golden/6.12-markers golden/6.12-function_graph golden/6.12-userstacktrace; do
			weft report --format json --decode "$fixtures/$file.dat"
		done
		weft report --format json --time wall "$BATS_TEST_DIRNAME"/../old/0.2.0-c85f1780-events.dat
		weft report --format json "$BATS_TEST_DIRNAME"/../old/0.2.0-instances.dat
		weft report "$fixtures/demo.dat" | awk '!/^#/ && ++n == 9 { print "CPU:1 [LOST 12 EVENTS]" } 1' > lost.txt
		weft import -q -o lost.dat lost.txt
		weft report --format json lost.dat
	} > lines
	grep -q '"lost":12' lines
	jq -s . lines > answer.json
	jq '{type: "array", items: .}' schema.json > list.json
	python3 "$BATS_TEST_DIRNAME/schemas.py" list.json answer.json
	echo '[{"ts":1,"cpu":0,"lost":1,"pid":3}]' > wrong.json
	run -1 python3 "$BATS_TEST_DIRNAME/schemas.py" list.json wrong.json
	echo '[{"ts":1,"cpu":0,"more":1,"lost":2}]' > wrong.json
	run -1 python3 "$BATS_TEST_DIRNAME/schemas.py" list.json wrong.json
	weft sql --format schema > schema.json
	weft sql --format json "$fixtures/session/demo.dat" 'SELECT *, 1.5 AS x, NULL AS y FROM slice' > answer.json
	python3 "$BATS_TEST_DIRNAME/schemas.py" schema.json answer.json
}
