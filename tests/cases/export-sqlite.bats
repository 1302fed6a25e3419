#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft export --to sqlite, as sqlite3 reads it.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
corpus=tests/corpora/report/accept

setup()
{
	need_command sqlite3
	db=$BATS_TEST_TMPDIR/db
}

# make_db FILE OPTION...: exports the file to $db
make_db()
{
	weft export --to sqlite -q -o "$db" "$@" 2> /dev/null
	[ "$(sqlite3 "$db" 'PRAGMA integrity_check')" = ok ]
}

@test "sqlite: there are as many events of each type as report prints" {
	need_command jq
	for file in "$golden"/*events*.dat "$golden"/*-function.dat "$golden"/*stacktrace.dat tests/fixtures/demo.dat; do
		make_db "$file"
		weft report --format json "$file" | jq -r 'select(has("event")) | .event' | LC_ALL=C sort | uniq -c | awk '{ print $2 "|" $1 }' > "$BATS_TEST_TMPDIR/want"
		sqlite3 "$db" 'SELECT name, count(*) FROM ftrace_event GROUP BY 1 ORDER BY 1' | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "sqlite: columns are the fields that report prints, in order" {
	make_db "$golden/6.12-events-sched.dat"
	sqlite3 -separator ' ' "$db" "SELECT 'prev_comm=' || prev_comm, 'prev_pid=' || prev_pid, 'prev_prio=' || prev_prio, '==> next_comm=' || next_comm,
		'next_pid=' || next_pid, 'next_prio=' || next_prio FROM e_sched_sched_switch ORDER BY ts" > "$BATS_TEST_TMPDIR/got"
	weft report "$golden/6.12-events-sched.dat" | sed -n 's/.*sched_switch: \(.*\) prev_state=[^ ]* ==> \(.*\)/\1 ==> \2/p' | diff - "$BATS_TEST_TMPDIR/got"
	[ -s "$BATS_TEST_TMPDIR/got" ]
}

@test "sqlite: values have the names that the kernel's text gives them" {
	make_db "$golden/6.12-events-sched.dat"
	sed -n 's/.*sched_switch: .* prev_state=\([^ ]*\) ==> .*/\1/p' "$golden/6.12-events-sched.txt" > "$BATS_TEST_TMPDIR/want"
	[ "$(sort -u "$BATS_TEST_TMPDIR/want" | wc -l)" -gt 2 ]
	sqlite3 "$db" "SELECT prev_state_sym FROM e_sched_sched_switch ORDER BY ts" | diff "$BATS_TEST_TMPDIR/want" -
	make_db "$golden/6.12-events-irq-timer.dat"
	sed -n 's/.*softirq_[a-z]*: vec=\([0-9]*\) \[action=\([A-Z_]*\)\]/\1 \2/p' "$golden/6.12-events-irq-timer.txt" | sort -u > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	sqlite3 -separator ' ' "$db" "SELECT vec, vec_sym FROM e_irq_softirq_entry UNION SELECT vec, vec_sym FROM e_irq_softirq_exit
		UNION SELECT vec, vec_sym FROM e_irq_softirq_raise" | sort | diff "$BATS_TEST_TMPDIR/want" -
}

@test "sqlite: addresses keep all their bits" {
	make_db "$golden/6.12-function.dat"
	weft export --to csv --fields ip "$golden/6.12-function.dat" 2> /dev/null | sed 1d > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	sqlite3 "$db" "SELECT printf('%llu', ip) FROM e_ftrace_function ORDER BY rowid" | diff "$BATS_TEST_TMPDIR/want" -
}

