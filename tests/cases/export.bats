#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft export: the command, and the lines of jsonl and csv.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
corpus=tests/corpora/report/accept
switches=$golden/6.12-events-sched.dat

@test "export: --help has the same formats as --to help" {
	weft export --to help | awk '{ print $1 }' | paste -sd '|' > "$BATS_TEST_TMPDIR/want"
	weft __describe | awk -F '\t' '$1 == "option" && $2 == "export" && $4 == "to" { print $5 }' | diff "$BATS_TEST_TMPDIR/want" -
}

@test "export: text goes to a terminal, and nothing that it would obey" {
	need_command script
	need_shared hostile/escapes.dat
	script -qec "$WEFT export --to csv --limit 50 $SHARED/hostile/escapes.dat" /dev/null > "$BATS_TEST_TMPDIR/shown"
	grep -q sched_switch "$BATS_TEST_TMPDIR/shown"
	run -1 grep -q $'\033' "$BATS_TEST_TMPDIR/shown"
}

@test "export: an unknown format names near ones, and no format is an error of usage" {
	run -2 --separate-stderr weft export --to jsonn "$switches"
	[[ $stderr == *"there is no 'jsonn'"*jsonl* ]]
	run -2 --separate-stderr weft export "$switches"
	[[ $stderr == *"no format given"* ]]
	# What report does not print, export may write.
	run -2 --separate-stderr weft report --format csv "$BATS_TEST_DIRNAME/../fixtures/demo.dat"
	[[ $stderr == *"no format 'csv'"*"'weft export --to csv' writes it"* ]]
	run -2 --separate-stderr weft report --format jsonn "$BATS_TEST_DIRNAME/../fixtures/demo.dat"
	[[ $stderr != *"weft export"* ]]
}

@test "export: the output has the mode 600, or that of --mode, and no other file is left" {
	mkdir "$BATS_TEST_TMPDIR/out"
	weft export --to csv -o "$BATS_TEST_TMPDIR/out/a.csv" "$switches"
	[ "$(stat -c %a "$BATS_TEST_TMPDIR/out/a.csv")" = 600 ]
	weft export --to csv --mode 640 -o "$BATS_TEST_TMPDIR/out/a.csv" "$switches"
	[ "$(stat -c %a "$BATS_TEST_TMPDIR/out/a.csv")" = 640 ]
	[ "$(ls -A "$BATS_TEST_TMPDIR/out")" = a.csv ]
}

@test "export: what fails leaves the output as it was" {
	mkdir "$BATS_TEST_TMPDIR/out"
	echo before > "$BATS_TEST_TMPDIR/out/a.csv"
	run -1 weft export --to csv -e nosuchevent -o "$BATS_TEST_TMPDIR/out/a.csv" "$switches"
	run -1 weft export --to csv -o "$BATS_TEST_TMPDIR/out/a.csv" README.md
	[ "$(cat "$BATS_TEST_TMPDIR/out/a.csv")" = before ]
	[ "$(ls -A "$BATS_TEST_TMPDIR/out")" = a.csv ]
}

@test "export: of a damaged file what can be read is written, and the exit status is 1" {
	head -c $(($(stat -c %s tests/fixtures/demo.dat) - 5000)) tests/fixtures/demo.dat > "$BATS_TEST_TMPDIR/cut.dat"
	run -1 --separate-stderr weft export --to csv -o "$BATS_TEST_TMPDIR/a.csv" "$BATS_TEST_TMPDIR/cut.dat"
	[ -n "$stderr" ]
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/a.csv")" = ts,cpu,instance,pid,comm,system,event,lost,text ]
}

@test "export: a full disk is told" {
	[ -c /dev/full ] || skip "no /dev/full"
	run -1 --separate-stderr weft export --to jsonl -o /dev/full "$switches"
	[[ $stderr == *"No space left"* ]]
}

