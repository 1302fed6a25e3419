# SPDX-License-Identifier: GPL-2.0-only
# Small files that claim much: memory and work stay bounded. The peak is the kernel's own count (ru_maxrss).
load lib

limit=100000 # KB

setup_file() {
	command -v "${CC:-gcc}" > /dev/null || skip "no compiler here"
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	"${CC:-gcc}" -O2 -o "$BATS_FILE_TMPDIR/measure" tests/bench/measure.c
	"${CC:-gcc}" -O2 -o "$BATS_FILE_TMPDIR/hostile" tests/fixtures/hostile.c -lzstd
}

setup() {
	file=$BATS_TEST_TMPDIR/file.dat
	export MEASURE_LOG=$BATS_TEST_TMPDIR/log
}

# made ARGUMENTS: makes $file with tests/fixtures/hostile.c, of at most 1,500,000 bytes
made() {
	"$BATS_FILE_TMPDIR/hostile" "$file" "$@"
	[ "$(wc -c < "$file")" -le 1500000 ]
}

# bounded STATUS TEXT: every command that reads $file ends with this status, and TEXT is part of its messages
bounded() {
	local command line
	for command in "report --threads 1" "report --threads 8" "report --tail 10" "report --format json" "report --format pretty" \
		info check; do
		# The limit is CPU time, which does not depend on the load of the machine.
		line=$(ulimit -t 60; "$BATS_FILE_TMPDIR/measure" "$WEFT" $command "$file")
		echo "$command: $line; $(tail -n 1 "$MEASURE_LOG")"
		[ "$(cut -d' ' -f1 <<< "$line")" -eq "$1" ]
		[ "$(cut -d' ' -f5 <<< "$line")" -lt $limit ]
		[ -z "$2" ] || [[ "$(< "$MEASURE_LOG")" == *$2* ]]
	done
}

@test "bounded: pages that a thousand CPUs share are read once, and told" {
	made 1000 1 1 16777216 4096 1
	bounded 1 "the pages of 999 CPUs overlap the pages of another CPU"
	# Only the first CPU's data is read: a record for each page.
	run --separate-stderr weft report "$file"
	[ "$(grep -cv '^#' <<< "$output")" -eq 4096 ]
}

@test "bounded: the file of a thousand CPUs that took 14 GB is refused" {
	need_shared hostile/memory-1k-cpus.dat
	cp "$SHARED/hostile/memory-1k-cpus.dat" "$file"
	bounded 1 "--trust-size"
}

@test "bounded: thousands of CPUs do not have thousands of chunks in memory" {
	made 3000 0 1 40960 4096 2
	bounded 0
	[ "$(weft report "$file" | grep -cv '^#')" -eq $((3000 * 10 * 2)) ]
}

@test "bounded: chunks that are too large for the number of CPUs are refused" {
	made 60 0 1 16777216 4096 1
	bounded 1 "--trust-size"
}

@test "bounded: chunks of 16 MB are read in parts, each event once" {
	made 8 0 1 16777216 4096 1
	bounded 0
	[ "$(weft report "$file" | grep -cv '^#')" -eq $((8 * 4096)) ]
}

# A recording with the same marker over and over, on the clock uptime, compresses 5700 to 1; one with long markers, on
# the local clock, 600 to 1.
@test "bounded: pages as much alike as those of recordings are, are read" {
	made 1 0 170 131072 65536 8000
	[ "$(wc -c < "$file")" -lt 20000 ]
	weft info "$file"
	weft check "$file" | grep -F '2,720,000 events'
	weft report "$file" > /dev/null
	made 1 0 400 131072 4096 500
	weft check "$file" | grep -F '6,400,000 events'
}

