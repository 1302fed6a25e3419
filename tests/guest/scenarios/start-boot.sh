# SPDX-License-Identifier: GPL-2.0-only
# kernel: trace_clock=mono kprobe_event=p:weft/vfs_open,vfs_open
# start: -e sched:sched_switch -R 'stacktrace if prev_state == 2' -e irq -b 700K -p function -l 'vfs_o*' -n vfs_open -O sym-offset --thresh 100us -B foo -e sched:sched_process_exec -e signal
# hangs: ^7\.[0-3]\..* PREEMPT_RT
# Those kernels wait forever with trace_event=: event_trace_enable_again() switches the events off and on again, for which
# tracepoint.c waits for a grace period of SRCU. On PREEMPT_RT that begins in a thread that irq_work_init_threads() makes
# later. start-boot-instances tests what they can do.
# A kernel that was booted with the output of weft start --boot traces as requested: its own files show it.

scenario() {
	cat /proc/cmdline
	# qemu's malta (mips) passes no more than 255 characters of it on.
	[ "$(wc -c < /proc/cmdline)" != 256 ] || { skip "everything" "the kernel got only the first 255 characters of its command line"; return; }
	check "the tracer" equal "$(cat $T/current_tracer)" function
	check "its functions" matches $T/set_ftrace_filter '^vfs_o'
	check "and those left out" equal "$(cat $T/set_ftrace_notrace)" vfs_open
	check "an event" equal "$(cat $T/events/sched/sched_switch/enable | tr -d '*')" 1
	check "no other of its system" equal "$(cat $T/events/sched/enable)" X
	check "a system" equal "$(cat $T/events/irq/enable)" 1
	check "the size of the buffer" matches $T/per_cpu/cpu0/buffer_size_kb '^70[0-9]$'
	check "the clock" matches $T/trace_clock '\[mono\]'
	check "an option" matches $T/trace_options '^sym-offset$'
	check "the threshold" equal "$(cat $T/tracing_thresh)" 100
	check "the buffer holds events" matches $T/trace ' sched_switch: '
	check "weft prints a probe as the kernel's command line has it" \
		equal "$(weft start --boot -C mono --probe vfs_read)" "trace_clock=mono kprobe_event=p:weft/vfs_read,vfs_read"
	check "and the kernel has made that probe" matches $T/dynamic_events '^p:weft/vfs_open vfs_open'
	# The probe's directory would be no proof: init_kprobe_trace() may add an event after the kernel has made the
	# directories of events and before it has reported the event.
	check "which is on" matches $T/kprobe_profile '^ *vfs_open  *[1-9]'
	if grep -q setup_trace_triggers /tmp/kallsyms; then
		check "a trigger" matches $T/events/sched/sched_switch/trigger '^stacktrace:unlimited if prev_state == 2$'
	else
		skip "a trigger" "this kernel's command line takes none"
	fi
	if grep -q boot_instance /tmp/kallsyms; then
		check "an instance" matches $T/instances/foo/set_event '^sched:sched_process_exec$'
		check "with all of its events" equal "$(cat $T/instances/foo/events/signal/enable)" 1
	else
		skip "an instance" "this kernel's command line makes none"
	fi
}
