# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: compares files of weft with the kernel's own text of the same buffer. The kernel's text goes to the
# host with the file, and the host compares.

# hand NAME [OPTION...]: /tmp/NAME.dat and each text of it, NAME.txt and NAME.txt.VARIANT, to be compared with `weft
# report OPTION...`
hand() (
	# Scenarios that name functions by globs have switched globbing off.
	set +f
	n="$1"

	shift
	mkdir -p "/host/live/$S"
	cp "/tmp/$n.dat" "/host/live/$S/"
	for text in "/tmp/$n.txt" "/tmp/$n.txt".*; do
		[ -e "$text" ] || continue
		cp "$text" "/host/live/$S/"
		variant=${text#"/tmp/$n.txt"}
		result "compare $S $n ${variant:-.} $*"
		[ ! -e /host/here ] || report_here "$n" "$variant" "$@"
	done
)

# report_here NAME VARIANT OPTION...: the report that weft makes on this machine equals the kernel's text
report_here() {
	local n="$1" v="$2" o text="/tmp/$1.txt$2"

	shift 2
	for o in $(echo "${v#.}" | tr , ' '); do set -- "$@" -O "$o"; done
	weft report "$@" "/tmp/$n.dat" > /tmp/here.txt 2> /tmp/here.err
	same "$n${v:+ with ${v#.}}: the report made on this machine is the kernel's text" "$text" /tmp/here.txt
}

# live NAME COMMANDS OPTION...: `weft record OPTION...` runs the shell's COMMANDS, which end by stopping the buffer and
# saving the kernel's text; then weft reads that same buffer, and its report must be the kernel's text. $I is the
# recorded instance.
# VARIANTS: lists of output options (a,b), each of which must give the same text, too. REPORT: options for weft report.
# weft is stopped while the commands run, so that it does not read the buffer, however full the buffer is.
live() {
	local n="$1" status tries=0

	{
		# weft is stopped first, because tracers fill the buffer quickly.
		echo 'kill -STOP $PPID'
		echo ". /host/lib.sh"
		echo ". /host/compare.sh"
		echo begin
		echo "$2"
		echo "freeze $n"
	} > /tmp/live.sh
	shift 2
	export T S OUT VARIANTS
	while :; do
		rm -f "/tmp/$n.dat" "/tmp/$n.txt"* /tmp/live.end
		echo 1 > $T/tracing_on
		timeout -k 5 100 weft record -q -b "${LIVE_KB:-2048}" -o "/tmp/$n.dat" "$@" -- sh /tmp/live.sh > "$OUT/$n.log" 2>&1
		status=$? tries=$((tries + 1))
		[ $status = 0 ] && [ $tries -lt 4 ] && unfit "$n" || break
	done
	check "weft records $n" status_is $status 0 "$OUT/$n.log" || return
	check "the kernel printed the whole buffer of $n" test -e /tmp/live.end || return
	hand "$n" $REPORT
}

# unfit NAME: the texts cannot be compared. On a busy machine weft may have read pages before it was stopped, and the
# kernel's own text of a latency tracer is empty if the tracer found a new maximum while it was being switched off.
unfit() {
	[ ! -e /tmp/live.end ] || ! grep -qv '^#' "/tmp/$1.txt"
}

# begin and still are the first and the last of the commands of live. weft is stopped meanwhile. In another instance weft
# samples its clock, with no tracer and no event but that of a sleep.
begin() {
	local d tracer event

	I=$T
	for d in "$T"/instances/*; do
		tracer=nop event=
		[ ! -d "$d" ] || { read -r tracer < "$d/current_tracer"; read -r event < "$d/set_event"; }
		case $tracer$event in nop | noppower:suspend_resume) ;; *) I=$d ;; esac
	done
}

freeze() {
	still "$1"
	# weft has read no page before.
	[ "$(cat "$I"/per_cpu/cpu*/stats | awk '/^read events:/ { n += $3 } END { print n }')" = 0 ] && : > /tmp/live.end
	kill -CONT $PPID
}

# still NAME: stops writing to $I, and saves the kernel's text in /tmp/NAME.txt...
still() {
	local n="$1" v

	# A latency tracer may swap the buffers once more while it is being switched off; then there is nothing to
	# print.
	grep -qE 'wakeup|off' "$I/current_tracer" && echo 1000000000 > "$I/tracing_max_latency"
	# Tracing stops in the top instance, too: while it is on, names of tasks change.
	echo 0 > "$I/tracing_on"
	echo 0 > $T/tracing_on
	cat "$I/trace" > "/tmp/$n.txt"
	for v in $VARIANTS; do print_with "$n" "$v"; done
}

# taken NAME [ROOT]: stops tracing; then weft extract reads this buffer, and its report equals the kernel's text of it
taken() {
	local n="$1"

	I=${2:-$T}
	rm -f "/tmp/$n.dat" "/tmp/$n.txt"*
	SAMPLED=1 still "$n"
	weft extract -q -o "/tmp/$n.dat" ${2:+-B "${2##*/}"} > "$OUT/$n.log" 2>&1
	check "weft extract takes $n" status_is $? 0 "$OUT/$n.log" || return
	hand "$n" ${2:+-B "${2##*/}"}
}

# print_with NAME a,b: the text with these options on, or off where they are named noOPTION
print_with() {
	local o was='' options=$(echo "$2" | tr , ' ')

	for o in $options; do
		[ "$o${SAMPLED:-}" != latency-format ] || { skip "$1 with $2" "only weft extract saves when the buffer was reset"; return; }
		if [ -e "$I/options/$o" ]; then
			was="$was $o=$(cat "$I/options/$o")"
		elif [ -e "$I/options/${o#no}" ]; then
			was="$was ${o#no}=$(cat "$I/options/${o#no}")"
		else
			skip "$1 with $2" "this kernel has no option $o there"
			return
		fi
	done
	for o in $options; do echo "$o" > "$I/trace_options"; done
	cat "$I/trace" > "/tmp/$1.txt.$2"
	for o in $was; do echo "${o#*=}" > "$I/options/${o%=*}"; done
}

# spare DIR [ROOT]: copies all files on which the text of a stopped buffer depends, and last its raw pages (weft pack
# reads them)
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
	# One process for all files, because there may be hundreds.
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

# exact NAME [ROOT]: stops tracing; the report made from copies of this buffer equals the kernel's text, also with VARIANTS
exact() {
	local n="$1" root="${2:-$T}" d I v

	I=$root
	d=/tmp/spare.$n
	echo 0 > "$root/tracing_on"
	cat "$root/trace" > "/tmp/$n.txt"
	for v in $VARIANTS; do print_with "$n" "$v"; done
	spare "$d" "$root"
	# For tests/fixtures/record
	[ -d /host/spare ] && cp -r "$d" "/host/spare/$n" && cp "/tmp/$n.txt"* /host/spare/
	check "weft pack takes the copies of $n" weft pack "$d" --kallsyms /tmp/kallsyms --compression none -o "/tmp/$n.dat" || return
	check "$n has events" more "$(wc -l < "/tmp/$n.txt")" 12
	hand "$n"
}
