#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft flight --keep-in kernel: nothing is read before a trigger.
load lib
load flight

# switches: prints how often the recorders have run, each with its thread
switches()
{
	grep -H ^voluntary_ctxt_switches /proc/$PID/task/*/status | grep -v "/task/$PID/"
}

@test "flight: the command line knows where the history may be kept" {
	run weft flight start -e sched --keep-in kernal
	[ "$status" -eq 2 ]
	[[ "$output" == *"--keep-in takes ring, kernel or persistent, not 'kernal'; did you mean 'kernel'?"* ]]
}

@test "flight: without an instance that survives a reset, mode persistent is refused with what makes one" {
	run ! ls $T/instances/*/last_boot_info
	for one in persistent persistent:here; do
		run weft flight start -e sched --keep-in $one
		[ "$status" -eq 1 ]
		[[ "$output" == *"'reserve_mem=64M:4096:weft trace_instance=weft^traceoff@weft' on the kernel's command line makes one (Linux 6.12"* ]]
	done
	run weft flight start -e sched --keep-in persistent -b 1M
	[ "$status" -eq 2 ]
	[[ "$output" == *"the kernel's command line says how large"* ]]
}

@test "flight: in the kernel no recorder runs before a trigger, and every event is in the file, also of the next trigger" {
	fly -e sched:sched_process_exec --keep 60s --keep-in kernel --max-memory 4M --after 10ms
	grep -q 'mode kernel (--keep-in): .* in 4.0 MiB of memory' log
	# They have begun to wait.
	until [ "$(awk '/^State/ { print $2 }' /proc/$PID/task/*/status | sort -u)" = S ]; do kill -0 $PID; sleep 0.02; done
	switches > before
	write_numbers 1 1000
	switches > after
	cmp before after
	run weft flight status --name "$NAME"
	[[ "${lines[0]}" == *" of 4.0 MiB held in the kernel's buffers (mode kernel)" ]]
	[ "$(awk '$1 == "-" && $5 == 0 && $7 == 0' <<< "$output" | wc -l)" -eq "$(grep -c ^processor /proc/cpuinfo)" ]
	file=$(dump)
	[ "$(numbers "$file")" = "$(seq 1000)" ]
	write_numbers 1001 1100
	file=$(dump)
	[ "$(numbers "$file")" = "$(seq 1100)" ]
	weft check "$file"
	land
}

@test "flight: what the kernel has overwritten is no loss: the file begins where all CPUs reach back" {
	need_command jq
	fly -e sched:sched_process_exec --keep 60s --keep-in kernel -b 64K --after 10ms
	i=0
	until grep -qs '^overrun: [1-9]' $T/instances/weft-$PID/per_cpu/cpu*/stats; do
		kill -0 $PID
		write_numbers $((i + 1)) $((i + 1000))
		i=$((i + 1000))
	done
	file=$(dump)
	land
	numbers "$file" > got
	[ "$(cat got)" = "$(seq "$(head -n 1 got)" $i)" ]
	[ "$(head -n 1 got)" -gt 1 ]
	[ "$(jq '[.cpus[].lost] | add' "${file%.dat}.json")" = 0 ]
	[ "$(jq '.from == ([.cpus[].since] | max)' "${file%.dat}.json")" = true ]
	run ! grep LOST <(weft report "$file" 2>&1)
}
