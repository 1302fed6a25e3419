#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft export --to chrome.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
corpus=tests/corpora/report/accept

setup()
{
	need_command jq
	need_command python3
}

chrome()
{
	weft export --to chrome "$@" 2> /dev/null
}

@test "chrome: turns on a CPU follow from the switches, to the nanosecond" {
	weft export --to jsonl "$golden/6.12-events-sched.dat" 2> /dev/null | python3 -c 'import json, sys
on, turns = {}, []
for line in sys.stdin:
    event = json.loads(line)
    cpu, ts = event["cpu"], event["ts"]
    if cpu not in on or on[cpu][0] != event["pid"]:
        on[cpu] = event["pid"], ts
    if event["event"] == "sched_switch":
        if ts > on[cpu][1]:
            turns.append("%d %d.%03d %d.%03d" % (cpu, *divmod(on[cpu][1], 1000), *divmod(ts - on[cpu][1], 1000)))
        on[cpu] = event["fields"]["next_pid"], ts
print("\n".join(sorted(turns)))' > "$BATS_TEST_TMPDIR/want"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/want")" -gt 10 ]
	# Compares texts, because a number read from JSON loses digits.
	chrome "$golden/6.12-events-sched.dat" | sed -n 's/^{"ph":"X","pid":0,"tid":\([0-9]*\),"ts":\([0-9.]*\),.*"dur":\([0-9.]*\)}.*/\1 \2 \3/p' | LC_ALL=C sort |
		diff <(LC_ALL=C sort "$BATS_TEST_TMPDIR/want") -
	# The last turn of each CPU goes on when the trace ends, and says so.
	[ "$(chrome "$golden/6.12-events-sched.dat" | jq -c '.traceEvents[] | select(.args.end == "open") | [.pid, .tid]' | sort)" = $'[0,0]\n[0,1]' ]
}

@test "chrome: interrupts have the names and times that sqlite and html have" {
	chrome "$golden/6.12-events-irq-timer.dat" | jq -r '.traceEvents[] | select(.ph == "X" and (.name | startswith("softirq "))) | .dur * 1000 | round' |
		sort -n > "$BATS_TEST_TMPDIR/got"
	[ -s "$BATS_TEST_TMPDIR/got" ]
	weft sql --format csv "$golden/6.12-events-irq-timer.dat" "SELECT dur FROM slice WHERE category = 'irq' AND name LIKE 'softirq %'" 2> /dev/null | tail -n +2 |
		sort -n | diff - "$BATS_TEST_TMPDIR/got"
	chrome "$golden/6.12-events-irq-timer.dat" | jq -r '.traceEvents[] | select(.ph == "X") | .name' | grep -x 'softirq TIMER' | head -n 1
}

@test "chrome: an event that is no span is an instant with its fields" {
	want=$(weft report --format json "$golden/6.12-events-sched.dat" | jq -r 'select(.event != "sched_switch" and has("event")) | .event' | wc -l)
	[ "$(chrome "$golden/6.12-events-sched.dat" | jq '[.traceEvents[] | select(.ph == "i")] | length')" = "$want" ]
	chrome "$golden/6.12-events-sched.dat" | jq -c '.traceEvents[] | select(.name == "sched_waking") | .args | del(.cpu)' > "$BATS_TEST_TMPDIR/got"
	weft report --format json "$golden/6.12-events-sched.dat" | jq -c 'select(.event == "sched_waking") | .fields' | diff - "$BATS_TEST_TMPDIR/got"
}

@test "chrome: calls begin and end in order, on each row" {
	chrome "$golden/6.12-function_graph.dat" | python3 -c 'import json, sys
rows = {}
calls = 0
for event in json.load(sys.stdin)["traceEvents"]:
    row = rows.setdefault((event["pid"], event["tid"]), [])
    if event["ph"] == "B":
        row.append((event["name"], event["ts"]))
    elif event["ph"] == "E":
        name, began = row.pop()
        assert name == event["name"] and began <= event["ts"]
        calls += 1
assert calls > 100 and not any(rows.values())'
}

@test "chrome: integers beyond 2^53 are strings" {
	chrome "$golden/6.12-function.dat" | jq -r '.traceEvents[] | select(.name == "function") | .args.ip' > "$BATS_TEST_TMPDIR/got"
	weft export --to csv --fields ip "$golden/6.12-function.dat" 2> /dev/null | sed 1d | diff - "$BATS_TEST_TMPDIR/got"
}

@test "chrome: losses are instants with their count" {
	[ "$(chrome $corpus/lost-6.12.dat | jq -c '.traceEvents[] | select(.name == "lost events") | [.tid, .args.count]' | paste -sd ' ')" = "[1,230] [0,null]" ]
}

@test "chrome: it is JSON whatever the file holds" {
	for file in "$corpus"/*.dat "$SHARED"/hostile/*.dat; do
		[ -e "$file" ] || continue
		chrome --limit 5000 "$file" > "$BATS_TEST_TMPDIR/json" || true
		[ ! -s "$BATS_TEST_TMPDIR/json" ] || jq -e . < "$BATS_TEST_TMPDIR/json" > /dev/null
	done
}

# bats test_tags=long
@test "chrome: the rules of the importers hold: slices nest, times are exact to the nanosecond, metadata is known" {
	for file in "$golden"/*.dat tests/fixtures/demo.dat $corpus/*.dat "$SHARED"/samples/*.dat "$BUILD"/captures*/*/clock-*/trace.dat; do
		[ -e "$file" ] || continue
		chrome --limit 20000 "$file" > "$BATS_TEST_TMPDIR/json" || continue
		echo "$file"
		python3 tests/cases/export/chrome_rules.py "$BATS_TEST_TMPDIR/json"
	done
}

@test "chrome: where the clock is late, times count from a whole day, which the file and a note name" {
	echo '  cat-7       [000] .....   8640007.000123: sched_pi_setprio: comm=a pid=7 oldprio=120 newprio=98' |
		weft import -o "$BATS_TEST_TMPDIR/late.dat" - 2> /dev/null
	weft export --to chrome "$BATS_TEST_TMPDIR/late.dat" > "$BATS_TEST_TMPDIR/json" 2> "$BATS_TEST_TMPDIR/err"
	[ "$(jq -c '[.otherData.time_origin_ns, (.traceEvents[] | select(.ph == "i") | .ts)]' "$BATS_TEST_TMPDIR/json")" = '["8640000000000000",7000123]' ]
	grep -q "times count from 8640000 s of the recording's clock" "$BATS_TEST_TMPDIR/err"
}
