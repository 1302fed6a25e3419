#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft sql: a SELECT on a recording.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden

setup()
{
	! weft sql nosuch.dat 2>&1 | grep -q 'built without' || skip "weft was built without libsqlite3"
}

# Prints the names of the events in the kernel's own text, each with its number.
kernel_counts()
{
	sed -n 's/^.* [0-9]*\.[0-9]*: \([a-z_0-9]*\): .*/\1/p' "$1" | LC_ALL=C sort | uniq -c | awk '{ print $2 "," $1 }'
}

@test "sql: says that the tables have weft's own tasks, which those of the analyses leave out" {
	file=$BATS_TEST_DIRNAME/../fixtures/session/why.dat
	self=$(weft info --setting weft/self "$file" | tr ' ' ,)
	statement="SELECT count(*) FROM ftrace_event JOIN thread USING (utid) WHERE tid IN ($self)"
	run -0 --separate-stderr weft sql "$file" "$statement"
	[ "${lines[1]}" -gt 0 ]
	[[ "$stderr" == *"note: this includes weft's own tasks; --no-self leaves them out" ]]
	for choice in --no-self -q '--format csv'; do
		run -0 --separate-stderr weft sql $choice "$file" "$statement"
		[[ "$stderr" != *"own tasks"* ]]
	done
	# What is refused says only why.
	run -1 --separate-stderr weft sql "$file" 'SELECT nosuch FROM sched'
	[[ "$stderr" == "weft: no such column: nosuch"* ]]
	run -0 weft sql --no-self "$file" "$statement"
	[ "${lines[1]}" -eq 0 ]
	# A file that no weft has recorded has none.
	run -0 --separate-stderr weft sql "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat" 'SELECT 1 AS one'
	[ "$stderr" = "" ]
}

