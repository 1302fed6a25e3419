# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# Every command that changes settings is killed at several moments; weft reset restores the settings.

. /host/start.sh

scenario() {
	local instance=$T/instances/somebody

	mkdir $instance
	echo 'prev_prio < 50' > $instance/events/sched/sched_switch/filter
	echo 1 > $instance/events/irq/enable
	remember
	killed "set" weft set -e sched -f 'common_pid > 0' -e block -R stacktrace -C mono -b 700 -O sym-offset --thresh 100us
	killed "set of an instance" weft set -B somebody -e sched -f 'common_pid > 0' -e block -R stacktrace -C mono -b 700
	has_tracer function && killed "set of functions" weft set -p function -l 'vfs_*' -n vfs_write -l vfs_link:traceoff:3
	[ -e $T/snapshot ] && killed "snapshot" weft snapshot take
	[ -e $T/stack_trace ] && killed "stack" weft stack start -l 'vfs_*'
	killed "stream" weft stream -e sched -e irq -C mono -o /tmp/killed.txt
	[ -e $T/events/sched/sched_switch/hist ] && killed "hist" weft hist -B somebody sched:sched_switch --keys next_pid
	[ -e $T/kprobe_events ] && killed "a probe of a recording" weft record --probe 'vfs_read' -o /tmp/killed.dat
	rmdir $instance
}
