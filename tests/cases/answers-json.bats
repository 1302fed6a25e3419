#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What a script asks of a file, a kernel and a recording: one JSON object each.
load lib

demo=$BATS_TEST_DIRNAME/../fixtures/demo.dat

setup()
{
	need_command jq
	cd "$BATS_TEST_TMPDIR"
}

@test "info --format json: the events of each type and CPU are those of the kernel's text" {
	golden=$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched
	weft info --format json "$golden.dat" > info
	grep -v '^#' "$golden.txt" | sed -E 's/.*[0-9]: ([a-z_]+): .*/\1/' | sort | uniq -c | awk '{ print $2, $1 }' > want
	jq -r '.buffers[0].types[] | select(.events > 0) | "\(.type | sub(".*:"; "")) \(.events)"' info | sort | diff want -
	grep -v '^#' "$golden.txt" | grep -Eo '\[[0-9]{3}\]' | sort | uniq -c | awk '{ print substr($2, 2, 3) + 0, $1 }' > want
	jq -r '.buffers[0].cpus[] | "\(.cpu) \(.events)"' info | diff want -
	[ "$(jq .buffers[0].events info)" -eq "$(grep -vc '^#' "$golden.txt")" ]
	[ "$(jq .size_bytes info)" -eq "$(stat -c %s "$golden.dat")" ]
	[ "$(jq -c '[.buffers[0].lost, .buffers[0].lost_more, .buffers[0].damage]' info)" = '[0,false,null]' ]
	[ "$(weft info --settings --format json "$golden.dat" | jq -r .settings.current_tracer)" = nop ]
	[ "$(weft info --no-events --format json "$golden.dat" | jq -c '.buffers[0].cpus[0] | keys')" = '["cpu","pages_bytes","stored_bytes"]' ]
	run -2 weft info --format json --setting current_tracer "$golden.dat"
	run -2 weft info --format yaml "$golden.dat"
}

@test "check --format json: an intact file, and one with a byte changed" {
	[ "$(weft check --format json "$demo" | jq -c '[.intact, .events, .damage]')" = '[true,130,[]]' ]
	cp "$demo" damaged.dat
	printf weft | dd of=damaged.dat bs=1 seek=20000 conv=notrunc status=none
	run -1 --separate-stderr weft check --format json damaged.dat
	[ -z "$stderr" ]
	[ "$(jq -c '[.intact, .events, .damage[0].offset]' <<< "$output")" = '[false,null,2128]' ]
}

@test "list --format json: the names and states of the lists of a file, and of the running kernel" {
	weft list -i "$demo" events --format json > events
	jq -r '.events[] | "\(.system):\(.name)"' events | diff <(weft list -i "$demo" events) -
	weft list -i "$demo" -F events sched:sched_switch --format json | jq -r '.events[0].format' | grep -q 'field:char prev_comm'
	[ "$(weft list -i "$demo" tracers --format json | jq -c .tracers)" = '[{"name":"nop","state":"current"}]' ]
	[ "$(weft list -i "$demo" syscalls read --format json | jq -c '.syscalls[] | [.number, .name]')" = '[0,"read"]' ]
	weft list -i "$demo" --format json | jq -e .version
	need_tracefs
	[ "$(weft list clocks --format json | jq -r '.clocks[].name')" = "$(weft list clocks)" ]
}

@test "doctor and status --format json: the same findings as in the text" {
	need_tracefs
	weft doctor --format json > doctor
	[ "$(jq .works doctor)" = true ]
	weft doctor | sed -nE 's/^(ok|lacks|BAD) +(kernel|tracefs|recording|events|functions) .*/\1 \2/p' > want
	jq -r '.findings[] | "\(.verdict) \(.subject)"' doctor | grep -E ' (kernel|tracefs|recording|events|functions)$' | diff want -
	weft status --format json | jq -e '.differences | type == "array"'
}

