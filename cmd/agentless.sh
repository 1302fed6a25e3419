#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only

# The far side of `weft record --on HOST --agentless`, for a machine that has a POSIX shell and cat, dd, mkdir, rmdir,
# sleep and uname, as busybox has them. The near side sends it to the standard input of `sh`, behind the variables
# token, own_name and command, and the function launch, and before a last line that calls main.
#
# Then orders come on standard input, a line each: see obey() and hear(). What goes out on standard output are frames:
# a line "KIND NAME", any bytes, and a line with the token, which the near side has made up. So no length has to be
# known. H begins, T is a text, P are whole sub-buffers of a CPU, A answers the order `ask`, N is a message, E one that
# ends the recording; B says that tracing is on, L that this side is there, D that tracing is off and the buffers are
# empty. X is the last frame, and its name the status of the command.
#
# What is changed is an instance of tracefs of its own. It is removed at the end, however the end comes: by this shell,
# or by the process of guard() when this shell was killed or the near side is gone.
# shellcheck disable=SC2013,SC2086,SC2154 # words are wanted; token and own_name come before this text
set -u
LC_ALL=C
export LC_ALL
own='' tracing='' page='' stop='' child='' ears='' guardian='' tried=0 took=0
# So many seconds of silence are the end of the near side, which says every 5 seconds that it is there.
limit=${limit:-300}

# shut: ends a frame
shut() {
	echo && echo "$token" || exit 1
}

# say KIND TEXT: a frame with a message
say() {
	echo "$1 -" && echo "$2" || exit 1
	shut
}

fail() {
	say E "$1"
	exit 1
}

# text NAME FILE: a frame with a file, if it can be read
text() {
	[ -r "$2" ] || return 0
	echo "T $1" || exit 1
	cat "$2" 2> /dev/null
	shut
}

# write FILE TEXT: fails if the kernel does not take it
write() {
	{ printf '%s\n' "$2" > "$own/$1"; } 2> /dev/null
}

# filters: a frame with a line for each event that has a filter
filters() {
	echo 'T weft/filters' || exit 1
	while read -r event; do
		# The kernel gives it to one read only, and a shell reads single bytes.
		filter=$(cat "$own/events/${event%%:*}/${event#*:}/filter" 2> /dev/null)
		case $filter in '' | none) ;; *) echo "$event $filter" ;; esac
	done < "$own/set_event"
	shut
}

# some FILE EVENTS: what became of the tries since the last one
some() {
	[ $took != 0 ] || fail "events/*/$1 takes no such value for any event of $2 there"
	[ $took = $tried ] || say N "events/*/$1 was set for $took of $tried events of $2; the others have none"
	tried=0 took=0
}

