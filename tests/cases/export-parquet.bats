#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft export --to parquet, as DuckDB and hyparquet read it.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
seeds=tests/corpora/report/seeds
switches=$golden/6.12-events-sched.dat

setup()
{
	out=$BATS_TEST_TMPDIR/out
}

need_duckdb()
{
	need_npm @duckdb/node-api 1.5.6-r.1
	timeout 60 node "$BATS_TEST_DIRNAME/export/duckdb.js" 'SELECT 1' > /dev/null || skip "node cannot load @duckdb/node-api"
}

duckdb()
{
	node "$BATS_TEST_DIRNAME/export/duckdb.js" "$@"
}

# same FILE: every value of every row is the one in jsonl.
same()
{
	rm -rf "$out"
	weft export --to parquet -q -o "$out" "$1"
	weft export --to jsonl -q "$1" > "$BATS_TEST_TMPDIR/jsonl" 2> /dev/null
	duckdb --files "$out" > "$BATS_TEST_TMPDIR/rows"
	run -0 python3 "$BATS_TEST_DIRNAME/export/parquet.py" "$BATS_TEST_TMPDIR/jsonl" "$BATS_TEST_TMPDIR/rows"
	[ "$output" -gt 0 ]
}

# bats test_tags=long
@test "parquet: DuckDB reads every value that jsonl has: integers of all sizes, texts, arrays, losses" {
	need_command python3
	need_duckdb
	for file in "$golden"/*events*.dat "$golden"/*-function.dat "$golden"/*stacktrace.dat "$golden"/6.12-{osnoise,user_events}.dat \
		tests/corpora/report/accept/lost-6.12.dat tests/fixtures/demo.dat; do
		same "$file"
	done
}

@test "parquet: big-endian and 32-bit kernels" {
	need_command python3
	need_duckdb
	for file in $seeds/{s390x-6.1-events-sched,s390x-6.1-function_graph,s390x-6.1-kprobe,armhf-6.1-events-sched,armhf-6.1-events-syscalls,armhf-6.1-function}.dat; do
		same "$file"
	done
}

@test "parquet: columns have the types of the fields" {
	need_duckdb
	weft export --to parquet -q -o "$out" "$switches"
	[ "$(duckdb "SELECT string_agg(column_name || ' ' || column_type, ',') FROM (DESCRIBE FROM '$out/sched_switch.parquet')")" = \
		"ts BIGINT,cpu INTEGER,pid INTEGER,comm VARCHAR,tgid INTEGER,flags UTINYINT,preempt_count UTINYINT,instance VARCHAR,prev_comm VARCHAR,\
prev_pid INTEGER,prev_prio INTEGER,prev_state BIGINT,next_comm VARCHAR,next_pid INTEGER,next_prio INTEGER" ]
	weft export --to parquet -q -o "$out.2" "$golden/6.12-function.dat"
	[[ $(duckdb "SELECT string_agg(column_name || ' ' || column_type, ',') FROM (DESCRIBE FROM '$out.2/function.parquet')") == *",ip UBIGINT,parent_ip UBIGINT" ]]
}

@test "parquet: an array of integers is a list, and DuckDB reads every element: none, many, 64 bits, a record without it" {
	load hostile
	need_command perl
	need_duckdb
	tree=$BATS_TEST_TMPDIR/tree
	tiny_tree "$tree"
	mkdir -p "$tree/events/loom/lists"
	rm "$tree/per_cpu/cpu0/records"
	cat > "$tree/events/loom/lists/format" <<- 'END'
		name: lists
		ID: 900
		format:
			field:unsigned short common_type;	offset:0;	size:2;	signed:0;
			field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
			field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
			field:int common_pid;	offset:4;	size:4;	signed:1;

			field:u64 pair[2];	offset:8;	size:16;	signed:0;
			field:__data_loc s16[] words;	offset:24;	size:4;	signed:1;

		print fmt: "%d", REC->words
	END
	# Rows have 0 to 40 elements, so pages of 65536 entries end in the middle of a row. Each tenth row has no second
	# field at all.
	perl -e 'my ($page, $rows, $nulls, $empty, $words, $sum, @pages) = ("", 0, 0, 0, 0, 0);
		for my $i (0 .. 9999) {
			my $none = $i % 10 == 9;
			my @words = $none ? () : map { ($i * 7 + $_) % 65536 - 32768 } 1 .. $i % 41;
			my $data = pack("S< S< L< Q< Q<", 900, 0, 41, $i, 18446744073709551615 - $i);
			$data .= pack("L<", @words * 2 << 16 | 28) . pack("s<*", @words) unless $none;
			$data .= "\0" x (-length($data) % 4);
			if (length($page) + length($data) + 4 > 4080) { push @pages, $page; $page = ""; }
			$page .= pack("L<", 1000 << 5 | length($data) / 4) . $data;
			$rows++; $nulls += $none; $empty += !$none && !@words; $words += @words; $sum += $_ for @words;
		}
		my $ts = 1000000000;
		for (@pages, $page) { print pack("Q< Q< a4080", $ts += 10000000, length($_), $_); }
		print STDERR "$rows|$nulls|$empty|$words|$sum\n"' > "$tree/per_cpu/cpu0/trace_pipe_raw" 2> "$BATS_TEST_TMPDIR/want"
	weft pack -q "$tree" -o "$BATS_TEST_TMPDIR/lists.dat"
	weft export --to parquet -q -o "$out" "$BATS_TEST_TMPDIR/lists.dat"
	duckdb "SELECT count(*), count(*) FILTER (words IS NULL), count(*) FILTER (len(words) = 0), sum(len(words)), sum(list_sum(words)) FROM '$out/lists.parquet'" |
		diff "$BATS_TEST_TMPDIR/want" -
	[ "$(duckdb "SELECT string_agg(column_name || ' ' || column_type, ',') FROM (DESCRIBE SELECT pair, words FROM '$out/lists.parquet')")" = "pair UBIGINT[],words SMALLINT[]" ]
	[ "$(duckdb "SELECT count(*) FROM '$out/lists.parquet' WHERE pair[2] = 18446744073709551615 - pair[1]::HUGEINT AND len(pair) = 2")" = 10000 ]
	same "$BATS_TEST_TMPDIR/lists.dat"
	# A stack has addresses.
	weft export --to parquet -q -o "$out.2" "$golden/6.12-event-stacktrace.dat"
	[ "$(duckdb "SELECT column_type FROM (DESCRIBE SELECT caller FROM '$out.2/kernel_stack.parquet')")" = "UBIGINT[]" ]
}

@test "parquet: the statistics by which DuckDB leaves out row groups are those of the values" {
	need_duckdb
	weft export --to parquet -q -o "$out" "$golden/6.12-function.dat"
	weft export --to csv -q --fields ip,ts,pid "$golden/6.12-function.dat" 2> /dev/null | sed 1d > "$BATS_TEST_TMPDIR/csv"
	for column in 1 2 3; do
		name=$(echo ip ts pid | cut -d ' ' -f $column)
		duckdb "SELECT stats_min_value, stats_max_value FROM parquet_metadata('$out/function.parquet') WHERE path_in_schema = '$name'" > "$BATS_TEST_TMPDIR/got"
		cut -d , -f $column "$BATS_TEST_TMPDIR/csv" | sort -n | sed -n '1p;$p' | paste -sd '|' | diff - "$BATS_TEST_TMPDIR/got"
		most=$(cut -d '|' -f 2 "$BATS_TEST_TMPDIR/got")
		[ "$(duckdb "SELECT count(*) FROM '$out/function.parquet' WHERE $name = $most")" = "$(cut -d , -f $column "$BATS_TEST_TMPDIR/csv" | grep -cx "$most")" ]
	done
}

# bats test_tags=long
@test "parquet: a second reader, hyparquet, reads every value, and the bounds of texts are those of the values" {
	need_command python3
	need_command zstd
	need_npm hyparquet 1.33.0
	local modules=$NODE_PATH file
	for file in "$golden"/6.12-{events-sched,event-stacktrace,events-syscalls}.dat; do
		rm -rf "$out"
		weft export --to parquet -q -o "$out" "$file"
		weft export --to jsonl -q "$file" > "$BATS_TEST_TMPDIR/jsonl" 2> /dev/null
		node "$BATS_TEST_DIRNAME/export/hyparquet.mjs" "$modules" "$out" > "$BATS_TEST_TMPDIR/rows"
		run -0 python3 "$BATS_TEST_DIRNAME/export/parquet.py" "$BATS_TEST_TMPDIR/jsonl" "$BATS_TEST_TMPDIR/rows"
		[ "$output" -gt 0 ]
	done
}

@test "parquet: a name that is not UTF-8 becomes one that is" {
	need_duckdb
	weft convert --compression=none -q -o "$BATS_TEST_TMPDIR/plain.dat" "$switches"
	LC_ALL=C sed 's/rcu_preempt/rcu\xff\xfereempt/g' "$BATS_TEST_TMPDIR/plain.dat" > "$BATS_TEST_TMPDIR/bad.dat"
	weft export --to parquet -q -o "$out" "$BATS_TEST_TMPDIR/bad.dat"
	[ "$(duckdb "SELECT count(*) > 0 FROM '$out/sched_switch.parquet' WHERE next_comm = 'rcu' || chr(65533) || chr(65533) || 'reempt'")" = true ]
	same "$BATS_TEST_TMPDIR/bad.dat"
}

@test "parquet: partitions of several machines are one table" {
	need_duckdb
	weft export --to parquet -q --partition host=web1 -o "$out" "$switches"
	weft export --to parquet -q --partition host=web2 --limit 20 -o "$out" "$switches"
	[ "$(ls -A "$out" | paste -sd ' ')" = "host=web1 host=web2" ]
	want=$(weft report "$switches" | grep -c sched_waking:)
	[ "$(duckdb "SELECT host, count(*) FROM read_parquet('$out/*/sched_waking.parquet', hive_partitioning = true) GROUP BY host ORDER BY host" | head -n 1)" = "web1|$want" ]
	[ "$(duckdb "SELECT count(DISTINCT host) FROM read_parquet('$out/*/sched_switch.parquet')")" = 2 ]
}