@test "export: the same choice gives the same events as report's" {
	choices=("-e sched_switch" "--cpu 1" "--tail 5" "--limit 7" "--comm ls" "--since 4.47 --until 4.48" "--pid 65")
	for choice in "${choices[@]}"; do
		# shellcheck disable=SC2086
		want=$(weft report -R $choice tests/fixtures/demo.dat | grep -vc '^#')
		# shellcheck disable=SC2086
		[ "$(weft export --to jsonl $choice tests/fixtures/demo.dat | wc -l)" = "$want" ]
	done
}

@test "jsonl: a line for each event, whose fields jq reads as report prints them" {
	need_command jq
	for file in "$golden"/*.dat; do
		# A marker's text may have several lines.
		[[ $file != *markers* ]] || continue
		weft export --to jsonl "$file" > "$BATS_TEST_TMPDIR/jsonl" 2> /dev/null
		[ "$(jq -c 'select(.event != "lost")' "$BATS_TEST_TMPDIR/jsonl" | wc -l)" = "$(weft report -R "$file" | grep -vc '^#')" ]
	done
	weft export --to jsonl "$switches" | jq -r 'select(.event == "sched_switch") | .fields |
		"prev_comm=\(.prev_comm) prev_pid=\(.prev_pid) prev_prio=\(.prev_prio)"' > "$BATS_TEST_TMPDIR/got"
	weft report "$switches" | sed -n 's/.*sched_switch: \(prev_comm=.* prev_prio=[0-9-]*\) .*/\1/p' | diff - "$BATS_TEST_TMPDIR/got"
	[ -s "$BATS_TEST_TMPDIR/got" ]
}

@test "export: --fields preempt_count is the depth that the letters of the flags show" {
	weft export --to csv --fields preempt_count,flags "$switches" 2> /dev/null | sed 1d | sort -u > "$BATS_TEST_TMPDIR/csv"
	[ -s "$BATS_TEST_TMPDIR/csv" ]
	run -1 grep -vE '^0,...\.|^([1-9]),...\1' "$BATS_TEST_TMPDIR/csv"
}

@test "csv: python reads the columns that were asked for, and they are those of report" {
	need_command python3
	weft export --to csv --fields ts,comm,event,next_pid,fields.pid "$switches" > "$BATS_TEST_TMPDIR/csv" 2> /dev/null
	python3 - "$BATS_TEST_TMPDIR/csv" > "$BATS_TEST_TMPDIR/got" <<-'PY'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1], newline='')))
		assert list(rows[0]) == ['ts', 'comm', 'event', 'next_pid', 'fields.pid']
		for row in rows:
		    if row['event'] == 'sched_switch':
		        assert row['fields.pid'] == ''
		        print(row['next_pid'])
	PY
	weft report "$switches" | sed -n 's/.*sched_switch: .* next_pid=\([0-9]*\).*/\1/p' | diff - "$BATS_TEST_TMPDIR/got"
	[ -s "$BATS_TEST_TMPDIR/got" ]
}

@test "export: --fields tells a name that no event has, with the nearest one, and writes nothing" {
	for to in csv jsonl; do
		run -1 --separate-stderr weft export --to $to --fields ts,next_pidd "$switches"
		[ -z "$output" ]
		[[ "$stderr" == "weft: --fields: no event has a field 'next_pidd'; did you mean 'next_pid'"* ]]
	done
	run -1 weft export --to csv --fields fields.nothing_like_it -o "$BATS_TEST_TMPDIR/csv" "$switches"
	[ "$output" = "weft: --fields: no event has a field 'fields.nothing_like_it'" ]
	[ ! -e "$BATS_TEST_TMPDIR/csv" ]
	# A field of an event that was recorded is there, also if no event of it is exported.
	run -0 --separate-stderr weft export --to csv --fields next_pid -e sched_waking "$switches"
	[[ "$stderr" == *"no exported event has a field 'next_pid'"* ]]
}

@test "csv: the text is the kernel's" {
	need_command python3
	weft export --to csv "$switches" | python3 -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["text"])' > "$BATS_TEST_TMPDIR/got"
	weft report "$switches" | sed -n '/^#/d; s/^.\{16\}-.*[0-9]\.[0-9]\{6\}: //p' | diff - "$BATS_TEST_TMPDIR/got"
}

