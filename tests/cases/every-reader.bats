#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Each command that reads a recording, with files that are broken or claim much: it reports what is wrong, with bounded
# memory and time. Each file in tests/corpora/container/reject is broken in one place. The peak is the kernel's own
# count (ru_maxrss).
load lib

limit=128000 # KB

readers=(summary "sched --chain * --map --rt" "sched --timehist" "syscalls --trace" "syscalls --slowest 5" latency graph irq block locks stacks memory power "tasks --tree"
	"hist sched:sched_switch --keys prev_comm --input" "diff sched tests/fixtures/demo.dat" "split -o MADE" "split --by cpu -o MADE"
	"merge -o MADE tests/fixtures/demo.dat" "convert -o MADE" "report --format pretty" "export --to jsonl -o MADE" "export --to csv -o MADE"
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
		# Each file is for a third of the readers, the next day for others. The fuzz target of the commands has all.
		for reader in "${readers[@]}"; do
			nr=$((nr + 1))
			in_turn $nr 3 || continue
			reads "$reader" "$file"
			[ "$status" = 1 ]
			[[ "$said" == *"weft: "* ]]
			[[ "$said" != *"among the events"* && "$said" != *"has no events"* || "$said" = *damaged* ]]
			[ "$peak" -lt $limit ]
		done
	done
}
