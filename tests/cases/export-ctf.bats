#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft export --to ctf, as babeltrace2 reads it. export/ctf.py compares this with the jsonl of the same file.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
corpus=tests/corpora/report/accept
switches=$golden/6.12-events-sched.dat

# same FILE OPTION...: babeltrace2 and weft agree about each event of each CPU (its time, fields and task) and about
# losses, in one folder.
same()
{
	local file=$1 tmp=$BATS_TEST_TMPDIR
	shift
	rm -rf "$tmp/ctf"
	weft export --to ctf -q -o "$tmp/ctf" "$@" "$file" 2> /dev/null
	weft export --to jsonl -q -o "$tmp/jsonl" "$@" "$file" 2> /dev/null
	babeltrace2 --log-level=WARNING --clock-cycles "$tmp/ctf" > "$tmp/text" 2> "$tmp/text.err"
	run -1 grep -E ' [WEF] ' "$tmp/text.err"
	python3 tests/cases/export/ctf.py "$tmp/text" "$tmp/jsonl"
}

need_readers()
{
	need_command babeltrace2
	need_command python3
}

# capture KERNEL SCENARIO: sets $file to its trace.dat in the directory beside the project
capture()
{
	local tar=captures/more/$1.tar.zst

	[ -e "$SHARED/$tar" ] || tar=captures/$1.tar.zst
	need_shared "$tar"
	need_command zstd
	zstd -dc --long=27 "$SHARED/$tar" | tar -xf - -C "$BATS_TEST_TMPDIR" "$1/$2/trace.dat"
	file=$BATS_TEST_TMPDIR/$1/$2/trace.dat
}

@test "ctf: babeltrace2 reads the events, times, tasks and values that jsonl has" {
	need_readers
	for file in "$golden"/*.dat tests/fixtures/demo.dat $corpus/userstack-6.12.dat; do
		same "$file"
	done
}

@test "ctf: there are as many events as lines of the kernel's own text" {
	need_command babeltrace2
	weft export --to ctf -q -o "$BATS_TEST_TMPDIR/ctf" "$switches"
	grep -c '^ *[^#]' "${switches%.dat}.txt" > "$BATS_TEST_TMPDIR/want"
	babeltrace2 "$BATS_TEST_TMPDIR/ctf" | wc -l | diff "$BATS_TEST_TMPDIR/want" -
}

@test "ctf: babeltrace2 tells how many events each CPU lost" {
	need_readers
	run -0 same $corpus/lost-6.12.dat
	[[ $output == "404 events, "*" values, 231 lost" ]]
	grep -q 'discarded 230 events .*stream_1' "$BATS_TEST_TMPDIR/text.err"
}

@test "ctf: of a loss in the middle babeltrace2 tells the time" {
	need_readers
	for scenario in lost-mid lost-overwrite; do
		capture s390x-6.1 $scenario
		run -0 same "$file"
		[[ $output == *" lost" && $output != *" 0 lost" ]]
	done
}

@test "ctf: a recording in the other byte order has the same events" {
	need_readers
	need_command perl
	for name in 6.12-events-sched 6.12-function_graph 6.12-event-stacktrace; do
		weft convert -q --file-version 6 -o "$BATS_TEST_TMPDIR/v6.dat" "$golden/$name.dat"
		mkdir "$BATS_TEST_TMPDIR/little" "$BATS_TEST_TMPDIR/big"
		perl tests/captures/other-order "$BATS_TEST_TMPDIR/v6.dat" "$BATS_TEST_TMPDIR/little" "$BATS_TEST_TMPDIR/big" > /dev/null
		weft pack -q -o "$BATS_TEST_TMPDIR/big.dat" "$BATS_TEST_TMPDIR/big"
		same "$BATS_TEST_TMPDIR/big.dat"
		grep -q 'byte_order = be' "$BATS_TEST_TMPDIR/ctf/metadata"
		rm -r "$BATS_TEST_TMPDIR/little" "$BATS_TEST_TMPDIR/big"
	done
}

@test "ctf: recordings of s390x and of 32 bits" {
	need_readers
	for scenario in s390x-6.1/events-all s390x-6.1/function_graph-mixed s390x-6.1/clock-uptime armhf-6.1/events-all armhf-6.1/function-stacktrace; do
		capture "${scenario%/*}" "${scenario#*/}"
		same "$file"
	done
}

@test "ctf: several instances have a folder each, and -B chooses one" {
	need_readers
	capture 6.12 instances
	weft export --to ctf -q -o "$BATS_TEST_TMPDIR/all" "$file"
	weft export --to jsonl -q "$file" 2> /dev/null | wc -l > "$BATS_TEST_TMPDIR/want"
	babeltrace2 "$BATS_TEST_TMPDIR/all" | wc -l | diff "$BATS_TEST_TMPDIR/want" -
	[ -e "$BATS_TEST_TMPDIR/all/top/metadata" ]
	[ -e "$BATS_TEST_TMPDIR/all/A/metadata" ]
	same "$file" -B A
	[ -e "$BATS_TEST_TMPDIR/ctf/metadata" ]
}