@test "sql: counts are those of the kernel's own text" {
	for name in 6.12-events-sched 6.1-rt-events-sched 6.12-events-irq-timer; do
		kernel_counts "$golden/$name.txt" > "$BATS_TEST_TMPDIR/want"
		[ "$(wc -l < "$BATS_TEST_TMPDIR/want")" -gt 2 ]
		weft sql --format csv "$golden/$name.dat" 'SELECT name, count(*) FROM ftrace_event GROUP BY 1 ORDER BY 1' 2> /dev/null | sed 1d |
			diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "sql: on a machine without SQLite it names the package, and everything else works" {
	need_mounts
	library=$(ldconfig -p | sed -n 's/.*libsqlite3\.so\.0 .*=> //p' | head -n 1)
	[ -e "$library" ] || skip "libsqlite3 is inside weft, or elsewhere"
	run -1 unshare -m sh -c 'mount --bind /dev/null "$(realpath "$1")" && exec weft sql "$2" "SELECT 1"' - "$library" "$golden/6.12-events-sched.dat"
	[[ "$output" == *"libsqlite3.so.0"*"install libsqlite3-0 (Debian) or sqlite-libs (Fedora)"* ]]
	unshare -m sh -c 'mount --bind /dev/null "$(realpath "$1")" && exec weft report "$2"' - "$library" "$golden/6.12-events-sched.dat" > "$BATS_TEST_TMPDIR/got"
	diff "$golden/6.12-events-sched.txt" "$BATS_TEST_TMPDIR/got"
}

@test "sql: fields are those of the kernel's own text" {
	sed -n 's/.*sched_switch: prev_comm=\(.*\) prev_pid=\([0-9]*\) .*==> next_comm=\(.*\) next_pid=\([0-9]*\) next_prio=\([0-9]*\)$/\1,\2,\3,\4,\5/p' \
		"$golden/6.12-events-sched.txt" > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	weft sql -e sched_switch --format csv "$golden/6.12-events-sched.dat" \
		'SELECT prev_comm, prev_pid, next_comm, next_pid, next_prio FROM e_sched_sched_switch ORDER BY ts' | sed 1d | diff "$BATS_TEST_TMPDIR/want" -
}

@test "sql: text, JSON and CSV have integers, fractions, texts and what is none" {
	file=$golden/6.12-events-sched.dat select="SELECT 9223372036854775807 AS Big, -0.25 AS part, 1e300 AS huge, 'a,\"b' AS text, NULL AS none"
	[ "$(weft sql --format csv "$file" "$select")" = $'Big,part,huge,text,none\n9223372036854775807,-0.25,1.0e+300,"a,""b",' ]
	[ "$(weft sql --format json "$file" "$select")" = '[{"Big":9223372036854775807,"part":-0.25,"huge":"1.0e+300","text":"a,\"b","none":null}]' ]
	run -0 weft sql "$file" "$select"
	[ "${#lines[@]}" -eq 2 ]
	[[ ${lines[1]} == *9223372036854775807*-0.25*1.0e+300*'a,"b'* ]]
}

@test "sql: --max-bytes leaves out the last rows, and says how many" {
	file=tests/fixtures/demo.dat select='SELECT name, count(*) AS n FROM ftrace_event GROUP BY 1 ORDER BY 2 DESC, 1'
	for format in text csv json; do
		weft sql --format $format "$file" "$select" > "$BATS_TEST_TMPDIR/all"
		weft sql --format $format --max-bytes 200 "$file" "$select" > "$BATS_TEST_TMPDIR/some" 2> "$BATS_TEST_TMPDIR/said"
		[ "$(wc -c < "$BATS_TEST_TMPDIR/some")" -le 200 ]
		more=$(grep -o '[0-9]* more rows' "$BATS_TEST_TMPDIR/said" | cut -d ' ' -f 1)
		[ $(($(wc -l < "$BATS_TEST_TMPDIR/some") + more)) = "$(wc -l < "$BATS_TEST_TMPDIR/all")" ]
		weft sql --format $format --max-bytes 100000 "$file" "$select" | diff - "$BATS_TEST_TMPDIR/all"
	done
	python3 -c 'import json, sys; json.load(sys.stdin)' < "$BATS_TEST_TMPDIR/some"
	run -1 weft sql --format csv --max-bytes 3 "$file" "$select"
	[[ $output == *"without any row the answer has 7 bytes, more than --max-bytes" ]]
}

@test "sql: blobs, comments and many columns" {
	file=$golden/6.12-events-sched.dat
	[ "$(weft sql --format csv "$file" "SELECT x'00ff' AS b, 1 AS n; -- c")" = $'b,n\nx\'00ff\',1' ]
	select=$(seq -f '%g AS c' -s ', ' 1 499)
	for format in text csv json; do
		run -0 weft sql --format $format "$file" "SELECT $select, 500 AS c500"
		[[ $output == *c500* && $output == *500* ]]
	done
}

@test "sql: without a statement the tables are listed; without a file it is trace.dat" {
	run -0 weft sql "$golden/6.12-events-sched.dat"
	[[ $output == *"e_sched_sched_switch"*"prev_comm prev_pid prev_prio prev_state next_comm next_pid next_prio"* ]]
	cp "$golden/6.12-events-sched.dat" "$BATS_TEST_TMPDIR/trace.dat"
	cd "$BATS_TEST_TMPDIR"
	[ "$(weft sql --format csv 'SELECT count(*) AS n FROM e_sched_sched_switch')" = "$(printf 'n\n%d' "$(grep -c ' sched_switch: ' "$golden/6.12-events-sched.txt")")" ]
}

@test "sql: it only reads, one statement at a time, and errors are SQLite's" {
	file=$golden/6.12-events-sched.dat
	run -1 weft sql "$file" 'SELECT nowhere FROM sched'
	[ "$output" = "weft: no such column: nowhere; 'weft sql FILE' lists the tables and their columns" ]
	run -1 weft sql "$file" 'SELEC 1'
	[ "$output" = 'weft: near "SELEC": syntax error' ]
	for statement in 'DELETE FROM sched' 'CREATE TEMP TABLE a (b)' "ATTACH '$BATS_TEST_TMPDIR/other' AS other" "VACUUM INTO '$BATS_TEST_TMPDIR/other'" \
			 'PRAGMA journal_mode = WAL'; do
		run -1 weft sql --no-sandbox "$file" "$statement"
		[[ $output == *"'weft sql' only reads"* ]]
	done
	[ ! -e "$BATS_TEST_TMPDIR/other" ]
	run -2 weft sql "$file" 'SELECT 1; SELECT 2'
	[[ $output == *"one statement at a time"* ]]
	run -0 weft sql --format csv "$file" "SELECT ';' AS semicolon; "
	[ "$output" = $'semicolon\n;' ]
	run -2 weft sql "$file" ' ;'
	run -1 weft sql "$file" "SELECT $(seq -s, 513)"
	[[ $output == *"513 columns"* ]]
}

@test "sql: of a damaged file what can be read is asked, and the damage told" {
	file=tests/corpora/report/accept/lost-6.12.dat
	[ "$(weft sql --format csv "$file" 'SELECT cpu, count FROM lost ORDER BY ts')" = $'cpu,count\n1,230\n0,' ]
	head -c $(($(stat -c %s tests/fixtures/demo.dat) / 2)) tests/fixtures/demo.dat > "$BATS_TEST_TMPDIR/cut.dat"
	run -1 --separate-stderr weft sql "$BATS_TEST_TMPDIR/cut.dat" 'SELECT count(*) FROM ftrace_event'
	[[ $stderr == *"cut.dat"* ]]
}

@test "sql: Ctrl-C ends a query that does not end, and nothing is left" {
	mkdir "$BATS_TEST_TMPDIR/temp"
	TMPDIR=$BATS_TEST_TMPDIR/temp run -130 timeout --preserve-status -s INT 1 env --default-signal=INT weft sql "$golden/6.12-events-sched.dat" \
		'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/temp")" ]
}

@test "sql: a statement gets no code loaded and no address of a function" {
	file=$golden/6.12-events-sched.dat
	for function in "fts3_tokenizer('simple')" "fts3_tokenizer('simple', x'00')" "load_extension('x')"; do
		run -1 --separate-stderr weft sql -q "$file" "SELECT hex($function)"
		[ -z "$output" ]
		[[ "$stderr" == *"${function%%(*}"* ]]
	done
	[ "$(weft sql -q --format csv "$file" "SELECT hex(upper('a')) AS x")" = $'x\n41' ]
}

# The tasks that have the two CPUs at the end of the file.
@test "sql: a sum of durations has nothing of what did not end in the file" {
	local file=$golden/6.12-events-sched.dat
	[ "$(weft sql --format csv "$file" 'SELECT count(*) - count(dur) FROM sched' | tail -n 1)" = 2 ]
	[ "$(weft sql --format csv "$file" 'SELECT count(*) FROM sched WHERE dur IS NULL AND ts > 0' | tail -n 1)" = 2 ]
	for table in sched thread_state slice; do
		[ "$(weft sql --format csv "$file" "SELECT count(*) FROM $table WHERE dur < 0" | tail -n 1)" = 0 ]
	done
	# A turn begins where the one before it ends, so all of a CPU but the open one add up to its last switch.
	for cpu in 0 1; do
		[ "$(weft sql --format csv "$file" "SELECT sum(dur) - (max(ts) - min(ts)) FROM sched WHERE cpu = $cpu" | tail -n 1)" = 0 ]
	done
}

@test "sql: the memory of a statement and of its answer has a bound" {
	local endless="WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 2000)" file=$golden/6.12-events-sched.dat
	run -1 timeout 60 weft sql "$file" "$endless SELECT x, hex(zeroblob(1000000)) FROM n"
	[[ "$output" == "weft: the answer is larger than 512 MiB; choose fewer rows"* ]]
	run -1 timeout 60 weft sql "$file" "$endless SELECT count(DISTINCT hex(randomblob(1000000))) FROM n"
	[[ "$output" == "weft: the statement needs more than 512 MiB of memory; choose fewer rows"* ]]
}
