#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft export --to perfetto, as protoc decodes it; export/perfetto.proto names the fields.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
corpus=tests/corpora/report/accept

setup()
{
	need_command protoc
	need_command python3
	need_command jq
}

# decode FILE OPTION...: prints the export of the file as text
decode()
{
	weft export --to perfetto "$@" 2> /dev/null | protoc -Itests/cases/export --decode=weft.Trace tests/cases/export/perfetto.proto \
		> "$BATS_TEST_TMPDIR/decoded"
}

ask()
{
	python3 tests/cases/export/perfetto.py "$1" "$BATS_TEST_TMPDIR/decoded"
}

@test "perfetto: there are as many events of each type as report prints" {
	for file in "$golden"/*events*.dat "$golden"/*-function.dat "$golden"/*stacktrace.dat tests/fixtures/demo.dat $corpus/lost-6.12.dat; do
		weft report --format json "$file" | jq -r 'select(has("event")) | .event' | sed -E 's/^(sys_(enter|exit))_.*/\1/' | LC_ALL=C sort | uniq -c |
			awk '{ print $2, $1 }' | sed 's/^bprint\|^bputs/print/' > "$BATS_TEST_TMPDIR/want"
		decode "$file"
		ask counts | LC_ALL=C sort | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "perfetto: a sched_switch has the fields that report prints" {
	decode "$golden/6.12-events-sched.dat"
	weft report "$golden/6.12-events-sched.dat" | sed -n 's/.*sched_switch: \(.*\) prev_state=[^ ]* ==> \(.*\)/\1 ==> \2/p' > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	ask switches | diff "$BATS_TEST_TMPDIR/want" -
}

@test "perfetto: a sched_waking has the flags that tell an interrupt from the task that it hit" {
	decode "$golden/6.12-events-sched.dat"
	ask wakings | sed 's/ *$//' > "$BATS_TEST_TMPDIR/got"
	# The importer drops what comes before the first switch of a CPU, so that is written in the other form.
	weft report -t "$golden/6.12-events-sched.dat" | awk '
		/sched_switch:/ { switched[$2] = 1 }
		/sched_waking:/ && switched[$2] {
			flags = substr($3, 3, 1)
			sub(/.*sched_waking: /, "sched_waking: ")
			print $0, flags ~ /[hHzZ]/ ? "h" : "", flags ~ /[sH]/ ? "s" : ""
		}' | sed 's/^sched_waking: //; s/ *$//' > "$BATS_TEST_TMPDIR/want"
	grep -q ' s$' "$BATS_TEST_TMPDIR/want"
	sed -E 's/^[0-9]+ [0-9]+ //; s/ +/ /g' "$BATS_TEST_TMPDIR/got" | diff <(sed -E 's/ +/ /g' "$BATS_TEST_TMPDIR/want") -
}

@test "perfetto: a system call has its number, arguments and result" {
	decode "$golden/6.12-events-syscalls.dat"
	# Calls whose other end is not in the file are events that make no slice.
	weft report --format json "$golden/6.12-events-syscalls.dat" | python3 -c 'import json, sys
events = [json.loads(line) for line in sys.stdin]
entered, paired = {}, set()
for i, event in enumerate(events):
    if event["event"].startswith("sys_enter"):
        entered[event["pid"]] = i
    elif event["event"].startswith("sys_exit") and entered.get(event["pid"]) is not None:
        paired |= {i, entered.pop(event["pid"])}
for i, event in enumerate(events):
    if i not in paired and entered.get(event["pid"]) != i:
        continue
    if event["event"].startswith("sys_exit"):
        print("sys_exit", event["fields"]["__syscall_nr"], event["fields"]["ret"])
    else:
        print("sys_enter", *[value for value in event["fields"].values()])' > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	ask calls | diff "$BATS_TEST_TMPDIR/want" -
	grep -q 'machine: "x86_64"' "$BATS_TEST_TMPDIR/decoded"
}

@test "perfetto: calls of the function graph nest, and each that ends in the file is there" {
	for name in 6.12-function_graph 6.1-rt-function_graph; do
		decode "$golden/$name.dat"
		ended=$(weft report --format json "$golden/$name.dat" | jq -r .event | grep -c funcgraph_exit)
		began=$(weft report --format json "$golden/$name.dat" | jq -r .event | grep -c 'funcgraph_entry\|fgraph_retaddr_entry')
		calls=$(ask nesting)
		[ "$calls" -ge "$ended" ]
		[ "$calls" = "$began" ]
	done
}

@test "perfetto: a loss is an instant, and marks the bundle behind it" {
	decode $corpus/lost-6.12.dat
	ask lost > "$BATS_TEST_TMPDIR/got"
	grep -qx 'lost events, CPU 1: lost 230 events' "$BATS_TEST_TMPDIR/got"
	grep -qx '2 bundles' "$BATS_TEST_TMPDIR/got"
}

@test "perfetto: tasks have the names of the recording" {
	decode tests/fixtures/demo.dat
	ask names | awk '{ print $1, $2 }' > "$BATS_TEST_TMPDIR/got"
	[ -s "$BATS_TEST_TMPDIR/got" ]
	while read -r pid name; do
		weft report tests/fixtures/demo.dat | grep -q "^ *$name-$pid "
	done < "$BATS_TEST_TMPDIR/got"
}

@test "perfetto: protoc decodes what is made of hostile and foreign files" {
	for file in "$corpus"/*.dat "$SHARED"/hostile/*.dat "$SHARED"/samples/v6-long32-8cpu.dat; do
		[ -e "$file" ] || continue
		decode --limit 20000 "$file"
	done
}

# two_cpus: a text of two CPUs, 4000 switches each; CPU 1 is four times as busy, so its bundles are full sooner.
two_cpus()
{
	awk 'BEGIN {
		for (cpu = 0; cpu < 2; cpu++)
			for (i = 0; i < 4000; i++) {
				at = 1000000 + cpu + i * (cpu ? 100 : 400)
				from = 100 + cpu * 10 + i % 2
				to = 100 + cpu * 10 + (i + 1) % 2
				printf "%16s-%-7d [%03d] d..2. %5d.%06d: sched_switch: prev_comm=t%d prev_pid=%d prev_prio=120 prev_state=S ==> next_comm=t%d next_pid=%d next_prio=120\n", "t" from, from, cpu, at / 1000000, at % 1000000, from, from, to, to
			}
	}' | sort -s -t : -k 1.30,1.50
}

# rules FILE OPTION...: exports the file, and fails if the importer of Perfetto would refuse a part of it.
rules()
{
	weft export --to perfetto -o - "$@" 2> /dev/null | python3 tests/cases/export/perfetto_rules.py -
}

@test "perfetto: events of several CPUs arrive, whichever bundle is full first" {
	two_cpus | weft import -o "$BATS_TEST_TMPDIR/two.dat" - 2> /dev/null
	[ "$(rules "$BATS_TEST_TMPDIR/two.dat")" = "- events=8000 switches=8000" ]
}

@test "perfetto: the file has one pair of clocks, with the clock of the trace where the importer has a number for it" {
	need_shared captures/unpack
	for pair in local: mono:3 mono_raw:5 perf:10 boot: uptime: tai: x86-tsc: counter: global:; do
		file=$(ls -d "$BUILD"/captures/6.12/clock-"${pair%:*}"/trace.dat 2> /dev/null) || continue
		decode "$file"
		[ "$(grep -c clock_snapshot "$BATS_TEST_TMPDIR/decoded")" = 1 ]
		[ "$(sed -n 's/.*clock_id: //p' "$BATS_TEST_TMPDIR/decoded" | grep -vx '[16]' | paste -sd' ')" = "${pair#*:}" ]
		rules "$file"
	done
}

@test "perfetto: calls of a task that comes to a CPU with a gap end before what it does there" {
	{
		echo '# tracer: function_graph'
		echo '#'
		echo '#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS'
		echo '#      |          |     |    |           |   |                     |   |   |   |'
		echo '    1.000100 |   1)     task-7      |               |  do_sys_openat2() {'
		echo '    1.000200 |   0)     other-8     |               |  vfs_write() {'
		echo '    1.000250 |   0)     other-8     | + 50.000 us   |  }'
		echo 'CPU:0 [LOST 3 EVENTS]'
		echo '    1.000300 |   0)     task-7      |               |  vfs_read() {'
		echo '    1.000400 |   0)     task-7      | ! 100.000 us  |  }'
	} | weft import -o "$BATS_TEST_TMPDIR/moved.dat" - 2> /dev/null
	[ "$(rules "$BATS_TEST_TMPDIR/moved.dat")" = "- events=6 functions=3" ]
}

@test "perfetto: the importer takes what is made of every recording of the tests" {
	for file in "$golden"/*.dat tests/fixtures/demo.dat $corpus/*.dat "$SHARED"/samples/*.dat; do
		[ -e "$file" ] || continue
		echo "$file"
		rules "$file"
	done
}

@test "perfetto: the importer takes what is made of a tenth of the captures" {
	need_shared captures/unpack
	local i=0
	for file in "$BUILD"/captures*/*/*/trace.dat; do
		i=$((i + 1))
		one_in $i 10 || continue
		echo "$file"
		rules --limit 20000 "$file"
	done
	[ $i -gt 10 ]
}

@test "perfetto: texts of atrace stay texts of atrace, others are instants with their text" {
	at() { printf '            bash-7       [000] .....     1.%06d: tracing_mark_write: %s\n' "$@"; }
	{
		at 1 'hello | you'
		at 2 'Everything'
		at 3 'B|7|draw'
		at 4 'C|7|queue|-3'
		at 5 'C|7|queue'
		at 6 'E'
	} | weft import -o "$BATS_TEST_TMPDIR/texts.dat" - 2> /dev/null
	decode "$BATS_TEST_TMPDIR/texts.dat"
	ask texts > "$BATS_TEST_TMPDIR/got"
	diff - "$BATS_TEST_TMPDIR/got" <<- 'END'
		instant "hello | you" 73
		instant "Everything" 73
		atrace "B|7|draw\n"
		atrace "C|7|queue|-3\n"
		instant "C|7|queue" 73
		atrace "E\n"
	END
	rules "$BATS_TEST_TMPDIR/texts.dat"
}

@test "perfetto: the time after a switch that was not recorded is a slice that says so, and a note" {
	at() { printf '%16s-%-7d [000] d....     %s: sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=S ==> next_comm=%s next_pid=%d next_prio=120\n' "$3" "$2" "$1" "$3" "$2" "$5" "$4"; }
	{
		at 1.000001 7 bash 8 aaa
		at 1.500001 9 bbb 7 bash
		at 1.600001 7 bash 8 aaa
	} | weft import -o "$BATS_TEST_TMPDIR/cut.dat" - 2> /dev/null
	decode "$BATS_TEST_TMPDIR/cut.dat"
	[ "$(grep -c 'name: "not recorded who ran"' "$BATS_TEST_TMPDIR/decoded")" = 1 ]
	grep -q "timestamp: 1000001000" "$BATS_TEST_TMPDIR/decoded"
	rules "$BATS_TEST_TMPDIR/cut.dat"
	weft export --to perfetto -o "$BATS_TEST_TMPDIR/cut.pf" "$BATS_TEST_TMPDIR/cut.dat" 2>&1 | grep -q 'shows 0.500 s as running although no switch proves it'
}

@test "perfetto: recordings of a merged file, and instances that recorded the same, are machines of their own" {
	weft merge -o "$BATS_TEST_TMPDIR/both.dat" "$golden/6.12-events-sched.dat" "$golden/6.1-rt-events-sched.dat" 2> /dev/null
	decode "$BATS_TEST_TMPDIR/both.dat"
	want="0:$(weft report "$golden/6.12-events-sched.dat" | grep -c ': sched_switch:') 1:$(weft report "$golden/6.1-rt-events-sched.dat" | grep -c ': sched_switch:')"
	[ "$(ask machines)" = "$want" ]
	rules "$BATS_TEST_TMPDIR/both.dat"
}

@test "perfetto: with tracing_thresh, each call of which only the end is recorded is a slice, as in weft graph" {
	need_shared captures/unpack
	for file in "$BUILD"/captures*/*/function_graph-thresh/trace.dat; do
		[ -e "$file" ] || continue
		calls=$(weft report --format json "$file" | jq -r .event | grep -c funcgraph_exit)
		[ "$calls" -gt 300 ]
		decode "$file"
		[ "$(ask nesting)" = "$calls" ]
		# The rows of CPUs, which are no functions, show who ran.
		[ "$(weft export --to chrome -o - "$file" 2> /dev/null | jq '[.traceEvents[] | select(.ph == "X" and (.pid != 0 or .tid >= 200000))] | length')" = "$calls" ]
	done
}

@test "perfetto: system calls have names on machines that the importer does not know" {
	need_shared captures/unpack-more
	for machine in s390x-6.1 ppc64el-64k-7.2; do
		file=$BUILD/captures-more/$machine/events-syscalls/trace.dat
		[ -e "$file" ] || continue
		decode "$file"
		weft syscalls --format json "$file" 2> /dev/null | jq -r '.syscalls[] | "sys_\(.syscall) \(.calls)"' | LC_ALL=C sort > "$BATS_TEST_TMPDIR/want"
		[ -s "$BATS_TEST_TMPDIR/want" ]
		ask task_slices | LC_ALL=C sort | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "perfetto: a call that raw_syscalls and syscalls tell both is one slice" {
	need_tracefs
	weft record -q -o "$BATS_TEST_TMPDIR/twice.dat" -e raw_syscalls -e syscalls -- ls /etc > /dev/null
	decode "$BATS_TEST_TMPDIR/twice.dat"
	# The pairs of raw_syscalls alone: tasks of other programs may have begun a call before the recording.
	pairs=$(weft report --format json "$BATS_TEST_TMPDIR/twice.dat" | python3 -c 'import json, sys
open_calls, pairs = set(), 0
for line in sys.stdin:
    event = json.loads(line)
    if event.get("event") == "sys_enter":
        open_calls.add(event["pid"])
    elif event.get("event") == "sys_exit":
        pairs += event["pid"] in open_calls
        open_calls.discard(event["pid"])
print(pairs)')
	[ "$pairs" -gt 50 ]
	[ $(($(ask calls | grep -c '^sys_exit') + $(ask task_slices | awk '{ n += $2 } END { print n + 0 }'))) = "$pairs" ]
	rules "$BATS_TEST_TMPDIR/twice.dat"
}

@test "perfetto: a terminal gets none of it" {
	need_command script
	run -1 script -qec "$WEFT export --to perfetto $golden/6.12-events-sched.dat" /dev/null
	[[ $output == *"cannot be shown on a terminal"* ]]
}

@test "perfetto: what the longest calls and wakeups waited for are tracks, with the time of each part" {
	file=$BATS_TEST_DIRNAME/../fixtures/session/why.dat
	weft export --to perfetto "$file" 2> /dev/null | python3 tests/cases/export/perfetto_rules.py -
	decode "$file"
	ask paths > "$BATS_TEST_TMPDIR/paths"
	# The sums are those of weft why, without the tasks.
	weft why --format json "$file" | jq -r '.parts[] | select(.state == "slept" or .state == "ran") | [.comm, .state, .time_ns] | @tsv' |
		sort > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	awk -F'\t' -v OFS='\t' '$1 ~ /^why: openat of deploy-/ { split($3, state, " "); sub(/-[0-9]+$/, "", $2); ns[$2 OFS state[1]] += $4 }
		END { for (key in ns) if (key ~ /slept$|ran$/) print key, ns[key] }' "$BATS_TEST_TMPDIR/paths" | sort | diff "$BATS_TEST_TMPDIR/want" -
	[ "$(grep -c 'name: "why: ' "$BATS_TEST_TMPDIR/decoded")" = 6 ]
	grep -q 'flow_ids' "$BATS_TEST_TMPDIR/decoded"
}

@test "perfetto: a process has whom it belonged to as labels" {
	file=$BATS_TEST_DIRNAME/../fixtures/quota.dat
	decode "$file"
	grep -A 4 '^    process {' "$BATS_TEST_TMPDIR/decoded" | awk '/ pid:/ { pid = $2 } /process_labels: "unit / { sub(/"$/, ""); print pid, $3 }' |
		LC_ALL=C sort > "$BATS_TEST_TMPDIR/got"
	weft sql --format csv "$file" "SELECT DISTINCT tgid, unit FROM who WHERE unit != ''" 2> /dev/null | sed 1d | tr ',' ' ' | LC_ALL=C sort > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
	[ "$(grep -c 'process_labels: "cgroup /t.slice/a.service"' "$BATS_TEST_TMPDIR/decoded")" -eq "$(wc -l < "$BATS_TEST_TMPDIR/want")" ]
}

# The lists of tasks are those of /proc, and the names of the events have the PID of the first thread here.
@test "perfetto: a process has the one that started it" {
	file=$BATS_TEST_DIRNAME/../fixtures/quota.dat
	decode "$file"
	grep -A 2 'processes {' "$BATS_TEST_TMPDIR/decoded" | awk '/ pid:/ { pid = $2 } / ppid:/ { print pid, $2 }' | LC_ALL=C sort > "$BATS_TEST_TMPDIR/got"
	{
		weft info --setting weft/tasks "$file" | awk '$1 == $2 { print $1, $3 }'
		weft report -e task_newtask "$file" | sed -n 's/^ *[^ ]*-\([0-9]*\) .* task_newtask: pid=\([0-9]*\) .*/\2 \1/p'
		weft info --setting weft/tasks_end "$file" | awk '$1 == $2 { print $1, $3 }'
	} 2> /dev/null | awk '{ of[$1] = $2 } END { for (pid in of) print pid, of[pid] }' | LC_ALL=C sort > "$BATS_TEST_TMPDIR/want"
	[ "$(grep -c 'processes {' "$BATS_TEST_TMPDIR/decoded")" = "$(wc -l < "$BATS_TEST_TMPDIR/got")" ]
	[ "$(wc -l < "$BATS_TEST_TMPDIR/got")" -gt 10 ]
	[ -z "$(LC_ALL=C comm -23 "$BATS_TEST_TMPDIR/got" "$BATS_TEST_TMPDIR/want")" ]
}
