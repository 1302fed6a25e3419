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

# as FILE HOST: prints the recording as if a machine of this name had made it. All fixtures are of machines called (none).
as()
{
	weft convert -q --file-version 6 -o "$BATS_TEST_TMPDIR/six.dat" "$1"
	[ ${#2} = 6 ]
	sed "s/(none)/$2/g" "$BATS_TEST_TMPDIR/six.dat"
}

# Makes web-01.dat to web-20.dat: 30 events each, from recordings of four kinds of kernels.
make_machines()
{
	local n=0 file part name
	for file in tests/fixtures/golden/{6.12,6.1-rt}-events-sched.dat tests/corpora/report/seeds/{armhf,s390x}-6.1-events-sched.dat tests/fixtures/demo.dat; do
		n=$((n + 1))
		weft split -q --count 30 -o "$BATS_TEST_TMPDIR/part$n.dat" "$file"
	done
	n=0
	for part in "$BATS_TEST_TMPDIR"/part*.dat; do
		n=$((n + 1))
		name=$(printf 'web-%02d' $n)
		[ $n -gt 20 ] || as "$part" "$name" > "$BATS_TEST_TMPDIR/fleet.d/$name.dat"
	done
}

@test "fleet: the example of the manual runs, and its answer is that of weft latency on each machine" {
	timeout 60 node "$BATS_TEST_DIRNAME/export/duckdb.js" 'SELECT 1' > /dev/null || skip "node cannot load @duckdb/node-api"
	mkdir "$BATS_TEST_TMPDIR/fleet.d"
	make_machines
	for step in make compact query; do
		example $step > "$BATS_TEST_TMPDIR/$step"
		[ -s "$BATS_TEST_TMPDIR/$step" ]
	done
	example answer | sed 1d > "$BATS_TEST_TMPDIR/answer"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/answer")" = 20 ]
	cd "$BATS_TEST_TMPDIR/fleet.d" || exit
	for step in make compact; do
		bash -e "$BATS_TEST_TMPDIR/$step"
		node "$BATS_TEST_DIRNAME/export/duckdb.js" "$(cat "$BATS_TEST_TMPDIR/query")" | diff "$BATS_TEST_TMPDIR/answer" -
	done
	for file in web-*.dat; do
		weft latency --slowest 1 --format json "$file" 2> /dev/null | jq -r --arg host "$(basename "$file" .dat)" '.wakeups[0] | "\($host)|\(.pid)|\(.delay_ns)"'
	done | sort > "$BATS_TEST_TMPDIR/want"
	sort "$BATS_TEST_TMPDIR/answer" | diff "$BATS_TEST_TMPDIR/want" -
}

# The machines are whole recordings: three of kernels, two of what a disk and programs do, two of functions.
@test "fleet: the other questions of the manual have the answers that the kernel's text of each machine has" {
	timeout 60 node "$BATS_TEST_DIRNAME/export/duckdb.js" 'SELECT 1' > /dev/null || skip "node cannot load @duckdb/node-api"
	root=$PWD
	cd "$BATS_TEST_TMPDIR" || exit
	page=$root/man/weft-fleet.7 golden=$root/tests/fixtures/golden
	as "$golden/6.12-events-sched.dat" web-18 > a.dat
	as "$golden/6.1-rt-events-sched.dat" host-b > b.dat
	as "$golden/6.12-events-syscalls.dat" host-c > c.dat
	as "$golden/6.1-rt-events-syscalls.dat" host-d > d.dat
	as "$root/tests/fixtures/session/disk.dat" host-e > e.dat
	as "$golden/6.12-events-irq-timer.dat" host-f > f.dat
	as "$golden/6.12-function_graph.dat" host-g > g.dat
	as "$golden/6.1-rt-function_graph.dat" host-h > h.dat
	for file in ?.dat; do weft lake add -q fleet $file; done
	weft lake compact -q fleet
	ask() { node "$BATS_TEST_DIRNAME/export/duckdb.js" "$(example "$1")"; }

	ask p999 > got
	for machine in a:web-18 b:host-b; do
		weft latency --slowest 1 --self --format json ${machine%:*}.dat | jq -r '.wakeups[0].delay_ns' > want
		awk -F '|' -v host="${machine#*:}" -v want="$(cat want)" '$1 == host { found = 1; off = $3 > want ? $3 - want : want - $3; exit off * 32 > want } END { exit !found }' got
	done

	ask kernels > got
	for machine in a b; do weft info $machine.dat | sed -n 's/^kernel  *Linux [^ ]* \([^ ]*\) .*/\1/p'; done | LC_ALL=C sort > want
	cut -d '|' -f 1 got | diff want -

	ask errors > got
	for machine in c d e; do
		weft report $machine.dat | sed -n 's/.* sys_\([a-z0-9_]*\) -> 0xfffffffffffff\([0-9a-f]\{3\}\)$/\1 \2/p'
	done | python3 -c 'import collections, sys
calls = collections.Counter((name, 4096 - int(end, 16)) for name, end in map(str.split, sys.stdin))
for (name, errno), number in calls.items():
    print(name, errno, number, sep="|")' | LC_ALL=C sort > want
	[ -s want ]
	cut -d '|' -f 1-3 got | LC_ALL=C sort | diff want -

	ask disks > got
	[ -s got ]
	[ "$(cut -d '|' -f 4 got | paste -sd + | bc)" -le "$(weft report -R e.dat | grep -c block_rq_complete:)" ]
	[ "$(cut -d '|' -f 2 got | sort -u)" = "$(weft report e.dat | sed -n 's/.* block_rq_complete: \([0-9]*\),\([0-9]*\) .*/\1:\2/p' | sort -u)" ]

	ask irqs > got
	weft report f.dat | sed -n 's/.* softirq_exit: .*action=\([A-Z_]*\)\].*/\1/p' | sort | uniq -c | awk '{ print $2, $1 }' > want
	[ -s want ]
	awk -F '|' '$1 == "host-f" && sub("^softirq ", "", $3) { n[$3] += $4 } END { for (name in n) print name, n[name] }' got | sort > sums
	while read -r name times; do
		# One may have begun before the recording on each CPU.
		has=$(sed -n "s/^$name //p" sums)
		[ $((times - has)) -ge 0 ]
		[ $((times - has)) -le 2 ]
	done < want

	ask seen > got
	for machine in a:web-18 b:host-b c:host-c d:host-d e:host-e f:host-f g:host-g h:host-h; do
		[ "$(grep "^${machine#*:}|" got | cut -d '|' -f 3)" = "$(weft report --format json ${machine%:*}.dat | grep -vc '"lost"')" ]
	done

	ask back > line
	read -r -a words < line
	[ "${words[0]} ${words[1]}" = "weft report" ]
	"${words[@]}" | grep -v '^#' > text
	head -n 1 text | grep -q 'sched_waking:\|sched_wakeup'
	tail -n 1 text | grep -q 'sched_switch:'

	ask beside > got
	weft report a.dat | grep -o '\(prev\|next\)_comm=[^ ]*' | cut -d = -f 2 | sort -u > tasks
	[ -s got ]
	# Tasks of this machine, the largest difference first.
	[ -z "$(cut -d '|' -f 1 got | sort -u | comm -23 - tasks)" ]
	awk -F '|' '{ if ($2 <= $3 || (NR > 1 && $2 - $3 > last)) exit 1; last = $2 - $3 }' got

	ask functions > got
	weft report g.dat | sed -n 's/.*| *\([a-zA-Z0-9_.]*\)() *[{;].*/\1/p' | sort -u > new
	weft report h.dat | sed -n 's/.*| *\([a-zA-Z0-9_.]*\)() *[{;].*/\1/p' | sort -u > old
	[ -s new ]
	[ -s old ]
	[ -s got ]
	[ -z "$(cut -d '|' -f 1 got | sort -u | comm -12 - <(comm -12 new old))" ]

	ask program > got
	weft sched --self --format json a.dat | jq -r '[.tasks[] | select(.comm == "ls") | .run_ns] | add' > want
	[ "$(sed -n 's/^web-18|\([0-9]*\)|.*/\1/p' got)" = "$(cat want)" ]

	# The same recording of another machine as one of a sample: the setting weft/online becomes weft/sample.
	mkdir sampled
	python3 -c 'import sys
recording, at = sys.stdin.buffer.read(), b"weft/%s\0\4" + bytes(7) + b"%s\n"
assert at % (b"online", b"0-1") in recording
sys.stdout.buffer.write(recording.replace(at % (b"online", b"0-1"), at % (b"sample", b"1/2")).replace(b"host-c", b"host-s"))' < c.dat > sampled/s.dat
	cd sampled || exit
	weft lake add -q fleet ../c.dat s.dat
	ask weighted > got
	weft report ../c.dat | python3 -c 'import re, sys
calls, inside, times = 0, set(), []
for line in sys.stdin:
    found = re.match(r"\s*.*-(\d+) +\[\d+\] +\S+ +([\d.]+): sys_(\w+)( -> )?", line)
    if not found:
        continue
    pid, at, name, leaves = found.groups()
    times.append(float(at))
    calls += bool(leaves) and (pid, name) in inside
    (inside.discard if leaves else inside.add)((pid, name))
print(calls / (times[-1] - times[0]))' > want
	[ "$(cut -d '|' -f 1,3 got)" = "$(printf 'host-c|1\nhost-s|2')" ]
	cut -d '|' -f 2 got | awk -v want="$(cat want)" '{ off = $1 / want - 1; if (off > 0.001 || off < -0.001) exit 1 } END { exit NR != 2 }'
}
