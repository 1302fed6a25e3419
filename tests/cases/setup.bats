#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Options that record, start, set and stream share: --config, --dry-run, sizes, filters of systems, and what is refused.
load lib

setup()
{
	need_tracefs
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=weft-test-setup-$$-$BATS_TEST_NUMBER
	I=/sys/kernel/tracing/instances/$NAME
}

teardown()
{
	[ -n "$I" ] || return 0
	weft reset -B "$NAME" 2> /dev/null || true
	[ ! -d "$I" ] || rmdir "$I"
	# Kernels since 6.9 report a larger number than was written, and larger than they accept: another recording may
	# have raised it.
	[ -z "${cmdlines:-}" ] || echo "$cmdlines" 2> /dev/null > /sys/kernel/tracing/saved_cmdlines_size ||
		echo 32768 > /sys/kernel/tracing/saved_cmdlines_size
}

@test "config: a file stands for the options in it" {
	cat > a.conf <<- EOF
		# a comment
		event = sched:sched_switch
		filter = prev_prio < 100
		e = irq

		stacktrace
		[$NAME]
		buffer-size = 300
		event = block
	EOF
	weft record --config a.conf --dry-run -- true | sed 's/weft-[0-9][0-9]*/MINE/' > by-file
	weft record -e sched:sched_switch -f 'prev_prio < 100' -e irq -T -B "$NAME" -b 300 -e block --dry-run -- true |
		sed 's/weft-[0-9][0-9]*/MINE/' > by-words
	diff by-words by-file
	grep -q "echo 'prev_prio < 100' > instances/MINE/events/sched/sched_switch/filter" by-file
	grep -q "echo 300 > instances/$NAME/buffer_size_kb" by-file
}

@test "config: the command line goes on behind it" {
	echo 'event = sched:sched_switch' > a.conf
	run -0 --separate-stderr weft start -B "$NAME" --config=a.conf -f 'prev_prio < 7' --dry-run
	[[ "$output" == *"echo 'prev_prio < 7' > instances/$NAME/events/sched/sched_switch/filter"* ]]
	# The options of the COMMAND are not examined.
	run -0 weft start -B "$NAME" -e sched:sched_switch --dry-run -- ls --config none
	[[ "$output" == *"exec ls --config none"* ]]
}

@test "config: errors name the file and the line" {
	printf 'event = sched\n\nbufer-size = 3\n' > a.conf
	run -2 weft start --config a.conf
	[[ "$output" == *"a.conf:3: no option 'bufer-size'; did you mean 'buffer-size'"* ]]
	printf 'event = sched\nbuffer-size = 3x\n' > a.conf
	run -2 weft start --config a.conf
	[[ "$output" == *"a.conf:2: "*"'3x'"* ]]
	printf 'stacktrace = 2\n' > a.conf
	run -2 weft start --config a.conf
	[[ "$output" == *"a.conf:1: 'stacktrace' takes no value"* ]]
	printf 'event\n' > a.conf
	run -2 weft start --config a.conf
	[[ "$output" == *"a.conf:1: 'event' needs a value"* ]]
	printf 'config = a.conf\n' > a.conf
	run -2 weft start --config a.conf
	[[ "$output" == *"a.conf:1: "* ]]
	run -2 weft start --config no.conf
	[[ "$output" == *"cannot open 'no.conf': No such file"* ]]
	run -2 weft start --config
	[[ "$output" == *"needs a FILE"* ]]
	# A word behind an abbreviated option could be the COMMAND.
	run -2 weft start --buffer-s 10M --config a.conf
	[[ "$output" == *"--config: do not abbreviate --config and the options before it"* ]]
}

@test "config: any bytes end with a message, not with a crash" {
	for n in 1 2 3 4 5; do
		head -c 3000 /dev/urandom > a.conf
		run -2 weft start --config a.conf
	done
	printf '[]\n' > a.conf
	run -2 weft start --config a.conf
	printf '=\n' > a.conf
	run -2 weft start --config a.conf
	printf 'event = a\0b\n' > a.conf
	run ! weft start --config a.conf
}

