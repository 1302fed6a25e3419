# SPDX-License-Identifier: GPL-2.0-only
# Asks weft why where the time of commands went that are made of times which are known: sleeps, a lock that is held over
# a sleep, packets, terminals, and on a CPU that a real-time task has (tests/guest/waits.c); and where it went on a disk.

# part FILE STATE TASK: the time in ns of a state of tasks of this name, from the table of the parts
part() { awk -F, -v state="$2" -v comm="$3" '/^time_ns/ { parts = 1 } parts && $6 == state && $4 == comm { ns += $1 } END { print ns + 0 }' "$1"; }
# whole FILE: "LASTED SUM": how long the interval was, and the sum of its parts
whole() { awk -F, '/^time_ns/ { parts = 1; next } /^lasted_ns/ { next } NF && parts { ns += $1 } NF && !parts { lasted += $1 } END { print lasted, ns }' "$1"; }
# within NS LEAST MORE: it is LEAST at least, and at most MORE longer
within() { [ "$1" -ge "$2" ] && [ "$1" -le $(($2 + $3)) ] || { echo "$1 is not $2, and $3 more at most"; return 1; }; }

# interval COLUMN: of the first row of the intervals
interval() { awk -F, -v c="$1" 'NR == 2 { print $c; exit }' /tmp/why.csv; }

# why SENTENCE OPTION...: the answer is in /tmp/why.csv
why() {
	local sentence="$1"

	shift
	tables why "$@" /tmp/r.dat > /tmp/why.csv 2> /tmp/r.err
	check "$sentence" status_is $? 0 /tmp/r.err
	set -- $(whole /tmp/why.csv)
	check "$sentence: the parts add up" equal "$1" "$2"
}

# records SENTENCE OPTION...: records for why, and once more as long as a busy host makes the guest lose events
records() {
	local sentence="$1" tries=0

	shift
	while record "$sentence" 0 --for why "$@"; ! grep -q ' 0 lost' /tmp/r.err && [ $((tries += 1)) -lt 4 ]; do :; done
}

# waits WORKLOAD OPTION...: records a workload, and asks why a task of it waited, which is root unless the options say so.
waits() {
	local workload=$1

	shift
	records "weft records the workload $workload" -b 8M -- waits "$workload" ${file:-}
	case $* in --run*) ;; *) set -- --comm root "$@" ;; esac
	why "weft why explains the workload $workload" "$@"
	pass "$workload: $(awk -F, '/^time_ns/ { parts = 1; next } /^lasted_ns/ { next } parts && $1 > 500000 { printf "%s %s %.3f; ", $4, $6, $1 / 1e6 }' /tmp/why.csv)"
}

# lines TASK: "LONGEST ALL NR WOKEN FIRST": how tasks of this name slept in the interval, from the lines of the kernel: the longest
# sleep, from a switch to the waking that ends it, and all, with what was one when the interval began; when it was woken last; and how long the first one was
lines() {
	weft report -t -e sched:sched_switch -e sched:sched_waking --since "$(interval 5)" --until "$(interval 6)" /tmp/r.dat 2> /tmp/r.err | awk -v who="$1" -v begin="$(interval 5)" '
		function number(key) { if (!match($0, key "[0-9]+")) return 0; return substr($0, RSTART + length(key), RLENGTH - length(key)) }
		function ns(text) { sub(/\./, "", text); return text + 0 }
		!match($0, / [0-9]+\.[0-9]+: /) { next }
		{ at = ns(substr($0, RSTART + 1, RLENGTH - 3)) }
		/: sched_switch: / {
			if (index($0, "prev_comm=" who " ")) since[number("prev_pid=")] = /prev_state=[SDI]/ ? at : 0
			if (index($0, "next_comm=" who " ")) since[number("next_pid=")] = 0
		}
		/: sched_waking: / && index($0, ": comm=" who " ") {
			pid = number(" pid=")
			if (!(pid in since)) all += at - ns(begin)
			else if (since[pid]) {
				all += at - since[pid]
				if (at - since[pid] > longest) longest = at - since[pid]
				if (!first) first = at - since[pid]
			}
			since[pid] = 0
			woken = at
			nr++
		}
		END { printf "%.0f %.0f %d %.0f %.0f\n", longest, all, nr, woken, first }'
}
# asleep TASK KNOWN: it slept for no longer than its timer was set to, and with what the timer was late for the longest of
# its sleeps at least, and for all at most. With PREEMPT_RT a thread runs the timers, and has a part of its own: at most a hundredth and 100 us.
asleep() {
	local slept=$(part /tmp/why.csv slept "$1") known=$2 all

	all=$((slept + $(part /tmp/why.csv late "$1")))
	set -- $(lines "$1")
	more $((all + all / 100 + 100000)) "$1" && more $(($2 + 2)) "$all" && more $((known + known / 16 + 4000000)) "$slept"
}
# as_long TASK NS MORE: what the task ran for, as it says itself, is in NS and MORE to a hundredth and 100 us, and NS is no
# more than it ran in its life
as_long() {
	local known all

	known=$(sed -n "s/^ran $1 \([0-9]*\) .*/\1/p" /tmp/r.out) all=$(sed -n "s/^ran $1 [0-9]* //p" /tmp/r.out)
	more $(($2 + $3)) $((known - known / 100 - 100000)) && more $((all + all / 100 + 100000)) "$2"
}
# ran TASK: its part; what it ran by its own clock may have interrupts in it, or not
ran() { as_long "$1" "$(part /tmp/why.csv ran "$1")" "$(part /tmp/why.csv interrupted "$1")"; }

