#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft record --on: another machine, which is this one here: `--rsh env` starts its weft serve without a network.
load lib

setup()
{
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# over SCRIPT: makes a program for --rsh of it: "$@" is the far command
over()
{
	printf '#!/bin/sh\n%s\n' "$1" > rsh
	chmod +x rsh
}

is_gone()
{
	[ ! -e "/proc/$1" ]
}

is_empty()
{
	[ -z "$(ls "$1")" ]
}

is_left_as()
{
	[ -z "$(new_instances "$1")" ]
}

# Everything that a recording of the process $1 may leave on the far side.
is_clean()
{
	[ ! -e "/sys/kernel/tracing/instances/weft-$1" ] && [ -z "$(compgen -G "/dev/shm/serve.weft-$1-*")" ] &&
		[ -z "$(compgen -G "/run/weft/undo-$1-*")" ]
}

# begin: records until it is stopped; sets $near, $serve and $recorder when tracing is on
begin()
{
	weft record -o k.dat --on far --rsh env -e sched -e syscalls -- sh -c 'while :; do echo x; done' > out.txt 2> err.txt 3>&- &
	near=$!
	await pgrep -P $near > /dev/null
	serve=$(pgrep -P $near)
	await pgrep -P "$serve" > /dev/null
	recorder=$(pgrep -P "$serve")
	await await_tracing "$recorder"
}

@test "record --on: makes the file of a local recording, with what the COMMAND printed and its status" {
	need_tracefs
	run -3 --separate-stderr weft record -o a.dat --result a.json --on far --rsh env -F -c -e sched_process_exec -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done; echo out; echo err >&2; exit 3'
	[ "$output" = out ]
	[[ "$stderr" == *err* ]]
	[[ "$stderr" == *"weft: a.dat of far: "* ]]
	weft check a.dat
	# what sh starts
	[ "$(weft report a.dat | grep -c 'filename=/bin/true')" = 9 ]
	events=$(weft report a.dat | grep -c sched_process_exec)
	grep -q "\"events\":$events," a.json
	grep -q '"lost":0,' a.json
	grep -q '"status":3,' a.json
	weft record -q -o b.dat -F -c -e sched_process_exec -- true
	diff <(weft info --settings a.dat | cut -d ' ' -f 1 | grep -v weft/pings | sort) <(weft info --settings b.dat | cut -d ' ' -f 1 | sort)
	[ -z "$(compgen -G '*.parts')" ]
}

@test "record --on: a socket of this machine leads there: unix:PATH" {
	need_tracefs
	need_command python3
	cat > door.py <<'END'
import socket, subprocess, sys
door = socket.socket(socket.AF_UNIX)
door.bind("door")
door.listen()
open("open", "w")
with door.accept()[0] as line:
    subprocess.run(["weft", "serve", "--allow-command"], stdin=line, stdout=line)
END
	python3 door.py 3>&- &
	await [ -e open ]
	run -3 weft record -o a.dat --on unix:door -F -c -e sched_process_exec -- sh -c '/bin/true; exit 3'
	[[ "$output" == *"weft: a.dat of unix:door: "* ]]
	weft report a.dat | grep -q 'filename=/bin/true'
	wait $!
	run -125 weft record -o a.dat --on unix:door -e sched -- true
	[[ "$output" == *"weft: unix:door: cannot connect to it: Connection refused"* ]]
	run -125 weft record -o a.dat --on vsock:7 -e sched -- true
	[[ "$output" == *"weft: vsock:7: '7' is not CID:PORT of a guest"* ]]
	run -2 weft record -o a.dat --on unix:door --rsh env -e sched -- true
	[[ "$output" == *"--rsh: no program leads to 'unix:door'"* ]]
}

@test "--on: stream, status, doctor, extract and flight are run there" {
	need_tracefs
	weft doctor --format json | grep -o '"subject":"[^"]*"' > here
	weft doctor --on far --rsh env --format json | grep -o '"subject":"[^"]*"' | diff here -
	weft stream -q --on far --rsh env -F -c -e sched_process_exec -- sh -c '/bin/true; /bin/true; echo printed >&2' > out.txt 2> err.txt
	[ "$(grep -c filename=/bin/true out.txt)" = 2 ]
	grep -q '^printed' err.txt
	run -4 weft stream -q --on far --rsh env -e sched_process_exec -- sh -c 'exit 4'
	weft stream -q --on far --rsh env -F -c --summary=tasks -- sh -c '/bin/true; /bin/true' > tables.txt
	[ "$(sed -n '/^# all/,$p' tables.txt | grep -c ' /bin/true$')" = 2 ]
	instance=weft-test-on-$$
	mkdir /sys/kernel/tracing/instances/$instance
	for i in 1 2 3; do echo "mark $i" > /sys/kernel/tracing/instances/$instance/trace_marker; done
	echo 1 > /sys/kernel/tracing/instances/$instance/events/sched/sched_process_exit/filter 2> /dev/null || true
	weft status -B $instance > here
	weft status --on far --rsh env -B $instance | diff here -
	run -0 weft extract --on far --rsh env -B $instance -o e.dat
	[[ "$output" == "weft: far: e.dat: 3 events of "* ]]
	[ "$(weft report e.dat | grep -o 'mark [0-9]')" = $'mark 1\nmark 2\nmark 3' ]
	rmdir /sys/kernel/tracing/instances/$instance
	run -1 weft extract --on far --rsh env -B no-such-instance -o f.dat
	[[ "$output" == *"weft: far: "*"no-such-instance"* ]]
	[ ! -e f.dat ]
	run -1 weft flight status --on far --rsh env --name none-of-$$
	[[ "$output" == *"weft: far: no flight named 'none-of-$$' runs"* ]]
	run -2 weft flight start --on far
	run -2 weft status --on a --on b
}

@test "stream --on: ends there when nobody reads any more" {
	need_tracefs
	before=$(ls /sys/kernel/tracing/instances)
	timeout 60 weft stream --on far --rsh env -e sched -e syscalls 2> err.txt | head -n 20 | grep -q sched
	await is_left_as "$before"
	diff /dev/null err.txt
}

# say TYPE WORD...: what a near side sends to ask for something (5: a command, 1: a recording)
say()
{
	local type=$1 words
	shift
	words=$(printf '%s|' "$@")
	printf 'weft-serve 1 x86_64 little 4096 6.1\n'
	printf "\\x$type\\0\\0\\0\\x$(printf %02x ${#words})\\0\\0\\0"
	tr '|' '\0' <<< "$words" | head -c ${#words}
}

@test "serve: what would read, write or start what the words name is not run for another machine" {
	mkfifo line
	exec 9<> line
	for words in 'weft extract|--dump|/etc/passwd' 'weft stream|-e|sched|--decode|--plugin-dir|/tmp' 'weft stream|-e|sched|--|/bin/true' \
		'weft flight|start|--for|sched|--when|signal:SEGV' 'weft report|/etc/passwd' 'weft' 'weft record|-e|sched'; do
		IFS='|' read -ra each <<< "$words"
		say 5 "${each[@]}" >&9
		# the frame of the end
		timeout 60 weft serve < line > out 2> err.txt
		grep -aqE 'is not run for another machine|are run for another machine|used for another machine|is run here|no dump is read' out
	done
}

@test "serve: who says nothing for the time of --silence is gone, and tracing is as before" {
	mkfifo line
	exec 9<> line
	run -1 timeout 60 weft serve --silence 300ms < line
	[[ "$output" == *"weft: nothing has come from the other side for too long"* ]]
	need_tracefs
	before=$(ls /sys/kernel/tracing/instances)
	say 1 'weft record' -e sched >&9
	run -1 timeout 60 weft serve --silence 1s < line
	is_left_as "$before"
}

@test "record --on: - as the output gets the file, and the COMMAND's output goes to standard error" {
	need_tracefs
	weft record -q -o - --on far --rsh env -e sched_process_exec -- echo printed > a.dat 2> err.txt
	grep -q printed err.txt
	weft check a.dat
}

@test "record --on --push: brings a weft, which leaves nothing behind" {
	need_tracefs
	# a machine without weft, and what is run there
	over 'echo "$1" >> asked; PATH=/usr/bin:/bin exec "$@"'
	run -125 weft record -o a.dat --on far --rsh ./rsh -e sched -- true
	[[ "$output" == *"weft there, cannot be started"* ]]
	: > asked
	run -3 --separate-stderr weft record -o a.dat --on far --rsh ./rsh --push "$WEFT" -F -c -e sched_process_exec -- sh -c '/bin/true; exit 3'
	[[ "${stderr_lines[0]}" == "weft: a.dat of far: "* ]]
	weft report a.dat | grep -q 'filename=/bin/true'
	brought=$(sed -n 4p asked)
	[ "$(head -n 3 asked)" = $'mktemp\ndd\nchmod' ]
	[[ "$brought" == /dev/shm/weft-push-* ]]
	[ ! -e "$brought" ]
	weft doctor --on far --rsh ./rsh --push "$WEFT" | grep -q '^ok *kernel'
	# one that is not for that machine, and no program at all
	: > asked
	{ head -c 18 "$WEFT"; printf '\377\377'; tail -c +21 "$WEFT" | head -c 100000; } > other
	run -1 weft doctor --on far --rsh ./rsh --push other
	[ "$(tail -n 1 asked)" = rm ]
	[ ! -e "$(sed -n 4p asked)" ]
	run -1 weft doctor --on far --rsh ./rsh --push rsh
	[ "$output" = "weft: far: 'rsh' is no program" ]
	run -1 weft doctor --on far --rsh false --push "$WEFT"
	[ "$output" = "weft: far: cannot bring weft there: 'false mktemp' has failed" ]
	# a file of another name stays
	run -2 weft serve --pushed unexpected
	[ -x "$WEFT" ]
}

@test "record --on: what fails there is said with the name of the machine, and no file is made" {
	need_tracefs
	run -127 weft record -o a.dat --on far --rsh env -e sched -- /nonexistent/program
	[[ "$output" == *"weft: far: cannot run '/nonexistent/program': No such file or directory"* ]]
	run -125 weft record -o a.dat --on far --rsh env -e no_such_event -- true
	[[ "$output" == *"weft: far: no event 'no_such_event'"* ]]
	over 'exec weft serve'
	run -125 weft record -o a.dat --on far --rsh ./rsh -e sched -- true
	[[ "$output" == *"weft: far: no COMMAND is run here: weft serve was started without --allow-command"* ]]
	[ "$(ls)" = rsh ]
}

@test "record --on: an end that is no weft is told with what it said" {
	over 'echo nobody is here >&2; exit 7'
	run -125 weft record -o a.dat --on far --rsh './rsh %h' -e sched -- true
	[[ "$output" == *"weft: far: nobody is here"* ]]
	[[ "$output" == *"weft: far: weft serve does not answer: './rsh' has ended with status 7"* ]]
	run -125 weft record -o a.dat --on far --rsh ./nonexistent -e sched -- true
	[[ "$output" == *"weft: far: weft serve does not answer: './nonexistent', or the weft there, cannot be started"* ]]
	over 'printf "Welcome!\\033[31m\\n"'
	run -125 weft record -o a.dat --on far --rsh ./rsh -e sched -- true
	[[ "$output" == *"what answers is not 'weft serve': it begins with 'Welcome!.[31m"* ]]
	over 'printf "weft-serve 2 x86_64 little 4096 9.9\\n"'
	run -125 weft record -o a.dat --on far --rsh ./rsh -e sched -- true
	[[ "$output" == *"its weft speaks version 2"* ]]
	[ "$(ls)" = rsh ]
}

@test "record --on: the words of --rsh come before the far command, with the host in them" {
	over 'printf "%s|" "$@" >&2; exit 1'
	run -125 weft record --on box7 --rsh './rsh -p 22 root@%h' -e sched
	[[ "$output" == *"weft: box7: -p|22|root@box7|weft|serve|"* ]]
	run -125 weft record --on box7 --rsh './rsh' -e sched -- true
	[[ "$output" == *"weft: box7: weft|serve|--allow-command|"* ]]
}

@test "record --on: options that cannot be meant are refused" {
	run -2 weft record --on -oProxyCommand=x -e sched
	[[ "$output" == *"is not the name of a machine"* ]]
	run -2 weft record --rsh env -e sched
	[[ "$output" == *"--rsh needs --on"* ]]
	run -2 weft record --on far -m 1M -e sched
	run -2 weft record --on far --dry-run -e sched
	run -2 weft record --on a --on b -o - -e sched
	[[ "$output" == *"the files of several --on have no place on standard output"* ]]
	run -2 weft record --on a --min-ok 1 -e sched
	[[ "$output" == *"--min-ok needs several --on"* ]]
	run -2 weft record --on a --on b --min-ok 3 -e sched
	[[ "$output" == *"--min-ok 3 is more than there are --on"* ]]
	run -2 weft record -e sched prog --on far
	[[ "$output" == *"put -- before the COMMAND"* ]]
}

@test "record --on: hostile frames end in a message" {
	for sample in "$BATS_TEST_DIRNAME"/../corpora/wire/reject/*; do
		over "tail -c +2 '$sample'; cat > /dev/null"
		run -125 timeout 60 weft record -o a.dat --on far --rsh ./rsh -e sched
		[[ "$output" == *"weft: far: "* ]]
	done
}

@test "record --on: pages of either byte order are stored as they come" {
	for sample in whole big-endian; do
		over "tail -c +2 '$BATS_TEST_DIRNAME/../corpora/wire/accept/$sample'; cat > /dev/null"
		run -3 timeout 60 weft record -o $sample.dat --on far --rsh ./rsh -e sched
		[[ "$output" == *"$sample.dat of far: 1 event "* ]]
		run -0 weft check $sample.dat
		[[ "$output" == *"4.0 KiB of pages"* ]]
	done
	weft info big-endian.dat | grep -q 'big endian'
}

@test "record --on: an end that does not read any more, when it is given credit, is no failure" {
	whole=$BATS_TEST_DIRNAME/../corpora/wire/accept/whole
	# 300 frames of a page before the last two frames
	{ printf '\x12\0\1\0\0\x10\0\0' && head -c 4096 /dev/zero; } > frame
	for _ in $(seq 300); do cat frame; done > frames
	over "exec 0<&-; tail -c +2 '$whole' | head -c -146; cat frames; tail -c 146 '$whole'"
	run -3 timeout 60 weft record -o a.dat --on far --rsh ./rsh -e sched
	[[ "$output" == *"a.dat of far: 1 event "* ]]
	[[ "$(weft check a.dat)" == *"1.2 MiB of pages"* ]]
}

@test "record --on: what has arrived when the connection is cut becomes a file, and the far side is as before" {
	need_tracefs
	mkdir far
	before=$(ls /sys/kernel/tracing/instances)
	for bytes in 20 300 30000 60000 4000000; do
		over "\"\$@\" --temp-dir far | head -c $bytes"
		run -125 weft record -o k.dat --on far --rsh ./rsh -e sched -e syscalls -- sh -c 'while :; do echo x; done'
		[[ "$output" == *"weft: far: the connection has ended before the recording did"* || "$output" == *"does not answer"* ]]
		[ ! -e k.dat ] || weft check k.dat
	done
	[[ "$(weft check k.dat)" == *" pages, "[1-9]*" events"* ]]
	await is_empty far
	await is_left_as "$before"
	[ "$(ls)" = $'far\nk.dat\nrsh' ]
}

@test "record --on: a killed near side leaves parts for weft recover, and the far side is as before" {
	need_tracefs
	begin
	kill -9 $near
	wait $near || true
	await is_gone "$serve"
	is_clean "$recorder"
	is_gone "$recorder"
	run -0 weft recover k.dat
	weft check k.dat
	[ -z "$(compgen -G '*.parts')" ]
}

@test "record --on: a killed weft serve ends the recording, which the near side makes a file of" {
	need_tracefs
	begin
	kill -9 "$serve"
	status=0
	wait $near || status=$?
	[ $status = 125 ]
	grep -q 'weft: far: the connection has ended before the recording did' err.txt
	weft check k.dat
	await is_gone "$recorder"
	is_clean "$recorder"
}

@test "record --on: when the process that records is killed, weft serve puts the settings back" {
	need_tracefs
	begin
	kill -9 "$recorder"
	status=0
	wait $near || status=$?
	[ $status = 125 ]
	grep -q 'weft: far: the process that recorded was killed by signal 9; its settings are put back' err.txt
	weft check k.dat
	await is_clean "$recorder"
	await is_gone "$serve"
}

# row HOST: its columns but the number of events
row()
{
	awk -v host="$1" '$1 == host { $3 = ""; print }' err.txt | tr -s ' '
}

@test "record --on: several machines make a file each, which merge makes one of, and a table" {
	need_tracefs
	weft record -o k.dat --result k.json --on a --on b/7 --on a --rsh env -F -c -e sched_process_exec -- \
		sh -c 'for i in 1 2 3 4 5; do /bin/true; done; echo hello' > out.txt 2> err.txt
	[ "$(sort out.txt)" = $'a: hello\na: hello\nb/7: hello' ]
	for file in k-a k-b_7 k-a-2; do
		[ "$(weft report $file.dat | grep -c 'filename=/bin/true')" = 5 ]
		grep -q "\"file\":\"$file.dat\"" $file.json
	done
	[ "$(row b/7)" = 'b/7 ok 0 k-b_7.dat' ]
	[ "$(row a)" = $'a ok 0 k-a.dat\na ok 0 k-a-2.dat' ]
	grep -qF "'weft merge -o k.dat k-a.dat k-b_7.dat k-a-2.dat' makes one recording of them" err.txt
	weft merge -q -o k.dat k-a.dat k-b_7.dat k-a-2.dat
	[ "$(weft report k.dat | grep -c '^k-b_7.*filename=/bin/true')" = 5 ]
	[ -z "$(compgen -G '*.parts')" ]
}

# answer FILE KEY: a number of `weft info`
answer()
{
	weft info --format json "$1" | grep -o "\"$2\":-\?[0-9]*" | head -n 1 | cut -d : -f 2
}

# Both sides have one clock: CLOCK_MONOTONIC is the clock of the trace, and the trace clock of two recordings the same.
compare_clocks()
{
	local offset error file bound pids

	weft record -q -o c.dat -C mono --on far --rsh env -e sched_process_exec -- sh -c '/bin/true; /bin/true'
	offset=$(answer c.dat clock_offset_ns) error=$(answer c.dat clock_offset_error_ns)
	[ "${offset#-}" -le "$error" ]
	# While both record, one after the other makes events.
	weft record -q -o k.dat --on a --on b --rsh env -e sched_process_exec -- sh -c 'touch $$.on; until [ $(ls *.on | wc -l) = 2 ]; do :; done
		for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done; touch $$.off; until [ $(ls *.off | wc -l) = 2 ]; do :; done'
	weft merge -o m.dat k-a.dat k-b.dat 2> merge.txt
	grep -q 'k-b.dat: its times are moved by .*, to the clock of k-a.dat to within +-' merge.txt
	# an event that both have happened at one time
	for file in a b; do
		weft report -t -B k-$file m.dat | sed -n 's/.* \([0-9]*\)\.\([0-9]\{9\}\): sched_process_exec: filename=\/bin\/true pid=\([0-9]*\).*/\3 \1\2/p' | sort -k 1,1 > $file.txt
	done
	bound=$(($(answer k-a.dat clock_offset_error_ns) + $(answer k-b.dat clock_offset_error_ns)))
	# The kernel writes it into one buffer after the other; an interrupt may come between.
	join a.txt b.txt | awk '{ d = $2 - $3; print d < 0 ? -d : d }' | sort -n > apart.txt
	[ "$(wc -l < apart.txt)" = 18 ]
	[ "$(sed -n 9p apart.txt)" -le $bound ]
	# A line has a ~ if one of the other machine is above it that is not further away than the clocks may be off.
	weft report -t m.dat 2> note.txt | grep -v '^ *k-.: #' > lines.txt
	sed -n 's/^ *\(k-.\)\([:~]\).* \([0-9]*\)\.\([0-9]\{9\}\): [a-z_]*: .*/\1 \2 \3\4/p' lines.txt > marks.txt
	[ "$(wc -l < marks.txt)" = "$(wc -l < lines.txt)" ]
	awk -v a="$(weft info -B k-a --setting weft/clock_error m.dat)" -v b="$(weft info -B k-b --setting weft/clock_error m.dat)" '{
		other = $1 == "k-a" ? "k-b" : "k-a"
		print (other in last) && $3 - last[other] <= a + b ? "~" : ":"
		last[$1] = $3 }' marks.txt | diff - <(cut -d ' ' -f 2 marks.txt)
	grep -q '~' marks.txt
	grep -q "note: times of two machines are exact to within .*'~' in place of ':'" note.txt
	# An export has what is needed to say the same.
	weft export --to csv --fields instance,ts,clock_error m.dat 2> note.txt | awk -F , 'NR > 1 {
		other = $1 == "k-a" ? "k-b" : "k-a"
		print (other in last) && $2 - last[other] <= $3 + error[other] ? "~" : ":"
		last[$1] = $2; error[$1] = $3 }' | diff - <(cut -d ' ' -f 2 marks.txt)
	grep -q 'note: times of two machines are exact to within .*: the order of events that are closer is not known' note.txt
	weft sql m.dat 'SELECT instance, ns FROM clock_error ORDER BY instance' --format csv | tail -n +2 > errors.txt
	for file in k-a k-b; do
		grep -qx "$file,$(weft info -B $file --setting weft/clock_error m.dat)" errors.txt
	done
	weft export -q --to ctf -o m.ctf m.dat 2> note.txt
	[ "$(grep -h 'precision = ' -r --include=metadata m.ctf | sort)" = "$(cut -d , -f 2 errors.txt | sed 's/.*/\tprecision = &;/' | sort)" ]
	if command -v babeltrace2 > /dev/null; then
		[ "$(babeltrace2 m.ctf | grep -c sched_process_exec)" = "$(weft report m.dat 2> note.txt | grep -c sched_process_exec)" ]
	fi
	weft export -q --to chrome m.dat 2> note.txt | jq -r '.otherData.clock_error_ns | to_entries[] | .key + "," + .value' | sort | diff errors.txt -
	weft export -q --to firefox m.dat 2> note.txt | jq -r '.meta.extra[0] | .label, (.entries | length), .entries[].label' | xargs > extra.txt
	grep -qx 'Times are exact to within 2 k-a k-b' extra.txt
	weft export -q --to perf -B k-b -o m.perf m.dat 2> note.txt
	grep -aq 'weft; times are exact to within +-[0-9.]* [mun]*s of those of the other machines' m.perf
	rm -rf ./*.dat m.ctf ./*.on ./*.off
}

@test "export: Parquet has how far the clocks of machines may be off" {
	need_tracefs
	need_npm @duckdb/node-api 1.5.6-r.1
	timeout 60 node "$BATS_TEST_DIRNAME/export/duckdb.js" 'SELECT 1' > /dev/null || skip "node cannot load @duckdb/node-api"
	weft record -q -o k.dat --on a --on b --rsh env -e sched_process_exec -- /bin/true
	weft merge -q -o m.dat k-a.dat k-b.dat
	weft export -q --to parquet -o m.tables m.dat 2> note.txt
	for file in k-a k-b; do
		echo "$file|$(weft info -B $file --setting weft/clock_error m.dat)"
	done | diff - <(node "$BATS_TEST_DIRNAME/export/duckdb.js" "SELECT instance, ns FROM 'm.tables/clock_error.parquet' ORDER BY instance")
	weft export -q --to intervals -o m.intervals m.dat 2> note.txt
	node "$BATS_TEST_DIRNAME/export/duckdb.js" "SELECT instance, clock_error FROM 'm.intervals/recording.parquet' ORDER BY instance" |
		diff <(node "$BATS_TEST_DIRNAME/export/duckdb.js" "SELECT instance, ns FROM 'm.tables/clock_error.parquet' ORDER BY instance") -
	weft export -q --to parquet -o one.tables k-a.dat
	[ -e one.tables/clock.parquet ]
	[ ! -e one.tables/clock_error.parquet ]
}

@test "record --on: info tells how far the clock may be off, and merge compares clocks by it" {
	need_tracefs
	compare_clocks
}

# bats test_tags=long
@test "record --on: clocks that are one are found to be one in 20 recordings" {
	need_tracefs
	for _ in $(seq 20); do compare_clocks; done
}

@test "record --on: of several machines one that fails is told, and --min-ok says how many are enough" {
	need_tracefs
	over '[ "$1" != b ] || { echo nobody is here >&2; exit 7; }; shift; exec "$@"'
	status=0
	weft record -o k.dat --on a --on b --rsh './rsh %h' -e sched_process_exec -- true 2> err.txt || status=$?
	[ $status = 1 ]
	grep -q '^weft: b: nobody is here' err.txt
	[ "$(row a)" = 'a ok 0 k-a.dat' ]
	[[ "$(row b)" == "b failed - - weft serve does not answer: './rsh' has ended with status 7" ]]
	grep -q '^weft: 1 of 2 machines was recorded' err.txt
	[ ! -e k-b.dat ]
	weft record -q -o k.dat --on a --on b --min-ok 1 --rsh './rsh %h' -e sched_process_exec -- true
	# the status of the COMMAND
	run -4 weft record -q -o k.dat --on a --on b --min-ok 1 --rsh './rsh %h' -e sched_process_exec -- sh -c 'exit 4'
}

@test "record --on: Ctrl-C ends the recordings of several machines; a kill of the first process ends all" {
	need_tracefs
	for signal in INT KILL; do
		before=$(ls /sys/kernel/tracing/instances)
		weft record -o k.dat --on a --on b --rsh env -e sched 2> err.txt 3>&- &
		near=$!
		recorders=
		await eval '[ "$(pgrep -P $near | wc -l)" = 2 ]'
		ones=$(pgrep -P $near)
		for one in $ones; do
			await pgrep -P "$one" > /dev/null
			serve=$(pgrep -P "$one")
			await pgrep -P "$serve" > /dev/null
			recorders="$recorders $(pgrep -P "$serve")"
		done
		for recorder in $recorders; do await await_tracing "$recorder"; done
		kill -$signal $near
		status=0
		wait $near || status=$?
		[ $signal = INT ] || [ $status = 137 ]
		for recorder in $recorders; do await is_clean "$recorder"; await is_gone "$recorder"; done
		await is_left_as "$before"
		if [ $signal = INT ]; then
			[ $status = 0 ]
			weft check k-a.dat
			weft check k-b.dat
			rm k-?.dat
		fi
	done
	for one in $ones; do await is_gone "$one"; done
	run -0 weft recover k-a.dat
	run -0 weft recover k-b.dat
	weft check k-a.dat
}

# Debian's sshd; a key, a host and a path of its own. One that is unpacked (tests/deps) has its libraries beside it, and
# its user in a list of users that only it sees. Sets $sshd: a command for a shell, and $ssh: the client's.
prepare_ssh()
{
	local program unpacked=${WEFT%/*}/sshd before=''
	PATH=$PATH:/usr/sbin
	need_command ssh-keygen
	program=$(command -v sshd) || {
		program=$unpacked/usr/sbin/sshd
		[ -x "$program" ] || skip "sshd is not installed"
		grep -v '^sshd:' /etc/passwd > passwd
		echo 'sshd:x:65530:65534::/run/sshd:/usr/sbin/nologin' >> passwd
		before="mount --bind $PWD/passwd /etc/passwd && LD_LIBRARY_PATH=$(dirname "$(find "$unpacked" -name 'libwrap.so.0')") "
	}
	ssh-keygen -q -t ed25519 -N '' -f host
	ssh-keygen -q -t ed25519 -N '' -f user
	printf '%s\n' "HostKey $PWD/host" "AuthorizedKeysFile $PWD/user.pub" 'PidFile none' 'UsePAM no' 'StrictModes no' 'PermitRootLogin yes' \
		"SetEnv PATH=$PATH" > config
	mkdir -p /run/sshd
	sshd="${before}exec $program -f $PWD/config"
	ssh="ssh -oBatchMode=yes -T -oStrictHostKeyChecking=no -oUserKnownHostsFile=/dev/null -oLogLevel=ERROR -i '$PWD/user'"
}

# One that has a pipe instead of a port.
begin_ssh()
{
	prepare_ssh
	{ echo '#!/bin/sh'; echo "exec unshare -m sh -c '$sshd -i' 2>> $PWD/log"; } > door
	chmod +x door
	over "exec $ssh -oProxyCommand='$PWD/door' root@\"\$@\""
}

# A network of two machines, whose one link can be cut: `ip -n weft-near-$$ link set near down`.
begin_network()
{
	need_command ip
	prepare_ssh
	ip netns add "weft-near-$$" 2> /dev/null || skip "no network namespaces here"
	ip netns add "weft-far-$$"
	ip -n "weft-near-$$" link add near type veth peer name far netns "weft-far-$$"
	ip -n "weft-near-$$" address add 198.51.100.1/24 dev near
	ip -n "weft-far-$$" address add 198.51.100.2/24 dev far
	ip -n "weft-near-$$" link set near up
	ip -n "weft-far-$$" link set far up
	ip netns exec "weft-far-$$" unshare -m sh -c "$sshd -D -e" 2> log 3>&- &
	daemon=$!
	await grep -q 'Server listening' log
	over "exec ip netns exec weft-near-$$ $ssh root@198.51.100.2 \"\$@\""
}

teardown()
{
	[ -z "${daemon:-}" ] || kill "$daemon" || true
	[ ! -e "/run/netns/weft-near-$$" ] || ip netns delete "weft-near-$$"
	[ ! -e "/run/netns/weft-far-$$" ] || ip netns delete "weft-far-$$"
}

# across_a_cut WRITES SECONDS BUFFER WORDS: records so many writes, all of which happen while the link is cut, for SECONDS at
# least, with buffers of BUFFER. `weft serve` gets the words. Sets $events and $lost.
across_a_cut()
{
	rm -f cut happened
	sed -i "s/\"\$@\".*/\"\$@\" $4/" rsh
	weft record -o k.dat --result k.json -b $3 --compression none --on far --rsh ./rsh -F -c -e syscalls:sys_enter_write -f 'count == 1' -- \
		sh -c "until [ -e $PWD/cut ]; do sleep 0.05; done; dd if=/dev/zero of=/dev/null bs=1 count=$1 status=none; touch $PWD/happened; sleep $2" \
		> out.txt 2> err.txt 3>&- &
	near=$!
	# its first metadata is here
	await eval 'grep -qs clock k.dat*.parts/metadata'
	ip -n "weft-near-$$" link set near down
	touch cut
	await [ -e happened ]
	# None of it has arrived.
	[ "$(find k.dat*.parts -name '[0-9]*' -exec cat {} + | wc -c)" -lt 65536 ]
	sleep "$2"
	ip -n "weft-near-$$" link set near up
	wait $near
	weft check k.dat
	events=$(weft report k.dat | grep -c 'sys_write')
	lost=$(grep -o '"lost":[0-9]*' k.json | head -n 1 | cut -d : -f 2)
}

