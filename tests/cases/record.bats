#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Recordings of this machine's own kernel, in private instances, with events only.
load lib

setup()
{
	need_tracefs
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# Prints what must be as before: instances, what is enabled at the top, and the shared size.
tracefs_state()
{
	local t=/sys/kernel/tracing f
	ls $t/instances
	for f in tracing_on current_tracer trace_clock buffer_size_kb buffer_percent set_event set_event_pid \
		set_event_notrace_pid tracing_cpumask trace_options saved_cmdlines_size; do
		echo "$f: $(cat $t/$f)"
	done
	cat /proc/sys/kernel/kptr_restrict
}

@test "record: a command's events, and nothing of tracefs differs afterwards" {
	tracefs_state > before
	run -0 --separate-stderr weft record -e sched -- true
	[[ "$stderr" == *"events in"*"0 lost"* ]]
	tracefs_state > after
	diff before after
	weft check trace.dat
	[ -z "$(ls -d trace.dat.weft-* 2> /dev/null)" ]
}

@test "record: the summary counts the events that the file has" {
	run -0 --separate-stderr weft record -e sched -e syscalls -- ls /
	events=$(sed 's/.*: \([0-9,]*\) events* in.*/\1/' <<< "${stderr_lines[0]}")
	[[ "$(weft check)" == *" $events event"* ]]
}

@test "record: the exit status is the command's" {
	run -3 weft record -q -e sched -- sh -c 'exit 3'
	run -137 weft record -q -e sched -- sh -c 'kill -9 $$'
	run -127 weft record -q -e sched -- no-such-command
	run -126 weft record -q -e sched -- /etc/passwd
}

@test "record: a command that cannot be run leaves an older file alone" {
	echo old > trace.dat
	run -127 weft record -q -e sched -- no-such-command
	[ "$(cat trace.dat)" = old ]
}

@test "record: an event that does not exist is named, with names near it" {
	run -125 weft record -e sched_swich -- true
	[[ "$output" == *"'sched_swich'"*sched_switch* ]]
	run -0 weft record -i -e nosuchevent -e sched -- true
	[[ "$output" == *"warning:"*nosuchevent* ]]
}

@test "record: --duration ends a recording without a command" {
	run -0 timeout 60 weft record -e sched --duration 100ms
	[[ "$output" == *"events in"* ]]
}

# sampled HOST PRESSURE ARGUMENT...: weft record on a machine of this name, on which tasks waited so many percent of the time.
sampled()
{
	unshare -mu sh -c 'hostname "$1"; echo "some avg10=$2.00 avg60=0.00 avg300=0.00 total=0" > pressure
		for of in cpu memory io; do mount --bind pressure /proc/pressure/$of; done
		shift 2; exec timeout 60 weft record -e sched:sched_switch -o s.dat --result r.json "$@"' sh "$@"
}

@test "record: --sample records in its hours only, not under pressure, and the file has the weight" {
	need_mounts
	need_command jq
	[ -e /proc/pressure/cpu ] || skip "this kernel does not measure pressure"
	cd "$BATS_TEST_TMPDIR" || exit
	run -0 sampled here 41 --sample 1/1 --duration 50ms
	[[ "$output" = *"nothing is recorded: the machine is under pressure: for 41 % of the last 10 s tasks waited for cpu"* ]]
	[ "$(jq -c '[.file, .error, .skipped]' r.json)" = '[null,null,"pressure"]' ]
	# Of 64 machines, each of which records in every second hour.
	for ((n = 0; n < 64; n++)); do
		run -0 sampled "web-$n" 40 --sample 1/2 --duration 50ms
		[ ! -e s.dat ] || break
		[[ "$output" = *"nothing is recorded: this hour of 'web-$n' is not in the sample 1/2" ]]
		[ "$(jq -c '[.file, .error, .skipped]' r.json)" = '[null,null,"hour"]' ]
	done
	[ "$(jq -c '[.file, .error, .skipped]' r.json)" = '["s.dat",null,null]' ]
	[ "$(weft info --format json s.dat | jq .weight)" = 2 ]
	weft info s.dat | grep -x 'sample     one hour of 2: it stands for 2 recordings'
	weft split -q --count 3 -o part.dat s.dat
	[ "$(weft info --format json part.001.dat | jq .weight)" = 2 ]
	for wrong in '--sample 1/2' '--sample 2/3 --duration 1s' '--sample 5% --duration 1s' '--sample 1/0 --duration 1s' '--sample 1/2 --duration 1s -- true' '--max-events 0'; do
		# shellcheck disable=SC2086 # words
		run -2 weft record -e sched $wrong
	done
}

@test "record: a budget of events and one of CPU time end a recording, which says so" {
	need_command jq
	cd "$BATS_TEST_TMPDIR" || exit
	dd if=/dev/zero of=/dev/null bs=1 3>&- &
	local busy=$!
	run -0 timeout 100 weft record -e 'raw_syscalls:*' --max-events 20000 --duration 90s --result r.json -o events.dat
	[[ "$output" = *"the recording ended early: --max-events 20,000 is used up"* ]]
	[ "$(jq -c '[.ended_by, .events + .lost >= 20000]' r.json)" = '["max-events",true]' ]
	weft info events.dat | grep -x 'ended      early, when --max-events 20000 was used up'
	run -0 timeout 100 weft record -q -e 'raw_syscalls:*' -b 100 --max-cpu 1ms --duration 90s --result r.json -o cpu.dat
	kill $busy
	[ "$(jq -c .ended_by r.json)" = '"max-cpu"' ]
	[ "$(weft info --format json cpu.dat | jq -r .ended_by)" = 'max-cpu 1000000' ]
	run -0 timeout 100 weft record -q -e 'raw_syscalls:*' --max-cpu 1h --max-events 1000000000 --result r.json -o none.dat -- true
	[ "$(jq -c .ended_by r.json)" = null ]
	[ "$(weft info --format json none.dat | jq -c '[.ended_by, .weight]')" = '[null,1]' ]
}

@test "record: a wrong command line is a usage error" {
	run -2 weft record -f 'pid==1' -e sched -- true
	run -2 weft record -e sched -F
	run -2 weft record -e sched -b no -- true
}

@test "record: lost events are counted as the kernel counts them, and can fail" {
	run -123 --separate-stderr weft record --fail-on-lost -b 8 -e syscalls -e sched -- \
		sh -c 'dd if=/dev/zero of=/dev/null bs=1 count=500000 2>&1'
	[[ "$stderr" == *" lost "*" events"* ]]
	weft check trace.dat
}

@test "record: two at once do not disturb each other" {
	weft record -q -o a.dat -e sched -- sleep 0.2 &
	weft record -q -o b.dat -e syscalls -- ls / > ls.txt
	wait $!
	weft check a.dat
	weft check b.dat
	[ "$(weft report a.dat | grep -c sys_)" = 0 ]
}

@test "record: the file can be standard output" {
	weft record -q -o - -e sched -- echo apart > out.dat 2> err
	grep -qx apart err
	weft check out.dat
}

@test "record: a full disk stops the recording and keeps what was saved" {
	mkdir small
	mount -t tmpfs -o size=12m tmpfs small || skip "cannot mount a tmpfs"
	run -125 timeout 200 weft record -o small/e.dat -e syscalls -- dd if=/dev/zero of=/dev/null bs=1 count=2500000 status=none
	checked=0
	[ ! -e small/e.dat ] || weft check small/e.dat || checked=$?
	umount small
	[[ "$output" == *"the only disk space left"* || "$output" == *"No space left"* ]]
	[ $checked = 0 ]
}

@test "record: a disk that is full already is told before anything is set up" {
	mkdir small
	mount -t tmpfs -o size=2m tmpfs small || skip "cannot mount a tmpfs"
	dd if=/dev/zero of=small/other bs=64k status=none || true
	run -125 weft record -o small/e.dat -e all -- touch ran
	[ "$output" = "weft: cannot write 'small/e.dat': No space left on device" ]
	# What is left is not enough for the formats of the events.
	truncate -s 1600k small/other
	run -125 weft record -o small/e.dat -e all -- touch ran
	ls -A small > left
	umount small
	[[ "$output" == "weft: 'small/e.dat': the disk is full: "* ]]
	[ ! -e ran ]
	[ "$(cat left)" = other ]
}

@test "record: a command is hardly disturbed: the recorders run where they are told to, with the priority they are told" {
	weft record -q -e sched --recorder-cpu 0 -r 3 -o p.dat -- sh -c '
		for t in /proc/$PPID/task/*; do chrt -p ${t##*/}; taskset -p ${t##*/}; done' > placed
	[ "$(grep -c "SCHED_FIFO$" placed)" -ge 1 ]
	[ "$(grep -c "priority: 3$" placed)" = "$(grep -c "SCHED_FIFO$" placed)" ]
	[ "$(grep -c "mask: 1$" placed)" -ge "$(grep -c "SCHED_FIFO$" placed)" ]
	run -125 weft record -e sched --recorder-cpu 8000 -o q.dat -- true
	[[ "$output" == *"none of these CPUs is online"* ]]
	[ ! -e q.dat ]
	run -2 weft record -e sched -r 100 -- true
	run -2 weft record -e sched --recorder-cpu x -- true
}

@test "record: a task that --no-pid keeps out stays out to the end" {
	weft record -q -e sched --no-pid $$ -- sleep 1
	weft info --setting set_event_notrace_pid trace.dat | grep -qx $$
}

@test "record: tables name the events that a filter left out" {
	weft record -q -e sched:sched_switch -f 'prev_pid != 0' -e sched:sched_wakeup -- true
	run -0 weft info --setting weft/filters trace.dat
	[ "$output" = "sched:sched_switch prev_pid != 0" ]
	run -0 weft sched trace.dat
	[[ "$output" == *"recorded with a filter: sched:sched_switch (prev_pid != 0): "* ]]
}

@test "record: each of 600,000 system calls of a busy machine is recorded" {
	[ "$(uname -m)" = x86_64 ] || skip "read and write have other numbers here"
	weft record -b 20000 -e raw_syscalls:sys_enter -f 'id < 2' -o busy.dat -- sh -c '
		for i in 1 2; do dd if=/dev/zero of=/dev/null bs=1 count=150000 2> dd.err & echo $! >> pids; done; wait' 2> busy.err
	grep -q ' 0 lost' busy.err
	# Each byte is one read from descriptor 0 and one write to 1.
	copied=$(weft report --format=ftrace busy.dat | grep -cE -- "-($(paste -sd '|' pids)) +\[.* sys_enter: NR ([01]) \(\2, [0-9a-f]*, 1, ")
	[ "$copied" = 600000 ]
}

# More events than a reader that compresses could take, so chunks store their pages uncompressed. Each byte is one read
# and one write; the other calls of dd are those of a dd without bytes.
@test "record: a flood is stored as it is, each event is in the file or counted as lost, and trace-cmd reads the same" {
	[ "$(uname -m)" = x86_64 ] || skip "read and write have other numbers here"
	command -v trace-cmd > /dev/null || skip "no trace-cmd here"
	flood() { # NAME BYTES OPTION...
		local name=$1 bytes=$2
		shift 2
		weft record -q -F -e raw_syscalls:sys_enter -f 'id < 2' -o "$name.dat" "$@" -- \
			dd if=/dev/zero of=/dev/null bs=1 count="$bytes" status=none
		weft report --format=ftrace "$name.dat" | sed -n 's/.* sys_enter: *NR/NR/p' > "$name.weft"
		trace-cmd report -i "$name.dat" 2> /dev/null | sed -n 's/.* sys_enter: *NR/NR/p' > "$name.peer"
		diff "$name.weft" "$name.peer"
		lost=$(trace-cmd report --stat -i "$name.dat" 2> /dev/null | awk '/overrun:/ { n += $NF } END { print n + 0 }')
		had=$(($(wc -l < "$name.weft") + lost))
	}
	# A zstd frame whose first block is stored and holds whole pages.
	stored() { LC_ALL=C grep -oaP '\x28\xb5\x2f\xfd\x00\x38[\x00\x01][\x00\x80]' "$1" | wc -l; }
	flood none 0
	[ "$(stored none.dat)" = 0 ]
	none=$had
	for how in "-b 32" "-b 32 -m 256K" "-b 256"; do
		# shellcheck disable=SC2086
		flood some 200000 $how
		weft check some.dat
		[ "$how" = "-b 256" ] || [ "$(stored some.dat)" -gt 0 ]
		case $how in
		*-m*) [ "$(wc -c < some.dat)" -lt 4000000 ] ;;
		*) [ "$had" = $((400000 + none)) ] ;;
		esac
		# The second half is found without reading the first. Times are rounded to microseconds, in which a fast
		# machine makes several calls: so a few more than half.
		middle=$(weft report --raw some.dat | awk '/sys_enter/ { n++; for (i = 1; i < NF; i++) if ($i ~ /^[0-9]+\.[0-9]+:$/) t[n] = $i }
			END { sub(":", "", t[int(n / 2) - 100]); print t[int(n / 2) - 100] }')
		weft report --format=ftrace --since "$middle" some.dat | sed -n 's/.* sys_enter: *NR/NR/p' > since
		[ -s since ]
		cmp since <(tail -n "$(wc -l < since)" some.weft)
		[ "$(wc -l < since)" -ge $(($(wc -l < some.weft) / 2)) ]
	done
}