workloads() {
	waits chain --call read
	check "leaf slept 100 ms" asleep leaf 100000000
	check "leaf ran 10 ms" ran leaf
	check "middle ran 20 ms" ran middle

	waits convoy --call futex
	check "the third holder of the lock ran 30 ms" ran third
	check "the second holder of the lock ran 30 ms" ran second

	waits hog --call read
	check "victim ran 20 ms" ran victim
	# Its own clock also counts the interrupts that hit it.
	weft why --comm root --call read --to folded /tmp/r.dat 2> /tmp/r.err > /tmp/folded
	# Until it is no RT task any more, and ends.
	set -- $(awk '/;victim-[0-9]*;waited behind hog [(]RT/ { hog += $NF } END { print hog + 0 }' /tmp/folded)
	check "victim waited behind hog for as long as that ran" as_long hog "$1" $(($(part /tmp/why.csv waited victim) - $1))
	check "and behind others for less than all" more "$1" 10000000

	ifconfig lo 127.0.0.1 up 2> /dev/null
	waits tcp --call recvfrom
	check "server slept 40 ms" asleep server 40000000
	check "server ran 12 ms" ran server

	waits polls --call read
	set -- $(lines server)
	check "server slept for no longer than the kernel says" more $(($2 + 2)) "$(part /tmp/why.csv slept server)"
	check "server ran 3 ms" ran server

	waits busy --call read
	check "server ran 5 ms for root" more $(($(part /tmp/why.csv ran server) + $(part /tmp/why.csv interrupted server))) 4900000
	check "and longer for another one before" more "$(part /tmp/why.csv earlier server)" 5000000
	check "both are no more than it ran" more "$(sed -n 's/^ran server [0-9]* //p' /tmp/r.out)" $(($(part /tmp/why.csv ran server) + $(part /tmp/why.csv earlier server) - 5000000))

	waits timer --call read
	check "setter slept 21 ms" asleep setter 21000000
	# No timer is early, and it began after setter was woken.
	check "the timer that it set took 40 ms" more "$(part /tmp/why.csv timer root)" 37000000
	set -- $(lines setter) $(lines root)
	check "and no longer than until the kernel woke root" more $(($9 - $4 + 2)) "$(part /tmp/why.csv timer root)"

	waits sleeps --call clock_nanosleep
	check "root slept 50 ms" asleep root 50000000

	waits inversion --call recvfrom
	# Without PREEMPT_RT no thread runs the timer.
	! grep -q PREEMPT_RT /proc/version || check "the thread of the timer waited behind hog" more \
		"$(awk -F, '$6 == "waited" && /behind hog/ { ns += $1 } END { print ns + 0 }' /tmp/why.csv)" 20000000

	records "weft records 300 requests" -b 8M -- waits requests
	tables why --all call:read --comm root --slow 1.6% /tmp/r.dat > /tmp/slow.csv 2> /tmp/r.err
	check "weft why --slow compares the slowest with the others" status_is $? 0 /tmp/r.err
	# It slept 40 ms for five; on a busy host others may be as slow.
	check "the server slept longer for these" more "$(awk -F, '$7 == "slept" && $5 == "server" { print $1 }' /tmp/slow.csv)" 10000000
}