# obey: does what the near side orders, until it says `go`. Its end is the end of everything.
obey() {
	while read -r verb name value; do
		case $verb in
		set) write "$name" "$value" || fail "$name takes no '$value' there" ;;
		try)
			tried=$((tried + 1))
			! write "$name" "$value" || took=$((took + 1))
			;;
		some) some "$name" "$value" ;;
		add) { printf '%s\n' "$value" >> "$own/$name"; } 2> /dev/null || fail "$name takes no '$value' there" ;;
		wish) [ ! -e "$own/$name" ] || write "$name" "$value" ;;
		own) if [ -e "$own/$name" ]; then text "$name" "$own/$name"; else text "$name" "$tracing/$name"; fi ;;
		top) text "$name" "$tracing/$name" ;;
		file) text "$name" "$value" ;;
		system)
			for format in "$tracing/events/$name"/*/format; do
				text "${format#"$tracing/"}" "$format"
			done
			;;
		filters) filters ;;
		here) kill -USR1 "$guardian" ;;
		ask) say A "$name" ;;
		go)
			page=$name
			return
			;;
		esac
	done <&3
	exit 1
}

# lives PID: a process that has ended may wait for who has started it
lives() {
	{ read -r line < "/proc/$1/stat"; } 2> /dev/null || return 1
	case ${line##*) } in [ZX]*) return 1 ;; esac
}

# hear: what is ordered meanwhile, in a process of its own
hear() {
	trap '' HUP INT PIPE
	while read -r verb name; do
		case $verb in
		here) kill -USR1 "$guardian" ;;
		stop)
			kill -TERM $$
			exit
			;;
		esac
	done
	kill -USR2 "$guardian"
	kill -HUP $$
}

# remove: removes the instance, as soon as nothing reads it any more
remove() {
	[ -d "$own" ] || return 0
	write tracing_on 0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		rmdir "$own" 2> /dev/null && return
		[ -d "$own" ] || return 0
		sleep 1
	done
}

# end_main: ends the recording's shell, which may wait for a reader that is gone, and what it has started
end_main() {
	read -r line < /proc/self/stat
	self=${line%% *}
	kill -STOP $$ 2> /dev/null || return
	for process in /proc/[0-9]*/stat; do
		{ read -r line < "$process"; } 2> /dev/null || continue
		# The name may have blanks. Behind it come the state and the parent.
		rest=${line##*) }
		rest=${rest#* }
		[ "${rest%% *}" != $$ ] || [ "${line%% *}" = "$self" ] || kill -TERM "${line%% *}"
	done
	kill -KILL $$
}

# guard: a process that restores tracing when the recording's shell has not: it was killed, or the near side is gone
guard() {
	silence=0 counts=0
	trap 'silence=0 counts=1' USR1
	trap 'silence=$((limit - 2)) counts=1' USR2
	trap '' HUP INT TERM PIPE
	while lives $$ && [ $silence -lt "$limit" ]; do
		sleep 1
		silence=$((silence + counts))
	done
	end_main
	remove
}

# put_back: at the end of the recording's shell
put_back() {
	trap '' HUP INT TERM PIPE
	[ -z "$child" ] || kill -TERM "$child" 2> /dev/null
	remove
	for process in "$ears" "$guardian"; do
		[ -z "$process" ] || kill -KILL "$process" 2> /dev/null
	done
}

# pages CPU NUMBER: a frame with so many sub-buffers, which are there
pages() {
	echo "P $1" || exit 1
	dd if="$own/per_cpu/cpu$1/trace_pipe_raw" bs="$page" count="$2" 2> /dev/null
	shut
}

# full LEAST: copies the full sub-buffers of each CPU that has at least so many. A read of one that is being filled
# would take what is in it, and be the cause of new events.
full() {
	last='' busy=''
	set -- "$1" $cpus
	for word in $(cat $stats); do
		if [ "$last" = bytes: ]; then
			number=$((word / page))
			if [ $number -ge "$1" ]; then
				pages "$2" $number
				busy=1
			fi
			least=$1
			shift 2
			set -- "$least" "$@"
		fi
		last=$word
	done
}

# counter FILE NAME: prints a number of a file of counters
counter() {
	last=''
	for word in $(cat "$1"); do
		[ "$last" != "$2:" ] || echo "$word"
		last=$word
	done
}

# rest: copies what is left when tracing is off
rest() {
	full 1
	for cpu in $cpus; do
		file=$own/per_cpu/cpu$cpu/stats idle=0
		left=$(counter "$file" entries)
		while [ "$left" -gt 0 ] && [ $idle -lt 16 ]; do
			pages "$cpu" 1
			before=$left left=$(counter "$file" entries) idle=$((idle + 1))
			[ "$left" = "$before" ] || idle=0
		done
		[ "$left" = 0 ] || say N "$left entries of CPU $cpu could not be read"
	done
}

# ended: whether the command has
ended() {
	[ -n "$child" ] && ! lives "$child"
}

# follow: copies until it is time to stop
follow() {
	pause=0.1 turn=0
	size=$(counter_of_size)
	sleep $pause 2> /dev/null || pause=1
	while [ -z "$stop" ] && ! ended; do
		# Few sub-buffers cost as much as many; but none should wait for long.
		turn=$(((turn + 1) % 10))
		if [ $turn = 0 ]; then
			say L here
			full 1
		else
			full $((size / 8 + 1))
		fi
		[ -n "$stop$busy" ] || sleep $pause
	done
}

# counter_of_size: prints how many sub-buffers the buffer of a CPU has, about
counter_of_size() {
	kb=$(cat "$own/buffer_size_kb")
	kb=${kb%% *}
	case $kb in '' | *[!0-9]*) kb=1024 ;; esac
	echo $((kb * 1024 / page))
}

begin() {
	# A redirection of a function would keep what it replaces open, in the shells that come back from it.
	(exec <&3 > /dev/null 3<&- && hear) &
	ears=$!
	kill -USR1 "$guardian"
	if [ -n "$command" ]; then
		(exec < /dev/null >&2 3<&- && launch) &
		child=$!
	else
		write tracing_on 1 || fail "tracing cannot be turned on there"
	fi
	say B begun
}

finish() {
	write tracing_on 0
	for cpu in $cpus; do
		text "per_cpu/cpu$cpu/stats" "$own/per_cpu/cpu$cpu/stats"
	done
	rest
	say D empty
	# It ends when it hears that there is nothing more to hear of.
	while kill -0 "$ears" 2> /dev/null; do
		wait "$ears"
	done
	ears=''
	obey
}

main() {
	exec 3<&0
	trap put_back EXIT
	trap 'stop=1' INT TERM
	trap 'exit 1' HUP PIPE
	for tracing in /sys/kernel/tracing /sys/kernel/debug/tracing ''; do
		[ -e "$tracing/trace_options" ] && break
	done
	echo 'H 1' || exit 1
	dd if=/proc/self/exe bs=20 count=1 2> /dev/null
	shut
	[ -n "$tracing" ] ||
		fail 'the user there has no tracefs: be root, and mount -t tracefs tracefs /sys/kernel/tracing'
	own=$tracing/instances/$own_name
	(exec < /dev/null > /dev/null 2>&1 3<&- && guard) &
	guardian=$!
	mkdir "$own" 2> /dev/null || fail "$own cannot be made there: it takes root"
	write tracing_on 0
	cpus='' stats=''
	for cpu in "$own"/per_cpu/cpu*; do
		cpus="$cpus ${cpu##*/cpu}" stats="$stats $cpu/stats"
	done
	echo 'T weft/uname' && uname -s -r -v -m && shut
	echo 'T uname' && uname -s -n -r -m && shut
	obey
	begin
	follow
	finish
	status=0
	if [ -n "$child" ]; then
		ended || kill -TERM "$child"
		wait "$child"
		status=$?
		child=''
	fi
	put_back
	[ ! -d "$own" ] || say N "$own could not be removed there"
	echo "X $status" && shut
	exit 0
}
