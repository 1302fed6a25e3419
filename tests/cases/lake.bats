#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft lake: a directory of the tables of many recordings. The oracles are DuckDB, and weft export of each recording alone.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
session=$BATS_TEST_DIRNAME/../fixtures/session

setup()
{
	cd "$BATS_TEST_TMPDIR" || exit
	cp "$golden/6.12-events-sched.dat" a.dat
	cp "$golden/6.1-rt-events-sched.dat" b.dat
	cp "$golden/6.12-events-syscalls.dat" c.dat
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

# What a lake is to its readers and to the next command.
content()
{
	(cd "$1" && readlink current && find . -type f -exec cksum {} + | LC_ALL=C sort)
}

@test "lake: add makes one file for each table, with the rows that export has of each recording" {
	need_duckdb
	weft lake add -q lake a.dat b.dat c.dat "$session/disk.dat"
	[ "$(ls lake)" = "$(printf '1\ncurrent')" ]
	[ "$(find lake/current/ -name '*.parquet' | wc -l)" = "$(find lake/current/ -mindepth 1 -maxdepth 1 -type d | wc -l)" ]
	for file in a b c disk; do
		[ "$file" = disk ] || from=$file.dat
		[ "$file" != disk ] || from=$session/disk.dat
		weft export -q --to intervals --partition "of=$file" -o each "$from"
	done
	for table in run state wakeup syscall irq softirq block lock function mark gap rollup; do
		duckdb "SELECT count(*) FROM (FROM read_parquet('each/*/$table.parquet', hive_partitioning = false) EXCEPT ALL FROM 'lake/current/$table/*.parquet')" \
			"SELECT count(*) FROM (FROM 'lake/current/$table/*.parquet' EXCEPT ALL FROM read_parquet('each/*/$table.parquet', hive_partitioning = false))" > got
		printf '0\n0\n' | diff - got
	done
	[ "$(duckdb "SELECT count(*) FROM 'lake/current/run/*.parquet'")" -gt 50 ]
	# Rows are sorted by day, host and time, in a file that says so, and by whom it was made.
	duckdb "SELECT count(*) FROM (SELECT host, wall, ts, lag(host) OVER w AS h, lag(wall) OVER w AS d, lag(ts) OVER w AS t
		FROM read_parquet('lake/current/state/*.parquet', file_row_number = true) WINDOW w AS (ORDER BY file_row_number))
		WHERE wall // 86400000000000 IS NOT DISTINCT FROM d // 86400000000000 AND (host < h OR (host = h AND wall IS NOT DISTINCT FROM d AND ts < t))" > got
	[ "$(cat got)" = 0 ]
	# Rollups of a kind come together, so that the row groups of others are not read.
	duckdb "SELECT kind, host, wall, ts FROM read_parquet('lake/current/rollup/*.parquet', file_row_number = true) ORDER BY file_row_number" > got
	duckdb "SELECT kind, host, wall, ts FROM 'lake/current/rollup/*.parquet' ORDER BY wall // 86400000000000 NULLS FIRST, kind, host, wall NULLS FIRST, ts" | diff got -
	[[ "$(duckdb "SELECT DISTINCT created_by FROM parquet_file_metadata('lake/current/*/*.parquet')")" = "weft version "* ]]
}

@test "lake: the table of recordings tells of each what is known of it" {
	need_duckdb
	weft lake add -q lake a.dat c.dat
	duckdb "SELECT file, kernel, recorder, weight FROM 'lake/current/recording/*.parquet' ORDER BY file" > got
	for file in a c; do
		echo "$file.dat|$(weft info $file.dat | sed -n 's/^kernel  *//p')|$(weft info $file.dat | sed -n 's/^recorded by //p')|1"
	done | diff - got
}

@test "lake: a recording that is there changes nothing, also as another file" {
	weft lake add -q lake a.dat c.dat
	content lake > before
	run -0 weft lake add lake a.dat
	[ "$output" = "weft: lake: 0 recordings added, 1 was there before" ]
	weft convert -q --file-version 6 -o six.dat a.dat
	run -0 weft lake add lake c.dat six.dat c.dat
	[ "$output" = "weft: lake: 0 recordings added, 3 were there before" ]
	content lake | diff before -
	run -0 weft lake add lake b.dat b.dat a.dat
	[ "$output" = "weft: lake: 1 recording added, 2 were there before" ]
	[ "$(readlink lake/current)" = 2 ]
	[ "$(wc -l < lake/current/loads)" = 3 ]
}

