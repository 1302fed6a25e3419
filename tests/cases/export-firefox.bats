#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft export --to firefox: export/firefox.py checks what the profiler requires of a profile. If npm has the profiler's
# own command, it reads a profile, too.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden

setup()
{
	need_command python3
}

# profile FILE OPTION...: exports the profile to $json
profile()
{
	json=$BATS_TEST_TMPDIR/profile.json
	weft export --to firefox -q -o "$json" "$@" 2> /dev/null
}

ask()
{
	python3 tests/cases/export/firefox.py "$1" "$json"
}

# profiler_cli WORD ARGUMENT...: writes the answer of the profiler's command about the profile to the file answer, which
# must contain the word
profiler_cli()
{
	local word=$1
	shift
	need_npm @firefox-devtools/profiler-cli 0.10.0
	(
		cd "$BATS_TEST_TMPDIR" || exit
		export HOME=$BATS_TEST_TMPDIR PATH=$NODE_PATH/.bin:$PATH
		timeout 60 profiler-cli load profile.json > load.txt 2>&1 || true
		# The profiler may take longer to start than its own command waits.
		for _ in $(seq 60); do
			timeout 30 profiler-cli "$@" > answer 2>&1 && break
			sleep 1
		done
		timeout 30 profiler-cli stop > /dev/null 2>&1 || true
	)
	grep -q "$word" "$BATS_TEST_TMPDIR/answer" || skip "profiler-cli does not start here: $(head -c 200 "$BATS_TEST_TMPDIR/answer")"
}

