# SPDX-License-Identifier: GPL-2.0-only
# A kretprobe follows a limited number of calls at once. weft reports the missed calls, with the counts of the kernel's
# kprobe_profile.
sleepers() {
	cat > /tmp/sleepers.sh <<-END
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 4 & done
	wait
	cat $T/kprobe_profile > /tmp/profile
	END
}
missed() { awk -v name="$1" '$1 == name { print $3 }' /tmp/profile; }

scenario() {
	grep -q ' hrtimer_nanosleep$' /tmp/kallsyms || { skip everything "this kernel has no hrtimer_nanosleep"; return; }
	sleepers
	remember
	record "a probe with little room: --fail-on-lost is not content" 123 --fail-on-lost --probe 'r2:slept hrtimer_nanosleep' -- sh /tmp/sleepers.sh
	cat /tmp/r.err /tmp/profile
	check "the kernel missed some" more "$(missed slept)" 9
	check "the summary tells how many" matches /tmp/r.err "probe weft:slept made no event of $(missed slept) hits"
	weft info /tmp/r.dat > /tmp/i.txt
	check "so does the file" matches /tmp/i.txt "^missed +$(missed slept) of probe weft:slept,"
	text
	timeout 60 weft stream --fail-on-lost --probe 'r2:slept hrtimer_nanosleep' -- sh /tmp/sleepers.sh > /tmp/s.txt 2> /tmp/r.err
	check "a stream, too" status_is $? 123 /tmp/r.err
	check "its summary tells how many" matches /tmp/r.err "probe weft:slept made no event of $(missed slept) hits"

	record "one whose room nobody chose has enough" 0 --fail-on-lost --probe 'slept=hrtimer_nanosleep%return' -- sh /tmp/sleepers.sh
	check "the kernel missed none" equal "$(missed slept)" 0
	check "and nothing is told" lacks /tmp/r.err 'made no event'
	text
	check "all returns are there" more "$(grep -c ' slept: ' /tmp/r.txt)" 19
	unchanged
}
