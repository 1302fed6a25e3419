# SPDX-License-Identifier: GPL-2.0-only
# weft trace-cmd: sqlhist, show, stat and reset in the top instance, as trace-cmd's own tests use them.
. /host/start.sh

tc() { weft trace-cmd "$@" > /tmp/s.out 2> /tmp/s.err; }

scenario() {
	[ -e $T/events/sched/sched_switch/hist ] || { skip "everything" "this kernel has no histograms"; return; }
	remember
	tc sqlhist -e 'SELECT irq FROM irq_handler_entry'
	check "sqlhist makes a histogram" status_is $? 0 /tmp/s.err
	load
	tc show --hist irq_handler_entry
	check "show finds it by the name of the event alone" matches /tmp/s.out 'Hits: [0-9]'
	check "it is the trigger" matches $T/events/irq/irq_handler_entry/trigger '^hist:keys=irq'
	weft hist --sql 'SELECT start.pid AS who, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS lat FROM sched_waking AS start JOIN sched_switch AS end ON start.pid = end.next_pid' \
		--name wake > /tmp/s.out 2> /tmp/s.err
	check "hist --sql makes a synthetic event" status_is $? 0 /tmp/s.err
	check "it tells which" matches /tmp/s.out '^synthetic:wake: '
	tc start -e wake
	check "start traces it" status_is $? 0 /tmp/s.err
	load
	check "it has events" matches $T/trace ' wake: who='
	tc reset -k synth
	check "reset -k keeps it" matches $T/synthetic_events '^wake'
	tc stat
	check "stat names it" matches /tmp/s.out '^ *wake'
	check "its triggers are gone" equal "$(grep -c '^hist' $T/events/sched/sched_waking/trigger)" 0
	tc reset
	check "reset removes it" equal "$(cat $T/dynamic_events)" ""
	unchanged "reset leaves nothing"

	echo 'p:theirs vfs_read' >> $T/kprobe_events
	echo 'r:theirret vfs_read' >> $T/kprobe_events
	tc reset -k kprobe
	check "reset -k kprobe keeps the kprobe" matches $T/kprobe_events 'theirs vfs_read'
	check "but not the kretprobe" lacks $T/kprobe_events theirret
	tc reset
	check "reset removes what others made" equal "$(cat $T/dynamic_events)" ""
	weft hist --sql 'SELECT irq FROM irq_handler_entry' > /dev/null 2>&1
	weft reset > /tmp/s.err 2>&1
	check "weft reset takes a query back" lacks $T/events/irq/irq_handler_entry/trigger '^hist'
	unchanged "nothing is left"
}
