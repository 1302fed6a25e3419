#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# record --for, and the analyses that record a command themselves.
load lib

setup()
{
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# Prints the events that a script of --dry-run enables: "system" or "system/event".
enabled()
{
	sed -nE 's|^echo 1 > .*/events/(.*)/enable$|\1|p' | sort
}

@test "record --for: each analysis finds in the recording what it asks for, and nothing is missing" {
	need_tracefs
	for name in sched syscalls latency irq tasks; do
		# A timer interrupt ends the sleep; a short command may have none.
		run -0 weft record -q --for "$name" -o "$name.dat" -- sh -c 'sleep 0.05; ls /'
		run -0 weft "$name" "$name.dat"
		grep -qx '# wanted and not recorded: none' <<< "$output"
	done
}

@test "record --for: can be given several times, beside -e, and says which there are" {
	need_tracefs
	run -0 weft record --for syscalls --for sched -e signal --dry-run -- true
	[ "$(enabled <<< "$output" | grep -cx -e raw_syscalls -e sched/sched_switch -e sched/sched_waking -e signal)" -eq 4 ]
	run -0 weft record --for summary --dry-run -- true
	[ "$(enabled <<< "$output" | grep -cx -e raw_syscalls -e sched/sched_switch -e irq -e block/block_rq_issue -e lock/contention_begin -e lock)" -ge 4 ]
	run -2 weft record --for scheduler -- true
	[[ "${lines[0]}" == *"unknown analysis 'scheduler'; the analyses are "*sched* ]]
	run -2 weft record -p function --for graph -- true
	[[ "${lines[0]}" == *"needs the tracer function_graph, but another one is requested: function" ]]
}

@test "record --for: has an event for each table and column of the analysis" {
	need_tracefs
	local name event
	while read -r name event; do
		grep -qx "$event" <(weft list -e) || continue
		run -0 weft record --for "$name" --dry-run -- true
		event=${event/:/\/}
		grep -qxF -e "$event" -e "${event%%/*}" <(enabled <<< "$output")
	done <<- 'EOF'
		syscalls sched:sched_waking
		syscalls sched:sched_process_fork
		sched irq_vectors:local_timer_entry
		latency sched:sched_process_exec
		locks sched:sched_process_exec
		tasks sched:sched_switch
		memory kmem:kmem_cache_alloc
		memory kmem:kmem_cache_free
		memory kmem:mm_page_alloc
		memory vmscan:mm_vmscan_direct_reclaim_begin
		memory vmscan:mm_vmscan_direct_reclaim_end
		memory exceptions:page_fault_user
		power power:cpu_idle_miss
		power power:cpu_frequency
		power sched:sched_switch
		summary block:block_rq_issue
		summary lock:contention_end
		summary sched:sched_process_exit
	EOF
	# Whose a task is that starts meanwhile: --process has its threads.
	for name in $(weft record --for none -- true 2>&1 | sed -n 's/.*the analyses are //p' | tr -d ,); do
		[ "$name" = and ] && continue
		[ "$name" != graph ] || grep -qx function_graph <(weft list -t) || continue
		run -0 weft record --for "$name" --dry-run -- true
		grep -qxF -e task/task_newtask -e task <(enabled <<< "$output")
	done
	# Callers come from stacks.
	if grep -qx lock:contention_begin <(weft list -e); then
		run -0 weft record --for locks --dry-run -- true
		grep -q 'echo stacktrace >> .*/lock/contention_begin/trigger$' <<< "$output"
	fi
}

@test "analyses: what a file lacks is told with the --for that records it" {
	run -0 weft syscalls "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-syscalls.dat"
	[[ "$output" == *"# wanted and not recorded: -e sched:sched_switch (on a CPU, blocked or waiting), -e sched:sched_waking (when a sleep ends, and the wait for a CPU begins), -e sched:sched_process_fork (which task a PID is), -e sched:sched_process_exec,task:task_rename (how a task is called from its exec on); 'weft record --for syscalls' records it all"* ]]
}

@test "analyses: the events that a file lacks are those that its machine can record" {
	local seeds=$BATS_TEST_DIRNAME/../corpora/report/seeds
	run -0 weft latency "$seeds/armhf-6.1-events-sched.dat"
	[[ "$output" == *"-e irq:irq_handler_entry,irq:irq_handler_exit (time in interrupts)"* ]]
	[[ "$output" != *irq_vectors* ]]
	run -0 weft latency "$BATS_TEST_DIRNAME/../fixtures/session/demo.dat"
	[[ "$output" == *"-e irq:irq_handler_entry,irq:irq_handler_exit,irq_vectors (time in interrupts)"* ]]
}

@test "record: the closing line names weft summary and the file" {
	need_tracefs
	run -0 --separate-stderr weft record -e sched -o a.dat -- true
	[ "${stderr_lines[-1]}" = "weft: 'weft summary a.dat' shows what stands out in it" ]
	run -0 weft summary a.dat
	run -0 --separate-stderr weft record -e sched -o - -- true
	[[ "$stderr" != *"weft summary"* ]]
	# What stands between its quotes is for a shell.
	local name
	for name in "it's a b.dat" -q.dat '$HOME "x".dat'; do
		run -0 --separate-stderr weft record -e sched --output="$name" -- true
		bash -c "$(sed -n "s/^weft: '\(weft summary .*\)' shows what stands out in it$/\1/p" <<< "$stderr")" > out
		grep -q '^# ' out
		rm -- "$name"
	done
}

@test "syscalls -- COMMAND: its calls and those of its children, counted as written, and no file stays" {
	need_tracefs
	mkdir tmp
	# rmdir of missing directories: each call is an error, in two tasks.
	TMPDIR=$PWD/tmp weft syscalls --format csv -- sh -c 'rmdir a b c 2> /dev/null; rmdir d e 2> /dev/null; exit 4' > out || status=$?
	[ "${status:-0}" -eq 4 ]
	[ "$(awk -F, '$1 == "rmdir" { print $3, $4 }' out)" = "5 5" ]
	[ -z "$(ls -A tmp)" ]
	# From its exec on, a task has its new name, whether or not it was switched away since.
	weft syscalls --comm rmdir --format csv -- sh -c 'exec rmdir a b' > out 2> /dev/null || true
	[ "$(awk -F, '$1 == "rmdir" { print $3, $4 }' out)" = "2 2" ]
	[ ! -e trace.dat ]
}

@test "analyses -- COMMAND: the command's output and status are its own, its options, too" {
	need_tracefs
	need_command taskset
	# A timer interrupt ends a sleep, so every analysis has something to report.
	for name in summary sched latency irq; do
		run -0 weft "$name" -- sh -c 'sleep 0.05; printf "%s\n" "$@"' sh --format -i
		[ "${lines[0]}" = --format ]
		[ "${lines[1]}" = -i ]
		[[ "${lines[2]}" == "# "* ]]
	done
	# There is no command to paste, because there is no file. The end of sleep wakes sh on its own CPU: there are kernels
	# that do not record a switch away from an idle task.
	cpu=$(taskset -pc $$ | grep -o '[0-9]*' | tail -n +2 | head -n 1)
	run -0 weft sched -- taskset -c "$cpu" sh -c 'sleep 0.01; true'
	[[ "$output" == *"# longest delay of a wakeup: "* ]]
	[[ "$output" != *"weft report"* ]]
	run -127 weft sched -- no-such-command
	[[ "$output" == *"no-such-command"* ]]
}

@test "analyses -- COMMAND: not beside a file" {
	run -2 weft sched a.dat -- true
	[[ "${lines[0]}" == *"either a file or a COMMAND: 'a.dat' and 'true'" ]]
	run -2 weft sched -i a.dat -- true
}

@test "analyses -- COMMAND: of a command without one event it is told that they were recorded, and for how long" {
	need_tracefs
	# A disk may be busy with something else.
	for try in 1 2 3 4 5 6 7 8; do
		run weft block -- true
		[ "$status" -eq 0 ] || break
	done
	[ "$status" -eq 1 ] || skip "the disks are never idle"
	[[ "$output" =~ ^"weft: there are no block requests among the events, although block:block_rq_issue,block:block_rq_complete were recorded: none occurred in the "[0-9.]+" "[mnu]?"s of the command"$ ]]
}

@test "record: of a COMMAND alone it records what summary needs, and says so" {
	cd "$BATS_TEST_TMPDIR"
	run -0 --separate-stderr weft record --dry-run -- true
	[ "$(sed "s/weft-[0-9]*/weft-N/g" <<< "$output")" = "$(weft record --for summary --dry-run -- true | sed "s/weft-[0-9]*/weft-N/g")" ]
	[ "$(grep -c /enable <<< "$output")" -gt 5 ]
	run -2 weft record
	[[ "$output" == *"nothing to trace"*"or name a command: weft record -- COMMAND"* ]]
	run -0 --separate-stderr weft record -- true
	[ "${stderr_lines[0]}" = "weft: note: no events were named, so those for 'weft summary' are recorded (--for summary)" ]
	weft summary trace.dat > out
	grep -q '^# tasks: ' out
	run -0 --separate-stderr weft record -q -o q.dat -- true
	[ -z "$stderr" ]
	# Of what is refused only the refusal is told.
	run -127 weft record -- ./nosuch
	[[ "$output" == *"nosuch"* && "$output" != *"no events were named"* ]]
	run ! weft record -o nosuch/trace.dat -- true
	[[ "$output" == *"nosuch"* && "$output" != *"no events were named"* ]]
}
