# SPDX-License-Identifier: GPL-2.0-only
# kernel: trace_clock=mono
# start: -p function -l 'vfs_o*' -b 700K -B foo -e sched:sched_process_exec -e signal -B bar -e irq
# Events of instances from boot on, by the output of weft start --boot. This works, too, on kernels that hang with events
# of the top instance (start-boot).

scenario() {
	local I=$T/instances

	cat /proc/cmdline
	check "the tracer" equal "$(cat $T/current_tracer)" function
	check "its functions" matches $T/set_ftrace_filter '^vfs_o'
	check "the size of the buffer" matches $T/per_cpu/cpu0/buffer_size_kb '^70[0-9]$'
	weft start --boot -e sched:sched_switch > /tmp/line.txt 2> /tmp/told.txt
	check "weft prints parameters for events of the top instance" equal "$(cat /tmp/line.txt)" trace_event=sched:sched_switch
	case "$(uname -rv)" in
	7.[0-3].*PREEMPT_RT*) check "and warns of them" matches /tmp/told.txt 'waits forever at boot.*-B NAME' ;;
	*) check "and warns of nothing" equal "$(cat /tmp/told.txt)" "" ;;
	esac
	grep -q boot_instance /tmp/kallsyms || { skip "instances" "this kernel's command line makes none"; return; }
	check "an instance" matches $I/foo/set_event '^sched:sched_process_exec$'
	check "with all of its events" equal "$(cat $I/foo/events/signal/enable)" 1
	check "and its size" matches $I/foo/per_cpu/cpu0/buffer_size_kb '^70[0-9]$'
	check "which hold what happened" matches $I/foo/trace ' sched_process_exec: '
	check "another instance" equal "$(cat $I/bar/events/irq/enable)" 1
	check "with the events of interrupts" matches $I/bar/trace ' irq_handler_entry: | softirq_entry: '
}
