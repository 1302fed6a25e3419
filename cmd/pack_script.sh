#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only

# Copies what `weft pack DIR` needs of the kernel's tracing on this machine. It needs a POSIX shell, and cat, dd, head,
# ls, mkdir and uname, as busybox has them.
#
#	sh copy.sh DIR [INSTANCE...]
#
# DIR is made, and only its owner can read it. An existing one has to be empty, yours, and closed to the writes of
# others: they could put links there, which lead to files of yours.
#
# The script stops tracing while it copies the buffer. Then tracing is on or off as it was. The copied events are gone
# from the buffer. Without an INSTANCE the script copies the top buffer. Two settings before the command make it faster:
# SYSTEMS="sched irq" copies the formats of these systems of events only, SYMBOLS=no leaves out /proc/kallsyms. One
# copies more, some MB: TYPES=yes, for the arguments of functions, also those of modules. Then, on another machine:
#
#	weft pack DIR -o trace.dat
#	weft pack DIR --btf DIR/btf -o trace.dat	(with TYPES=yes)
set -u
dir=${1:?which directory? sh copy.sh DIR [INSTANCE...]}
shift
for tracing in /sys/kernel/tracing /sys/kernel/debug/tracing ''; do
	[ -e "$tracing/trace_options" ] && break
done
[ -n "$tracing" ] || { echo "copy.sh: no tracefs; mount -t tracefs tracefs /sys/kernel/tracing" >&2; exit 1; }

# owner FILE: prints the number of its owner and its mode
owner() {
	# shellcheck disable=SC2012 # stat is not everywhere, and the name is not read
	ls -ldn "$1" | while read -r mode _ uid _; do echo "$uid $mode"; done
}

# go_in: makes the directory and works in it from then on, so that what its name leads to later does not matter
go_in() {
	umask 077
	# A name with a dash at its beginning, or one of CDPATH.
	case $dir in /*) ;; *) dir=./$dir ;; esac
	mkdir -p "$dir" || exit 1
	cd "$dir" || exit 1
	self=$(owner /proc/self/)
	case "$(owner .) $(ls -A)" in
	"${self%% *} "d???[!w]-[!w][!w]-*' ') dir=. ;;
	*)
		echo "copy.sh: '$dir' is not empty, not yours, or others may write to it; name a new directory" >&2
		exit 1
		;;
	esac
}

# copy FROM TO: copies a file that exists and can be read
copy() {
	[ ! -r "$1" ] || cat "$1" > "$2" 2> /dev/null
}

# put_back: restores the settings of the buffer that is copied; also after an error and a signal
root='' on='' longest='' latency=''
put_back() {
	[ -z "$longest" ] || echo "$longest" > "$root/tracing_max_latency"
	[ -z "$latency" ] || echo "$latency" > "$root/options/latency-format"
	[ -z "$on" ] || echo "$on" > "$root/tracing_on"
	on='' longest='' latency=''
}
trap put_back EXIT
trap 'exit 1' HUP INT TERM

# text FILE: prints a file. Older kernels give some files to the first read only, and a shell reads single bytes.
text() {
	cat "$1"
}

# page_size ROOT: prints the size of a sub-buffer in bytes
page_size() {
	if [ -e "$1/buffer_subbuf_size_kb" ]; then
		echo $(($(cat "$1/buffer_subbuf_size_kb") * 1024))
		return
	fi
	text "$tracing/events/header_page" | while read -r line; do
		case $line in
		*' data;'*)
			offset=${line#*offset:}
			size=${line#*size:}
			echo $((${offset%%;*} + ${size%%;*}))
			;;
		esac
	done
}

# entries FILE: prints the number of entries of a CPU that were not read yet
entries() {
	text "$1" | while read -r name count; do
		[ "$name" != entries: ] || echo "$count"
	done
}

# copy_pages ROOT INTO: copies single sub-buffers as long as there are entries; reading on would wait for new ones
copy_pages() {
	page=$(page_size "$1")
	for cpu in "$1"/per_cpu/cpu*; do
		left=$(entries "$cpu/stats") idle=0
		while [ "$left" -gt 0 ] && [ $idle -lt 16 ]; do
			dd if="$cpu/trace_pipe_raw" bs="$page" count=1 2> /dev/null
			before=$left left=$(entries "$cpu/stats") idle=$((idle + 1))
			[ "$left" = "$before" ] || idle=0
		done > "$2/per_cpu/${cpu##*/}/trace_pipe_raw"
		[ "$left" = 0 ] || echo "copy.sh: $left entries of ${cpu##*/} could not be read" >&2
	done
}

