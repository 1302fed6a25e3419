#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# libweft: what a program gets through include/weft/weft.h is what weft report prints, and the library does nothing else.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
demo=$BATS_TEST_DIRNAME/../fixtures/demo.dat
CC=${CC:-gcc}

# build SOURCE NAME [FLAG...]: a program of the tree with the shared library of the build
build()
{
	local source=$1 name=$2
	shift 2
	"$CC" -O1 -g -Wall -Wextra -Werror -Iinclude "$@" -o "$BATS_TEST_TMPDIR/$name" "$source" -L"$BUILD" -lweft -Wl,-rpath,"$BUILD"
}

# same_texts FILE: JSON, fields and, where each event has a line of its own, the lines are those of weft report
same_texts()
{
	local file=$1 dump=$BATS_TEST_TMPDIR/dump out=$BATS_TEST_TMPDIR/out
	"$WEFT" report --format json "$file" > "$out.json" || true
	"$dump" json "$file" > "$out.api" || true
	cmp "$out.json" "$out.api" || { echo "JSON of $file"; diff "$out.json" "$out.api" | head -n 4; return 1; }
	tests/api/fields < "$out.json" > "$out.want"
	"$dump" fields "$file" > "$out.api" || true
	# A byte that JSON cannot hold is not compared.
	awk -F '\t' 'FNR == NR { want[FNR] = $0; next } { n = split(want[FNR], w, "\t"); same = n == NF
		for (i = 2; same && i <= NF; i++) same = w[i] == $i || w[i] ~ /=x\?$/
		split(w[1], a, " "); split($1, b, " "); if (a[4] == "?") { a[4] = b[4]; w[1] = a[1] " " a[2] " " a[3] " " a[4] " " a[5] " " a[6] }
		if (!same || w[1] != $1) { print "fields of event " FNR ": " want[FNR] " and " $0; bad = 1; exit } }
		END { if (!bad && FNR != length(want)) { print FNR " events, not " length(want); bad = 1 } exit bad }' "$out.want" "$out.api" ||
		{ echo "in $file"; return 1; }
}

@test "api: events, fields and texts are those of weft report" {
	build tests/api/dump.c dump
	need_command python3
	for file in "$golden"/*.dat "$demo"; do
		same_texts "$file"
	done
}

@test "api: events, fields and texts of files from elsewhere, and with threads, are those of weft report" {
	need_shared samples
	need_command python3
	build tests/api/dump.c dump
	for file in "$SHARED"/samples/*.dat; do
		same_texts "$file"
		"$BATS_TEST_TMPDIR/dump" json "$file" | cksum > "$BATS_TEST_TMPDIR/one"
		"$BATS_TEST_TMPDIR/dump" json "$file" 100 2 | cksum | cmp - "$BATS_TEST_TMPDIR/one"
	done
}

@test "api: events, fields and texts of the captures are those of weft report" {
	need_shared captures
	need_command python3
	build tests/api/dump.c dump
	[ -d "$BUILD/captures" ] || skip "the captures are not unpacked: make check-captures"
	number=0 nr=0
	for path in "$BUILD"/captures/*/*/; do
		number=$((number + 1))
		one_in $number 8 && [ -e "$path/trace.dat" ] || continue
		"$WEFT" pack -q -o "$BATS_TEST_TMPDIR/packed.dat" "$path" 2> /dev/null || continue
		same_texts "$BATS_TEST_TMPDIR/packed.dat"
		nr=$((nr + 1))
	done
	[ $nr -gt 10 ]
}

@test "api: a line is that of the kernel's text" {
	build tests/api/dump.c dump
	for name in 6.12-events-sched 6.12-events-syscalls 6.1-rt-events-sched 6.12-function 6.12-blk; do
		"$WEFT" report "$golden/$name.dat" | grep -v '^#' > "$BATS_TEST_TMPDIR/want"
		"$BATS_TEST_TMPDIR/dump" line "$golden/$name.dat" 15 '' | cmp - "$BATS_TEST_TMPDIR/want"
	done
}

# choose KEY WORD OPTION...: the same choice by a query and by options
choose()
{
	local key=$1 word=$2
	shift 2
	"$BATS_TEST_TMPDIR/dump" json "$demo" "$key" "$word" > "$BATS_TEST_TMPDIR/api"
	"$WEFT" report --format json "$@" "$demo" | cmp - "$BATS_TEST_TMPDIR/api"
	[ -s "$BATS_TEST_TMPDIR/api" ]
}

@test "api: a query chooses what the option of its key chooses" {
	build tests/api/dump.c dump
	choose 1 sched_switch -e sched_switch
	choose 1 'sched:*wak*,print' -e 'sched:*wak*,print'
	choose 2 'sched_switch: next_pid > 0' -f 'sched_switch: next_pid > 0'
	choose 3 'sched_switch: next_pid > 0' -v -f 'sched_switch: next_pid > 0'
	choose 5 0 --cpu 0
	choose 6 0 --pid 0
	choose 7 '*i*' --comm '*i*'
	choose 8 +1ms --since +1ms
	choose 9 +1ms --until +1ms
	choose 10 7 --limit 7
	choose 11 7 --tail 7
}

