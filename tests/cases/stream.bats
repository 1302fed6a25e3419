#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Streams of this machine's own kernel: in private instances, or in one of the test's own if the kernel's counters are
# needed.
load lib

setup()
{
	need_tracefs
	T=/sys/kernel/tracing
	I=weft-stream-$$-$BATS_TEST_NUMBER
	# For tests with two instances: their names have different lengths.
	A=weft-test-$$-$BATS_TEST_NUMBER-a B=weft-test-$$-$BATS_TEST_NUMBER-also
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown()
{
	local i
	for i in "$I" "$A" "$B"; do
		[ ! -d "$T/instances/$i" ] || rmdir "$T/instances/$i"
	done
}

# Prints what must be as before. Other tests may have instances of their own at the same time.
tracefs_state()
{
	local f
	find $T/instances -mindepth 1 -maxdepth 1 -name "weft-$1*"
	for f in tracing_on current_tracer trace_clock buffer_size_kb buffer_percent set_event set_event_pid \
		set_event_notrace_pid tracing_cpumask trace_options; do
		echo "$f: $(cat $T/$f)"
	done
}

# counted [INSTANCE]: prints the numbers of events that an instance (default $I) has written and lost: "READ LOST".
counted()
{
	cat "$T/instances/${1:-$I}"/per_cpu/cpu*/stats |
		awk -F': ' '/^(entries|read events)/ { n += $2 } /^(overrun|commit overrun|dropped events)/ { l += $2 }
			END { print n + 0, l + 0 }'
}

# told FILE: prints the same from a streamed text.
told()
{
	awk '/^#/ { next } /^CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]$/ { l += $2 == "[LOST" ? $3 : 0; next } { n++ } END { print n + 0, l + 0 }' "$1"
}

# lines_of INSTANCE FILE: prints the lines of this instance from a text of several, as they would be without the others.
lines_of() { sed -n "s/^ *$1: //p" "$2"; }

# busy BYTES: runs a task that makes four events for each byte.
busy() { dd if=/dev/zero of=/dev/null bs=1 count="$1" 2> /dev/null; }
export -f busy

@test "stream: prints a command's events in order, and leaves nothing behind" {
	tracefs_state $$ > before
	run -0 --separate-stderr weft stream -F -c -e sched:sched_process_exec -e sched:sched_process_exit -- sh -c '/bin/true; /bin/true'
	[ "$(grep -c sched_process_exec: <<< "$output")" = 3 ]
	grep -o ' [0-9]*\.[0-9]*: ' <<< "$output" > times
	sort -n -c times
	[[ "$stderr" == "weft: "*" event"*" in "*", 0 lost" ]]
	tracefs_state $$ > after
	diff before after
}

@test "stream: events come while the command runs" {
	mkfifo go text
	weft stream -q -F -c -e sched:sched_process_exec -- sh -c '/bin/true; read x < go' > text &
	pid=$!
	# The command goes on only when its first events were read.
	timeout 60 grep -m1 -q 'filename=/bin/true' text
	echo > go
	wait $pid
}

@test "stream: the text is that of the kernel's trace" {
	mkdir "$T/instances/$I"
	echo 1 > "$T/instances/$I/events/sched/enable"
	busy 10
	echo 0 > "$T/instances/$I/tracing_on"
	echo 0 > "$T/instances/$I/events/enable"
	sed '/^#/d' "$T/instances/$I/trace" > want
	[ -s want ]
	# The events already in an instance come first. The only event added to them never happens.
	weft stream -q -B "$I" --cmdlines-size 0 -e syscalls:sys_enter_swapoff --limit "$(wc -l < want)" | sed '/^#/d' | diff want -
}

@test "stream: exit statuses are the command's, and those of what went wrong" {
	run -7 weft stream -q -e sched:sched_switch -- sh -c 'exit 7'
	run -127 weft stream -q -e sched:sched_switch -- /nonexistent
	run -2 weft stream
	run -2 weft stream -e sched --latency 1ms
	run -2 weft stream -e sched --format nosuch
	run -125 weft stream -e no_such_event
	[[ "$output" == *"no event 'no_such_event'"* ]]
}

@test "stream: standard output is the trace's alone" {
	run -0 --separate-stderr weft stream -q -F -e sched:sched_process_exec --format json -- echo hello
	[[ "$output" != *hello$'\n'* ]]
	[ "$stderr" = hello ]
}

@test "stream: ends when its reader does, without a word" {
	tracefs_state $$ > before
	weft stream -e sched -e raw_syscalls 2> err | head -n 3 > out
	[ "$(wc -l < out)" = 3 ]
	[ ! -s err ]
	tracefs_state $$ > after
	diff before after
}

@test "stream: Ctrl-C ends it with a summary" {
	tracefs_state $$ > before
	weft stream -e sched:sched_switch > out 2> err &
	pid=$!
	for _ in {1..400}; do
		! grep -q sched_switch: out || break
		sleep 0.05
	done
	kill -INT $pid
	wait $pid
	[[ "$(< err)" == "weft: "*" event"*" in "*" lost" ]]
	tracefs_state $$ > after
	diff before after
}

@test "stream: into jq, every line is an object" {
	need_command jq
	weft stream -q -e sched:sched_switch -e syscalls --format json --limit 5000 > out
	jq -r .event < out > events
	[ "$(wc -l < events)" -ge 5000 ]
	[ "$(wc -l < events)" = "$(wc -l < out)" ]
}

@test "stream: what is printed and what is lost is what the kernel counted, with a reader that keeps up" {
	mkdir "$T/instances/$I"
	weft stream -q -B "$I" -F -c -b 2M -e raw_syscalls -- bash -c 'busy 60000' > out
	[ "$(told out)" = "$(counted)" ]
	[ "$(told out | cut -d' ' -f1)" -gt 10000 ]
}

@test "stream: at more than 100,000 events/s a reader that sleeps loses events, and is told every one" {
	mkdir "$T/instances/$I"
	mkfifo text go
	# The reader takes nothing until the command has ended. The command ends although nobody reads.
	{ read -r _ < go; cat > out; } < text &
	reader=$!
	weft stream -B "$I" -F -c -b 128 -e raw_syscalls -- bash -c 'busy 300000; echo > go' > text 2> err
	wait $reader
	[ "$(told out)" = "$(counted)" ]
	lost=$(told out | cut -d' ' -f2)
	[ "$lost" -gt 0 ]
	grep -q "CPU:[0-9]* \[LOST [0-9]* EVENTS\]" out
	# "weft: N events in TIME UNIT, N lost"
	awk -v all="$(told out)" '/ events? in / { s = $5 * ($6 == "s," ? 1 : 0.001); split(all, n, " "); exit !((n[1] + n[2]) / s >= 100000) }' err
}

@test "stream: what a buffer that keeps the oldest events has dropped is told, too" {
	mkdir "$T/instances/$I"
	mkfifo text go
	{ read -r _ < go; cat > out; } < text &
	reader=$!
	weft stream -q -B "$I" -O nooverwrite -F -c -b 128 -e raw_syscalls -- bash -c 'busy 50000; echo > go; busy 100' > text
	wait $reader
	[ "$(told out)" = "$(counted)" ]
	[ "$(told out | cut -d' ' -f2)" -gt 0 ]
}

@test "stream: --fail-on-lost makes losses a failure" {
	mkfifo text go
	{ read -r _ < go; cat > /dev/null; } < text &
	reader=$!
	run -123 --separate-stderr bash -c "weft stream -q --fail-on-lost -F -c -b 64 -e raw_syscalls -- bash -c 'busy 100000; echo > go' > text"
	wait $reader
}

@test "stream: a reader that never reads does not keep it from ending" {
	tracefs_state $$ > before
	mkfifo text
	exec 9<> text
	run -0 --separate-stderr timeout -s KILL 60 weft stream -e raw_syscalls -F -c -- bash -c 'busy 30000' > text
	exec 9>&-
	tracefs_state $$ > after
	diff before after
}

@test "stream: after a kill, recover puts everything back" {
	mkfifo text
	weft stream -q -e sched:sched_switch > text &
	pid=$!
	# Without a reader it would end by itself.
	exec 9< text
	head -n 12 <&9 > out
	[ -n "$(find $T/instances -maxdepth 1 -name "weft-$pid")" ]
	kill -KILL $pid
	wait $pid || true
	exec 9<&-
	run -0 weft recover
	[ -z "$(find $T/instances -maxdepth 1 -name "weft-$pid")" ]
}

@test "stream: two instances are one text in order, each line says of which, and both are gone then" {
	tracefs_state $$ > before
	weft stream -q -F -c -B "$A" -e sched:sched_process_exec -B "$B" -e sched:sched_process_exit -- sh -c '/bin/true; /bin/true; :' > out
	run -1 grep -v -E "^(   $A|$B): " out
	lines_of "$A" out > a
	lines_of "$B" out > b
	[ "$(grep -c ' sched_process_exec: ' a)" = 3 ]
	[ "$(grep -c ' sched_process_exit: ' b)" = 3 ]
	[ "$(grep -v '^#' a b | wc -l)" = 6 ]
	# Each instance has the header that it has alone.
	weft stream -q -F -c -e sched:sched_process_exec -- /bin/true | grep '^#' > header
	grep '^#' a | diff header -
	grep '^#' b | diff header -
	# A program's exec lies between the exits of the programs before it and its own.
	grep -v ': #' out | grep -o ' [0-9]*\.[0-9]*: ' > times
	[ "$(wc -l < times)" = 6 ]
	sort -n -c times
	grep -o -E ' sched_process_(exec|exit)' out | tr -d '\n' > order
	[ "$(< order)" = " sched_process_exec sched_process_exec sched_process_exit sched_process_exec sched_process_exit sched_process_exit" ]
	tracefs_state $$ > after
	diff before after
	[ ! -e "$T/instances/$A" ]
	[ ! -e "$T/instances/$B" ]
}

# without_names BEFORE AFTER: the kernel's lines without the names of tasks that are not the same in these two readings of saved_cmdlines.
# The whole kernel has one list of them, and what other tests trace meanwhile drops names from it and renames tasks.
without_names()
{
	awk -v before="$1" 'BEGIN { kept[0] = 1 } FILENAME == before { name[$1] = $0; next } FILENAME != "-" { kept[$1] = name[$1] == $0; next }
		match($0, /-[0-9]+ +\[[0-9]+\]/) && !kept[substr($0, RSTART + 1) + 0] { $0 = substr($0, RSTART) } 1' "$1" "$2" -
}

@test "stream: the lines of each of two instances are those of the kernel's trace" {
	local i
	mkdir "$T/instances/$A" "$T/instances/$B"
	# Only this test's tasks: on a busy machine those of others overwrite the buffers before they stand still.
	for i in "$A" "$B"; do
		echo 1 > "$T/instances/$i/options/event-fork"
		echo $BASHPID > "$T/instances/$i/set_event_pid"
	done
	echo 1 > "$T/instances/$A/events/sched/enable"
	echo 1 > "$T/instances/$B/events/raw_syscalls/enable"
	for i in 1 2 3 4 5; do busy 10; done
	for i in "$A" "$B"; do
		echo 0 > "$T/instances/$i/tracing_on"
		echo 0 > "$T/instances/$i/events/enable"
	done
	cat $T/saved_cmdlines > before
	for i in "$A" "$B"; do
		sed '/^#/d' "$T/instances/$i/trace" > "want.$i"
		[ "$(wc -l < "want.$i")" -gt 10 ]
	done
	weft stream -q --cmdlines-size 0 -B "$A" -e syscalls:sys_enter_swapoff -B "$B" -e syscalls:sys_enter_swapoff \
		--limit "$(cat want.* | wc -l)" > out
	cat $T/saved_cmdlines > after
	for i in "$A" "$B"; do
		without_names before after < "want.$i" > "named.$i"
		lines_of "$i" out | sed '/^#/d' | without_names before after | diff "named.$i" -
	done
	sed 's/^ *[^:]*: //' out | grep -o '^[^#].* [0-9]*\.[0-9]*: ' | grep -o ' [0-9]*\.[0-9]*: $' > times
	sort -n -c times
}

@test "stream: json has the instance of each event, and none for the main one" {
	need_command jq
	weft stream -q -F -c --format json -e sched:sched_process_exit -B "$A" -e sched:sched_process_exec -- sh -c '/bin/true; :' > out
	[ "$(jq -r 'select(.event == "sched_process_exec") | .instance' out | sort -u)" = "$A" ]
	[ "$(jq -r 'select(.event == "sched_process_exit") | has("instance")' out | sort -u)" = false ]
	[ "$(wc -l < out)" = 4 ]
	# Blanks in text.
	weft stream -q -F -e sched:sched_process_exit -B "$A" -e sched:sched_process_exec -- /bin/true > out
	blanks=$(tr '[:print:]' ' ' <<< "$A: ")
	grep -q "^${blanks}[^#]* sched_process_exit:" out
	[ "$(grep -c "^$A: " out)" -gt 1 ]
	run -1 grep -v -E "^($A: |$blanks)" out
}

@test "stream: of two instances, each one's printed and lost are what the kernel counted of it, at more than 100,000 events/s" {
	local i
	mkdir "$T/instances/$A" "$T/instances/$B"
	mkfifo text go
	{ read -r _ < go; cat > out; } < text &
	reader=$!
	weft stream -F -c -B "$A" -b 128 -e raw_syscalls -B "$B" -b 256 -e raw_syscalls:sys_enter -- bash -c 'busy 150000; echo > go' > text 2> err
	wait $reader
	for i in "$A" "$B"; do
		lines_of "$i" out > "$i.out"
		[ "$(told "$i.out")" = "$(counted "$i")" ]
		read -r printed lost <<< "$(told "$i.out")"
		[ "$printed" -gt 0 ]
		[ "$lost" -gt 0 ]
		tr -d , < err | grep -q -x "weft: $i: $printed events\? $lost lost"
	done
}

@test "stream: of two instances, a reader that keeps up loses nothing" {
	local i
	mkdir "$T/instances/$A" "$T/instances/$B"
	weft stream -q -F -c -B "$A" -b 4M -e raw_syscalls -B "$B" -b 4M -e raw_syscalls:sys_exit -- bash -c 'busy 60000' > out
	for i in "$A" "$B"; do
		lines_of "$i" out > "$i.out"
		[ "$(told "$i.out")" = "$(counted "$i")" ]
		[ "$(told "$i.out" | cut -d' ' -f1)" -gt 10000 ]
	done
}

@test "stream: an instance in which nothing happens holds the other up no longer than --latency" {
	mkfifo go text
	weft stream -q -F -c -B "$A" -e sched:sched_process_exec -B "$B" -e syscalls:sys_enter_swapoff -- sh -c '/bin/true; read x < go' > text &
	pid=$!
	# The command goes on only when its first events were read.
	timeout 60 grep -m1 -q 'filename=/bin/true' text
	echo > go
	wait $pid
}

@test "stream: instances of different clocks are refused, one clock for all is not" {
	tracefs_state $$ > before
	run -125 weft stream -B "$A" -e sched -C mono -B "$B" -e sched
	[[ "$output" == *"events of different clocks cannot be merged by time: $A uses the clock mono, $B uses local"* ]]
	run -125 weft stream -e timer -B "$B" -C mono -e sched
	[[ "$output" == *"the main instance uses the clock local, $B uses mono"* ]]
	run -2 weft stream -B "$A" -e sched -B "$A" -e timer
	[[ "$output" == *"instance '$A' is named twice"* ]]
	run -0 weft stream -q -F -C mono -B "$A" -e sched:sched_process_exec -B "$B" -e sched:sched_process_exit -- /bin/true
	tracefs_state $$ > after
	diff before after
	[ ! -e "$T/instances/$A" ]
	[ ! -e "$T/instances/$B" ]
}

@test "stream: --dry-run changes nothing and prints what it would write" {
	tracefs_state $$ > before
	run -0 weft stream --dry-run -B "$A" -e sched -B "$B" -e irq -- touch ran
	[[ "$output" == *"$A"*"$B"* ]]
	[ ! -e ran ]
	[ ! -e "$T/instances/$A" ]
	tracefs_state $$ > after
	diff before after
}

# flood COUNT: reads of one byte on every CPU at once, more than a stream can print
flood()
{
	cat <<-END
	flood() { for cpu in \$(seq 0 \$((\$(nproc) - 1))); do taskset -c \$cpu dd if=/dev/zero of=/dev/null bs=1 count=$1 2> /dev/null & done; wait; }
	rss() { awk '/^VmRSS:/ { print \$2 }' /proc/\$PPID/status >> rss; }
	for i in 1 2 3 4 5; do flood; rss; done
	END
}

# Names of other tasks that appear meanwhile are stored, too: as many as the kernel stores, a number that this test does
# not raise. A slow reader's queue may grow, up to its limit; what is stored for each event would grow with every flood,
# which is 600,000 calls, by more than a megabyte for each byte.
@test "stream: its memory does not grow with the number of events" {
	flood 150000 > flood.sh
	weft stream --cmdlines-size 0 -F -c -e raw_syscalls -- bash flood.sh > /dev/null 2> err
	cat err rss
	[ "$(wc -l < rss)" = 5 ]
	awk 'NR > 1 && (least == "" || $1 - last < least) { least = $1 - last } { last = $1 } END { exit !(least <= 256) }' rss
}

# The objects of --summary: intervals follow one another, the last object covers all, and their events add up to all
# events.
check_intervals()
{
	jq -es --argjson every "$2" '.[-1].whole and ([.[:-1][] | .whole] | any | not) and length > 2
		and ([.[:-1][] | .span_events] | add) == .[-1].span_events
		and .[0].since == .[-1].since and (.[-2].until - .[-1].until | fabs) < 0.000001
		and ([range(length - 2) as $i | (.[$i].until - .[$i + 1].since | fabs) < 0.000001] | all)
		and ([.[:-2][] | (.until - .since) / $every | . - round | fabs < 0.001] | all)' "$1"
}

@test "stream: --summary prints tables of intervals, whose sums are those of the last, and the kernel's count" {
	need_command jq
	mkdir "$T/instances/$I"
	weft stream -q -B "$I" -F -c --summary sched --every 20ms --format json -- bash -c 'busy 3000; sleep 0.1; busy 3000' > out
	check_intervals out 0.02
	# No other test writes into the instance, so everything that it counted was shown.
	read -r written lost < <(counted)
	[ "$lost" -gt 0 ] || [ "$(jq -s '.[-1].span_events' out)" -eq "$written" ]
	# The numbers of switches in the intervals add up to those in the last table.
	jq -es '([.[:-1][].cpus[]? | .switches] | add) == ([.[-1].cpus[] | .switches] | add)' out
}

@test "stream: --summary summary counts in each interval the events of that interval" {
	need_command jq
	weft stream -q -F -c --summary summary --every 20ms --format json -- bash -c 'busy 3000; sleep 0.1; busy 3000' > out
	check_intervals out 0.02
	jq -es 'all(.[]; .span_events == ([.events[]? | .count] | add // 0))' out
	jq -es 'all(.[]; .span_events == (.recording[] | select(.fact == "events") | .value | gsub(","; "") | tonumber))' out
}

@test "stream: --summary counts the calls that a command is known to make" {
	need_command jq
	dd="dd if=/dev/zero of=/dev/null bs=1 count=2500 status=none"
	weft stream -q -F -c --summary syscalls --every 5ms --format json -- sh -c "$dd; sleep 0.05; $dd" > out
	check_intervals out 0.005
	[ "$(jq -s '.[-1].syscalls[] | select(.syscall == "write") | .calls' out)" = 5000 ]
	# A call that crosses the end of an interval is in the last table only.
	jq -es '([.[:-1][] | .syscalls[]? | select(.syscall == "write") | .calls] | add) as $sum | $sum <= 5000 and $sum + length >= 5000' out
}

@test "stream: --summary as text has the time in front of each table, and in the end the limits" {
	weft stream -q -F --summary sched --every 10ms -- bash -c 'busy 2000; sleep 0.05; busy 2000' > out
	[ "$(grep -c '^# from [0-9.]* to [0-9.]* (.*): [0-9,]* events\?' out)" -ge 2 ]
	[ "$(grep -c '^# all, from ' out)" -eq 1 ]
	[ "$(grep -c '^# broken by lost events: ' out)" -eq 1 ]
	[ "$(tail -n 1 out)" = "$(grep '^# wanted and not recorded: ' out)" ]
	run -1 grep -q $'\033' out
}

@test "stream: --summary without a name has the tables of --for, and takes no word of the command" {
	weft stream -q -F --for syscalls --summary -- dd if=/dev/zero of=/dev/null bs=1 count=500 2> /dev/null > out
	grep -q '^# system calls$' out
	grep -Eq '^read +50[0-9] ' out
	weft stream -q -F --summary --for syscalls -c -- true > out
	grep -q '^# system calls$' out
	# It is the last word of the command here.
	weft stream -q -F -e sched_process_exec --format json echo --summary > out 2>&1
	grep -qx -- --summary out
	[ "$(weft stream -q --for syscalls --summary --duration 300ms | grep -c '^# all, from')" = 1 ]
	weft stream -q --for sched --duration 300ms --summary > out
	grep -q '^# all, from' out
}

@test "stream: --summary says what it is not for" {
	run -2 weft stream --every 1s -e sched
	run -2 weft stream --summary nosuch
	[[ "${lines[0]}" == *"--summary: unknown analysis 'nosuch'; the analyses are "*sched* ]]
	run -2 weft stream -e sched --summary
	[[ "${lines[0]}" == *"--summary: the tables of which analysis?"* ]]
	run -2 weft stream --summary sched --every 0
	run -2 weft stream --summary sched --format pretty
	run -2 weft stream --summary sched --summary irq
}