@test "parquet: what is there stays as it is" {
	mkdir "$out" "$out.empty"
	weft export --to parquet -q -o "$out.empty" "$switches"
	[ -s "$out.empty/sched_switch.parquet" ]
	echo mine > "$out/file"
	run -1 --separate-stderr weft export --to parquet -o "$out" "$switches"
	[[ $stderr == *"that is not empty"* ]]
	run -1 --separate-stderr weft export --to parquet -o "$out" --partition host=a "$switches"
	[[ $stderr == *"contains more than directories host="* ]]
	[ "$(ls -A "$out")" = file ]
	weft export --to parquet -q -o "$out.p" --partition host=a "$switches"
	run -1 --separate-stderr weft export --to parquet -o "$out.p" --partition host=a "$switches"
	[[ $stderr == *"that is not empty"* ]]
	run -1 --separate-stderr weft export --to parquet -o "$out.p" --partition zone=a "$switches"
	[[ $stderr == *"contains more than directories zone="* ]]
	mkdir "$out.target"
	ln -s "$out.target" "$out.link"
	run -1 --separate-stderr weft export --to parquet -o "$out.link" "$switches"
	run -1 --separate-stderr weft export --to parquet --partition host=a -o "$out.link" "$switches"
	[ -z "$(ls -A "$out.target")" ]
	[ "$(ls -A "$out.p")" = host=a ]
	[ -z "$(ls -A "$BATS_TEST_TMPDIR" | grep '^\.weft')" ]
}

