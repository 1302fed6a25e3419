# SPDX-License-Identifier: GPL-2.0-only
# The time of day is set while weft records: both sides of each step have the right time, which date prints in between.

# told N: what report says about the second of the Nth `date +%s`, in seconds since 1970
told() {
	local wall=$(weft report --time utc --format json /tmp/r.dat 2> /dev/null | grep 'filename=/tmp/when' | sed -n "$1p" |
		sed 's/.*"wall":"\([^."]*\).*/\1/; s/T/ /')

	date -u -d "$wall" +%s
}

# near WHAT N: the Nth time is that of the file /tmp/N, or the second before
near() {
	local is=$(told $2) want=$(cat /tmp/$2)

	check "$1" [ $((want - is)) -ge 0 -a $((want - is)) -le 1 ]
	echo "$2: told $is, was $want"
}

# steps CLOCK
steps() {
	local now=$(date +%s)

	weft record -o /tmp/r.dat -C $1 -e sched:sched_process_exec -- sh -c "
		/tmp/when > /tmp/1
		sleep 0.3
		date -s @$((now + 100)) > /dev/null
		sleep 0.3
		/tmp/when > /tmp/2
		date -s @$((now - 50)) > /dev/null
		sleep 0.3
		/tmp/when > /tmp/3" 2> /tmp/r.err
	check "$1: a recording lives through steps" status_is $? 0 /tmp/r.err
	near "$1: before" 1
	near "$1: after +100 s" 2
	near "$1: after -150 s" 3
	weft info /tmp/r.dat > /tmp/info
	check "$1: info names both steps" equal "$(grep -c 'the time of day was set by [+-].* at ' /tmp/info)" 2
	grep -A6 'from ' /tmp/info
	weft info --setting weft/clocks /tmp/r.dat
}

printf '#!/bin/sh\nexec date +%%s\n' > /tmp/when
chmod 755 /tmp/when
for clock in mono boot local; do
	steps $clock
done
