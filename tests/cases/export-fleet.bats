#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The example of weft-fleet(7): twenty machines, one query.
load lib

page=man/weft-fleet.7

setup()
{
	need_command jq
	need_npm @duckdb/node-api 1.5.6-r.1
}

# example NAME: prints the lines of the page behind its comment, as man shows them.
example()
{
	sed -n "/^\.\\\\\" example: $1\$/,/^\.EE/p" "$page" | sed -e '/^\./d' -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\&//g' -e 's/\\e/\\/g'
}

# Makes web01.dat to web20.dat: 30 events each, from recordings of four kinds of kernels.
make_machines()
{
	local n=0 file part
	for file in tests/fixtures/golden/{6.12,6.1-rt}-events-sched.dat tests/corpora/report/seeds/{armhf,s390x}-6.1-events-sched.dat tests/fixtures/demo.dat; do
		n=$((n + 1))
		weft split -q --count 30 -o "$BATS_TEST_TMPDIR/part$n.dat" "$file"
	done
	n=0
	for part in "$BATS_TEST_TMPDIR"/part*.dat; do
		n=$((n + 1))
		[ $n -gt 20 ] || mv "$part" "$BATS_TEST_TMPDIR/fleet.d/$(printf 'web%02d.dat' $n)"
	done
}

@test "fleet: the example of the manual runs, and its answer is that of weft latency on each machine" {
	timeout 60 node "$BATS_TEST_DIRNAME/export/duckdb.js" 'SELECT 1' > /dev/null || skip "node cannot load @duckdb/node-api"
	mkdir "$BATS_TEST_TMPDIR/fleet.d"
	make_machines
	example make > "$BATS_TEST_TMPDIR/make"
	example query > "$BATS_TEST_TMPDIR/query"
	[ -s "$BATS_TEST_TMPDIR/make" ] && [ -s "$BATS_TEST_TMPDIR/query" ]
	(cd "$BATS_TEST_TMPDIR/fleet.d" && bash -e "$BATS_TEST_TMPDIR/make")
	duckdb=$BATS_TEST_DIRNAME/export/duckdb.js
	(cd "$BATS_TEST_TMPDIR/fleet.d" && node "$duckdb" "$(cat "$BATS_TEST_TMPDIR/query")") > "$BATS_TEST_TMPDIR/got"
	example answer | sed 1d | diff - "$BATS_TEST_TMPDIR/got"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/got")" = 20 ]
	for file in "$BATS_TEST_TMPDIR"/fleet.d/web*.dat; do
		weft latency --worst 1 --format json "$file" 2> /dev/null | jq -r --arg host "$(basename "$file" .dat)" '.wakeups[0] | "\($host)|\(.pid)|\(.delay_ns)"'
	done | sort > "$BATS_TEST_TMPDIR/want"
	sort "$BATS_TEST_TMPDIR/got" | diff "$BATS_TEST_TMPDIR/want" -
}
