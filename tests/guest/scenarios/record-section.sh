# SPDX-License-Identifier: GPL-2.0-only
# limit: 900
# A recording of a latency tracer holds the events of the longest section: reports with other trace options are the
# kernel's own texts with these options, and selections, formats and exports work as on any other recording.

# The kernel's texts are made by the recorded command: it keeps the section that was found, stops the buffer and prints it
# with one set of options after the other.
# The first tracer has all sets, the others those whose text depends on the tracer.
all_options='- verbose nolatency-format nolatency-format,noirq-info nolatency-format,sym-offset sym-offset sym-addr sym-offset,sym-addr,verbose
	noprint-parent nocontext-info nolatency-format,nocontext-info nolatency-format,verbose'
few_options='- verbose nolatency-format'

texts() {
	local o all='' p

	[ -e $I/trace_options ] && echo 9223372036854775 > $I/tracing_max_latency
	echo 0 > $I/tracing_on
	for o in $SETS; do
		all=$(echo "${o#-}" | tr , ' ')
		for p in $all; do echo $p > $I/trace_options; done
		cat $I/trace > /tmp/k.$o.txt
		for p in $all; do case $p in no*) echo ${p#no} ;; *) echo no$p ;; esac > $I/trace_options; done
	done
}

# section TRACER OPTION...
section() {
	local tracer=$1 o p tries=0

	shift
	remember
	cat > /tmp/section.sh <<-END
		kill -STOP \$PPID
		. /host/lib.sh
		. /host/compare.sh
		begin
		. /host/scenarios/record-section.sh
		echo 0 > \$I/tracing_max_latency
		for i in 1 2 3; do
			chrt -f 50 usleep 2000
			[ $tracer != wakeup_dl ] || chrt -d -T 1000000 -D 10000000 -P 10000000 0 usleep 2000
			usleep 1000
		done
		texts
		kill -CONT \$PPID
	END
	export T S OUT SETS
	while :; do
		record "weft records with $tracer $*" 0 -b 2048 -p $tracer "$@" -- sh /tmp/section.sh
		tries=$((tries + 1))
		! grep -q '^ ' /tmp/k.-.txt && [ $tries -lt 4 ] || break
	done
	unchanged "tracefs is as it was before $tracer"
	whole
	for o in $SETS; do
		set -- /tmp/r.dat
		for p in $(echo "${o#-}" | tr , ' '); do set -- "$@" -O $p; done
		weft report "$@" > /tmp/w.$o.txt 2> /tmp/w.err
		check "weft report has nothing to say" equal "$(cat /tmp/w.err)" ""
		same "$tracer: the report with ${o#-} is the kernel's text" /tmp/k.$o.txt /tmp/w.$o.txt
	done
	cut -c1-80 /tmp/k.-.txt | head -n 40 > $OUT/head-$tracer.txt
	nr=$(sed -nE 's/^# latency: [0-9]+ us, #([0-9]+)\/.*/\1/p' /tmp/k.-.txt)
	check "$tracer: there is a section" more "${nr:-0}" 1
	check "$tracer: JSON has its events" equal "$(weft report --format json /tmp/r.dat | grep -c '"event"')" "$nr"
	check "$tracer: the last three of them" equal "$(weft report --format json --tail 3 /tmp/r.dat | grep -c '"event"')" 3
	check "$tracer: an export has them" equal "$(weft export --to jsonl -i /tmp/r.dat | wc -l)" "$nr"
	check "$tracer: the summary, too" matches /tmp/r.err "(^|[^0-9])$(echo $nr | sed -E ':a;s/([0-9])([0-9]{3})($|,)/\1,\2\3/;ta') events"
}

scenario() {
	local tracer delay nr

	set -f
	SETS=$all_options
	for tracer in wakeup wakeup_rt wakeup_dl irqsoff preemptoff preemptirqsoff; do
		has_tracer $tracer || { skip "$tracer" "this kernel has no such tracer"; continue; }
		section $tracer -O nofunction-trace
		SETS=$few_options
	done
	has_tracer wakeup_rt || return
	section wakeup_rt -O nofunction-trace -e sched -e irq
	grep ': sched_switch: ' /tmp/k.-.txt > /tmp/k.txt
	weft report -e sched_switch /tmp/r.dat | grep -v '^#' > /tmp/w.txt
	same "-e selects the lines of an event" /tmp/k.txt /tmp/w.txt
	section wakeup_rt -e sched -l 'try_to_wake*' -l '*schedule*' -l 'ttwu_*' -O func_stack_trace
	! has_tracer irqsoff || section irqsoff -l '*lock*' -l '*sched*'
	set +f
	# An instance that was there before gets its tracer, options and limits back, and no snapshot stays in it.
	mkdir $T/instances/mine
	echo 77 > $T/instances/mine/tracing_max_latency
	remember
	record "weft records in an instance that is there" 0 -B mine -p wakeup_rt -O nofunction-trace -- sh -c 'for i in 1 2 3; do chrt -f 50 usleep 2000; done'
	unchanged "it is as it was before"
	check "its events are in the file" more "$(weft report -B mine --format json /tmp/r.dat | grep -c '"event"')" 1
	rmdir $T/instances/mine

	# Killed at any time, weft leaves nothing that reset does not find.
	for delay in 0 0.1 0.3 1; do
		remember
		weft record -o /tmp/r.dat -p wakeup_rt -O nofunction-trace -- sh -c 'chrt -f 50 usleep 2000; sleep 30' > /tmp/r.err 2>&1 &
		await 'grep -qsw wakeup_rt $T/instances/weft-*/current_tracer && grep -qs 1 $T/instances/weft-*/tracing_on'
		sleep 1
		kill -TERM $!
		sleep $delay
		kill -9 $! 2> /dev/null
		wait $! 2> /dev/null
		weft reset > /tmp/s.err 2>&1
		check "reset works after a kill" status_is $? 0 /tmp/s.err
		unchanged "nothing is left of a recording that was killed $delay s after its end"
	done
}