# The oracle is the kernel's text, line by line.
@test "record, info and check say 1 event of one, and events of more" {
	need_tracefs
	cd "$BATS_TEST_TMPDIR"
	weft record -F -e sched:sched_process_exec -- true 2> told
	[ "$(weft report | grep -vc '^#')" = 1 ]
	grep -q ': 1 event in ' told
	weft info | grep -q '^  1 event in '
	[[ "$(weft check)" == *", 1 event" ]]
	weft record -F -e sched:sched_process_exec -- sh -c 'exec true' 2> told
	[ "$(weft report | grep -vc '^#')" = 2 ]
	grep -q ': 2 events in ' told
}

@test "record, stream, start: -F says that the command made tasks which it leaves out, and only then" {
	need_tracefs
	cd "$BATS_TEST_TMPDIR"
	local how note='COMMAND made threads or children, which -F leaves out'
	for how in "record -o f.dat" stream "start -B weft-test-made"; do
		# shellcheck disable=SC2086
		weft $how -F -e sched:sched_process_exec -- sh -c '/bin/true; :' > out 2> told
		weft reset -B weft-test-made 2> again || true
		grep -q "$note" told
		# shellcheck disable=SC2086
		weft $how -F -e sched:sched_process_exec -- sh -c 'exec true' > out 2> told
		weft reset -B weft-test-made 2> again || true
		run ! grep "$note" told
	done
	weft record -F -c -e sched:sched_process_exec -- sh -c '/bin/true; :' 2> told
	run ! grep "$note" told
	weft record -F -e sched:sched_process_exec -- python3 -c '
import threading
t = threading.Thread(target=lambda: sum(range(1000)))
t.start()
t.join()' 2> told
	grep -q "$note" told
}

