#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft import: the kernel's text becomes a recording whose report is that text.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden

setup()
{
	made=$BATS_TEST_TMPDIR/made.dat
}

# lines FILE: prints the lines that are not the header.
lines()
{
	grep -av '^#' "$1"
}

# comes_back TEXT OPTION...: every line of the text is in the report of what was imported, in order.
comes_back()
{
	local text=$1
	shift
	weft import -q "$@" -o "$made" "$text" 2> /dev/null
	weft report "$made" > "$BATS_TEST_TMPDIR/report" 2> /dev/null
	lines "$text" > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	lines "$BATS_TEST_TMPDIR/report" | diff -a "$BATS_TEST_TMPDIR/want" -
}

@test "import: the kernel's text of events, system calls, functions and stacks comes back, every line" {
	for name in 6.12-events-{sched,syscalls,irq-timer} 6.12-{synth-hist,user_events,function,event-stacktrace,function-stacktrace} \
		6.1-rt-events-{sched,syscalls} 6.1-rt-{function,event-stacktrace}; do
		comes_back "$golden/$name.txt"
	done
}

@test "import: the kernel's text of function graphs comes back, every line, and so do stacks of programs" {
	for name in 6.12-function_graph 6.1-rt-function_graph 6.12-function_graph-event-stack{,.funcgraph-{abstime,proc,tail}} 6.12-userstacktrace; do
		comes_back "$golden/$name.txt"
	done
	comes_back "$golden/6.12-function_graph.txt" --formats-from "$golden/6.12-function_graph.dat"
	comes_back "$golden/6.12-userstacktrace.txt" --formats-from "$golden/6.12-userstacktrace.dat"
}

# near WANT GOT: the words are equal, and numbers above 10000 differ by at most 100, because the text has no ns for a
# duration above 10 ms.
near()
{
	[ -s "$1" ]
	paste -d '\n' "$1" "$2" | awk 'NR % 2 { split($0, want, " "); words = NF; next }
		{ if (NF != words) exit bad = 1; for (i = 1; i <= NF; i++) if ($i != want[i] && (want[i] < 10000 || $i - want[i] > 100 || want[i] - $i > 100)) exit bad = 1 }
		END { exit bad }'
}

# graph FILE: prints calls, total and own time of each function, in ns.
graph()
{
	weft graph --format json "$1" 2> /dev/null | jq -r '.functions[] | "\(.function) \(.calls) \(.total_ns) \(.self_ns)"' | LC_ALL=C sort
}

@test "import: in a graph of latency-format, the marks of the lines between calls come back" {
	local text=$BATS_TEST_DIRNAME/../corpora/report/graph-6.12.latency.txt

	weft import -q -o "$made" "$text"
	# That there were no more events than these is not kept.
	diff <(sed 's/, #[0-9]*\/[0-9]*, /, /' "$text") <(weft report -O latency-format "$made" 2> /dev/null)
	[ "$(grep -c 'us[!+]: ' "$text")" -ge 10 ]
}

@test "import: weft graph, folded and the stacks of a graph's text tell what those of the recording tell" {
	need_command jq
	for name in 6.12-function_graph 6.1-rt-function_graph; do
		weft import -q -o "$made" "$golden/$name.txt" 2> /dev/null
		graph "$golden/$name.dat" > "$BATS_TEST_TMPDIR/want"
		graph "$made" > "$BATS_TEST_TMPDIR/got"
		near "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
		# Without irq-info the text does not show that a function interrupted another one: the own time of each
		# function is unaffected.
		for file in "$golden/$name.dat" "$made"; do
			weft export --to folded "$file" 2> /dev/null | awk '{ weight = $NF; sub(/ [0-9]+$/, ""); n = split($0, stack, ";"); own[stack[n]] += weight } END { for (f in own) print f, own[f] }' |
				LC_ALL=C sort > "$BATS_TEST_TMPDIR/$(basename "$file").folded"
		done
		near "$BATS_TEST_TMPDIR/$name.dat.folded" "$BATS_TEST_TMPDIR/made.dat.folded"
	done
}

@test "import: a graph's text without times or tasks gets those that fit, and it is told" {
	printf '%s\n' '# tracer: function_graph' '#' ' 0)               |  a() {' ' 0)   1.500 us    |    b();' ' 0) + 12.000 us   |  }' \
		' 1) ! 100.001 us  |  c();' > "$BATS_TEST_TMPDIR/text"
	run -0 --separate-stderr weft import -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ $stderr == *"4 lines of the function graph have no time"* ]]
	[[ $stderr == *"the task of 6 events of the function graph is unknown"* ]]
	weft graph "$made" | grep -q '^# 4 lines of the function graph had no time in the imported text: times between'
	comes_back "$BATS_TEST_TMPDIR/text"
	# The closing brace is as long after its function as its duration says.
	[ "$(weft export --to csv --fields ts,event,pid "$made" | sed 1d | paste -sd ' ')" = "1000,funcgraph_entry,4194304 1001,funcgraph_entry,4194304 \
2501,funcgraph_exit,4194304 13000,funcgraph_exit,4194304 13001,funcgraph_entry,4194305 113002,funcgraph_exit,4194305" ]
	weft import -q -o "$made" "$golden/6.12-function_graph-event-stack.funcgraph-abstime.txt" 2> "$BATS_TEST_TMPDIR/told"
	[ ! -s "$BATS_TEST_TMPDIR/told" ]
	run -0 weft graph "$made"
	[[ $output != *'had no time'* ]]
	weft import -q -o "$made" "$golden/6.12-function_graph-event-stack.txt"
	weft sched "$made" | grep -q '^# [0-9,]* lines of the function graph had no time in the imported text'
}

@test "import: with the formats of the same kernel the same text comes back" {
	for name in 6.12-events-{sched,irq-timer} 6.1-rt-events-sched; do
		comes_back "$golden/$name.txt" --formats-from "$golden/$name.dat"
	done
}

