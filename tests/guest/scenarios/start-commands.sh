# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# start, set, stop, restart, clear and reset in the top instance, beside somebody's settings, and a start that is
# killed.
. /host/start.sh

somebody() {
	echo 'prev_pid != 77' > $T/events/sched/sched_switch/filter
	echo 'stacktrace:5 if prev_pid == -5' > $T/events/sched/sched_switch/trigger
	echo 1 > $T/events/sched/sched_wakeup/enable
	echo vfs_link > $T/set_ftrace_filter
	echo 'vfs_link:traceoff:3' >> $T/set_ftrace_filter
	echo 4321 > $T/set_event_pid
	echo 1 > $T/options/sym-offset
	mkdir $T/instances/somebody
	echo 'stacktrace if prev_pid == -5' > $T/instances/somebody/events/sched/sched_switch/trigger
}

scenario() {
	has_command start || { skip "everything" "weft has no start"; return; }
	somebody
	remember
	echo "# $(wc -l < /tmp/state.before) lines of state"

	weft start -e sched:sched_switch -f 'prev_prio < 200' -e irq -b 600 -C mono -O nosym-offset > /tmp/s.out 2> /tmp/s.err
	check "start works" status_is $? 0 /tmp/s.err
	check "it says what it has switched off" matches /tmp/s.err 'the top instance had settings that weft did not make'
	check "it prints nothing else" equal "$(cat /tmp/s.out)" ""
	load
	check "the kernel traces" matches $T/trace sched_switch
	check "the filter is set" equal "$(cat $T/events/sched/sched_switch/filter)" 'prev_prio < 200'
	weft stop
	check "stop stops" equal "$(cat $T/tracing_on)" 0
	check "the buffer keeps its events" matches $T/trace sched_switch
	weft clear
	check "clear empties it" lacks $T/trace 'sched_switch:'
	weft restart
	check "restart goes on" equal "$(cat $T/tracing_on)" 1
	weft set -e sched:sched_waking -f 'prio < 200' -b 700 2> /tmp/s.err
	check "set changes a running session" status_is $? 0 /tmp/s.err
	check "it adds its event" matches $T/set_event sched_waking
	check "it takes no event away" matches $T/set_event sched_switch
	check "it sets the size" more "$(cat $T/buffer_size_kb)" 699
	check "tracing goes on" equal "$(cat $T/tracing_on)" 1
	weft set -v -e irq
	check "set -v switches events off" lacks $T/set_event '^irq:'
	weft start -e timer -b 800 2> /tmp/s.err
	check "start again works" status_is $? 0 /tmp/s.err
	weft start -B other -e sched -B somebody -e block -C mono 2> /tmp/s.err
	check "start makes an instance, and uses one that is there" status_is $? 0 /tmp/s.err
	check "both trace" equal "$(cat $T/instances/other/tracing_on $T/instances/somebody/tracing_on)" "1
1"
	weft recover > /tmp/s.out 2>&1
	check "recover takes none of it for a crash" matches /tmp/s.out 'nothing to recover'
	weft reset > /tmp/s.out 2>&1
	check "reset works" status_is $? 0 /tmp/s.out
	unchanged "after start, set, stop and start, reset puts everything back"

	weft start -p function -l 'vfs_*' -n vfs_write -e sched -M 0 -P $$ -c 2> /tmp/s.err
	check "start of a tracer works" status_is $? 0 /tmp/s.err
	check "with its functions" matches $T/set_ftrace_filter '^vfs_read$'
	weft reset 2> /tmp/s.err
	unchanged "after a tracer, reset puts everything back"

	weft start -e no_such:event 2> /tmp/s.err
	check "an event that is not there is an error" equal $? 1
	unchanged "an event that is not there changes nothing"
	weft start -e sched -f 'no_such_field == 1' 2> /tmp/s.err
	check "a filter that fits nothing is an error" equal $? 1
	unchanged "a filter that fits nothing changes nothing"
	weft start -e sched -p no_such_tracer 2> /tmp/s.err
	check "a tracer that is not there is an error" equal $? 1
	unchanged "a tracer that is not there changes nothing"
	weft start -e sched -- /no/such/command 2> /tmp/s.err
	check "a command that is not there is one" equal $? 127
	unchanged "nor does a command that is not there"

	killed "start" weft start -e sched -e irq -e timer -e block -b 900 -C mono -l 'vfs_*' -p function

	for signal in INT TERM HUP PIPE; do
		sh -c 'trap - INT TERM HUP PIPE; exec weft start -e sched -e irq -e timer -b 900 -C mono -l "vfs_*" -p function' 2> /dev/null &
		sleep 0.2
		kill -$signal $! 2> /dev/null
		wait $! 2> /dev/null
	done
	weft reset > /tmp/s.out 2>&1
	unchanged "signals leave nothing that reset does not know"

	weft reset --all < /dev/null > /tmp/s.out 2>&1
	check "reset --all changes nothing when nobody can be asked" equal $? 1
	check "it lists what it would destroy" matches /tmp/s.out 'sched_switch/trigger: stacktrace'
	unchanged "and nothing is changed"
	# Some kernels take no probe of a function's entry.
	{ echo 'p:mine vfs_read' >> $T/dynamic_events || echo 'e:mine sched.sched_switch' >> $T/dynamic_events; } 2> /dev/null
	weft reset --all --yes > /tmp/s.out 2>&1
	check "reset --all works" status_is $? 0 /tmp/s.out
	check "no instance is left" equal "$(ls $T/instances)" ""
	check "no trigger is left" lacks $T/events/sched/sched_switch/trigger '^[^#]'
	check "no function probe is left" lacks $T/set_ftrace_filter traceoff
	check "probes of others stay" matches $T/dynamic_events mine
	weft stat > /tmp/s.out 2>&1
	check "nothing but the probe differs from boot" equal "$(grep -v '^top\|mine' /tmp/s.out)" ""
	weft reset --all --yes --probes > /tmp/s.out 2>&1
	check "--probes removes them" equal "$(cat $T/dynamic_events)" ""
}
