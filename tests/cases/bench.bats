#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft bench: what it measures, its conditions and its refusals. tests/unit/bench.c checks the test with runs of known
# times.
load lib

# The other figures of two sleeps may be called changed by chance; the wall time must be.
@test "bench: a command that sleeps longer takes longer" {
	need_command jq
	run -0 weft bench --plain --runs 8 --warmup 0 --format json -- 'sleep 0.03' -- 'sleep 1'
	[ "$(jq '.times[] | select(.command == "old" and .figure == "wall") | .min_ns >= 30000000' <<< "$output")" = true ]
	[ "$(jq '.times[] | select(.command == "new" and .figure == "wall") | .min_ns >= 1000000000' <<< "$output")" = true ]
	[ "$(jq -r '.figures[] | select(.figure == "wall") | .verdict' <<< "$output")" = + ]
	[ "$(jq '[.runs[] | select(.command == "new")] | length' <<< "$output")" = 8 ]
	[[ "$(jq -r .notes <<< "$output")" == *"new: sleep 1"* ]]
}

@test "bench: --fail-if ends with 1 when a change is larger, and with 125 when no run can show it" {
	run -1 --separate-stderr weft bench --plain --runs 6 --warmup 0 --fail-if 'wall > 50%' -- 'sleep 0.01' -- 'sleep 1'
	[[ "$stderr" == *"wall changed by +"*"which --fail-if 'wall > 50%' does not allow"* ]]
	[[ "$output" == *"figures: medians"* ]]
	run -125 --separate-stderr weft bench --plain --runs 2 --warmup 0 --fail-if 'wall > 50%' -- true -- true
	[[ "$stderr" == *"cannot be checked: so few runs prove no change of wall"* ]]
}

@test "bench: one command alone has its times, and no comparison" {
	run -0 weft bench --plain --runs 3 -- 'exit 0'
	[[ "${lines[0]}" == "# times: "* ]]
	[[ "$output" == *"command  wall"* ]]
	[[ "$output" != *"# figures"* ]]
	[[ "$output" != *"lost events"* ]]
}

@test "bench: runs the commands as often as it says, in an order that the seed chooses" {
	cd "$BATS_TEST_TMPDIR"
	for i in 1 2; do
		weft bench --plain --runs 9 --warmup 2 --seed 7 -- "echo a >> order.$i" -- "echo b >> order.$i"
		[ "$(grep -c a "order.$i")" = 11 ]
		[ "$(grep -c b "order.$i")" = 11 ]
	done
	cmp order.1 order.2
	# Of each two runs, one is of each command; both orders happen.
	[ "$(paste -d '' - - < order.1 | sort -u)" = "$(printf 'ab\nba')" ]
}

@test "bench: several words are a program and its arguments, and one word is a line for the shell" {
	cd "$BATS_TEST_TMPDIR"
	weft bench --plain --runs 1 --warmup 0 -- touch 'a b' 'x;y' -- 'touch c; touch d'
	[ -e 'a b' ]
	[ -e 'x;y' ]
	[ -e c ]
	[ -e d ]
	# What the command reads and prints is not weft's.
	echo word > input
	run -0 --separate-stderr weft bench --plain --runs 1 --warmup 0 -- 'cat; echo printed' < input
	[[ "$output" != *word* ]]
	[ "$(grep -c '^printed' <<< "$output")" = 0 ]
}

@test "bench: --prepare runs before each run and is not measured" {
	cd "$BATS_TEST_TMPDIR"
	weft bench --plain --runs 2 --warmup 1 --prepare 'echo p >> order' -- 'echo a >> order'
	[ "$(tr -d '\n' < order)" = papapa ]
	run -125 --separate-stderr weft bench --plain --prepare 'exit 4' -- true
	[[ "$stderr" == *"'exit 4' ended with status 4"* ]]
}

@test "bench: a command that fails is an error unless --ignore-failure" {
	run -125 --separate-stderr weft bench --plain -- 'exit 3'
	[[ "$stderr" == *"'exit 3' ended with status 3; --ignore-failure measures it all the same"* ]]
	[ -z "$output" ]
	run -0 weft bench --plain --runs 2 --ignore-failure -- 'exit 3'
	run -125 --separate-stderr weft bench --plain -- ./no-such-command --option
	[[ "$stderr" == *"cannot run './no-such-command'"* ]]
}

