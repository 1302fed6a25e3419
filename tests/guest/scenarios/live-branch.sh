# SPDX-License-Identifier: GPL-2.0-only
# The tracer and the option branch, which few kernels are built with: 6.12-branch runs this scenario alone.

# branches: prints how many branches the top instance records while tracing is on; leaves it on
branches() {
	echo > $T/trace
	echo 1 > $T/tracing_on
	echo 0 > $T/tracing_on
	grep -c -e '\[  ok  \]' -e '\[ MISS \]' $T/trace
	echo 1 > $T/tracing_on
}

scenario() {
	has_tracer branch || { skip "branch" "this kernel has no such tracer"; return; }
	remember
	# A single write is traced into a small buffer, because each command has thousands of branches.
	echo 0 > $T/tracing_on
	echo 24 > $T/buffer_size_kb
	echo branch > $T/current_tracer
	echo 1 > $T/tracing_on
	echo 0 > $T/tracing_on
	VARIANTS='raw fields'
	exact branch
	echo > $T/trace
	echo 1 > $T/tracing_on
	echo 0 > $T/tracing_on
	VARIANTS='latency-format latency-format,verbose hex bin noirq-info nocontext-info'
	taken few
	VARIANTS=
	echo nop > $T/current_tracer
	echo "${KB:-512}" > $T/buffer_size_kb
	echo 1 > $T/tracing_on

	# weft reads a buffer that is half full before it can be stopped.
	LIVE_KB=16384
	live tracer 'echo "a marker" > $I/trace_marker' -p branch -e sched
	check "after record -p branch no branch is traced" equal "$(branches)" 0
	live option 'echo "a marker" > $I/trace_marker' -p function -l vfs_read -O branch
	check "weft warns of nothing" equal "$(cat "$OUT/option.log")" ""
	check "after record -O branch no branch is traced" equal "$(branches)" 0
	unchanged

	weft start -p function -l vfs_read -O branch > /tmp/s.out 2>&1
	check "start -O branch works" status_is $? 0 /tmp/s.out
	check "it traces branches" more "$(branches)" 0
	weft reset > /dev/null
	check "after weft reset no branch is traced" equal "$(branches)" 0
	unchanged
	weft start -e sched -O branch > /tmp/s.out 2>&1
	check "without a tracer weft says what is missing" matches /tmp/s.out 'only when a tracer begins.*-p branch'
	weft reset > /dev/null

	mkdir $T/instances/other
	echo 1 > $T/instances/other/options/branch
	echo function > $T/instances/other/current_tracer
	echo 1 > $T/options/branch
	weft reset --all --yes > /tmp/s.out 2>&1
	check "reset --all removes an instance that traces branches" equal "$(ls $T/instances)" ""
	check "and leaves no branch traced" equal "$(branches)" 0
}