# What one reader that only goes forward has read is the oracle; the texts of one file of MIPS depend on all records before.
@test "api: at any place of a file, forward, backward and of one CPU, are the events that are read in order" {
	local places=$BATS_TEST_TMPDIR/places file
	build tests/api/places.c places
	for file in "$golden"/*.dat "$demo"; do
		[[ "$file" == *mips64el-event-stacks* ]] || timeout 60 "$places" "$file" > "$BATS_TEST_TMPDIR/out"
	done
	"$places" "$demo" 1 sched_switch
	"$places" "$golden/6.1-rt-events-sched.dat" 8 +1ms
	"$places" "$golden/6.1-rt-events-sched.dat" 9 +2ms
	"$places" "$golden/6.12-event-stacktrace.dat" 7 '*s*'
	"$places" "$golden/6.12-events-sched.dat" 5 0
}

@test "api: at any place of files from elsewhere, compressed or not, are the events that are read in order" {
	local file
	need_shared samples
	build tests/api/places.c places
	for file in "$SHARED"/samples/v6*.dat; do
		timeout 60 "$BATS_TEST_TMPDIR/places" "$file"
	done
	timeout 60 "$BATS_TEST_TMPDIR/places" "$SHARED/samples/v7-zstd-8cpu-stacks.dat" 2 'CPU & CPUS{1-3}'
}

@test "api: formats, fields, tasks and symbols of a file are those that trace-cmd dump prints" {
	local contents=$BATS_TEST_TMPDIR/contents what
	need_command trace-cmd
	build tests/api/contents.c contents
	"$contents" formats "$demo" | grep -v '^system: ' > "$BATS_TEST_TMPDIR/formats"
	for what in events ftrace-events; do
		trace-cmd dump --$what -i "$demo"
	done | grep -vP '^\t(\t|\[(Section|Events|Ftrace))' | sed '/^$/d' | sort -u > "$BATS_TEST_TMPDIR/want"
	sed '/^$/d' "$BATS_TEST_TMPDIR/formats" | sort -u > "$BATS_TEST_TMPDIR/got"
	[ "$(grep -c '^name: ' "$BATS_TEST_TMPDIR/want")" -gt 600 ]
	[ -z "$(comm -3 "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got" | head -n 4)" ]
	# The fields are those of the formats' lines.
	"$contents" fields "$demo" | sort -u > "$BATS_TEST_TMPDIR/got"
	sed -nE 's/^\tfield:.*[ *]([A-Za-z0-9_]+)(\[[^;]*\])?;\t(offset:[0-9]+;)\t(size:[0-9]+;)\t(signed:[01];)$/\1 \3 \4 \5/p; /^(name|ID|print fmt): /p' \
		"$BATS_TEST_TMPDIR/formats" | sort -u > "$BATS_TEST_TMPDIR/want"
	diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got" | head -n 4 > "$BATS_TEST_TMPDIR/other"
	[ ! -s "$BATS_TEST_TMPDIR/other" ]
	trace-cmd dump --cmd-lines -i "$demo" | grep -vP '^(\t|$)' | sort > "$BATS_TEST_TMPDIR/want"
	"$contents" tasks "$demo" | sort | diff "$BATS_TEST_TMPDIR/want" -
	trace-cmd dump --kallsyms -i "$demo" | awk '$2 ~ /^[tT]$/ && NF == 3 { print $1, $3 }' > "$BATS_TEST_TMPDIR/want"
	"$contents" symbols "$demo" > "$BATS_TEST_TMPDIR/got"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/got")" -gt 20000 ]
	# The symbols of one address have one name: the first. All of the kernel's code are there.
	awk 'FNR == NR { at[$1]; next } !($1 in at)' "$BATS_TEST_TMPDIR/got" "$BATS_TEST_TMPDIR/want" | head -n 4 > "$BATS_TEST_TMPDIR/other"
	[ ! -s "$BATS_TEST_TMPDIR/other" ]
}

@test "api: settings, counts, lives and names of a file are those that the commands print" {
	local contents=$BATS_TEST_TMPDIR/contents
	need_command jq
	build tests/api/contents.c contents
	for cpu in 0 1; do
		"$contents" stats "$demo" | awk -v cpu=$cpu '$1 == cpu { print $2 }'
	done > "$BATS_TEST_TMPDIR/got"
	"$contents" settings "$demo" | grep -q '^0 trace_options 4'
	"$WEFT" report --format json "$demo" | sed -E 's/.*"cpu":([0-9]+).*/\1/' | sort -n | uniq -c | awk '{ print $1 }' | diff - "$BATS_TEST_TMPDIR/got"
	for file in "$demo" "$golden/6.12-events-sched.dat" "$golden/5.10-rt-events-irq-signal.dat"; do
		"$contents" lives "$file" | awk '$5 { print $1, $2, $6 }' | sort > "$BATS_TEST_TMPDIR/got"
		"$WEFT" tasks --format json "$file" 2> /dev/null |
			jq -r '.tasks[] | select(.ended) | "\(.pid) \(.comm) \(.ended * 1e9 | round)"' | sort | diff - "$BATS_TEST_TMPDIR/got"
	done
	"$contents" names "$demo" | grep -qx '1 ls'
	"$contents" who "$demo" | grep -qx '65 ls (unknown) 3'
}

