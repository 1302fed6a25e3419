#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# When it was: recordings know their time of day. The oracle is a program that reads CLOCK_REALTIME before and after each
# system call that is traced, and GNU date.
load lib

setup_file()
{
	need_tracefs
	need_command python3
	export DIR=$BATS_FILE_TMPDIR TZ=UTC
	cd "$DIR" || exit 1
	for clock in local global perf x86-tsc mono mono_raw boot tai; do
		grep -qw $clock /sys/kernel/tracing/trace_clock || continue
		weft record -q -F -C $clock -e syscalls:sys_enter_getsid -o $clock.dat -- python3 "$BATS_TEST_DIRNAME/bursts.py" 1000 > $clock.pairs
	done
}

setup()
{
	cd "$DIR" || exit 1
	export TZ=UTC
}

# told FILE: what info says about the time of day of its events
told()
{
	weft info "$1" | grep '^  from '
}

@test "time of day: 1,000 of 1,000 calls were between the times that the program saw, on clocks that programs read and others" {
	for clock in local global perf x86-tsc mono mono_raw boot tai; do
		[ -e $clock.dat ] || continue
		weft report --time utc --format json $clock.dat > events
		python3 "$BATS_TEST_DIRNAME/bursts.py" --check $clock.pairs events 0 > result
		read -r inside away < result
		# Half a round trip of a marker on a slow machine.
		[ "$inside" = 1000 ] || [ "$away" -le 50000 ]
	done
	[[ "$(told local.dat)" == *" (UTC), to +-"*" ns"* || "$(told local.dat)" == *" us"* ]]
}

@test "time of day: the text has no line more, and its buffer is the only one" {
	for clock in local mono; do
		[ "$(weft report $clock.dat | grep -vc '^#')" = 1000 ]
		[ "$(weft info $clock.dat | grep -c '^Instance\|^Top')" = 1 ]
	done
	[ -z "$(weft report -e ftrace:print local.dat 2> log | grep -v '^#')" ]
}

@test "time of day: --since and --until choose what the time of the trace chooses" {
	weft report --time utc --format json local.dat > events
	for n in 300 700; do
		line=$(sed -n ${n}p events)
		wall=$(grep -o '"wall":"[^"]*' <<< "$line" | cut -d '"' -f 4)
		ts=$(grep -o '"ts":[0-9]*' <<< "$line" | cut -d : -f 2)
		weft report --since "${ts:0:-9}.${ts: -9}" local.dat | grep -v '^#' > want
		[ "$(wc -l < want)" = $((1001 - n)) ]
		for text in "$wall" "$(TZ=Asia/Kolkata date -d "$wall" '+%F %T.%N +05:30')" "$(date -d "$wall" +unix:%s.%N)" \
			"$(date -d "$wall" +%T.%N)"; do
			weft report --since "$text" local.dat | grep -v '^#' > got
			# 1 ns of the way from the clock of the trace and back.
			[ $(($(wc -l < want) - $(wc -l < got))) -le 1 ]
			diff <(tail -n 100 want) <(tail -n 100 got)
		done
	done
	[ -e /usr/share/zoneinfo/America/New_York ] || skip "no time zones here"
	text="$(TZ=America/New_York date -d "$wall" '+%F %T.%N') America/New_York"
	weft report --since "$text" local.dat | grep -v '^#' | tail -n 100 | diff <(tail -n 100 want) -
	run -2 weft report --since '12:00 Nowhere/Land' local.dat
	[[ "$output" == *"there is no time zone 'Nowhere/Land'"* ]]
	run -2 weft report --since '2026-03-29 02:30 Europe/Berlin' local.dat
	[[ "$output" == *"skipped that time: '2026-03-29 01:59:59+01:00' was followed by '2026-03-29 03:00:00+02:00'"*"the file has "* ]]
}

