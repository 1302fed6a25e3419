# SPDX-License-Identifier: GPL-2.0-only
# A trigger stops tracing while a latency tracer, which does not stop, looks for longer sections: the text is saved all
# the same.
scenario() {
	local tracer tries

	for tracer in wakeup irqsoff; do
		has_tracer $tracer || { skip "$tracer" "this kernel has no such tracer"; continue; }
		remember
		record "weft records with $tracer until a trigger stops it" 0 -p $tracer -O nofunction-trace \
			-e sched:sched_process_exit -R traceoff:1 -- sh -c 'ls -l /bin; ls -l /bin'
		unchanged "tracefs is as it was before $tracer"
		weft report /tmp/r.dat > /tmp/r.txt 2> /tmp/r.err
		check "the report names $tracer" matches /tmp/r.txt "^# tracer: $tracer\$"
		whole
		# This load may have no wakeup that the tracer measures.
		[ $tracer = irqsoff ] || continue
		# If no section was found before the trigger, the one after it has no entries.
		tries=0
		while ! grep -qv '^#' /tmp/r.txt && [ $tries -lt 5 ]; do
			tries=$((tries + 1))
			timeout 40 weft record -q -o /tmp/r.dat -p $tracer -O nofunction-trace -e sched:sched_process_exit -R traceoff:1 -- \
				sh -c 'ls -l /bin; ls -l /bin' > /dev/null 2>&1
			weft report /tmp/r.dat > /tmp/r.txt 2> /tmp/r.err
		done
		check "it has the worst case" matches /tmp/r.txt '^# latency: [1-9][0-9]* us, '
		check "and its entries" matches /tmp/r.txt 'us[ +!#*@$]?: '
	done
}
