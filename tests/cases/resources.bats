#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft block, locks, stacks, memory and power, compared with the kernel's own text of the same events. The buffers of
# tests/fixtures/resources come from guests (6.12: block; 6.1-rt: kmem, power), and so do the lines of text beside them.
# Locks: tests/guest/scenarios/answers-resources.sh.
load lib

fixtures=$BATS_TEST_DIRNAME/../fixtures/resources
stacked=$BATS_TEST_DIRNAME/../fixtures/golden/6.12-event-stacktrace

setup()
{
	out=$BATS_TEST_TMPDIR/out
}

@test "block: requests and their time in the device are those of the kernel's text" {
	need_command jq
	weft block "$fixtures/block.dat" --format json > "$out"
	# A request that came with a flush completes once more, without sectors. A flush has no address.
	awk '{ match($0, / [0-9]+\.[0-9]+: /); ts = substr($0, RSTART, RLENGTH - 2) * 1e6; place = $0; sub(/ \+ .*/, "", place); sub(/.* /, "", place)
			flush = / FF / }
		/: block_rq_issue: / { since[flush ? "flush" : place] = ts }
		/: block_rq_complete: / && (flush ? "flush" : place) in since { n++; sum += ts - since[flush ? "flush" : place]; delete since[flush ? "flush" : place] }
		END { printf "%d %.0f\n", n, sum }' "$fixtures/block.txt" > "$out.want"
	[ "$(jq '[.requests[].requests] | add' "$out")" -eq "$(cut -d' ' -f1 "$out.want")" ]
	[ "$(jq '[.requests[].requests] | add' "$out")" -eq "$(grep -c ': block_rq_issue: ' "$fixtures/block.txt")" ]
	jq -e --argjson want "$(cut -d' ' -f2 "$out.want")" '([.requests[].d2c_ns] | add / 1000) - $want | fabs < 31' "$out"
	[ "$(jq '.devices[0].merges' "$out")" -eq "$(grep -c 'block_bio_[a-z]*merge: ' "$fixtures/block.txt")" ]
	# The time is the same by task and by operation.
	for by in task operation; do
		[ "$(weft block "$fixtures/block.dat" --by $by --format json | jq '[.requests[].d2c_ns] | add')" -eq "$(jq '[.requests[].d2c_ns] | add' "$out")" ]
	done
}

@test "block: prints a table with units, the longest request, and what limits it" {
	weft block "$fixtures/block.dat" > "$out"
	[ "$(sed -n 2p "$out" | awk '{ print $1, $2, $3, $4 }')" = "DEVICE OP REQUESTS BYTES" ]
	grep -qE '^254:0 +write +21 +124 KiB ' "$out"
	grep -qE '^254:0 +17\.6 ms +12\.9 +1\.60 +8 +11\.5 +24 ' "$out"
	grep -q '^# longest time of a request in the device: 3.8 ms, jbd2/vda-8-369 on CPU 1: weft report --since 17.704859226 --until 17.708849316 ' "$out"
	grep -q '^# cut by the start or the end: none$' "$out"
	run -2 weft block --by disk "$fixtures/block.dat"
	[[ "$output" == *"--by: unknown value 'disk'; the values are device, operation, task, file, process, "* ]]
}

