# SPDX-License-Identifier: GPL-2.0-only
# weft flight: who is to blame for a late wakeup is in the log, in the JSON, and in what explain prints.
# named FILE: the task that the file names is one of those that spun
named() { for pid in $(cat /tmp/intruders); do grep -qE "waited .* for CPU 0: (tasks that ran first|the task before it(, which was to go)?): [^ ]+-$pid( [(]RT [0-9]+[)])?(;|\"|$)" "$1" && return; done; return 1; }

# Whether a file of a late wakeup names one of them; `file` is the first that does.
blamed() { for file in /tmp/flight/*-wakeup.json; do ! named "$file" || return 0; done; return 1; }

# Prints what the JSON has as this word.
said_as() { sed -n "s/.*\"$2\": *\"\([^\"]*\)\".*/\1/p" "$1"; }

# ran_as FILE: the cause is what the kernel's own text and /proc say of the interrupt: its name, its CPU, whom it hit
ran_as() {
	local reason because who cpu name

	reason=$(said_as "$1" reason) because=$(said_as "$1" because)
	# A name may have blanks: the task is what stands before the CPU in brackets.
	who=$(echo "$reason" | sed 's/ *\[[0-9][0-9]*\].*//; s/^ *//')
	cpu=$(echo "$reason" | sed -n 's/^[^[]*\[0*\([0-9][0-9]*\)\].*/\1/p')
	case $reason in
	*" irq="*) name=$(awk -v n="${reason##* irq=}:" '$1 == n { print "irq " n + 0 " " $NF }' /proc/interrupts) ;;
	*" vec="*) name="softirq $(awk -v n="${reason##* vec=}" 'NR == n + 2 { sub(":", "", $1); print $1 }' /proc/softirqs)" ;;
	esac
	# The kernel does not know all names, and between fork and exec a task has another one than later: its PID is compared.
	case $who,$reason in
	"<idle>-0",*) who="the CPU was idle" ;;
	ksoftirqd/*,*" vec="*) who="it ran in $who" ;;
	*) who="it interrupted *-${who##*-}" ;;
	esac
	echo "wanted of $1: $name ran ... on CPU $cpu; $who"
	echo "has: $because"
	[ -n "$because" ] || weft flight explain "${1%.json}.dat"
	case $because in "$name ran "*" on CPU $cpu"*"; "$who*) return ;; esac
	return 1
}
# explained NAME OPTION...: a flight of --for irq with this condition, until a file says the cause, and sets `told` to its JSON; 1: the
# condition is never met. What began before the first event of the flight has no cause in its file.
explained() {
	local name=$1 tries=0

	shift
	fly --for irq --for sched -b 4M --keep 5s --after 50ms --cool-down 500ms --max-per-hour 0 --when "$@"
	until told=$(grep -l '"because"' /tmp/flight/*-$name.json 2> /dev/null | head -n 1) && [ -n "$told" ] || [ $((tries += 1)) -gt 150 ]; do
		[ ! -b /dev/vda ] || dd if=/dev/vda of=/dev/null bs=4k skip=100 count=4 iflag=direct 2> /dev/null
		sleep 0.1
	done
	land
	mkdir -p $OUT/$name
	cp /tmp/flight/*.json /tmp/flight.out $OUT/$name
	for told in $told /tmp/flight/*-$name.json; do break; done
	[ -e "$told" ]
}

explain_runs() {
	remember
	if explained softirq 'latency:softirq>1us'; then
		check "a softirq is named, with its CPU and the task that it hit" ran_as "$told"
	else
		fail "a softirq is named, with its CPU and the task that it hit" "there was none"
	fi
	if explained irq 'latency:irq>1us'; then
		check "so is the handler of an interrupt" ran_as "$told"
	else
		skip "so is the handler of an interrupt" "this machine has no interrupts of devices"
	fi
	unchanged "a flight with explained interrupts leaves nothing behind"
}

explain_requests() {
	[ -b /dev/vda ] || { skip "requests of a disk" "this kernel shows no disk"; return; }
	remember
	fly --for block -b 4M --keep 5s --after 50ms --when 'latency:block>1us if sector == 4240'
	dd if=/dev/vda of=/dev/null bs=4k skip=100 count=64 iflag=direct 2> /dev/null
	# On a busy host the clock of a guest stands still at times, and a request then took no time.
	readers=none
	read_again() { dd if=/dev/vda of=/dev/null bs=4k skip=530 count=1 iflag=direct 2> /dev/null & readers="$readers|$!"; wait $!; }
	await 'ls /tmp/flight/*-block.json || { read_again; false; }' || cat /tmp/flight.out
	land
	mkdir -p $OUT/block
	cp /tmp/flight/*.json /tmp/flight.out $OUT/block
	cat /tmp/flight/*-block.json > /tmp/blocks
	# A shell of busybox runs dd without an exec, and names itself.
	check "a request is named with its device, its size, its place and its task" matches /tmp/blocks \
		"device $(cat /sys/block/vda/dev) took [0-9.]+ [num]?s for a read of 4.0 KiB at sector 4240; it was for dd-($readers); it was queued"
	unchanged "a flight with an explained request leaves nothing behind"
}

# Two tasks on one CPU write into one file: who waits for the inode's lock is woken by the one that has written.
explain_locks() {
	[ -e $T/events/lock/contention_begin ] || { skip "waits for locks" "this kernel has no such event"; return; }
	remember
	fly --for locks --for sched -b 4M --keep 10s --after 100ms --cool-down 1s --max-per-hour 0 --when 'latency:lock>5ms'
	: > /tmp/big
	for i in 1 2; do
		busybox taskset 1 sh -c 'echo $$; while [ ! -e /tmp/enough ]; do dd if=/dev/zero of=/tmp/big bs=8M count=8 conv=notrunc 2> /dev/null & echo $!; wait; done' > /tmp/writers.$i &
		writers="$writers $!"
	done
	await "grep -l 'released by dd-' /tmp/flight/*-lock.json"
	touch /tmp/enough
	wait $writers
	land
	mkdir -p $OUT/locks
	cp /tmp/flight/*.json /tmp/flight.out /tmp/writers.? $OUT/locks
	cat /tmp/writers.? > /tmp/writers
	grep -h 'released by dd-' /tmp/flight/*-lock.json | sed -n 's/.*"because": *"dd-\([0-9]*\) waited .*released by dd-\([0-9]*\).*/\1 \2/p' > /tmp/pairs
	check "who waited and who released the lock are two of those that wrote" awk '
		FNR == NR { writer[$1] = 1; next } { pairs++; if (!writer[$1] || !writer[$2] || $1 == $2) exit 1 } END { if (!pairs) exit 1 }' /tmp/writers /tmp/pairs
	grep -h 'released by dd-' /tmp/flight/*-lock.json > /tmp/locks
	# With PREEMPT_RT this lock is an rt-mutex.
	check "and it was the lock of a file" matches /tmp/locks 'dd-[0-9]+ waited [0-9.]+ m?s for (rwsem:W|rt-mutex 0x[0-9a-f]+ in generic_file_write_iter).*asleep'
	rm -f /tmp/big /tmp/enough
	unchanged "a flight with explained waits for locks leaves nothing behind"
}

scenario() {
	has_command flight || { skip "explanations" "weft has no flights yet"; return; }
	[ -e $T/synthetic_events ] && [ -e $T/events/sched/sched_switch/hist ] || { skip "explanations" "this kernel has no synthetic events"; return; }
	remember
	fly --for latency -b 4M --keep 10s --after 200ms --cool-down 500ms --max-per-hour 0 \
		--when 'latency:wakeup>400ms if next_comm == "victim"'
	victim
	# The trigger is compared with a time in which nothing disturbs.
	sleep 3
	# An intruder has the CPU longer than an emulated CPU keeps others waiting by itself, unless its host is busy.
	for _ in $(seq 10); do
		intrude 90 50
		usleep 200000
		! blamed || break
	done > /tmp/intruders
	await 'ls /tmp/flight/*-wakeup.json'
	kill $victim
	land
	mkdir -p $OUT
	cp -r /tmp/flight /tmp/flight.out /tmp/intruders $OUT
	check "the log names the task that had the CPU" named /tmp/flight.out
	check "the JSON does" blamed
	file=${file%.json}.dat
	weft flight explain "$file" > /tmp/explained 2>&1
	check "explain reads the file" status_is $? 0 /tmp/explained
	check "explain does" named /tmp/explained
	check "and says what was unusual before" matches /tmp/explained '^(tasks|victims|wakeups) '
	unchanged "an explained flight leaves nothing behind"

	# A task waits in read() of a FIFO until another one writes.
	remember
	fly --for syscalls --for sched -b 4M --keep 10s --after 200ms --when 'latency:syscall>3s if id == 0'
	rm -f /tmp/fifo
	mkfifo /tmp/fifo
	dd if=/tmp/fifo of=/dev/null bs=1 count=1 2> /dev/null &
	victim=$!
	{ sleep 5; echo; } > /tmp/fifo
	await 'ls /tmp/flight/*-syscall.json'
	wait $victim
	land
	cp /tmp/flight.out $OUT/syscall.out
	check "the log tells who was in which call, and who woke it" matches /tmp/flight.out "dd-$victim was [0-9.]+ s in read; [0-9.]+ s blocked.*; woken by [^ ]+-[0-9]+"
	unchanged "a flight with an explained call leaves nothing behind"

	explain_runs
	explain_requests
	explain_locks
}