@test "sqlite: turns and states follow from the switches" {
	need_command python3
	make_db "$golden/6.12-events-sched.dat"
	weft export --to jsonl "$golden/6.12-events-sched.dat" > "$BATS_TEST_TMPDIR/jsonl" 2> /dev/null
	python3 - "$BATS_TEST_TMPDIR/jsonl" > "$BATS_TEST_TMPDIR/want" <<-'PY'
		import json, sys
		# A task runs from the first event on its CPU, and waits from its first waking. Where its switch is not
		# recorded it ran until its last event.
		on, off, turns, waits, known, last = {}, {}, {}, {}, set(), {}
		for line in open(sys.argv[1]):
		    event = json.loads(line)
		    fields = event.get('fields', {})
		    on.setdefault(event['cpu'], (event['pid'], event['ts']))
		    tid, since = on[event['cpu']]
		    if event['pid'] != tid:
		        turns[tid] = turns.get(tid, 0) + last[event['cpu']] - since
		        on[event['cpu']] = (event['pid'], event['ts'])
		        known.discard(tid)
		    known.add(event['pid'])
		    if event['event'] in ('sched_waking', 'sched_wakeup', 'sched_wakeup_new') and fields['pid'] not in known:
		        off[fields['pid']] = event['ts']
		        known.add(fields['pid'])
		    if event['event'] == 'sched_switch':
		        tid, since = on[event['cpu']]
		        assert tid == fields['prev_pid']
		        turns[tid] = turns.get(tid, 0) + event['ts'] - since
		        on[event['cpu']] = (fields['next_pid'], event['ts'])
		        if fields['next_pid'] in off:
		            waits[fields['next_pid']] = waits.get(fields['next_pid'], 0) + event['ts'] - off.pop(fields['next_pid'])
		        known.add(fields['next_pid'])
		        if fields['prev_pid']:
		            off[fields['prev_pid']] = event['ts']
		    last[event['cpu']] = event['ts']
		for tid in (tid for tid in sorted(turns) if turns[tid]):
		    print('turn', tid, turns[tid])
		for tid in sorted(waits):
		    if tid:
		        print('wait', tid, waits[tid])
	PY
	{
		sqlite3 -separator ' ' "$db" "SELECT 'turn', tid, sum(dur) FROM sched JOIN thread USING (utid) WHERE dur >= 0 GROUP BY tid ORDER BY tid"
		# A task that is off its CPU at the end has a state without an end. The time before its waking is not
		# counted there.
		sqlite3 -separator ' ' "$db" "SELECT 'wait', tid, sum(dur) FROM thread_state s JOIN thread USING (utid) WHERE state <> 'Running' AND dur >= 0
			AND EXISTS (SELECT 1 FROM thread_state r WHERE r.utid = s.utid AND r.state = 'Running' AND r.ts >= s.ts + s.dur) GROUP BY tid ORDER BY tid"
	} | diff "$BATS_TEST_TMPDIR/want" -
	[ -s "$BATS_TEST_TMPDIR/want" ]
}

# sums of weft sched: "TID RUN"
ran() # FILE
{
	weft sched --self --top 0 --format json "$1" 2> /dev/null | jq -r '.tasks[] | select(.run_ns > 0) | "\(.pid) \(.run_ns)"' | LC_ALL=C sort
}