# copy_texts ROOT INTO: copies the settings of a buffer, and its counters, which reading changes
copy_texts() {
	mkdir -p "$2/weft" || exit 1
	for file in trace_options current_tracer trace_clock timestamp_mode tracing_thresh tracing_max_latency \
		tracing_cpumask buffer_size_kb buffer_total_size_kb buffer_subbuf_size_kb max_graph_depth set_event \
		set_event_pid set_ftrace_pid; do
		copy "$1/$file" "$2/$file"
	done
	for cpu in "$1"/per_cpu/cpu*; do
		mkdir -p "$2/per_cpu/${cpu##*/}"
		copy "$cpu/stats" "$2/per_cpu/${cpu##*/}/stats"
	done
	case $(cat "$1/current_tracer") in
	wakeup* | irqsoff | preemptoff | preemptirqsoff)
		# Only this text has the worst case. Where a trigger stopped tracing, a longer one could replace it now.
		longest=$(cat "$1/tracing_max_latency")
		echo 9223372036854775 > "$1/tracing_max_latency"
		copy "$1/trace" "$2/weft/latency"
		echo "$longest" > "$1/tracing_max_latency"
		longest=''
		;;
	*)
		# Only this text says when the buffer was reset.
		latency=$(cat "$1/options/latency-format")
		echo 1 > "$1/options/latency-format"
		head -n 8000 "$1/trace" > "$2/weft/latency_sample"
		echo "$latency" > "$1/options/latency-format"
		latency=''
		;;
	esac
}

# copy_kernel: copies what is the same for all buffers
copy_kernel() {
	mkdir -p "$dir/weft" "$dir/events" || exit 1
	uname -a > "$dir/uname"
	for file in saved_cmdlines saved_cmdlines_size saved_tgids printk_formats eval_map dynamic_events \
		kprobe_events uprobe_events synthetic_events stack_trace events/header_page events/header_event; do
		copy "$tracing/$file" "$dir/$file"
	done
	copy /sys/devices/system/cpu/online "$dir/weft/online"
	copy /proc/modules "$dir/weft/modules"
	copy /sys/kernel/debug/sched/preempt "$dir/weft/sched_preempt"
	[ "${SYMBOLS:-yes}" = no ] || copy /proc/kallsyms "$dir/kallsyms"
	[ "${TYPES:-no}" = no ] || copy_types
	for system in "$tracing"/events/*/; do
		system=${system%/}
		system=${system##*/}
		case " ${SYSTEMS:-$system} ftrace " in
		*" $system "*) copy_formats "$system" ;;
		esac
	done
}

copy_types() {
	mkdir -p "$dir/btf" || exit 1
	for file in /sys/kernel/btf/*; do
		copy "$file" "$dir/btf/${file##*/}"
	done
}

copy_formats() {
	for event in "$tracing/events/$1"/*/; do
		event=${event%/}
		into=$dir/events/$1/${event##*/}
		[ -e "$event/format" ] && mkdir -p "$into" && copy "$event/format" "$into/format"
	done
}

copy_buffer() {
	root=$1 on=$(cat "$1/tracing_on") || exit 1
	echo 0 > "$1/tracing_on"
	copy_texts "$1" "$2"
	copy_pages "$1" "$2"
	put_back
}

go_in
[ $# -gt 0 ] || copy_buffer "$tracing" "$dir"
for instance; do
	copy_buffer "$tracing/instances/$instance" "$dir/instances/$instance"
done
copy_kernel