@test "lake: parts of a recording are added, what would count twice and what is damaged is refused" {
	weft split -q --count 20 -o part.dat a.dat
	run -0 weft lake add lake part.*.dat
	content lake > before
	run -1 weft lake add lake a.dat
	[[ "$output" = *"'a.dat': events of this time of the recording were added before, and would count twice"* ]]
	head -c $(($(wc -c < c.dat) * 3 / 4)) c.dat > cut.dat
	run -1 weft lake add lake cut.dat part.001.dat README.md
	[[ "$output" = *"README.md"* ]]
	content lake | diff before -
	cp "$BATS_TEST_DIRNAME/../../README.md" .
	run -1 weft lake add lake cut.dat README.md b.dat
	[[ "$output" = *"'cut.dat'"* && "$output" = *"'README.md': not a trace.dat"* && "$output" = *"1 recording added"* ]]
	[ "$(readlink lake/current)" = 2 ]
}

@test "lake: readers keep the files of the state that they listed" {
	weft lake add -q lake a.dat
	state=$(readlink lake/current)
	find "lake/$state/" -type f -exec cksum {} + > before
	weft lake add -q lake b.dat
	find "lake/$state/" -type f -exec cksum {} + | diff before -
	find lake/current/ -name '1.parquet' | wc -l | grep -qx "$(find lake/1/ -name '*.parquet' | wc -l)"
	weft lake add -q lake c.dat
	[ "$(ls lake)" = "$(printf '2\n3\ncurrent')" ]
}

@test "lake: what is not of a lake is named and never followed, changed or removed" {
	weft lake add -q lake a.dat
	cp -a lake whole
	mkdir outside
	echo precious > outside/1.parquet
	try()
	{
		content lake > before
		run -1 weft lake add lake b.dat
		[[ "$output" = *"$1"* ]]
		content lake | diff before -
		[ "$(cat outside/1.parquet)" = precious ]
		rm -rf lake
		cp -a whole lake
	}
	echo mine > lake/notes.txt
	try "'lake/notes.txt' is not of a lake"
	echo mine > lake/1/run/notes.parquet
	try "'lake/notes.parquet' is not of a lake"
	mkdir lake/1/other
	try "'lake/other' is not of a lake"
	ln -sfn ../outside lake/current
	try "'lake/current' is not of a lake"
	rm -r lake/1/run
	ln -s ../../outside lake/1/run
	try "'lake/run' is not of a lake"
	mv lake/1 lake/7
	ln -s ../outside lake/1
	ln -sfn 1 lake/current
	try "'lake/1' is not of a lake"
	echo 'one two' > lake/1/loads
	try "'lake/current/loads' is damaged: line 1"
	chmod 777 lake
	try "others may write to 'lake'"
	ln -s whole link
	run -1 weft lake add link b.dat
	run -1 weft lake add a.dat b.dat
	[[ "$output" = *"'a.dat' is not a directory of a lake"* ]]
}

@test "lake: what a killed weft has left is removed, and a state that it completed counts" {
	weft lake add -q lake a.dat
	mkdir -p lake/.weft-0123456789abcdef.new/run lake/2/run
	ln -s 2 lake/.weft-current
	echo half > lake/.weft-0123456789abcdef.new/run/2.parquet
	weft lake add -q lake b.dat
	[ "$(ls -A lake)" = "$(printf '1\n2\ncurrent')" ]
	[ "$(wc -l < lake/2/loads)" = 2 ]
	rm lake/current
	run -0 weft lake add lake a.dat
	[ "$(readlink lake/current)" = 2 ]
}

@test "lake: one command at a time, and nothing of a wrong command line" {
	weft lake add -q lake a.dat
	flock lake sh -c "$(printf '%q ' "$(command -v weft)") lake add lake b.dat" 2> said && false
	grep -q "another weft is changing 'lake'" said
	run -2 weft lake
	run -2 weft lake drop lake
	run -2 weft lake add
	run -2 weft lake add new
	[ ! -e new ]
	run -1 weft lake add new none.dat
	[[ "$output" = *none.dat* ]]
}

