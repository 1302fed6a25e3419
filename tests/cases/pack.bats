#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

file=tests/corpora/container/accept/v7-zstd.dat

# A directory with texts of tracefs and no pages.
texts()
{
	mkdir -p "$BATS_TEST_TMPDIR/dir/per_cpu/cpu0"
	echo '[boot] local' > "$BATS_TEST_TMPDIR/dir/trace_clock"
	printf '99 spindle\n' > "$BATS_TEST_TMPDIR/dir/saved_cmdlines"
	printf 'entries: 1\noverrun: 77\n' > "$BATS_TEST_TMPDIR/dir/per_cpu/cpu0/stats"
}

@test "pack: pages of another file, texts of the directory" {
	texts
	run --separate-stderr weft pack "$BATS_TEST_TMPDIR/dir" --pages "$file" -o "$BATS_TEST_TMPDIR/out.dat"
	[ "$status" -eq 0 ]
	[[ "$stderr" == "weft: '$BATS_TEST_TMPDIR/out.dat': 1.2 KiB of pages of 3 CPUs, 2 formats, "* ]]
	run --separate-stderr weft check "$BATS_TEST_TMPDIR/out.dat"
	[[ "$output" == *" 18 events" ]]
	run --separate-stderr weft info --setting trace_clock "$BATS_TEST_TMPDIR/out.dat"
	[ "$output" = "[boot] local" ]
	run --separate-stderr weft info --setting current_tracer "$BATS_TEST_TMPDIR/out.dat"
	[ "$output" = "nop" ]
	run --separate-stderr weft info "$BATS_TEST_TMPDIR/out.dat"
	[[ "$output" == *", clock boot"* ]]
	grep -Eq '^ +0 .* 77 +0$' <<< "$output"
}

@test "pack: the output may be the input" {
	texts
	cp "$file" "$BATS_TEST_TMPDIR/dir/trace.dat"
	run --separate-stderr weft pack -q "$BATS_TEST_TMPDIR/dir" -o "$BATS_TEST_TMPDIR/dir/trace.dat"
	[ "$status" -eq 0 ]
	run --separate-stderr weft check "$BATS_TEST_TMPDIR/dir/trace.dat"
	[[ "$output" == *" 18 events" ]]
	[ "$(ls "$BATS_TEST_TMPDIR/dir")" = $'per_cpu\nsaved_cmdlines\ntrace.dat\ntrace_clock' ]
}

@test "pack: to standard output, versions 6 and 7, compressed or not" {
	texts
	for options in "" "--compression none" "--compression zstd:9" "--file-version 6"; do
		# shellcheck disable=SC2086
		run --separate-stderr bash -c 'weft pack -q "$0" --pages "$1" -o - "${@:2}" | weft check -' "$BATS_TEST_TMPDIR/dir" "$file" $options
		[ "$status" -eq 0 ]
		[[ "$output" == *" 18 events" ]]
	done
}

@test "pack: --instance says whose texts the directory has" {
	texts
	weft pack -q "$BATS_TEST_TMPDIR/dir" -B side --pages "$file" -o "$BATS_TEST_TMPDIR/out.dat"
	run weft info --setting trace_clock -B side "$BATS_TEST_TMPDIR/out.dat"
	[ "$output" = "[boot] local" ]
	run weft info --setting trace_clock "$BATS_TEST_TMPDIR/out.dat"
	[ "$output" = "[local] global counter" ]
}

@test "pack: without header_page, or with half a page, it says so and leaves nothing" {
	texts
	run --separate-stderr weft pack "$BATS_TEST_TMPDIR/dir" -o "$BATS_TEST_TMPDIR/out.dat"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"has no copy of events/header_page"* ]]
	head -c 300 /dev/zero > "$BATS_TEST_TMPDIR/dir/per_cpu/cpu0/trace_pipe_raw"
	run --separate-stderr weft pack "$BATS_TEST_TMPDIR/dir" --pages "$file" -o "$BATS_TEST_TMPDIR/out.dat"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"cpu0/trace_pipe_raw': ends inside a page: the last one has 44 of 256 bytes"* ]]
	run ! compgen -G "$BATS_TEST_TMPDIR/out*"
}

