# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: the functions of the scenarios. Results go to /host/results; the host executes the lines that begin
# with "compare" and "peers" after the guest has ended, because an emulated CPU is slow.

# --- results -------------------------------------------------------------------------------------------------------------
result() { echo "$*" >> /host/results; }
pass() { result "ok $S: $1"; }
fail() { result "not ok $S: $1${2:+ ($2)}"; }
skip() { result "skip $S: $1: $2"; }

# check SENTENCE COMMAND...: the sentence is true if the command succeeds; after a failure the command's output is kept
check() {
	local sentence="$1"
	shift
	"$@" > "$OUT/check.log" 2>&1
	local status=$?
	if [ $status = 0 ]; then
		pass "$sentence"
	else
		fail "$sentence" "status $status: $(head -c 300 "$OUT/check.log" | tr '\n' '|')"
	fi
	return $status
}

equal() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; return 1; }; }
# matches FILE REGEX: a line of the file matches
matches() { grep -qE -- "$2" "$1" || { echo "no line of $1 matches $2:"; head -5 "$1"; return 1; }; }
lacks() { ! grep -E -- "$2" "$1"; }
more() { [ "$1" -gt "$2" ] || { echo "$1 is not more than $2"; return 1; }; }

# same SENTENCE EXPECTED ACTUAL: byte for byte; both files are kept when they differ
same() {
	if cmp -s "$2" "$3"; then
		pass "$1"
		return 0
	fi
	diff "$2" "$3" > "$OUT/${3##*/}.diff" 2>/dev/null
	cp "$2" "$3" "$OUT/" 2>/dev/null
	# The diff of busybox writes the unified form.
	fail "$1" "$(wc -l < "$2") lines are wanted, $(wc -l < "$3") are there, $(grep -c '^[-+][^-+]' "$OUT/${3##*/}.diff") differ: $(grep '^[-+][^-+]' "$OUT/${3##*/}.diff" | head -n 2 | tr '\n' '|')"
	return 1
}

# compat: whether 32-bit programs run on a 64-bit kernel, which has no events of single calls for them
compat() {
	case $(uname -m) in
	*64*) [ "$(dd if=/bin/busybox bs=1 skip=4 count=1 2> /dev/null)" = "$(printf '\001')" ] ;;
	*) false ;;
	esac
}

# timeout [-k SECONDS] SECONDS COMMAND...: waits four times as long, because emulated CPUs are that much slower when
# other guests run
timeout() {
	local grace='' seconds

	case $1 in
	-k)
		grace="-k $2"
		shift 2
		;;
	-*)
		command timeout "$@"
		return
		;;
	esac
	seconds=$(($1 * 4))
	shift
	command timeout $grace $seconds "$@"
}

# await CONDITION: waits until this shell command succeeds. Waiting in vain is a failure of its own, because the test
# then tests nothing.
await() {
	local tries=0

	until eval "$1" > /dev/null 2>&1; do
		[ $((tries += 1)) -le 1000 ] || { fail "waits for: $1"; return 1; }
		# The host ends a guest that shows no sign of life.
		[ $((tries % 50)) != 0 ] || echo $tries > /host/alive
		sleep 0.1
	done
}

# --- tracefs -------------------------------------------------------------------------------------------------------------
set_to() { echo "$2" > "$1" || echo "weft-guest: cannot write '$2' to $1"; }
has_tracer() { grep -qw -- "$1" $T/available_tracers; }