@test "bench: a wrong command line is refused" {
	while read -r words; do
		run -2 bash -c "weft bench --plain $words"
		[[ "$output" == *"weft bench: "* ]] || { echo "$words: $output"; false; }
	done <<- 'END'
		true
		--
		-- true --
		-- -- true
		-- true -- true -- true
		--runs 0 -- true
		--runs 101 -- true
		--warmup x -- true
		--format yaml -- true
		--fail-if 'wall > 2' -- true -- true
		--fail-if 'p99 > 2%' -- true -- true
		--fail-if 'wall > 2%' -- true
		--for nosuch -- true -- true
		--for , -- true -- true
		--keep x -- true -- true
		--save x -- true -- true
		--against x -- true -- true
		--against x --save y -- true
		--fail-if 'read: wall > 2%' -- true -- true
	END
}

@test "bench: SIGTERM ends the command and then weft" {
	cd "$BATS_TEST_TMPDIR"
	# shellcheck disable=SC2016 # for the shell that bench runs
	weft bench --plain --warmup 0 -- 'echo $$ > pid; exec sleep 1000' 2> err 3>&- &
	until [ -s pid ]; do sleep 0.02; done
	kill -TERM $!
	status=0
	wait $! || status=$?
	[ "$status" = 125 ]
	grep -q "a signal has ended it" err
	run ! kill -0 "$(cat pid)"
}

# The time of a sleep is certain: whatever else the machine does, one lasts a second longer.
# bats test_tags=long
@test "bench: what the runs did tells the sleep, with programs of two names as one task" {
	need_tracefs
	need_command jq
	cd "$BATS_TEST_TMPDIR"
	cp "$(command -v sleep)" nap
	cp nap nap.new
	run -1 --separate-stderr weft bench --runs 8 --warmup 0 --keep kept --format json --fail-if 'nap asleep: time > 50%' \
		-- './nap 0.03' -- './nap.new 1'
	[[ "$stderr" == *"nap asleep changed by +"* ]]
	[ "$(jq '.changes[] | select(.row == "nap asleep") | .verdict == "+" and .more_ns > 900000000' <<< "$output")" = true ]
	[ "$(jq '.changes[] | select(.row == "clock_nanosleep") | .verdict == "+" and .calls_verdict == "=" and .old_calls == 1 and .new_calls == 1' <<< "$output")" = true ]
	[ "$(jq -r '.changes[0].row | IN("nap asleep", "clock_nanosleep")' <<< "$output")" = true ]
	[[ "$(jq -r .notes <<< "$output")" == *"'nap.new' of the new command is compared with 'nap' of the old one"* ]]
	# The program took the place of the shell that started it.
	[ "$(jq '[.changes[] | select(.row == "wait4")] | length' <<< "$output")" = 0 ]
	# Each instance of a recording belongs to a weft that runs; others may record meanwhile.
	for instance in /sys/kernel/tracing/instances/weft-*; do
		[[ "$instance" =~ /weft-([0-9]+)(-[0-9]+)?$ ]] || continue
		kill -0 "${BASH_REMATCH[1]}" || [ ! -e "$instance" ]
	done
	[ "$(ls kept | wc -l)" = 16 ]
	run -0 weft check kept/new-08.dat
}

# Numbers of calls are certain, however long they take.
# bats test_tags=long
@test "bench: one more system call in each loop is found, and the same loop again has none" {
	need_tracefs
	need_command jq python3
	cd "$BATS_TEST_TMPDIR"
	cat > loop << 'END'
import os, sys
for i in range(300):
    os.getppid()
    if len(sys.argv) > 1:
        os.getuid()
END
	run -1 --separate-stderr weft bench --runs 8 --warmup 0 --format json --for syscalls --fail-if 'getuid: calls > 10%' \
		-- python3 -S -E loop -- python3 -S -E loop more
	[[ "$stderr" == *"getuid changed by +"*"which --fail-if 'getuid: calls > 10%' does not allow"* ]]
	[ "$(jq '.changes[] | select(.row == "getuid") | .calls_verdict == "+" and .new_calls - .old_calls == 300' <<< "$output")" = true ]
	[ "$(jq '[.changes[] | select(.row == "getppid" and .calls_verdict != "=")] | length' <<< "$output")" = 0 ]
	run -0 --separate-stderr weft bench --runs 8 --warmup 0 --format json --for syscalls --fail-if 'getppid: calls > 0%' \
		-- python3 -S -E loop -- python3 -S -E loop
	[ "$(jq '[.changes[] | select(.row == "getppid" and .calls_verdict != "=")] | length' <<< "$output")" = 0 ]
}

