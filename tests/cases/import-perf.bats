#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft import of a perf.data. perf_data.py writes small ones by the description of the format; perf itself is the judge where it is installed.
load lib

setup()
{
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# made WORD...: imports such a file
made()
{
	rm -rf p.data
	python3 "$BATS_TEST_DIRNAME/perf_data.py" p.data "$@"
	run --separate-stderr weft import -o p.dat p.data
}

# What the file has, in the order of time, with 1 subtracted from the preempt counts.
events='           first-100     [000] d....     0.001001: sched_switch: prev_comm=first prev_pid=100 ==> next_comm=second next_pid=200
          <idle>-0       [001] d.s..     0.001002: sched_switch: prev_comm=swapper/1 prev_pid=0 ==> next_comm=other next_pid=400
          second-200     [000] d....     0.001002: sched_switch: prev_comm=second prev_pid=200 ==> next_comm=first next_pid=300
           first-300     [000] dn.1.     0.001003: sched_switch: prev_comm=first prev_pid=300 ==> next_comm=second next_pid=200'

@test "import: a perf.data is read as a file, a pipe, a directory, compressed and of either byte order" {
	need_command zstd
	for words in "" big pipe zstd "pipe zstd" "big pipe" noid mono threads ordered "ordered big pipe" "ordered threads"; do
		echo "$words"
		# shellcheck disable=SC2086 # words
		made $words
		[ "$status" = 0 ]
		[[ "$stderr" == "weft: p.dat: 4 events, 0 lost, "* ]]
		[ "$(weft report p.dat | grep -v '^#')" = "$events" ]
		weft check p.dat
	done
	run -0 weft info p.dat
	[[ "$output" == *"Linux machine 6.1.0-test x86_64"* ]]
	[[ "$output" == *"clock perf"* ]]
	python3 "$BATS_TEST_DIRNAME/perf_data.py" mono.data mono
	weft import -q -o mono.dat - < mono.data
	[[ "$(weft info mono.dat)" == *"clock mono"* ]]
}

@test "import: a task of a perf.data has at each event the name that it had then" {
	made renamed
	[ "$status" = 0 ]
	[ "$(weft export --to csv --fields comm p.dat | tail -n 2 | tr '\n' ' ')" = "second later " ]
	weft split -q -o part.dat p.dat
	[ "$(weft export --to csv --fields comm part.dat | tail -n 2 | tr '\n' ' ')" = "second later " ]
	# The kernel's text and other programs have its last name.
	[ "$(weft report p.dat | awk '!/^#/ { print $1 }' | tail -n 2 | tr '\n' ' ')" = "later-200 later-200 " ]
}

@test "import: what reads a recording takes a perf.data, and says what it lacks" {
	for words in "" big pipe zstd "big pipe" renamed stack lost; do
		# shellcheck disable=SC2086 # words
		made $words
		weft report p.data > direct 2> notes
		weft report p.dat | diff direct -
		[ "$(cat notes)" = "$(tail -n +2 <<< "$stderr")" ]
	done
	made tasks
	run -0 --separate-stderr weft sched --format csv --table tasks p.data
	[ "$stderr" = "weft: note: only what some tasks did was recorded (without -a): who woke them, who had the CPU meanwhile, and interrupts elsewhere are not in the file" ]
	[ "$output" = "$(weft sched --format csv --table tasks p.dat)" ]
	weft report - < p.data 2> /dev/null | diff - <(weft report p.dat)
	made samples
	run -0 --separate-stderr weft report --no-sandbox p.data
	[[ "$stderr" == *"1 sample of cpu-clock is no event of a tracepoint"* ]]
	made threads
	run -1 weft report p.data
	[[ "$output" == *"'p.data' is a directory"* ]]
}

@test "import: stacks of a perf.data are the kernel's stack events behind theirs, with names of --kallsyms" {
	made stack
	[ "$status" = 0 ]
	hint="note: a perf.data has no names of the kernel's functions, so $(weft report p.dat | grep -c '<stack trace>') stack*: 'weft import --kallsyms FILE' names them, *"
	[[ "$stderr" == *$hint* ]]
	run -0 --separate-stderr weft stacks p.data
	[[ "$stderr" == *$hint* ]]
	run -0 weft report p.dat
	[[ "$output" == *"first-100     [000] d....     0.001001: <stack trace>
 => 0xffffffff81000010
 => 0xffffffff81000020
           first-100     [000] d....     0.001001: <user stack trace>
 =>  <0000000000401000>
 =>  <0000000000402000>"* ]]
	printf 'ffffffff81000000 T one\nffffffff81000018 T two\nffffffff81001000 T end\n' > symbols
	run -0 --separate-stderr weft import --kallsyms symbols -o named.dat p.data
	[[ "$stderr" != *"names of the kernel"* ]]
	[[ "$(weft report named.dat)" == *"<stack trace>
 => one
 => two
"* ]]
	run -1 weft import --kallsyms symbols -o n.dat /dev/null
	[[ "$output" == *"--kallsyms is of a perf.data, and '/dev/null' is none"* ]]
}

@test "import: lost events of a perf.data stand where they were lost, and are not counted twice" {
	made lost
	[ "$status" = 0 ]
	[[ "$stderr" == "weft: p.dat: 4 events, 7 lost, "* ]]
	[ "$(weft report p.dat | grep -A1 LOST)" = "CPU:0 [LOST 7 EVENTS]
${events##*$'\n'}" ]
	[ "$(weft report p.dat | grep -v '^[#C]')" = "$events" ]
}

@test "import: events of a perf.data in the order of time are as those that are sorted" {
	for words in stack lost samples twice "big stack" zero repeat "stack repeat" "lost repeat" "big repeat" "twice repeat"; do
		for order in ordered ""; do
			# shellcheck disable=SC2086 # words
			made $words $order
			[ "$status" = 0 ]
			weft report p.dat > "events$order"
			echo "$stderr" >> "events$order"
		done
		diff events eventsordered
	done
	# One count of 0 says that no count is one too high.
	made zero
	[[ "$(weft report p.dat | grep prev_pid=100)" == *" d..1. "* ]]
}

# told WORD TEXT: importing such a file says this, and succeeds
told()
{
	made "$1"
	[ "$status" = 0 ]
	[[ "$stderr" == *"weft: note: $2"* ]] || { echo "$stderr"; return 1; }
	[ "$(weft report p.dat | grep -v '^#')" = "$events" ]
}

@test "import: what a perf.data lacks is told" {
	told freq "sched:sched_switch was sampled at a frequency (-F)"
	told count "one of 10 events of sched:sched_switch was recorded (-c)"
	told tasks "only what some tasks did was recorded (without -a)"
	told filter "its command line has --filter"
	told twice "1 event was recorded twice"
	told repeat "3 events stand in the file twice, as perf wrote a piece of a buffer once more: each is there once"
	told alone "1 event stands in the file twice, as perf wrote a piece of a buffer once more: each is there once"
	told samples "1 sample of cpu-clock is no event of a tracepoint"
	told rawless "1 sample of sched:sched_waking is no event of a tracepoint"
	made pipe cut
	[ "$status" = 0 ]
	[[ "$stderr" == *"the file has no end, as of a recorder that was killed"* ]]
	[ "$(weft report p.dat | grep -v '^#')" = "$events" ]
}

@test "import: an event that is alone in what perf wrote again is there once; equal ones of one round stay" {
	for words in "" big stack zstd ordered twice "ordered stack"; do
		# shellcheck disable=SC2086 # words
		made $words
		weft report p.dat > once
		# shellcheck disable=SC2086 # words
		made $words alone
		[[ "$stderr" == *"note: 1 event stands in the file twice"* ]]
		weft report p.dat | diff once -
		# There it is one that comes late.
		[ "$words" != twice ] || continue
		# shellcheck disable=SC2086 # words
		made $words same
		[[ "$stderr" != *"stands in the file twice"* ]]
		[ "$(weft report p.dat | grep -c sched_switch)" = "$(($(grep -c sched_switch once) + 1))" ]
	done
}

@test "import: --samples makes events with stacks of samples that are no tracepoints" {
	python3 "$BATS_TEST_DIRNAME/perf_data.py" p.data samples stack
	run -0 weft import --samples -o p.dat p.data
	[[ "$output" == "weft: p.dat: 5 events, 0 lost, "* ]]
	run -0 weft report -e cpu_clock p.dat
	[[ "$output" == *": cpu_clock: ip="*" period="* ]]
	python3 "$BATS_TEST_DIRNAME/perf_data.py" p.data rawless stack
	run -0 weft import --samples -o p.dat p.data
	[[ "$output" == "weft: p.dat: 5 events, 0 lost, "* ]]
	[[ "$(weft report -t p.dat)" == *": sched_sched_waking: ip="* ]]
	run -1 weft import --samples -o n.dat /dev/null
	[[ "$output" == *"--samples is of a perf.data, and '/dev/null' is none"* ]]
}

@test "import: as many samples as perf script prints, and the callers that it prints" {
	need_command perf
	# A fifth of a second and more: hundreds of samples, however fast the machine is.
	perf record -q -a -g -F 500 -e cpu-clock -o own.data -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; ls -R /etc > /dev/null' ||
		skip "perf cannot record here"
	run -1 weft import -o own.dat own.data
	[[ "$output" == *"only "*" samples of cpu-clock, which are none; weft import --samples imports them"* ]]
	weft import -q --samples -o own.dat own.data
	perf script --ns -F tid,cpu,time,period -i own.data 2> /dev/null | sed -nE 's/^ *(-?[0-9]+) \[([0-9]+)\] +([0-9.]+): +([0-9]+) *$/\1 \2 \3 \4/p' | sort > perf.txt
	weft report -t own.dat | sed -nE 's/^.*[^0-9]-?(-?[0-9]+) +\[([0-9]+)\] [^ ]+ +([0-9.]+): cpu_clock: ip=.* period=([0-9]+)$/\1 \2 \3 \4/p' | sort > weft.txt
	[ "$(wc -l < weft.txt)" -gt 5 ]
	cut -d' ' -f2- perf.txt | sort | diff - <(cut -d' ' -f2- weft.txt | sort)
}

@test "import: --samples takes what perf record writes without -a, where samples have no CPU" {
	need_command perf
	perf record -q -g -F 500 -e cpu-clock -o own.data -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done' ||
		skip "perf cannot record here"
	nr=$(perf script -F tid,time -i own.data 2> /dev/null | grep -c .)
	[ "$nr" -gt 5 ]
	run -0 weft import --samples -o own.dat own.data
	[[ "$output" == *"note: $nr samples without a CPU (perf record without -a): all are on CPU 0"* ]]
	[ "$(weft report own.dat | grep -c ' \[000\] .* cpu_clock: ip=')" = "$nr" ]
	# Without the option, any reader names the command that has it; with it, weft stacks reads the file.
	for command in summary stacks sched; do
		run -1 weft $command own.data
		[[ "$output" == *"; weft import --samples imports them"* ]]
	done
	run -0 weft stacks own.dat
	[[ "$output" == *cpu_clock* ]]
	run -1 weft stacks --on-cpu own.dat
	[[ "$output" == *"samples that perf took are events, and 'weft stacks' without --on-cpu counts them"* ]]
}

@test "info and check tell of a perf.data, and not of what weft makes of it to read it" {
	for words in "" big pipe; do
		# shellcheck disable=SC2086 # words
		made $words
		run -0 --separate-stderr weft info p.data
		[[ "$output" == *"format     perf.data, "*"size       "*" ($(stat -c %s p.data) bytes)"*"recorded by perf 6.1.9"* ]]
		[[ "$output" != *Sections* && "$output" != *trace.dat* ]]
		[ "$(weft info --format json p.data 2> /dev/null | jq .size_bytes)" = "$(stat -c %s p.data)" ]
		run -0 --separate-stderr weft check p.data
		[ "$output" = "p.data: ok, a perf.data, 4 events" ]
	done
	[[ "$(weft info p.dat)" == *"format     trace.dat version 7"*"recorded by perf 6.1.9"*Sections* ]]
}

@test "import: a trace of Perfetto is refused with the line that makes a text of it" {
	weft export --to perfetto -q -o t.pftrace "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat"
	for command in "import -o x.dat" report; do
		run -1 weft $command t.pftrace
		[[ "$output" == *"looks like a trace of Perfetto; 'traceconv systrace FILE - | weft import -o trace.dat -' makes a trace.dat of it"* ]]
	done
	printf '\n\n\n# a text\n' > text
	run -1 weft report text
	[[ "$output" == *"it is a text"* ]]
}

@test "import: a perf.data of a killed recorder takes the formats of another file" {
	made
	[ "$status" = 0 ]
	mv p.dat whole.dat
	made killed
	[ "$status" = 1 ]
	[[ "$stderr" == *"it has no formats of its 3 events, as its recorder was killed; --formats-from FILE takes them"* ]]
	[ ! -e p.dat ]
	run -0 weft import --formats-from whole.dat -o p.dat p.data
	# The last event is cut.
	[ "$(weft report p.dat | grep -v '^#')" = "$(grep -v idle <<< "$events")" ]
}

@test "import: a damaged perf.data is read up to the damage; other programs' files name the way" {
	made sizezero
	[ "$status" = 1 ]
	[[ "$stderr" == *"is damaged: the record at "*" has 0 bytes"* ]]
	[ "$(weft report p.dat | grep -v '^#')" = "$events" ]
	run -1 weft report p.data
	[[ "$output" == "weft: 'p.data': it is damaged: the record at "*"; 'weft import' makes a recording of what is before that" ]]
	need_command zstd
	made bomb
	[ "$status" = 1 ]
	[[ "$stderr" == *"compressed data becomes more than 1000 times as large"* ]]
	run -1 weft report --decode p.data
	[[ "$output" == *"it is a perf.data, of which 'weft import' makes one"* ]]
	mkdir empty
	run -1 weft import -o e.dat empty
	[[ "$output" == *"'empty' has no file 'data', as a directory of perf record has"* ]]
	ln -s /dev/zero empty/data
	run -1 weft import -o e.dat empty
}

# as_often PERF WEFT: events, a line each, are the same in both files, and as often there. perf may have written some twice: import says
# how many it has left out, in `said`.
as_often()
{
	diff <(sort -u "$1") <(sort -u "$2")
	[ "$(($(wc -l < "$2") + $(sed -nE 's/.*note: ([0-9]+) events? stands? in the file twice.*/\1/p' said | grep . || echo 0)))" = "$(wc -l < "$1")" ]
}

@test "import: perf script prints the same events of what perf has recorded" {
	need_command perf
	perf record -q -a -o own.data -e 'sched:*' -e 'raw_syscalls:*' -- sh -c 'for i in 1 2 3 4 5 6 7 8; do ls / > /dev/null; done' || skip "perf cannot record here"
	weft import -o own.dat own.data 2> said
	perf script --ns -F tid,cpu,time,event,trace -i own.data 2> /dev/null | sed -E 's/^ *-?[0-9]+ \[([0-9]+)\] +([0-9.]+): +[a-z_]+:([a-z_]+): +/\1 \2 \3: /; s/ +$//' > perf.txt
	weft report -t own.dat | sed -nE 's/^.*-[0-9]+ +\[([0-9]+)\] [^ ]+ +([0-9.]+): ([a-z_]+): */\1 \2 \3: /p' | sed -E 's/ +$//' > weft.txt
	[ "$(wc -l < weft.txt)" -gt 20 ]
	as_often perf.txt weft.txt
}

@test "import: the fields of events are those of perf's own scripts" {
	need_command perf
	perf record -q -a -o own.data -e 'sched:*' -e 'irq:*' -- sh -c 'for i in 1 2 3 4 5 6 7 8; do ls / > /dev/null; done' || skip "perf cannot record here"
	cat > fields.py <<'EOF'
import json, re
# perf tells an int of -1 as 4294967295, although the format of the event, which the file has, says that it has a sign.
data = open("own.data", "rb").read()
bits = {}
for begin in re.finditer(rb"name: (\w+)\nID: \d+\nformat:\n", data):
    text = data[begin.end() : data.index(b"print fmt", begin.end())]
    for name, size, sign in re.findall(rb"(\w+)(?:\[\d*\])?;\toffset:\d+;\tsize:(\d+);\tsigned:(\d)", text):
        bits[begin[1].decode(), name.decode()] = 8 * int(size) * int(sign)
def trace_unhandled(event, context, fields):
    of = {}
    for name, value in fields.items():
        size = bits.get((event.partition("__")[2], name), 0)
        if not name.startswith("common_"):
            of[name] = value - 2**size if size and isinstance(value, int) and value >= 2 ** (size - 1) else value
    time = fields["common_s"] * 10**9 + fields["common_ns"]
    lines.write(json.dumps([event, time, fields["common_cpu"], of], sort_keys=True) + "\n")
lines = open("perf.txt", "w")
def trace_end():
    lines.close()
EOF
	perf script -s fields.py -i own.data 2> /dev/null || skip "this perf has no Python"
	weft import -o own.dat own.data 2> said
	weft report --format json own.dat | python3 -c '
import json, sys
for line in sys.stdin:
    e = json.loads(line)
    print(json.dumps([e["system"] + "__" + e["event"], e["ts"], e["cpu"], e["fields"]], sort_keys=True))' > weft.txt
	[ "$(wc -l < weft.txt)" -gt 20 ]
	as_often perf.txt weft.txt
}

# bats test_tags=long
@test "import: a perf.data of 512 MB and 128 CPUs is sorted in 64 MB of memory" {
	python3 "$BATS_TEST_DIRNAME/perf_data.py" p.data
	# The samples of a file of two CPUs, again and again, each second CPU's against the order of time.
	python3 - <<'EOF'
import struct
data = bytearray(open("p.data", "rb").read())
begin, size = struct.unpack_from("<QQ", data, 40)
at = begin
while struct.unpack_from("<I", data, at)[0] != 9:
    at += struct.unpack_from("<H", data, at + 6)[0]
sample = data[at : at + struct.unpack_from("<H", data, at + 6)[0]]
written = 0
with open("many.data", "wb") as out:
    # The size of the records is 0, as of a recorder that was killed; the formats are those of the file before.
    out.write(data[:48] + bytes(8) + data[56:begin])
    while written < 512 << 20:
        for cpu in range(128):
            for i in range(64):
                time = 10**9 + written // len(sample) * 1000 + (63 - i if cpu % 2 else i) * 1000
                struct.pack_into("<QI", sample, 32, time, cpu)
                out.write(sample)
        written += 128 * 64 * len(sample)
EOF
	weft import -q -o p.dat p.data
	run -0 /usr/bin/time -f 'memory %M' weft import --formats-from p.dat -o many.dat many.data
	[[ "$output" == *"many.dat: 4,481,024 events, 0 lost, "* ]] || { echo "$output"; return 1; }
	memory=${output##*memory }
	[ "$memory" -lt 65536 ]
	[ "$memory" -gt 16384 ]
}