@test "stacks: there are as many of each event as in the kernel's text, and times off the CPU are blocked or runnable" {
	need_command jq
	weft stacks "$stacked.dat" --format json > "$out"
	[ "$(jq '[.events[].count] | add' "$out")" -eq "$(grep -c '<stack trace>' "$stacked.txt")" ]
	for event in sched_switch sched_process_exec; do
		[ "$(jq "[.events[] | select(.event == \"sched:$event\") | .count] | add" "$out")" -eq "$(grep -c ": $event: " "$stacked.txt")" ]
	done
	jq -e '[.off_cpu[] | .total_ns == .blocked_ns + .runnable_ns and .max_ns <= .total_ns] | all' "$out"
	jq -e '.off_cpu[] | select(.function == "do_wait") | .times == 2 and (.stack | startswith("__schedule < schedule < do_wait < kernel_wait4"))' "$out"
	[ "$(weft stacks "$stacked.dat" --by function --format json | jq '[.events[].count] | add')" -eq "$(jq '[.events[].count] | add' "$out")" ]
}

@test "memory: allocations, their bytes and faults are those of the kernel's text" {
	need_command jq
	weft memory "$fixtures/kmem.dat" --self --format json > "$out"
	awk '/: (kmalloc|kmem_cache_alloc): / { n++; for (i = 1; i <= NF; i++) { if (sub(/^bytes_req=/, "", $i)) a += $i; if (sub(/^bytes_alloc=/, "", $i)) b += $i } }
		END { print n, a, b }' "$fixtures/kmem.txt" > "$out.want"
	[ "$(jq -r '"\([.callers[].allocs] | add) \([.callers[].asked_bytes] | add) \([.callers[].given_bytes] | add)"' "$out")" = "$(cat "$out.want")" ]
	jq -e '[.callers[] | .allocs == .freed + .alive] | all' "$out"
	[ "$(jq '[.faults[].user] | add' "$out")" -eq "$(grep -c ': page_fault_user: ' "$fixtures/kmem.txt")" ]
	[ "$(jq '[.pages[].allocated] | add' "$out")" -eq "$(grep -c ': mm_page_alloc: ' "$fixtures/kmem.txt")" ]
	weft memory "$fixtures/kmem.dat" > "$out"
	grep -qE '^copy_process +4 +12\.6 KiB +12\.8 KiB +1 +3 +10\.6 KiB ' "$out"
}

@test "block: on a terminal of 80 columns the column that sorts the rows is there" {
	SHELL=$BASH script -qec "stty cols 80 rows 50; PAGER=cat $WEFT block --by task --table requests --sort bytes $fixtures/../session/disk.dat" /dev/null < /dev/null | tr -d '\r' > "$out"
	# dd wrote 8 times 64 KiB.
	grep -qE '^TASK .* BYTES ' "$out"
	grep -qE '^dd +262 +write .* 512(\.0)? KiB ' "$out"
	[ "$(awk 'length > 80' "$out")" = "" ]
}

@test "memory: what other tasks allocate and free is not called older than the recording" {
	awk '!/: (kmalloc|kmem_cache_alloc|kfree|kmem_cache_free): / { next } { match($0, / ptr=[^ ]*/); at = substr($0, RSTART, RLENGTH) }
		at ~ /=(0+(10)?|\(null\))$/ { next } /alloc[a-z_]*: / { alive[at]; next } at in alive { delete alive[at]; next } { n++ }
		END { print "# cut by the start or the end: " n " frees of what was allocated before the start" }' "$fixtures/kmem.txt" > "$out.want"
	for selection in --self '--comm ls' '--comm nobody' '--cpu 0'; do
		# shellcheck disable=SC2086 # an option and its value
		weft memory "$fixtures/kmem.dat" $selection > "$out"
		grep -x -f "$out.want" "$out"
	done
}

@test "power: wakeups and time in idle are those of the kernel's text" {
	need_command jq
	weft power "$fixtures/power.dat" --format json > "$out"
	awk '{ match($0, / [0-9]+\.[0-9]+: /); ts = substr($0, RSTART, RLENGTH - 2) * 1e6; state = $0; sub(/.*state=/, "", state); sub(/ .*/, "", state)
			cpu = $0; sub(/.*cpu_id=/, "", cpu) }
		state == "4294967295" { if (cpu in since) { n++; sum += ts - since[cpu] } delete since[cpu]; next } { since[cpu] = ts }
		END { printf "%d %.0f\n", n, sum }' "$fixtures/power.txt" > "$out.want"
	[ "$(jq '[.cpus[].wakeups] | add' "$out")" -eq "$(cut -d' ' -f1 "$out.want")" ]
	[ "$(jq '[.states[].entries] | add' "$out")" -eq "$(cut -d' ' -f1 "$out.want")" ]
	jq -e --argjson want "$(cut -d' ' -f2 "$out.want")" '([.cpus[].idle_ns] | add / 1000) - $want | fabs < 60' "$out"
	weft power "$fixtures/power.dat" > "$out"
	grep -qE '^vector local_timer +1 +12$' "$out"
}

# The guests have no driver of frequencies, so this text is made up, in the form of the kernel's.
# frequencies: prints 600 lines of two CPUs, whose frequencies change, each also told by the other CPU, and whose tasks move
frequencies() {
	awk 'function draw(below) { seed = (seed * 16807) % 2147483647; return seed % below }
		function put(event) { printf "%16s-%-7d [%03d] d....  %d.%06d: %s\n", on[cpu] ? "task" on[cpu] : "<idle>", on[cpu], cpu, us / 1000000, us % 1000000, event }
		BEGIN { seed = 42; on[0] = on[1] = 0; print "# tracer: nop\n#"
			for (i = 0; i < 600; i++) {
				us = 5000000 + i * 370; cpu = i % 2
				next_pid = 100 + draw(4)
				if (i > 60 && draw(3) == 0) put(sprintf("cpu_frequency: state=%d cpu_id=%d", 400000 + 1000 * draw(3000), draw(2)))
				else if (on[cpu] != 0 && draw(3) == 0) { put(sprintf("sched_switch: prev_comm=task%d prev_pid=%d prev_prio=120 prev_state=R ==> next_comm=swapper/%d next_pid=0 next_prio=120", on[cpu], on[cpu], cpu)); on[cpu] = 0 }
				else if (next_pid != on[0] && next_pid != on[1]) {
					put(sprintf("sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=R ==> next_comm=task%d next_pid=%d next_prio=120", on[cpu] ? "task" on[cpu] : "swapper/" cpu, on[cpu], next_pid, next_pid)); on[cpu] = next_pid
				} else put("sched_waking: comm=other pid=99 prio=120 target_cpu=000")
			} }'
}

# weighed TEXT: adds up what the text says; prints "PID RUN-NS UNKNOWN-NS CYCLES" of each task
weighed() {
	awk 'function add(cpu, ns) { ns = (us - since[cpu]) * 1000; since[cpu] = us; if (!(cpu in on) || !on[cpu]) return
			run[on[cpu]] += ns; if (khz[cpu]) kcycles[on[cpu]] += ns / 1000 * khz[cpu]; else unknown[on[cpu]] += ns }
		/^#/ { next }
		{ us = $0; sub(/^.*[0-9]\]/, "", us); split(us, f, " "); sub(/\./, "", f[2]); us = f[2] + 0; cpu = $0; sub(/\].*/, "", cpu); sub(/.*\[/, "", cpu); cpu += 0
			if (!(cpu in since)) since[cpu] = us
			pid = $0; sub(/ *\[.*/, "", pid); sub(/.*-/, "", pid); if (!(cpu in on)) on[cpu] = pid + 0; add(cpu) }
		/: cpu_frequency: / { of = $0; sub(/.*cpu_id=/, "", of); of += 0; state = $0; sub(/.*state=/, "", state); if (of in on) add(of); khz[of] = state + 0 }
		/: sched_switch: / { next_pid = $0; sub(/.*next_pid=/, "", next_pid); on[cpu] = next_pid + 0 }
		END { for (c in on) add(c); for (p in run) printf "%d %d %d %d\n", p, run[p], unknown[p], int(kcycles[p] / 1000) }' "$1" | sort
}

