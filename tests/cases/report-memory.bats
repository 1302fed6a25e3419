# SPDX-License-Identifier: GPL-2.0-only
# report's memory does not grow with the file, whatever is selected. The peak is the kernel's own count (ru_maxrss).
load lib

limit=65536 # KB

setup_file() {
	command -v "${CC:-gcc}" > /dev/null || skip "no compiler here"
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	"${CC:-gcc}" -O2 -o "$BATS_FILE_TMPDIR/measure" tests/bench/measure.c
	"${CC:-gcc}" -O2 -std=gnu17 -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -o "$BATS_FILE_TMPDIR/synth" tests/bench/synth.c \
		tests/bench/events.c "$BUILD/rooms.a" -lzstd -ltraceevent -ltracefs -lpthread -ldl
	for version in 6 7; do
		"$BATS_FILE_TMPDIR/synth" rare tests/fixtures/demo.dat "$BATS_FILE_TMPDIR/v$version.dat" $version 2600000 2
	done
}

# Two CPUs, in stretches of 200,000 events each. The 1st, 16385th and so on of a stretch belong to task 99999.
rare=$((2 * 7 * 13))

# peak OPTIONS...: prints the peak memory of a report of each version with 1, 8 and 64 threads
peak() {
	local version threads line kb
	for version in 6 7; do
		for threads in 1 8 64; do
			line=$("$BATS_FILE_TMPDIR/measure" "$WEFT" report --threads $threads "$@" "$BATS_FILE_TMPDIR/v$version.dat")
			echo "version $version, $threads threads: $line"
			[ "${line%% *}" = 0 ]
			kb=$(echo "$line" | cut -d' ' -f5)
			[ "$kb" -lt $limit ]
		done
	done
}

@test "report holds less than 64 MB when the events asked for are rare" {
	[ "$(wc -c < "$BATS_FILE_TMPDIR/v6.dat")" -gt $((limit * 1800)) ]
	for version in 6 7; do
		[ "$("$WEFT" report --pid 99999 "$BATS_FILE_TMPDIR/v$version.dat" | grep -cv '^#')" -eq $rare ]
	done
	peak --pid 99999
	peak --pid 99999 --format json
	peak --pid 99999 --format pretty
}

# bats test_tags=long
@test "report holds less than 64 MB when no event is what was asked for" {
	peak -e sched:sched_process_exit
	peak --pid 999999
	peak --comm nobody --format json
	peak --comm nobody --format pretty
}

@test "report holds less than 64 MB when one event in fourteen is asked for, or all are" {
	peak -e sched_switch
	peak -e sched_switch --format json
	peak --limit 400000
	peak --limit 400000 --format json
}

@test "report holds less than 64 MB when it begins late or ends early" {
	peak --tail 1
	peak --pid 99999 --tail 3
	peak --since 9
	peak --until 1.1
}