@test "jsonl: integers beyond 2^53 keep every digit, and a note says how many there are" {
	need_command python3
	weft export --to jsonl "$golden/6.12-function.dat" > "$BATS_TEST_TMPDIR/jsonl" 2> "$BATS_TEST_TMPDIR/note"
	python3 - "$BATS_TEST_TMPDIR/jsonl" > "$BATS_TEST_TMPDIR/got" <<-'PY'
		import json, sys
		large = 0
		def walk(value):
		    if isinstance(value, dict):
		        return sum(walk(each) for each in value.values())
		    if isinstance(value, list):
		        return sum(walk(each) for each in value)
		    return isinstance(value, int) and abs(value) > 2**53
		for line in open(sys.argv[1]):
		    large += walk(json.loads(line))
		print(large)
	PY
	[ "$(< "$BATS_TEST_TMPDIR/got")" -gt 0 ]
	grep -q "note: $(< "$BATS_TEST_TMPDIR/got") integers are beyond 2^53" "$BATS_TEST_TMPDIR/note"
}

@test "jsonl, csv: lost events are lines of their own" {
	need_command jq
	# The kernel's count for CPU 0 is not in its pages but in the saved statistics.
	weft report --format trace_pipe $corpus/lost-6.12.dat | sed -n 's/^CPU:\([0-9]*\) \[LOST \([0-9]*\) EVENTS\]/\1,\2/p' > "$BATS_TEST_TMPDIR/want"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/want")" = 2 ]
	weft export --to jsonl $corpus/lost-6.12.dat 2> /dev/null | jq -r 'select(.event == "lost") | "\(.cpu),\(.lost)"' |
		diff <(sed 's/^0,.*/0,null/' "$BATS_TEST_TMPDIR/want") -
	weft export --to csv --fields cpu,event,lost $corpus/lost-6.12.dat 2> /dev/null | sed -n 's/,lost,/,/p' | grep '^[0-9]' |
		diff <(sed 's/^0,.*/0,/' "$BATS_TEST_TMPDIR/want") -
}

