#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The spans that programs mark: what every reader makes of the texts of trace_marker.
load lib

# mark PID MICROSECONDS TEXT ...: prints lines as the kernel does; MICROSECONDS count from 10 s.
mark()
{
	printf '             app-%-6d ( 7360) [001] ....  10.%06d: tracing_mark_write: %s\n' "$@"
}

# Spans of two threads, of a process, counters, moments, and an end without a begin.
some_marks()
{
	mark 7363 100 'B|7360|outer' 7363 200 'B|7360|inner|with <bar>' 7363 300 'C|7360|queue|5' \
		7363 310 'S|7360|req|4711' 7363 320 'S|7360|H:work 12' 7363 330 'G|7360|trk|job|9' 7363 400 'E|7360' \
		7363 500 'I|7360|tick' 7364 550 'B|7360|other' 7364 600 'F|7360|req|4711' 7364 610 'F|7360|H:work 12' \
		7364 620 'H|7360|trk|9' 7364 630 'C|7360|queue|7' 7363 700 'E|7360' 7364 750 'E|7360' 7363 800 'E|7360' \
		7363 950 'some text'
}

# The same as NAME START-NS LENGTH-NS, worked out by hand.
want_spans()
{
	cat <<- 'END'
		H:work 10000320000 290000
		inner|with <bar> 10000200000 200000
		job 10000330000 290000
		other 10000550000 200000
		outer 10000100000 600000
		req 10000310000 290000
	END
}

setup()
{
	some_marks | weft import -o "$BATS_TEST_TMPDIR/marks.dat" - 2> /dev/null
	cd "$BATS_TEST_TMPDIR" || return
	want_spans > want
}

@test "marks: sql has them in slice and in mark, with depth, track and cookie" {
	weft sql --format csv marks.dat "SELECT name || ' ' || ts || ' ' || dur AS s FROM slice WHERE category = 'mark' AND dur > 0 ORDER BY name" |
		tail -n +2 | diff want -
	weft sql --format csv marks.dat 'SELECT name, kind, tgid, depth, track, cookie FROM mark ORDER BY ts' | diff - /dev/fd/3 3<<- 'END'
		name,kind,tgid,depth,track,cookie
		outer,span,7360,0,,
		inner|with <bar>,span,7360,1,,
		req,async,7360,0,req,4711
		H:work,async,7360,0,H:work,12
		job,async,7360,0,trk,9
		tick,instant,7360,0,,
		other,span,7360,0,,
	END
	weft sql --format csv marks.dat "SELECT c.ts, value FROM counter c JOIN track t ON t.id = track_id WHERE t.name = 'queue' ORDER BY 1" |
		diff - /dev/fd/3 3<<- 'END'
			ts,value
			10000300000,5
			10000630000,7
		END
}

@test "marks: chrome has spans of threads, pairs of lines for processes, counters and moments" {
	need_command jq
	weft export --to chrome -o marks.json marks.dat
	{
		jq -r '.traceEvents[] | select(.ph == "X" and .pid == 7360) | "\(.name) \(.ts * 1000 | round) \(.dur * 1000 | round)"' marks.json
		jq -r '[.traceEvents[] | select(.ph == "b" or .ph == "e")] | group_by(.id)[] | "\(.[0].name) \(.[0].ts * 1000 | round) \((.[1].ts - .[0].ts) * 1000 | round)"' marks.json
	} | LC_ALL=C sort | diff want -
	[ "$(jq -c '[.traceEvents[] | select(.ph == "C") | [.name, .pid, .args.value]]' marks.json)" = '[["queue",7360,5],["queue",7360,7]]' ]
	[ "$(jq -r '.traceEvents[] | select(.ph == "i") | .name' marks.json | paste -sd ' ')" = 'tick print' ]
}

@test "marks: html draws spans by depth, those of a process beside one another, and counters" {
	need_command node
	weft export --to html -o marks.html marks.dat
	node "$BATS_TEST_DIRNAME/export/html.js" marks.html > slices
	awk -F '\t' '$1 == "mark" || $1 == "async" { print $7, $4, $5 }' slices | LC_ALL=C sort | diff want -
	[ "$(awk -F '\t' '$1 == "mark" { print $2, $3, $7 }' slices | LC_ALL=C sort | paste -sd ,)" = '0 7363 outer,0 7364 other,1 7363 inner|with <bar>' ]
	[ "$(awk -F '\t' '$1 == "async" { print $2, $3 }' slices | sort -u | paste -sd ,)" = '0 7360,1 7360,2 7360' ]
	[ "$(awk -F '\t' '$1 == "value" { print $3, $7 }' slices | paste -sd ,)" = '7360 queue,7360 queue' ]
}