@test "import: sched, latency and syscalls count what they count in the recording, and times are those of microseconds" {
	need_command python3
	cat > "$BATS_TEST_TMPDIR/near.py" <<-'PY'
		import json, sys
		def same(one, other, where=''):
		    if isinstance(one, dict):
		        assert one.keys() == other.keys(), where
		        for key in one:
		            same(one[key], other[key], where + '/' + key)
		    elif isinstance(one, list):
		        assert len(one) == len(other), where
		        for i, (a, b) in enumerate(zip(one, other)):
		            same(a, b, where + '/%d' % i)
		    elif '_ns' in where or any(word in where for word in ('since', 'until', '_at')):
		        # Each time is rounded to 1 us, and a sum has many of them.
		        assert one is None or isinstance(one, str) or abs(one - other) <= 40000, (where, one, other)
		    else:
		        assert one == other, (where, one, other)
		files = [json.load(open(name)) for name in sys.argv[2:4]]
		rows = [file[sys.argv[1]] for file in files]
		assert rows[0]
		key = lambda row: (row.get('comm', ''), row.get('pid', 0), row.get('call', ''), row.get('name', ''), round(row.get('since', 0), 4))
		same(sorted(rows[0], key=key), sorted(rows[1], key=key))
	PY
	weft import -q -o "$made" "$golden/6.12-events-sched.txt"
	for command in sched:tasks latency:wakeups; do
		weft ${command%:*} --format json "$golden/6.12-events-sched.dat" > "$BATS_TEST_TMPDIR/one" 2> /dev/null
		weft ${command%:*} --format json "$made" > "$BATS_TEST_TMPDIR/other" 2> /dev/null
		python3 "$BATS_TEST_TMPDIR/near.py" ${command#*:} "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/other"
	done
	weft import -q -o "$made" "$golden/6.12-events-syscalls.txt"
	for file in "$golden/6.12-events-syscalls.dat" "$made"; do
		weft syscalls --format csv "$file" 2> /dev/null | cut -d , -f 1-3 | LC_ALL=C sort > "$BATS_TEST_TMPDIR/$(basename "$file").csv"
	done
	diff "$BATS_TEST_TMPDIR/6.12-events-syscalls.dat.csv" "$BATS_TEST_TMPDIR/made.dat.csv"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/made.dat.csv")" -gt 5 ]
}

@test "import: trace-cmd reads as many events" {
	need_command trace-cmd
	for name in 6.12-events-{sched,syscalls} 6.12-function; do
		weft import -q -o "$made" "$golden/$name.txt"
		[ "$(trace-cmd report "$made" 2> /dev/null | grep -c '\[00[01]\]')" = "$(lines "$golden/$name.txt" | wc -l)" ]
	done
}

@test "import: what ftrace_dump_on_oops printed on a console" {
	cat > "$BATS_TEST_TMPDIR/log" <<-'LOG'
		[   12.000001] sysrq: Trigger a crash
		[   12.345678] Dumping ftrace buffer:
		[   12.345679] ---------------------------------
		[   12.345680]      cat-70        1d.h2. 2921018us : sched_stat_runtime: comm=cat pid=70 runtime=4002564 [ns]
		[   12.345681][  T123]    <...>-17        0d..2. 2924473us+: sched_waking: comm=sh pid=62 prio=120 target_cpu=001
		Nov 22 10:00:00 host kernel: [   12.345682]   <idle>-0         1d..2. 2924503us!: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh next_pid=62 next_prio=120
		[   12.345683] ---------------------------------
	LOG
	run -0 --separate-stderr weft import -o "$made" "$BATS_TEST_TMPDIR/log"
	[[ $stderr == *"3 events"*"4 lines are no events"* ]]
	weft report "$made" 2> /dev/null | grep -v '^#' | diff - <(cat <<-'TEXT'
		             cat-70      [001] d.h2.     2.921018: sched_stat_runtime: comm=cat pid=70 runtime=4002564 [ns]
		           <...>-17      [000] d..2.     2.924473: sched_waking: comm=sh pid=62 prio=120 target_cpu=001
		          <idle>-0       [001] d..2.     2.924503: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh next_pid=62 next_prio=120
	TEXT
	)
	[[ $(weft latency --format json "$made" 2> /dev/null) == *'"delay_ns":30000,"comm":"sh","pid":62,'* ]]
}

@test "import: the text that systrace puts into HTML, with thread groups, and without flags" {
	cat > "$BATS_TEST_TMPDIR/trace.html" <<-'HTML'
		<!DOCTYPE html><script class="trace-data" type="application/text">
		# tracer: nop
		#
		     a-b (c)-62      (   60) [001] d.h2.     2.921018: irq_handler_entry: irq=30 name=virtio0-req.0
		          <idle>-0       (-----) [001] d.h2.     2.921020: irq_handler_exit: irq=30 ret=handled
		</script>
	HTML
	weft import -q -o "$made" "$BATS_TEST_TMPDIR/trace.html"
	[ "$(weft export --to csv --fields pid,tgid,comm,irq,name,ret "$made" | paste -sd ' ')" = "pid,tgid,comm,irq,name,ret 62,60,a-b (c),30,virtio0-req.0, 0,,<idle>,30,,1" ]
	printf '              sh-62      [001]      2.921018: irq_handler_entry: irq=30 name=a\n' > "$BATS_TEST_TMPDIR/bare"
	comes_back "$BATS_TEST_TMPDIR/bare"
}

@test "import: a text that a print fmt could not have made is kept as text" {
	printf '%s\n' '              sh-62      [001] d.h2.     2.921018: sched_waking: comm=sh pid=62 prio=x target_cpu=001' \
		'              sh-62      [001] d.h2.     2.921019: odd: 100% "quoted" \back' \
		'              sh-62      [001] d.h2.     2.921019: odd: a=1 a=2' \
		'              sh-62      [001] d.h2.     2.921020: odd: a=007 b=-0 c=99999999999999999999 d=0xABC e=' > "$BATS_TEST_TMPDIR/text"
	comes_back "$BATS_TEST_TMPDIR/text"
}

