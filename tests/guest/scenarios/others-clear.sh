# SPDX-License-Identifier: GPL-2.0-only
# Somebody else clears a buffer that is recorded or streamed: the kernel's counts start again at 0. weft's counts are
# compared with the sum of the kernel's counts before each clear and at the end: each event is in the file, lost, or was
# in the buffer when it was cleared.
I=$T/instances/guest

# sums: prints "WRITTEN ENTRIES" of all CPUs as counted now. The loads need it, too.
cat > /tmp/sums.sh << 'TEXT'
sums() {
	cat $I/per_cpu/cpu*/stats | awk -F': ' '/^(entries|read events|overrun|commit overrun|dropped events): / { w += $2 } /^entries: / { e += $2 }
		END { print w + 0, e + 0 }'
}
TEXT
. /tmp/sums.sh

# loads CLEARING: the workload; CLEARING is the command by which somebody else clears the buffer
loads() {
	cat > /tmp/loads.sh <<-END
	I=$I
	. /tmp/sums.sh
	for round in 1 2 3; do
		dd if=/dev/zero of=/dev/null bs=1 count=3000 2> /dev/null
		echo 0 > \$I/tracing_on
		sums >> /tmp/sums
		$1
		echo 1 > \$I/tracing_on
	done
	# So few that the kernel's counters stay below what weft has seen of them before.
	dd if=/dev/zero of=/dev/null bs=1 count=200 2> /dev/null
	echo 0 > \$I/tracing_on
	sums | sed 's/ .*/ 0/' >> /tmp/sums
	END
	rm -f /tmp/sums
}

# within SENTENCE EVENTS LOST: checks that both together are what was written, minus at most what the buffer contained
# when it was cleared
within() {
	echo "$1: $2 events, $3 lost; $(tr '\n' ';' < /tmp/sums)"
	check "$1" awk -v told=$(($2 + $3)) '{ w += $1; e += $2 } END { if (told > w || told < w - e) { print told " of " w " and " e; exit 1 } }' /tmp/sums
}
summary() { sed -n "s/,//g; s/.* \([0-9]*\) events* in .*/\1/p" /tmp/r.err; }
lost() { sed -n 's/,//g; s/.* \([0-9]*\) lost$/\1/p' /tmp/r.err; }

recorded() {
	local what="$1" clearing="$2"

	shift 2
	mkdir $I
	loads "$clearing"
	record "$what: --fail-on-lost is not content" 123 -B guest -b 64 --fail-on-lost "$@" -- sh /tmp/loads.sh
	check "$what: weft says that somebody cleared the buffer" matches /tmp/r.err 'cleared the buffer meanwhile \([1-9][0-9]* times?'
	weft report /tmp/r.dat 2> /dev/null > /tmp/r.txt
	check "$what: the summary counts the events of the file" equal "$(summary)" "$(grep -Ecv '^#|^CPU:[0-9]+ .LOST' /tmp/r.txt)"
	check "$what: there are some" more "$(summary)" 100
	within "$what: events and losses are what the kernel counted" "$(summary)" "$(lost)"
	weft info /tmp/r.dat > /tmp/i.txt
	check "$what: weft info tells of it" matches /tmp/i.txt 'cleared by somebody else'
	cat /tmp/r.err /tmp/i.txt
	rmdir $I
}

scenario() {
	recorded trace 'echo > $I/trace' -F -c -e raw_syscalls
	peers
	recorded trace_clock 'echo global > $I/trace_clock; echo local > $I/trace_clock' -F -c -e raw_syscalls
	! has_tracer function || recorded tracing_on : -F -c -p function -l 'vfs_*'

	mkdir $I
	loads 'echo > $I/trace'
	timeout 60 weft stream -B guest -b 64 --fail-on-lost -F -c -e raw_syscalls -- sh /tmp/loads.sh > /tmp/s.txt 2> /tmp/r.err
	check "stream: --fail-on-lost is not content" status_is $? 123 /tmp/r.err
	cat /tmp/r.err
	check "stream: weft says that somebody cleared the buffer" matches /tmp/r.err 'cleared the buffer meanwhile \([1-9][0-9]* times?'
	check "stream: the summary counts the lines" equal "$(summary)" "$(grep -Ecv '^#|^CPU:[0-9]+ .LOST' /tmp/s.txt)"
	within "stream: events and losses are what the kernel counted" "$(summary)" "$(lost)"
	check "stream: no loss is more than all" lacks /tmp/s.txt 'LOST [0-9]{6,} EVENTS'
	rmdir $I

	# Nobody clears anything.
	mkdir $I
	record "small buffers that run over end well" 0 -B guest -b 8 -e raw_syscalls -- sh -c \
		'kill -STOP $PPID; dd if=/dev/zero of=/dev/null bs=1 count=5000 2> /dev/null; kill -CONT $PPID; dd if=/dev/zero of=/dev/null bs=1 count=5000 2> /dev/null'
	check "they lost events" more "$(lost)" 0
	check "and nobody cleared them" lacks /tmp/r.err 'cleared'
	timeout 60 weft stream -B guest -b 8 -e raw_syscalls -- dd if=/dev/zero of=/dev/null bs=1 count=5000 > /tmp/s.txt 2> /tmp/r.err
	check "nor those of a stream" lacks /tmp/r.err 'cleared'
	rmdir $I
}
