# SPDX-License-Identifier: GPL-2.0-only
# Sourced by run: commands that trace in instances of this machine's kernel. Other programs may record at the same time.

# Nothing remains: no instance of that run, and not the one global setting that a recording raises. Other programs may
# record at the same time.
# shellcheck disable=SC2016 # of the inner shell
nothing_left='
	if [ -e "$tracefs/instances/weft-$CHILD" ]; then rmdir "$tracefs/instances/weft-$CHILD"; exit 1; fi
	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(cat "$tracefs/saved_cmdlines_size")" != "$before" ] || break
		[ $i -lt 10 ] || { echo "$before" > "$tracefs/saved_cmdlines_size"; exit 1; }
		sleep 0.3
	done
	[ "$STATUS" != 0 ] || [ ! -e "$work/out/a.dat" ] || "$weft" check -q "$work/out/a.dat" || exit 1
	rm -rf "$work/out"/*
'

can_trace()
{
	[ "$(id -u)" = 0 ] && { [ -e $tracefs/instances ] || mount -t tracefs tracefs $tracefs 2> /dev/null; } &&
		mkdir $tracefs/instances/weft-faults-$$ 2> /dev/null && rmdir $tracefs/instances/weft-faults-$$
}

if can_trace; then
	before=$(cat $tracefs/saved_cmdlines_size)
	export before
	mkdir "$work/out"
	for kind in alloc open read write map sync rename thread; do
		each $kind -n 12 -m 600 -a "$nothing_left" "$weft" record -q -e sched:sched_process_exit -F -o "$work/out/a.dat" -- true
	done
	# A flight that ends by itself writes what its condition has begun; nothing of its instances and its socket stays.
	# shellcheck disable=SC2016 # of the inner shell
	flown='
		[ ! -e "/run/weft/faults.sock" ] || exit 1
		if [ -e "$tracefs/instances/weft-$CHILD-2" ]; then rmdir "$tracefs/instances/weft-$CHILD-2"; exit 1; fi
	'$nothing_left
	for kind in alloc open read write map sync rename thread; do
		each $kind -n 12 -m 600 -a "$flown" "$weft" flight start --name faults -e sched:sched_process_exit --keep 1s --after 10ms \
			--duration 300ms --when "command:'false' every 100ms" --when 'exit:no-such status==3' -o "$work/out"
	done
	# recover: the parts exist as long as there is no whole file. They come from a recording that is killed here.
	mkdir "$work/left" "$work/was"
	{ "$weft" record -q -e sched:sched_process_exit -F -o "$work/was/r.dat" -- sh -c 'kill -9 $PPID'; } > /dev/null 2>&1
	parts=$(cd "$work/was" && echo r.dat.weft-*.parts)
	export parts
	cp -a "$work/was/$parts" "$work/left/"
	"$weft" recover "$work/was/$parts" 2> /dev/null
	rm -rf "$work/was/$parts"
	cp -a "$work/left/$parts" "$work/was/"
	# shellcheck disable=SC2016 # of the inner shell
	kept='
		[ -e "$work/left/r.dat" ] || [ -e "$work/left/$parts" ] || exit 1
		[ "$STATUS" != 0 ] || [ ! -e "$work/left/$parts" ] || exit 1
		[ ! -e "$work/left/r.dat" ] || "$weft" check -q "$work/left/r.dat" || exit 1
		[ "$(ls -A "$work/left" | grep -cvx "r.dat\|$parts")" = 0 ] || exit 1
		rm -rf "$work/left"/*
		cp -a "$work/was/$parts" "$work/left/"
	'
	each "alloc open read write map sync rename" -n 12 -a "$kept" "$weft" recover "$work/left/$parts"

	# extract: data that leaves the buffer is in the file or in its parts.
	held=$tracefs/instances/weft-faults-$$
	export held
	mkdir "$held"
	echo 'still here' > "$held/trace_marker"
	# shellcheck disable=SC2016 # of the inner shell
	holds='
		if [ "$STATUS" = 0 ]; then "$weft" report "$work/out/e.dat" | grep -q "still here" || exit 1
		else grep -q "still here" "$held/trace" || ls -A "$work/out" | grep -q . || exit 1; fi
		rm -rf "$work/out"/*
		echo > "$held/trace"
		echo "still here" > "$held/trace_marker"
	'
	each "alloc open read write sync rename" -n 7 -m 300 -a "$holds" "$weft" extract -q -B "weft-faults-$$" -o "$work/out/e.dat"
	# Commands that describe that instance or change it.
	each "alloc open read write" -n 12 "$weft" show -B "weft-faults-$$"
	each "alloc open read write" -n 12 -m 300 "$weft" stat -B "weft-faults-$$"
	# shellcheck disable=SC2016 # of the inner shell
	marked='
		grep -q "a mark" "$held/trace"; there=$?
		echo > "$held/trace"
		if [ "$STATUS" = 0 ]; then [ $there = 0 ]; else [ $there != 0 ]; fi
	'
	each "alloc open write" -n 12 -a "$marked" "$weft" mark -B "weft-faults-$$" a mark
	# shellcheck disable=SC2016 # of the inner shell
	cleared='
		[ "$STATUS" != 0 ] || ! grep -q "still here" "$held/trace" || exit 1
		echo > "$held/trace"
		echo "still here" > "$held/trace_marker"
	'
	each "alloc open read write" -n 12 -a "$cleared" "$weft" clear -B "weft-faults-$$"

	# start, set, stop, restart succeed and `weft reset` restores the settings; or they fail, change nothing and
	# leave no journal.
	# shellcheck disable=SC2016 # of the inner shell
	was='cat "$held/set_event" "$held/trace_clock" "$held/buffer_size_kb" "$held/tracing_on"'
	export was
	"$weft" start -B "${held##*/}" -e sched:sched_process_hang -b 64 -C mono && "$weft" reset -B "${held##*/}" > /dev/null
	before_start=$(eval "$was")
	export before_start
	# shellcheck disable=SC2016 # of the inner shell
	put_back='
		bad=0
		if [ "$STATUS" = 0 ]; then eval "$done" || bad=1
		elif ls /run/weft 2> /dev/null | grep -q -- "-$CHILD-"; then bad=1; fi
		[ "$STATUS" != 0 ] && [ "$bad" = 0 ] || "$weft" reset -q -B "${held##*/}" > /dev/null 2>&1 || "$weft" reset -B "${held##*/}" > /dev/null
		[ "$(eval "$was")" = "$before_start" ] || { bad=1; echo 1 > "$held/tracing_on"; echo > "$held/set_event"; echo local > "$held/trace_clock"; }
		exit $bad
	'
	# shellcheck disable=SC2016 # of the inner shell
	{
		done='grep -qx sched:sched_process_hang "$held/set_event" && grep -q "\[mono\]" "$held/trace_clock"'
		export done
		each "alloc open read write map sync rename" -n 12 -a "$put_back" \
			"$weft" start -B "${held##*/}" -e sched:sched_process_hang -b 64 -C mono
		each "alloc open read write sync rename" -n 12 -a "$put_back" \
			"$weft" set -B "${held##*/}" -e sched:sched_process_hang -f 'pid > 1' -b 64 -C mono
		done='[ "$(cat "$held/tracing_on")" = 0 ]'
		each "alloc open read write sync rename" -n 12 -a "$put_back" "$weft" stop -B "${held##*/}"
	}
	# shellcheck disable=SC2016 # of the inner shell
	turned='
		[ "$STATUS" != 0 ] || [ "$(cat "$held/tracing_on")" = 1 ] || exit 1
		"$weft" reset -B "${held##*/}" > /dev/null
		"$weft" stop -B "${held##*/}"
	'
	"$weft" stop -B "${held##*/}"
	each "alloc open read write sync rename" -n 12 -a "$turned" "$weft" restart -B "${held##*/}"
	"$weft" reset -B "${held##*/}" > /dev/null

	# reset restores everything; or a journal keeps what is left, and a second reset restores it.
	# shellcheck disable=SC2016 # of the inner shell
	reset='
		[ "$STATUS" = 0 ] || "$weft" reset -B "${held##*/}" > /dev/null
		bad=0
		[ "$(eval "$was")" = "$before_start" ] || bad=1
		"$weft" start -B "${held##*/}" -e sched:sched_process_hang -b 64 -C mono
		exit $bad
	'
	"$weft" start -B "${held##*/}" -e sched:sched_process_hang -b 64 -C mono
	each "alloc open read write map sync rename" -n 12 -a "$reset" "$weft" reset -B "${held##*/}"
	"$weft" reset -B "${held##*/}" > /dev/null
	rmdir "$held"
	# shellcheck disable=SC2016 # of the inner shell
	made='
		if [ "$STATUS" = 0 ]; then "$weft" instance remove "${held##*/}" > /dev/null; else [ ! -e "$held" ] || { rmdir "$held"; exit 1; }; fi
	'
	each "alloc open read write" -n 12 -a "$made" "$weft" instance create "weft-faults-$$"

	# probe: the probe exists if weft says so. If the command fails later (in its output), weft knows that the probe
	# is its own.
	if [ -e $tracefs/uprobe_events ] && [ -z "$(cat $tracefs/dynamic_events)" ]; then
		echo 'int probed(int n) { return n + 1; } int main(void) { return probed(-1); }' > "$work/probed.c"
		"$cc" -O0 -o "$work/probed" "$work/probed.c"
		group=weft_faults_$$
		export group
		# shellcheck disable=SC2016 # of the inner shell
		probed='
			grep -q "$group" $tracefs/dynamic_events; there=$?
			"$weft" probe remove "$group:*" > /dev/null 2>&1
			if grep -q "$group" $tracefs/dynamic_events; then echo "-:$group/one" >> $tracefs/dynamic_events; exit 1; fi
			[ "$STATUS" != 0 ] || [ $there = 0 ]
		'
		each "alloc open read write map" -n 12 -a "$probed" "$weft" probe add "$group/one=$work/probed:probed n=arg1:s32"
		"$weft" probe add "$group/one=$work/probed:probed n=arg1:s32" > /dev/null
		each "alloc open read write" -n 12 "$weft" probe list
		"$weft" probe remove "$group:one" > /dev/null
	else
		echo "skip faults probe: no uprobes here, or somebody has probes"
		skipped=$((skipped + 1))
	fi
	each "alloc open read write map thread" -n 12 -m 300 -a "$nothing_left" "$weft" stream -q -e sched:sched_process_hang -F -- true
else
	echo "skip faults record: tracefs permits no instance here"
	skipped=$((skipped + 1))
fi