@test "import: lost events, functions of modules, and a text whose only event is a marker, come back" {
	printf '%s\n' 'CPU:1 [LOST 230 EVENTS]' '              sh-62      [001] d.h2.     2.921018: vfs_read <-ksys_read' 'CPU:1 [LOST EVENTS]' \
		'              sh-62      [001] d.h2.     2.921020: softirq_raise: vec=1 [action=TIMER]' > "$BATS_TEST_TMPDIR/text"
	comes_back "$BATS_TEST_TMPDIR/text"
	printf '%s\n' '# tracer: function_graph' ' 0)   1.500 us    |  vfs_fsync();' ' 0)   1.500 us    |  ext4_sync_fs [ext4]();' > "$BATS_TEST_TMPDIR/text"
	comes_back "$BATS_TEST_TMPDIR/text"
	printf '              sh-62      [001] d.h2.     2.921018: tracing_mark_write: one\n' > "$BATS_TEST_TMPDIR/text"
	comes_back "$BATS_TEST_TMPDIR/text"
}

@test "import: what has no event is told, and nothing is written" {
	run -1 --separate-stderr weft import -o "$made" NEWS
	[[ $stderr == *"has no line of a trace"* ]]
	run -1 weft import -o "$made" "$BATS_TEST_TMPDIR/none"
	run -2 weft import -o "$made"
	[ ! -e "$made" ]
	run -1 --separate-stderr weft import --formats-from tests/corpora/report/seeds/s390x-6.1-events-sched.dat -o "$made" "$golden/6.12-events-sched.txt"
	[[ $stderr == *"big-endian"* ]]
}

@test "import: lines that are no events are counted by kind and shown; --strict refuses them; what looks like an event fails" {
	printf '%s\n' '              sh-62      [001] d.h2.     2.921018: irq_handler_exit: irq=30 ret=handled' 'a word' > "$BATS_TEST_TMPDIR/text"
	run -0 --separate-stderr weft import -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ $stderr == *"1 line is no event: 1 of other text"*"line 2: a word"* ]]
	rm "$made"
	run -1 --separate-stderr weft import --strict -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ $stderr == *"line 2: a word"* ]]
	[ ! -e "$made" ]
	printf '%s\n' '              sh-62      [0x1] d.h2.     2.921019: irq_handler_exit: irq=30 ret=handled' ' => vfs_read' >> "$BATS_TEST_TMPDIR/text"
	run -1 --separate-stderr weft import -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ $stderr == *"3 lines are no events: "*"line 4:  => vfs_read"* ]]
	[ "$(weft report "$made" 2> /dev/null | grep -c irq_handler_exit)" = 1 ]
	run -1 --separate-stderr weft import -q -o "$made" "$BATS_TEST_TMPDIR/text"
	[ -z "$stderr" ]
	printf "sleep 12 [001] 100.123456: 250000 cycles: 7f3c foo (bar)\n" > "$BATS_TEST_TMPDIR/text"
	run -1 --separate-stderr weft import -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ $stderr == *"of the text of perf script, only the kernel's trace events are imported"* ]]
	printf '   [001] 100.123456: sched_waking: comm=a pid=1 prio=120 target_cpu=001\n' > "$BATS_TEST_TMPDIR/text"
	run -1 --separate-stderr weft import -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ $stderr == *"like an event without its task"*"an event needs its task and its CPU"* && $stderr != *perf* ]]
}

@test "import: a text that contradicts itself is told, and gets no value that it does not have" {
	printf '%s\n' '# tracer: function_graph' '   23.498724 |   0)   1.500 us    |  a();' ' 0)   1.913 us    |  b();' > "$BATS_TEST_TMPDIR/text"
	run -0 --separate-stderr weft import -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ $stderr == *"1 lines of the function graph have no time"*"only some lines of the function graph have these columns, so 'weft report' leaves them out: times"* ]]
	[ "$(weft report "$made" 2> /dev/null | lines /dev/stdin | tr -s ' ')" = " 0) 1.500 us | a();
 0) 1.913 us | b();" ]
	[[ $(weft report -O funcgraph-abstime "$made" 2> /dev/null) == *"23.498724 |"* ]]
	printf '%s\n' '   sh-62   [001] d.h2   2.921018: aa: x=1' '   sh-62   [001] d.h2.   2.921019: aa: x=1' > "$BATS_TEST_TMPDIR/text"
	run -0 --separate-stderr weft import -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ $stderr == *"different columns of flags, as of several kernels (1 with 4, 1 with 5)"* ]]
	printf '%s\n' '      sh-62        1d..2.   12us : zz: a=1' '   sh-62   [001] d..2.   16.967410: zz: a=1' > "$BATS_TEST_TMPDIR/text"
	run -0 --separate-stderr weft import -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ $stderr == *"some events have times since the beginning of the trace"*"prints 12us as 0.000012"* ]]
	[[ $(weft report "$made" 2> /dev/null) == *" 0.000012: zz: a=1"*" 16.967410: zz: a=1" ]]
}

@test "import: sched, latency and syscalls of the text of perf script" {
	cat > "$BATS_TEST_TMPDIR/text" <<-'TEXT'
		            bbb    63 [000]    44.401500: sched:sched_switch: prev_comm=bbb prev_pid=63 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
		        swapper     0 [000]    44.401600: sched:sched_waking: comm=aaa pid=62 prio=120 target_cpu=000
		        swapper     0 [000]    44.401700: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=aaa next_pid=62 next_prio=120
		            aaa    62 [000]    44.401800: raw_syscalls:sys_enter: NR 3 (3, 0, 0, 0, 0, 0)
		            aaa    62 [000]    44.401850: raw_syscalls:sys_exit: NR 3 = 0
		            aaa    62 [000]    44.402700: sched:sched_switch: prev_comm=aaa prev_pid=62 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
		            	ffffffff813a50f1 __schedule+0x41 ([kernel.kallsyms])
	TEXT
	weft import -q --strict -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ $(weft sched --table tasks --format csv "$made" 2> /dev/null) == *"aaa,62,120,1000000,100000,"* ]]
	[[ $(weft latency --format json "$made" 2> /dev/null) == *'"delay_ns":100000,"comm":"aaa","pid":62,'* ]]
	[[ $(weft syscalls --format csv "$made" 2> /dev/null) == *",1,"*50000* ]]
	[ "$(weft report "$made" 2> /dev/null | tail -n 2 | tr -s ' ')" = " aaa-62 [000] 44.402700: <stack trace>
 => __schedule" ]
}

