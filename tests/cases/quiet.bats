#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft does not hide events of others while it leaves out its own, and causes few. The oracle is what devices, counters
# and workloads count themselves.
load lib

setup()
{
	need_tracefs
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# written EVENT... [-v EVENT...]: makes 2,000 direct writes, recorded with these events except those behind -v. Each
# write was queued, issued (or merged with another request) and completed, and as many interrupts of the device were
# recorded as the kernel counted meanwhile.
written()
{
	local writes=2000 disk irq counted options=() event

	for event; do [ "$event" = -v ] && options+=(-v) || options+=(-e "$event"); done
	disk=$(findmnt -no SOURCE -T . | sed 's|.*/||')
	[ -r "/sys/class/block/$disk/stat" ] || skip "no disk of its own under $PWD"
	dd if=/dev/zero of=file bs=4k count=$writes conv=fsync 2> dd.err
	dd if=/dev/zero of=file bs=4k count=1 oflag=direct conv=notrunc 2> dd.err || skip "no direct writes here"
	weft record -b 30000 -o w.dat "${options[@]}" -- sh -c "
		cat /proc/interrupts > irq.before
		dd if=/dev/zero of=file bs=4k count=$writes oflag=direct conv=notrunc 2> dd.err & echo \$! > pid; wait
		cat /proc/interrupts > irq.after" 2> w.err
	grep -q ' 0 lost' w.err
	weft report --format=ftrace w.dat > w.txt
	# A line is like: dd-12 [000] ..... 1.2: block_bio_queue: 254,0 WFS 2048 + 8 [dd]. A worker of the kernel may
	# issue the request.
	awk -v writes=$writes -v dd="-$(cat pid) " '
		/ block_(bio_(queue|backmerge|frontmerge)|rq_issue|rq_complete): / { place = ""; for (i = 1; i < NF; i++) if ($i == "+") place = $(i - 1) "+" $(i + 1) }
		/ block_bio_queue: / && index($0, dd) { asked++; queue[place]++ }
		/ block_bio_(back|front)merge: / && queue[place] { merged++; queue[place]-- }
		/ block_rq_issue: / && queue[place] { issued++; queue[place]--; open[place]++ }
		/ block_rq_complete: / && open[place] { completed++; open[place]-- }
		END { print asked " asked for, " issued " issued, " merged + 0 " merged, " completed " completed of " writes
			exit asked < writes || issued + merged != asked || completed != issued }' w.txt
	# The device of these requests is the one with the most interrupts.
	irq=$(awk '{ sub(":", "", $1); n = 0; for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) n += $i
		if (NR == FNR) was[$1] = n; else if ($1 ~ /^[0-9]+$/ && $NF ~ /req|nvme|ahci|scsi|blk/ && n - was[$1] > most) { most = n - was[$1]; irq = $1 } }
		END { if (irq != "") print irq, most }' irq.before irq.after)
	[ -n "$irq" ] || return 0
	counted=${irq#* }
	[ "$(grep -c " irq_handler_entry: irq=${irq% *} " w.txt)" -ge "$counted" ]
}

@test "quiet: each of 2,000 direct writes is issued, interrupts and is completed, -e irq -e block" {
	written irq block
}

@test "quiet: so they are with -e sched" {
	written irq block sched
}

@test "quiet: so they are with memory and system calls recorded, too" {
	written irq block kmem raw_syscalls
}

@test "quiet: so they are with all that there is, but what a busy kernel does millions of times" {
	local system noisy=()

	for system in kmem lock preemptirq rcu exceptions syscalls raw_syscalls; do
		[ -d "/sys/kernel/tracing/events/$system" ] && noisy+=("$system")
	done
	written all -v "${noisy[@]}"
}

@test "quiet: each packet of the loopback device is recorded where it is sent and where it arrives" {
	local before after
	weft record -b 20000 -o p.dat -e net -e irq -- bash -c '
		lo() { sed -n "s/^ *lo: *[0-9]* *\([0-9]*\).*/\1/p" /proc/net/dev; }
		exec 3> /dev/udp/127.0.0.1/9
		lo > before
		for ((i = 0; i < 3000; i++)); do echo $i >&3; done 2> /dev/null
		lo > after' 2> p.err
	grep -q ' 0 lost' p.err
	read -r before < before
	read -r after < after
	[ $((after - before)) -ge 1500 ]
	weft report --format=ftrace p.dat > p.txt
	[ "$(grep -cE ' netif_rx: dev=lo ' p.txt)" -ge $((after - before)) ]
	[ "$(grep -cE ' netif_receive_skb: dev=lo ' p.txt)" -ge $((after - before)) ]
}

@test "quiet: each timer of a program that sleeps 1,000 times expires in the recording" {
	command -v perl > /dev/null || skip "no perl here"
	weft record -b 20000 -o t.dat -e timer -e irq -- perl -e 'select(undef, undef, undef, 0.0005) for 1 .. 1000' 2> t.err
	grep -q ' 0 lost' t.err
	# It sleeps with the same timer each time, and starts the timer under its own name.
	weft report --format=ftrace t.dat | awk '
		{ timer = ""; for (i = 1; i <= NF; i++) if ($i ~ /^hrtimer=/) timer = $i }
		/^ *perl-.* hrtimer_start: .*function=hrtimer_wakeup/ { started++; on[timer] = 1 }
		/ hrtimer_expire_entry: / && on[timer] { expired++; on[timer] = 0 }
		END { print started " started, " expired " expired"; exit started < 1000 || expired != started }'
}

@test "quiet: a recording of all system calls has next to none of weft" {
	local fewest=1000 own try

	# If `true` waits long for a CPU, the recorders check whether they have slept too long.
	for try in 1 2 3; do
		weft record -q -b 20000 -e syscalls -- true
		weft info --setting weft/self > self
		weft report --format=ftrace > all.txt
		own=$(grep -cE -- "-($(tr -s ' ' '|' < self)) +\[" all.txt)
		[ "$own" -ge "$fewest" ] || fewest=$own
	done
	[ "$fewest" -le 5 ]
}

@test "quiet: weft names itself in no list of tasks that are left out, in its instance or at the top" {
	# What others have put there does not belong to weft.
	cat > look <<- 'END'
		cd /sys/kernel/tracing || exit 1
		ls -d instances/weft-$PPID >&2 || exit 1
		cat set_event_notrace_pid instances/weft-$PPID/set_event_notrace_pid > "$1.lists"
		ls /proc/$PPID/task > "$1.self"
	END
	weft record -q -e sched -- sh look "$PWD/record"
	weft stream -e sched:sched_process_exec -- sh look "$PWD/stream" > /dev/null
	for word in record stream; do
		[ -s $word.self ]
		run -1 grep -xFf $word.self $word.lists
	done
}

@test "quiet: report --no-self leaves out weft's own events and keeps interrupts that hit it" {
	weft record -q -e raw_syscalls -e irq -e sched -- sleep 0.1
	weft info --setting weft/self | grep -qE '^[0-9]+( [0-9]+)+$'
	weft report --format=ftrace > all.txt
	weft report --format=ftrace --no-self > others.txt
	# The third letter of the flags: h, H, z, Z are interrupts, s softirqs. Each line of weft in `others` has one.
	own="^ *[^ ]*-($(weft info --setting weft/self | tr -s ' ' '|')) +\[[0-9]+\] "
	grep -E "$own" all.txt | grep -vE "$own..[hHszZ]" > own.txt || true
	[ -s own.txt ]
	grep -v '^#' all.txt | grep -vxFf own.txt > expected.txt
	diff expected.txt <(grep -v '^#' others.txt)
	# The format for people leaves them out by default.
	left=$(wc -l < own.txt)
	[ "$(weft report --format=pretty | tail -n 1)" = "# $left events of weft itself are left out; --self prints them" ]
	# A system call of two events may be one line.
	[ "$(weft report --format=pretty --self -e sched -e irq | grep -vc '^#')" = "$(weft report -e sched -e irq --self | grep -vc '^#')" ]
	[ "$(weft report --format=json --no-self | grep -c '"event"')" = "$(grep -vc '^#' others.txt)" ]
}

@test "quiet: stream leaves out what weft itself does where the format is for people, or asked, and counts it" {
	local word='echo $PPID > pid; sleep 0.2'

	weft stream -q -e sched:sched_switch --format json --self -- sh -c "$word" > all.json
	grep -q "\"pid\":$(cat pid)," all.json
	weft stream -q -e sched:sched_switch --format json --no-self -- sh -c "$word" > others.json
	[ -s others.json ]
	run -1 grep "\"pid\":$(cat pid)," others.json
	weft stream -e sched:sched_switch --format pretty -- sh -c "$word" > people.txt 2> summary
	run -1 grep -E -- " [^ ]+-$(cat pid) +sched_switch" people.txt
	tail -n 1 people.txt | grep -qE '^# [0-9,]+ events? of weft itself (is|are) left out; --self prints (it|them)$'
	[ "$(sed -nE 's/^weft: ([0-9,]+) events? in .*/\1/p' summary | tr -d ,)" = "$(grep -c ' sched_switch  ' people.txt)" ]
	weft stream -q -e sched:sched_switch --format pretty --self -- sh -c "$word" > people.txt
	grep -qE -- " [^ ]+-$(cat pid) +sched_switch" people.txt
}

@test "quiet: --no-filter is taken and changes nothing" {
	weft record -q --no-filter -e sched -- true
	weft check trace.dat
}
