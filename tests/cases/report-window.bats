#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

setup()
{
	file=tests/fixtures/demo.dat
	weft report "$file" | grep -v '^#' > "$BATS_TEST_TMPDIR/all"
	lines=$(wc -l < "$BATS_TEST_TMPDIR/all")
	[ "$lines" -gt 100 ]
}

# Prints the time of line N.
time_of()
{
	sed -n "$1p" "$BATS_TEST_TMPDIR/all" | sed -E 's/.* ([0-9]+\.[0-9]{6}): .*/\1/'
}

# body ARG...: prints the events from a report of the file
body()
{
	weft report "$@" "$file" | grep -v '^#'
}

@test "report: --since begins where the whole report has that time" {
	at=$((lines / 2))
	body --since "$(time_of $at)" > "$BATS_TEST_TMPDIR/part"
	# Printed times are rounded, so the first line may belong to the microsecond before.
	got=$(wc -l < "$BATS_TEST_TMPDIR/part")
	[ "$got" -ge $((lines - at - 2)) ]
	[ "$got" -le $((lines - at + 2)) ]
	tail -n "$got" "$BATS_TEST_TMPDIR/all" | diff - "$BATS_TEST_TMPDIR/part"
}

@test "report: --until ends where the whole report has that time" {
	at=$((lines / 3))
	body --until "$(time_of $at)" > "$BATS_TEST_TMPDIR/part"
	got=$(wc -l < "$BATS_TEST_TMPDIR/part")
	[ "$got" -ge $((at - 2)) ]
	[ "$got" -le $((at + 2)) ]
	head -n "$got" "$BATS_TEST_TMPDIR/all" | diff - "$BATS_TEST_TMPDIR/part"
}

@test "report: --limit prints the first events, --tail the last" {
	body --limit 7 | diff - <(head -n 7 "$BATS_TEST_TMPDIR/all")
	body --tail 7 | diff - <(tail -n 7 "$BATS_TEST_TMPDIR/all")
	body --tail 1 | diff - <(tail -n 1 "$BATS_TEST_TMPDIR/all")
	body --tail 100000 | diff - "$BATS_TEST_TMPDIR/all"
	[ -z "$(body --tail 0)" ]
}

@test "report: --tail counts the events that are selected" {
	body --tail 5 -e sched_switch | diff - <(grep ' sched_switch: ' "$BATS_TEST_TMPDIR/all" | tail -n 5)
}

@test "report: --until and --tail together end before the end" {
	at=$((lines / 2))
	until=$(time_of $at)
	body --until "$until" --tail 3 | diff - <(body --until "$until" | tail -n 3)
}

@test "report: any number of threads prints the same" {
	for threads in 1 2 3 8; do
		weft report --threads "$threads" "$file" | md5sum
	done | uniq | wc -l | grep -qx 1
}

@test "report: a time that is none is refused" {
	run --separate-stderr weft report --since tomorrow "$file"
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"--since: 'tomorrow' is not a time"* ]]
}

# microseconds SECONDS.FRACTION: prints the time in microseconds
microseconds()
{
	echo "$((10#${1%.*} * 1000000 + 10#${1#*.}))"
}

# The times are those of the complete report. Events within a microsecond of a limit may be rounded either way.
@test "report: --since and --until take times from the first and from the last event" {
	first=$(microseconds "$(time_of 1)") last=$(microseconds "$(time_of "$lines")")
	expected()
	{
		sed -E 's/^ *//; s/(.* ([0-9]+)\.([0-9]{6}): .*)/\2\3 \1/' "$BATS_TEST_TMPDIR/all" |
			awk -v from="$1" -v to="$2" '$1 > from + 1 && $1 < to - 1 { sub(/^[0-9]+ /, ""); print }'
	}
	# within ARG...: prints those events, and at most those at the limits besides
	within()
	{
		local from=$1 to=$2
		shift 2
		body "$@" | sed 's/^ *//' > "$BATS_TEST_TMPDIR/got"
		expected "$from" "$to" > "$BATS_TEST_TMPDIR/want"
		[ -s "$BATS_TEST_TMPDIR/want" ]
		diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got" > "$BATS_TEST_TMPDIR/differ" || true
		[ "$(grep -c '^<' "$BATS_TEST_TMPDIR/differ")" = 0 ]
		[ $(($(wc -l < "$BATS_TEST_TMPDIR/got") - $(wc -l < "$BATS_TEST_TMPDIR/want"))) -le 3 ]
	}
	within $((first + 10000)) $((last + 10)) --since +10ms
	within $((first + 10000)) $((last + 10)) --since +0.01
	within $((first - 10)) $((first + 2500)) --until +2.5ms
	within $((last - 1000)) $((last + 10)) --since -1ms
	within $((last - 1500)) $((last - 500)) --since -1500us --until -0.0005s
	within $((first + 10000)) $((first + 12000)) --since +10ms --until +12ms
	[ "$(body --since +0 | wc -l)" = "$lines" ]
	[ "$(body --until -0 | wc -l)" = "$lines" ]
	for wrong in + - +ms +1x 1:x '+1 s'; do
		run weft report --since "$wrong" "$file"
		[ "$status" -eq 2 ]
		[[ "$output" == *"--since: '$wrong'"* ]]
	done
}