# requests TASK: "NR WAITED ANY": of the requests between the times of the interval, from the lines of the kernel: how many,
# for how long the device had any while the task slept, and for how long it had any, until the task was woken. A flush
# ends at sector -1.
requests() {
	weft report -e block:block_rq_issue -e block:block_rq_complete -e sched:sched_switch -e sched:sched_waking --since "$(interval 5)" --until "$(interval 6)" /tmp/r.dat 2> /tmp/r.err | awk -v who="$1" '
		!match($0, / [0-9]+\.[0-9]+: /) { next }
		{ at = substr($0, RSTART + 1, RLENGTH - 3); sub(/\./, "", at); at *= 1000 }
		{ if (slept && open) waited += at - last; last = at }
		/: sched_switch: / { if (index($0, "prev_comm=" who " ")) slept = /prev_state=[SDI]/; else if (index($0, "next_comm=" who " ")) slept = 0; next }
		{ place = $0; sub(/ \+ [0-9]+ .*/, "", place); sub(/.* /, "", place)
		  if (/ \+ 0 /) place = "flush" }
		/: sched_waking: / { if (index($0, ": comm=" who " ")) { if (done && slept) any += at - done; slept = done = 0 } next }
		/: block_rq_issue: / { if (!(place in since)) { since[place] = at; if (!open++) { began = at; done = 0 } } }
		/: block_rq_complete: / && place in since {
			nr++
			delete since[place]
			if (!--open) { any += at - began; done = at }
		}
		END { printf "%d %d %d\n", nr, waited, any }'
}
# states STATE: the time in ns of a state, of any task
states() { awk -F, -v state="$1" '/^time_ns/ { parts = 1 } parts && $6 == state { ns += $1 } END { print ns + 0 }' /tmp/why.csv; }
# others: the time in ns of all parts but the disk's and those in which the task ran
others() { awk -F, '/^time_ns/ { parts = 1 } parts && $6 != "disk" && !($4 == "root" && ($6 == "ran" || $6 == "interrupted")) { ns += $1 } END { print ns + 0 }' /tmp/why.csv; }
# as_kernel NS ALLOWED: the disk was waited for as long as the kernel says; on PREEMPT_RT, from when the device was done on,
# for the thread of its interrupt
as_kernel() {
	local thread

	thread=$(awk -F, '/^time_ns/ { parts = 1 } parts && $4 ~ /^irq\// { ns += $1 } END { print ns + 0 }' /tmp/why.csv)
	grep -q PREEMPT_RT /proc/version || thread=0
	more $(($1 + $2)) "$(states disk)" && more $(($(states disk) + thread)) $(($1 - $2))
}
# known: at most a hundredth of the interval is unknown
known() { more $(($(interval 1) / 100 + 1000)) "$(interval 7)"; }

commands() {
	records "weft records a pipe of commands" -b 8M -- sh -c 'usleep 50000; (usleep 30000; echo) | cat; true'
	why "weft why follows a shell through a pipe" --run sh
	# The second sleep may begin while the shell still starts cat, which then counts.
	set -- $(lines usleep)
	check "they slept for the first of their sleeps" more $(($(states slept) + $(states late) + $5 / 50 + 200000)) "$5"
	check "and for all at most" more $(($2 + 2)) "$(states slept)"
	check "nearly all of it is known" known

	waits held --call futex
	check "holder slept 35 ms" asleep holder 35000000

	waits herd --call futex
	check "the last of four ran 10 ms" ran herd4
	# While it ran, the fourth waited for it, or for a CPU.
	check "the third of four ran 10 ms" as_long herd3 "$(part /tmp/why.csv ran herd3)" \
		$(($(part /tmp/why.csv interrupted herd3) + $(part /tmp/why.csv waited herd4)))

	mkdir -p /dev/pts
	mount -t devpts devpts /dev/pts 2> /dev/null
	waits terminal --call read
	check "writer slept 60 ms" asleep writer 60000000
	check "writer ran 5 ms" ran writer
	check "nearly all of it is known" known

	waits spawn --call recvfrom
	check "the program that the server ran slept 20 ms" asleep nap 20000000
	check "server ran 4 ms" ran server

	if command waits uring > /dev/null 2>&1; then
		waits uring --call io_uring_enter
		check "writer slept 30 ms" asleep writer 30000000
		check "writer ran 5 ms" ran writer
	else
		skip "a read by io_uring" "this kernel has none"
	fi
}

