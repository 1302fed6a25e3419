#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft export --to intervals, as DuckDB reads it. The oracles are the kernel's own text, what DuckDB makes of the events by
# window functions, and weft sched, whose figures tests/oracle compares with others.
load lib

fixtures=$BATS_TEST_DIRNAME/../fixtures
golden=$fixtures/golden

setup()
{
	out=$BATS_TEST_TMPDIR/out
	events=$BATS_TEST_TMPDIR/events
	need_npm @duckdb/node-api 1.5.6-r.1
	timeout 60 node "$BATS_TEST_DIRNAME/export/duckdb.js" 'SELECT 1' > /dev/null || skip "node cannot load @duckdb/node-api"
}

duckdb()
{
	node "$BATS_TEST_DIRNAME/export/duckdb.js" "$@"
}

make_tables()
{
	rm -rf "$out"
	weft export -q --to intervals -o "$out" "$@"
}

@test "intervals: each kernel has the same tables, the columns are those of the committed list, and all integers have a sign" {
	for file in 6.12-events-sched 6.1-rt-events-syscalls 6.1-mips64el-markers 6.12-function_graph; do
		make_tables "$golden/$file.dat"
		for table in "$out"/*.parquet; do
			duckdb "SELECT '$(basename "$table" .parquet): ' || string_agg(column_name || ' ' || column_type, ', ') FROM (DESCRIBE FROM '$table')"
		done | diff "$BATS_TEST_DIRNAME/export/intervals.schema" -
		[ "$(duckdb "SELECT count(*) FROM parquet_kv_metadata('$out/*.parquet') WHERE decode(key) = 'weft.intervals' AND decode(value) = '1'")" = 13 ]
	done
}

@test "intervals: runs and wakeups are what weft sched counts, and their parts add up" {
	need_command jq
	for file in "$golden/6.12-events-sched.dat" "$golden/6.1-rt-events-sched.dat" "$fixtures/session/slow.dat"; do
		make_tables "$file"
		weft sched --self --format json "$file" | jq -r '.tasks[] | select(.pid > 0 and .run_ns > 0) | "\(.pid)|\(.run_ns)"' | LC_ALL=C sort > "$BATS_TEST_TMPDIR/want"
		# What goes on when the file ends has no duration.
		duckdb "SELECT run.pid, sum(coalesce(run.dur, whole.ts + whole.dur - run.ts)) FROM '$out/run.parquet' AS run, '$out/recording.parquet' AS whole
			WHERE run.pid > 0 GROUP BY run.pid HAVING sum(coalesce(run.dur, whole.ts + whole.dur - run.ts)) > 0" | LC_ALL=C sort > "$BATS_TEST_TMPDIR/got"
		[ -s "$BATS_TEST_TMPDIR/want" ]
		diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
		weft sched --self --format json "$file" | jq -r '.tasks[] | select(.delays > 0) | "\(.pid)|\(.delays)|\(.delay_max_ns)"' | LC_ALL=C sort > "$BATS_TEST_TMPDIR/want"
		duckdb "SELECT pid, count(*), max(dur) FROM '$out/wakeup.parquet' WHERE first = 0 GROUP BY pid" | LC_ALL=C sort > "$BATS_TEST_TMPDIR/got"
		[ -s "$BATS_TEST_TMPDIR/want" ]
		diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
		[ "$(duckdb "SELECT count(*) FROM '$out/wakeup.parquet' WHERE enqueue + queued <> dur OR dur < 0 OR dur IS NULL")" = 0 ]
	done
}

@test "intervals: runs and wakeups of chosen tasks are what weft sched counts of them in a recording of all" {
	need_command jq
	local words file=$golden/6.1-rt-events-sched.dat
	for words in "--pid 147" "--comm sh" "--process 152"; do
		# shellcheck disable=SC2086
		make_tables "$file" $words
		# shellcheck disable=SC2086
		weft sched --self --format json $words "$file" > "$BATS_TEST_TMPDIR/sched"
		jq -r '[.tasks[].run_ns] | add' "$BATS_TEST_TMPDIR/sched" > "$BATS_TEST_TMPDIR/want"
		duckdb "SELECT sum(coalesce(run.dur, whole.ts + whole.dur - run.ts)) FROM '$out/run.parquet' AS run, '$out/recording.parquet' AS whole" |
			diff "$BATS_TEST_TMPDIR/want" -
		jq -r '[.tasks[].delays] | add' "$BATS_TEST_TMPDIR/sched" > "$BATS_TEST_TMPDIR/want"
		duckdb "SELECT count(*) FROM '$out/wakeup.parquet' WHERE first = 0" | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "intervals: DuckDB finds the same wakeups in the events by window functions" {
	file=$golden/6.12-events-sched.dat
	make_tables "$file"
	weft export -q --to parquet -o "$events" "$file"
	duckdb "SELECT tid, since, ts - since FROM (
		SELECT *, lag(what) OVER task AS before, lag(ts) OVER task AS since FROM (
			SELECT ts, field_pid AS tid, 'woken' AS what FROM '$events/sched_waking.parquet'
			UNION ALL SELECT ts, next_pid, 'in' FROM '$events/sched_switch.parquet'
			UNION ALL SELECT ts, prev_pid, 'out' FROM '$events/sched_switch.parquet')
		WINDOW task AS (PARTITION BY tid ORDER BY ts))
		WHERE what = 'in' AND before = 'woken' ORDER BY tid, since" > "$BATS_TEST_TMPDIR/want"
	duckdb "SELECT pid, ts, dur FROM '$out/wakeup.parquet' ORDER BY pid, ts" > "$BATS_TEST_TMPDIR/got"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/want")" -gt 5 ]
	# A wakeup that comes while the task is about to sleep still has its CPU, and sched_wakeup_new has no sched_waking.
	comm -23 <(LC_ALL=C sort "$BATS_TEST_TMPDIR/want") <(LC_ALL=C sort "$BATS_TEST_TMPDIR/got") > "$BATS_TEST_TMPDIR/only"
	[ ! -s "$BATS_TEST_TMPDIR/only" ]
}

@test "intervals: system calls have the results that the kernel's text has, each once" {
	file=$golden/6.12-events-syscalls.dat
	make_tables "$file"
	weft report "$file" | sed -n 's/.* sys_\([a-z0-9_]*\) -> \(0x[0-9a-f]*\)$/\1 \2/p' |
		python3 -c 'import sys
for line in sys.stdin:
    name, ret = line.split()
    ret = int(ret, 16)
    print(name, ret - 2**64 if ret >= 2**63 else ret, sep="|")' | LC_ALL=C sort > "$BATS_TEST_TMPDIR/ends"
	duckdb "SELECT name, ret FROM '$out/syscall.parquet' WHERE \"end\" IS NULL" | LC_ALL=C sort > "$BATS_TEST_TMPDIR/got"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/got")" -gt 100 ]
	# Calls that began before the recording have an end in the text and no interval.
	[ -z "$(LC_ALL=C comm -13 "$BATS_TEST_TMPDIR/ends" "$BATS_TEST_TMPDIR/got")" ]
	[ $(($(wc -l < "$BATS_TEST_TMPDIR/ends") - $(wc -l < "$BATS_TEST_TMPDIR/got"))) -le 8 ]
}

@test "intervals: interrupts, softirqs, disk requests and losses are as many as the events that end them" {
	make_tables "$golden/6.12-events-irq-timer.dat"
	for table in irq:irq_handler_exit softirq:softirq_exit; do
		ends=$(weft report "$golden/6.12-events-irq-timer.dat" | grep -c " ${table#*:}: " || true)
		has=$(duckdb "SELECT count(*) FROM '$out/${table%:*}.parquet' WHERE \"end\" IS NULL")
		[ "$has" -gt 0 ] || [ "$ends" = 0 ]
		[ $((ends - has)) -ge 0 ]
		[ $((ends - has)) -le 2 ]
	done
	make_tables "$fixtures/session/disk.dat"
	weft report -R "$fixtures/session/disk.dat" | grep -c 'block_rq_complete:' > "$BATS_TEST_TMPDIR/ends"
	has=$(duckdb "SELECT count(*) FROM '$out/block.parquet'")
	[ "$has" -gt 0 ]
	[ "$has" -le "$(cat "$BATS_TEST_TMPDIR/ends")" ]
	make_tables tests/corpora/report/accept/lost-6.12.dat
	weft report --format trace_pipe tests/corpora/report/accept/lost-6.12.dat | sed -n 's/^CPU:\([0-9]*\) \[LOST .*/\1/p' > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	duckdb "SELECT cpu FROM '$out/gap.parquet' ORDER BY ts" | diff "$BATS_TEST_TMPDIR/want" -
	weft export -q --to parquet -o "$events" tests/corpora/report/accept/lost-6.12.dat
	duckdb "SELECT ts + dur, cpu, lost FROM '$out/gap.parquet' ORDER BY 1" > "$BATS_TEST_TMPDIR/got"
	duckdb "SELECT ts, cpu, count FROM '$events/lost.parquet' ORDER BY 1" | diff - "$BATS_TEST_TMPDIR/got"
}

