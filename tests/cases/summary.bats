#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft summary: one page with the figures of the commands that show more, and of the kernel's own text.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden

setup()
{
	out=$BATS_TEST_TMPDIR/out
}

@test "summary: counts events by their names as the kernel's text has them" {
	need_command jq
	weft summary "$golden/6.12-events-sched.dat" --format json > "$out"
	jq -r '.events[] | "\(.event | sub(".*:"; "")) \(.count)"' "$out" | sort |
		diff <(grep -v '^#' "$golden/6.12-events-sched.txt" | sed -E 's/^.*[0-9]: ([a-z_0-9]+): .*/\1/' | sort | uniq -c | awk '{ print $2, $1 }' | sort) -
	jq -e --argjson all "$(grep -vc '^#' "$golden/6.12-events-sched.txt")" '[.events[].count] | add == $all' "$out"
	diff <(jq -c .tasks "$out") <(weft sched "$golden/6.12-events-sched.dat" --format json | jq -c .tasks)
}

@test "summary: has what the file has the events for, and says how to record the rest" {
	weft summary "$golden/6.12-events-sched.dat" > "$out"
	[ "$(wc -l < "$out")" -le 60 ]
	grep -q '^# tasks: .* (more: weft sched)$' "$out"
	grep -q '^# weft syscalls: there are no system calls among the events; record with -e raw_syscalls$' "$out"
	weft summary "$golden/6.12-events-syscalls.dat" > "$out"
	grep -q '^# system calls (more: weft syscalls)$' "$out"
	grep -q '^# weft sched: there is no sched_switch ' "$out"
	# A file with neither gets the facts of the recording and its events.
	weft summary "$golden/6.12-function.dat" > "$out"
	grep -q '^ftrace:function ' "$out"
	run -1 weft summary "$golden/6.12-function.txt"
}

@test "summary: has the hottest functions and the share of interrupts, as graph and irq have them, each table under a key of its own" {
	need_command jq
	for name in 6.12-function_graph 6.12-events-sched; do
		weft summary "$golden/$name.dat" --format json > "$out"
		# jq would silently keep the last of two equal keys.
		[ "$(grep -oE '^(\{|)"[a-z_ ]+":\[' "$out" | sort | uniq -d | wc -l)" -eq 0 ]
	done
	weft summary "$golden/6.12-function_graph.dat" > "$out"
	grep -q '^# functions: .* (more: weft graph)$' "$out"
	# The first row is the function with the most time of its own; graph.bats compares that with the kernel's text.
	[ "$(sed -n '/^# functions: /{n;n;s/ .*//;p}' "$out")" = "$(weft graph "$golden/6.12-function_graph.dat" --table functions --format csv | sed -n 2p | cut -d, -f1)" ]
	weft summary "$golden/6.12-events-sched.dat" > "$out"
	run -1 grep 'weft graph: there are no functions' "$out"
}

@test "summary: the line of what is missing names the events that are not in the kernel's text, and says none only where all are there" {
	for name in 6.12-osnoise 6.12-events-sched 6.12-events-syscalls; do
		weft summary "$golden/$name.dat" > "$out"
		line=$(grep '^# wanted and not recorded: ' "$out")
		[[ "$line" == *"'weft record --for summary' records it all" ]]
		for event in sched:sched_switch raw_syscalls:sys_enter irq:irq_handler_entry; do
			# The text has "sys_openat(" for an entry.
			pattern=": ${event#*:}: "
			[ "$event" != raw_syscalls:sys_enter ] || pattern=': sys_[a-z0-9_]*('
			there=$(grep -c "$pattern" "$golden/$name.txt" || :)
			if [ "$there" -eq 0 ]; then [[ "$line" == *"-e $event"* ]]; else [[ "$line" != *"-e $event"* ]]; fi
		done
	done
}

@test "summary: ends with where the time of the longest call and of the longest wakeup went" {
	run -0 weft summary tests/fixtures/demo.dat
	sentence=$(weft why tests/fixtures/demo.dat | sed -n '1s/^# //p')
	[ -n "$sentence" ]
	grep -qF ": $sentence" <<< "$output"
	grep -qE '^# the longest wakeup, of [^ ]+, at [0-9.]+: [0-9]+ % of the ' <<< "$output"
}

@test "summary: of a recording that tells services, whose tasks waited longest for a CPU, and for whom" {
	run -0 weft summary tests/fixtures/quota.dat
	[[ "$output" == *"(more: weft latency --by unit)"* ]]
	[[ "$output" =~ UNIT\ +WAIT\ +QUOTA\ +MOST\ FOR\ +OF\ IT ]]
	[[ "$output" =~ a.service\ +32.42\ s\ +31.13\ s ]]
	run -0 weft summary tests/fixtures/demo.dat
	[[ "$output" != *"weft latency --by unit"* && "$output" != *"not recorded: quota"* ]]
}

@test "summary: shows what osnoise found, as the kernel's text has it" {
	need_command jq
	weft summary "$golden/6.12-osnoise.dat" > "$out"
	grep -qx '# the noisiest samples of osnoise, and what their noises were (more: weft latency)' "$out"
	# The kernel's text: "RUNTIME-US NOISE-US PERCENT MAX-NOISE-US ...".
	weft summary "$golden/6.12-osnoise.dat" --format json |
		jq -r '.osnoise[] | "\(.runtime_ns / 1000 | floor) \(.noise_ns / 1000 | floor) \(.largest_ns / 1000 | floor)"' | sort > "$out.got"
	awk '!/^#/ { sub(/.*[0-9]: /, ""); print $1, $2, $4 }' "$golden/6.12-osnoise.txt" | sort > "$out.want"
	[ -s "$out.want" ]
	diff "$out.want" "$out.got"
}

@test "summary: shows the longest section of a latency tracer" {
	mkdir "$BATS_TEST_TMPDIR/dir"
	weft pack -q -o "$BATS_TEST_TMPDIR/r.dat" --latency "$BATS_TEST_DIRNAME/../corpora/latency/accept/section-preemptoff" \
		--pages "$golden/6.12-function.dat" "$BATS_TEST_TMPDIR/dir"
	run -0 weft summary "$BATS_TEST_TMPDIR/r.dat"
	# "latency: 8510 us, #138/138, CPU#1", "task: sh-163"
	grep -qE '^ 8.5 ms +function +sh +1 +queued_read_lock_slowpath: 5.2 ms behind 1 entry$' <<< "$output"
	[[ "$output" == *"# longest section of a latency tracer: 8.5 ms, sh-163 on CPU 1: "* ]]
}

@test "summary, sched: the tables of a file that was cut say that they do not have all" {
	local whole=$golden/6.12-events-sched.dat

	cd "$BATS_TEST_TMPDIR"
	# Pages of one CPU are left.
	head -c $(($(stat -c %s "$whole") * 8 / 10)) "$whole" > cut.dat
	run -1 --separate-stderr weft summary cut.dat
	[[ "$output" =~ "events lost "+"unknown: the file is damaged" ]]
	[[ "$output" == *$'\n# the file is damaged: events that cannot be read are not counted'* ]]
	run -1 --separate-stderr weft sched cut.dat
	[[ "$output" == *$'\n# the file is damaged: '* ]]
	[[ "$stderr" == *"'cut.dat' is damaged at offset "* ]]
	run -0 weft summary "$whole"
	[[ "$output" != *damaged* ]]
}
