# SPDX-License-Identifier: GPL-2.0-only
# --comm of a task that was renamed: what counts is what it did under that name.
load lib

# Task 100 is 'sh', waits 47 ms for a CPU, and becomes 'job' while it runs: the switch to another task has that
# name. As 'job' it waits 2 ms.
setup()
{
	file=$BATS_TEST_TMPDIR/t.dat
	cat > "$BATS_TEST_TMPDIR/t.txt" <<- 'END'
		# tracer: nop
		#
		          <idle>-0       [000] d..2.     0.999000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=other next_pid=7 next_prio=120
		           other-7       [000] d..2.     1.000000: sched_waking: comm=sh pid=100 prio=120 target_cpu=000
		           other-7       [000] d..2.     1.047000: sched_switch: prev_comm=other prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=sh next_pid=100 next_prio=120
		             job-100     [000] d..2.     1.060000: sched_switch: prev_comm=job prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
		          <idle>-0       [000] d.h2.     1.070000: sched_waking: comm=job pid=100 prio=120 target_cpu=000
		          <idle>-0       [000] d..2.     1.072000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=job next_pid=100 next_prio=120
		             job-100     [000] d..2.     1.080000: sched_switch: prev_comm=job prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
	END
	weft import -o "$file" "$BATS_TEST_TMPDIR/t.txt" 2> /dev/null
}

# figures COMMAND ARGS JQ: one line of the JSON.
figures()
{
	weft "${@:1:$#-1}" --format json "$file" | jq -r "${@: -1}"
}

@test "sched: --comm counts the intervals in which the task had the name, the same in each table" {
	need_command jq
	local row='.tasks[] | "\(.comm) \(.pid) \(.run_ns / 1e6) \(.wait_ns / 1e6) \(.wakeups) \(.delay_max_ns / 1e6) \(.voluntary)"'
	[ "$(figures sched --pid 100 "$row")" = "job 100 21 49 2 47 2" ]
	[ "$(figures sched --comm job "$row")" = "job 100 8 2 1 2 2" ]
	[ "$(figures sched --comm sh "$row")" = "sh 100 13 47 1 47 1" ]
	for name in sh:47 job:2; do
		[ "$(figures sched --comm ${name%:*} '.longest[0].lasted_ns / 1e6')" = "${name#*:}" ]
		[ "$(figures latency --comm ${name%:*} '[.wakeups[].delay_ns / 1e6] | tostring')" = "[${name#*:}]" ]
		[ "$(figures latency --comm ${name%:*} '.wakeups[0].comm')" = "${name%:*}" ]
	done
}

@test "sched, latency: a line says since when a task of --comm had its name, and which --pid shows all" {
	for command in sched latency; do
		weft $command --comm job "$file" > "$BATS_TEST_TMPDIR/out"
		grep -qx "# job-100 was called 'sh' until 1.060000000: this counts what it did as 'job'" "$BATS_TEST_TMPDIR/out"
		grep -qx '# under all names: --pid 100' "$BATS_TEST_TMPDIR/out"
		weft $command --comm sh "$file" > "$BATS_TEST_TMPDIR/out"
		grep -qx "# sh-100 was called 'job' from 1.060000000: this counts what it did as 'sh'" "$BATS_TEST_TMPDIR/out"
		weft $command --comm '*' "$file" > "$BATS_TEST_TMPDIR/out"
		run -1 grep 'was called\|under all' "$BATS_TEST_TMPDIR/out"
	done
}

@test "report, export, sql: a task that saved_cmdlines lacks has the name that events say; the kernel's text keeps <...>" {
	need_command jq
	cat > "$BATS_TEST_TMPDIR/t.txt" <<- 'END'
		# tracer: nop
		#
		           <...>-430     [000] d..2.    10.000100: sched_switch: prev_comm=auditing prev_pid=430 prev_prio=120 prev_state=S ==> next_comm=worker_a next_pid=431 next_prio=120
		           <...>-431     [000] .....    10.000200: sys_enter: NR 1 (1, 2, 3, 4, 5, 6)
		           <...>-431     [000] d..2.    10.000300: sched_switch: prev_comm=worker_a prev_pid=431 prev_prio=120 prev_state=S ==> next_comm=auditing next_pid=430 next_prio=120
	END
	weft import -q -o "$file" "$BATS_TEST_TMPDIR/t.txt"
	[ "$(weft report "$file" | grep -v '^#')" = "$(grep -v '^#' "$BATS_TEST_TMPDIR/t.txt")" ]
	[ "$(weft report --comm worker_a "$file" | grep -v '^#')" = "$(grep -e '>-431' "$BATS_TEST_TMPDIR/t.txt")" ]
	[ "$(weft report --filter 'comm == "worker_a"' "$file" | grep -v '^#')" = "$(grep -e '>-431' "$BATS_TEST_TMPDIR/t.txt")" ]
	[ "$(weft report --comm auditing "$file" | grep -vc '^#')" = 1 ]
	[ "$(weft export --to csv --fields pid,comm "$file" | paste -sd ' ')" = "pid,comm 430,auditing 431,worker_a 431,worker_a" ]
	[ "$(weft report --format json "$file" | jq -r .comm | paste -sd ' ')" = "auditing worker_a worker_a" ]
	[ "$(weft sql --format csv "$file" 'select tid, name from thread order by tid' | tail -n +2 | tr '\r\n' '  ' | tr -s ' ')" = "430,auditing 431,worker_a " ]
	weft export -q --to chrome -o "$BATS_TEST_TMPDIR/c.json" "$file" 2> /dev/null
	[ "$(jq -r '.traceEvents[] | select(.name == "thread_name" and .tid == 431) | .args.name' "$BATS_TEST_TMPDIR/c.json")" = worker_a ]
	weft report --format pretty "$file" | grep -q 'worker_a-431'
	weft hist --input "$file" raw_syscalls:sys_enter --keys common_pid.execname | grep -q '^worker_a-431 '
	run -0 weft report --comm worker_b "$file"
	[[ $output == *"did you mean 'worker_a'"* ]]
}

