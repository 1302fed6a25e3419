# SPDX-License-Identifier: GPL-2.0-only
# In commands that need tracers, triggers or a snapshot, one allocation, open or write after another fails
# (tests/faults/inject.c). Each run ends with a message and a status, or does its work; and nothing is left behind. Only
# a few points of each command are tried here: `make faults` has the rest.

# each NAME KINDS AFTER COMMAND...: AFTER checks what must be true afterwards, and cleans up
each() {
	local name="$1" kinds="$2" kind
	export after="$3"
	shift 3
	for kind in $kinds; do
		inject /usr/bin/inject.so "$kind" -o -n 3 -a "$after" "$@" > /tmp/said 2>&1
		check "$name: each $kind that fails is told, and nothing is left" status_is $? 0 /tmp/said
		echo "$name $(grep '^POINTS' /tmp/said)"
	done
}

scenario() {
	export T
	command -v inject > /dev/null || { skip "calls that fail" "inject is built for this machine only"; return; }
	remember
	weft instance create faults > /dev/null
	if [ -e $T/events/sched/sched_process_exit/hist ]; then
		each "weft hist" "alloc open write" '[ "$(ls $T/instances)" = faults ] && ! grep -q ^hist $T/events/sched/sched_process_exit/trigger' \
			weft hist sched:sched_process_exit --keys prio -- true
	fi
	if [ -e $T/instances/faults/snapshot ]; then
		each "weft snapshot take" "alloc write" 'grep -q "is allocated" $T/instances/faults/snapshot; there=$?
			echo 0 > $T/instances/faults/snapshot
			[ "$STATUS" != 0 ] || [ $there = 0 ]' weft snapshot take -B faults
	fi
	if [ -e $T/stack_trace ]; then
		each "weft stack start" "alloc write" 'on=$(cat /proc/sys/kernel/stack_tracer_enabled)
			[ "$STATUS" != 0 ] || weft reset > /dev/null 2>&1
			[ "$STATUS" = 0 ] && [ "$on" = 1 ] || [ "$on" = 0 ]' weft stack start -l vfs_read
	fi
	if [ -e $T/function_profile_enabled ]; then
		each "weft profile-functions" "alloc write" '[ "$(cat $T/function_profile_enabled)" = 0 ] && grep -q "all functions" $T/set_ftrace_filter' \
			weft profile-functions -l vfs_read -- true
	fi
	if has_tracer wakeup; then
		each "weft start -p wakeup" "alloc write" '[ "$STATUS" != 0 ] || { grep -q wakeup $T/current_tracer && weft reset > /dev/null 2>&1; } || exit 1
			grep -q nop $T/current_tracer' weft start -p wakeup
	fi
	weft instance remove faults > /dev/null
	weft reset > /dev/null 2>&1
	unchanged
}