# What a message advises exists in the command that prints it. Beside sched, which wants other events, each writes all.
# bats test_tags=long
@test "bounded: --trust-size is an option of every command that refuses a file for what it claims" {
	local command
	made 16 0 1 16777216 4096 1
	for command in "report --tail 1" check info "export --to csv -o MADE" "split -o MADE" \
		"merge -o MADE tests/fixtures/demo.dat" "diff sched $file" sched "sql -q"; do
		rm -f "$BATS_TEST_TMPDIR/made.dat"
		run --separate-stderr weft ${command//MADE/$BATS_TEST_TMPDIR/made.dat} "$file"
		[ "$status" -eq 1 ] || { echo "$command: $status"; false; }
		[[ "$stderr" == *"; --trust-size reads it"* || "$command" = merge* ]] || { echo "$command: $stderr"; false; }
		rm -f "$BATS_TEST_TMPDIR/made.dat"
		run --separate-stderr weft ${command//MADE/$BATS_TEST_TMPDIR/made.dat} "$file" --trust-size
		[ "$status" -ne 2 ] || { echo "$command: $stderr"; false; }
		[[ "$stderr" != *damaged* && "$stderr" != *--trust-size* ]] || { echo "$command: $stderr"; false; }
	done
	[ "$(weft convert -o - "$file" --trust-size | weft info - --trust-size | grep -c events)" -gt 0 ]
}

@test "bounded: more events than recordings have are refused, unless --trust-size asks for them" {
	made 1 0 40 16777216 1048576 130000
	for command in info check; do
		run --separate-stderr weft $command "$file"
		[ "$status" -eq 1 ]
		[[ "$stderr" == *"more than any real recording has; --trust-size reads them"* ]]
	done
	weft check --trust-size "$file" | grep -F '83,200,000 events'
	weft info --trust-size "$file"
}

# Each event of 28 bytes gives a line of 4000 characters: no kernel has such a print fmt.
# bats test_tags=long
@test "bounded: a small file does not print gigabytes, unless --trust-size asks for them" {
	load hostile
	tiny_tree "$BATS_TEST_TMPDIR/tree"
	tiny_event "$BATS_TEST_TMPDIR/tree" sys long 2000 "\"$(printf '%4000s' x)%d\", REC->x"
	cp "$BATS_TEST_TMPDIR/tree/per_cpu/cpu0/records" "$BATS_TEST_TMPDIR/record"
	for i in {1..126}; do cat "$BATS_TEST_TMPDIR/record"; done > "$BATS_TEST_TMPDIR/tree/per_cpu/cpu0/records"
	tiny_pack "$BATS_TEST_TMPDIR/tree" "$BATS_TEST_TMPDIR/one.dat"
	# The same page, 1000 times.
	for i in {1..1000}; do cat "$BATS_TEST_TMPDIR/tree/per_cpu/cpu0/trace_pipe_raw"; done > "$BATS_TEST_TMPDIR/pages"
	mv "$BATS_TEST_TMPDIR/pages" "$BATS_TEST_TMPDIR/tree/per_cpu/cpu0/trace_pipe_raw"
	weft pack -q "$BATS_TEST_TMPDIR/tree" -o "$file"
	[ "$(wc -c < "$file")" -lt 25000 ]
	for threads in 1 8; do
		{ weft report --threads $threads "$file" 2> "$BATS_TEST_TMPDIR/said" || echo $? > "$BATS_TEST_TMPDIR/status$threads"; } |
			md5sum > "$BATS_TEST_TMPDIR/sum$threads"
		[ "$(cat "$BATS_TEST_TMPDIR/status$threads")" = 1 ]
		grep -q 'the text is longer than .* MB.*; --trust-size prints all of it' "$BATS_TEST_TMPDIR/said"
	done
	cmp "$BATS_TEST_TMPDIR/sum1" "$BATS_TEST_TMPDIR/sum8"
	[ "$(weft report --trust-size "$file" | wc -c)" -gt $((1000 * 126 * 4000)) ]
}

@test "bounded: the bytes of a file that is refused do not depend on the number of threads" {
	made 3 0 200 131072 4096 500
	for threads in 1 2 8; do
		weft report --threads $threads "$file" > "$BATS_TEST_TMPDIR/printed" || true
		[ -s "$BATS_TEST_TMPDIR/printed" ]
		md5sum < "$BATS_TEST_TMPDIR/printed"
	done > "$BATS_TEST_TMPDIR/sums"
	[ "$(sort -u "$BATS_TEST_TMPDIR/sums" | wc -l)" -eq 1 ]
}
