#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft flight --when timerlat>TIME and osnoise>TIME: what is refused before anything is set up. A guest fires them.
load lib
load flight

@test "flight: the command line has one condition on noise, and no such tracer of its own" {
	run weft flight start -e sched --when 'timerlat>50us' --when 'osnoise>100us'
	[ "$status" = 2 ]
	[[ "$output" == *"a flight has one condition on timerlat or osnoise: the kernel has their bounds once"* ]]
	run weft flight start -p osnoise --when 'slow=timerlat>50us'
	[ "$status" = 2 ]
	[[ "$output" == *"-p osnoise: --when slow has its tracer in an instance of its own, and would stop this one, too; -e osnoise records what it finds"* ]]
}

@test "flight: the command line says where a condition on noise is wrong" {
	run weft flight start -e sched --when 'osnoise>4us'
	[ "$status" = 2 ]
	[[ "$output" == *"this time is from 5.0 us to 1h 00m"$'\n'"  osnoise>4us"* ]]
	run weft flight start -e sched --when 'osnois>10us'
	[ "$status" = 2 ]
	[[ "$output" == *"did you mean 'osnoise'?"* ]]
}

@test "flight: a condition on noise is refused where the kernel has no such tracer" {
	! grep -qw timerlat $T/available_tracers || skip "this kernel has timerlat"
	run weft flight start -e sched --check --when 'timerlat>50us'
	[ "$status" = 1 ]
	[[ "$output" == *"--when timerlat: this kernel has no tracer 'timerlat'; CONFIG_TIMERLAT_TRACER provides it"* ]]
}
