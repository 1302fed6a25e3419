# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	has_tracer blk || { skip "blk" "this kernel has no such tracer"; return; }
	[ -e /sys/block/vda/trace/enable ] || { skip "blk" "no disk with blk tracing in the guest"; return; }
	VARIANTS='blk_classic blk_cgroup blk_cgname verbose latency-format nocontext-info raw'
	# 5.10 does not trace a disk that nobody has open.
	live blk 'exec 3< /dev/vda; echo 1 > /sys/block/vda/trace/enable; dd if=/dev/zero of=/dev/vda bs=4k count=8 seek=10 2> /dev/null; sync
		echo 3 > /proc/sys/vm/drop_caches; dd if=/dev/vda of=/dev/null bs=4k count=8 2> /dev/null; echo 0 > /sys/block/vda/trace/enable' -p blk
	VARIANTS='blk_classic blk_classic,context-info'
	live blk-both 'exec 3< /dev/vda; echo 1 > /sys/block/vda/trace/enable; dd if=/dev/zero of=/dev/vda bs=4k count=8 seek=30 2> /dev/null; sync
		echo 0 > /sys/block/vda/trace/enable' -p blk -e block -e sched_process_exec
	VARIANTS=
	live blk-classic 'exec 3< /dev/vda; echo 1 > /sys/block/vda/trace/enable; dd if=/dev/zero of=/dev/vda bs=4k count=8 seek=40 2> /dev/null; sync
		echo 0 > /sys/block/vda/trace/enable' -p blk -O blk_classic -e block -e sched_process_exec
	VARIANTS='raw fields'
	[ -d $T/events/block ] && live block-events 'dd if=/dev/zero of=/dev/vda bs=4k count=8 seek=20 2> /dev/null; sync' -e block
}
