# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# What happens on a machine during tracing: CPUs go offline and come back, a reader stops, a clock jumps, memory is
# scarce, time is long. The oracle is the kernel's count, or a known load. An hour does not fit here: rounds of the same
# load replace it, and weft's memory must not grow from round to round.
I=$T/instances/guest
counted() { cat $I/per_cpu/cpu*/stats | awk -F': ' '/^(entries|read events)/ { n += $2 } /^(overrun|commit overrun|dropped events)/ { l += $2 } END { print n + 0, l + 0 }'; }
told() { awk '/^#/ { next } /^CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]$/ { l += $3; next } { n++ } END { print n + 0, l + 0 }' "$1"; }
reads() { grep -c "$READS" "$1"; }
# summed FILE: prints the numbers of the summary as "EVENTS LOST"
summed() { sed 's/,//g' "$1" | awk '/ events? in .* lost$/ { n += $2; l = $(NF - 1) } / more were traced/ { n += $2 } END { print n, l }'; }

# storm COMMAND...: CPU 1 goes offline and online while the command runs
storm() {
	local pid status times=0

	"$@" &
	pid=$!
	while kill -0 $pid 2> /dev/null && [ $times -lt 12 ]; do
		echo $((times % 2)) > /sys/devices/system/cpu/cpu1/online
		times=$((times + 1))
	done
	wait $pid
	status=$?
	echo 1 > /sys/devices/system/cpu/cpu1/online
	# Output here goes to the same place as the command's.
	echo "$times times" > /tmp/storm
	return $status
}

cpus() {
	mkdir $I
	storm timeout 100 weft stream -B guest -b 4096 -F -c -e raw_syscalls -- dd if=/dev/zero of=/dev/null bs=1 count=4000 > /tmp/s.txt 2> /tmp/s.err
	check "a stream lives through a storm of CPUs" status_is $? 0 /tmp/s.err
	cat /tmp/s.err /tmp/storm
	check "it counts what the kernel counted" equal "$(summed /tmp/s.err)" "$(counted)"
	check "it prints what the kernel counted" equal "$(told /tmp/s.txt)" "$(counted)"
	check "no read is missing" equal "$(reads /tmp/s.txt)" 4000
	rmdir $I
	storm timeout 100 weft record -b 4096 -F -c -e raw_syscalls -o /tmp/r.dat -- dd if=/dev/zero of=/dev/null bs=1 count=4000 2> /tmp/r.err
	check "so does a recording" status_is $? 0 /tmp/r.err
	check "without a loss" matches /tmp/r.err ' 0 lost$'
	text
	check "no read is missing there either" equal "$(reads /tmp/r.txt)" 4000
}

# A reader that stops for a while: the kernel loses events and counts them.
pause() {
	mkdir $I
	rm -f /tmp/text
	mkfifo /tmp/text
	cat /tmp/text > /tmp/s.txt &
	local reader=$!
	timeout 60 weft stream -B guest -b 64 -F -c -e raw_syscalls -- sh -c "
		kill -STOP $reader
		dd if=/dev/zero of=/dev/null bs=1 count=8000 2> /dev/null
		kill -CONT $reader
		dd if=/dev/zero of=/dev/null bs=1 count=200 2> /dev/null" > /tmp/text 2> /tmp/s.err
	check "a stream whose reader stood still ends well" status_is $? 0 /tmp/s.err
	wait $reader
	cat /tmp/s.err
	check "events were lost meanwhile" more "$(told /tmp/s.txt | cut -d ' ' -f 2)" 0
	check "the text tells how many, as the kernel counted" equal "$(told /tmp/s.txt)" "$(counted)"
	check "so does the summary" equal "$(summed /tmp/s.err)" "$(counted)"
	rmdir $I
}

# A reader that stops forever: the stream ends all the same, and counts the lost events.
reader() {
	mkdir $I
	rm -f /tmp/text
	mkfifo /tmp/text
	sleep 1000 < /tmp/text &
	local reader=$!
	timeout 60 weft stream -B guest -b 64 -F -c -e raw_syscalls -- dd if=/dev/zero of=/dev/null bs=1 count=4000 > /tmp/text 2> /tmp/s.err
	check "a reader that stands still does not hold up the end" status_is $? 0 /tmp/s.err
	cat /tmp/s.err
	check "printed, not printed and lost are what the kernel counted" equal "$(summed /tmp/s.err)" "$(counted)"
	check "the summary says why" matches /tmp/s.err 'the output was no longer read'
	kill $reader
	wait $reader 2> /dev/null
	rmdir $I
}