@test "api: texts of a handler, filters that are asked, analyses with threads, progress and several files" {
	build tests/api/asks.c asks
	"$BATS_TEST_TMPDIR/asks" "$golden/6.12-events-sched.dat" "$golden/6.1-rt-events-sched.dat"
	[ ! -e "$SHARED/bench/sched-syscalls.dat" ] ||
		"$BATS_TEST_TMPDIR/asks" "$golden/6.12-events-sched.dat" "$demo" "$SHARED/bench/sched-syscalls.dat"
}

@test "api: a file that a writer makes of all events has the same events, for weft and for trace-cmd" {
	local writes=$BATS_TEST_TMPDIR/writes made=$BATS_TEST_TMPDIR/made.dat file
	build tests/api/writes.c writes
	"$writes" rules "$demo" "$made"
	for file in "$golden/6.12-events-sched.dat" "$golden/6.1-rt-events-sched.dat" "$demo"; do
		"$writes" copy "$file" "$made"
		"$WEFT" check "$made"
		"$WEFT" report --format json "$file" > "$BATS_TEST_TMPDIR/want"
		"$WEFT" report --format json "$made" | cmp - "$BATS_TEST_TMPDIR/want"
		if command -v trace-cmd > /dev/null; then
			trace-cmd report -q -N "$file" 2> /dev/null | grep -v '^cpus=' > "$BATS_TEST_TMPDIR/want"
			trace-cmd report -q -N "$made" 2> /dev/null | grep -v '^cpus=' | cmp - "$BATS_TEST_TMPDIR/want"
		fi
	done
	[ "$("$writes" save "$golden/6.1-rt-events-sched.dat" "$made" 1 sched_switch)" -gt 50 ]
	"$WEFT" report --format json -e sched_switch "$golden/6.1-rt-events-sched.dat" > "$BATS_TEST_TMPDIR/want"
	"$WEFT" report --format json "$made" | cmp - "$BATS_TEST_TMPDIR/want"
}