@test "record --on: a cut of the network loses nothing as far as the spool reaches, and the rest is counted exactly" {
	need_tracefs
	begin_network
	across_a_cut 100000 0 32M ''
	[ "$events $lost" = '100000 0' ]
	across_a_cut 500000 0 100 '--spool 1M'
	[ "$lost" -gt 0 ]
	[ $((events + lost)) = 500000 ]
}

# bats test_tags=long
@test "record --on: a cut of 20 s is told, and so that it is over" {
	need_tracefs
	begin_network
	across_a_cut 100000 20 32M ''
	[ "$events $lost" = '100000 0' ]
	grep -q '^weft: far: nothing comes from there any more' err.txt
	grep -q '^weft: far: something comes again' err.txt
}

@test "record --on: over ssh, with a COMMAND, and until the connection is killed" {
	need_tracefs
	begin_ssh
	run -3 weft record -o a.dat --on far --rsh './rsh %h' -e sched_process_exec -- sh -c 'for i in 1 2 3 4 5; do /bin/true; done; exit 3'
	[ "$(weft report a.dat | grep -c 'filename=/bin/true')" = 5 ]
	before=$(ls /sys/kernel/tracing/instances)
	weft record -o b.dat --on far --rsh './rsh %h' -e sched -e syscalls -- sh -c 'echo begun; while :; do echo x; done' > out.txt 2> err.txt 3>&- &
	near=$!
	await grep -q begun out.txt
	kill -9 "$(pgrep -P $near)"
	status=0
	wait $near || status=$?
	[ $status = 125 ]
	weft check b.dat
	await is_left_as "$before"
}