@test "intervals: rollups of several recordings, added, have the counts and sums of the intervals, and percentiles within 1/32" {
	mkdir "$BATS_TEST_TMPDIR/of"
	for file in "$golden/6.12-events-sched" "$golden/6.1-rt-events-sched" "$golden/6.12-events-syscalls" "$golden/6.12-events-irq-timer" "$fixtures/session/slow" "$fixtures/session/disk"; do
		weft export -q --to intervals -o "$BATS_TEST_TMPDIR/of/$(basename "$file")" "$file.dat"
	done
	of="$BATS_TEST_TMPDIR/of/*"
	exact="SELECT 'wakeup' AS kind, comm AS key, CASE WHEN priority IS NULL THEN NULL WHEN priority < 0 THEN 'deadline' WHEN priority < 100 THEN 'realtime' ELSE 'normal' END AS detail, dur, \"end\" FROM '$of/wakeup.parquet'
		UNION ALL SELECT 'run', comm, NULL, dur, \"end\" FROM '$of/run.parquet'
		UNION ALL SELECT 'wait', comm, state, dur, \"end\" FROM '$of/state.parquet' WHERE state IN ('woken', 'preempted')
		UNION ALL SELECT 'syscall', name, CASE WHEN ret BETWEEN -4095 AND -1 THEN (-ret)::VARCHAR END, dur, \"end\" FROM '$of/syscall.parquet'
		UNION ALL SELECT 'irq', name, NULL, dur, \"end\" FROM '$of/irq.parquet'
		UNION ALL SELECT 'softirq', name, NULL, dur, \"end\" FROM '$of/softirq.parquet'
		UNION ALL SELECT 'block', (dev >> 20) || ':' || (dev & 1048575), operation, dur, \"end\" FROM '$of/block.parquet'"
	duckdb "SELECT kind, key, detail, count(*), sum(dur), min(dur), max(dur) FROM ($exact) WHERE dur IS NOT NULL AND \"end\" IS NULL GROUP BY ALL" | LC_ALL=C sort > "$BATS_TEST_TMPDIR/want"
	duckdb "SELECT kind, key, detail, sum(count), sum(sum), min(min), max(dur) FROM '$of/rollup.parquet' WHERE kind <> 'lock' GROUP BY ALL" | LC_ALL=C sort > "$BATS_TEST_TMPDIR/got"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/want")" -gt 50 ]
	diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
	for share in 0.5 0.9 0.99 0.999; do
		duckdb "SELECT count(*), count(*) FILTER (abs(e.at - r.at) * 32 > e.at) FROM
			(SELECT kind, min(dur) FILTER (nr >= $share * nrs) AS at FROM (SELECT kind, dur, row_number() OVER (PARTITION BY kind ORDER BY dur) AS nr, count(*) OVER (PARTITION BY kind) AS nrs
				FROM ($exact) WHERE dur IS NOT NULL AND \"end\" IS NULL) GROUP BY kind) AS e
			JOIN (SELECT kind, min(middle) FILTER (nr >= $share * nrs) AS at FROM (SELECT kind, middle, sum(sum(count)) OVER (PARTITION BY kind ORDER BY middle) AS nr, sum(sum(count)) OVER (PARTITION BY kind) AS nrs
				FROM '$of/rollup.parquet' GROUP BY kind, middle) GROUP BY kind) AS r USING (kind)" > "$BATS_TEST_TMPDIR/got"
		[ "$(cat "$BATS_TEST_TMPDIR/got")" = "7|0" ]
	done
	# The longest of each key is a row of its table, and is in the last bucket.
	[ "$(duckdb "SELECT count(*), count(*) FILTER (NOT EXISTS (FROM '$of/wakeup.parquet' AS w WHERE (w.recording, w.ts, w.dur, w.cpu, w.pid) = (r.recording, r.began, r.dur, r.cpu, r.pid)))
			= 0 FROM '$of/rollup.parquet' AS r WHERE kind = 'wakeup' AND began IS NOT NULL")" = \
		"$(duckdb "SELECT count(*), true FROM (SELECT recording, key, detail FROM '$of/rollup.parquet' WHERE kind = 'wakeup' GROUP BY ALL)")" ]
	[ "$(duckdb "SELECT count(*) FROM '$of/rollup.parquet' WHERE (dur IS NULL) <> (began IS NULL) OR abs(dur - middle) * 32 > dur")" = 0 ]
}

@test "intervals: what weft makes of a recording has its number, and another recording has another one" {
	cd "$BATS_TEST_TMPDIR" || exit
	of() { rm -rf "$out"; weft export -q --to intervals -o "$out" "$1"; duckdb "SELECT DISTINCT recording FROM '$out/run.parquet'"; }
	one=$(of "$golden/6.12-events-sched.dat")
	other=$(of "$golden/6.1-rt-events-sched.dat")
	[ "$one" != "$other" ]
	weft convert -q --file-version 6 -o six.dat "$golden/6.12-events-sched.dat"
	[ "$(of six.dat)" = "$one" ]
	weft merge -q -o both.dat "$golden/6.12-events-sched.dat" "$golden/6.1-rt-events-sched.dat"
	[ "$(of both.dat | LC_ALL=C sort)" = "$(printf '%s\n' "$one" "$other" | LC_ALL=C sort)" ]
}

@test "intervals: wrong input makes nothing" {
	run -1 weft export --to intervals -o "$out" README.md
	run -2 weft export --to intervals "$golden/6.12-events-sched.dat"
	[ -z "$(ls -A "$BATS_TEST_TMPDIR")" ]
}