@test "pack: wrong arguments are usage errors" {
	for arguments in "" "a b" "a --file-version 5" "a --compression lzma" "a --file-version 6 --compression zstd"; do
		# shellcheck disable=SC2086
		run --separate-stderr weft pack $arguments
		[ "$status" -eq 2 ]
	done
}

# read_hidden FILE NAME: trace-cmd's text of FILE goes into NAME and what it says into NAME.err; it sees nothing of this machine's /sys
read_hidden()
{
	unshare -m sh -c 'mount -t tmpfs none /sys && exec trace-cmd report "$1"' - "$1" > "$BATS_TEST_TMPDIR/$2" 2> "$BATS_TEST_TMPDIR/$2.err" ||
		{ echo "trace-cmd report $2 ended with $?:"; cat "$BATS_TEST_TMPDIR/$2.err"; return 1; }
	[ -s "$BATS_TEST_TMPDIR/$2" ]
}

@test "pack: trace-cmd reads the same from a packed file as from its origin" {
	need_shared samples
	need_command trace-cmd
	need_mounts
	mkdir "$BATS_TEST_TMPDIR/none"
	# The option of the clock is empty in this file, and trace-cmd 3.1.6 then reads what its heap holds by chance: valgrind shows it.
	# With another number trace-cmd leaves the option alone.
	local clock='\x04\x00\x00\x00\x00\x00\x00\x00flyrecord'
	LC_ALL=C sed "s/$clock/\x42${clock#????}/" "$SHARED"/samples/v6-rtapp-6cpu.dat > "$BATS_TEST_TMPDIR/v6.dat"
	[ "$(cmp -l "$SHARED"/samples/v6-rtapp-6cpu.dat "$BATS_TEST_TMPDIR/v6.dat" | wc -l)" -eq 1 ]
	for origin in "$BATS_TEST_TMPDIR/v6.dat" "$SHARED"/samples/v7-zstd-8cpu-stacks.dat; do
		for options in "--file-version 7" "--compression none" "--file-version 6"; do
			# shellcheck disable=SC2086
			weft pack -q "$BATS_TEST_TMPDIR/none" --pages "$origin" $options -o "$BATS_TEST_TMPDIR/out.dat"
			read_hidden "$BATS_TEST_TMPDIR/out.dat" packed
			read_hidden "$origin" origin
			diff "$BATS_TEST_TMPDIR/origin" "$BATS_TEST_TMPDIR/packed"
			diff "$BATS_TEST_TMPDIR/origin.err" "$BATS_TEST_TMPDIR/packed.err"
		done
	done
}

@test "pack: histograms, the deepest stack and statistics are kept, and printed as they were" {
	texts
	local dir=$BATS_TEST_TMPDIR/dir
	mkdir -p "$dir/events/sched/a" "$dir/events/sched/b" "$dir/trace_stat"
	printf '# event histogram\n#\n\n{ a:   1 }\n' > "$dir/events/sched/a/hist"
	printf '# event histogram\n#\n\n{ b:   2 }\n' > "$dir/events/sched/b/hist"
	printf '        Depth    Size   Location    (1 entries)\n' > "$dir/stack_trace"
	printf '  Function   Hit\n' > "$dir/trace_stat/function0"
	weft pack -q "$dir" --pages "$file" -o "$BATS_TEST_TMPDIR/out.dat"
	weft report --stored hist "$BATS_TEST_TMPDIR/out.dat" > "$BATS_TEST_TMPDIR/got"
	cat "$dir"/events/sched/{a,b}/hist | cmp - "$BATS_TEST_TMPDIR/got"
	weft report --stored stack "$BATS_TEST_TMPDIR/out.dat" | cmp - "$dir/stack_trace"
	weft report --stored stat "$BATS_TEST_TMPDIR/out.dat" | cmp - "$dir/trace_stat/function0"
	weft report --stored events/sched/b/hist "$BATS_TEST_TMPDIR/out.dat" | cmp - "$dir/events/sched/b/hist"
	run --separate-stderr weft report --stored trace_clok "$BATS_TEST_TMPDIR/out.dat"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"contains no saved text 'trace_clok'"*"did you mean 'trace_clock'"* ]]
}