@test "record --on: Ctrl-C ends the recording there" {
	need_tracefs
	weft record -o k.dat --on far --rsh env -e sched 2> err.txt 3>&- &
	near=$!
	await pgrep -P $near > /dev/null
	serve=$(pgrep -P $near)
	await pgrep -P "$serve" > /dev/null
	recorder=$(pgrep -P "$serve")
	await await_tracing "$recorder"
	kill -INT $near
	wait $near
	grep -q 'k.dat of far: ' err.txt
	weft check k.dat
	await is_clean "$recorder"
}

@test "record --on: what a slow connection does not take is lost in the kernel's buffers, and counted as there" {
	need_tracefs
	over '"$@" --spool 1M | { until [ -e done ]; do sleep 0.05; done; cat; }'
	run -0 weft record -o k.dat --result k.json -b 100 --on far --rsh ./rsh -e syscalls -- \
		sh -c 'i=0; while [ $i -lt 100000 ]; do echo $i; i=$((i + 1)); done > /dev/null; touch done'
	weft check k.dat
	lost=$(grep -o '"lost":[0-9]*' k.json | head -n 1 | cut -d : -f 2)
	events=$(grep -o '"events":[0-9]*' k.json | head -n 1 | cut -d : -f 2)
	[ "$lost" -gt 0 ]
	[ "$(weft report k.dat | grep -c 'sys_')" = "$events" ]
	# the kernel's own counters there, which are in the file
	for stats in $(weft info --settings k.dat | grep -o 'per_cpu/cpu[0-9]*/stats'); do weft info --setting "$stats" k.dat; done > stats
	[ "$(awk '/^overrun:|^commit overrun:|^dropped events:/ { sum += $NF } END { print sum }' stats)" = "$lost" ]
}

