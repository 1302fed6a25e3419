#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A file with the buffers of several instances of this machine's own kernel: report merges them.
load lib

T=/sys/kernel/tracing

setup()
{
	need_tracefs
	A=weft-test-merge-$$ B=weft-test-merge-$$-also
	mkdir "$T/instances/$A" "$T/instances/$B"
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown()
{
	local i
	for i in "${A:-}" "${B:-}"; do
		[ -n "$i" ] && [ -d "$T/instances/$i" ] || continue
		echo 0 > "$T/instances/$i/events/enable"
		rmdir "$T/instances/$i"
	done
}

# lines_of INSTANCE FILE: prints the lines of this instance from a text of several, as they would be without the others.
lines_of() { sed -n "s/^ *$1: //p" "$2"; }

# The kernel's own texts of both instances are want.A and want.B; the file with both is f.dat.
fill()
{
	local i
	echo 1 > "$T/instances/$A/events/sched/enable"
	echo 1 > "$T/instances/$B/events/sched/sched_process_exec/enable"
	echo 1 > "$T/instances/$B/events/sched/sched_process_exit/enable"
	for _ in 1 2 3 4 5; do ls / > /dev/null; done
	for i in "$A" "$B"; do
		echo 0 > "$T/instances/$i/tracing_on"
		echo 0 > "$T/instances/$i/events/enable"
	done
	for i in "$A" "$B"; do cat "$T/instances/$i/trace" > "want.$i"; done
	weft extract -q -B "$A" -B "$B" -o f.dat
}

@test "report: the buffers of several instances are one text in order of time, and each one's lines are the kernel's" {
	fill
	weft report f.dat > out
	run -1 grep -v -E "^ *($A|$B): " out
	for i in "$A" "$B"; do lines_of "$i" out | diff "want.$i" -; done
	[ "$(grep -c ' sched_process_exec: ' "want.$B")" -ge 5 ]
	sed 's/^ *[^:]*: //' out | grep -o '^[^#].* [0-9]*\.[0-9]*: ' | grep -o ' [0-9]*\.[0-9]*: $' > times
	[ "$(wc -l < times)" = "$(cat "want.$A" "want.$B" | grep -c '^[^#].* [0-9]*\.[0-9]*: ')" ]
	sort -n -c times
	# The instances are not printed one after the other: the last exec of one is before the last line of the other.
	grep -v ': #' out | sed -E 's/^ *([^:]*): .*/\1/' | uniq > runs
	[ "$(wc -l < runs)" -gt 4 ]
}

@test "report: -B prints one of several buffers as the kernel did" {
	fill
	for i in "$A" "$B"; do weft report -B "$i" f.dat | diff "want.$i" -; done
}

@test "report: what is selected of several buffers is what is selected of the merged text, whatever the threads" {
	fill
	weft report f.dat > all
	grep -v ': #' all > events
	weft report --threads 4 f.dat | cmp - all
	weft report --threads 1 f.dat | cmp - all
	weft report --tail 9 f.dat | grep -v ': #' | diff <(tail -n 9 events) -
	weft report --limit 9 f.dat | grep -v ': #' | diff <(head -n 9 events) -
	weft report -e sched_process_exit f.dat | grep -v ': #' | diff <(grep ' sched_process_exit: ' events) -
	weft report --cpu 0 f.dat | grep -v ': #' | diff <(grep -F ' [000] ' events) -
	weft report -t f.dat | grep -v ': #' > nine
	since=$(sed -n '40s/.* \([0-9]*\.[0-9]*\): .*/\1/p' nine)
	weft report -t --since "$since" f.dat | grep -v ': #' | diff <(awk -v from="$since" \
		'match($0, / [0-9]+\.[0-9]+: /) && substr($0, RSTART + 1, RLENGTH - 3) >= from' nine) -
}

@test "report: json of several buffers is in order of time, and says whose each event is" {
	need_command jq
	fill
	weft report --format json f.dat > out
	jq .ts out > ts
	sort -n -c ts
	[ "$(jq -r .instance out | sort -u)" = "$(printf '%s\n' "$A" "$B" | sort)" ]
	[ "$(jq -r "select(.instance == \"$B\") | .event" out | sort | uniq -c)" = \
		"$(grep -o 'sched_process_[a-z]*' "want.$B" | sort | uniq -c)" ]
}
