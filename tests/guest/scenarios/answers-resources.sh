# SPDX-License-Identifier: GPL-2.0-only
# Compares weft block, locks, stacks, memory, power and tasks with the kernel's own text of the same buffer, its counters, and
# workloads of known counts.

# phase COMMAND EVENT...: records the events while the command runs, into the same buffer as those of the phases before
phase() {
	local command="$1" e

	shift
	for e in "$@"; do [ ! -e "$T/events/$e/enable" ] || echo 1 > "$T/events/$e/enable"; done
	echo 1 > $T/tracing_on
	eval "$command"
	echo 0 > $T/tracing_on
	echo 0 > $T/events/enable
}

# happen: everything happens in one buffer: the kernel's text goes to /tmp/all.txt, the file is /tmp/all.dat
happen() {
	local e n w

	echo 0 > $T/tracing_on
	echo 4096 > $T/buffer_size_kb
	if [ -n "$disk" ]; then
		before=$(cat /sys/block/vda/stat)
		phase 'dd if=/dev/vda of=/dev/null bs=4k count=32 iflag=direct 2> /dev/null
			dd if=/dev/zero of=/dev/vda bs=8k count=16 seek=40 oflag=direct 2> /dev/null' block
		after=$(cat /sys/block/vda/stat)
	fi
	for e in sched_switch sched_waking; do echo stacktrace > $T/events/sched/$e/trigger; done
	# Two processes that write to one file want the lock of its inode. One may be done before the other one begins. Those
	# that switch events want the lock of all events, and hold it for longer.
	[ -z "$lock" ] || for n in 1 2 3 4 5 6 7 8 9 10; do
		if [ $n -lt 4 ]; then
			w='for w in 1 2; do dd if=/dev/zero of=/tmp/both bs=256k count=40 conv=notrunc 2> /dev/null & done; wait; rm -f /tmp/both'
		else
			w='for w in 1 2; do for n in 1 2 3; do for e in 1 0; do echo $e > $T/instances/want/events/kmem/enable; done; done & done; wait'
		fi
		mkdir -p $T/instances/want
		phase "$w" lock sched/sched_switch sched/sched_waking
		rmdir $T/instances/want
		! grep -q ": contention_end: " $T/trace || break
	done
	phase 'for n in 1 2 3 4 5; do sleep 0.05; done' sched/sched_switch sched/sched_waking
	for e in sched_switch sched_waking; do echo '!stacktrace' > $T/events/sched/$e/trigger; done
	phase 'cat /proc/self/maps > /dev/null' kmem exceptions
	phase 'for n in 1 2 3 4 5; do sleep 0.05; done' power irq_vectors irq powerpc/timer_interrupt_entry powerpc/timer_interrupt_exit \
		timer/hrtimer_start timer/hrtimer_expire_entry timer/timer_start timer/timer_expire_entry sched/sched_switch
	phase 'for n in 1 2 3; do (exit $n); done; sh -c "cat /proc/self/stat; :" > /dev/null; sh -c "kill -9 \$\$; :"' \
		sched/sched_process_fork sched/sched_process_exec sched/sched_process_exit task signal syscalls/sys_enter_exit_group
	cat $T/trace > /tmp/all.txt
	timeout 60 weft extract -o /tmp/all.dat > /tmp/x.out 2> /tmp/x.err
	check "weft extracts what happened" status_is $? 0 /tmp/x.err
	check "nothing of it is lost" lacks /tmp/all.txt 'LOST'
	# For tests/fixtures.
	[ ! -d /host/spare ] || cp /tmp/all.dat /tmp/all.txt /host/spare/
}

# answer COMMAND...: writes the command's answer about the file to /tmp/a.csv
answer() {
	tables "$@" /tmp/all.dat > /tmp/a.csv 2> /tmp/r.err
	check "weft $* reads it" status_is $? 0 /tmp/r.err
}