@test "dry-run: changes nothing, and its script does what start does" {
	args=(-B "$NAME" -e sched:sched_switch -f 'prev_comm ~ "it*"' -e 'irq:*' -R 'stacktrace:3' -b 300 -C mono -M 0 -O sym-offset
		--cpu-buffer-size 0=200 --buffer-percent 7)
	weft start "${args[@]}" --dry-run > script
	[ ! -d $I ]
	settings()
	{
		(cd $I && grep -H '' events/*/*/filter events/*/*/enable events/*/*/trigger trace_clock trace_options tracing_on \
			tracing_cpumask buffer_percent per_cpu/*/buffer_size_kb) | sed 's/:count=[0-9]*/:count=N/'
	}
	weft start "${args[@]}"
	settings > by-weft
	weft reset -B "$NAME"
	[ ! -d $I ]
	sh script
	settings > by-script
	diff by-weft by-script
}

@test "dry-run: each trigger is set once, after tracing was turned on, as start does it" {
	weft start -B "$NAME" -e sched:sched_switch -R 'stacktrace:3' -e sched:sched_waking -R stacktrace --dry-run > script
	[ "$(grep -c 'stacktrace:3' script)" = 1 ]
	[ "$(grep -n 'stacktrace:3' script | cut -d: -f1)" -gt "$(grep -n '^echo 1 > .*tracing_on$' script | cut -d: -f1)" ]
	[ "$(grep -n "stacktrace >> " script | cut -d: -f1)" -gt "$(grep -n '^echo 1 > .*tracing_on$' script | cut -d: -f1)" ]
	# The kernel refuses a second trigger of a kind with EEXIST.
	run -0 sh -e script
	[ -z "$output" ]
	grep -q '^stacktrace:count=' $I/events/sched/sched_switch/trigger
}

@test "dry-run: of a recording runs the command, traced, with its status" {
	# The script sets it, and ends while the buffer has to be read still, so it restores nothing.
	cmdlines=$(cat /sys/kernel/tracing/saved_cmdlines_size)
	weft record -B "$NAME" -e sched:sched_process_exec -e sched:sched_process_exit -F --dry-run -- sh -c 'echo "here $0"; exit 4' a\'b > script
	run -4 timeout 30 sh script
	[ "$output" = "here a'b" ]
	[ "$(cat $I/tracing_on)" = 0 ]
	[ "$(grep -c sched_process_exec $I/trace)" = 1 ]
	grep -q 'sched_process_exit.*comm=sh' $I/trace
}

@test "setup: a filter of a system is set where it fits, and weft says where not" {
	run -0 weft start -B "$NAME" -e sched -f 'prio < 100'
	[[ "$output" == *"the filter 'prio < 100' is valid for "*" of the "*" events of 'sched'; these are traced without a filter: "* ]]
	[ "$(cat $I/events/sched/sched_waking/filter)" = 'prio < 100' ]
	[ "$(cat $I/events/sched/sched_switch/filter)" = none ]
	[ "$(cat $I/events/sched/enable)" = 1 ]
}

@test "setup: a filter that fits no event of a system is an error" {
	run -1 weft start -B "$NAME" -e sched -f 'no_such_field < 100'
	[[ "$output" == *no_such_field* ]]
	[ ! -d $I ]
}

@test "setup: sizes of CPUs, percent and tasks left out of somebody's instance are put back" {
	mkdir $I
	(cd $I && cat per_cpu/*/buffer_size_kb buffer_percent set_event_notrace_pid) > before
	weft start -B "$NAME" -e sched:sched_switch --cpu-buffer-size 0=333 --buffer-percent 9 --no-pid $$
	[ "$(cat $I/buffer_percent)" = 9 ]
	[ "$(cat $I/set_event_notrace_pid)" = $$ ]
	weft reset -B "$NAME"
	# A buffer that was never used cannot be made so again: it gets the size of its first use.
	(cd $I && cat per_cpu/*/buffer_size_kb buffer_percent set_event_notrace_pid) | sed 's/.*expanded: \(.*\))/\1/' > after
	sed 's/.*expanded: \(.*\))/\1/' before | diff - after
}

@test "setup: what this kernel lacks is named with the option that provides it" {
	grep -qw hwlat /sys/kernel/tracing/available_tracers && skip "this kernel has hwlat"
	run -1 weft start -B "$NAME" -p hwlat
	[[ "$output" == *"no tracer 'hwlat'; CONFIG_HWLAT_TRACER provides it"* ]]
	run -1 weft start -B "$NAME" -e sched:sched_switch --hwlat width=100
	[[ "$output" == *"CONFIG_HWLAT_TRACER"* ]]
	[ ! -d $I ]
}

@test "setup: keys and commands that are not there come with near ones" {
	run -2 weft start -e sched --hwlat widht=3
	[[ "$output" == *"did you mean 'width'"* ]]
	run -2 weft start -e sched --osnoise perod=3
	[[ "$output" == *"did you mean 'period'"* ]]
	run -2 weft start -e sched --osnoise period=1.5us
	[[ "$output" == *"whole microseconds"* ]]
	run -2 weft start -e sched --cpu-buffer-size 3
	[[ "$output" == *"CPULIST=SIZE"* ]]
}

@test "instance: what all share is set by options before the first -B, too" {
	weft start --dry-run --thresh 70 --cpu-buffer-size 0=512K -B "$NAME" --thresh 80 -e sched:sched_switch > before
	grep -q "^echo 80 > tracing_thresh$" before
	grep -q "^echo 512 > instances/$NAME/per_cpu/cpu0/buffer_size_kb$" before
	weft start --dry-run --thresh 70 -B "$NAME" -b 300 -e sched:sched_switch > before
	grep -q "^echo 70 > tracing_thresh$" before
	weft start --dry-run --cpu-buffer-size 0=512K -B "$NAME" -b 300 -e sched:sched_switch > before
	run -1 grep -q "per_cpu/cpu0/buffer_size_kb" before
}

@test "instance: an option of a main buffer that nothing is traced into is refused, and set applies it" {
	for own in "-O sym-offset" "-T" "-l vfs_read" "--max-graph-depth 3"; do
		# shellcheck disable=SC2086
		run -2 weft start --dry-run $own -B "$NAME" -e sched:sched_switch
		[[ "$output" == *"${own%% *} before the first -B applies to the main instance"* ]]
	done
	mkdir "$I"
	weft set --dry-run -O sym-offset -B "$NAME" -e sched:sched_switch > both
	rmdir "$I"
	grep -q "^echo 1 > options/sym-offset$" both
	grep -q "^echo 1 > instances/$NAME/events/sched/sched_switch/enable$" both
}

@test "tasks: a list of commas names none" {
	run -2 weft start --dry-run -P , -e sched:sched_switch
	[[ "$output" == *"-P: the list ',' has no PID"* ]]
}

@test "dry-run: a number like that of the command to come stays a number" {
	weft start --dry-run --thresh 2147483647 -B "$NAME" -F -e sched:sched_switch -- true > script
	grep -q "^echo 2147483647 > tracing_thresh$" script
	grep -q "^echo \"\$command\" > instances/$NAME/set_event_pid$" script
}

@test "setup: --wait takes a time or none, and belongs to what traces" {
	run -2 weft start --wait=never -e sched
	[[ "$output" == *"--wait"*"'never'"* ]]
	run -2 weft set --wait -e sched
	[[ "$output" == *"no option '--wait'"* ]]
	run -0 weft record --wait=5s -e sched:sched_switch --dry-run
	run -0 weft stream --wait -e sched:sched_switch --dry-run
}