@test "import: the compressed text of atrace -z, and text in UTF-16" {
	need_command python3
	python3 - "$BATS_TEST_TMPDIR" <<-'PY'
		import sys, zlib
		lines = "# tracer: nop\n" + "".join("             uuu-98    (   98) [000] ...1   110.%06d: tracing_mark_write: B|98|a%d\n" % (i, i * i) for i in range(20000))
		open(sys.argv[1] + "/plain", "w").write(lines)
		for level in 0, 1, 9:
		    open(sys.argv[1] + "/z%d" % level, "wb").write(b"capturing trace... done\nTRACE:\n" + zlib.compress(lines.encode(), level))
		fixed = zlib.compressobj(9, zlib.DEFLATED, 15, 9, zlib.Z_FIXED)
		open(sys.argv[1] + "/z2", "wb").write(b"TRACE:\n" + fixed.compress(lines.encode()) + fixed.flush())
		open(sys.argv[1] + "/cut", "wb").write(b"TRACE:\n" + zlib.compress(lines.encode())[:-9])
		open(sys.argv[1] + "/utf16", "w", encoding="utf-16").write(lines)
	PY
	grep -v '^#' "$BATS_TEST_TMPDIR/plain" > "$BATS_TEST_TMPDIR/want"
	for name in z0 z1 z9 z2 utf16; do
		weft import -q -o "$made" "$BATS_TEST_TMPDIR/$name"
		weft report "$made" 2> /dev/null | grep -v '^#' | cmp "$BATS_TEST_TMPDIR/want" -
	done
	rm "$made"
	run -1 --separate-stderr weft import -o "$made" "$BATS_TEST_TMPDIR/cut"
	[[ $stderr == *"compressed text is damaged: it is cut off"* ]]
	[ ! -e "$made" ]
}

@test "import: raw_syscalls are calls, and a loss that a log tells cuts run times" {
	printf '%s\n' '             qqq-91      [000] .....    80.000100: sys_enter: NR 0 (3, 7ffd00000000, 400, 0, 0, 0)' \
		'             qqq-91      [000] .....    80.000350: sys_exit: NR 0 = 1024' > "$BATS_TEST_TMPDIR/text"
	comes_back "$BATS_TEST_TMPDIR/text"
	[[ $(weft syscalls --format csv "$made" 2> /dev/null) == *",1,"*250000* ]]
	printf '%s\n' '[   20.000003]   aaa-11        0d..2. 5000100us : sched_switch: prev_comm=aaa prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=bbb next_pid=12 next_prio=120' \
		'[   20.000004] CPU:0 [LOST 77 EVENTS]' \
		'[   20.000005]   ccc-13        0d..2. 5900200us : sched_switch: prev_comm=ccc prev_pid=13 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120' > "$BATS_TEST_TMPDIR/text"
	weft import -q -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ $(weft info "$made") == *77* ]]
	weft sched "$made" | grep -q 'broken by lost events: [1-9]'
}

# told COMMAND FILE: the tables of an analysis, without the lines that name the file or what else could be recorded.
told()
{
	weft "$@" 2> /dev/null | grep -v '^# \(longest\|wanted\)'
}

@test "import: sched and syscalls of the text of trace-cmd report are those of the recording" {
	need_command trace-cmd
	local compared=0
	for name in 6.12-events-sched 6.1-rt-events-sched 6.1-rt-event-stacktrace 6.12-events-syscalls 6.12-function_graph-event-stack; do
		# -t: with nanoseconds
		trace-cmd report -t "$golden/$name.dat" > "$BATS_TEST_TMPDIR/text" 2> /dev/null
		weft import -q --strict -o "$made" "$BATS_TEST_TMPDIR/text"
		for command in sched syscalls; do
			told $command "$golden/$name.dat" > "$BATS_TEST_TMPDIR/want" || continue
			told $command "$made" | diff "$BATS_TEST_TMPDIR/want" -
			compared=$((compared + 1))
		done
	done
	[ "$compared" -ge 5 ]
	# Marks, stacks and functions come back as the kernel prints them.
	trace-cmd report "$golden/6.12-function-stacktrace.dat" 2> /dev/null | weft import -q --strict -o "$made" -
	weft report "$made" 2> /dev/null | grep -av '^#' | tr -s ' ' > "$BATS_TEST_TMPDIR/got"
	grep -av '^#' "$golden/6.12-function-stacktrace.txt" | tr -s ' ' | sed -E 's/(-[0-9]+ \[[0-9]+\]) [^ ]{5} /\1 /; s/ <-.*//' > "$BATS_TEST_TMPDIR/want"
	diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
}

@test "import: weft graph of the text of trace-cmd report tells what that of the recording tells" {
	need_command trace-cmd jq
	for name in 6.12-function_graph 6.1-rt-function_graph; do
		trace-cmd report "$golden/$name.dat" 2> /dev/null | weft import -q --strict -o "$made" -
		graph "$golden/$name.dat" > "$BATS_TEST_TMPDIR/want"
		graph "$made" > "$BATS_TEST_TMPDIR/got"
		near "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
	done
}