# clocks CLOCK: the wall clock jumps a day forward and two days back
clocks() {
	local now=$(date +%s) begin=$(cut -d . -f 1 /proc/uptime)

	timeout 60 weft record -o /tmp/r.dat -C $1 -F -c -e raw_syscalls:sys_enter -- sh -c "
		dd if=/dev/zero of=/dev/null bs=1 count=500 2> /dev/null
		date -s @$((now + 86400)) > /dev/null
		dd if=/dev/zero of=/dev/null bs=1 count=500 2> /dev/null
		date -s @$((now - 86400)) > /dev/null
		dd if=/dev/zero of=/dev/null bs=1 count=500 2> /dev/null" 2> /tmp/r.err
	check "$1: a recording lives through jumps of the wall clock" status_is $? 0 /tmp/r.err
	date -s "@$((now + $(cut -d . -f 1 /proc/uptime) - begin))" > /dev/null
	check "$1: the recording took no day" awk -v s="$(sed -n 's/.* events* in \([0-9.]* [a-z]*\),.*/\1/p' /tmp/r.err)" \
		'BEGIN { print s; split(s, a, " "); exit !(a[2] == "ms" || a[2] == "s" && a[1] < 60) }'
	cat /tmp/r.err
	weft report /tmp/r.dat > /tmp/r.txt 2> /tmp/r.err
	check "$1: nothing is missing" equal "$(reads /tmp/r.txt)" 1500
	whole
}

# memory MEBIBYTES COMMAND...: runs the command in a cgroup of its own
memory() {
	local limit=$1

	shift
	mkdir -p /tmp/cg/small
	echo $((limit << 20)) > /tmp/cg/small/memory.max
	sh -c 'echo $$ > /tmp/cg/small/cgroup.procs; exec "$@"' sh "$@"
}

little() {
	mkdir -p /tmp/cg
	mount -t cgroup2 none /tmp/cg 2> /dev/null && echo +memory > /tmp/cg/cgroup.subtree_control 2> /dev/null ||
		{ skip "a recording with little memory" "this kernel has no memory controller"; umount /tmp/cg 2> /dev/null; return; }
	memory 32 timeout 100 weft record -b 8192 -F -c -e raw_syscalls -o /host/r.dat -- dd if=/dev/zero of=/dev/null bs=1 count=10000 2> /tmp/r.err
	check "32 MiB are enough to record" status_is $? 0 /tmp/r.err
	mv /host/r.dat /tmp/r.dat
	memory 32 timeout 100 weft report /tmp/r.dat > /tmp/r.txt 2> /tmp/r.err
	check "and to print it" status_is $? 0 /tmp/r.err
	check "nothing is missing with little memory" equal "$(reads /tmp/r.txt)" 10000
	rm -f /tmp/r.txt
	memory 32 timeout 100 weft stream -b 8192 -F -c -e raw_syscalls -- dd if=/dev/zero of=/dev/null bs=1 count=10000 > /host/s.txt 2> /tmp/s.err
	check "and to stream" status_is $? 0 /tmp/s.err
	check "nothing is missing there either" equal "$(reads /host/s.txt)" 10000
	rm -f /host/s.txt
	rmdir /tmp/cg/small
	umount /tmp/cg
}

# rounds WHAT KIBIBYTES COMMAND...: compares the memory after each of some rounds of the same load. The first rounds
# fill what stays; later ones may add at most KIBIBYTES, because the pages of buffers that recorders have from the start
# are touched one by one. Four rounds make about 32,000 events.
rounds() {
	local what="$1" more="$2"

	shift 2
	cat > /tmp/rounds.sh <<-END
	for round in 1 2 3 4 5 6 7 8; do
		dd if=/dev/zero of=/dev/null bs=1 count=2000 2> /dev/null
		sleep 0.15
		grep VmRSS /proc/\$PPID/status >> /tmp/rss
	done
	END
	rm -f /tmp/rss
	# A huge page in place of small ones would add up to 2 MB.
	[ ! -e /sys/kernel/mm/transparent_hugepage/enabled ] || echo never > /sys/kernel/mm/transparent_hugepage/enabled
	"$@" -F -c -e raw_syscalls -- sh /tmp/rounds.sh > /tmp/s.txt 2> /tmp/s.err
	check "$what: eight rounds end well" status_is $? 0 /tmp/s.err
	tr '\n' ' ' < /tmp/rss
	check "$what: what it holds does not grow" awk -v more=$more 'NR == 4 { base = $2 } END { exit !(NR == 8 && $2 <= base + more) }' /tmp/rss
}

scenario() {
	reads_of_a_byte
	cpus
	pause
	reader
	clocks local
	rounds stream 1024 timeout 60 weft stream
	rounds "record -m" 1024 timeout 60 weft record -m 64 -o /tmp/r.dat
	little
}
