# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# The script of --dry-run, run by sh, changes tracefs exactly as the command itself does; printing it changes nothing.

# both SENTENCE COMMAND OPTION...
both() {
	local sentence="$1"

	shift
	weft "$@" --dry-run > /tmp/script.txt 2> /tmp/s.err
	check "$sentence: --dry-run works" status_is $? 0 /tmp/s.err
	unchanged "$sentence: --dry-run changes nothing"
	weft "$@" > /tmp/s.err 2>&1
	check "$sentence: so does the command" status_is $? 0 /tmp/s.err
	state > /tmp/by-weft.txt
	weft reset 2> /dev/null
	sh /tmp/script.txt > /tmp/s.err 2>&1
	check "$sentence: sh runs the script" status_is $? 0 /tmp/s.err
	state > /tmp/by-script.txt
	same "$sentence: the script does what the command does" /tmp/by-weft.txt /tmp/by-script.txt
	cp /tmp/script.txt "$OUT/"
	reset 2> /dev/null
	echo > $T/set_event_notrace_pid
	echo 0 > $T/tracing_thresh
}

scenario() {
	has_command start || { skip "everything" "weft has no start"; return; }
	weft start --help | grep -q dry-run || { skip "everything" "weft has no --dry-run"; return; }
	remember
	both "events and a tracer" start -e sched:sched_switch -f 'prev_prio < 100 && prev_comm ~ "it*"' -e irq -R stacktrace:3 \
		-p function -l vfs_read -l 'vfs_w*' -n vfs_write -l vfs_fsync:traceoff:5 -b 700 -C mono -O sym-offset --thresh 30 --no-pid 1
	both "instances" start -B one -e sched -b 300 -B two -e 'irq:*' -C mono -T -M 0
}