@test "ctf: -e, --cpu and --since choose, and nothing chosen is a trace without events" {
	need_readers
	same "$switches" -e sched_switch --cpu 1
	weft export --to ctf -q -o "$BATS_TEST_TMPDIR/none" --since 1000000 "$switches" 2> /dev/null
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/none/metadata")" = "/* CTF 1.8 */" ]
}

@test "ctf: the folder is closed to others, or as --mode says, and nothing else is left" {
	mkdir "$BATS_TEST_TMPDIR/out"
	cd "$BATS_TEST_TMPDIR/out"
	weft export --to ctf -q -o a "$switches"
	weft export --to ctf -q -o b/ --mode 644 "$switches"
	[ "$(stat -c %a a a/metadata b b/metadata | paste -sd ' ')" = "700 600 755 644" ]
	[ "$(ls -A | paste -sd ' ')" = "a b" ]
}

@test "ctf: an empty folder is taken; a full one, a file and a link are left alone" {
	mkdir "$BATS_TEST_TMPDIR/out"
	cd "$BATS_TEST_TMPDIR/out"
	mkdir empty full
	touch full/x file
	ln -s empty link
	for name in full file link; do
		run -1 --separate-stderr weft export --to ctf -q -o $name "$switches"
		[[ $stderr == "weft: '$name' "*"choose another"* ]]
	done
	[ "$(ls -A full)" = x ]
	[ -z "$(ls -A empty)" ]
	weft export --to ctf -q -o empty "$switches"
	[ -s empty/metadata ]
	[ "$(ls -A | paste -sd ' ')" = "empty file full link" ]
}

@test "ctf: without -o, and where it cannot be made, the error says so" {
	run -2 --separate-stderr weft export --to ctf "$switches"
	[[ $stderr == *"format 'ctf' consists of several files: name a directory with -o"* ]]
	run -1 --separate-stderr weft export --to ctf -o "$BATS_TEST_TMPDIR/no/where" "$switches"
	[[ $stderr == *"cannot open the directory of"* ]]
	mkdir "$BATS_TEST_TMPDIR/out"
	run -1 --separate-stderr weft export --to ctf -o "$BATS_TEST_TMPDIR/out/x" /dev/null
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/out")" ]
}

@test "ctf: a full disk is told, and nothing is left" {
	need_mounts
	mkdir "$BATS_TEST_TMPDIR/disk"
	run -1 --separate-stderr unshare -m sh -c "mount -t tmpfs -o size=16k tmpfs '$BATS_TEST_TMPDIR/disk' &&
		! $WEFT export --to ctf -q -o '$BATS_TEST_TMPDIR/disk/x' $corpus/lost-6.12.dat && ls -A '$BATS_TEST_TMPDIR/disk' && exit 1"
	[[ $stderr == *"No space left on device"* ]]
	[ -z "$output" ]
}

@test "ctf: babeltrace2 reads what is made of hostile files" {
	need_readers
	for file in "$corpus"/*.dat "$SHARED"/hostile/*.dat; do
		[ -e "$file" ] || continue
		rm -rf "$BATS_TEST_TMPDIR/ctf"
		weft export --to ctf -q --limit 20000 -o "$BATS_TEST_TMPDIR/ctf" "$file" 2> /dev/null || [ -e "$BATS_TEST_TMPDIR/ctf" ] || continue
		babeltrace2 "$BATS_TEST_TMPDIR/ctf" > /dev/null
	done
}

@test "ctf: each event has the process and the service of its task, as csv has them" {
	need_readers
	file=$BATS_TEST_DIRNAME/../fixtures/quota.dat
	weft export --to ctf -q -o "$BATS_TEST_TMPDIR/ctf" "$file" 2> /dev/null
	babeltrace2 "$BATS_TEST_TMPDIR/ctf" 2> /dev/null | sed -E 's/.*procname = "[^"]*", pid = ([0-9]+), unit = "([^"]*)".*/\1,\2/; s/,\((none|unknown)\)$/,/; s/^0,/,/' |
		LC_ALL=C sort > "$BATS_TEST_TMPDIR/got"
	weft export --to csv --fields tgid,unit -q "$file" | sed 1d | LC_ALL=C sort > "$BATS_TEST_TMPDIR/want"
	[ "$(grep -c ',a.service$' "$BATS_TEST_TMPDIR/want")" -gt 1000 ]
	diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
}