@test "api: pages that come from elsewhere have the events of the file they are from; damaged ones are told" {
	local sample
	build tests/api/live.c live
	"$WEFT" report "$golden/6.12-events-sched.dat" | grep -v '^#' > "$BATS_TEST_TMPDIR/want"
	"$BATS_TEST_TMPDIR/live" none fd tests/corpora/relay/accept/rounds | diff "$BATS_TEST_TMPDIR/want" -
	# Only the names of tasks, which came later, are others; and a loss that no page tells is the last line.
	"$BATS_TEST_TMPDIR/live" none fd tests/corpora/relay/accept/whole > "$BATS_TEST_TMPDIR/out"
	[ "$(tail -n 1 "$BATS_TEST_TMPDIR/out")" = 'CPU:0 [LOST 12 EVENTS]' ]
	sed '$d; s/^ *[^ ]*-//' "$BATS_TEST_TMPDIR/out" | diff <(sed 's/^ *[^ ]*-//' "$BATS_TEST_TMPDIR/want") -
	for sample in tests/corpora/relay/reject/*; do
		run -1 "$BATS_TEST_TMPDIR/live" none fd "$sample"
		[[ "${lines[-1]}" == "live: "* ]]
	done
}

@test "api: the tables of pages that come from elsewhere are those of the file they are from" {
	local name
	need_command jq
	build tests/api/live.c live
	for name in sched latency; do
		"$WEFT" $name --format json "$golden/6.12-events-sched.dat" > "$BATS_TEST_TMPDIR/want"
		"$BATS_TEST_TMPDIR/live" none $name:json tests/corpora/relay/accept/rounds | diff "$BATS_TEST_TMPDIR/want" -
	done
	# The whole of an analysis of intervals, too.
	"$WEFT" sched --format json "$golden/6.12-events-sched.dat" | jq -c '.tasks, .cpus, .wakeups' > "$BATS_TEST_TMPDIR/want"
	"$BATS_TEST_TMPDIR/live" none sched:10000000 tests/corpora/relay/accept/rounds > "$BATS_TEST_TMPDIR/out"
	sed '1,/^whole/d' "$BATS_TEST_TMPDIR/out" | jq -c '.tasks, .cpus, .wakeups' | diff "$BATS_TEST_TMPDIR/want" -
	[ "$(grep -c '^interval' "$BATS_TEST_TMPDIR/out")" = 5 ]
}

@test "api: a redacted file is the one that weft redact writes" {
	build tests/api/writes.c writes
	printf 0123456789abcdef0123456789abcdef > "$BATS_TEST_TMPDIR/key"
	for file in "$golden/6.12-events-sched.dat" "$demo"; do
		"$BATS_TEST_TMPDIR/writes" hide "$file" "$BATS_TEST_TMPDIR/got.dat"
		"$WEFT" redact -q --key "$BATS_TEST_TMPDIR/key" --keep comm=sh -o "$BATS_TEST_TMPDIR/want.dat" "$file"
		cmp "$BATS_TEST_TMPDIR/want.dat" "$BATS_TEST_TMPDIR/got.dat"
	done
}

@test "example: a simulator makes a file that weft and trace-cmd read" {
	build examples/simulator.c simulator
	"$BATS_TEST_TMPDIR/simulator" "$BATS_TEST_TMPDIR/made.dat"
	"$WEFT" report "$BATS_TEST_TMPDIR/made.dat" | tail -n 1 | grep -qF ' left-100     [001] .....     1.000014: message: 9: pong, 5904900 bytes'
	need_command trace-cmd
	trace-cmd report -q "$BATS_TEST_TMPDIR/made.dat" 2> /dev/null | tail -n 1 | grep -q ' left-100 .* 1.000014: message: *9: pong, 5904900 bytes$'
}

@test "api: a hundred thousand calls in any order, with wrong arguments, fail with a text or do what they say" {
	build tests/api/calls.c calls
	timeout 100 "$BATS_TEST_TMPDIR/calls" "$golden/6.12-events-sched.dat" 50000
	MALLOC_PERTURB_=165 timeout 100 "$BATS_TEST_TMPDIR/calls" "$golden/6.1-rt-events-sched.dat" 50000 9
}

@test "api: each function of libtracecmd, libtraceevent and libtracefs has its counterpart, or the reason why there is none" {
	local headers
	headers=$(find /usr/include/trace-cmd/trace-cmd.h /usr/include/traceevent /usr/include/tracefs -name '*.h' 2> /dev/null) || :
	cut -f 2 tests/api/counterparts | grep -oE 'weft_[a-z0-9_]+' | sort -u > "$BATS_TEST_TMPDIR/named"
	declared_functions > "$BATS_TEST_TMPDIR/declared"
	[ -z "$(comm -23 "$BATS_TEST_TMPDIR/named" "$BATS_TEST_TMPDIR/declared")" ]
	# Where there is none, a reason stands behind the hyphen.
	run ! grep -P '^[^#\t]+\t-(\t *)?$' tests/api/counterparts
	[ -n "$headers" ] || skip 'libtracecmd-dev, libtraceevent-dev and libtracefs-dev are not installed'
	# shellcheck disable=SC2086 # a list of paths
	grep -ohE '\b(tracecmd|tep|kbuffer|trace_seq|tracefs)_[a-z0-9_]+ ?\(' $headers | tr -d ' (' | sort -u > "$BATS_TEST_TMPDIR/theirs"
	cut -f 1 tests/api/counterparts | sort -u > "$BATS_TEST_TMPDIR/listed"
	comm -23 "$BATS_TEST_TMPDIR/theirs" "$BATS_TEST_TMPDIR/listed" > "$BATS_TEST_TMPDIR/lacks"
	cat "$BATS_TEST_TMPDIR/lacks"
	[ ! -s "$BATS_TEST_TMPDIR/lacks" ]
}

@test "api: a query fails with the message of the option" {
	build tests/api/dump.c dump
	while IFS='|' read -r key word option; do
		run -1 --separate-stderr "$BATS_TEST_TMPDIR/dump" json "$demo" "$key" "$word"
		message=${stderr#weft: }
		run ! --separate-stderr "$WEFT" report --format json "$option" "$word" "$demo"
		[[ "$stderr" == *"$message"* ]] || { echo "'$message' is not in '$stderr'"; return 1; }
	done <<- 'END'
		1|sched_swich|-e
		2|next_pid >|-f
		2|nosuch > 1|-f
		4|1parsec|--longer
		5|0-x|--cpu
		6|minus|--pid
		8|tomorrow-ish|--since
		10|many|--limit
		12|nosuch|-B
	END
}

@test "api: a file that is none, or is not there, is a failure that is told" {
	build tests/api/dump.c dump
	run -1 --separate-stderr "$BATS_TEST_TMPDIR/dump" json README.md
	[[ "$stderr" == *"'README.md'"* ]]
	run -1 --separate-stderr "$BATS_TEST_TMPDIR/dump" json /nonexistent
	[[ "$stderr" == *"/nonexistent"* ]]
}

@test "api: handles, types, fields, results and structures of other sizes are what the header says" {
	build tests/api/rules.c rules
	"$BATS_TEST_TMPDIR/rules" "$demo" "$golden/6.12-events-sched.dat" "$golden/6.12-event-stacktrace.dat"
}

@test "api: decoded fields are those of --decode" {
	need_command python3
	build tests/api/decoded.c decoded
	"$BATS_TEST_TMPDIR/decoded" "$golden/6.12-events-syscalls.dat" "$BUILD/plugins" > "$BATS_TEST_TMPDIR/api"
	"$WEFT" report --decode --plugin-dir "$BUILD/plugins" --format json "$golden/6.12-events-syscalls.dat" |
		python3 -c 'import json, sys
for line in sys.stdin:
    for name, value in json.loads(line).get("decoded", {}).items():
        print(name, value, sep="=")' | cmp - "$BATS_TEST_TMPDIR/api"
	[ -s "$BATS_TEST_TMPDIR/api" ]
}

@test "api: the header is C99, C11, C++98 and C++20" {
	for standard in c99 c11; do
		echo '#include <weft/weft.h>' | "$CC" -x c -std=$standard -pedantic -Wall -Wextra -Werror -Iinclude -fsyntax-only -
	done
	need_command g++
	for standard in c++98 c++20; do
		echo '#include <weft/weft.h>' | g++ -x c++ -std=$standard -pedantic -Wall -Wextra -Werror -Iinclude -fsyntax-only -
	done
}

@test "api: the shared library needs libzstd and the C library, and shows only weft_ functions" {
	needed=$(readelf -d "$BUILD/libweft.so.0" | sed -n 's/.*(NEEDED).*\[\(.*\)\.so.*/\1/p' | grep -vxE 'libm|libdl|libpthread|ld-linux.*' | sort | tr '\n' ' ')
	[ "$needed" = "libc libzstd " ]
	readelf -d "$BUILD/libweft.so.0" | grep -q 'SONAME.*\[libweft.so.0\]'
	[ "$(readelf -d "$BUILD/libweft.so.0" | grep -c TEXTREL)" = 0 ]
	nm -D --defined-only "$BUILD/libweft.so.0" | awk '$3 !~ /^weft_/ && $2 != "A" { print; bad = 1 } END { exit bad }'
	nm -g --defined-only "$BUILD/libweft.a" | awk 'NF == 3 && $3 !~ /^weft_/ { print; bad = 1 } END { exit bad }'
	# Each function of the header is there, and each function that is there is in the header.
	nm -D --defined-only "$BUILD/libweft.so.0" | sed -n 's/.* T \(weft_[a-z0-9_]*\).*/\1/p' | sort -u > "$BATS_TEST_TMPDIR/there"
	declared_functions > "$BATS_TEST_TMPDIR/declared"
	[ -z "$(comm -13 "$BATS_TEST_TMPDIR/declared" "$BATS_TEST_TMPDIR/there")" ]
	[ -z "$(comm -23 "$BATS_TEST_TMPDIR/declared" "$BATS_TEST_TMPDIR/there" | grep -vxE 'weft_[a-z]+_fn')" ]
	strip -o "$BATS_TEST_TMPDIR/stripped" "$BUILD/libweft.so.0"
	[ "$(wc -c < "$BATS_TEST_TMPDIR/stripped")" -lt 1572864 ] || skip "a build with other flags is larger"
}