@test "record --result: what became of the recording, and what its own text says" {
	need_tracefs
	run -3 --separate-stderr weft record -e sched:sched_switch --result result.json -o a.dat -- sh -c 'echo out; exit 3'
	[ "$output" = out ]
	[ "$(jq -c '[.file, .status, .error, .parts]' result.json)" = '["a.dat",3,null,null]' ]
	[ "$(jq .events result.json)" -eq "$(weft info --format json a.dat | jq '.buffers[0].events')" ]
	[ "$(jq .events result.json)" -eq "$(jq '[.cpus[].events] | add' result.json)" ]
	[ "$(jq .file_bytes result.json)" -eq "$(stat -c %s a.dat)" ]
	run -0 --separate-stderr weft record -q -e sched:sched_switch --result - -o b.dat -- true
	[ "$(jq -r .file <<< "$output")" = b.dat ]
	run -127 --separate-stderr weft record -q -e sched:sched_switch --result none.json -o c.dat -- no-such-program
	[ "$(jq -c '[.file, .status]' none.json)" = '[null,127]' ]
	jq -r .error none.json | grep -q no-such-program
	run -2 weft record -o - --result - -e sched -- true
	run -125 weft record --result no/such/dir.json -e sched -- touch ran
	[ ! -e ran ]
}

@test "recover --format json: what was recovered" {
	need_tracefs
	mkfifo held
	weft record -q -e sched:sched_switch -o k.dat -- sh -c 'echo up > held; exec sleep 60' 2> /dev/null &
	pid=$!
	read -r _ < held
	kill -KILL $pid
	wait $pid || true
	run -0 --separate-stderr weft recover -q --format json k.dat
	[ "$(jq -r .file <<< "$output")" = k.dat ]
	[ "$(jq -c '[.torn_bytes, .cpus_lost]' <<< "$output")" = '[0,[]]' ]
	[ "$(jq .file_bytes <<< "$output")" -eq "$(stat -c %s k.dat)" ]
}

# unseen FILE EVENT... -- COMMAND TABLE COLUMN...: in the file without these events, the columns have a number before and none afterwards
unseen() {
	local file=$1 gone='' command table column
	shift
	while [ "$1" != -- ]; do gone="$gone|$1" && shift; done
	command=$2 table=$3
	shift 3
	weft split -q -o part.dat -e "$(weft summary --table events --top 0 --format csv "$file" 2> /dev/null | sed '1d; s/,.*//' | grep -vxE "${gone#|}" | paste -sd,)" "$file"
	weft "$command" --format json "$file" > whole.json
	weft "$command" --format json part.dat > part.json
	for column; do
		jq -e --arg t "$table" --arg c "$column" '[.[$t][][$c]] | any(. != null)' whole.json || echo "$command: $column is never known"
		jq -e --arg t "$table" --arg c "$column" '[.[$t][][$c]] | length > 0 and all(. == null)' part.json || echo "$command: $column without $gone"
	done | grep -v '^true$' && return 1
	jq -e '.missing | length > 0' part.json > /dev/null
}

@test "a column whose events were not recorded is unknown, not 0, and what is missing is told" {
	need_command jq
	local here=$BATS_TEST_DIRNAME/../fixtures
	cd "$BATS_TEST_TMPDIR"
	unseen "$here/demo.dat" sched:sched_waking sched:sched_wakeup -- sched tasks wakeups
	unseen "$here/demo.dat" sched:sched_waking sched:sched_wakeup -- sched wakeups count
	unseen "$here/demo.dat" sched:sched_wakeup -- latency wakeups queue_ns
	unseen "$here/golden/6.12-events-irq-timer.dat" irq:softirq_entry -- irq cpus softirqs softirq_ns
	unseen "$here/golden/6.12-events-irq-timer.dat" irq:irq_handler_exit -- irq cpus irqs irq_ns
	unseen "$here/golden/6.12-events-irq-timer.dat" 'timer:.*' -- irq cpus timers timer_ns
	unseen "$here/golden/6.12-events-irq-timer.dat" 'timer:.*' -- irq victims timer_ns
	unseen "$here/session/disk.dat" block:block_rq_issue -- block devices busy_ns busy_percent deepest reissues
	unseen "$here/session/disk.dat" block:block_bio_backmerge -- block devices merges
	unseen "$here/session/memory.dat" kmem:kfree kmem:kmem_cache_free -- memory callers freed alive alive_bytes
	unseen "$here/session/memory.dat" kmem:mm_page_free -- memory pages freed difference
	unseen "$here/session/memory.dat" exceptions:page_fault_kernel -- memory faults kernel
	unseen "$here/demo.dat" 'syscalls:sys_exit_.*' -- syscalls syscalls errors total_ns on_cpu_ns blocked_ns wait_ns
	unseen "$here/demo.dat" sched:sched_process_exec -- tasks tasks execs
}
