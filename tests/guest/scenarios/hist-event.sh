# SPDX-License-Identifier: GPL-2.0-only
# weft hist: keys of every kind, values, filters, formats, a named instance, and a kill; nothing stays.
# hist SENTENCE STATUS OPTION...: its messages go to /tmp/h.err, its output to /tmp/h.txt
hist() {
	local sentence="$1" status="$2"

	shift 2
	timeout 40 weft hist "$@" > /tmp/h.txt 2> /tmp/h.err
	check "$sentence" status_is $? "$status" /tmp/h.err
}
# missing: prints the system call by which the shell finds out that a file is missing
missing() {
	local call

	for call in newfstatat fstatat64 statx stat64 stat; do
		[ ! -e $T/events/syscalls/sys_exit_$call ] || echo 1 > $T/events/syscalls/sys_exit_$call/enable
	done
	[ -e /nowhere ]
	echo 0 > $T/events/syscalls/enable
	sed -n 's/.* sys_\([a-z0-9]*\) -> 0xf*fe$/\1/p' $T/trace | tail -n 1
	echo > $T/trace
}
work='i=0; while [ $i -lt 20 ]; do head -n 1 /proc/version > /dev/null; i=$((i + 1)); done'

scenario() {
	local stat

	has_command hist || { skip "histograms" "weft has no hist yet"; return; }
	[ -e $T/events/sched/sched_switch/hist ] || { skip "histograms" "this kernel has none"; return; }
	stat=$(missing)
	remember
	hist "by a number" 0 sched:sched_switch --keys next_pid -- sh -c "$work"
	check "titles" matches /tmp/h.txt '^next_pid +hitcount'
	check "rows with bars" matches /tmp/h.txt '^ *[0-9]+ +[0-9]+ +#'
	check "a sum" matches /tmp/h.txt '^sched:sched_switch: [0-9,]+ hits in [0-9]+ rows, 0 dropped'
	hist "by the name of the task, with values" 0 sched:sched_switch --keys execname --values prev_prio,next_prio -- sh -c "$work"
	check "names and sums" matches /tmp/h.txt '^[a-z]+-[0-9]+ +[0-9]+ +#+ +[0-9]+ +[0-9]+$'
	hist "by task and CPU" 0 sched:sched_switch --keys next_pid,common_cpu -- sh -c "$work"
	check "CPUs have a column" matches /tmp/h.txt '^next_pid +(common_)?cpu +hitcount'
	check "each task has its CPU" matches /tmp/h.txt '^ *[0-9]+ +[01] +[0-9]+ +#'
	hist "by system call" 0 raw_syscalls:sys_enter --keys id.syscall -F -c -- sh -c "$work"
	check "system calls by name" matches /tmp/h.txt '^sys_[a-z0-9]+ '
	hist "by powers of two" 0 kmem:kmalloc --keys bytes_req.log2 -- sh -c "$work"
	check "ranges" matches /tmp/h.txt '^[0-9]+ - [0-9]+ +[0-9]+'
	hist "by steps" 0 kmem:kmalloc --keys bytes_req.buckets=100 -- sh -c "$work"
	check "ranges of 100" matches /tmp/h.txt '^[0-9]*00 - [0-9]*99 +[0-9]+'
	hist "by function" 0 kmem:kmalloc --keys call_site.sym --values bytes_alloc -- sh -c "$work"
	check "names of functions" matches /tmp/h.txt '^[a-z_0-9.]+ +[0-9]+ +#'
	hist "by stack" 0 sched:sched_switch --keys stacktrace --sort hitcount -- sh -c "$work"
	check "stacks stand below their row" matches /tmp/h.txt '^    [a-z_0-9.]+\+0x'
	hist "a filter and few rows" 0 sched:sched_switch --keys next_pid --filter 'next_pid > 0' --size 128 -- sh -c "$work"
	check "the idle task is not there" lacks /tmp/h.txt '^ +0 '
	hist "as JSON" 0 sched:sched_switch --keys next_comm,next_prio --format json -- sh -c "$work"
	check "one line" equal "$(wc -l < /tmp/h.txt)" 1
	check "with keys and values" matches /tmp/h.txt '"rows":\[\{"keys":\{"next_comm":"[^"]+","next_prio":[0-9]+\},"values":\{"hitcount":[0-9]+\}\}'
	# The oracle is the result of the call in the traced command.
	hist "by a number that may be below 0" 0 syscalls:sys_exit_$stat --keys ret -F -c -- sh -c '[ -e /nowhere ] || true'
	check "is below 0 (-ENOENT)" matches /tmp/h.txt '^ *-2 +[1-9]'
	check "and not above 2^63" lacks /tmp/h.txt '18446744073709551614'
	hist "the same as JSON" 0 syscalls:sys_exit_$stat --keys ret --format json -F -c -- sh -c '[ -e /nowhere ] || true'
	check "is below 0" matches /tmp/h.txt '"keys":\{"ret":-2\}'
	hist "the kernel's own text" 0 sched:sched_switch --keys next_pid --format kernel -- sh -c "$work"
	check "is the kernel's" matches /tmp/h.txt '^# trigger info: hist:keys=next_pid:'
	hist "live, for a time" 0 sched:sched_switch --keys next_pid --interval 500ms --duration 1500ms
	check "shows more than one" more "$(grep -c '^next_pid' /tmp/h.txt)" 1
	hist "the status is that of COMMAND" 7 sched:sched_switch --keys next_pid -- sh -c 'exit 7'
	unchanged "histograms leave nothing behind"

	mkdir $T/instances/somebody
	echo 'hist:keys=prev_pid' > $T/instances/somebody/events/sched/sched_switch/trigger
	cat $T/instances/somebody/events/sched/sched_switch/trigger > /tmp/t.before
	hist "in an instance of somebody" 0 -B somebody sched:sched_switch --keys next_pid -- sh -c "$work"
	check "ours is shown" matches /tmp/h.txt '^next_pid'
	cat $T/instances/somebody/events/sched/sched_switch/trigger > /tmp/t.after
	same "somebody's histogram stays" /tmp/t.before /tmp/t.after
	hist "the same histogram again" 1 -B somebody sched:sched_switch --keys prev_pid --sort hitcount -- true
	check "is told to be there" matches /tmp/h.err 'Hist trigger already exists'
	rmdir $T/instances/somebody

	hist "no such field" 1 sched:sched_switch --keys next_pidd -- true
	check "is told with those that fit" matches /tmp/h.err "did you mean 'next_pid'"
	hist "no such modifier" 1 sched:sched_switch --keys next_pid.log3 -- true
	check "is told with the kernel's words" matches /tmp/h.err 'Invalid field modifier'
	check "the caret" matches /tmp/h.err '^ +\^$'
	check "and the modifiers" matches /tmp/h.err 'the modifiers are hex'
	hist "no such sort key" 1 sched:sched_switch --keys next_pid --sort prev_pid -- true
	check "is told with the kernel's words" matches /tmp/h.err 'Sort field must be a key or a val'
	hist "a filter of no field" 1 sched:sched_switch --keys next_pid --filter 'nex_pid > 1' -- true
	check "is told" matches /tmp/h.err "has no field 'nex_pid'"
	hist "several events" 1 sched --keys x -- true
	hist "no such event" 1 sched:sched_swich --keys x -- true
	check "is told with those that fit" matches /tmp/h.err 'sched:sched_switch'
	unchanged "refusals leave nothing behind"

	weft hist sched:sched_switch --keys next_pid > /tmp/h.txt 2> /tmp/h.err &
	local pid=$!
	await 'grep -qs "^hist" $T/instances/weft-$pid/events/sched/sched_switch/trigger'
	kill -INT $pid
	wait $pid
	check "Ctrl-C ends it" status_is $? 0 /tmp/h.err
	check "and shows it" matches /tmp/h.txt '^next_pid +hitcount'
	unchanged "Ctrl-C leaves nothing behind"
}