# The names of the functions that the header declares.
declared_functions()
{
	"$CC" -E -P -Iinclude -x c include/weft/weft.h | tr '\n' ' ' | grep -oE '[* ]weft_[a-z0-9_]+\(' | tr -d '*( ' | sort -u
}

@test "api: the library does not print, exit, ask the environment, or change what belongs to the process" {
	nm -D --undefined-only "$BUILD/libweft.so.0" | awk '{ sub(/@.*/, "", $2); print $2 }' | sort -u > "$BATS_TEST_TMPDIR/imports"
	# Not by name: what writes to standard output or error, ends the process, reads its environment and arguments, or changes
	# its locale, directory, umask, privileges, limits or signals.
	run ! grep -xE 'v?printf|f?puts|putchar|perror|psignal|stdout|stderr|v?fprintf|fwrite|warnx?|errx?|v?syslog|_?exit|_Exit|abort|atexit|quick_exit|getenv|secure_getenv|putenv|setenv|environ|__environ|program_invocation(_short)?_name|setlocale|uselocale|f?chdir|chroot|umask|set(res|re|e|fs)?[ug]id|setgroups|capset|prctl|setrlimit(64)?|signal|sigaction|sigprocmask|raise|alarm|fork|vfork|exec[a-z]*|system|popen|daemon|setsid|dup2|dup3' "$BATS_TEST_TMPDIR/imports"
	# weft_live_start() alone starts a process, and weft_live_stop() asks that one to end.
	[ "$(nm -A --undefined-only "$BUILD"/lib/api/*.o | sed -nE 's/^.*\/([a-z_]+)\.o: +U (posix_spawnp?|kill|waitpid)$/\1/p' | sort -u)" = live_pipe ]
	# Nothing mutable: no variables, and no data but constants with addresses.
	size -A "$BUILD/libweft.a" | awk '$1 ~ /^\.(data|bss|tdata|tbss)($|\.)/ && $1 !~ /^\.data\.rel\.ro/ && $2 > 0 { print; bad = 1 } END { exit bad }'
}

@test "api: the library writes nothing but to the descriptors that it is given" {
	build tests/api/dump.c dump
	"$BATS_TEST_TMPDIR/dump" fields "$demo" 2> "$BATS_TEST_TMPDIR/err" > /dev/null
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
}