reset() {
	# A scenario may leave settings on functions and events, and nothing else removes them. After boot there are
	# none. Looking for them is quicker than removing them all.
	if [ -s /tmp/state.boot ]; then
		if state | cmp -s - /tmp/state.boot && ! ls /run/weft 2> /dev/null | grep -qv saved_cmdlines_size; then
			empty
			return
		fi
		weft reset --all --yes --probes > /dev/null 2>&1
	fi
	echo 0 > $T/tracing_on
	for d in $T/instances/*; do
		[ -d "$d" ] && { echo 0 > "$d/events/enable"; echo nop > "$d/current_tracer"; rmdir "$d"; }
	done
	echo 0 > $T/events/enable
	echo nop > $T/current_tracer
	for f in set_ftrace_filter set_ftrace_notrace set_graph_function set_graph_notrace set_event_pid set_ftrace_pid kprobe_events \
		uprobe_events dynamic_events synthetic_events; do
		[ -e $T/$f ] && echo > $T/$f
	done
	echo 0 > $T/tracing_thresh
	echo 0 > $T/max_graph_depth
	cmp -s /tmp/options.boot $T/trace_options || for o in $(cat /tmp/options.boot); do echo "$o" > $T/trace_options 2>/dev/null; done
	echo "${KB:-512}" > $T/buffer_size_kb
	echo local > $T/trace_clock
	empty
	echo 1 > $T/tracing_on
	[ -s /tmp/state.boot ] || state > /tmp/state.boot
}

# empty: resets state that no setting shows
empty() {
	echo > $T/trace
	[ ! -e $T/error_log ] || echo > $T/error_log
}

# settings ROOT: sets $list to the name of a file that lists every readable control file below ROOT, except files with
# events, counts, names, or facts of the kernel's build. The kernel adds a line to recursed_functions whenever it finds
# a function that interrupts itself. Finding the files takes longer than reading them, so it is done once. An instance
# has no files that the top instance lacks, except those of probes made since.
settings() {
	list=/tmp/settings$(echo "$1" | tr / -).list
	[ ! -s "$list" ] || return 0
	if [ "$1" != $T ] && ! grep -qs . $T/dynamic_events $T/synthetic_events $T/kprobe_events; then
		sed "s|^$T/|$1/|; /^\/proc/d" "$toplist" > "$list"
		return 0
	fi
	{
		find "$1" \( -path $T/instances -o -path '*/trace_stat' -o -path '*/events/ftrace' \) -prune -o -type f -perm -0400 \
			! -name 'trace' ! -name 'trace_pipe*' ! -name 'snapshot_raw' ! -name 'stats' ! -name 'format' ! -name 'id' ! -name 'hist' \
			! -name 'hist_debug' ! -name 'saved_*' ! -name 'README' ! -name 'printk_formats' ! -name 'eval_map' ! -name '*_profile' \
			! -name 'available_*' ! -name 'touched_functions' ! -name 'dyn_ftrace_total_info' ! -name 'error_log' \
			! -name 'stack_trace' ! -name 'stack_max_size' ! -name 'header_*' ! -name 'events_mapped' ! -name 'last_boot_info' \
			! -name 'recursed_functions' -print | grep -v '/per_cpu/.*/snapshot$'
		[ "$1" != $T ] || printf '%s\n' $T/saved_cmdlines_size /proc/sys/kernel/kptr_restrict /proc/sys/kernel/ftrace_enabled \
			/proc/sys/kernel/printk
	} > "$list"
}

# state: prints all settings of tracefs, of the top instance and of the others. On arm64, enabled_functions also tells
# where a function's command lies in memory, which is elsewhere when it is set again.
state() {
	local list toplist lists i

	settings $T
	toplist=$list lists=$list
	for i in $T/instances/*; do
		[ ! -d "$i" ] || { settings "$i"; lists="$lists $list"; }
	done
	readlines $lists | sed 's/\(\/enabled_functions:.*ops: \)0x[0-9a-f]*/\1/'
	echo $T/instances/*
}

# remember, then unchanged: checks that tracefs is the same at both times
remember() {
	# The top instance has the same files from boot to end: new events show in dynamic_events, new instances in
	# instances/.
	rm -f /tmp/settings*-instances-*.list
	state > /tmp/state.before
}
unchanged() {
	state > /tmp/state.after
	same "${1:-tracefs is as it was before}" /tmp/state.before /tmp/state.after
}

# fly OPTION...: starts weft flight as $flight, with its files in /tmp/flight, and waits until it has begun
fly() {
	# The lines of a flight before this one say that it has begun, too.
	rm -rf /tmp/flight /tmp/flight.out
	mkdir /tmp/flight
	weft flight start -o /tmp/flight "$@" > /tmp/flight.out 2>&1 &
	flight=$!
	await "grep -q 'has begun' /tmp/flight.out || ! kill -0 $flight"
	# Some scenarios start a flight that cannot begin; the others show here why it did not.
	grep -q 'has begun' /tmp/flight.out || sed 's/^/# flight: /' /tmp/flight.out
}

# Ends what fly() has started.
land() {
	kill -TERM $flight
	wait $flight
	check "it ends with status 0" status_is $? 0 /tmp/flight.out
}

# victim: starts $victim, a task of this name that is woken on CPU 0 fifty times a second. It is of SCHED_FIFO, because a
# kernel with PREEMPT_RT does not even wake other tasks while a task of SCHED_FIFO has the CPU.
victim() {
	[ -p /tmp/never ] || mkfifo /tmp/never
	chrt -f 10 busybox taskset 1 sh -c 'echo -n victim > /proc/$$/comm; while :; do read -r -t 0.02 nothing; done <> /tmp/never' &
	victim=$!
}

# intrude PRIORITY TICKS: a task of SCHED_FIFO has CPU 0 until /proc/uptime has changed so many times, which takes at least
# 10 ms each. Prints its PID.
intrude() {
	chrt -f $1 busybox taskset 1 sh -c "echo \$\$; n=0; read -r a _ < /proc/uptime
		while [ \$n -lt $2 ]; do read -r b _ < /proc/uptime; [ \$a = \$b ] || n=\$((n + 1)); a=\$b; done"
}

# record SENTENCE STATUS OPTION...: weft record -o /tmp/r.dat ends with this status; its messages go to /tmp/r.err
record() {
	local sentence="$1" status="$2"

	shift 2
	rm -f /tmp/r.dat
	timeout 100 weft record -o /tmp/r.dat "$@" > /tmp/r.out 2> /tmp/r.err
	check "$sentence" status_is "$?" "$status" /tmp/r.err
}
status_is() { [ "$1" = "$2" ] || { echo "status $1, not $2"; head -c 400 "$3"; return 1; }; }

# tables COMMAND...: prints all tables of an analysis as CSV, in its order, each with an empty line behind it
tables() {
	local status=0 names table

	rm -rf /tmp/tables
	# Several tables into one stream are refused, with their names.
	names=$(weft "$@" --format csv 2>&1 > /dev/null | sed -n 's/.*one table, and there are \([^;]*\);.*/\1/p' | tr -d ,)
	weft "$@" -o /tmp/tables || status=$?
	for table in ${names:-$(ls /tmp/tables 2> /dev/null | sed 's/[.]csv$//')}; do
		[ ! -e "/tmp/tables/$table.csv" ] || { cat "/tmp/tables/$table.csv" && echo; }
	done
	return $status
}