@test "lake: compact makes one file of many, with the same rows in their order, and again changes nothing" {
	need_duckdb
	for file in a.dat b.dat c.dat "$session"/*.dat "$golden/6.12-function_graph.dat"; do weft lake add -q lake "$file"; done
	cp -rL lake/current before
	run -0 weft lake compact lake
	[[ "$output" = "weft: lake: "*" files merged" ]]
	[ "$(find lake/current/ -name '*.parquet' | wc -l)" = "$(find lake/current/ -mindepth 1 -maxdepth 1 -type d | wc -l)" ]
	for table in lake/current/*/; do
		table=$(basename "$table")
		duckdb "SELECT count(*) FROM (FROM 'before/$table/*.parquet' EXCEPT ALL FROM 'lake/current/$table/*.parquet')" \
			"SELECT (SELECT count(*) FROM 'before/$table/*.parquet') - (SELECT count(*) FROM 'lake/current/$table/*.parquet')" > got
		printf '0\n0\n' | diff - got
	done
	[ "$(duckdb "SELECT count(*) > 100 FROM 'lake/current/run/*.parquet'")" = true ]
	duckdb "SELECT count(*) FROM (SELECT host, wall, ts, lag(host) OVER w AS h, lag(wall) OVER w AS d, lag(ts) OVER w AS t
		FROM read_parquet('lake/current/state/*.parquet', file_row_number = true) WINDOW w AS (ORDER BY file_row_number))
		WHERE coalesce(wall // 86400000000000, -1) < coalesce(d // 86400000000000, -1) OR wall // 86400000000000 IS NOT DISTINCT FROM d // 86400000000000
		AND (host < h OR (host = h AND wall IS NOT DISTINCT FROM d AND ts < t))" > got
	[ "$(cat got)" = 0 ]
	content lake > after
	run -0 weft lake compact -q lake
	run -0 weft lake add -q lake a.dat
	content lake | diff after -
}

@test "lake: readers keep the files that compact has replaced, and a later add does not mix them" {
	weft lake add -q lake a.dat
	weft lake add -q lake b.dat
	find lake/2/ -type f -exec cksum {} + > before
	weft lake compact -q lake
	find lake/2/ -type f -exec cksum {} + | diff before -
	weft lake add -q lake c.dat
	[ "$(ls lake/current/run)" = "$(printf '3-1.parquet\n4.parquet\nmetadata')" ]
	weft lake compact -q lake
	[ "$(ls lake/current/run)" = "$(printf '5-1.parquet\nmetadata')" ]
	[ "$(wc -l < lake/current/loads)" = 3 ]
}