@test "api: two threads read one file at the same time" {
	"$CC" -O1 -Wall -Iinclude -pthread -o "$BATS_TEST_TMPDIR/twice" tests/api/twice.c -L"$BUILD" -lweft -Wl,-rpath,"$BUILD"
	"$BATS_TEST_TMPDIR/twice" "$demo"
	"$BATS_TEST_TMPDIR/twice" "$golden/6.12-function_graph-event-stack.dat"
}

@test "api: nothing leaks and nothing invalid is read" {
	need_command valgrind
	build tests/api/dump.c dump
	build tests/api/rules.c rules
	build tests/api/contents.c contents
	build tests/api/places.c places
	build tests/api/asks.c asks
	build tests/api/writes.c writes
	for how in rules copy save; do
		valgrind -q --leak-check=full --error-exitcode=9 "$BATS_TEST_TMPDIR/writes" $how "$golden/6.12-events-sched.dat" "$BATS_TEST_TMPDIR/made.dat"
	done
	build tests/api/live.c live
	valgrind -q --leak-check=full --error-exitcode=9 "$BATS_TEST_TMPDIR/live" none sched:5000000 tests/corpora/relay/accept/whole > /dev/null
	valgrind -q --leak-check=full --error-exitcode=9 "$BATS_TEST_TMPDIR/asks" "$golden/6.12-events-sched.dat" "$demo"
	for how in formats fields settings stats clocks tasks lives names who; do
		valgrind -q --leak-check=full --error-exitcode=9 "$BATS_TEST_TMPDIR/contents" $how "$golden/6.12-events-sched.dat" > /dev/null
	done
	valgrind -q --leak-check=full --error-exitcode=9 "$BATS_TEST_TMPDIR/places" "$golden/6.12-events-sched.dat" > /dev/null
	for how in json fields; do
		valgrind -q --leak-check=full --error-exitcode=9 "$BATS_TEST_TMPDIR/dump" $how "$golden/6.12-events-sched.dat" 11 200 > /dev/null
	done
	valgrind -q --leak-check=full --error-exitcode=9 "$BATS_TEST_TMPDIR/dump" line "$demo" 100 2 10 500 > /dev/null
	valgrind -q --leak-check=full --error-exitcode=9 "$BATS_TEST_TMPDIR/rules" "$demo" "$golden/6.12-events-sched.dat" "$golden/6.12-event-stacktrace.dat"
}

@test "example: a histogram of a field has the counts of the kernel's text" {
	build examples/hist.c hist
	"$BATS_TEST_TMPDIR/hist" "$golden/6.12-events-sched.dat" sched_switch next_prio > "$BATS_TEST_TMPDIR/out"
	sed -n 's/.*: sched_switch: .* next_prio=\([0-9]*\).*/\1/p' "$golden/6.12-events-sched.txt" | sort -n | uniq -c |
		awk '{ print $2, $1 }' | cmp - "$BATS_TEST_TMPDIR/out"
}

@test "example: gaps says where events were lost, and that a file is damaged" {
	build examples/gaps.c gaps
	file=
	for file in "$golden"/*.dat; do
		"$WEFT" report --format json "$file" | grep -q '"lost":[0-9n]' && break
		file=
	done
	if [ -n "$file" ]; then
		"$WEFT" report --format json "$file" | sed -n 's/{"ts":\([0-9]*\),"cpu":\([0-9]*\),.*"lost":.*/CPU \2 before \1/p' > "$BATS_TEST_TMPDIR/want"
		"$BATS_TEST_TMPDIR/gaps" "$file" | sed -n 's/^\(CPU .*\): .*/\1/p' | sort | uniq > "$BATS_TEST_TMPDIR/out"
		[ -z "$(sort "$BATS_TEST_TMPDIR/want" | comm -23 - "$BATS_TEST_TMPDIR/out")" ]
	fi
	# Zeros in the middle of the pages.
	cp "$demo" "$BATS_TEST_TMPDIR/cut.dat"
	at=$("$WEFT" info "$demo" | awk '/pages of CPU 0/ { print $1 }')
	dd if=/dev/zero of="$BATS_TEST_TMPDIR/cut.dat" bs=1 seek=$((at + 100)) count=500 conv=notrunc 2> /dev/null
	run -1 "$BATS_TEST_TMPDIR/gaps" "$BATS_TEST_TMPDIR/cut.dat"
	[[ "$output" == *"events"*"is damaged"* ]]
	run -2 "$BATS_TEST_TMPDIR/gaps" README.md
}