@test "jsonl, csv: what is written is UTF-8 and whole, whatever the records hold" {
	need_command jq
	need_command python3
	for file in "$corpus"/*.dat "$SHARED"/hostile/*.dat; do
		[ -e "$file" ] || continue
		weft export --to jsonl --limit 5000 "$file" > "$BATS_TEST_TMPDIR/jsonl" 2> /dev/null || true
		iconv -f UTF-8 -t UTF-8 "$BATS_TEST_TMPDIR/jsonl" > /dev/null
		jq . < "$BATS_TEST_TMPDIR/jsonl" > /dev/null
		weft export --to csv --limit 5000 "$file" > "$BATS_TEST_TMPDIR/csv" 2> /dev/null || true
		python3 -c 'import csv, sys
csv.field_size_limit(1 << 30)
assert all(len(row) == 9 for row in csv.reader(open(sys.argv[1], newline="", encoding="utf-8")))' "$BATS_TEST_TMPDIR/csv"
	done
}

# Standard input is a FIFO without data: weft reads until the signal comes.
@test "export: a signal that ends it leaves no file behind, sent to weft alone or to all of its processes" {
	local to whom pid files=$BATS_TEST_TMPDIR/out
	mkfifo "$BATS_TEST_TMPDIR/fifo"
	mkdir "$files"
	exec 9<> "$BATS_TEST_TMPDIR/fifo"
	for to in jsonl ctf; do
		for whom in '' -; do
			setsid "$WEFT" export --to $to -i - -o "$files/o" < "$BATS_TEST_TMPDIR/fifo" 2> "$BATS_TEST_TMPDIR/said" 3>&- 9>&- &
			pid=$!
			# A new file has no name before it is whole: it is a descriptor of weft's.
			until [ "$(pgrep -c -P $pid)" = 1 ] && { [ -n "$(ls -A "$files")" ] || readlink /proc/$pid/fd/* | grep -qF "$files/"; }; do
				kill -0 $pid
			done
			kill -TERM -- $whom$pid
			status=0
			wait $pid || status=$?
			[ $status = 143 ]
			[ -z "$(ls -A "$files")" ]
			[ ! -s "$BATS_TEST_TMPDIR/said" ]
		done
	done
	exec 9>&-
}

# The oracle is the number of entries that the kernel wrote beside the stack.
@test "export: a kernel stack has as many entries as the kernel says, fewer or more than its format's 8" {
	need_command jq
	for file in "$golden"/*stacktrace*.dat "$golden"/*-event-stack.dat; do
		weft export --to jsonl -e kernel_stack "$file" > "$BATS_TEST_TMPDIR/stacks" 2> /dev/null
		weft report --format json "$file" | jq -c 'select(.event == "kernel_stack") | .fields.caller' > "$BATS_TEST_TMPDIR/reported"
		jq -c .fields.caller "$BATS_TEST_TMPDIR/stacks" | diff "$BATS_TEST_TMPDIR/reported" -
		[ "$(jq -c 'select(has("event")) | .fields | select((.caller | length) != .size)' "$BATS_TEST_TMPDIR/stacks" | head -n 1)" = '' ]
		cat "$BATS_TEST_TMPDIR/stacks" >> "$BATS_TEST_TMPDIR/all"
	done
	[ "$(jq -c 'select(has("event")) | .fields.size' "$BATS_TEST_TMPDIR/all" | awk '$1 < 8 { less++ } $1 > 8 { more++ } END { print (less > 0), (more > 0) }')" = "1 1" ]
}

# The instant is that of the file without the option DATE, in jsonl, and 1,700,000,000 s. babeltrace2 reads CTF, and
# export/dated.py the others.
@test "export: an event of a dated file has one instant, whatever the format" {
	need_command python3
	need_command babeltrace2
	reading=$PWD/tests/cases/export/dated.py
	cd "$BATS_TEST_TMPDIR" || exit
	dated "$switches" dated.dat
	ts=$((1700000000000000000 + $(weft export --to jsonl "$switches" | head -n 1 | sed -E 's/.*"ts":([0-9]+).*/\1/')))
	[ "$(weft export --to jsonl dated.dat | head -n 1 | sed -E 's/.*"ts":([0-9]+).*/\1/')" = $ts ]
	[ "$(weft sql dated.dat 'SELECT min(ts) FROM ftrace_event' | tail -n 1)" = $ts ]
	for to in firefox perfetto html; do
		weft export -q --to $to -o out.$to dated.dat
		[ "$(python3 "$reading" $to out.$to $ts)" = $ts ]
	done
	weft export -q --to parquet -o parquet dated.dat
	for table in parquet/*.parquet; do
		[ "$(python3 "$reading" parquet "$table" $ts)" = $ts ]
	done
	weft export -q --to ctf -o ctf dated.dat
	[ "$(babeltrace2 --clock-seconds ctf | head -n 1 | sed -E 's/^\[([0-9]+)\.([0-9]+)\].*/\1\2/')" = $ts ]
	grep -aq 'absolute = TRUE' ctf/metadata
}

# The tracer blk's entries have no format, which these exports need.
@test "export: it counts the events that are in the output" {
	file=$golden/6.12-blk.dat
	for to in sqlite parquet perfetto; do
		run -0 weft export --to $to -o "$BATS_TEST_TMPDIR/$to" "$file"
		[[ "$output" == *"/$to: 0 events"* ]]
		[[ "$output" == *"note: $(grep -vc "^#" "${file%.dat}.txt") events of types without a format"* ]]
	done
	run -0 weft export --to jsonl -o "$BATS_TEST_TMPDIR/jsonl" "$file"
	[[ "$output" == *"/jsonl: $(grep -vc '^#' "${file%.dat}.txt") events, "* ]]
}