@test "import: the forms of trace-cmd's plugins become the kernel's text" {
	cat > "$BATS_TEST_TMPDIR/text" <<'END'
cpus=2
CPU:1 [77 EVENTS DROPPED]
          <idle>-0     [001]     1.000100: sched_wakeup_new:     a b:c:41 [98] success=1 CPU:001
          <idle>-0     [001]     1.000200: sched_switch:         swapper/1:0 [120] R ==> a b:c:41 [98]
           a b:c-41    [001]     1.000300: sched_switch:         a b:c:41 [98] D|W ==> kworker/1:1:42 [120]
     kworker/1:1-42    [001]     1.000400: sched_switch:         kworker/1:1:42 [120] W ==> x ==> y:43 [120]
         x ==> y-43    [001]     1.000500: sched_switch:         x ==> y:43 [120] x ==> swapper/1:0 [120]
          <idle>-0     [001]     1.000600: sys_enter_getppid:
          <idle>-0     [001]     1.000700: sys_enter_clock_nanosleep: which_clock: 0x00000000, rqtp: 0x7ffc3ccef360
          <idle>-0     [001]     1.000800: sys_exit_getppid:     0x94
          <idle>-0     [001]     1.000900: function:                vfs_statx <-- vfs_fstatat
          <idle>-0     [001]     1.001000: print:                tracing_mark_write: hello
          <idle>-0     [001]     1.001100: softirq_entry:        vec=1 [action=TIMER]
          <idle>-0     [001]     1.001200: kernel_stack:         <stack trace >
=> 7fffffff
=> vfs_open (ffffffff8122ecb9)
          <idle>-0     [001]     1.001300: user_stack:           	=> 0x473bf3
	=> 0x401847
  ls-41       1d.h1.     1.001400: sched_waking:         comm=ls pid=41 prio=120 target_cpu=000
END
	weft import -q --strict -o "$made" "$BATS_TEST_TMPDIR/text"
	weft report -O noirq-info "$made" 2> /dev/null | grep -v '^#' | sed 's/^.*\]  *1\.00/ /' > "$BATS_TEST_TMPDIR/got"
	diff - "$BATS_TEST_TMPDIR/got" <<-'END'
		CPU:1 [LOST 77 EVENTS]
		 0100: sched_wakeup_new: comm=a b:c pid=41 prio=98 success=1 target_cpu=001
		 0200: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a b:c next_pid=41 next_prio=98
		 0300: sched_switch: prev_comm=a b:c prev_pid=41 prev_prio=98 prev_state=D|K ==> next_comm=kworker/1:1 next_pid=42 next_prio=120
		 0400: sched_switch: prev_comm=kworker/1:1 prev_pid=42 prev_prio=120 prev_state=I ==> next_comm=x ==> y next_pid=43 next_prio=120
		 0500: sched_switch: prev_comm=x ==> y prev_pid=43 prev_prio=120 prev_state=x ==> next_comm=swapper/1 next_pid=0 next_prio=120
		 0600: sys_getppid()
		 0700: sys_clock_nanosleep(which_clock: 0, rqtp: 7ffc3ccef360)
		 0800: sys_getppid -> 0x94
		 0900: vfs_statx <-vfs_fstatat
		 1000: tracing_mark_write: hello
		 1100: softirq_entry: vec=1 [action=TIMER]
		 1200: <stack trace>
		 => [FTRACE TRAMPOLINE]
		 => vfs_open
		 1300: <user stack trace>
		 =>  <0000000000473bf3>
		 =>  <0000000000401847>
		 1400: sched_waking: comm=ls pid=41 prio=120 target_cpu=000
	END
	# The plugin leaves out the "+" of a preempted task; nobody adds it.
	[ "$(weft export --to csv --fields event,success "$made" 2> /dev/null | grep -c 'sched_wakeup_new,1')" = 1 ]
}

@test "import: a graph's text gets no return value and no name that it does not have" {
	# funcgraph-retval since 6.5 and since 6.13; a void function has no value.
	printf '%s\n' '# tracer: function_graph' '#' ' 0)               |  outer() {' ' 0)   0.500 us    |    leaf_fn(); /* = -2 */' \
		' 0)   0.400 us    |    inner_void();' ' 0)   0.300 us    |    leaf_ok(); /* = 0x1 */' ' 0)   1.300 us    |    check_it(); /* ret=true */' \
		' 0)   0.200 us    |    inner_void();' ' 0)   1.300 us    |    check_no(); /* ret=false */' ' 0)   1.300 us    |    one(); /* ret=1 */' \
		' 0)               |    deep() {' ' 0)   0.200 us    |      inner_void();' ' 0)   1.300 us    |    } /* ret=0x5 */' ' 0)   1.300 us    |  }' \
		' 1)   0.700 us    |  inner_void();' > "$BATS_TEST_TMPDIR/text"
	comes_back "$BATS_TEST_TMPDIR/text"
	[ "$(weft graph --format json "$made" 2> /dev/null | jq -c '[.errors[] | [.function, .retval, .calls]]')" = '[["leaf_fn",-2,1]]' ]
	# Without the column of the CPU, two CPUs are mixed: one brace has a name, the others do not.
	printf '%s\n' '# tracer: function_graph' '#' '              |  a() {' '  1.000 us    |    c();' '  4.000 us    |  }' \
		'              |  a() {' '  1.000 us    |    c();' '  2.000 us    |  } /* a */' '              |  b() {' '  9.000 us    |    c();' \
		'  9.000 us    |  }' > "$BATS_TEST_TMPDIR/text"
	comes_back "$BATS_TEST_TMPDIR/text"
}