@test "record: -P ends when the last of the tasks has ended; with a thread or with -c somebody has to say so" {
	need_tracefs
	cd "$BATS_TEST_TMPDIR"
	# A task lives until its FIFO is written, which happens when weft has it among those that it records.
	lives() { mkfifo "$1"; { read -r < "$1"; } 3>&- & }
	recorded() { until grep -qsxF "$1" /sys/kernel/tracing/instances/weft-"$2"*/set_event_pid; do kill -0 "$2"; sleep 0.02; done; }
	ended() { timeout 60 tail --pid="$1" -f /dev/null && wait "$1"; }
	lives one; one=$!
	lives two; two=$!
	weft record -q -e sched:sched_switch -P $one,$two 3>&- &
	pid=$!
	recorded $one $pid
	recorded $two $pid
	echo > one
	wait $one
	kill -0 $pid
	echo > two
	ended $pid
	lives three; three=$!
	weft stream -q -e sched:sched_switch -P $three > streamed 3>&- &
	pid=$!
	recorded $three $pid
	echo > three
	ended $pid
	lives four; four=$!
	weft record -q -e sched:sched_switch -c -P $four 3>&- &
	pid=$!
	recorded $four $pid
	echo > four
	wait $four
	# What ended without being told would have ended by now; on a slow machine this finds nothing.
	sleep 0.3
	kill -INT $pid
	ended $pid
}