@test "sqlite: the times that tasks ran are those of weft sched to the nanosecond, also where CPUs lost events" {
	need_command jq
	for file in "$golden"/6.12-events-sched.dat "$golden"/6.1-rt-events-sched.dat tests/fixtures/demo.dat $corpus/lost-6.12.dat; do
		make_db "$file"
		ran "$file" > "$BATS_TEST_TMPDIR/want"
		[ -s "$BATS_TEST_TMPDIR/want" ]
		sqlite3 -separator ' ' "$db" "SELECT tid, dur FROM thread_time WHERE tid > 0 AND dur > 0" | LC_ALL=C sort | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "sqlite: a turn ends with the state that the kernel prints" {
	for file in "$golden"/6.12-events-sched.dat "$golden"/6.1-rt-events-sched.dat; do
		make_db "$file"
		# The run of each CPU that began before the first event of its task has no row.
		weft report "$file" | sed -n 's/.*sched_switch: prev_comm=.* prev_pid=\([1-9][0-9]*\) .*prev_state=\([^ ]*\) ==>.*/\1 \2/p' | LC_ALL=C sort | uniq > "$BATS_TEST_TMPDIR/want"
		sqlite3 -separator ' ' "$db" "SELECT DISTINCT tid, end_state FROM sched JOIN thread USING (utid) WHERE tid > 0 AND end_state IS NOT NULL" |
			LC_ALL=C sort > "$BATS_TEST_TMPDIR/got"
		[ -s "$BATS_TEST_TMPDIR/got" ]
		[ -z "$(LC_ALL=C comm -13 "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got")" ]
	done
}

@test "sqlite: merged files are told apart, each with the sums that it has alone" {
	one=$golden/6.12-events-sched.dat two=$golden/6.12-events-syscalls.dat merged=$BATS_TEST_TMPDIR/merged.dat
	weft merge -q -o "$merged" "$one" "$two" 2> /dev/null
	for file in "$one" "$two"; do
		make_db "$file"
		sqlite3 "$db" "SELECT count(*), total(dur) FROM sched WHERE dur >= 0; SELECT count(*), total(dur) FROM thread_state WHERE dur >= 0;
			SELECT count(*), total(dur) FROM slice; SELECT count(*) FROM ftrace_event; SELECT count(*) FROM thread" > "$BATS_TEST_TMPDIR/$(basename "$file").want"
	done
	make_db "$merged"
	names=$(sqlite3 "$db" "SELECT DISTINCT instance FROM ftrace_event ORDER BY 1")
	[ "$(wc -l <<< "$names")" = 2 ]
	for file in "$one" "$two"; do
		name=$(grep -F "$(basename "$file" .dat)" <<< "$names")
		sqlite3 "$db" "SELECT count(*), total(dur) FROM sched WHERE dur >= 0 AND instance = '$name';
			SELECT count(*), total(dur) FROM thread_state WHERE dur >= 0 AND instance = '$name'; SELECT count(*), total(dur) FROM slice WHERE instance = '$name';
			SELECT count(*) FROM ftrace_event WHERE instance = '$name'; SELECT count(*) FROM thread WHERE instance = '$name'" |
			diff "$BATS_TEST_TMPDIR/$(basename "$file").want" -
	done
	[ "$(sqlite3 "$db" "SELECT count(DISTINCT instance) FROM event_table")" = 2 ]
}

@test "sqlite: each system call that returns is a slice" {
	make_db tests/fixtures/demo.dat
	# The calls of each task, without the one that was open when the recording began.
	returned=$(weft report tests/fixtures/demo.dat | grep -c 'sys_.* -> ')
	slices=$(sqlite3 "$db" "SELECT count(*) FROM slice WHERE category = 'syscall'")
	[ "$slices" -le "$returned" ]
	[ "$slices" -ge $((returned - 2)) ]
	[ "$(sqlite3 "$db" "SELECT count(*) FROM slice WHERE name = 'openat'")" = "$(weft report tests/fixtures/demo.dat | grep -c 'sys_openat -> ')" ]
}

@test "sqlite: calls of the function graph have the durations that the kernel printed" {
	make_db "$golden/6.12-function_graph.dat"
	sed -n 's/^ *[0-9]*) *[^0-9]* *\([0-9]*\)\.\([0-9]*\) us *| *\([a-zA-Z0-9_.]*\)();.*/\3 \1\2/p' "$golden/6.12-function_graph.txt" |
		sed 's/ 0*\([0-9]\)/ \1/' | LC_ALL=C sort | uniq -c > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	while read -r count name ns; do
		[ "$(sqlite3 "$db" "SELECT count(*) FROM slice WHERE name = '$name' AND dur = $ns")" -ge "$count" ]
	done < "$BATS_TEST_TMPDIR/want"
}

@test "sqlite: losses are rows" {
	make_db $corpus/lost-6.12.dat
	[ "$(sqlite3 "$db" 'SELECT cpu, count FROM lost ORDER BY ts')" = "$(printf '1|230\n0|')" ]
}

@test "sqlite: a database is whole whatever the file holds" {
	for file in "$corpus"/*.dat "$SHARED"/hostile/*.dat "$SHARED"/samples/v6-long32-8cpu.dat; do
		[ -e "$file" ] || continue
		rm -f "$db"
		weft export --to sqlite --limit 20000 -q -o "$db" "$file" 2> /dev/null || [ -e "$db" ] || continue
		[ "$(sqlite3 "$db" 'PRAGMA integrity_check')" = ok ]
		sqlite3 "$db" 'SELECT count(*) FROM ftrace_event' > /dev/null
	done
}

@test "sqlite: standard output and devices are refused" {
	run -2 weft export --to sqlite "$golden/6.12-events-sched.dat"
	[[ $output == *"needs a regular file: name one with -o FILE"* ]]
	run -1 weft export --to sqlite -o /dev/null "$golden/6.12-events-sched.dat"
	[[ $output == *"needs a regular file: name one with -o FILE"* ]]
}

@test "sqlite: what the longest calls and wakeups waited for adds up, and is that of weft why" {
	need_command jq
	file=$BATS_TEST_DIRNAME/../fixtures/session/why.dat
	make_db "$file"
	run -0 sqlite3 "$db" 'SELECT count(*), sum(dur = (SELECT sum(dur) FROM why_link WHERE why_id = id)) FROM why'
	[ "$output" = '20|20' ]
	weft why --slowest 10 --format json "$file" | jq -r '.intervals | sort_by(-.lasted_ns)[] | [.what, .pid, .lasted_ns] | join("|")' > "$BATS_TEST_TMPDIR/want"
	sqlite3 "$db" "SELECT why.name, tid, dur FROM why JOIN thread USING (utid) WHERE kind = 'call' ORDER BY dur DESC" | diff "$BATS_TEST_TMPDIR/want" -
	weft why --format json "$file" | jq -r '[.parts[] | select(.state == "slept").time_ns] | add' > "$BATS_TEST_TMPDIR/want"
	sqlite3 "$db" "SELECT sum(l.dur) FROM why_link AS l JOIN why ON why_id = id WHERE why.name = 'openat' AND why.dur > 300000000
		AND state = 'slept' AND chain LIKE 'deploy-% < confd-% < sleep-%'" | diff "$BATS_TEST_TMPDIR/want" -
	# Without the events there are no rows.
	make_db "$golden/6.12-function.dat"
	[ "$(sqlite3 "$db" 'SELECT (SELECT count(*) FROM why) + (SELECT count(*) FROM why_link)')" = 0 ]
}