# column NAME: prints its number in the first table; total NAME [AWK-CONDITION]: prints its sum there
column() { head -n 1 /tmp/a.csv | tr , '\n' | grep -n -x "$1" | cut -d: -f1; }
total() { awk -F, -v c="$(column "$1")" 'NR == 1 { next } /^$/ { exit } '"${2:-1}"' { n += $c } END { printf "%.0f\n", n }' /tmp/a.csv; }
lines() { grep -cE ": $1" /tmp/all.txt; }
# about A B EACH: A, in us from the text, equals B, in ns from weft: the text has lost less than a microsecond each of
# EACH times
about() { awk -v a="$1" -v b="$2" -v n="$3" 'BEGIN { d = a - b / 1000; if (d < 0) d = -d; if (a == "" || d > n + 1) { print a " us, " b " ns"; exit 1 } }'; }

blocks() {
	[ -n "$disk" ] || { skip "weft block" "no disk in the guest"; return; }
	answer block --by task
	check "the reads of dd are 32 of 4 KiB" matches /tmp/a.csv '^dd,[0-9]+,read,32,131072,'
	check "the writes of dd are 16 of 8 KiB" matches /tmp/a.csv '^dd,[0-9]+,write,16,131072,'
	check "the requests are those of the kernel's statistics" equal "$(total requests) $(total bytes)" "$(echo "$before $after" |
		awk '{ for (i = 1; i <= NF / 2; i++) d[i] = $(i + NF / 2) - $i; print d[1] + d[5], (d[3] + d[7]) * 512 }')"
	# Pairs both ends of each request by its address.
	awk '{ match($0, / [0-9]+\.[0-9]+: /); ts = substr($0, RSTART, RLENGTH - 2) * 1e6; place = $0; sub(/ \+ .*/, "", place); sub(/.* /, "", place) }
		/: block_rq_issue: / { since[place] = ts }
		/: block_rq_complete: / && place in since { n++; sum += ts - since[place]; delete since[place] }
		END { printf "%d %.0f\n", n, sum }' /tmp/all.txt > /tmp/disk.sum
	check "their times in the device are those of the kernel's text" about "$(cut -d' ' -f2 /tmp/disk.sum)" "$(total d2c_ns)" "$(cut -d' ' -f1 /tmp/disk.sum)"
	check "all of them have waited since their queueing" lacks /tmp/a.csv '^dd,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,,'
}

contention() {
	[ -n "$lock" ] || { skip "weft locks" "a kernel before 5.19"; return; }
	# Pairs by task and address; a second beginning belongs to the same wait.
	awk '{ match($0, / [0-9]+\.[0-9]+: /); ts = substr($0, RSTART, RLENGTH - 2) * 1e6; at = $0; sub(/.*: contention_[a-z]+: /, "", at); sub(/ .*/, "", at)
			who = substr($0, 1, RSTART); cpu = who; sub(/.*\[/, "", cpu); sub(/\].*/, "", cpu); sub(/ +\[.*/, "", who); sub(/.*-/, "", who)
			if (who == 0) who = "idle" cpu }
		/: contention_begin: / && !((who, at) in since) { since[who, at] = ts }
		/: contention_end: / && (who, at) in since { n++; sum += ts - since[who, at]; delete since[who, at] }
		END { printf "%d %.0f\n", n, sum }' /tmp/all.txt > /tmp/locks.sum
	answer locks
	check "the waits are those of the kernel's text" equal "$(total waits)" "$(cut -d' ' -f1 /tmp/locks.sum)"
	check "there were some" more "$(total waits)" 0
	check "and so is their time" about "$(cut -d' ' -f2 /tmp/locks.sum)" "$(total total_ns)" "$(total waits)"
	check "its parts add up to it" equal "$(($(total spin_ns) + $(total sleep_ns) + $(total wait_ns)))" "$(total total_ns)"
	answer locks --by task
	check "those of tasks are as many" equal "$(total waits)" "$(cut -d' ' -f1 /tmp/locks.sum)"
}