@test "record: -P says how many threads of a process it leaves out, and the words that take all take all" {
	python3 -c 'import threading
e = threading.Event()
for i in range(3): threading.Thread(target=e.wait, daemon=True).start()
print("up", flush=True)
e.wait()' > up 3>&- &
	until [ -s up ] && [ "$(ls "/proc/$!/task" | wc -l)" = 4 ]; do :; done
	run --separate-stderr weft record -e sched:sched_switch -P $! --duration 10ms
	[[ "$stderr" == *"3 other threads of process $! are left out; --process $! takes all"* ]]
	run --separate-stderr weft record -e sched:sched_switch --process $! --duration 10ms
	[[ "$stderr" != *"left out"* ]]
	run -0 weft info --setting set_event_pid trace.dat
	[ "$(sort -n <<< "$output")" = "$(ls "/proc/$!/task" | sort -n)" ]
	run -2 weft record -e sched --process "$(ls "/proc/$!/task" | tail -n 1)" -- true
	kill $!
	[[ "$output" == *"is a thread of process $!; -P "* ]]
}

@test "record: --process has every event of a program whose threads live 1 ms, as an instance without a list has them" {
	need_tracefs
	need_command cc
	cd "$BATS_TEST_TMPDIR"
	name=chain$$
	cc -O1 -pthread -x c -o $name - << 'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *begin_next(void *arg)
{
	pthread_attr_t detached;
	pthread_t next;
	for (int i = 0; i < 4; i++) {
		getppid();
		usleep(250);
	}
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_create(&next, &detached, begin_next, arg);
	return NULL;
}
int main(void)
{
	for (int i = 0; i < 4; i++)
		begin_next(NULL);
	puts("up");
	fflush(stdout);
	pause();
}
END
	all=/sys/kernel/tracing/instances/weft-test-all-$$
	mkdir "$all"
	echo 16384 > "$all/buffer_size_kb"
	echo mono > "$all/trace_clock"
	echo "COMM == \"$name\"" > "$all/events/syscalls/sys_enter_getppid/filter"
	./$name > up 3>&- &
	until [ -s up ]; do :; done
	echo 1 > "$all/events/syscalls/sys_enter_getppid/enable"
	weft record -q -C mono -b 16M -e syscalls:sys_enter_getppid --process "chain$$*" --duration 500ms || failed=1
	echo 0 > "$all/tracing_on"
	kill $!
	weft extract -q -B "${all##*/}" -o all.dat || failed=1
	echo 0 > "$all/events/syscalls/sys_enter_getppid/enable"
	rmdir "$all"
	[ -z "${failed:-}" ]
	weft export -q --to csv -o some.csv trace.dat
	weft export -q --to csv -o all.csv all.dat
	# By task, of those whose first and last call in the instance are inside the recording. (On a busy machine a task can
	# live through a hundred others', so its number does not tell whether it ran at the begin or at the end.)
	awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) of[$i] = i; next }
		{ time = $of["ts"] + 0; pid = $of["pid"] }
		NR == FNR { begin = begin == "" || time < begin ? time : begin; end = time > end ? time : end; calls[pid]++; next }
		{ outside[pid] += time < begin || time > end; made[pid]++ }
		END {
			for (pid in made)
				if (!outside[pid]) {
					tasks++
					if (calls[pid] != made[pid]) { print "task", pid, "made", made[pid], "and not", calls[pid] + 0; bad = 1 }
				}
			print tasks, "tasks"
			exit bad || tasks < 40
		}' some.csv all.csv
}

@test "record: --process names programs that are near, and boot options have no form for it" {
	run -2 weft record -e sched --process wefft-none -- true
	[[ "$output" == *"no program 'wefft-none' runs"* ]]
	run -2 weft record -e sched --process 4194304 -- true
	[[ "$output" == *"there is no process with pid 4194304"* ]]
}

@test "record: without a command a terminal is told what is recorded and what ends it, and nobody else" {
	need_tracefs
	need_command script
	cd "$BATS_TEST_TMPDIR"
	SHELL=$BASH timeout 60 script -qec "$WEFT record -e sched:sched_switch -e irq --duration 300ms" /dev/null < /dev/null > shown
	grep -q '^weft: recording sched:sched_switch, irq for 300.*ms; Ctrl-C ends it' shown
	SHELL=$BASH timeout 60 script -qec "$WEFT record -q -e sched:sched_switch --duration 100ms" /dev/null < /dev/null > shown
	[ ! -s shown ]
	weft record -e sched:sched_switch --duration 100ms 2> told
	run -1 grep -q Ctrl-C told
	SHELL=$BASH timeout 60 script -qec "$WEFT record -e sched:sched_switch true" /dev/null < /dev/null > shown
	run -1 grep -q Ctrl-C shown
}
