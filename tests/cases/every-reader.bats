#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Each command that reads a recording, with files that are broken or claim much: it reports what is wrong, with bounded
# memory and time. Each file in tests/corpora/container/reject is broken in one place. The peak is the kernel's own
# count (ru_maxrss).
load lib

limit=128000 # KB

readers=(summary "sched --chain * --map --rt" "sched --timehist" "syscalls --trace" "syscalls --slowest 5" latency graph irq block locks stacks memory power "tasks --tree"
	"hist sched:sched_switch --keys prev_comm --input" "diff sched tests/fixtures/demo.dat" "split -o MADE" "split --by cpu -o MADE"
	"merge -o MADE tests/fixtures/demo.dat" "convert -o MADE" "redact -o MADE" "report --format pretty" "export --to jsonl -o MADE" "export --to csv -o MADE"
	"export --to perfetto -o MADE" "export --to chrome -o MADE" "export --to flame -o MADE" "export --to html -o MADE" sql)

setup_file()
{
	command -v "${CC:-gcc}" > /dev/null || skip "no compiler here"
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	"${CC:-gcc}" -O2 -o "$BATS_FILE_TMPDIR/measure" tests/bench/measure.c
	"${CC:-gcc}" -O2 -o "$BATS_FILE_TMPDIR/hostile" tests/fixtures/hostile.c -lzstd
}

# reads READER FILE: runs it; $status, $said and $peak (KB) are the results
reads()
{
	local words line file=$2
	read -ra words <<< "${1//MADE/$BATS_TEST_TMPDIR/made.dat}"
	words+=("$file")
	[ "$1" != sql ] || words+=("select count(*) from ftrace_event")
	export MEASURE_LOG=$BATS_TEST_TMPDIR/said
	: > "$MEASURE_LOG"
	# The limit is CPU time, which does not depend on the load of the machine.
	line=$(ulimit -t 30; "$BATS_FILE_TMPDIR/measure" "$WEFT" "${words[@]}" < /dev/null)
	status=${line%% *} peak=$(cut -d' ' -f5 <<< "$line") said=$(< "$MEASURE_LOG")
	echo "$1 $file: $line; $said"
}

@test "every reader: a broken file is told of, with status 1, also where nothing is found in the rest" {
	local file reader nr=0
	for file in tests/corpora/container/reject/*.dat; do
		nr=$((nr + 1))
		# Each file is for a third of the readers. The fuzz target of the commands has all.
		for reader in "${readers[@]}"; do
			nr=$((nr + 1))
			one_in $nr 3 || continue
			reads "$reader" "$file"
			[ "$status" = 1 ]
			[[ "$said" == *"weft: "* ]]
			[[ "$said" != *"among the events"* && "$said" != *"has no events"* || "$said" = *damaged* ]]
			[ "$peak" -lt $limit ]
		done
	done
}

# extreme FROM NEW: a recording like FROM, which has two CPUs with a page each, whose CPU 1 begins at 0 ns, and CPU 0 at
# 2^64 ns - 100 ms
extreme()
{
	need_command perl
	weft convert -q --file-version 6 -o "$2" "$1"
	perl -e 'open my $file, "+<", $ARGV[0] or die; binmode $file; my $times = 0;
		for (`weft info $ARGV[0]`) { next if !/^ *(\d+) .*pages of CPU (\d+)/; seek $file, $1, 0; print $file pack("Q<", $2 ? 0 : 18446744073609551616); $times++ }
		$times == 2 or die' "$2"
}

@test "every reader: of times that are 2^64 ns apart each makes something, in bounded time and memory" {
	need_command python3
	local name file=$BATS_TEST_TMPDIR/extreme.dat to all=("${readers[@]}" "summary --every 1ms" "sched --every 1s" "report --around @sched_switch" info check)
	for to in $(weft export --to help | cut -d' ' -f1); do
		all+=("export --to $to -o MADE")
	done
	for name in events-sched events-syscalls; do
		extreme "$(ls tests/fixtures/golden/6.1*-$name.dat | tail -n 1)" "$file"
		for reader in "${all[@]}"; do
			rm -rf "$BATS_TEST_TMPDIR/made.dat"
			reads "$reader" "$file"
			[ "$status" -le 1 ]
			[ "$peak" -lt $limit ]
		done
	done
	extreme tests/fixtures/golden/6.12-events-sched.dat "$file"
	# The times of tables are those of the kernel's text.
	weft report "$file" | grep -v '^#' | sed -nE 's/.* ([0-9]+\.[0-9]{6}): .*/\1/p' > "$BATS_TEST_TMPDIR/times"
	at=$(weft sched --table tasks --format csv "$file" | sed -n 2p | cut -d, -f 19)
	[[ $at = 18446744073.* ]]
	grep -qx "${at%????}.*" "$BATS_TEST_TMPDIR/times"
	run -1 weft merge -q -o "$BATS_TEST_TMPDIR/merged" tests/fixtures/demo.dat "$file"
	[[ "$output" == *"it has events later than 2^63 ns"* ]]
	# The map has the 2^64 ns in columns of 2^n ns.
	weft sched --map "$file" | grep -q '^# a column is 80064h 00m'
	weft export -q --to firefox -o "$BATS_TEST_TMPDIR/firefox" "$file" 2> /dev/null
	python3 tests/cases/export/firefox.py markers "$BATS_TEST_TMPDIR/firefox" > /dev/null
	command -v babeltrace2 > /dev/null || return 0
	weft export -q --to ctf -o "$BATS_TEST_TMPDIR/ctf" "$file" 2> "$BATS_TEST_TMPDIR/said"
	grep -q 'beyond 2^63 ns' "$BATS_TEST_TMPDIR/said"
	[ "$(babeltrace2 "$BATS_TEST_TMPDIR/ctf" | wc -l)" = "$(wc -l < "$BATS_TEST_TMPDIR/times")" ]
}