@test "time of day: convert, split, merge and --since keep the dates" {
	told=$(told local.dat)
	weft convert -q --file-version 6 -o six.dat local.dat
	weft convert -q -o seven.dat six.dat
	weft split -q -o part.dat local.dat
	weft merge -q -o both.dat local.dat mono.dat
	for made in six seven part; do
		[ "$(told $made.dat)" = "$told" ]
	done
	[ "$(told both.dat)" = "$told
$(told mono.dat)" ]
	weft merge -q --offset mono.dat=5000000000 -o moved.dat local.dat mono.dat
	[ "$(told moved.dat)" = "$(told both.dat)" ]
	diff <(weft report --time utc -B mono moved.dat | grep -v '^#') <(weft report --time utc mono.dat | grep -v '^#')
}

@test "report: --time prints times of day as GNU date does, with the day and the zone in the head, and nothing else changes" {
	ts=$(weft report --format json mono.dat | head -n 1 | grep -o '"ts":[0-9]*' | cut -d : -f 2)
	ns=$(weft report --format json --time utc mono.dat | head -n 1 | grep -o '"wall":"[^"]*' | cut -d '"' -f 4)
	export TZ=Asia/Kolkata
	[ -e /usr/share/zoneinfo/$TZ ] || TZ=IST-5:30
	weft report --time wall mono.dat > wall
	weft report mono.dat > plain
	[[ "$(sed -n 3p wall)" == "# times of $(date -d "$ns" +%F), UTC+05:30 (IST), to +-"* ]]
	[ "$(grep -v '^#' wall | head -n 1 | grep -o '[0-9:.]*: sys_getsid')" = "$(date -d "$ns" +%T.%N): sys_getsid" ]
	diff <(grep -v '^#' wall | sed 's/[0-9:.]*: sys_/: sys_/; s/  *: sys_/ : sys_/') \
		<(grep -v '^#' plain | sed 's/[0-9:.]*: sys_/: sys_/; s/  *: sys_/ : sys_/')
	diff <(grep '^#' wall | grep -v 'times of' | sed 1,3d) <(grep '^#' plain | sed 1,2d)
	weft report --time trace mono.dat | diff plain -
	[[ "$(weft report --time relative mono.dat | grep -v '^#' | head -n 1)" == *"     0.000000: sys_getsid"* ]]
	[[ "$(weft report --time wall --format pretty mono.dat | sed -n 3p)" == "$(date -d "$ns" +%T.%6N) "* ]]
	run -2 weft report --time noon mono.dat
	[[ "$output" == *"--time: unknown 'noon'; use trace, wall, utc or relative"* ]]
	run -2 weft report --time wall --format trace-cmd mono.dat
}

# babeltrace2, sqlite3, DuckDB and export/dated.py read the files as programs of these formats do.
@test "export: the first event has the instant that report prints, to 1 us, in seven formats" {
	need_command babeltrace2
	reading=$BATS_TEST_DIRNAME/export/dated.py
	weft report --time utc --format json local.dat > events
	ts=$(head -n 1 events | grep -o '"ts":[0-9]*' | cut -d : -f 2)
	want=$(date -d "$(head -n 1 events | grep -o '"wall":"[^"]*' | cut -d '"' -f 4)" +%s%N)
	is() { [ $(($1 - want)) -le 1000 ] && [ $((want - $1)) -le 1000 ]; }
	for to in firefox perfetto html; do
		weft export -q --to $to -o out.$to local.dat
		is "$(python3 "$reading" $to out.$to "$ts")"
	done
	weft export -q --to parquet -o parquet local.dat
	is "$(python3 "$reading" parquet parquet/*getsid*.parquet "$ts")"
	weft export -q --to ctf -o ctf local.dat
	is "$(babeltrace2 --clock-seconds ctf | head -n 1 | sed -E 's/^\[([0-9]+)\.([0-9]+)\].*/\1\2/')"
	weft export -q --to chrome -o chrome.json local.dat
	is "$(date -d "$(grep -o '"first_event_utc":"[^"]*' chrome.json | cut -d '"' -f 4) UTC" +%s%N)"
	weft export -q --to sqlite -o local.db local.dat
	is "$(python3 -c 'import sqlite3
db = sqlite3.connect("local.db")
(ts, wall, bound, drift), = db.execute("SELECT * FROM clock").fetchall()
offset, = db.execute("SELECT value FROM meta WHERE key = \"date_offset_ns\"").fetchone()
assert wall == ts + offset and 0 < bound < 50000
print(wall)')"
	# Each event has the time of day that report prints, within the rounding of the drift.
	weft sql --format csv local.dat 'SELECT wall FROM event_wall ORDER BY ts' | sed 1d | tr ' ' T | cut -c 1-26 > sql
	diff sql <(grep -o '"wall":"[^"]*' events | cut -d '"' -f 4 | cut -c 1-26) | grep -c '^<' > differ || true
	[ "$(cat differ)" -le 5 ]
	[ "$(weft sql --format csv local.dat "SELECT count(*) FROM event_wall WHERE wall >= '$(date -d "@${want:0:-9}" '+%F %T')'" | tail -n 1)" = 1000 ]
}

# DuckDB takes the place of weft: the events' times of day are made from the table clock alone.
@test "export: clock.parquet has what makes times of day of the times of all events" {
	need_npm @duckdb/node-api 1.5.6-r.1
	duckdb() { node "$BATS_TEST_DIRNAME/export/duckdb.js" "$@"; }
	timeout 60 node "$BATS_TEST_DIRNAME/export/duckdb.js" 'SELECT 1' > /dev/null || skip "node cannot load @duckdb/node-api"
	for clock in local mono; do
		weft export -q --to parquet -o $clock.tables $clock.dat
		duckdb "SELECT strftime(make_timestamp_ns(wall_ns + e.ts - c.ts + ((e.ts - c.ts)::HUGEINT * drift // 1000000000000)::BIGINT), '%Y-%m-%dT%H:%M:%S.%n')
			FROM '$clock.tables/sys_enter_getsid.parquet' e ASOF JOIN '$clock.tables/clock.parquet' c ON e.ts >= c.ts ORDER BY e.ts" > got
		[ "$(wc -l < got)" = 1000 ]
		weft report --time utc --format json $clock.dat | grep -o '"wall":"[^"Z]*' | cut -d '"' -f 4 > want
		# Within 1 us: times without their last three digits differ in few places.
		python3 -c 'import sys
pairs = list(zip(open("got").read().split(), open("want").read().split()))
assert all(a[:20] == b[:20] and abs(int(a[20:29]) - int(b[20:29])) <= 1000 for a, b in pairs if a[:19] == b[:19]) and len(pairs) == 1000'
		duckdb "SELECT count(*), min(bound_ns) > 0 AND max(bound_ns) < 50000 FROM '$clock.tables/clock.parquet'" | grep -qx '1|true'
	done
	weft import -q -o text.dat "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-branch.txt"
	weft export -q --to parquet -o untold text.dat
	[ "$(duckdb "SELECT count(*) FROM 'untold/clock.parquet'")" = 0 ]
}

@test "stream: --time prints the time of day of each event while it happens" {
	for clock in local mono; do
		weft stream -q -F -C $clock --time utc --format json -e syscalls:sys_enter_getsid -- \
			python3 "$BATS_TEST_DIRNAME/bursts.py" 200 1.5 > events 2> pairs
		[ "$(wc -l < events)" = 200 ]
		python3 "$BATS_TEST_DIRNAME/bursts.py" --check pairs events 0 > result
		read -r inside away < result
		# Before the second sample nobody knows how fast the clock runs.
		[ "$inside" = 200 ] || [ "$away" -le 600000 ]
	done
	weft stream -q -F -C mono --time wall -e syscalls:sys_enter_getsid -- python3 "$BATS_TEST_DIRNAME/bursts.py" 10 > text 2> pairs
	[[ "$(sed -n 3p text)" == "# times of "*", UTC+00:00 (UTC), to +-"* ]]
	read -r before after < pairs
	[[ "$(grep -v '^#' text | head -n 1)" == *" $(date -d "@${before:0:-9}" +%H:%M:)"* || "$(grep -v '^#' text | head -n 1)" == *" $(date -d "@${after:0:-9}" +%H:%M:)"* ]]
	weft stream -q -F -C mono --time utc --summary syscalls --every 100ms --format json -- python3 "$BATS_TEST_DIRNAME/bursts.py" 10 > tables 2> pairs
	grep -q '"since":"20[0-9-]*T[0-9:.]*Z","until":"20[0-9-]*T[0-9:.]*Z"' tables
	run -125 weft stream -C counter --time utc -e syscalls:sys_enter_getsid -- true
	[[ "$output" == *"the time of day of this clock cannot be told"* ]]
	run -2 weft stream --time relative -- true
	[[ "$output" == *"--time: unknown 'relative'; use trace, wall or utc"* ]]
}

@test "analyses: --time shows the intervals of --every as times of day" {
	weft summary --every 1ms --format json mono.dat | grep -o '"since":[0-9.]*' | cut -d : -f 2 > plain
	weft summary --every 1ms --time utc --format json mono.dat | grep -o '"since":"[^"]*' | cut -d '"' -f 4 > utc
	[ "$(wc -l < plain)" -gt 1 ]
	first=$(weft report --format json --time utc mono.dat | head -n 1)
	offset=$(($(date -d "$(grep -o '"wall":"[^"]*' <<< "$first" | cut -d '"' -f 4)" +%s%N) - $(grep -o '"ts":[0-9]*' <<< "$first" | cut -d : -f 2)))
	while read -r ts; do date -u -d "@$(sed 's/\(.*\)\(.\{9\}\)/\1.\2/' <<< $((${ts/./} + offset)))" +%FT%T.%NZ; done < plain | diff - utc
	weft summary --every 1ms --time utc --table events --format csv mono.dat | sed -n 2p | grep -q "^$(head -n 1 utc),"
	[[ "$(weft summary --every 1ms --time wall mono.dat)" == *"from $(head -n 1 utc | tr -d Z | cut -d T -f 2) to "* ]]
}

@test "view: --time shows times of day" {
	load screens
	last=$(weft report --time wall mono.dat | tail -n 1 | grep -o '[0-9:]*\.[0-9]*: ')
	screen_start 120 30 "$WEFT" view --time wall mono.dat
	screen_keys G
	screen_await "$last"
	screen_keys q
	screen_await "STATUS 0"
	screen_end
	screen_start 120 30 "$WEFT" view --time wall "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat"
	screen_await "does not tell the time of day"
	screen_await "STATUS 1"
	screen_end
}

# The reader of the file can open none: the zone comes from the process that has the terminal.
@test "view: a time that is typed may name a zone" {
	load screens
	[ -e /usr/share/zoneinfo/America/New_York ] || skip "no time zones here"
	weft report -t --time utc mono.dat | grep -v '^#' > lines
	text=$(sed -n 500p lines | grep -o '[0-9:]*\.[0-9]*: ')
	day=$(weft report --format json --time utc mono.dat | sed -n 500p | grep -o '"wall":"[^"]*' | cut -d '"' -f 4)
	screen_start 120 30 "$WEFT" view -t --time utc mono.dat
	screen_await "$(sed -n 1p lines | grep -o '[0-9:]*\.[0-9]*: ')"
	run -1 grep -F "$text" <<< "$(screen_show)"
	screen_keys :
	screen_keys -l "12:00 Nowhere/Land"
	screen_keys Enter
	screen_await "there is no time zone 'Nowhere/Land'"
	screen_keys :
	screen_keys -l "$(TZ=America/New_York date -d "$day" '+%F %T.%N') America/New_York"
	screen_keys Enter
	screen_await "$text"
	screen_keys q
	screen_await "STATUS 0"
	screen_end
}

@test "top: --time shows the time of day at which the interval ended" {
	load screens
	for clock in local mono; do
		export TZ=IST-5:30
		hour=$(date +%H)
		screen_start 120 30 "$WEFT" top -C $clock --every 300ms --time wall -e syscalls:sys_enter_getsid -- \
			python3 "$BATS_TEST_DIRNAME/bursts.py" 100000 20
		# The hour may change while it runs: that of before, or that of now.
		screen_await " to "
		hours="$hour|$(date +%H)"
		screen_show > "$BATS_TEST_TMPDIR/screen"
		grep -qE " to ($hours):[0-5][0-9]:" "$BATS_TEST_TMPDIR/screen" ||
			{ echo "no hour of $hours"; cat "$BATS_TEST_TMPDIR/screen"; false; }
		screen_keys q
		screen_await "STATUS"
		screen_end
	done
	run -2 weft top --time relative
	[[ "$output" == *"--time: unknown 'relative'; use trace, wall or utc"* ]]
}

@test "summary, analyses: they say when it was, and --time shows moments as times of day" {
	ns=$(weft report --format json --time utc mono.dat | sed -n '1p;$p' | grep -o '"wall":"[^"]*' | cut -d '"' -f 4)
	read -r -d '' first last <<< "$ns" || true
	[[ "$(weft summary mono.dat)" == *"from "*" $(date -d "$first" '+%F %T.%3N') to $(date -d "$last" +%T.%3N) (UTC)"* ]]
	weft record -q -F -C mono -e task -e sched:sched_process_exit -e sched:sched_process_exec -o tasks.dat -- sh -c 'true; /bin/true'
	weft tasks --top 0 --format json tasks.dat > plain
	weft tasks --top 0 --format json --time utc tasks.dat > utc
	weft report --time utc --format json tasks.dat > events
	python3 - << 'END'
import json
events = {event['ts']: event['wall'] for event in map(json.loads, open('events')) if 'wall' in event}
def rows(name):
    return [row for table in json.load(open(name)).values() if isinstance(table, list) for row in table if isinstance(row, dict)]
seen = 0
for plain, utc in zip(rows('plain'), rows('utc')):
    for key in plain:
        if plain[key] != utc[key]:
            assert utc[key] in events.values(), (key, plain[key], utc[key])
            seen += 1
assert seen
END
}

@test "export: --fields wall is what report prints" {
	weft report --time utc --format json local.dat | grep -o '"wall":"[^"]*"' > want
	weft export -q --to jsonl --fields wall local.dat | tr -d '{}' | diff want -
	weft export -q --to csv --fields wall local.dat | sed 1d | sed 's/.*/"wall":"&"/' | diff want -
}

@test "import: --log makes markers of the lines of journals, syslog and other logs, at their time of day" {
	printf '%s\n' '{"__REALTIME_TIMESTAMP":"1795893482900000","_SOURCE_REALTIME_TIMESTAMP":"1795893482700001","_PID":"77","SYSLOG_IDENTIFIER":"cron","MESSAGE":"a \"b\"\nc"}' \
		'{"MESSAGE":[1,{"x":"}"}],"__REALTIME_TIMESTAMP":"1795893482750000"}' '-- cursor: x' > journal
	printf '%s\n' '2026-11-28T20:18:02+0100 vm sshd[123]: short-iso' '2026-11-28T19:18:02.123456+0000 vm kernel: short-iso-precise' \
		'<34>1 2026-11-28T19:18:03.003Z host app - - RFC 5424' > iso
	# The clock is read once: the hour or the day may end while this test runs.
	now=$(date +%s)
	printf '%s\n' "$(LC_ALL=C date -d "@$((now - 3600))" '+%b %e %H:%M:%S') vm cron[77]: RFC 3164" \
		"$(LC_ALL=C date -d "@$((now + 40 * 86400))" '+%b %e') 00:00:00 vm x: last year" > syslog
	printf '%s\n' 'INFO [28/Nov/2026:19:18:02.25 +0545] GET /' > web
	told() { weft report --time utc --format json "$1" | sed -E 's/.*"wall":"([^"]*)".*"comm":"([^"]*)".*"text":"tracing_mark_write: (.*)"\}/\1 \2 \3/'; }
	weft import -q --log -o log.dat journal
	[ "$(told log.dat)" = '2026-11-28T19:18:02.700001000Z cron cron: a \"b\" c' ]
	run -0 weft import --log -o log.dat journal
	[[ "$output" == *"2 lines have no time"* ]]
	run -1 weft import --log --strict -o strict.dat journal
	weft import -q --log -o log.dat iso
	[ "$(told log.dat)" = "2026-11-28T19:18:02.000000000Z sshd sshd[123]: short-iso
2026-11-28T19:18:02.123456000Z log kernel: short-iso-precise
2026-11-28T19:18:03.003000000Z log app - - RFC 5424" ]
	[[ "$(weft info log.dat)" == *", to +-1.00 s"* ]]
	weft import -q --log -o log.dat syslog
	[[ "$(told log.dat)" == *"$(date -d "@$((now - 3600))" +%FT%H):"*"Z cron cron[77]: RFC 3164"* ]]
	[[ "$(told log.dat)" == *"$(($(date -d "@$((now + 40 * 86400))" +%Y) - 1))-"*"T00:00:00.000000000Z log x: last year"* ]]
	weft import -q --log-pattern '*%d/%b/%Y:%H:%M:%S' -o log.dat web
	[[ "$(told log.dat)" == "2026-11-28T19:18:02.250000000Z log INFO ["* ]]
	run -1 weft import --log -o none.dat web
	[[ "$output" == *"--log-pattern says where a time stands"* ]]
	[ ! -e none.dat ]
}

@test "merge: the lines of a log stand where their time of day was, in all formats of the merged file" {
	weft report --time utc --format json local.dat | sed -n '100~200p' > some
	python3 -c '
import datetime, json
for event in map(json.loads, open("some")):
    day, ns = event["wall"].rstrip("Z").split(".")
    us = int(datetime.datetime.fromisoformat(day + "+00:00").timestamp()) * 10**6 + int(ns) // 1000 + 1
    print(json.dumps({"__REALTIME_TIMESTAMP": str(us), "SYSLOG_IDENTIFIER": "x", "MESSAGE": str(event["ts"])}))' > journal
	[ "$(wc -l < journal)" = 5 ]
	weft import -q --log -o log.dat journal
	weft merge -q -o merged.dat local.dat log.dat
	# The line is in the microsecond after the event that it names.
	weft report --format json merged.dat | sed -E 's/.*"ts":([0-9]*).*"text":"tracing_mark_write: x: ([0-9]*)".*/\1 \2/' | grep -v '{' > placed
	[ "$(wc -l < placed)" = 5 ]
	while read -r at of; do
		[ $((at - of)) -ge -1000 ]
		[ $((at - of)) -le 2000 ]
	done < placed
	[ "$(weft report merged.dat | grep -c 'tracing_mark_write: x: ')" = 5 ]
	weft export -q --to perfetto -o merged.pftrace merged.dat
	printf 'Nov 28 10:00:00 vm x: y\n' > old
	weft import -q --log -o old.dat old
	weft import -q -o text.dat "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-branch.txt"
	run -1 weft merge -o never.dat text.dat old.dat
	[[ "$output" == *"does not tell the time of day, so the lines of the log"* ]]
}

# line US NAME TEXT: a line of the journal, US microseconds after a certain second.
line()
{
	printf '{"__REALTIME_TIMESTAMP":"%d","SYSLOG_IDENTIFIER":"%s","MESSAGE":"%s"}\n' $((1795893482000000 + $1)) "$2" "$3"
}

@test "merge: lines of the kernel tie a log and a recording that does not tell the time of day" {
	printf '              sh-1       [000] .....    10.%06d: console: %s\n' 100000 'usb 1-1: new' 200000 'twice' 300000 'twice' \
		400000 '[   10.400000] md: done' 500000 'only here' > text
	weft import -q -o text.dat text
	# The log has them 50 ms, 52 ms and 20 ms late, an application between, and one of the kernel that the recording lacks.
	{
		line 150000 kernel 'usb 1-1: new'
		line 252000 kernel 'twice'
		line 320000 app 'here'
		line 320000 kernel 'twice'
		line 421000 kernel 'md: done'
		line 430000 app 'only here'
		line 440000 kernel 'only there'
	} > journal
	weft import -q --log -o log.dat journal
	run -0 weft merge -o tied.dat text.dat log.dat
	[[ "$output" == *"'text.dat' does not tell the time of day: 4 lines of the kernel that are in 'log.dat', too, give the log its place, to +-32.0 ms "* ]]
	# The line that came soonest is beside its event, the others as much later as they came later than it.
	weft report tied.dat | sed -n 's/.* \([0-9.]*\): tracing_mark_write: \(.*\)/\1 \2/p' | diff - /dev/fd/3 3<<- 'END'
		10.130000 kernel: usb 1-1: new
		10.232000 kernel: twice
		10.300000 app: here
		10.300000 kernel: twice
		10.401000 kernel: md: done
		10.410000 app: only here
		10.420000 kernel: only there
	END
	line 430000 app 'only here' > journal
	weft import -q --log -o log.dat journal
	run -1 weft merge -o never.dat text.dat log.dat
	[[ "$output" == *"does not tell the time of day"*"no line of the kernel is in both"* ]]
}

@test "merge: lines of the kernel say how late the log has them where the recording tells the time of day" {
	need_tracefs
	[ -w /dev/kmsg ] && [ -d /sys/kernel/tracing/events/printk ] || skip "the kernel's log cannot be written"
	# shellcheck disable=SC2016
	weft record -q -o kmsg.dat -e printk:console -- bash -c '
		for i in 1 2 3; do
			echo "weft tests $$ line $i" > /dev/kmsg
			date +%s%N > after.$i
		done
		echo $$ > pid'
	for i in 1 2 3; do
		us=$(($(cat after.$i) / 1000 + 1))
		line $((us - 1795893482000000 + i * 1000)) kernel "weft tests $(cat pid) line $i"
	done > journal
	weft import -q --log -o log.dat journal
	run -0 weft merge -o tied.dat kmsg.dat log.dat
	[[ "$output" =~ "3 lines of the kernel in 'log.dat' are events of 'kmsg.dat', too: "([0-9.]+)" "m?s" to "([0-9.]+)" "m?s" later" ]]
	# None is earlier than `date` said after it was written.
	[ "${BASH_REMATCH[1]%.*}" -ge 1 ]
	weft merge -q -o tied.dat kmsg.dat log.dat
}

@test "analyses: --time holds for the lines, titles and notes of a table as for its cells" {
	local file=$BATS_TEST_DIRNAME/../fixtures/session/why.dat first command
	first=$(weft report --format json "$file" | head -n 1 | grep -o '"ts":[0-9]*' | cut -d : -f 2)
	for command in "sched --timehist" "syscalls --trace"; do
		# The same lines: times from the first event on differ by its time.
		# shellcheck disable=SC2086
		weft $command "$file" | grep -E '^ *[0-9]+[.][0-9]{9} ' > trace
		# shellcheck disable=SC2086
		weft $command --time relative "$file" | grep -E '^ *[0-9]+[.][0-9]{9} ' > relative
		[ "$(wc -l < trace)" -gt 5 ]
		diff <(awk -v first="$first" '{ printf "%.9f %s\n", $1 - first / 1e9, $3 }' trace) <(awk '{ print $1, $3 }' relative)
		# shellcheck disable=SC2086
		weft $command --time utc "$file" | grep -q '^[0-9][0-9]:[0-9][0-9]:[0-9][0-9][.][0-9]\{9\} '
	done
	run -0 weft why --time utc "$file"
	[[ "${lines[1]}" =~ ", from "[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9]{9}" to "[0-9][0-9]:[0-9][0-9]: ]]
}