# bats test_tags=long
@test "record --on: a guest, over a port of its serial device, whose clock is compared with the one here" {
	kernel=$SHARED/kernels/bzImage-6.12-alltracers
	need_shared kernels/bzImage-6.12-alltracers
	need_command qemu-system-x86_64
	need_command python3
	mkdir share
	"$BATS_TEST_DIRNAME/../guest/initramfs" initramfs - "$(command -v weft)"
	cat > share/guest.sh <<'END'
for entry in /sys/class/virtio-ports/*; do
	if [ "$(cat "$entry/name")" = weft ]; then port=/dev/${entry##*/}; fi
done
until [ -e /host/end ]; do
	weft serve --allow-command <> "$port" >&0 2> /tmp/said
	grep -q ended /tmp/said && { cat /tmp/said; ls /sys/kernel/tracing/instances /dev/shm; echo left; } > /host/left
	sleep 0.1
done
END
	read -ra qemu < <("$BATS_TEST_DIRNAME/../guest/machine" qemu 6.12 tcg,thread=single)
	timeout 600 "${qemu[@]:1}" -nographic -no-reboot -nic none -kernel "$kernel" -initrd initramfs \
		-append "console=ttyS0 quiet panic=1 no_timer_check mitigations=off" -virtfs local,path=share,mount_tag=h,security_model=none,id=h \
		-device virtio-serial -chardev socket,id=weft,path=door,server=on,wait=off -device virtserialport,chardev=weft,name=weft \
		< /dev/null > console.txt 2>&1 3>&- &
	guest=$!
	await [ -S door ]
	# An event that happens between two moments here
	weft record -q -o g.dat --on unix:door -e sched_process_exec -- \
		sh -c ': > /host/ready; until [ -e /host/go ]; do :; done; /bin/true; : > /host/seen' 2> err.txt 3>&- &
	near=$!
	await [ -e share/ready ]
	go=$(python3 -c 'import time; open("share/go", "w"); print(time.monotonic_ns())')
	await [ -e share/seen ]
	seen=$(python3 -c 'import time; print(time.monotonic_ns())')
	wait $near
	at=$(weft report -t g.dat | sed -n 's/.* \([0-9]*\)\.\([0-9]\{9\}\): sched_process_exec: filename=\/bin\/true .*/\1\2/p')
	offset=$(answer g.dat clock_offset_ns) error=$(answer g.dat clock_offset_error_ns)
	echo "go $((at + offset - go)) ns before, seen $((seen - at - offset)) ns after, +-$error ns"
	[ $((at + offset + error)) -ge "$go" ]
	[ $((at + offset - error)) -le "$seen" ]
	[ "$error" -lt 100000000 ]
	# A killed near side
	weft record -q -o h.dat --on unix:door -e sched -- sh -c ': > /host/runs; while :; do :; done' 2> err.txt 3>&- &
	near=$!
	await [ -e share/runs ]
	kill -9 $near
	# from before this recording
	rm -f share/left
	await grep -qs left share/left
	[ "$(grep -v ended share/left)" = $'/dev/shm:\n\n/sys/kernel/tracing/instances:\nleft' ]
	run -0 weft recover h.dat
	weft check h.dat
	: > share/end
	wait $guest
}

