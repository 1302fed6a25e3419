#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# tests/captures/run itself: it finds what differs, and skips nothing silently.
load lib

setup()
{
	dir=$BATS_TEST_TMPDIR/captures
	scene=$dir/6.12/hwlat
	mkdir -p "$scene/meta"
	cp tests/corpora/report/accept/hwlat-6.12.dat "$scene/trace.dat"
	cp tests/corpora/report/hwlat-6.12.txt "$scene/trace.txt"
	cp tests/corpora/report/hwlat-6.12.raw.txt "$scene/trace.raw.txt"
}

@test "captures: texts that are identical are told one by one, and make no failure" {
	run tests/captures/run "$dir"
	[ "$status" -eq 0 ]
	grep -Eq '^6.12 +hwlat +raw +identical' <<< "$output"
	grep -Eq '^6.12 +hwlat +trace +identical' <<< "$output"
	[[ "$output" == *"captures: 3 texts compared: 3 identical"*" 0 differ, 0 failed; 0 passed over" ]]
}

@test "captures: one character that differs is a failure, and --diff shows its line" {
	sed -i '$s/#/%/' "$scene/trace.raw.txt"
	sed -i '$s/[0-9]$/x/' "$scene/trace.raw.txt"
	run tests/captures/run "$dir" --diff 2
	[ "$status" -eq 1 ]
	grep -Eq '^6.12 +hwlat +raw +DIFFERS +1 of' <<< "$output"
	grep -q '^    < ' <<< "$output"
}

@test "captures: a text whose name is not known is a failure" {
	cp "$scene/trace.txt" "$scene/trace.strange.txt"
	run tests/captures/run "$dir"
	[ "$status" -eq 1 ]
	grep -Eq 'strange +FAILED +no rule for the name' <<< "$output"
}

@test "captures: what is passed over is told with its reason, and counted" {
	cp "$scene/trace.txt" "$scene/filter.txt"
	run tests/captures/run "$dir"
	[ "$status" -eq 0 ]
	grep -Eq 'filter +skipped +a setting that did' <<< "$output"
	[[ "$output" == *"; 1 passed over" ]]
}

@test "captures: a file that cannot be packed is a failure" {
	head -c 100 "$scene/trace.dat" > "$scene/short" && mv "$scene/short" "$scene/trace.dat"
	run tests/captures/run "$dir"
	[ "$status" -eq 1 ]
	grep -q 'FAILED' <<< "$output"
}

@test "captures: --results writes the figures" {
	run tests/captures/run "$dir" --results "$BATS_TEST_TMPDIR/results"
	[ "$status" -eq 0 ]
	grep -qxF '| hwlat, osnoise, timerlat | 3 / 0 / 0 |' "$BATS_TEST_TMPDIR/results"
}