@test "parquet: files have the mode 600 and their directory 700, or those of --mode" {
	weft export --to parquet -q -o "$out" "$switches"
	[ "$(stat -c %a "$out" "$out"/*.parquet | sort -u | paste -sd ' ')" = "600 700" ]
	weft export --to parquet -q --mode 640 -o "$out.2" "$switches"
	[ "$(stat -c %a "$out.2" "$out.2"/*.parquet | sort -u | paste -sd ' ')" = "640 750" ]
}

@test "parquet: what fails leaves nothing" {
	run -1 weft export --to parquet -o "$out" README.md
	run -1 weft export --to parquet -e nosuchevent -o "$out" "$switches"
	[ -z "$(ls -A "$BATS_TEST_TMPDIR")" ]
	run -2 weft export --to parquet "$switches"
	run -2 weft export --to parquet --partition host -o "$out" "$switches"
	run -2 weft export --to parquet --partition host=../x -o "$out" "$switches"
	run -2 weft export --to jsonl --partition host=x -o "$out" "$switches"
	[ -z "$(ls -A "$BATS_TEST_TMPDIR")" ]
}

@test "parquet: of a damaged file what can be read is written, and the exit status is 1" {
	head -c $(($(stat -c %s tests/fixtures/demo.dat) - 5000)) tests/fixtures/demo.dat > "$BATS_TEST_TMPDIR/cut.dat"
	run -1 --separate-stderr weft export --to parquet -o "$out" "$BATS_TEST_TMPDIR/cut.dat"
	[ -n "$stderr" ]
	[ "$(tail -c 4 "$out/lost.parquet")" = PAR1 ]
}