@test "power: the cycles of tasks are those of an account of the text" {
	frequencies > "$out.txt"
	weft import -o "$out.dat" "$out.txt"
	weft power "$out.dat" --table tasks --format csv > "$out"
	head -n 1 "$out" | grep -qx task,pid,run_ns,unknown_ns,cycles,cycles_percent,mean_khz
	weighed "$out.txt" > "$out.want"
	[ "$(wc -l < "$out.want")" -eq 4 ]
	awk '$3 == 0 || $4 == 0 { exit 1 }' "$out.want"
	tail -n +2 "$out" | awk -F, 'NF { print $2, $3, $4, $5 }' | sort | diff "$out.want" -
	# The percentages are parts of one whole, and the mean is that of the known time.
	awk -F, 'NR > 1 && NF { sum += $6; mean = $5 * 1e6 / ($3 - $4) - $7; if (mean > 1 || mean < -1) exit 2 } END { exit sum < 99.95 || sum > 100.05 }' "$out"
}

@test "power: prints the cycles of tasks, and tells what is needed for them" {
	frequencies > "$out.txt"
	weft import -o "$out.dat" "$out.txt"
	weft power "$out.dat" > "$out"
	sed -n '/^# tasks: /,/^$/p' "$out" | head -n -1 > "$out.part"
	diff - "$out.part" <<- EOT
		# tasks: how long they ran, and how many cycles that was
		TASK     PID      RUN  UNKNOWN       CYCLES      %   MEAN KHZ
		task102  102  84.4 ms   7.4 ms  134,553,090  27.31  1,748,351
		task100  100  74.7 ms   8.9 ms  121,690,780  24.70  1,847,719
		task103  103  79.2 ms   5.9 ms  118,647,900  24.08  1,619,545
		task101  101  83.2 ms  14.1 ms  117,776,550  23.91  1,702,219
	EOT
	# A selection of tasks has the same percentages.
	[ "$(weft power "$out.dat" --pid 102 --table tasks --format csv | tail -n +2)" = "$(weft power "$out.dat" --table tasks --format csv | grep ^task102,)" ]
	weft power "$fixtures/power.dat" > "$out"
	run -1 grep -q '^# tasks' "$out"
	grep -q 'sched:sched_switch (how many cycles each task ran)' "$out"
}

@test "block, locks, stacks, memory and power say what is missing in a file without their events" {
	for command in block locks stacks memory power; do
		run -1 weft "$command" "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-function.dat"
		[[ "$output" == "weft: there are no "*"record with "* ]] || { echo "$command: $output"; false; }
	done
}

@test "block, locks, stacks, memory and power tell what they can of a file that is cut short, and that it is" {
	head -c 70000 "$fixtures/block.dat" > "$out.dat"
	for command in block locks stacks memory power; do
		run weft "$command" "$out.dat"
		[ "$status" -eq 1 ] || { echo "$command: $status $output"; false; }
	done
}

@test "summary: has a row for the requests of disks, with those of weft block" {
	need_command jq
	weft summary "$fixtures/block.dat" > "$out"
	grep -q '^# requests of each device (more: weft block)$' "$out"
	diff <(weft summary "$fixtures/block.dat" --format json | jq -c .requests) <(weft block "$fixtures/block.dat" --format json | jq -c .requests)
}
