# SPDX-License-Identifier: GPL-2.0-only
# The longest section of a max-latency tracer: the recorded text is the kernel's own text after weft has stopped the
# tracer; weft does not cause the section itself.
scenario() {
	local tracer any= anybody= I=$T/instances/kept names

	names=$(cat $T/saved_cmdlines_size)
	# If weft need not enlarge the list of names, the names still exist after it has ended.
	echo 32768 > $T/saved_cmdlines_size
	for tracer in irqsoff preemptoff preemptirqsoff wakeup wakeup_rt; do
		has_tracer $tracer || { skip "$tracer" "this kernel has no such tracer"; continue; }
		any=${any:-$tracer}
		keep $tracer
		against_kernel "$tracer"
		[ $tracer = $any ] && with_threshold $tracer
		echo nop > $I/current_tracer
		rmdir $I
	done
	echo $names > $T/saved_cmdlines_size
	[ -n "$any" ] || return
	worst "$any in an instance of its own" -p $any -O nofunction-trace
	other_ways $any
}

# keep TRACER: the tracer stays set after weft has ended, and keeps its longest section
keep() {
	mkdir $I
	echo 0 > $I/tracing_on
	echo 0 > $I/options/function-trace
	echo $1 > $I/current_tracer
	# From the moment it is set, the tracer looks for the longest case, which has no entries while tracing is off.
	echo 1 > $I/tracing_on
	echo 0 > $I/tracing_on
}

# against_kernel SENTENCE
against_kernel() {
	worst "$1" -B kept
	cat $I/trace > /tmp/kernel.txt
	same "$1: the report is the kernel's text" /tmp/kernel.txt /tmp/r.txt
}

# With a threshold the tracer keeps the last case that is longer. On a slow machine that may be weft waking up when the
# command has ended.
with_threshold() {
	echo 10 > $T/tracing_thresh
	anybody=1
	against_kernel "$1 with a threshold"
	anybody=
	check "$1: the threshold is put back" equal "$(cat $T/tracing_thresh)" 10
	echo 0 > $T/tracing_thresh
}

# worst SENTENCE OPTION...
worst() {
	local sentence="$1" entries tries=5

	shift
	# If the host takes the CPU from the guest while weft is in such a section, the recording is repeated; also if the
	# tracer kept no section, because it was following another task at each wakeup of the command.
	while :; do
		if [ -d $I ]; then
			echo 0 > $I/trace
			echo 0 > $I/tracing_max_latency
		fi
		record "weft records with $sentence" 0 "$@" -- sh -c 'for i in 1 2 3 4; do chrt -f 50 usleep 2000; done; ls -l /bin > /dev/null'
		weft report /tmp/r.dat > /tmp/r.txt 2> /tmp/worst.err
		[ $((tries -= 1)) = 0 ] && break
		grep -q 'us[ +!#*@$]\?: ' /tmp/r.txt || continue
		[ -n "$anybody" ] || ! grep -q weft /tmp/r.txt || continue
		break
	done
	entries=$(sed -n "s/^# latency: .* us, #\([0-9]*\)\/.*/\1/p" /tmp/r.txt)
	check "$sentence: the worst case has entries" matches /tmp/r.txt 'us[ +!#*@$]?: '
	[ -n "$anybody" ] || check "$sentence: it is not weft's" lacks /tmp/r.txt 'weft'
	tr -d , < /tmp/r.err > /tmp/worst.sum
	check "$sentence: the summary counts them" matches /tmp/worst.sum " $entries events? in "
	weft info /tmp/r.dat > /tmp/worst.info
	check "$sentence: weft info tells them" matches /tmp/worst.info "worst case.*: $entries entries, latency"
}

# other_ways TRACER
other_ways() {
	timeout 60 weft stream -q -p $1 -O nofunction-trace -- ls -l /bin > /tmp/s.txt 2> /tmp/s.err
	check "weft stream -p $1 ends with status 0" status_is $? 0 /tmp/s.err
	weft start -p $1 -O nofunction-trace 2> /tmp/s.err
	check "weft start -p $1 ends with status 0" status_is $? 0 /tmp/s.err
	chrt -f 50 usleep 2000
	timeout 60 weft extract -o /tmp/x.dat 2> /tmp/x.err
	check "weft extract of it ends with status 0" status_is $? 0 /tmp/x.err
	weft report /tmp/x.dat > /tmp/x.txt 2> /tmp/x.err
	check "the worst case so far is in the file" matches /tmp/x.txt "^# tracer: $1\$"
	weft reset > /dev/null 2>&1
}
