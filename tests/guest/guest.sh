#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs inside the guest: the scenarios named in /host/scenarios.list, one after another, each in a shell of its own and with
# tracefs as it was at boot. Results go to /host/results, what a failure left behind to /host/out/SCENARIO/.
# `guest.sh SCENARIO` runs one.
export PATH=/usr/bin:/bin HOME=/tmp
T=/sys/kernel/tracing

# --- results -------------------------------------------------------------------------------------------------------------
result() { echo "$*" >> /host/results; }
pass() { result "ok $S: $1"; }
fail() { result "not ok $S: $1${2:+ ($2)}"; }
skip() { result "skip $S: $1: $2"; }

# check SENTENCE COMMAND...: the command's success is the sentence's truth; what it printed is kept when it fails
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
# matches FILE REGEX: a line of the file does
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
	fail "$1" "$(grep -c '^>' "$OUT/${3##*/}.diff") of $(wc -l < "$2") lines differ: $(grep '^[<>]' "$OUT/${3##*/}.diff" | head -n 2 | tr '\n' '|')"
	return 1
}

# --- tracefs -------------------------------------------------------------------------------------------------------------
set_to() { echo "$2" > "$1" || echo "weft-guest: cannot write '$2' to $1"; }
has_tracer() { grep -qw -- "$1" $T/available_tracers; }

reset() {
	echo 0 > $T/tracing_on
	for d in $T/instances/*; do
		[ -d "$d" ] && { echo 0 > "$d/events/enable"; echo nop > "$d/current_tracer"; rmdir "$d"; }
	done
	echo 0 > $T/events/enable
	echo nop > $T/current_tracer
	for f in set_ftrace_filter set_ftrace_notrace set_graph_function set_graph_notrace set_event_pid set_ftrace_pid kprobe_events; do
		[ -e $T/$f ] && echo > $T/$f
	done
	echo 0 > $T/max_graph_depth
	for o in $(cat /tmp/options.boot); do echo "$o" > $T/trace_options 2>/dev/null; done
	echo "${KB:-512}" > $T/buffer_size_kb
	echo local > $T/trace_clock
	echo > $T/trace
	echo 1 > $T/tracing_on
}

# state: the settings of tracefs, one "FILE:LINE" a line, and the instances
state() {
	find $T -path $T/instances/'*' -prune -o -path '*/per_cpu/*' -prune -o -type f \( -name filter -o -name trigger -o \
		-name trace_clock -o -name trace_options -o -name current_tracer -o -name tracing_on -o -name 'set_*' -o \
		-name tracing_cpumask -o -name max_graph_depth -o -name tracing_thresh -o -name buffer_size_kb -o \
		-name buffer_subbuf_size_kb -o -name buffer_percent -o -name saved_cmdlines_size -o -name 'kprobe_events' -o \
		-name uprobe_events -o -name synthetic_events -o -name dynamic_events \) -print |
		xargs grep -H '' 2>/dev/null | grep -v ':none$\|:# Available\|:#.*trigger' | sort
	ls $T/instances
	cat /proc/sys/kernel/kptr_restrict /proc/sys/kernel/ftrace_enabled /proc/sys/kernel/printk 2>/dev/null
}

# spare DIR [ROOT]: plain copies of what the text of a frozen buffer depends on, its raw pages last (weft pack reads them)
spare() {
	local d="$1" root="${2:-$T}" c f n

	mkdir -p "$d/events"
	uname -a > "$d/uname"
	for f in saved_cmdlines saved_tgids printk_formats kprobe_events; do
		[ -e $T/$f ] && cat $T/$f > "$d/$f" 2>/dev/null
	done
	for f in trace_clock trace_options current_tracer set_event timestamp_mode tracing_thresh buffer_subbuf_size_kb; do
		[ -e "$root/$f" ] && cat "$root/$f" > "$d/$f" 2>/dev/null
	done
	mkdir -p "$d/weft"
	cat /sys/devices/system/cpu/online > "$d/weft/online"
	for f in header_page header_event; do
		cat $T/events/$f > "$d/$f"
		cp "$d/$f" "$d/events/$f"
	done
	# One process: there may be hundreds.
	(cd $T/events && sed 's|:|/|; s|$|/format|' "$root/set_event" | xargs /usr/bin/cp --parents -t "$d/events" ftrace/*/format)
	for c in "$root"/per_cpu/cpu*; do
		n=${c##*/}
		mkdir -p "$d/per_cpu/$n"
		cat "$c/stats" > "$d/per_cpu/$n/stats"
	done
	for c in "$root"/per_cpu/cpu*; do
		/usr/bin/dd if="$c/trace_pipe_raw" of="$d/per_cpu/${c##*/}/trace_pipe_raw" bs="$(subbuf "$root")" iflag=nonblock 2>/dev/null
	done
}

subbuf() {
	local kb

	kb=$(cat "$1/buffer_subbuf_size_kb" 2>/dev/null)
	echo $(( ${kb:-4} * 1024 ))
}