# bats test_tags=long
@test "parquet: a large recording takes less than 128 MB, and its row groups are one table" {
	need_shared bench/sched-syscalls.dat
	[ -x /usr/bin/time ] || skip "no /usr/bin/time"
	/usr/bin/time -f %M -o "$BATS_TEST_TMPDIR/kb" "$WEFT" export --to parquet -q -o "$out" "$SHARED/bench/sched-syscalls.dat"
	[ "$(cat "$BATS_TEST_TMPDIR/kb")" -lt 131072 ]
	need_duckdb
	weft export --to csv -q --fields event "$SHARED/bench/sched-syscalls.dat" 2> /dev/null | sed 1d | LC_ALL=C sort | uniq -c | awk '{ print $2 "|" $1 }' > "$BATS_TEST_TMPDIR/want"
	rm "$out/who.parquet"
	for file in "$out"/*.parquet; do
		duckdb "SELECT '$(basename "$file" .parquet)', count(*) FROM '$file' HAVING count(*) > 0"
	done | LC_ALL=C sort | diff "$BATS_TEST_TMPDIR/want" -
}

@test "parquet: who.parquet is the table who of SQL" {
	need_duckdb
	file=$BATS_TEST_DIRNAME/../fixtures/quota.dat
	weft export --to parquet -q -o "$out" "$file"
	columns=
	for column in ts dur tgid process program unit container pod cgroup user; do columns+=" || '|' || coalesce(CAST(w.$column AS VARCHAR), '-')"; done
	weft sql --format csv "$file" "SELECT CAST(t.tid AS VARCHAR)$columns FROM who AS w JOIN thread AS t USING (utid) WHERE t.tid" |
		sed 1d | LC_ALL=C sort > "$BATS_TEST_TMPDIR/want"
	duckdb "SELECT CAST(w.pid AS VARCHAR)$columns FROM '$out/who.parquet' AS w" | LC_ALL=C sort > "$BATS_TEST_TMPDIR/got"
	grep -q '|a.service|' "$BATS_TEST_TMPDIR/got"
	# SQL has tasks, too, that have no event of their own.
	[ -z "$(LC_ALL=C comm -13 "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got")" ]
	diff <(weft export --to csv -q --fields pid "$file" | sed '1d; /^0$/d' | LC_ALL=C sort -u) <(cut -d'|' -f 1 "$BATS_TEST_TMPDIR/got" | LC_ALL=C sort -u)
}
