# SPDX-License-Identifier: GPL-2.0-only
# Tasks of 40 services wait for a CPU, each for a reason that is planted (tests/guest/causes.c): a neighbour, a task of
# their own, their quota, an interrupt. The parts of weft latency --by unit name it.

# largest FILE: "WHO PART MOST-FOR" of each row: its largest part, and of others the one that most of it was for
largest() {
	awk -F, '/^$/ { exit }
		NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
		{ most = 0; part = whom = "-"
		  for (i = 2; i <= NF; i++) {
			if (name[i] == "most_for") whom = $i
			if (name[i] ~ /^(quota|others|own|kernel|irq|softirq|idle|unknown)_ns$/ && $i > most) { most = $i; part = name[i] }
		  }
		  print $1, part, whom }' "$1"
}

# planted: what is to be found
planted() {
	local n

	for n in 0 1 2 3 4 5 6 7 8 9; do
		echo "neighbour-$n.service others_ns hog-$n.service"
		echo "own-$n.service own_ns"
		echo "quota-$n.service quota_ns"
		echo "irq-$n.service irq_ns"
	done | sort
}

scenario() {
	# There, timers of programs expire in a thread.
	! uname -v | grep -q PREEMPT_RT || { skip everything "no long interrupts with PREEMPT_RT"; return; }
	command -v causes > /dev/null && [ -d $T/events/irq_vectors ] && [ -e $T/kprobe_events ] && grep -q ' tg_throttle_down$' /proc/kallsyms &&
		[ -e /sys/kernel/btf/vmlinux ] || { skip everything "this kernel has no probes, no types or no quotas"; return; }
	mkdir -p /tmp/cg && mount -t cgroup2 none /tmp/cg && echo +cpu > /tmp/cg/cgroup.subtree_control ||
		{ skip everything "no control group can be made"; return; }
	planted > /tmp/want
	: > /tmp/found
	# On a busy host the guest stands still for tens of milliseconds now and then, which is a wait for something else then.
	for try in 1 2 3; do
		record "weft records 40 services that wait" 0 --quota -b 8M -C mono -e sched:sched_switch -e 'sched:sched_wak*' -e sched:sched_migrate_task \
			-e irq -e irq_vectors -e task:task_newtask -e sched:sched_process_exit -e cgroup:cgroup_attach_task -e cgroup:cgroup_mkdir -- \
			sh -c 'causes /tmp/cg 10 > /tmp/truth'
		rmdir /tmp/cg/*.service
		cat /tmp/r.err /tmp/truth
		weft latency --by unit --format csv --table waits /tmp/r.dat > /tmp/waits.csv 2> /tmp/r.err || break
		cat /tmp/waits.csv
		largest /tmp/waits.csv | sed 's/\( own_ns\| quota_ns\| irq_ns\) .*/\1/' | grep -xFf /tmp/want > /tmp/named
		echo "try $try: $(wc -l < /tmp/named) of 40"
		sort -u -o /tmp/found /tmp/found /tmp/named
		! cmp -s /tmp/want /tmp/found || break
	done
	check "weft latency --by reads it" equal "$(cat /tmp/r.err)" ""
	same "the largest part of each of the 40 waits is the reason that was planted" /tmp/want /tmp/found
	umount /tmp/cg
}