@test "example: two machines are merged in time, with the offset of a clock" {
	build examples/merge.c merge
	a=$golden/6.12-events-sched.dat b=$golden/6.1-rt-events-sched.dat
	times() { "$WEFT" report --format json "$1" | sed 's/{"ts":\([0-9]*\).*/\1/'; }
	shift=$(($(times "$a" | head -n 1) - $(times "$b" | head -n 1)))
	"$BATS_TEST_TMPDIR/merge" "$a" 0 "$b" $shift > "$BATS_TEST_TMPDIR/out"
	{ times "$a" | sed 's/$/ a/'; times "$b" | awk -v by="$shift" '{ printf "%.0f b\n", $1 + by }'; } | sort -s -n -k 1,1 | cut -d ' ' -f 2 > "$BATS_TEST_TMPDIR/want"
	sed "s|^$a: .*|a|; s|^$b: .*|b|" "$BATS_TEST_TMPDIR/out" | cmp - "$BATS_TEST_TMPDIR/want"
}

@test "example: the tables of any analysis are those of its command, byte for byte" {
	build examples/tables.c tables
	for name in summary sched syscalls irq latency graph block locks stacks memory power tasks; do
		for file in "$demo" "$golden/6.1-rt-events-sched.dat" "$golden/6.12-function_graph.dat"; do
			want=0 got=0
			# A file for each table, in the order of their names; the example prints them with an empty line between.
			rm -rf "$BATS_TEST_TMPDIR/csv"
			"$WEFT" "$name" -o "$BATS_TEST_TMPDIR/csv" "$file" 2> "$BATS_TEST_TMPDIR/said" || want=$?
			cat "$BATS_TEST_TMPDIR"/csv/*.csv 2> /dev/null | LC_ALL=C sort > "$BATS_TEST_TMPDIR/want"
			"$BATS_TEST_TMPDIR/tables" "$file" "$name" > "$BATS_TEST_TMPDIR/got" 2> "$BATS_TEST_TMPDIR/told" || got=$?
			[ $want = $got ]
			sed '/^$/d' "$BATS_TEST_TMPDIR/got" | LC_ALL=C sort | cmp "$BATS_TEST_TMPDIR/want" -
		done
	done
	run -1 "$BATS_TEST_TMPDIR/tables" "$demo" nonsense
	[[ "$output" == *nonsense* ]]
}

@test "example: windows of a large file read a small part of it" {
	need_shared bench/sched-syscalls.dat
	build examples/windows.c windows
	# What a process reads with read(2) and pread(2) is counted by the kernel, whether it is in the page cache or not.
	# Raw pages have known offsets, and are as large as they are in memory.
	large=$BATS_TEST_TMPDIR/large.dat
	"$WEFT" convert -q --file-version 6 -o "$large" "$SHARED/bench/sched-syscalls.dat"
	size=$(stat -c %s "$large")
	reads() { "$@" > "$BATS_TEST_TMPDIR/out" && sed -n 's/^rchar: //p' "$BATS_TEST_TMPDIR/io"; }
	"$CC" -shared -fPIC -o "$BATS_TEST_TMPDIR/io.so" tests/api/io.c
	few=$(LD_PRELOAD=$BATS_TEST_TMPDIR/io.so IO_FILE=$BATS_TEST_TMPDIR/io reads "$BATS_TEST_TMPDIR/windows" "$large" 10)
	many=$(LD_PRELOAD=$BATS_TEST_TMPDIR/io.so IO_FILE=$BATS_TEST_TMPDIR/io reads "$BATS_TEST_TMPDIR/windows" "$large" 1010)
	echo "$(((many - few) / 1000)) bytes for each window of a file of $size"
	[ $(((many - few) / 1000)) -lt $((size / 100)) ]
	# The windows have the events that weft report has in them.
	"$BATS_TEST_TMPDIR/windows" "$large" 1 > "$BATS_TEST_TMPDIR/out"
	[ "$(cat "$BATS_TEST_TMPDIR/out")" = "$("$WEFT" report --format json --until +1ms "$large" | grep -c '"event"') events in 1 windows" ]
}

@test "example: a C++ program has the times of weft sched" {
	need_command g++
	need_command jq
	g++ -std=c++17 -O1 -Wall -Wextra -Werror -Iinclude -o "$BATS_TEST_TMPDIR/runtime" examples/runtime.cc -L"$BUILD" -lweft -Wl,-rpath,"$BUILD"
	file=$golden/6.12-events-sched.dat
	"$BATS_TEST_TMPDIR/runtime" "$file" | awk '$(NF - 1) != 0 { t[$(NF - 1)] += $NF } END { for (p in t) print p, t[p] }' | sort > "$BATS_TEST_TMPDIR/out"
	"$WEFT" sched --self --format json "$file" | jq -r '.tasks[] | select(.run_ns > 0) | "\(.pid) \(.run_ns)"' |
		awk '{ t[$1] += $2 } END { for (p in t) print p, t[p] }' | sort | diff - "$BATS_TEST_TMPDIR/out"
}

@test "README: its program in C builds and counts" {
	awk '/^## From your own program/ { on = 1 } on && /^```$/ { if (code) exit } on && code { print } on && /^```c$/ { code = 1 }' README.md > "$BATS_TEST_TMPDIR/prio.c"
	build "$BATS_TEST_TMPDIR/prio.c" prio
	cp "$golden/6.12-events-sched.dat" "$BATS_TEST_TMPDIR/trace.dat"
	(cd "$BATS_TEST_TMPDIR" && ./prio) > "$BATS_TEST_TMPDIR/out"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/out")" = "$(grep -c ': sched_switch: ' "$golden/6.12-events-sched.txt")" ]
}

@test "example: each has fewer than 60 lines, and what KernelShark wants, in 1,900 of its own, fewer than 400" {
	local file most
	for file in examples/*.c examples/*.cc examples/*.py; do
		most=60
		[ "$file" != examples/kernelshark.c ] || most=400
		[ "$(wc -l < "$file")" -lt $most ]
	done
}

@test "api: a program outside the tree is built with pkg-config, with the shared and with the static library" {
	need_command pkg-config
	make -s install DESTDIR="$BATS_TEST_TMPDIR/root" BUILD="$BUILD" > /dev/null
	root=$BATS_TEST_TMPDIR/root
	export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$root
	PKG_CONFIG_PATH=$(dirname "$(find "$root" -name weft.pc)")
	# Debian keeps what libweft needs, for static programs, where it always is.
	cp examples/hist.c "$BATS_TEST_TMPDIR/"
	cd "$BATS_TEST_TMPDIR"
	# shellcheck disable=SC2046 # words of flags
	"$CC" hist.c -o shared $(pkg-config --cflags --libs weft)
	library=$(dirname "$(find "$root" -name libweft.so.0)")
	LD_LIBRARY_PATH=$library ./shared "$golden/6.12-events-sched.dat" sched_switch next_prio > one
	# shellcheck disable=SC2046 # words of flags
	"$CC" hist.c -o static $(pkg-config --cflags weft) "$library/libweft.a" -lzstd -lpthread -ldl -lm
	./static "$golden/6.12-events-sched.dat" sched_switch next_prio | cmp - one
	[ -s one ]
	[ -e "$(find "$root" -name weft_reader.3)" ]
}

# The numbers are those that the pages have, as exports tell them.
@test "api: events lost before the first one of a CPU are told, by the reader, arrow, Python and report --format json" {
	local file=tests/corpora/report/accept/lost-6.12.dat
	weft export --to jsonl "$file" 2> /dev/null | sed -nE 's/.*"event":"lost","lost":(.*)}/\1/p' > "$BATS_TEST_TMPDIR/want"
	grep -qx 230 "$BATS_TEST_TMPDIR/want"
	weft report --format json "$file" | sed -nE 's/.*,"lost":(.*)}/\1/p' | diff "$BATS_TEST_TMPDIR/want" -
	build tests/api/dump.c dump
	"$BATS_TEST_TMPDIR/dump" json "$file" | sed -nE 's/.*,"lost":(.*)}/\1/p' | diff "$BATS_TEST_TMPDIR/want" -
}

@test "api: an array of any number of rows is one of those that there are" {
	local rows
	cat > "$BATS_TEST_TMPDIR/rows.c" << 'END'
#include <weft/weft.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	const char *const columns[] = { "ts", "comm" };
	struct weft_arrow_options options = { .size = sizeof(options), .rows = argc > 2 ? strtoull(argv[2], NULL, 0) : 0 };
	struct ArrowArrayStream stream;
	struct ArrowArray array;
	weft_reader *reader = weft_reader_new();
	weft_file *file;

	if (weft_file_open(argv[1], NULL, &file, NULL) || weft_reader_add(reader, file, NULL, NULL) ||
	    weft_reader_arrow(reader, columns, 2, &options, &stream, NULL) || stream.get_next(&stream, &array))
		return 1;
	printf("%ld\n", (long)array.length);
	array.release(&array);
	stream.release(&stream);
	weft_reader_free(reader);
	weft_file_free(file);
	return 0;
}
END
	build "$BATS_TEST_TMPDIR/rows.c" rows
	weft export --to jsonl "$demo" 2> /dev/null | grep -vc '"event":"lost"' > "$BATS_TEST_TMPDIR/want"
	for rows in 0 4000000000 18446744073709551614 18446744073709551615; do
		MALLOC_PERTURB_=165 "$BATS_TEST_TMPDIR/rows" "$demo" $rows | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "example: a program in Rust counts the events that trace-cmd prints" {
	need_command rustc
	need_command trace-cmd
	rustc -O --edition 2021 -L native="$BUILD" -l weft -C link-arg=-Wl,-rpath,"$BUILD" -o "$BATS_TEST_TMPDIR/top" examples/top.rs
	trace-cmd report -q "$demo" 2> /dev/null | sed -nE 's/^.* [0-9]+\.[0-9]+: (sched_[a-z_]+): .*/\1/p' | sort | uniq -c |
		sort -k1,1nr -k2,2r | head -n 3 | awk 'BEGIN { print "Top 3 events:" } { sub("sched_", "", $2); print "#" NR ": " $2 ": " $1 " times" }' > "$BATS_TEST_TMPDIR/want"
	"$BATS_TEST_TMPDIR/top" "$demo" 3 sched_ | diff "$BATS_TEST_TMPDIR/want" -
}
