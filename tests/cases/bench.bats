#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft bench: what it measures, its conditions and its refusals. tests/unit/bench.c checks the test with runs of known
# times.
load lib

# The other figures of two sleeps may be called changed by chance; the wall time must be.
@test "bench: a command that sleeps longer takes longer" {
	need_command jq
	run -0 weft bench --runs 8 --warmup 0 --format json -- 'sleep 0.03' -- 'sleep 1'
	[ "$(jq '.times[] | select(.command == "old" and .figure == "wall") | .min_ns >= 30000000' <<< "$output")" = true ]
	[ "$(jq '.times[] | select(.command == "new" and .figure == "wall") | .min_ns >= 1000000000' <<< "$output")" = true ]
	[ "$(jq -r '.figures[] | select(.figure == "wall") | .verdict' <<< "$output")" = + ]
	[ "$(jq '[.runs[] | select(.command == "new")] | length' <<< "$output")" = 8 ]
	[[ "$(jq -r .notes <<< "$output")" == *"new: sleep 1"* ]]
}

@test "bench: --fail-if ends with 1 when a change is larger, and with 125 when no run can show it" {
	run -1 --separate-stderr weft bench --runs 6 --warmup 0 --fail-if 'wall > 50%' -- 'sleep 0.01' -- 'sleep 1'
	[[ "$stderr" == *"wall changed by +"*"which --fail-if 'wall > 50%' does not allow"* ]]
	[[ "$output" == *"figures: medians"* ]]
	run -125 --separate-stderr weft bench --runs 2 --warmup 0 --fail-if 'wall > 50%' -- true -- true
	[[ "$stderr" == *"cannot be checked: so few runs prove no change of wall"* ]]
}

@test "bench: one command alone has its times, and no comparison" {
	run -0 weft bench --runs 3 -- 'exit 0'
	[[ "${lines[0]}" == "# times: "* ]]
	[[ "$output" == *"command  wall"* ]]
	[[ "$output" != *"# figures"* ]]
	[[ "$output" != *"lost events"* ]]
}

@test "bench: runs the commands as often as it says, in an order that the seed chooses" {
	cd "$BATS_TEST_TMPDIR"
	for i in 1 2; do
		weft bench --runs 9 --warmup 2 --seed 7 -- "echo a >> order.$i" -- "echo b >> order.$i"
		[ "$(grep -c a "order.$i")" = 11 ]
		[ "$(grep -c b "order.$i")" = 11 ]
	done
	cmp order.1 order.2
	# Of each two runs, one is of each command; both orders happen.
	[ "$(paste -d '' - - < order.1 | sort -u)" = "$(printf 'ab\nba')" ]
}

@test "bench: several words are a program and its arguments, and one word is a line for the shell" {
	cd "$BATS_TEST_TMPDIR"
	weft bench --runs 1 --warmup 0 -- touch 'a b' 'x;y' -- 'touch c; touch d'
	[ -e 'a b' ] && [ -e 'x;y' ] && [ -e c ] && [ -e d ]
	# What the command reads and prints is not weft's.
	echo word > input
	run -0 --separate-stderr weft bench --runs 1 --warmup 0 -- 'cat; echo printed' < input
	[[ "$output" != *word* ]]
	[ "$(grep -c '^printed' <<< "$output")" = 0 ]
}

@test "bench: --prepare runs before each run and is not measured" {
	cd "$BATS_TEST_TMPDIR"
	weft bench --runs 2 --warmup 1 --prepare 'echo p >> order' -- 'echo a >> order'
	[ "$(tr -d '\n' < order)" = papapa ]
	run -125 --separate-stderr weft bench --prepare 'exit 4' -- true
	[[ "$stderr" == *"'exit 4' ended with status 4"* ]]
}

@test "bench: a command that fails is an error unless --ignore-failure" {
	run -125 --separate-stderr weft bench -- 'exit 3'
	[[ "$stderr" == *"'exit 3' ended with status 3; --ignore-failure measures it all the same"* ]]
	[ -z "$output" ]
	run -0 weft bench --runs 2 --ignore-failure -- 'exit 3'
	run -125 --separate-stderr weft bench -- ./no-such-command --option
	[[ "$stderr" == *"cannot run './no-such-command'"* ]]
}

@test "bench: a wrong command line is refused" {
	while read -r words; do
		run -2 bash -c "weft bench $words"
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
	END
}

@test "bench: SIGTERM ends the command and then weft" {
	cd "$BATS_TEST_TMPDIR"
	# shellcheck disable=SC2016 # for the shell that bench runs
	weft bench --warmup 0 -- 'echo $$ > pid; exec sleep 1000' 2> err 3>&- &
	until [ -s pid ]; do sleep 0.02; done
	kill -TERM $!
	status=0
	wait $! || status=$?
	[ "$status" = 125 ]
	grep -q "a signal has ended it" err
	run ! kill -0 "$(cat pid)"
}
