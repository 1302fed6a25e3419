# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
. /host/examples.sh

scenario() {
	remember
	example "ftrace.rst 3472, 3630" 'echo 10000 > buffer_size_kb' 'weft set -b 10000'
	example "ftrace.rst 3480" 'echo 1000000000000 > buffer_size_kb; false' 'weft set -b 1000000000000'
	if [ -e $T/per_cpu/cpu1 ]; then
		example "ftrace.rst 3488-3489" 'echo 10000 > per_cpu/cpu0/buffer_size_kb; echo 100 > per_cpu/cpu1/buffer_size_kb' \
			'weft set --cpu-buffer-size 0=10000 --cpu-buffer-size 1=100'
	else
		skip "ftrace.rst 3488-3489 and 3631-3638" "this machine has one CPU"
	fi
	example "ftrace.rst 3547-3548" 'echo 1 > events/sched/enable; echo 1 > snapshot' 'weft set -e sched && weft snapshot take'
	example "ftrace.rst 3587-3588" 'echo wakeup > current_tracer; echo 1 > snapshot' 'weft set -p wakeup && weft snapshot take' \
		'echo 0 > options/function-trace'
	[ ! -e $T/per_cpu/cpu1 ] ||
		example "ftrace.rst 3631-3638" 'echo 1000 > instances/foo/buffer_size_kb; echo 5000 > instances/bar/per_cpu/cpu1/buffer_size_kb; \
			echo 1 > instances/foo/events/sched/sched_wakeup/enable; echo 1 > instances/foo/events/sched/sched_wakeup_new/enable; \
			echo 1 > instances/foo/events/sched/sched_switch/enable; echo 1 > instances/bar/events/irq/enable; \
			echo 1 > instances/zoot/events/syscalls/enable' \
			'weft set -B foo -b 1000 -e sched:sched_wakeup -e sched:sched_wakeup_new -e sched:sched_switch \
			-B bar --cpu-buffer-size 1=5000 -e irq -B zoot -e syscalls' 'mkdir instances/foo instances/bar instances/zoot'
	example "ftrace.rst 3739" 'echo 1 > /proc/sys/kernel/stack_tracer_enabled' 'weft stack start' 'echo vfs_read > stack_trace_filter'
	examples_end
}