# exact NAME [ROOT]: what weft makes of this buffer is what the kernel printed. Stops tracing first.
exact() {
	local n="$1" root="${2:-$T}" d

	d=/tmp/spare.$n
	echo 0 > "$root/tracing_on"
	cat "$root/trace" > "/tmp/$n.txt"
	spare "$d" "$root"
	# For tests/fixtures/record
	[ -d /host/spare ] && cp -r "$d" "/host/spare/$n" && cp "/tmp/$n.txt" /host/spare/
	if ! has_command pack; then
		skip "report of $n equals the kernel's text" "weft has no pack yet"
		return
	fi
	check "weft pack takes the copies of $n" weft pack "$d" --kallsyms /tmp/kallsyms --compression none -o "/tmp/$n.dat" || return
	weft report "/tmp/$n.dat" > "/tmp/$n.weft.txt" 2> "$OUT/$n.err"
	check "weft report of $n ends with status 0" equal $? 0
	more "$(wc -l < "/tmp/$n.txt")" 12 > /dev/null || fail "$n has events"
	same "report of $n equals the kernel's text" "/tmp/$n.txt" "/tmp/$n.weft.txt"
}

# remember, then unchanged: nothing of tracefs differs between the two
remember() { state > /tmp/state.before; }
unchanged() {
	state > /tmp/state.after
	same "${1:-tracefs is as it was before}" /tmp/state.before /tmp/state.after
}

# record SENTENCE STATUS OPTION...: weft record -o /tmp/r.dat ends with that status; its words are in /tmp/r.err
record() {
	local sentence="$1" status="$2"

	shift 2
	rm -f /tmp/r.dat
	timeout 40 weft record -o /tmp/r.dat "$@" > /tmp/r.out 2> /tmp/r.err
	check "$sentence" status_is "$?" "$status" /tmp/r.err
}
status_is() { [ "$1" = "$2" ] || { echo "status $1, not $2"; head -c 400 "$3"; return 1; }; }

# text [OPTION...]: what weft report makes of /tmp/r.dat, in /tmp/r.txt
text() {
	weft report "$@" /tmp/r.dat > /tmp/r.txt 2> /tmp/r.err
	check "weft report reads it" status_is $? 0 /tmp/r.err
	check "weft report warns of nothing" equal "$(head -c 300 /tmp/r.err)" ""
}

# whole: weft check finds nothing wrong
whole() {
	weft check /tmp/r.dat > /tmp/c.txt 2>&1
	check "weft check finds nothing wrong" status_is $? 0 /tmp/c.txt
}

# peers: trace-cmd reads the same number of events; slow, as the symbols of a kernel are many for an emulated CPU
peers() {
	local n m

	[ -x /usr/bin/trace-cmd ] || { skip "trace-cmd counts the same events" "no trace-cmd in the guest"; return; }
	n=$(trace-cmd report -N -R -t -i /tmp/r.dat 2> /tmp/t.err | grep -cE '\[[0-9]+\] +[0-9]+\.[0-9]+: ')
	m=$(weft report --raw /tmp/r.dat 2> /dev/null | grep -cE '\[[0-9]+\] .*[0-9]+\.[0-9]+: ')
	check "trace-cmd counts the same events" equal "$n" "$m"
	check "there are events" more "$n" 0
	check "trace-cmd warns of nothing" equal "$(head -c 300 /tmp/t.err)" ""
}

# A small deterministic load: files, processes, a pipe.
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

has_command() { weft help 2> /dev/null | grep -qE "^ +$1 "; }

if [ $# = 1 ]; then
	S=$1 OUT=/tmp/out/$1
	mkdir -p "$OUT"
	. "/host/scenarios/$S.sh"
	case $S in
	record-*)
		if ! has_command record; then
			skip "everything" "weft has no record yet"
			exit 0
		fi
		;;
	esac
	scenario > "$OUT/log" 2>&1
	exit 0
fi

cat $T/trace_options > /tmp/options.boot
# No module comes or goes after boot; on 6.1 these are 15 MB.
cat /proc/kallsyms > /tmp/kallsyms
chmod 755 /bin /bin/busybox /usr /usr/bin / 2> /dev/null
[ -d /host/spare ] && cp /tmp/kallsyms /host/spare/kallsyms
NCPU=$(nproc)
for s in $(cat /host/scenarios.list); do
	reset 2> /dev/null
	echo "weft-guest: $s $(cut -d' ' -f1 /proc/uptime)"
	timeout -k 5 "${LIMIT:-60}" sh /host/guest.sh "$s"
	status=$?
	[ $status = 0 ] || result "not ok $s: scenario ends (status $status)"
	mkdir -p /host/out
	[ -d /tmp/out/$s ] && cp -r /tmp/out/$s /host/out/
	rm -rf /tmp/spare.* /tmp/out /tmp/*.dat /tmp/*.txt
	echo "done $s" >> /host/results
done
reset 2> /dev/null
echo "weft-guest: end $(cut -d' ' -f1 /proc/uptime)"
sync