# bats test_tags=long
@test "import: sched, latency, syscalls, irq and graph tell of a text what they tell of its recording, or why not" {
	need_command python3
	local table=$BATS_TEST_DIRNAME/import-analyses compared=0 name command
	for text in "$golden"/*.txt; do
		name=$(basename "$text" .txt)
		[ -e "$golden/$name.dat" ] || continue
		weft import -q -o "$made" "$text" 2> /dev/null
		for command in sched latency syscalls irq graph; do
			status=0 other=0
			weft $command --format json "$golden/$name.dat" > "$BATS_TEST_TMPDIR/one" 2> /dev/null || status=$?
			weft $command --format json "$made" > "$BATS_TEST_TMPDIR/other" 2> /dev/null || other=$?
			[ "$status" = "$other" ]
			[ -s "$BATS_TEST_TMPDIR/one" ] || continue
			python3 "$BATS_TEST_DIRNAME/import-analyses.py" "$table" "$name" $command "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/other" \
				2>> "$BATS_TEST_TMPDIR/used"
			compared=$((compared + 1))
		done
	done
	[ "$compared" -ge 18 ]
	# Each reason is of use.
	[ "$(sort -u "$BATS_TEST_TMPDIR/used" | wc -l)" = "$(grep -vc '^#' "$table")" ]
}

@test "import: latency and sched of the lines that the tracer wakeup_rt writes itself, unless there are events of sched" {
	printf '%s\n' '# tracer: wakeup_rt' '#' \
		'  <idle>-0       2d.h4.    0us+:      0:120:R   + [002]   711: 19:S ooo' \
		'  <idle>-0       2d..3.   90us : __schedule' \
		'  <idle>-0       2d..3.   91us!:      0:120:R ==> [002]   711: 19:R ooo' \
		'     ooo-711     2d..3.  491us :    711: 19:S ==> [002]     0:120:R <idle>' > "$BATS_TEST_TMPDIR/text"
	weft import -q -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ $(weft latency --format json "$made" 2> /dev/null) == *'"delay_ns":9'[01]*',"comm":"ooo","pid":711,"prio":19,"cpu":2,'* ]]
	# It ran from 91 us to 491 us, and then went to sleep.
	[[ $(weft sched --table tasks --format csv "$made" 2> /dev/null) =~ ooo,711,19,(399|400)[0-9]{3},9[01][0-9]{3},[^$'\n']*,1,0,1,0,1, ]]
	printf '%s\n' '# tracer: wakeup_rt' '#' \
		'  <idle>-0       [002] d.h4.    1.000000: sched_wakeup: comm=ooo pid=711 prio=19 target_cpu=002' \
		'  <idle>-0       [002] d.h4.    1.000000:      0:120:R   + [002]   711: 19:S ooo' \
		'  <idle>-0       [002] d..3.    1.000091:      0:120:R ==> [002]   711: 19:R ooo' \
		'  <idle>-0       [002] d..3.    1.000092: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=ooo next_pid=711 next_prio=19' \
		'     ooo-711     [002] d..3.    1.000200:    711: 19:S ==> [002]     0:120:R <idle>' \
		'     ooo-711     [002] d..3.    1.000492: sched_switch: prev_comm=ooo prev_pid=711 prev_prio=19 prev_state=S ==> next_comm=swapper/2 next_pid=0 next_prio=120' > "$BATS_TEST_TMPDIR/text"
	weft import -q -o "$made" "$BATS_TEST_TMPDIR/text"
	# The tracer's line stands in only until the first sched_switch: that of 1.000200 no longer counts.
	[[ $(weft sched --table tasks --format csv "$made" 2> /dev/null) =~ ooo,711,19,401000, ]]
}

@test "import: a latency text without its header comes back without the kernel's lines of a latency" {
	printf '%s\n' '# tracer: wakeup_rt' '#' \
		'  <idle>-0       2d.h4.    0us+:      0:120:R   + [002]   711: 19:S ooo' \
		'  <idle>-0       2d..3.   91us : __schedule' > "$BATS_TEST_TMPDIR/text"
	weft import -q -o "$made" "$BATS_TEST_TMPDIR/text"
	weft report "$made" > "$BATS_TEST_TMPDIR/back"
	run -1 grep -E '^# (latency:|   \| task:|wakeup_rt latency trace)' "$BATS_TEST_TMPDIR/back"
	diff <(grep -v '^#' "$BATS_TEST_TMPDIR/text") <(grep -v '^#' "$BATS_TEST_TMPDIR/back")
}

@test "import: times that go back on a CPU are told, and the lines stay in their order" {
	printf '%s\n' '  ppp-81 [001] d..2. 60.000000: one: 1' '  ppp-81 [001] d..2. 150.000000: one: 2' '  ppp-81 [001] d..2. 60.100000: one: 3' \
		> "$BATS_TEST_TMPDIR/text"
	run --separate-stderr -0 weft import -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ "$stderr" == *"note: 1 line has a time before that of an earlier line of the same CPU"* ]]
	[ "$(weft report "$made" | sed -n 's/.*: one: //p' | tr -d '\n')" = 123 ]
	sed -i 2d "$BATS_TEST_TMPDIR/text"
	run --separate-stderr -0 weft import -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ "$stderr" != *"a time before"* ]]
}

# imports TEXT: `made` is the recording, and its report has every line of the text.
imports()
{
	cat > "$BATS_TEST_TMPDIR/text"
	weft import -q -o "$made" "$BATS_TEST_TMPDIR/text" 2> /dev/null
	weft report "$made" 2> /dev/null | grep -v '^#' | diff - "$BATS_TEST_TMPDIR/text"
}

@test "import: requests of disks have fields, also those with a priority of 6.11 and later: one read of 2 ms, no other pair" {
	need_command jq
	for priority in '' ' be,0,4'; do
		imports <<- END
			        writer_1-5402    [002] d..1  8018.233160: block_rq_insert: 65,192 WS 8192 () 184067232 + 16$priority [writer_1]
			        writer_1-5402    [002] d..1  8018.233161: block_rq_issue: 65,192 WS 8192 () 184067232 + 16$priority [writer_1]
			        reader_3-5404    [004] d..1  8100.000000: block_rq_issue: 65,192 R 8192 () 184067232 + 16$priority [reader_3]
			        reader_3-5404    [004] d.s1  8100.002000: block_rq_complete: 65,192 R () 184067232 + 16$priority [0]
			        reader_3-5404    [004] d.s1  8108.333833: block_rq_complete: 65,192 R () 999 + 16$priority [0]
		END
		[ "$(weft block --format json "$made" 2> /dev/null | jq -r '.requests[] | "\(.device) \(.operation) \(.requests) \(.bytes) \(.d2c_ns)"')" = "65:192 read 1 8192 2000000" ]
	done
	imports <<- 'END'
		              dd-70      [001] ...1.     9.000001: block_bio_queue: 8,1 WS 2048 + 8 [dd]
		              dd-70      [001] ...1.     9.000002: block_bio_remap: 8,0 WS 4096 + 8 <- (8,1) 2048
		              dd-70      [001] ...1.     9.000003: block_split: 8,0 W 4096 / 4104 [dd]
		              dd-70      [001] d.s1.     9.000004: block_bio_complete: 8,0 WS 4096 + 8 [-5]
	END
	[ "$(weft export --to csv --fields event,dev,sector,old_dev,error "$made" | tail -n +2 | paste -sd ' ')" = \
		"block_bio_queue,8388609,2048,, block_bio_remap,8388608,4096,8388609, block_split,8388608,4096,, block_bio_complete,8388608,4096,,-5" ]
}

@test "import: lines that are all cut at one length, and the time of day that atrace wrote, are told" {
	printf '%s\n' '        worker_a-431     [000] d..2.    10.000100: sched_switch: prev_comm=worke' \
		'        worker_b-432     [000] d..2.    10.000300: sched_switch: prev_comm=worke' \
		'        worker_b-432     [000] d..2.    10.000400: irq_handler_entry: irq=30 nam' > "$BATS_TEST_TMPDIR/text"
	run --separate-stderr -0 weft import -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ "$stderr" == *"note: the longest lines are all of 80 characters and lack the end of their events"* ]]
	# A longer line was not cut there.
	printf '%s\n' '        worker_b-432     [000] d..2.    10.000500: irq_handler_entry: irq=30 name=disk_of_the_host' >> "$BATS_TEST_TMPDIR/text"
	run --separate-stderr -0 weft import -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ "$stderr" != *"the longest lines"* ]]

	# 1700000000 s are 2023-11-14 22:13:20 UTC, as date -u -d @1700000000 says.
	printf '%s\n' '          atrace-500     [000] ...1.  1000.000100: tracing_mark_write: trace_event_clock_sync: realtime_ts=1700000000000' \
		'        renderer-7363    [001] ...1.  1002.000100: tracing_mark_write: B|7360|draw' > "$BATS_TEST_TMPDIR/text"
	run --separate-stderr -0 weft import -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ "$stderr" == *"says that 1000.000100 was 2023-11-14 22:13:20.000 UTC: 'weft report --time wall "* ]]
	TZ=UTC weft report --time wall "$made" | grep -F ': tracing_mark_write: B|7360|draw' | grep -F '22:13:22.000'
	[[ "$(TZ=UTC weft info "$made")" == *"from 2023-11-14 22:13:20."*" (UTC), to +-"*" ms"* ]]
}

@test "import: the scheduler's events of 2.6.30, and those with a vendor's field, have fields; cut ones do not, and sched says so" {
	need_command jq
	local row='.tasks[] | select(.run_ns > 100000) | "\(.comm) \(.run_ns) \(.delay_max_ns)"'
	imports <<- 'END'
		           idle1-2520  [001]    163.933390: sched_wakeup: task migration/1:6 [0] success=1 [001]
		           idle1-2520  [001]    163.933396: sched_switch: task idle1:2520 [120] (R) ==> migration/1:6 [0]
		     migration/1-6     [001]    163.934396: sched_switch: task migration/1:6 [0] (S) ==> idle1:2520 [120]
	END
	[ "$(weft sched --format json "$made" 2> /dev/null | jq -r "$row")" = "migration/1 1000000 6000" ]
	imports <<- 'END'
		        worker_a-431     [000] d..2    10.000100: sched_switch: prev_comm=worker_a prev_pid=431 prev_prio=120 prev_state=D ==> next_comm=worker_b next_pid=432 next_prio=120 extra_prio=0 mask=0xf
		        worker_b-432     [000] d..2    10.000300: sched_switch: prev_comm=worker_b prev_pid=432 prev_prio=120 prev_state=S ==> next_comm=worker_a next_pid=431 next_prio=120 extra_prio=7 mask=0xf
	END
	[ "$(weft sched --format json "$made" 2> /dev/null | jq -r "$row")" = "worker_b 200000 null" ]
	[ "$(weft export --to csv --fields next_pid,extra_prio,mask "$made" | tail -n +2 | paste -sd ' ')" = "432,0,15 431,7,15" ]
	imports <<- 'END'
		        worker_a-431     [000] d..2.    10.000100: sched_switch: prev_comm=worke
		        worker_b-432     [000] d..2.    10.000300: sched_switch: prev_comm=worke
	END
	run -1 weft sched "$made"
	[[ $output == *"no line of sched_switch in the imported text has its fields: these lines are cut"* && $output != *"there is no"* ]]
}

@test "import, syscalls: an exit with the number -1 ends a sigreturn, whatever the machine is" {
	need_command jq
	cat > "$BATS_TEST_TMPDIR/text" <<- 'END'
		       worker  5375 [007] 59632.478528:   raw_syscalls:sys_enter: NR 1 (3, 9fb888, 8, 2d83740, 1, 7ffff)
		       worker  5375 [007] 59632.478532:    raw_syscalls:sys_exit: NR 1 = 8
		       worker  5375 [007] 59632.478538:   raw_syscalls:sys_enter: NR 15 (11, 7ffffca734b0, 7ffffca73380, 2d83740, 1, 7ffff)
		       worker  5375 [007] 59632.478539:    raw_syscalls:sys_exit: NR -1 = 8
		       worker  5375 [007] 59632.478550:   raw_syscalls:sys_enter: NR 1 (3, 9fb888, 8, 2d83740, 1, 7ffff)
		       worker  5375 [007] 59632.478560:    raw_syscalls:sys_exit: NR 1 = 8
	END
	weft import -q -o "$made" "$BATS_TEST_TMPDIR/text" 2> /dev/null
	weft syscalls --format json "$made" > "$BATS_TEST_TMPDIR/json" 2> /dev/null
	[ "$(jq -r '.syscalls[] | "\(.nr) \(.calls) \(.total_ns)"' "$BATS_TEST_TMPDIR/json" | paste -sd ' ')" = "1 2 14000 15 1 1000" ]
	[ "$(jq .broken "$BATS_TEST_TMPDIR/json")" = null ]
	[ "$(weft sql --format csv "$made" 'select name, dur from slice order by ts' | tr -d '\r' | tail -n +2 | paste -sd ' ')" = "sys_1,4000 sys_15,1000 sys_1,10000" ]
}

@test "import: numbered steps in a mail are no lost events" {
	cat > "$BATS_TEST_TMPDIR/text" <<- 'END'
		 1) load the module
		 2) open /dev/widget twice (or more)
		             cat-412     [001] d..2.   61.000100: sched_waking: comm=sh pid=62 prio=120 target_cpu=001
	END
	run -0 weft import -o "$made" "$BATS_TEST_TMPDIR/text"
	[[ $output == *"2 lines are no events: 2 of other text"* ]]
}

@test "import, report: a text that is refused is called by its name, with the way out" {
	cd "$BATS_TEST_TMPDIR"
	printf '# tracer: mmiotrace\n#\nVERSION 20070824\nMAP 1.000100 1 0xfebf0000 0xffffc90000 0x1000 0x0 0\nR 4 1.000123 1 0xfebf0000 0x1 0x0 0\n' > mmio
	printf '# DURATION     TID     FUNCTION\n            [ 12345] | main() {\n   1.234 us [ 12345] |   a();\n   3.456 us [ 12345] | } /* main */\n' > uftrace
	printf 'execve("/bin/true", ["true"], 0x7ffe /* 20 vars */) = 0\nbrk(NULL)                               = 0x55\n' > strace
	printf 'perf     0 [000]  1234.567890:          1   cycles: \n\tffffffff81000000 foo ([kernel.kallsyms])\n' > perf
	run -1 weft import -o x.dat mmio
	[[ "$output" == *"those of the tracer mmiotrace"*"'weft record -p mmiotrace'"* ]]
	run -1 weft import -o x.dat uftrace
	[[ "$output" == *"those of uftrace"*"'uftrace dump --chrome'"* ]]
	run -1 weft import -o x.dat strace
	[[ "$output" == *"those of strace"*"'weft syscalls --trace'"* ]]
	run -1 weft import -o x.dat perf
	[[ "$output" == *"those of perf script"*"perf script -F "* ]]
	[ ! -e x.dat ]
	run -1 weft report mmio
	[[ "$output" == *"text of the tracer mmiotrace"* ]]
	for text in uftrace strace perf; do
		run -1 weft report $text
		[[ "$output" == *"it is a text; 'weft import' makes one of"* ]]
	done
	# A real one can be imported, as report says.
	cp "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.txt" trace
	run -1 weft report trace
	[[ "$output" == *"of which 'weft import' makes one"* ]]
	weft import -q -o x.dat trace
}