# text [OPTION...]: writes the report of /tmp/r.dat to /tmp/r.txt
text() {
	weft report "$@" /tmp/r.dat > /tmp/r.txt 2> /tmp/r.err
	check "weft report reads it" status_is $? 0 /tmp/r.err
	check "weft report warns of nothing" equal "$(head -c 300 /tmp/r.err)" ""
}

# whole: weft check finds no damage
whole() {
	weft check /tmp/r.dat > /tmp/c.txt 2>&1
	check "weft check finds nothing wrong" status_is $? 0 /tmp/c.txt
}

# peers: trace-cmd reads the same number of events as weft; the host runs both
peers() {
	local n=1

	mkdir -p /host/peers
	while [ -e "/host/peers/$S.$n.dat" ]; do n=$((n + 1)); done
	cp /tmp/r.dat "/host/peers/$S.$n.dat"
	result "peers $S $n"
}

# A small load that is always the same: files, processes, a pipe.
load() {
	local i

	# Fixtures are kept small.
	if [ -d /host/spare ]; then
		ls -l /bin/busybox | cat > /dev/null
		return
	fi
	for i in 1 2 3; do
		ls -l /bin > /tmp/load.$$
		cat /tmp/load.$$ | head -n 3 > /dev/null
	done
	rm -f /tmp/load.$$
}

has_command() { weft help "$1" > /dev/null 2>&1; }

# openat_occurs: whether the kernel reports openat. mips64 has the event, but it never occurs: the kernel finds its calls
# by address, and there it finds another name of the same function (__se_sys_openat).
openat_occurs() {
	local event=$T/events/syscalls/sys_enter_openat found

	echo 1 > $event/enable
	cat /proc/version > /dev/null
	echo 0 > $event/enable
	grep -q 'sys_openat(' $T/trace
	found=$?
	echo > $T/trace
	return $found
}

# registers: sets $A1 to $A4 and $SP to the registers of a call's first four arguments and of the stack, by the names
# that probes use. i386 passes three arguments in registers.
registers() {
	local all

	case $(uname -m) in
	x86_64) all='di si dx cx sp' ;;
	i?86) all='ax dx cx cx sp' ;;
	aarch64) all='x0 x1 x2 x3 sp' ;;
	arm*) all='r0 r1 r2 r3 sp' ;;
	ppc*) all='r3 r4 r5 r6 r1' ;;
	s390*) all='r2 r3 r4 r5 r15' ;;
	riscv*) all='a0 a1 a2 a3 sp' ;;
	mips*) all='r4 r5 r6 r7 r29' ;;
	*) return 1 ;;
	esac
	set -- $all
	A1=%$1 A2=%$2 A3=%$3 A4=%$4 SP=%$5
}

# number_of read|write: prints the number of this system call, which differs between machines: the kernel itself tells
# it of a call with a known file and size (19 is 13 in hexadecimal)
number_of() {
	local fd=0

	[ "$1" = read ] || fd=1
	echo > $T/trace
	echo 1 > $T/events/raw_syscalls/sys_enter/enable
	dd if=/dev/zero of=/dev/null bs=19 count=1 2> /dev/null
	echo 0 > $T/events/raw_syscalls/sys_enter/enable
	sed -n "s/.* sys_enter: NR \([0-9]*\) ($fd, [0-9a-f]*, 13, .*/\1/p" $T/trace | head -n 1
	echo > $T/trace
}

# reads_of_a_byte: sets $READS to the pattern of the lines that the kernel prints of the reads of `dd bs=1`
reads_of_a_byte() { READS="sys_enter: NR $(number_of read) (0, [0-9a-f]*, 1,"; }

# last_cpu: prints the number of the last CPU that is online
last_cpu() { sed 's/.*[-,]//' /sys/devices/system/cpu/online; }

# page_kb: prints the size of this kernel's pages in KiB; a page of a buffer has 16 bytes less for data, 12 with 32 bits
page_kb() { sed -n 's/.*char data;.*offset:\([0-9]*\);.*size:\([0-9]*\);.*/\1 \2/p' $T/events/header_page | awk '{ print ($1 + $2) / 1024 }'; }