@test "marks: firefox has markers of them, and a counter" {
	need_command python3
	weft export --to firefox -o marks.firefox marks.dat
	python3 "$BATS_TEST_DIRNAME/export/firefox.py" markers marks.firefox > got
	for name in outer 'inner|with <bar>' req H:work job other tick; do
		grep -qF -- "$name" got || { echo "no $name"; cat got; return 1; }
	done
	python3 "$BATS_TEST_DIRNAME/export/firefox.py" counters marks.firefox | grep -qF 'queue (7360)'
}

@test "marks: perfetto gets the words of atrace, whoever wrote them" {
	need_command protoc
	weft export --to perfetto -o marks.pftrace marks.dat
	protoc -I"$BATS_TEST_DIRNAME/export" --decode=weft.Trace "$BATS_TEST_DIRNAME/export/perfetto.proto" < marks.pftrace > decoded
	grep -qF '"S|7360|req|4711\n"' decoded
	grep -qF '"S|7360|H:work|12"' decoded
	grep -qF '"F|7360|H:work|12"' decoded
	run ! grep -qF 'H:work 12' decoded
	python3 "$BATS_TEST_DIRNAME/export/perfetto_rules.py" marks.pftrace
}

@test "marks: those of drivers and of kernels whose compiler renamed the function count, too" {
	cat > phone.txt <<- 'END'
		# tracer: nop
		        renderer-7363  ( 7360) [001] ....  2832.000100: func: B|7360|upload_texture
		        renderer-7363  ( 7360) [001] ....  2832.004100: func: E|7360|upload_texture
		   codec_svc:1_1-992   (  990) [000] ....  2832.010000: tracing_mark_write.llvm.8232844412049014381: B|990|ion_alloc(system, 4096)
		   codec_svc:1_1-992   (  990) [000] ....  2832.012000: tracing_mark_write.llvm.8232844412049014381: E|990|
		        renderer-7363  ( 7360) [001] ....  2832.030000: tracing_mark_write: B|7360|draw
		        renderer-7363  ( 7360) [001] ....  2832.033000: tracing_mark_write: E|7360
	END
	weft import -o phone.dat phone.txt
	weft sql --format csv phone.dat 'SELECT name, dur FROM mark ORDER BY ts' | diff - /dev/fd/3 3<<- 'END'
		name,dur
		upload_texture,4000000
		"ion_alloc(system, 4096)",2000000
		draw,3000000
	END
}

@test "marks: the table has counts, sums and what has no other end" {
	weft marks --table marks --format csv marks.dat 2> err | awk -F , 'NF > 9 { print $1, $3, $4 }' | tail -n +2 | LC_ALL=C sort | diff - /dev/fd/3 3<<- 'END'
		H:work 1 290000
		inner|with <bar> 1 200000
		job 1 290000
		other 1 200000
		outer 1 600000
		req 1 290000
	END
	weft marks marks.dat > text
	grep -q '1 end without a begin' text
	weft marks --longer 250us --table slowest --format csv marks.dat | grep -q '^600000,outer,app,7363,'
}

@test "marks: --mark chooses what happened inside spans of a thread, or of a process" {
	weft report --mark inner* marks.dat | grep -v '^#' | grep -c . > got
	[ "$(cat got)" = 6 ]
	# The process of req has two threads: each of them may work for it.
	[ "$(weft report --mark req marks.dat | grep -v '^#' | grep -c 'app-7364')" = 2 ]
	[ "$(weft report --mark req marks.dat | grep -v '^#' | grep -c 'app-7363')" = 5 ]
	[ "$(weft marks --mark outer --table marks --format csv marks.dat | awk -F , 'NF > 9 { print $1 }' | tail -n +2 | LC_ALL=C sort | paste -sd ,)" = \
		'H:work,inner|with <bar>,job,outer,req' ]
	run --separate-stderr weft report --mark nothing marks.dat
	[[ $stderr == *"spans called 'nothing'"*"weft marks"* ]]
	run -1 --separate-stderr weft marks --mark nothing marks.dat
	[[ $stderr == *"no span has the name 'nothing'"* ]]
}

