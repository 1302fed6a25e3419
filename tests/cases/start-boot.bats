#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# start --boot: parameters for the kernel's command line. Guests test that kernels accept them
# (tests/guest/scenarios/start-boot.sh).
load lib

@test "start --boot: each option becomes its parameter of Documentation/admin-guide/kernel-parameters.txt" {
	run -0 weft start --boot -e sched:sched_switch -R 'stacktrace if prev_state == 2' -e irq -b 4M -C mono -p function_graph -l 'vfs_*' \
		-l do_sys_openat2 -n schedule -g vfs_read --no-graph-function vfs_open --max-graph-depth 3 -O sym-offset -T --thresh 100us
	[ "$output" = "tracing_thresh=100 trace_buf_size=4096K trace_clock=mono trace_options=sym-offset,stacktrace \
ftrace_filter=vfs_*,do_sys_openat2 ftrace_notrace=schedule ftrace_graph_filter=vfs_read ftrace_graph_notrace=vfs_open \
ftrace_graph_max_depth=3 ftrace=function_graph trace_event=sched:sched_switch,irq \
trace_trigger=\"sched_switch.stacktrace if prev_state == 2\"" ]
}

@test "start --boot: instances and their events" {
	run -0 weft start --boot -B one -e 'sched:*,syscalls/sys_enter_read' -B two -e all
	[ "$output" = "trace_instance=one,sched,syscalls:sys_enter_read trace_instance=two,*:*" ]
}

@test "start --boot: what has no form on the command line is an error that names it" {
	refused() { run -1 weft start --boot "${@:2}"; [ -z "${lines[1]}" ] && [[ "$output" == *"$1"* ]]; }
	refused "sched_w*" -e 'sched_w*'
	refused "-f cannot be set" -e sched -f 'prio < 3'
	refused "-v cannot be set" -e sched -v -e sched:sched_switch
	refused "-P cannot be set" -e sched -P 1
	refused "-P cannot be set" -e sched -P ''
	refused "--no-pid cannot be set" -e sched --no-pid 1
	refused "--cmdlines-size cannot be set" -e sched --cmdlines-size 9
	refused "--buffer-percent cannot be set" -e sched --buffer-percent 0
	refused "--subbuf-size cannot be set" -e sched --subbuf-size 8K
	refused "--syscall-data cannot be set" -e sched --syscall-data 9
	refused "--absolute-time cannot be set" -e sched --absolute-time
	refused "--max-latency-reset cannot be set" -e sched --max-latency-reset
	refused "-R of a probe cannot be set" --probe 'p vfs_open' -R traceoff
	refused "-M cannot be set" -e sched -M 0
	refused "--cpu-buffer-size" -e sched --cpu-buffer-size 0=100
	refused "-p of instance 'x'" -B x -p function
	refused "-R of instance 'x'" -B x -e sched:sched_switch -R traceoff
	refused "--probe of instance 'x'" -B x --probe 'p vfs_open'
	refused "another -b of instance 'x'" -b 1M -B x -e sched -b 2M
	refused "-C of instance 'x'" -C mono -B x -e sched
	for option in -l -n -g --no-graph-function=; do refused "of instance 'x' cannot be set" -B x -e sched "$option"vfs_open; done
	for option in --max-graph-depth=3 -Osym-addr -T; do refused "of instance 'x' cannot be set" -B x -e sched "$option"; done
	refused "hist:keys=a,b" -e sched:sched_switch -R 'hist:keys=a,b'
	refused "not 'sched'" -e sched -R stacktrace
	refused "-l FUNCTION:COMMAND" -p function -l vfs_read:traceoff
	refused "osnoise/period_us" -p osnoise --osnoise period=1s
	refused "'a\"b'" -B 'a"b' -e sched
}

@test "start --boot: runs no command, and changes nothing" {
	run -2 weft start --boot -e sched -- true
	run -2 weft start --boot --dry-run -e sched
}

@test "start --boot: the stack tracer, of all functions or of some" {
	run -0 weft start --boot --stack-tracer
	[ "$output" = stacktrace ]
	# As weft set has it.
	run -0 weft start --boot --stack-tracer=on
	[ "$output" = stacktrace ]
	run -0 weft start --boot -C mono --stack-tracer=off
	[ "$output" = trace_clock=mono ]
	run -0 weft start --boot -C mono --stack-function='vfs_*,schedule'
	[ "$output" = "trace_clock=mono stacktrace_filter=vfs_*,schedule" ]
	run -2 weft start --boot --stack-tracer='vfs_*'
	[[ "$output" == *"'vfs_*' is neither on nor off"*"--stack-function"* ]]
	run -1 weft start --boot --stack-function='vfs_* x'
	[[ "$output" == *"cannot be written on the kernel's command line"* ]]
	run -2 weft start --stack-tracer -e sched
	[[ "$output" == *"--stack-tracer and --stack-function are options of --boot; 'weft deepest-stack start'"* ]]
}
