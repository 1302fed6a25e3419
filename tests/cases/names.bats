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
	[ "$(figures sched --comm job "$row")" = "job 100 21 2 1 2 2" ]
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