@test "firefox: stacks and their weights are those of folded" {
	for run in 6.12-function_graph:self-time 6.1-rt-function_graph:self-time 6.12-event-stacktrace:count 6.1-rt-event-stacktrace:count; do
		file=$golden/${run%:*}.dat
		profile --weight "${run#*:}" "$file"
		# In folded, the lowest frame is the name of a task; in the profile, its name and PID.
		weft export --to folded --weight "${run#*:}" "$file" 2> /dev/null | python3 -c 'import collections, sys
weights = collections.Counter()
for line in sys.stdin:
    stack, weight = line.rstrip("\n").rsplit(" ", 1)
    weights[stack.partition(";")[2]] += int(weight)
for stack, weight in sorted(weights.items()):
    print(stack, weight)' > "$BATS_TEST_TMPDIR/want"
		[ -s "$BATS_TEST_TMPDIR/want" ]
		ask stacks | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "firefox: each event that is no part of a pair is a marker" {
	need_command jq
	for name in 6.12-events-irq-timer 6.12-synth-hist 6.1-rt-events-sched; do
		profile "$golden/$name.dat"
		weft export --to jsonl "$golden/$name.dat" 2> /dev/null | jq -r 'select(.system != "irq" or (.event | test("_(entry|exit)$") | not)) | .event' |
			grep -v '^sched_switch$\|^kernel_stack$' | LC_ALL=C sort | uniq -c | awk '{ print $2, $1 }' > "$BATS_TEST_TMPDIR/want"
		[ -s "$BATS_TEST_TMPDIR/want" ]
		ask markers > "$BATS_TEST_TMPDIR/got"
		grep -Fx -f "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got" | LC_ALL=C sort | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "firefox: a system call is a marker from its entry to its exit" {
	profile "$golden/6.12-events-syscalls.dat"
	# The kernel's text of an exit is "sys_NAME -> 0x0". A task's first call may have begun before the file.
	exits=$(grep -c 'sys_openat -> ' "$golden/6.12-events-syscalls.txt")
	[ "$exits" -gt 0 ]
	ask markers | grep -qx "openat $exits"
}

@test "firefox: off-cpu is what weft sched counts, task by task, blocked and runnable apart" {
	need_command jq
	for file in "$golden"/6.12-events-sched.dat "$golden"/6.1-rt-events-sched.dat tests/fixtures/demo.dat tests/corpora/report/accept/lost-6.12.dat; do
		profile --weight off-cpu "$file"
		weft sched --format json "$file" 2> /dev/null | jq -r '.tasks | group_by(.pid)[] |
			[.[0].pid, (map(.sleep_ns + .blocked_ns) | add), (map(.wait_ns) | add)] | select(.[1] + .[2] > 0) | map(tostring) | join(" ")' |
			sort -n > "$BATS_TEST_TMPDIR/want"
		ask off | diff "$BATS_TEST_TMPDIR/want" -
	done
	[ -s "$BATS_TEST_TMPDIR/want" ] || profile --weight off-cpu "$golden/6.12-events-sched.dat"
	[ "$(ask sum)" -gt 0 ]
	# The stacks that were recorded with switches are below it.
	for name in 6.12-event-stacktrace 6.1-rt-event-stacktrace 6.12-function_graph-event-stack; do
		profile --weight off-cpu "$golden/$name.dat"
		ask stacks > "$BATS_TEST_TMPDIR/got"
		# In folded, each time off the CPU has ended. In the profile, as in weft sched, it continues to the end
		# of the file.
		weft export --to folded --weight off-cpu "$golden/$name.dat" 2> /dev/null | sed 's/^[^;]*;//' > "$BATS_TEST_TMPDIR/want"
		[ -s "$BATS_TEST_TMPDIR/want" ]
		awk 'NR == FNR { got[$1] = $2; next } { want[$1] += $2 } END { for (stack in want) if (got[stack] < want[stack]) exit 1 }' \
			"$BATS_TEST_TMPDIR/got" "$BATS_TEST_TMPDIR/want"
	done
	run -2 --separate-stderr weft export --to firefox --weight cycles -o "$json" "$golden/6.12-events-sched.dat"
	[[ $stderr == *"firefox has self-time, on-cpu, off-cpu and count"* ]]
}

@test "firefox: frequencies and memory are counters, and the profiler's command lists them" {
	printf '          <idle>-0       [001] d..2.     %s: cpu_frequency: state=%s cpu_id=%s\n' 2.000001 2400000 0 2.000002 1200000 1 2.000003 800000 0 2.000004 4294967295 0 \
		> "$BATS_TEST_TMPDIR/text"
	weft import -q -o "$BATS_TEST_TMPDIR/frequency.dat" "$BATS_TEST_TMPDIR/text" 2> /dev/null
	profile "$BATS_TEST_TMPDIR/frequency.dat"
	diff <(ask counters) <(printf '%s\n' 'CPU 0 frequency (kHz) 2400000 800000 4294967295' 'CPU 1 frequency (kHz) 1200000')
	file=${BUILD:-build}/captures/6.1-rt/events-kmem
	if [ -e "$file/trace.dat" ]; then
		profile "$file/trace.dat"
		# In the kernel's own text, each address space and kind has its values in this order.
		awk '/ rss_stat: / { split($0, at, /mm_id=| curr=| type=MM_| size=|B$/); values[at[2] " " at[4]] = values[at[2] " " at[4]] " " at[5] }
			END { for (of in values) print of values[of] }' "$file/trace.txt" |
			sed 's/ FILEPAGES/ file pages/; s/ ANONPAGES/ anonymous pages/; s/ SWAPENTS/ swap entries/; s/ SHMEMPAGES/ shared memory/; s/^/mm /' |
			LC_ALL=C sort > "$BATS_TEST_TMPDIR/want"
		[ -s "$BATS_TEST_TMPDIR/want" ]
		ask counters | LC_ALL=C sort | diff "$BATS_TEST_TMPDIR/want" -
		profile "$BATS_TEST_TMPDIR/frequency.dat"
	fi
	profiler_cli Counters counter list
	grep -q "CPU 0 frequency (kHz).*\[3 samples\]" "$BATS_TEST_TMPDIR/answer"
	grep -q "CPU 1 frequency (kHz).*\[1 samples\]" "$BATS_TEST_TMPDIR/answer"
}

@test "firefox: a loss is a marker" {
	profile tests/corpora/report/accept/lost-6.12.dat
	ask markers | grep -qx 'lost events 2'
}

@test "firefox: markers that --max-size leaves out are spread over the whole time" {
	need_command python3
	awk 'BEGIN { for (i = 0; i < 4000; i++) printf "            bash-7       [000] .....  %5d.%06d: tracing_mark_write: n%d\n", 100 + i / 100, i % 100 * 10000, i }' |
		weft import -o "$BATS_TEST_TMPDIR/even.dat" - 2> /dev/null
	run -0 --separate-stderr weft export --to firefox --max-size 64K -q -o "$BATS_TEST_TMPDIR/profile.json" "$BATS_TEST_TMPDIR/even.dat"
	[[ $stderr == *"markers are left out, evenly over the time"* ]]
	# Each tenth of the 40 s has a tenth of the markers that are kept, give or take one in four.
	python3 - "$BATS_TEST_TMPDIR/profile.json" <<- 'PY'
	import json, sys
	times = [t for thread in json.load(open(sys.argv[1]))["threads"] for t in thread["markers"]["startTime"] if t is not None]
	first, tenths = min(times), [0] * 10
	for time in times:
	    tenths[min(int((time - first) / 4000), 9)] += 1
	assert len(times) > 100, len(times)
	assert all(abs(n - len(times) / 10) <= len(times) / 40 for n in tenths), tenths
	PY
}

@test "firefox: values of counters that --max-size leaves out are spread over the whole time" {
	need_command python3
	awk 'BEGIN { for (i = 0; i < 8000; i++) printf "          <idle>-0       [000] .....  %5d.%06d: cpu_frequency: state=%d cpu_id=%d\n", 100 + i / 200, i % 200 * 5000, 1000 + i, i % 2 }' |
		weft import -o "$BATS_TEST_TMPDIR/even.dat" - 2> /dev/null
	run -0 --separate-stderr weft export --to firefox --max-size 64K -q -o "$BATS_TEST_TMPDIR/profile.json" "$BATS_TEST_TMPDIR/even.dat"
	[[ $stderr == *"7000 values of counters are left out, evenly over the time (one of 8 is kept)"* ]]
	python3 - "$BATS_TEST_TMPDIR/profile.json" <<- 'PY'
	import json, sys
	counters = json.load(open(sys.argv[1]))["counters"]
	assert len(counters) == 2, len(counters)
	for counter in counters:
	    times, value, values = counter["samples"]["time"], 0, []
	    for change in counter["samples"]["count"]:
	        value += change
	        values.append(value)
	    assert len(times) == 500, len(times)
	    # Eight values of one CPU are 80 ms, and each adds 2.
	    assert all(abs(b - a - 80) < 0.001 for a, b in zip(times, times[1:])), times[:5]
	    assert all(b - a == 16 for a, b in zip(values, values[1:])), values[:5]
	PY
}

@test "firefox: --max-size leaves out markers, and says so" {
	run -0 --separate-stderr weft export --to firefox --max-size 4K -q -o "$BATS_TEST_TMPDIR/profile.json" "$golden/6.12-events-irq-timer.dat"
	[[ $stderr == *"markers are left out"* ]]
	json=$BATS_TEST_TMPDIR/profile.json
	ask markers > /dev/null
	[ "$(stat -c %s "$json")" -lt 16384 ]
}

@test "firefox: its profile of hostile and foreign files is one" {
	for file in tests/corpora/report/accept/*.dat "$SHARED"/hostile/*.dat "$SHARED"/samples/v6-long32-8cpu.dat; do
		[ -e "$file" ] || continue
		profile --limit 20000 "$file" || [ -s "$json" ] || continue
		ask sum > /dev/null
	done
}

@test "firefox: profiler-cli of npm reads it" {
	profile "$golden/6.12-function_graph.dat"
	profiler_cli "This profile contains" profile info
	grep -q "This profile contains $(jq '.threads | length' "$json") threads" "$BATS_TEST_TMPDIR/answer"
}
