# SPDX-License-Identifier: GPL-2.0-only
# The text does not depend on how many threads make it.
load lib

# same FILE OPTIONS...: the bytes and the status of 2, 3 and 8 threads are those of one
same()
{
	local file=$1 threads status=0 other
	shift
	"$WEFT" report --threads 1 "$@" "$file" > "$BATS_TEST_TMPDIR/one" || status=$?
	[ -s "$BATS_TEST_TMPDIR/one" ]
	for threads in 2 3 8; do
		other=0
		"$WEFT" report --threads $threads "$@" "$file" > "$BATS_TEST_TMPDIR/many" || other=$?
		[ $other = $status ]
		cmp "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/many"
	done
}

@test "report prints the same bytes with 1, 2, 3 and 8 threads" {
	same tests/fixtures/demo.dat
	same tests/fixtures/demo.dat -R
	same tests/fixtures/demo.dat --tail 40
}

@test "report prints the same bytes of a large file of events with any number of threads" {
	need_shared bench/sched-syscalls.dat
	same "$SHARED/bench/sched-syscalls.dat" --limit 300000
}

@test "report prints the same bytes of a large graph with any number of threads" {
	need_shared bench/funcgraph.dat
	same "$SHARED/bench/funcgraph.dat" --limit 300000
}