# The times of the events that weft makes of a text, in ns.
times_of()
{
	weft import -q "$@" -o "$BATS_TEST_TMPDIR/times.dat" -
	weft export -q --to jsonl -o - "$BATS_TEST_TMPDIR/times.dat" 2> /dev/null | grep -o '^{"ts":[0-9]*' | cut -d : -f 2 | xargs
}

@test "import: times of seven to nine digits are kept, in every form of the text and of logs" {
	[ "$(times_of <<- 'EOF'
		# tracer: nop
		#
		              sh-10    [000] .....     1.0100001: sched_waking: comm=sh pid=7 prio=120 target_cpu=000
		              sh-10      (     10) [000] .....     1.01000012: sched_waking: comm=sh pid=7 prio=120 target_cpu=000
		              sh-10    [000]     1.010000123: sched_waking: comm=sh pid=7 prio=120 target_cpu=000
		[    1.010000] sh-10    [000] .....     1.010000124: tracing_mark_write: B|10|x
	EOF
	)" = "1010000100 1010000120 1010000123 1010000124" ]
	[ "$(times_of <<- 'EOF'
		cpus=2
		              sh-10    [000]     1.0100001: sched_waking:         comm=sh pid=7 prio=120 target_cpu=000
		              sh-10    [000] d..2.     1.010000123: sched_waking:         comm=sh pid=7 prio=120 target_cpu=000
	EOF
	)" = "1010000100 1010000123" ]
	[ "$(times_of <<- 'EOF'
		sh    10 [000]     1.010000123: sched:sched_waking: comm=sh pid=7 prio=120 target_cpu=000
	EOF
	)" = 1010000123 ]
	[ "$(times_of <<- 'EOF'
		# tracer: function_graph
		#
		   23.498724123 |   0)               |  bar() {
		   23.4987261 |   0)   1.977 us    |  }
	EOF
	)" = "23498724123 23498726100" ]
	# Containers write nine digits.
	[ "$(times_of --log <<- 'EOF'
		2026-11-30T22:00:00.123456789Z app: one
		2026-11-30T22:00:00.1234568Z app: two
		2026-11-30T22:00:00,5Z app: three
	EOF
	)" = "1796076000123456789 1796076000123456800 1796076000500000000" ]
}

@test "import: stacks --on-cpu of a text says that a text has no samples" {
	printf '# tracer: nop\n#\n              sh-10    [000] .....     1.010000: tracing_mark_write: x\n' |
		weft import -q -o "$BATS_TEST_TMPDIR/t.dat" -
	run -1 weft stacks --on-cpu "$BATS_TEST_TMPDIR/t.dat"
	[[ "$output" == *"it was imported from a text, which has none; 'weft stacks' without --on-cpu counts the stacks of its events" ]]
}
