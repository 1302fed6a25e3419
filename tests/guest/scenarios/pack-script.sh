# SPDX-License-Identifier: GPL-2.0-only
# On a machine that has only busybox, the printed script copies a frozen buffer, and the packed file gives the kernel's
# text.
scenario() {
	weft pack --script > /tmp/copy.sh
	echo 1 > $T/events/sched/enable
	load
	echo 0 > $T/tracing_on
	cat $T/trace > /tmp/want.txt
	echo 1 > $T/options/latency-format
	cat $T/trace > /tmp/want.latency.txt
	echo 0 > $T/options/latency-format
	remember
	# Uses only what busybox has. The symbols are megabytes, which an emulated CPU copies slowly.
	SYMBOLS=no SYSTEMS=sched PATH=/bin sh /tmp/copy.sh /tmp/copy > /tmp/c.out 2>&1
	check "the script ends with status 0" status_is $? 0 /tmp/c.out
	check "it says nothing" equal "$(head -c 300 /tmp/c.out)" ""
	unchanged
	check "weft pack takes the copies" weft pack -q /tmp/copy --compression none -o /tmp/p.dat
	weft report /tmp/p.dat > /tmp/p.txt
	same "the report equals the kernel's text" /tmp/want.txt /tmp/p.txt
	weft report -O latency-format /tmp/p.dat > /tmp/p.latency.txt
	same "and so it does with latency-format" /tmp/want.latency.txt /tmp/p.latency.txt

	has_tracer wakeup || return
	echo 1 > $T/tracing_on
	echo 0 > $T/options/function-trace 2> /dev/null
	echo wakeup > $T/current_tracer
	load
	echo 0 > $T/tracing_on
	remember
	rm -rf /tmp/copy
	SYMBOLS=no SYSTEMS=ftrace PATH=/bin sh /tmp/copy.sh /tmp/copy > /tmp/c.out 2>&1
	unchanged "tracefs is as it was before the copy under wakeup"
	cat $T/trace > /tmp/want.txt
	weft pack -q /tmp/copy --compression none -o /tmp/p.dat
	weft report /tmp/p.dat > /tmp/p.txt
	same "the text of a latency tracer is kept word for word" /tmp/want.txt /tmp/p.txt
	echo nop > $T/current_tracer
}