@test "record --on: the other machine keeps to --sample and to a budget" {
	need_tracefs
	need_mounts
	need_command jq
	[ -e /proc/pressure/cpu ] || skip "this kernel does not measure pressure"
	echo 'some avg10=0.00 avg60=0.00 avg300=0.00 total=0' > idle
	echo 'some avg10=41.00 avg60=0.00 avg300=0.00 total=0' > busy
	# NAME, and idle or busy behind a dot
	over 'name=$1; shift; exec unshare -mu sh -c '"'"'hostname "${0%.*}"; for of in cpu memory io; do mount --bind "${0##*.}" /proc/pressure/$of; done; exec "$@"'"'"' "$name" "$@"'
	sampled()
	{
		rm -f s*.dat r*.json
		timeout 60 weft record -e sched:sched_switch --duration 50ms -o s.dat --result r.json --rsh './rsh %h' "$@"
	}
	run -0 sampled --sample 1/1 --on here.busy
	[[ "$output" = *"weft: here.busy: nothing is recorded: the machine is under pressure: for 41 % of the last 10 s tasks waited for cpu"* ]]
	[ "$(jq -c '[.file, .error, .skipped]' r.json)" = '[null,null,"pressure"]' ]
	[ ! -e s.dat ]
	# The hash has the name of the machine there: of 64, some record in this hour and some do not.
	out='' in=''
	for ((n = 0; n < 64 && (!${#in} || !${#out}); n++)); do
		run -0 sampled --sample 1/2 --on "web-$n.idle"
		if [ -e s.dat ]; then
			in=web-$n.idle
			[ "$(weft info --format json s.dat | jq .weight)" = 2 ]
		else
			out=web-$n.idle
			[[ "$output" = *"weft: $out: nothing is recorded: this hour of 'web-$n' is not in the sample 1/2"* ]]
			[ "$(jq -c '[.file, .error, .skipped]' r.json)" = '[null,null,"hour"]' ]
		fi
	done
	[ -n "$in" ]
	[ -n "$out" ]
	run -0 sampled --sample 1/2 --on "$in" --on "$out"
	[ "$(ls s*.dat)" = "s-$in.dat" ]
	[[ "$output" =~ "$in "+ok && "$output" =~ "$out "+skipped ]]
	[ -z "$(compgen -G '*.parts')" ]
	run -0 timeout 100 weft record -e 'raw_syscalls:*' -F -c --max-events 2000 -o e.dat --result r.json --rsh './rsh %h' --on web-1.idle -- \
		dd if=/dev/zero of=/dev/null bs=1 count=10000000
	[[ "$output" = *"the recording ended early: --max-events 2,000 is used up"* ]]
	[ "$(jq -c '[.ended_by, .skipped]' r.json)" = '["max-events",null]' ]
	[ "$(weft info --format json e.dat | jq -r .ended_by)" = 'max-events 2000' ]
}