@test "marks: the column mark names the innermost span of the thread of each event" {
	weft export -q --to csv --fields ts,pid,mark marks.dat | diff - /dev/fd/3 3<<- 'END'
		ts,pid,mark
		10000100000,7363,outer
		10000200000,7363,inner|with <bar>
		10000300000,7363,inner|with <bar>
		10000310000,7363,inner|with <bar>
		10000320000,7363,inner|with <bar>
		10000330000,7363,inner|with <bar>
		10000400000,7363,outer
		10000500000,7363,outer
		10000550000,7364,other
		10000600000,7364,other
		10000610000,7364,other
		10000620000,7364,other
		10000630000,7364,other
		10000700000,7363,
		10000750000,7364,
		10000800000,7363,
		10000950000,7363,
	END
	weft export -q --to jsonl --fields mark marks.dat | sort | uniq -c | tr -s ' ' | diff - /dev/fd/3 3<<- 'END'
		 5 {"mark":"inner|with <bar>"}
		 5 {"mark":"other"}
		 3 {"mark":"outer"}
		 4 {"mark":null}
	END
	# The same by a join of the tables.
	weft sql --format csv marks.dat "SELECT m.name, count(*) FROM ftrace_event e JOIN mark m ON m.utid = e.utid AND e.ts >= m.ts AND e.ts < m.ts + m.dur
		WHERE kind = 'span' AND NOT EXISTS (SELECT 1 FROM mark i WHERE i.utid = m.utid AND i.kind = 'span' AND i.depth > m.depth AND e.ts >= i.ts AND e.ts < i.ts + i.dur)
		GROUP BY 1 ORDER BY 1" | diff - /dev/fd/3 3<<- 'END'
		name,count(*)
		inner|with <bar>,5
		other,5
		outer,3
	END
}

@test "marks: a file without any says what records them" {
	run -1 --separate-stderr weft marks "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat"
	[[ $stderr == *"there are no marks of programs"*"ftrace:print"* ]]
}

# The writing side: a file takes the place of trace_marker.

@test "mark.h: a program in C99 and one in C++ write atrace's words, and nothing where nobody records" {
	need_command gcc
	need_command g++
	cat > prog.c <<- 'END'
		#include <weft/mark.h>
		#include <stdio.h>
		int main(void)
		{
			errno = 7;
			weft_mark_begin("par|se");
			weft_mark_counter("queue", INT64_MIN);
			weft_mark_async_begin("req", -4711);
			weft_mark_async_end("req", -4711);
			weft_mark_instant("tick");
			weft_mark_end();
			printf("%d %d %d\n", getpid(), errno, weft_mark_on());
			return 0;
		}
	END
	gcc -std=c99 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -pedantic -I"$BATS_TEST_DIRNAME/../../include" -o prog prog.c
	WEFT_MARKER_FD=7 ./prog 7> text > said
	read -r pid errno on < said
	[ "$errno $on" = "7 1" ]
	[ "$(cat text)" = "B|$pid|par/seC|$pid|queue|-9223372036854775808S|$pid|req|-4711F|$pid|req|-4711I|$pid|tickE|$pid" ]
	# A descriptor that is no marker: of a file that can be read, too, or of none.
	[ "$(WEFT_MARKER_FD=7 ./prog 7<> other | cut -d ' ' -f 2)" = 7 ]
	[ ! -s other ]
	cat > prog.cc <<- 'END'
		#include <weft/mark.h>
		static void inner() { weft::span span("inner"); }
		int main() { weft::span span("outer"); inner(); return 0; }
	END
	g++ -std=c++11 -O2 -Wall -Wextra -Werror -I"$BATS_TEST_DIRNAME/../../include" -o progcc prog.cc
	WEFT_MARKER_FD=7 ./progcc 7> text
	[ "$(sed 's/[0-9]\{1,\}/PID/g' text)" = 'B|PID|outerB|PID|innerE|PIDE|PID' ]
}

