#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# How record, extract, recover and pack write the output file. The oracle is the file system.
load lib

setup()
{
	pages=$PWD/tests/corpora/container/accept/v7-zstd.dat file=$PWD/tests/fixtures/demo.dat
	cd "$BATS_TEST_TMPDIR" || exit 1
	mkdir dir
	echo '[boot] local' > dir/trace_clock
}

pack()
{
	weft pack -q dir --pages "$pages" "$@"
}

mode()
{
	stat -c %a "$1"
}

@test "output: a file has the mode 600, and another with --mode, whatever the umask is" {
	for mask in 000 077; do
		umask $mask
		pack -o default.dat
		[ "$(mode default.dat)" = 600 ]
		pack -o wide.dat --mode 644
		[ "$(mode wide.dat)" = 644 ]
		# A file that is replaced does not keep its own mode.
		pack -o wide.dat
		[ "$(mode wide.dat)" = 600 ]
	done
	[ "$(ls -A)" = $'default.dat\ndir\nwide.dat' ]
	for bad in 888 1777 rw '' 6x; do
		run -2 pack -o bad.dat --mode "$bad"
		[[ "$output" == *"--mode"* ]]
	done
	[ ! -e bad.dat ]
}

@test "output: record, extract and recover write files of mode 600, and others with --mode" {
	need_tracefs
	weft record -q -o r.dat -e sched -- true
	[ "$(mode r.dat)" = 600 ]
	weft record -q -o r.dat --mode 640 -e sched -- true
	[ "$(mode r.dat)" = 640 ]
	weft record -q -o r.dat -e sched --temp-dir /dev/shm -- true
	[ "$(mode r.dat)" = 600 ]
	weft record -q -o r.dat --mode 604 -e sched --temp-dir /dev/shm -- true
	[ "$(mode r.dat)" = 604 ]
	weft check r.dat
	I=/sys/kernel/tracing/instances/weft-out-$$
	for how in 600 644; do
		mkdir $I
		echo mark > $I/trace_marker
		weft extract -q -B weft-out-$$ -o e.dat --mode $how || { rmdir $I; false; }
		rmdir $I
		[ "$(mode e.dat)" = $how ]
	done
	for how in "600" "664 --mode 664"; do
		weft record -q -o k.dat -e sched 3>&- &
		pid=$!
		await_tracing $pid
		[ "$(mode "$(ls -d k.dat.weft-$pid-*.parts)")" = 700 ]
		kill -9 $pid
		wait $pid || true
		rm -f k.dat
		# shellcheck disable=SC2086
		weft recover k.dat ${how#???}
		[ "$(mode k.dat)" = "${how%% *}" ]
	done
}

@test "output: a link of one's own leads to the file, and stays" {
	mkdir there
	ln -s there/t.dat link
	ln -s link link2
	pack -o link2
	[ -L link ]
	[ -L link2 ]
	weft check there/t.dat
	echo old > there/t.dat
	pack -o link
	weft check there/t.dat
	ln -s loop loop
	run -1 pack -o loop
	[[ "$output" == *"oo many levels"* ]]
	run -1 pack -o there
	[[ "$output" == *"'there' is a directory"* ]]
	run -1 pack -o absent/t.dat
	[[ "$output" == *"absent/t.dat"* ]]
	[ "$(ls -A there)" = t.dat ]
}

@test "output: a link or FIFO of another user is refused, and nothing happens to what it leads to" {
	need_root
	mkdir shared
	chmod 1777 shared
	echo precious > victim
	ln -s ../victim shared/t.dat
	chown -h nobody shared/t.dat
	run -1 pack -o shared/t.dat
	[[ "$output" == *"'shared/t.dat' is a symbolic link that belongs to another user"* ]]
	mkfifo shared/fifo
	chown nobody shared/fifo
	sleep 20 3>&- > shared/none < shared/fifo &
	reader=$!
	run -1 timeout 60 weft pack -q dir --pages "$pages" -o shared/fifo
	kill $reader
	[[ "$output" == *"'shared/fifo' is a FIFO that belongs to another user"* ]]
	[ "$(cat victim)" = precious ]
	[ "$(ls -A shared)" = $'fifo\nnone\nt.dat' ]
}

@test "output: record tells of a link of another user before it records" {
	need_tracefs
	echo precious > victim
	ln -s victim t.dat
	chown -h nobody t.dat
	run -125 weft record -o t.dat -e sched -- touch ran
	[[ "$output" == *"symbolic link that belongs to another user"* ]]
	[ ! -e ran ]
	[ "$(cat victim)" = precious ]
	[ "$(ls -A)" = $'dir\nt.dat\nvictim' ]
}

@test "output: no name that record uses can be foreseen" {
	need_tracefs
	echo precious > victim
	# The PID is known before the recording begins.
	sh -c 'ln -s victim r.dat.weft-$$.unfinished; mkdir r.dat.weft-$$.parts; exec weft record -q -o r.dat -e sched -- true'
	[ "$(cat victim)" = precious ]
	weft check r.dat
}

@test "output: devices, FIFOs and names of standard output are written to as they are" {
	pack -o want.dat
	pack -o /dev/null
	[ -c /dev/null ]
	pack -o /dev/stdout > stdout.dat
	[ -L /dev/stdout ]
	cmp want.dat stdout.dat
	pack -o - | cmp want.dat
	pack -o /dev/stdout | cmp want.dat
	mkfifo fifo
	cat fifo > fifo.dat 3>&- &
	pack -o fifo
	wait $!
	cmp want.dat fifo.dat
	pack -o >(cat > substituted.dat)
	until cmp want.dat substituted.dat; do sleep 0.02; done
}

# The oracle is a file that the workload makes.
@test "output: what cannot be written is told before the command runs, by the name that was given" {
	need_tracefs
	for bad in . /proc/x /nonexistent/x '/proc/x --temp-dir .' 'x.dat --temp-dir /nonexistent'; do
		# shellcheck disable=SC2086
		run -125 weft record -e sched -o $bad -- touch ran
		[[ "$output" == *"'${bad#* --temp-dir }'"* || "$output" == *"'${bad%% *}'"* ]]
		[[ "$output" != *.parts* ]]
		[ ! -e ran ]
	done
	[ "$(ls -A)" = dir ]
}

@test "output: a trace file does not go to a terminal" {
	need_command script
	for file in - /dev/stdout /dev/tty; do
		script -qec "$WEFT pack -o $file dir --pages $pages" /dev/null < /dev/null > shown || true
		grep -q "^weft: '$file' is a terminal.*-o" shown
		[ "$(wc -l < shown)" = 1 ]
	done
	need_tracefs
	script -qec "$WEFT record -e sched -o - -- touch ran" /dev/null < /dev/null > shown || true
	grep -q "^weft: '-' is a terminal.*-o" shown
	[ ! -e ran ]
}

@test "output: nothing is left when the reader of standard output has had enough" {
	need_tracefs
	mkdir tmp
	weft record -e sched -o - --temp-dir tmp -- true 2> told | head -c 10 > taken
	[ -s taken ]
	[ -z "$(ls -A tmp)" ]
	run -1 grep -q recover told
}

# closed_as_open COMMAND...: makes out.* of in.dat with open and with closed descriptors, and compares both
closed_as_open()
{
	rm -rf out.* in.dat
	cp "$WEFT_SAMPLE" in.dat
	weft "$@" 2> open.text
	mv out.* open
	weft "$@" 2>&-
	cmp out.* open
	rm -rf out.*
	weft "$@" <&- >&- 2>&-
	cmp out.* open
	rm -rf out.* open
}

@test "output: with closed descriptors 0, 1 and 2 each command reads and writes its files as with open ones" {
	WEFT_SAMPLE=$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat
	weft report "$WEFT_SAMPLE" > open
	weft report "$WEFT_SAMPLE" <&- | cmp - open
	weft report "$WEFT_SAMPLE" 2>&- | cmp - open
	rm open
	for command in "export --to csv -o out.csv in.dat" "export --to jsonl -o out.jsonl in.dat" "export --to parquet -o out.parquet in.dat" \
		"convert -o out.dat in.dat" "split --tail 5 -o out.dat in.dat"; do
		# shellcheck disable=SC2086 # words
		closed_as_open $command || { echo "$command"; false; }
	done
	# Both have an identity of their own, so the files differ; that of merge also in its sums.
	for command in "merge -o out.dat in.dat in.dat" "export --to sqlite -o out.db in.dat"; do
		cp "$WEFT_SAMPLE" in.dat
		# shellcheck disable=SC2086 # words
		weft $command <&- >&- 2>&-
		run ! grep -a 'weft: ' out.*
		rm out.*
	done
	weft merge -o out.dat in.dat in.dat <&- >&- 2>&-
	weft check -q out.dat
}

@test "output: what cannot be printed, because standard output is closed, is a failure that is told" {
	for command in info report sched; do
		run -1 --separate-stderr sh -c "weft $command '$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat' >&-"
		[[ "$stderr" == *"Bad file descriptor"* ]] || { echo "$command: $stderr"; false; }
	done
	run -1 --separate-stderr sh -c 'weft report - <&-'
	[[ "$stderr" == *"Bad file descriptor"* ]]
}

# As below a service manager, which ignores the signal of a closed pipe.
@test "output: where the signal of a closed pipe is ignored, each command says what failed" {
	for command in "report" "report --format json" "report --format pretty" "export --to jsonl -o -"; do
		# shellcheck disable=SC2086 # words
		run -1 python3 -c 'import os, signal, subprocess, sys
r, w = os.pipe()
os.close(r)
ignore = lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)
ended = subprocess.run(sys.argv[1:], stdout=w, stderr=subprocess.PIPE, preexec_fn=ignore, restore_signals=False)
print(ended.stderr.decode(), end="")
sys.exit(ended.returncode)' weft $command "$file"
		echo "$command: $output"
		[ "$output" = "weft: cannot write to standard output: Broken pipe" ]
	done
}
