#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# export --decode and sql --decode: the facts of plugins are those of the text that report --decode prints.
load lib

file=tests/fixtures/demo.dat

@test "sql --decode: the tables have a column for each fact" {
	! weft sql nosuch.dat 2>&1 | grep -q 'built without' || skip "weft was built without libsqlite3"
	weft report --decode -e sched_waking $file | sed -n 's/^.* {priority=\(.*\)}$/\1/p' > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	weft sql --decode --format csv $file \
		'SELECT decoded_priority FROM e_sched_sched_waking WHERE decoded_priority IS NOT NULL ORDER BY ts' |
		sed 1d | diff "$BATS_TEST_TMPDIR/want" -
	# Facts that an event lacks are NULL, and names are those that the plugin lists.
	[ "$(weft sql --decode --format csv $file 'SELECT count(*) FROM e_syscalls_sys_exit_newfstatat WHERE decoded_error = "ENOENT"' | sed 1d)" -eq \
		"$(weft report --decode -e sys_exit_newfstatat $file | grep -c 'error=ENOENT')" ]
	run --separate-stderr weft sql $file 'SELECT decoded_priority FROM e_sched_sched_waking'
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"no such column: decoded_priority"* ]]
}

@test "export --decode: a database of facts is sound" {
	need_command sqlite3
	weft export -q --decode --to sqlite -o "$BATS_TEST_TMPDIR/db" $file
	[ "$(sqlite3 "$BATS_TEST_TMPDIR/db" 'PRAGMA integrity_check')" = ok ]
}

@test "export --decode: jsonl has an object of facts where there are some" {
	need_command jq
	weft export --decode --to jsonl $file > "$BATS_TEST_TMPDIR/lines"
	weft report --decode $file | sed -n 's/^.* {\([^{}]*=[^{}]*\)}$/\1/p' > "$BATS_TEST_TMPDIR/want"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/want")" -gt 20 ]
	jq -r 'select(.decoded) | [.decoded | to_entries[] | .key + "=" + .value] | join(" ")' "$BATS_TEST_TMPDIR/lines" |
		diff "$BATS_TEST_TMPDIR/want" -
	# Nothing else differs.
	jq -c 'del(.decoded)' "$BATS_TEST_TMPDIR/lines" | diff - <(weft export --to jsonl $file | jq -c .)
}

@test "export --decode: --fields names facts" {
	[ "$(weft export --decode --to csv --fields event,decoded.error $file | grep -c ',ENOENT$')" -eq "$(weft report --decode $file | grep -c 'error=ENOENT')" ]
	[ "$(weft export --decode --to csv $file | sed -n 1p)" = ts,cpu,instance,pid,comm,system,event,lost,text,decoded ]
	[ "$(weft export --to csv $file | sed -n 1p)" = ts,cpu,instance,pid,comm,system,event,lost,text ]
	run --separate-stderr weft export --decode --to csv --fields ts,decoded.errur $file
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ "$stderr" == *"--fields: no event has a field 'decoded.errur'; did you mean 'decoded.error'?"* ]]
	run -1 --separate-stderr weft export --to csv --fields ts,decoded.error $file
	[[ "$stderr" == *"'decoded.error' is what plugins know, which --decode adds"* ]]
}

@test "export --decode: chrome has an object of facts in the instants" {
	need_command jq
	weft report --decode -e sched_waking $file | sed -n 's/^.* {\(priority=.*\)}$/\1/p' > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	weft export --decode --to chrome $file > "$BATS_TEST_TMPDIR/json" 2> /dev/null
	jq -r '.traceEvents[] | select(.name == "sched_waking") | .args.decoded | select(.) | "priority=" + .priority' "$BATS_TEST_TMPDIR/json" |
		diff "$BATS_TEST_TMPDIR/want" -
	# Nothing else differs.
	jq -c '.traceEvents[] | del(.args.decoded)' "$BATS_TEST_TMPDIR/json" | diff - <(weft export --to chrome $file 2> /dev/null | jq -c '.traceEvents[]')
}

@test "export --decode: perfetto has a field for each fact of events without a message of their own" {
	need_command protoc
	need_command python3
	local signals=tests/fixtures/golden/5.10-rt-events-irq-signal.dat
	weft report --decode -e signal $signals | sed -n 's/^.* {\(.*\)}$/\1/p' > "$BATS_TEST_TMPDIR/want"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/want")" -gt 3 ]
	weft export --decode --to perfetto $signals 2> /dev/null |
		protoc -Itests/cases/export --decode=weft.Trace tests/cases/export/perfetto.proto > "$BATS_TEST_TMPDIR/decoded"
	python3 tests/cases/export/perfetto.py facts "$BATS_TEST_TMPDIR/decoded" | diff "$BATS_TEST_TMPDIR/want" -
	weft export --decode --to perfetto $signals 2> /dev/null | python3 tests/cases/export/perfetto_rules.py -
}

@test "export --decode: parquet has a column for each fact" {
	need_npm @duckdb/node-api 1.5.6-r.1
	timeout 60 node "$BATS_TEST_DIRNAME/export/duckdb.js" 'SELECT 1' > /dev/null || skip "node cannot load @duckdb/node-api"
	local signals=tests/fixtures/golden/5.10-rt-events-irq-signal.dat
	weft report --decode -e signal_generate $signals | sed -n 's/^.* {\(.*\)}$/\1/p' > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	weft export --decode --to parquet -q -o "$BATS_TEST_TMPDIR/tables" $signals
	node "$BATS_TEST_DIRNAME/export/duckdb.js" \
		"SELECT 'signal=' || decoded_signal || ' cause=' || decoded_cause || ' fate=' || decoded_fate FROM '$BATS_TEST_TMPDIR/tables/signal_generate.parquet' ORDER BY ts" |
		diff "$BATS_TEST_TMPDIR/want" -
}

@test "export --decode: a format without a place for facts is refused" {
	run --separate-stderr weft export --decode --to folded -o - $file
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"--decode: format 'folded' has no place"* ]]
}

@test "export and sql: a --plugin-dir without plugins is an error" {
	mkdir "$BATS_TEST_TMPDIR/none"
	run --separate-stderr weft export --plugin-dir "$BATS_TEST_TMPDIR/none" --to jsonl $file
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"there is no plugin in '$BATS_TEST_TMPDIR/none'"* ]]
}
