# SPDX-License-Identifier: GPL-2.0-only
# kernel: possible_cpus=64
# What a recording costs grows with the CPUs that are online, not with those that could be: two of 64 are.

# until_there FILE: waits for it
until_there() { while [ ! -e "$1" ]; do usleep 20000 2> /dev/null || sleep 1; done; }
now() { local seconds hundredths rest; IFS='. ' read -r seconds hundredths rest < /proc/uptime; echo $((${seconds}${hundredths} * 10)); }

scenario() {
	local possible online begin began asked ended weft threads files kb

	possible=$(awk -F- '{ print $NF + 1 }' /sys/devices/system/cpu/possible)
	online=$(grep -c '^processor' /proc/cpuinfo)
	[ "$possible" -gt "$online" ] || { skip "everything" "all CPUs that this kernel knows are online"; return; }
	rm -f /tmp/go /tmp/began
	begin=$(now)
	weft record -o /tmp/c.dat -e sched:sched_switch -- sh -c ': > /tmp/began; while [ ! -e /tmp/go ]; do sleep 1; done' \
		> /tmp/c.txt 2>&1 &
	weft=$!
	until_there /tmp/began
	began=$(now)
	threads=$(ls /proc/$weft/task | wc -l)
	files=$(ls /proc/$weft/fd | wc -l)
	kb=$(awk '/^VmHWM/ { print $2 }' /proc/$weft/status)
	: > /tmp/go
	asked=$(now)
	wait $weft
	check "the recording ends well" status_is $? 0 /tmp/c.txt
	ended=$(now)
	printf 'cpus %s %s %s %s %s %s %s\n' "$possible" "$online" $((began - begin)) $((ended - asked)) "$kb" "$threads" "$files" \
		> "$OUT/cpus"
	check "it has few threads beside those of the CPUs online" more $((online + 6)) "$threads"
	check "and five open files for each of these CPUs, beside few" more $((5 * online + 24)) "$files"
	check "of these CPUs its file has events" matches_report
}
matches_report() { weft report /tmp/c.dat > /tmp/r.txt && matches /tmp/r.txt "#P:$(grep -c '^processor' /proc/cpuinfo)\$"; }