@test "report --stored: a text that does not fit on the disk is an error" {
	texts
	seq 30000 > "$BATS_TEST_TMPDIR/dir/stack_trace"
	weft pack -q "$BATS_TEST_TMPDIR/dir" --pages "$file" -o "$BATS_TEST_TMPDIR/out.dat"
	weft report --stored stack "$BATS_TEST_TMPDIR/out.dat" | cmp - "$BATS_TEST_TMPDIR/dir/stack_trace"
	run --separate-stderr sh -c 'weft report --stored stack "$1" > /dev/full' - "$BATS_TEST_TMPDIR/out.dat"
	[ "$status" -eq 1 ]
	[[ "$stderr" == "weft: cannot write to standard output: "* ]]
}

@test "pack: --maps is a copy of /proc/PID/maps; what is no PID:FILE is wrong usage" {
	texts
	echo '00400000-00401000 r-xp 00000000 00:02 60 /bin/loom' > "$BATS_TEST_TMPDIR/maps"
	weft pack -q "$BATS_TEST_TMPDIR/dir" --pages "$file" --maps "370:$BATS_TEST_TMPDIR/maps" -o "$BATS_TEST_TMPDIR/out.dat"
	weft report --stored proc/370/maps "$BATS_TEST_TMPDIR/out.dat" | cmp - "$BATS_TEST_TMPDIR/maps"
	for wrong in 370 x:/dev/null 0:/dev/null; do
		run --separate-stderr weft pack -q "$BATS_TEST_TMPDIR/dir" --pages "$file" --maps "$wrong"
		[ "$status" -eq 2 ]
	done
}

# number LETTERS VALUE: prints the value in the form of Perl's pack()
number() { perl -e 'print pack $ARGV[0], $ARGV[1]' "$1" "$2"; }

# big_page LONG TIME VALUE: prints a page of a kernel whose long has LONG bytes, with one event of id 100 and task 41;
# with VALUE 0, without an event
big_page()
{
	number 'Q>' "$2"
	number "$([ "$1" = 8 ] && echo 'Q>' || echo N)" $(($3 ? 16 : 0))
	number N $((3 << 27 | 1000))
	number n 100
	number n 0
	number N 41
	number N "$3"
	head -c $((256 - 8 - $1 - 16)) /dev/zero
}

@test "pack: the pages tell that the kernel was big-endian, of 64 bits or 32" {
	dir=$BATS_TEST_TMPDIR/dir
	for long in 8 4; do
		rm -rf "$dir"
		mkdir -p "$dir/events/demo/tick" "$dir/per_cpu/cpu0" "$dir/per_cpu/cpu1"
		printf '\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:%d;\tsigned:1;\n' $long > "$dir/events/header_page"
		printf '\tfield: char data;\toffset:%d;\tsize:%d;\tsigned:1;\n' $((8 + long)) $((248 - long)) >> "$dir/events/header_page"
		{
			printf 'name: tick\nID: 100\nformat:\n'
			printf '\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n'
			printf '\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n'
			printf '\tfield:int value;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: "value=%%d", REC->value\n'
		} > "$dir/events/demo/tick/format"
		echo '41 loom' > "$dir/saved_cmdlines"
		# An empty page says nothing about the size of long; the next page does.
		big_page $long 1000000000 0 > "$dir/per_cpu/cpu0/trace_pipe_raw"
		{ big_page $long 1000000000 0; big_page $long 2000000000 77; } > "$dir/per_cpu/cpu1/trace_pipe_raw"
		weft pack -q "$dir" -o "$BATS_TEST_TMPDIR/out.dat"
		run weft info "$BATS_TEST_TMPDIR/out.dat"
		[[ "$output" == *" big endian, $((long * 8))-bit, pages of 256 bytes"* ]]
		run --separate-stderr weft report "$BATS_TEST_TMPDIR/out.dat"
		[ "$status" -eq 0 ]
		[[ "$output" == *"loom-41      [001] .....     2.000001: tick: value=77" ]]
	done
}
