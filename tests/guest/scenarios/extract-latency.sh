# SPDX-License-Identifier: GPL-2.0-only
# The longest case of a latency tracer is extracted word for word.
scenario() {
	local tracer n=0

	for tracer in wakeup irqsoff; do
		has_tracer $tracer || continue
		n=$((n + 1))
		echo 0 > $T/options/function-trace 2> /dev/null
		echo $tracer > $T/current_tracer
		echo 0 > $T/tracing_max_latency
		echo 1 > $T/tracing_on
		load
		# After a trigger had stopped it, the tracer would go on looking for longer sections
		# (record-latency.sh).
		echo 0 > $T/tracing_on
		remember
		timeout 60 weft extract -o /tmp/l.dat 2> /tmp/x.err
		check "weft extract under $tracer ends with status 0" status_is $? 0 /tmp/x.err
		unchanged "tracefs is as it was before the extraction under $tracer"
		cat $T/trace > /tmp/$tracer.txt
		weft report /tmp/l.dat > /tmp/l.txt
		same "the report under $tracer equals the kernel's text" /tmp/$tracer.txt /tmp/l.txt
		# What has come after the longest case is no part of it.
		for option in "-O fields" --raw "--format json"; do
			timeout 60 weft report $option /tmp/l.dat > /tmp/o.txt 2> /tmp/o.err
			check "report $option of it is refused" status_is $? 1 /tmp/o.err
			check "and prints no events" equal "$(cat /tmp/o.txt)" ""
		done
		timeout 60 weft extract -s -o /tmp/n.dat 2> /tmp/x.err
		check "its snapshot is refused" status_is $? 1 /tmp/x.err
		check "and the message says why" matches /tmp/x.err "the tracer '$tracer' keeps its worst case in the snapshot"
		echo nop > $T/current_tracer
	done
	more $n 0 > /dev/null || skip "everything" "this kernel has no latency tracer"
}