# An event and its stack are of one CPU; those of others may stand between them. An event has no stack if tracing was
# switched off in between.
# with_stacks EVENT: how many of these events have a stack, by the kernel's text
with_stacks() {
	awk -v event=": $1: " 'match($0, /\[[0-9]+\]/) { cpu = substr($0, RSTART, RLENGTH)
			if (/: <stack trace>$/) { n += of[cpu] } else { of[cpu] = index($0, event) > 0 } }
		END { print n + 0 }' /tmp/all.txt
}

# sleeps: how many switches inside a sleep the kernel's text has, by their stacks; for how many us until somebody woke them; how
# many of them put the task to sleep: one that has just been woken may be made to wait for the CPU inside schedule() again
sleeps() {
	awk 'match($0, /\[[0-9]+\]/) {
			cpu = substr($0, RSTART, RLENGTH); last = ""
			match($0, / [0-9]+\.[0-9]+: /); ts = substr($0, RSTART, RLENGTH - 2) * 1e6
			if (/: <stack trace>$/) { pid = of[cpu]; next }
			pid = of[cpu] = 0
			if (/: sched_switch: prev_comm=sleep /) { sub(/.* prev_pid=/, ""); of[cpu] = $1 + 0; left[cpu] = ts; asleep[cpu] = / prev_state=[SD] / }
			if (/: sched_waking: comm=sleep /) { sub(/.* pid=/, ""); if ($1 + 0 in since) { us += ts - since[$1 + 0]; delete since[$1 + 0] } }
			next
		}
		pid && $2 == "do_nanosleep" && last == "schedule" { n++; if (asleep[cpu]) { slept++; since[pid] = left[cpu] } }
		{ last = $2 }
		END { printf "%d %.0f %d\n", n, us, slept }' /tmp/all.txt
}

stacks() {
	answer stacks --by function
	check "there are as many stacks as in the kernel's text" equal "$(total count)" "$(grep -c '<stack trace>' /tmp/all.txt)"
	check "of switches, too" equal "$(total count '/sched:sched_switch/')" "$(with_stacks sched_switch)"
	tables stacks /tmp/all.dat --by stack --comm sleep > /tmp/s.csv
	# A kernel with PREEMPT_RT may also wait for a lock on the way out of a sleep, below another function.
	awk -F, '/^$/ { off = 1 } off && /,([^,]* < )?schedule < do_nanosleep </ { n += $4; ns += $6 } END { printf "%d %.0f\n", n, ns }' \
		/tmp/s.csv > /tmp/slept
	sleeps > /tmp/sleeps
	check "the sleeps are those of the kernel's text" equal "$(cut -d' ' -f1 /tmp/slept)" "$(cut -d' ' -f1 /tmp/sleeps)"
	check "there are five of them" equal "$(cut -d' ' -f3 /tmp/sleeps)" 5
	check "they slept as long as it says" about "$(cut -d' ' -f2 /tmp/sleeps)" "$(cut -d' ' -f2 /tmp/slept)" 5
	check "and tell who ended them" matches /tmp/s.csv '^[^,]*nanosleep.*,an interrupt|^[^,]*nanosleep.*,[a-z0-9/:]+,[0-9]+,'
}

memory() {
	[ -d $T/events/kmem ] || { skip "weft memory" "a kernel without kmem events"; return; }
	answer memory
	# An allocation that failed, or one of size 0, has no address.
	check "the allocations are those of the kernel's text" equal "$(total allocs)" \
		"$(grep -E ': (kmalloc|kmem_cache_alloc)(_node)?: ' /tmp/all.txt | grep -cvE 'ptr=(\(null\)|0+(10)?) ')"
	check "and so are their bytes" equal "$(total asked_bytes) $(total given_bytes)" \
		"$(awk '/: (kmalloc|kmem_cache_alloc)(_node)?: / { for (i = 1; i <= NF; i++) { if (sub(/^bytes_req=/, "", $i)) a += $i
			if (sub(/^bytes_alloc=/, "", $i)) b += $i } } END { print a + 0, b + 0 }' /tmp/all.txt)"
	check "all are freed or alive" equal "$(total allocs)" "$(($(total freed) + $(total alive) + $(weft memory /tmp/all.dat |
		sed -n 's/^# \([0-9]*\) times* an address was allocated again.*/\1/p' | grep . || echo 0)))"
	weft memory /tmp/all.dat --table faults --format csv | awk -F, 'NR > 1 { n += $3 } END { print n + 0 }' > /tmp/m.faults
	check "the faults are those of the kernel's text" equal "$(cat /tmp/m.faults)" "$(lines 'page_fault_user: ')"
}