@test "lake: compact refuses a file that weft has not written whole, names it and changes nothing" {
	weft lake add -q lake a.dat
	weft lake add -q lake b.dat
	cp -a lake whole
	damage()
	{
		content lake > before
		run -1 weft lake compact lake
		[[ "$output" = *"$1"* ]]
		content lake | diff before -
		[ "$(ls -A lake)" = "$(printf '1\n2\ncurrent')" ]
		rm -rf lake
		cp -a whole lake
	}
	size=$(wc -c < lake/2/run/2.parquet)
	for cut in 0 3 20 $((size / 2)) $((size - 9)) $((size - 1)); do
		truncate -s "$cut" lake/2/run/2.parquet
		damage "'run/2.parquet': it is not a whole Parquet file of this table"
	done
	for part in 0 1 2 3 4 5; do
		python3 - lake/2/run/2.parquet "$part" <<'EOF'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
size = struct.unpack("<I", data[-8:-4])[0]
data[len(data) - 8 - size + size * int(sys.argv[2]) // 6 + 1] ^= 4
open(sys.argv[1], "wb").write(data)
EOF
		damage "'run/2.parquet': it is not a whole Parquet file of this table: its footer has changed since it was written"
	done
	cp lake/2/state/2.parquet lake/2/run/2.parquet
	damage "'run/2.parquet': it is not a whole Parquet file of this table: its footer is none of weft"
	mkfifo pipe
	rm lake/2/run/2.parquet
	mv pipe lake/2/run/2.parquet
	damage "'2.parquet' is not a regular file"
	run -1 weft lake compact none
	[[ "$output" = *"'none' does not exist; 'weft lake add' makes it"* ]]
	[ ! -e none ]
}

# bats test_tags=long
@test "lake: ClickHouse counts the rows of each table as DuckDB does, and finds the same rare delays" {
	local table rare
	need_duckdb
	local duckdb=$NODE_PATH
	need_npm chdb 3.4.0
	NODE_PATH=$NODE_PATH:$duckdb
	weft lake add -q lake a.dat b.dat c.dat "$session/disk.dat" "$session/slow.dat"
	weft lake compact -q lake
	for table in lake/current/*/*.parquet; do
		table=$(basename "$(dirname "$table")")
		duckdb "SELECT '$table' AS name, count(*) AS n, coalesce(sum(ts), 0) AS ts FROM 'lake/current/$table/*.parquet'"
	done | sort -u > counts
	rare="SELECT host, min(middle) AS ns FROM (SELECT host, middle, sum(sum(count)) OVER (PARTITION BY host ORDER BY middle) AS upto,
		sum(sum(count)) OVER (PARTITION BY host) AS total FROM %s WHERE kind = 'wakeup' GROUP BY host, middle)
		WHERE upto >= 0.999 * total GROUP BY host ORDER BY host"
	# shellcheck disable=SC2059 # the question is a format
	duckdb "$(printf "$rare" "'lake/current/rollup/*.parquet'")" > rare
	node -e '
		const { query } = require("chdb"), fs = require("fs"), rows = (text) => query(text, "CSV").trim().replaceAll("\"", "");
		const lines = ["name,n,ts"];
		for (const table of fs.readdirSync("lake/current"))
			if (fs.readFileSync("counts", "utf8").includes(`${table}|`))
				lines.push(rows(`SELECT "${table}", count(), sum(ts) FROM file("${process.cwd()}/lake/current/${table}/*.parquet", Parquet)`.replace(/"/g, "\u0027")));
		fs.writeFileSync("got", lines.join("\n") + "\n");
		fs.writeFileSync("got-rare", rows(process.argv[1].replace("%s", `file(\u0027${process.cwd()}/lake/current/rollup/*.parquet\u0027, Parquet)`)) + "\n");
	' "$rare"
	sed -i 's/,/|/g' got got-rare
	grep -v '^name|' counts | sort > want
	[ "$(wc -l < want)" -ge 9 ]
	tail -n +2 got | sort | diff want -
	grep -v "^host|" rare | diff - got-rare
}

# bats test_tags=long
@test "lake: of 40 machines, both engines name those into which something was planted, and merged percentiles are within 3.2 %" {
	need_duckdb
	local duckdb=$NODE_PATH
	need_npm chdb 3.4.0
	NODE_PATH=$NODE_PATH:$duckdb TMPDIR=$BATS_TEST_TMPDIR timeout 600 "$BATS_TEST_DIRNAME/../bench/lake" --machines 40 --recordings 3 --answers
}

# bats test_tags=long
@test "lake: a file that is cut at any byte is refused by DuckDB and ClickHouse, and never half read" {
	need_duckdb
	local duckdb=$NODE_PATH
	need_npm chdb 3.4.0
	NODE_PATH=$NODE_PATH:$duckdb
	weft lake add -q lake a.dat
	node -e '
		const fs = require("fs"), { DuckDBInstance } = require("@duckdb/node-api"), { query } = require("chdb");
		const all = fs.readFileSync("lake/current/wakeup/1.parquet"), cut = `${process.cwd()}/cut.parquet`;
		(async () => {
			const connection = await (await DuckDBInstance.create()).connect();
			const read = { duckdb: async () => Number((await connection.runAndReadAll(`SELECT count(ts) FROM read_parquet(\u0027${cut}\u0027)`)).getRows()[0][0]),
				clickhouse: async () => Number(query(`SELECT count(ts) FROM file(\u0027${cut}\u0027, Parquet)`, "CSV")) };
			const counted = {};
			for (let size = all.length; size >= 0; size--) {
				fs.writeFileSync(cut, all.subarray(0, size));
				for (const engine of Object.keys(read)) {
					let rows = null;
					try { rows = await read[engine](); } catch (error) { }
					if (rows !== null)
						(counted[engine] ??= []).push(`${size}: ${rows}`);
				}
			}
			fs.writeFileSync("counted", Object.keys(read).map((engine) => `${engine} ${counted[engine]}\n`).join(""));
			process.exit(0);
		})();'
	rows=$(duckdb "SELECT count(*) FROM 'lake/current/wakeup/1.parquet'")
	size=$(wc -c < lake/current/wakeup/1.parquet)
	[ "$rows" -gt 5 ]
	printf 'duckdb %s: %s\nclickhouse %s: %s\n' "$size" "$rows" "$size" "$rows" | diff - counted
}

# bats test_tags=long
@test "lake: DuckDB, ClickHouse and weft lake compact read no page in which a byte has changed" {
	need_duckdb
	local duckdb=$NODE_PATH frame
	need_npm chdb 3.4.0
	NODE_PATH=$NODE_PATH:$duckdb
	weft lake add -q lake a.dat
	weft lake add -q lake b.dat
	# The first byte of the first block of each frame of zstd: behind its magic number, two bytes of head and three of the block's.
	node -e '
		const fs = require("fs"), { DuckDBInstance } = require("@duckdb/node-api"), { query } = require("chdb");
		const all = fs.readFileSync("lake/current/wakeup/1.parquet"), changed = `${process.cwd()}/changed.parquet`;
		(async () => {
			const connection = await (await DuckDBInstance.create()).connect();
			const read = { duckdb: async () => String((await connection.runAndReadAll(`SELECT sum(hash(t)) FROM read_parquet(\u0027${changed}\u0027) AS t`)).getRows()[0][0]),
				clickhouse: async () => query(`SELECT sum(cityHash64(*)) FROM file(\u0027${changed}\u0027, Parquet)`, "CSV").trim() };
			fs.writeFileSync(changed, all);
			const whole = { duckdb: await read.duckdb(), clickhouse: await read.clickhouse() }, frames = [], taken = [], counts = { refused: 0 };
			for (let at = all.indexOf("28b52ffd", 0, "hex"); at >= 0; at = all.indexOf("28b52ffd", at + 4, "hex"))
				frames.push(at + 9);
			for (const at of frames) {
				const bytes = Buffer.from(all);
				bytes[at] ^= 1;
				fs.writeFileSync(changed, bytes);
				for (const engine of Object.keys(read))
					try {
						if (await read[engine]() !== whole[engine])
							taken.push(`${engine} ${at}`);
					} catch (error) { counts.refused++; }
			}
			fs.writeFileSync("frames", frames.join("\n") + "\n");
			fs.writeFileSync("refused", `${counts.refused}`);
			fs.writeFileSync("taken", taken.map((line) => line + "\n").join(""));
			process.exit(0);
		})();'
	[ "$(wc -l < frames)" -ge 15 ]
	# One of them may not be needed for the answer, which is then the same.
	[ "$(cat refused)" -ge $(($(wc -l < frames) * 2 - 2)) ]
	diff /dev/null taken
	cp lake/current/wakeup/1.parquet whole
	for frame in $(cat frames); do
		cp whole lake/current/wakeup/1.parquet
		printf "\\x$(printf %x $(($(od -An -tu1 -j "$frame" -N1 whole) ^ 1)))" | dd of=lake/current/wakeup/1.parquet bs=1 seek="$frame" conv=notrunc status=none
		run -1 weft lake compact lake
	done
	[ "$(readlink lake/current)" = 2 ]
}

# bats test_tags=long
@test "lake: diff of two lakes names what is slower with one release, nothing between two that are the same, and refuses a part" {
	need_command python3
	need_command jq
	mkdir in
	python3 -B "$BATS_TEST_DIRNAME/../bench/fleet.py" in "$(command -v weft)" 96 3
	# Machine N has the release N % 4; of 2, each wakeup takes 5 % longer.
	for release in 0 1 2; do
		weft lake add -q lake$release $(for ((n = release; n < 96; n += 4)); do printf 'in/h%05d-%02d.dat ' $n 0 $n 1 $n 2; done)
	done
	changed() { weft diff --top 0 --format json "$@" | jq -r '.changes[] | select(.verdict == "+" or .verdict == "-") | "\(.table) \(.verdict)"' | sort | uniq -c | sed 's/^ *//'; }
	changed lake0 lake1 > got
	[ ! -s got ]
	changed lake0 lake2 > got
	[ "$(sed 's/^[0-9]* //' got)" = "$(printf 'wait +\nwakeup +')" ]
	[ "$(sed -n 's/ wakeup +//p' got)" -ge 5 ]
	# The median machine's total is what DuckDB has.
	need_duckdb
	duckdb "SELECT round(median(ns / (SELECT sum(dur) FROM 'lake2/current/recording/*.parquet' AS r WHERE r.host = w.host) * 1e9)) FROM
		(SELECT host, sum(dur)::DOUBLE AS ns FROM 'lake2/current/wakeup/*.parquet' WHERE comm = 'timeout' GROUP BY host) AS w" > want
	weft diff --top 0 --format json lake0 lake2 | jq '.changes[] | select(.table == "wakeup" and .row == "timeout normal" and .figure == "total") | .new | round' | diff want -
	run -0 weft diff lake0 lake2
	[[ "$output" = *"the unit is a machine: 24 of the old lake and 24 of the new are compared"* ]]
	run -3 weft diff lake0 lake2 --fail-if '*normal: total > 3%'
	run -0 weft diff lake0 lake1 --fail-if '*normal: total > 3%'
	run -2 weft diff lake0 lake2 --by task
	run -2 weft diff lake0 lake2 --since 1
	run -1 weft diff lake0 in
	[[ "$output" = *"'in' is not a directory of a lake"* ]]
	run -1 weft diff lake0 in/h00000-00.dat
	touch lake1/current/rollup/notes
	run -1 weft diff lake0 lake1
	[[ "$output" = *"'lake1/notes' is not of a lake, so no table is read: remove it, or name another directory" ]]
	truncate -s -1 lake2/current/rollup/1.parquet
	run -1 weft diff lake0 lake2
	[[ "$output" = *"'lake2/rollup/1.parquet': it is not a whole Parquet file of this table"* ]]
}

# bats test_tags=long
@test "lake: ClickHouse and icebird open each table by its metadata of Iceberg, and see the rows of its files and no others" {
	need_duckdb
	local duckdb=$NODE_PATH step table
	need_npm icebird 0.3.1
	local icebird=$NODE_PATH
	need_npm chdb 3.4.0
	NODE_PATH=$NODE_PATH:$duckdb
	weft lake add -q lake a.dat
	weft lake add -q lake b.dat c.dat "$session/disk.dat"
	cat > icebird.mjs << 'END'
import fs from 'fs';
const { icebergRead } = await import(`${process.argv[2]}/icebird/src/index.js`);
globalThis.fetch = async (url, init = {}) => {
	const data = fs.readFileSync(new URL(url)), range = /bytes=(\d+)-(\d*)/.exec(new Headers(init.headers).get('range') || '');
	if (range)
		return new Response(data.subarray(Number(range[1]), range[2] ? Number(range[2]) + 1 : undefined), { status: 206 });
	return new Response(init.method === 'HEAD' ? null : data, { headers: { 'content-length': String(data.length) } });
};
for (const line of fs.readFileSync('want', 'utf8').trim().split('\n')) {
	const table = line.split('|')[0], rows = await icebergRead({ tableUrl: `file://${process.cwd()}/lake/current/${table}` });
	console.log([table, rows.length, rows.reduce((sum, row) => sum + BigInt(row.ts), 0n), rows.reduce((most, row) => (row.host > most ? row.host : most), '')].join('|'));
}
END
	for step in add compact; do
		[ $step = add ] || weft lake compact -q lake
		# A file that no metadata names is none of the table.
		for table in lake/current/*/; do
			table=$(basename "$table")
			duckdb "SELECT '$table', count(*), coalesce(sum(ts), 0), coalesce(max(host), '') FROM 'lake/current/$table/*.parquet'"
			set -- lake/current/"$table"/*.parquet
			cp "$1" "lake/current/$table/99.parquet"
		done > want
		[ "$(wc -l < want)" = 13 ]
		node -e '
			const { query } = require("chdb"), tables = require("fs").readFileSync("want", "utf8").trim().split("\n").map((line) => line.split("|")[0]);
			for (const table of tables)
				console.log(query(`SELECT \u0027${table}\u0027, count(), sum(ts), max(host) FROM icebergLocal(\u0027${process.cwd()}/lake/current/${table}\u0027)`, "CSV").trim().replaceAll("\"", "").replaceAll(",", "|"));
		' > got
		diff want got
		node icebird.mjs "$icebird" > got
		diff want got
		rm lake/current/*/99.parquet
	done
}
