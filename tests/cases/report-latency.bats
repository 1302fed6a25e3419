#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The option latency-format: its time column needs facts that only a text of the kernel has; `weft pack` learns them
# from one.
load lib

corpus=tests/corpora/report
out=

setup()
{
	out=$BATS_TEST_TMPDIR/out.dat
	mkdir "$BATS_TEST_TMPDIR/empty"
}

# packed NAME TEXT: packs NAME.dat together with what TEXT tells about it
packed()
{
	weft pack -q "$BATS_TEST_TMPDIR/empty" --pages "$corpus/accept/$1.dat" --latency-sample "$2" -o "$out"
}

same()
{
	local text=$1
	shift
	weft report "$@" "$out" > "$BATS_TEST_TMPDIR/text"
	diff -u "$text" "$BATS_TEST_TMPDIR/text"
}

@test "latency: events, stacks of users and the graph's stacks are exact" {
	for name in hwlat-6.12 userstack-6.12 graph-6.12; do
		packed $name $corpus/$name.latency.txt
		same $corpus/$name.latency.txt -O latency-format
	done
}

@test "latency: with verbose, the same facts give that text, too" {
	packed hwlat-6.12 $corpus/hwlat-6.12.latency.txt
	same $corpus/hwlat-6.12.verbose-latency.txt -O latency-format -O verbose
}

@test "latency: delay marks do not depend on the number of threads" {
	packed userstack-6.12 $corpus/userstack-6.12.latency.txt
	for threads in 1 2 7; do
		same $corpus/userstack-6.12.latency.txt -O latency-format --threads=$threads
	done
}

@test "latency: delay marks and times do not depend on what is selected" {
	packed userstack-6.12 $corpus/userstack-6.12.latency.txt
	weft report -O latency-format -e 'syscalls:*' "$out" | grep ': sys_' > "$BATS_TEST_TMPDIR/some"
	grep ': sys_' $corpus/userstack-6.12.latency.txt | diff -u - "$BATS_TEST_TMPDIR/some"
}

# left_behind: changes the text of hwlat-6.12 as if a latency tracer had run before; prints how many lines that changed
left_behind()
{
	sed -e '5s/: 0 us,/: 4711 us,/' -e 's/^#    | task: .*/#    | task: a | b-77 (uid:3 nice:-5 policy:1 rt_prio:50)/' \
		-e '9s/^#$/#  => started at: __schedule\n#  => ended at:   _raw_spin_unlock_irqrestore\n#\n#/' \
		$corpus/hwlat-6.12.latency.txt > "$BATS_TEST_TMPDIR/left.txt"
	grep -c -e 'latency: 4711 us' -e 'a | b-77' -e 'started at' -e 'ended at' "$BATS_TEST_TMPDIR/left.txt"
}

@test "latency: what a latency tracer has left behind stands in the head of other texts" {
	[ "$(left_behind)" = 4 ]
	packed hwlat-6.12 "$BATS_TEST_TMPDIR/left.txt"
	same "$BATS_TEST_TMPDIR/left.txt" -O latency-format

	mkdir "$BATS_TEST_TMPDIR/empty/weft"
	cp "$BATS_TEST_TMPDIR/left.txt" "$BATS_TEST_TMPDIR/empty/weft/latency_sample"
	weft pack -q "$BATS_TEST_TMPDIR/empty" --pages $corpus/accept/hwlat-6.12.dat -o "$out"
	same "$BATS_TEST_TMPDIR/left.txt" -O latency-format
}

@test "latency: without the time of the reset, the column counts from the first event of the file" {
	run --separate-stderr weft report -O latency-format $corpus/accept/hwlat-6.12.dat
	[ "$status" -eq 0 ]
	grep -Eq ' 0us.: #1 ' <<< "$output"
}

@test "latency: a recording tells the preemption model by the version of its kernel" {
	run --separate-stderr weft report -O latency-format tests/fixtures/demo.dat
	[ "${lines[4]}" = "# latency: 0 us, #130/130, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)" ]
}

@test "latency: -O nolatency-format prints the usual text of a packed file" {
	packed hwlat-6.12 $corpus/hwlat-6.12.latency.txt
	same $corpus/hwlat-6.12.txt -O nolatency-format
}

@test "latency: a sample of other events is refused" {
	run --separate-stderr packed hwlat-6.12 $corpus/userstack-6.12.latency.txt
	[ "$status" -eq 1 ]
	[ "$stderr" = "weft: '$corpus/userstack-6.12.latency.txt' is not a text of these events with the option latency-format" ]
	[ ! -e "$out" ]
}

@test "latency: a sample that is none, or is not there, is refused" {
	run --separate-stderr packed hwlat-6.12 README.md
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"is not a text of these events"* ]]
	run --separate-stderr packed hwlat-6.12 "$BATS_TEST_TMPDIR/nowhere"
	[ "$status" -eq 1 ]
	[ "$stderr" = "weft: there is no file '$BATS_TEST_TMPDIR/nowhere'" ]
}

@test "latency: a sample beside events with a gap between them" {
	local file=$BATS_TEST_TMPDIR/gap.dat
	cp $corpus/accept/hwlat-6.12.dat "$file"
	# Sets the kernel's bit for events lost before this page (RB_MISSED_EVENTS in the commit of the page at 20480).
	printf '\x80' | dd of="$file" bs=1 seek=20491 conv=notrunc status=none
	weft pack -q "$BATS_TEST_TMPDIR/empty" --pages "$file" --latency-sample $corpus/hwlat-6.12.latency.txt -o "$out"
	[ "$(weft info --setting weft/time_start "$out")" -gt 0 ]
}