@test "split: a part keeps the names that only events of the whole file tell, at each time, also a part of it" {
	cat > "$BATS_TEST_TMPDIR/t.txt" <<- 'END'
		           <...>-430     [000] d..2.    10.000100: sched_switch: prev_comm=auditing prev_pid=430 prev_prio=120 prev_state=S ==> next_comm=worker_a next_pid=431 next_prio=120
		           <...>-431     [000] .....    10.000200: tracing_mark_write: one
		           <...>-431     [000] .....    10.000300: task_rename: pid=431 oldcomm=worker_a newcomm=other oom_score_adj=0
		           <...>-431     [000] .....    10.000400: tracing_mark_write: two
		           <...>-431     [000] d..2.    10.000500: sched_switch: prev_comm=other prev_pid=431 prev_prio=120 prev_state=S ==> next_comm=auditing next_pid=430 next_prio=120
		           <...>-430     [000] .....    10.000600: tracing_mark_write: three
	END
	weft import -q -o "$file" "$BATS_TEST_TMPDIR/t.txt"
	weft split -q -e print -o "$BATS_TEST_TMPDIR/part.dat" "$file"
	weft split -q --since 10.00015 -o "$BATS_TEST_TMPDIR/again.dat" "$BATS_TEST_TMPDIR/part.dat"
	for part in part again; do
		part="$BATS_TEST_TMPDIR/$part.dat"
		[ "$(weft report "$part" | grep -v '^#')" = "$(grep tracing_mark "$BATS_TEST_TMPDIR/t.txt")" ]
		[ "$(weft export --to csv --fields pid,comm "$part" | paste -sd ' ')" = "pid,comm 431,worker_a 431,other 430,auditing" ]
		[ "$(weft report --comm other "$part" | grep -v '^#')" = "$(grep two "$BATS_TEST_TMPDIR/t.txt")" ]
	done
}

@test "--slowest of syscalls, irq and block, and the longest of each, have the names that tasks had then" {
	local command
	cat > "$BATS_TEST_TMPDIR/t.txt" <<- 'END'
		# tracer: nop
		#
		          <idle>-0     [000] d..2.     1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=then next_pid=10 next_prio=120
		            then-10    [000] .....     1.010000: sys_enter: NR 0 (3, 7ff0, 10, 0, 0, 0)
		            then-10    [000] .....     1.011000: block_rq_issue: 8,0 R 4096 () 100 + 8 [then]
		            then-10    [000] .....     1.012000: block_rq_complete: 8,0 R () 100 + 8 [0]
		            then-10    [000] .....     1.020000: sys_exit: NR 0 = 1
		            then-10    [000] d.h1.     1.040000: irq_handler_entry: irq=24 name=disk
		            then-10    [000] d.h1.     1.040500: sched_waking: comm=then pid=11 prio=120 target_cpu=000
		            then-10    [000] d.h1.     1.041000: irq_handler_exit: irq=24 ret=handled
		            then-10    [000] .....     1.050000: task_rename: pid=10 oldcomm=then newcomm=later oom_score_adj=0
		           later-10    [000] d..2.     1.060000: sched_switch: prev_comm=later prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=then next_pid=11 next_prio=120
		            then-11    [000] .....     1.070000: task_rename: pid=11 oldcomm=then newcomm=later oom_score_adj=0
		           later-11    [000] d..2.     1.080000: sched_switch: prev_comm=later prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
	END
	weft import -o "$file" "$BATS_TEST_TMPDIR/t.txt" 2> /dev/null
	for command in syscalls irq block; do
		[ "$(figures $command --slowest 1 '[.slowest[0] | .comm, .waiting // "then"] | join(" ")')" = "then then" ] ||
			{ echo "$command"; figures $command --slowest 1 .slowest; false; }
	done
	for command in syscalls sched block; do
		[[ "$(weft $command "$file")" == *$'\n# longest '*", then-1"[01]" on CPU 0: "* ]] || { echo "$command"; false; }
	done
	# Names that were chosen are shown as chosen.
	[ "$(figures syscalls --slowest 1 --comm later '.slowest | length')" = 0 ]
}