# What a disk did is known from the kernel's lines; where there is ext4, also through its threads.
disks() {
	local file=''

	[ -e /dev/vda ] || { skip "the workloads of disks" "no disk in the guest"; return; }
	waits writes --call pwrite64
	set -- $(requests root)
	check "the longest write is one request" equal "$1" 1
	# The kernel's lines are in us.
	check "it waited for the disk for as long as the kernel says" as_kernel "$2" 2000
	check "nearly all of it is known" known
	why "weft why explains the longest request" --comm root --request
	set -- $(requests root)
	check "the disk had it for as long as the kernel says" as_kernel "$3" 2000
	check "nearly all of the request is known" known

	waits faults --run faulter
	set -- $(requests faulter)
	check "a page fault reads each of 20 pages" more "$1" 19
	check "it waited for the disk for as long as the kernel says" as_kernel "$2" $(($1 * 2000))
	check "nearly all of it is known" known

	mkdir -p /tmp/disk
	if /usr/bin/mke2fs -q -F -t ext4 /dev/vda > /dev/null 2>&1 && mount -t ext4 /dev/vda /tmp/disk 2> /dev/null; then
		file=/tmp/disk/file
	fi
	# Beside a writer the longest write may be one that waited for a CPU.
	waits beside --call pwrite64 --slowest 10
	set -- $(requests root)
	[ "$2" -eq 0 ] || check "beside: the disk was waited for" more "$(states disk)" 0
	for workload in 'syncs fsync' "flush $([ -n "$file" ] && echo syncfs || echo sync)"; do
		waits ${workload% *} --call ${workload#* }
		set -- $(requests root)
		# While the task slept and the disk had a request, others may have run for the task.
		check "${workload% *}: the disk was waited for" more $(($(states disk) + $(others) + 4000 + $1 * 2000)) "$2"
		check "${workload% *}: for no longer than it had requests" more $(($3 + 4000 + $1 * 2000)) "$(states disk)"
		check "${workload% *}: nearly all of it is known" known
	done
	[ -z "$file" ] || umount /tmp/disk
}

# steady: whether the trace clock is as fast as that of the programs: emulated ones may be wrong by a factor.
steady() {
	records "weft records a sleep of a second" -b 4M -- usleep 1000000
	why "weft why explains a sleep of a second" --run usleep
	within "$(part /tmp/why.csv slept usleep)" 900000000 200000000 > /dev/null
}

scenario() {
	steady || { skip "what times weft why finds" "the trace clock is not as fast as the clock of programs"; return; }
	records "weft records two sleeps" -b 4M -- sh -c 'usleep 50000; usleep 30000; true'
	check "it lost nothing" matches /tmp/r.err ' 0 lost'
	why "weft why follows a shell through its children" --run sh
	check "they slept 50 and 30 ms on their own timers" asleep usleep 80000000
	check "less than 2 ms are unknown" more 2000000 "$(part /tmp/why.csv unknown usleep)"

	command -v waits > /dev/null && ! compat && workloads && commands && disks
	command -v holder > /dev/null || { skip "a lock" "no program for it in this guest"; return; }
	! compat || { skip "a lock" "no event shows which calls of 32-bit programs are made"; return; }
	records "weft records a futex that is held over a sleep of 5 ms" -b 4M -- holder 20 5000
	# On a busy host the longest call may be one that waited for a CPU.
	tables why --comm holder --all call:futex /tmp/r.dat > /tmp/why.csv 2> /tmp/r.err
	check "weft why adds up all calls of a kind" status_is $? 0 /tmp/r.err
	check "holder slept on its own timer while it had the lock" more "$(part /tmp/why.csv slept holder)" 4000000
	why "weft why goes to the task that has the lock" --comm holder --call futex
	set -- $(lines holder)
	check "it slept for no longer than the kernel says" more $(($2 + 2)) "$(part /tmp/why.csv slept holder)"
}