@test "mark.h: a child marks with its own number, and each mark is one system call" {
	need_command gcc
	need_command strace
	cat > prog.c <<- 'END'
		#include <stdio.h>
		#include <sys/wait.h>
		#include <weft/mark.h>
		int main(void)
		{
			weft_mark_begin("parent");
			if (!fork()) {
				weft_mark_begin("child");
				fprintf(stderr, "%d\n", getpid());
				return 0;
			}
			wait(NULL);
			for (int i = 0; i < 50; i++)
				weft_mark_instant("again");
			return 0;
		}
	END
	gcc -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -I"$BATS_TEST_DIRNAME/../../include" -o prog prog.c
	WEFT_MARKER_FD=7 ./prog 7> text 2> child
	[ "$(grep -o 'B|[0-9]*|child' text)" = "B|$(cat child)|child" ]
	[ "$(grep -o '|[0-9]*|parent' text | grep -c "|$(cat child)|")" = 0 ]
	WEFT_MARKER_FD=7 strace -o calls -e trace=getpid ./prog 7> text 2> child || skip "strace cannot trace here"
	[ "$(grep -c getpid calls)" = 1 ]
}

@test "mark: --begin, --end, --counter, --instant and --span write the same words" {
	export WEFT_MARKER_FD=7
	weft mark --begin build 7> text
	[ "$(cat text)" = 'S|0|build|0' ]
	weft mark --end --cookie 12 build 7> text
	[ "$(cat text)" = 'F|0|build|12' ]
	weft mark --counter -3 queue 7> text
	[ "$(sed 's/[0-9]\{2,\}/PID/' text)" = 'C|PID|queue|-3' ]
	run -3 weft mark --span build -- sh -c 'printf "<%s>" "$1"; exit 3' sh -x 7> text
	[ "$output" = '<-x>' ]
	[ "$(sed 's/[0-9]\{2,\}/N/g' text)" = 'S|N|build|NF|N|build|N' ]
	run -1 --separate-stderr weft mark --begin 'a|b' 7> text
	[[ $stderr == *"has a bar"* ]]
	run -2 weft mark --begin --end x
	run -2 weft mark --cookie 3 x
	run -2 weft mark --span build
}

@test "export: --counter shows a field of an event over time" {
	need_command jq
	switches=$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat
	weft report --format json "$switches" | jq -c 'select(.event == "sched_waking") | .fields.pid' > values
	[ "$(wc -l < values)" -gt 3 ]
	weft export --to chrome --counter sched_waking:pid -o c.json "$switches"
	jq -c '.traceEvents[] | select(.ph == "C" and .name == "sched_waking:pid") | .args.value' c.json | diff values -
	weft export --to html --counter sched_waking:pid -o c.html "$switches"
	weft export --to firefox --counter sched:sched_waking:pid -o c.firefox "$switches"
	python3 "$BATS_TEST_DIRNAME/export/firefox.py" counters c.firefox | grep '^sched:sched_waking:pid ' | tr ' ' '\n' | tail -n +2 | diff values -
	if command -v node > /dev/null; then
		[ "$(node "$BATS_TEST_DIRNAME/export/html.js" c.html | grep -c '^value.*sched_waking:pid')" = "$(wc -l < values)" ]
	fi
	weft export --to perfetto --counter sched_waking:pid -o c.pftrace "$switches"
	python3 "$BATS_TEST_DIRNAME/export/perfetto_rules.py" c.pftrace
	if command -v protoc > /dev/null; then
		protoc -I"$BATS_TEST_DIRNAME/export" --decode=weft.Trace "$BATS_TEST_DIRNAME/export/perfetto.proto" < c.pftrace |
			sed -n 's/.*counter_value: //p' | diff values -
	fi
	run -1 --separate-stderr weft export --to chrome --counter sched_waking:nope -o c.json "$switches"
	[[ $stderr == *"no event with a number as its field 'sched_waking:nope'"* ]]
	run -1 --separate-stderr weft export --to chrome --counter sched_waking:pidd -o c.json "$switches"
	[[ $stderr == *"; did you mean 'sched_waking:pid'"* ]]
	run -1 weft export --to chrome --counter sched_waking:comm -o c.json "$switches"
	run -1 weft export --to chrome --counter sched_waking -o c.json "$switches"
	run -2 weft export --to csv --counter sched_waking:pid "$switches"
}