@test "bench: page faults are those of a task, with --for memory" {
	need_tracefs
	need_command jq
	need_command python3
	[ -d /sys/kernel/tracing/events/exceptions/page_fault_user ] || skip "this kernel has no event of page faults"
	cd "$BATS_TEST_TMPDIR"
	cat > touch.py << 'END'
import mmap, sys
pages = mmap.mmap(-1, 4096 * mmap.PAGESIZE)
for i in range(int(sys.argv[1])):
    pages[i * mmap.PAGESIZE] = 1
END
	run -0 --separate-stderr weft bench --runs 6 --warmup 0 --format json --for memory -- python3 -S -E touch.py 500 -- python3 -S -E touch.py 1500
	[ "$(jq '.changes[] | select(.table == "faults" and .row == "python3") | .calls_verdict == "+" and .new_calls - .old_calls > 900' <<< "$output")" = true ]
}

# bats test_tags=long
@test "bench: --against compares with the runs that --save has saved" {
	need_tracefs
	need_command jq
	cd "$BATS_TEST_TMPDIR"
	cp "$(command -v sleep)" nap
	cp nap nap.new
	run -0 weft bench --runs 8 --warmup 0 --save old.bench --for sched -- './nap 0.03'
	[[ "$output" != *"# figures"* ]]
	[ "$(stat -c %a old.bench)" = 600 ]
	[ "$(grep -c '^run' old.bench)" = 8 ]
	run -1 --separate-stderr weft bench --runs 8 --warmup 0 --against old.bench --format json --fail-if 'wall > 50%' -- './nap.new 1'
	[[ "$stderr" == *"wall changed by +"* ]]
	[ "$(jq '.changes[] | select(.row == "nap asleep") | .verdict == "+" and .more_ns > 900000000' <<< "$output")" = true ]
	[ "$(jq '[.runs[] | select(.command == "old")] | length' <<< "$output")" = 8 ]
	[[ "$(jq -r .notes <<< "$output")" == *"old: ./nap 0.03"*"--for sched)"* ]]
	run -125 --separate-stderr weft bench --against old.bench --for syscalls -- true
	[[ "$stderr" == *"were recorded for sched, not for syscalls"* ]]
}

@test "bench: --save and --against without recordings, and a file that is none" {
	cd "$BATS_TEST_TMPDIR"
	weft bench --plain --runs 3 --save old.bench -- true
	run -0 weft bench --runs 3 --against old.bench -- true
	[[ "$output" == *"# figures"* && "$output" != *"# changes"* ]]
	head -n -1 old.bench > cut.bench
	run -125 --separate-stderr weft bench --plain --against cut.bench -- true
	[[ "$stderr" == *"'cut.bench': its end is missing"* ]]
	run -125 --separate-stderr weft bench --plain --save none/x -- true
	[[ "$stderr" == *"none/x"* ]]
	# The analyses of a stranger's file are checked as those of --for are.
	sed 's/^kernel.*/&\nfor\tsched,nonsense/' old.bench > strange.bench
	run -125 --separate-stderr weft bench --runs 3 --against strange.bench -- true
	[[ "$stderr" == *"'strange.bench': unknown analysis 'nonsense'"* ]]
	# A command that fails leaves no file.
	run -125 weft bench --plain --save failed.bench -- 'exit 3'
	[ ! -e failed.bench ]
}

@test "bench: where nothing can be recorded, it says so and measures all the same" {
	need_mounts
	run -0 without_tracefs weft bench --runs 3 -- true -- true
	[[ "$output" == *"the runs could not be recorded: "* ]]
	[[ "$output" == *"# figures: "* ]]
}

@test "bench: a killed weft leaves no instance after the next recording" {
	need_tracefs
	cd "$BATS_TEST_TMPDIR"
	weft bench --warmup 0 -- 'sleep 100' -- true 2> err 3>&- &
	pid=$!
	await_tracing $pid
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ "$status" = 125 ]
	[ ! -e "/sys/kernel/tracing/instances/weft-$pid" ]
	[ -z "$(ls -d /tmp/weft-??????/old-01.dat* 2> /dev/null)" ]
}