power() {
	[ -d $T/events/power ] || { skip "weft power" "a kernel without power events"; return; }
	answer power
	# Adds up each CPU's times between entry and exit.
	awk '/: cpu_idle: / { match($0, / [0-9]+\.[0-9]+: /); ts = substr($0, RSTART, RLENGTH - 2) * 1e6; state = $0; sub(/.*state=/, "", state); sub(/ .*/, "", state)
			cpu = $0; sub(/.*cpu_id=/, "", cpu); sub(/[^0-9].*/, "", cpu)
			if (state == "4294967295") { if (cpu in since) { n++; sum += ts - since[cpu] } delete since[cpu] } else since[cpu] = ts }
		END { printf "%d %.0f\n", n, sum }' /tmp/all.txt > /tmp/power.sum
	check "the wakeups are those of the kernel's text" equal "$(total wakeups)" "$(cut -d' ' -f1 /tmp/power.sum)"
	check "there were some" more "$(total wakeups)" 0
	check "the time in idle, too" about "$(cut -d' ' -f2 /tmp/power.sum)" "$(total idle_ns)" "$(total wakeups)"
	# On s390x the timer is an external interrupt.
	check "the timer has woken a CPU" test "$(weft power /tmp/all.dat | grep -cE '^(vector (local_timer|timer_interrupt)|irq .*(timer|EXT))')" -gt 0
	weft power /tmp/all.dat --table wakeups --format csv > /tmp/w.csv
	check "a timer that sleep had set has woken one, no more often than it slept" \
		awk -F, '$2 == "hrtimer_wakeup" && $3 == "sleep" { n += $5 } END { print n; exit n < 1 || n > 5 }' /tmp/w.csv
	# The interrupt also comes for a timer that was cancelled meanwhile.
	check "of most wakeups by the timer it is known which timer it was" \
		awk -F, '$1 == "vector local_timer" { n[$2 != ""] += $5 } END { print n[0], n[1]; exit n[0] > n[1] }' /tmp/w.csv
}

# rows COLUMN: how many rows of the first table have a value there
rows() { awk -F, -v c="$(column "$1")" 'NR == 1 { next } /^$/ { exit } $c != "" { n++ } END { print n + 0 }' /tmp/a.csv; }

tasks() {
	answer tasks --self
	check "as many tasks began as the kernel's text has forks" equal "$(rows began)" "$(lines 'sched_process_fork: ')"
	check "as many as the workload starts" test "$(rows began)" -ge 5
	check "as many ended as it has exits" equal "$(rows ended)" "$(lines 'sched_process_exit: ')"
	check "as many programs were executed as it has execs" equal "$(total execs)" "$(lines 'sched_process_exec: ')"
	check "one task was killed by a signal" equal "$(rows exit_signal)" 1
	# Some kernels of mips have the event, and it does not happen.
	! grep -q ': sys_exit_group(' /tmp/all.txt || check "three ended with 1, 2 and 3" equal "$(total exit_status)" 6
}

scenario() {
	local before after disk lock

	[ -b /dev/vda ] && [ -d $T/events/block ] && disk=yes
	[ -d $T/events/lock/contention_begin ] && lock=yes
	happen
	blocks
	contention
	stacks
	memory
	power
	tasks
}