@test "report: --since and --until take the time of an event or of a marker" {
	local golden=tests/fixtures/golden
	file=$golden/6.12-events-sched.dat
	weft report -t "$file" | grep -v '^#' > "$BATS_TEST_TMPDIR/all"
	# The second sched_wakeup, and what follows it.
	second=$(grep -n ' sched_wakeup: ' "$BATS_TEST_TMPDIR/all" | sed -n '2s/:.*//p')
	body -t --since '@sched_wakeup#2' | diff - <(tail -n "+$second" "$BATS_TEST_TMPDIR/all")
	body -t --until '@sched:sched_wakeup#2' | diff - <(head -n "$second" "$BATS_TEST_TMPDIR/all")
	at=$(sed -n "${second}s/.* \([0-9.]*\): sched_wakeup: .*/\1/p" "$BATS_TEST_TMPDIR/all")
	body -t --since '@sched_wakeup#2-150us' --until '@sched_wakeup#2+1ms' | diff - <(awk -v at="$at" '
		match($0, / [0-9]+[.][0-9]+: /) { t = substr($0, RSTART + 1, RLENGTH - 3); if (t - at >= -0.00015 && t - at <= 0.001) print }' "$BATS_TEST_TMPDIR/all")
	# Analyses and exports take the same.
	[ "$(weft export --to jsonl --since '@sched_wakeup#2' "$file" 2> /dev/null | wc -l)" = $((lines = $(wc -l < "$BATS_TEST_TMPDIR/all") - second + 1)) ]
	weft summary --since '@sched_wakeup#2' "$file" | grep -qw "$lines"
	file=$golden/6.12-markers.dat
	[[ "$(body --since '@mark:cpu1')" = *'tracing_mark_write: cpu1' ]]
	[ "$(body --since '@mark:cpu1' | wc -l)" = 1 ]
	[ "$(body --since '@mark:cpu#2' | wc -l)" = 1 ]
	run -1 weft report --since '@mark:cpu#3' "$file"
	[[ "$output" == "weft: --since: '@mark:cpu#3': the file has 2 markers with 'cpu'" ]]
	run -1 weft report --until '@nothing' "$file"
	[[ "$output" == "weft: --until: '@nothing': the file knows no event 'nothing'"* ]]
	for wrong in '@' '@mark:' '@sched_switch#0' '@#2'; do
		run -2 weft report --since "$wrong" "$file"
		[[ "$output" == "weft: --since: '$wrong' is not a time"* ]]
	done
}

@test "pretty: its times are those from the file's first event, whatever is selected" {
	weft report --format pretty "$file" | grep -v '^#' > "$BATS_TEST_TMPDIR/people"
	# A system call and its end are one line.
	lines=$(wc -l < "$BATS_TEST_TMPDIR/people")
	at=$(sed -n "$((lines / 2))p" "$BATS_TEST_TMPDIR/people" | awk '{ print $1 }')
	# Compares what follows the column of the time since the previous event.
	weft report --format pretty --since "+$at" "$file" | grep -v '^#' | cut -c 1-14,34- > "$BATS_TEST_TMPDIR/got"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/got")" -ge $((lines / 2)) ]
	cut -c 1-14,34- "$BATS_TEST_TMPDIR/people" | sort > "$BATS_TEST_TMPDIR/all.sorted"
	sort "$BATS_TEST_TMPDIR/got" | comm -13 "$BATS_TEST_TMPDIR/all.sorted" - > "$BATS_TEST_TMPDIR/other"
	[ ! -s "$BATS_TEST_TMPDIR/other" ]
	[ "$(weft report --format pretty -e sched_switch --tail 1 "$file" | tail -n 1 | awk '{ print $1 }')" = \
		"$(grep sched_switch "$BATS_TEST_TMPDIR/people" | tail -n 1 | awk '{ print $1 }')" ]
}

# The expected second is that of date(1).
@test "report: --since takes the time of day where the file knows it" {
	dated tests/corpora/report/accept/blk-6.12.dat "$BATS_TEST_TMPDIR/dated.dat"
	cd "$BATS_TEST_TMPDIR"
	weft report dated.dat | grep -v '^#' > whole
	middle=$(($(wc -l < whole) / 2))
	stamp=$(sed -n "${middle}p" whole | sed -E 's/.* ([0-9]+\.[0-9]{6}): .*/\1/')
	export TZ=Asia/Kolkata
	[ -e /usr/share/zoneinfo/$TZ ] || TZ=IST-5:30
	day=$(date -d "@${stamp%.*}" +%F) time=$(date -d "@${stamp%.*}" +%T).${stamp#*.}
	weft report --since "$stamp" dated.dat | grep -v '^#' > want
	[ -s want ]
	[ "$(wc -l < want)" -lt "$(wc -l < whole)" ]
	weft report --since "$day $time" dated.dat | grep -v '^#' | diff want -
	weft report --since "${day}T$time" dated.dat | grep -v '^#' | diff want -
	weft report --since "$time" dated.dat | grep -v '^#' | diff want -
	# The other readers know the time zone, too, although the sandbox lets them open no file.
	[ "$(weft export --to jsonl --since "$time" dated.dat | wc -l)" -eq "$(wc -l < want)" ]
	weft split -q --since "$day $time" -o - dated.dat | weft report - | grep -v '^#' | diff want -
	cd - > /dev/null
	run weft report --since 10:30:00 "$file"
	[ "$status" -eq 1 ]
	[[ "$output" == *"does not tell the time of day"* ]]
}
