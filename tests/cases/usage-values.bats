#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What the command line asks for and cannot be: the exit status is 2, and messages name what is wrong.
load lib

file=$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat

@test "a value of an option that no file would take is a usage error in every command" {
	cd "$BATS_TEST_TMPDIR"
	while read -r line; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr weft $line
		[ "$status" -eq 2 ] || { echo "$status: weft $line: $stderr"; false; }
		[[ "$stderr" == weft* ]]
	done <<- END
		sched --sort foo $file
		latency --sort foo $file
		tasks --sort foo $file
		summary --sort foo $file
		sched --since tomorrow $file
		summary --until 1x $file
		report --since tomorrow $file
		export --to csv --since tomorrow -o x.csv $file
		split --since tomorrow -o s.dat $file
		diff --since tomorrow $file $file
		report -f (( $file
		report -f pid== $file
		report -f duration>1xs $file
		report -O nosuch $file
		export --to csv --fields ts,ts -o x.csv $file
		export --to folded --weight much -o x.txt $file
		report --cpu x $file
		report --tail x $file
		syscalls --by foo $file
		sched --format foo $file
	END
}

@test "an option in the place of a value is not taken as one" {
	run -2 weft record -g -e sched -- touch "$BATS_TEST_TMPDIR/ran"
	[ "${lines[0]}" = "weft record: -g needs a value, FUNCTION, and '-e' is an option" ]
	[ ! -e "$BATS_TEST_TMPDIR/ran" ]
	run -2 weft sched --sort --table tasks "$file"
	[ "${lines[0]}" = "weft sched: --sort needs a value, COLUMN, and '--table' is an option" ]
	# Behind an equals sign it is a value, and so is what is no option.
	run -2 weft sched --sort=--table "$file"
	[[ "${lines[0]}" == *"no table has a column '--table'"* ]]
	run -2 weft sched --sort -none "$file"
	[[ "${lines[0]}" == *"no table has a column '-none'"* ]]
}

@test "what only this file does not have is a failure, and no usage error" {
	run -1 weft report -e nosuch "$file"
	run -1 weft report -f 'nosuch == 1' "$file"
	run -1 weft sched -B nosuch "$file"
	run -1 weft info "$BATS_TEST_DIRNAME/lib.bash"
	[[ "$output" == *"lib.bash': not a trace.dat: it is a text; 'weft import' makes one of the texts of the kernel, trace-cmd and perf script (offset 0)" ]]
}

@test "the message of a full disk names the file, and nothing says that the file is there" {
	local text=$BATS_TEST_TMPDIR/text.txt
	weft report "$file" > "$text"
	for what in "export --to csv $file" "convert $file" "split $file" "redact $file" "merge $file $file" "import $text"; do
		# shellcheck disable=SC2086 # words
		run -1 weft $what -o /dev/full
		[ "$output" = "weft: cannot write '/dev/full': No space left on device" ] || { echo "$what: $output"; false; }
		run -1 sh -c "$WEFT $what -o - 2>&1 > /dev/full"
		[ "$output" = "weft: cannot write to standard output: No space left on device" ] || { echo "$what: $output"; false; }
	done
}

@test "what goes to standard output is told by that name" {
	local what
	for what in convert split redact "merge $file"; do
		# shellcheck disable=SC2086 # words
		run -0 sh -c "$WEFT $what -o - $file 2>&1 > /dev/null | head -n 1"
		[[ "$output" == "weft: standard output: "* ]] || { echo "$what: $output"; false; }
	done
}

@test "a folder that does not fit on the disk is not told as written" {
	need_mounts
	run -1 unshare -m sh -c 'mkdir "$1/small" && mount -t tmpfs -o size=64k none "$1/small" && "$2" export --to ctf -o "$1/small/ctf" "$3"' - \
		"$BATS_TEST_TMPDIR" "$WEFT" "$BATS_TEST_DIRNAME/../fixtures/session/late.dat"
	[[ "$output" == "weft: cannot write '"*"': No space left on device" ]]
	run -1 unshare -m sh -c 'mount -t tmpfs -o size=64k none "$1/small" && "$2" lake add "$1/small/lake" "$3"' - \
		"$BATS_TEST_TMPDIR" "$WEFT" "$BATS_TEST_DIRNAME/../fixtures/session/late.dat"
	[[ "$output" == "weft: cannot write '"*"': No space left on device" ]]
}

@test "a pager that is not installed is told, and the output is printed" {
	need_command script
	unset WEFT_PAGER
	SHELL=$BASH TERM=xterm PAGER=nosuch-pager script -qec "$WEFT report $file" /dev/null < /dev/null > "$BATS_TEST_TMPDIR/out"
	grep -q "the pager 'nosuch-pager' of \$PAGER is not installed" "$BATS_TEST_TMPDIR/out"
	[ "$(grep -c ': sched_' "$BATS_TEST_TMPDIR/out")" -gt 3 ]
	# What only a shell understands is tried; then the output is lost, and that is a failure.
	SHELL=$BASH TERM=xterm PAGER='(exit 127)' run script -qec "$WEFT report $file" /dev/null < /dev/null
	[ "$status" -eq 1 ]
}

@test "--help of --since says that a time of day alone is a time" {
	weft report --help | tr -s "\n " " " | grep -q "a time of day, alone (12:38:20) or behind its date"
}

@test "a time with a unit is read in one way by all commands, and each mistake in it has one message" {
	local command
	while read -r command; do
		# shellcheck disable=SC2086 # words
		run -2 weft ${command/TIME/0ms}
		[[ "${lines[0]}" == "weft ${command%% *}: --"[a-z]*": the time cannot be 0" ]] || { echo "$command: $output"; false; }
		# shellcheck disable=SC2086
		run -2 weft ${command/TIME/5x}
		[[ "${lines[0]}" == "weft ${command%% *}: --"[a-z]*": '5x' is not a time such as 10ms or 1.5s: unknown unit 'x'" ]] || { echo "$command: $output"; false; }
	done <<- END
		record --duration TIME
		record --sync TIME
		stream --duration TIME
		stream --every TIME
		stream --latency TIME
		hist --duration TIME sched_switch
		hist --interval TIME sched_switch
		profile-functions --duration TIME
		split --every TIME -o x.dat $file
		syscalls --longer TIME $file
		latency --longer TIME $file
	END
}

@test "words of perf sched, a flight's stop and a list for --for are understood" {
	cd "$BATS_TEST_TMPDIR"
	run -2 weft sched latency "$file"
	[[ "$output" == *"there is no file 'latency'; perf sched latency is 'weft sched FILE' here"* ]]
	run -2 weft sched timehist "$file"
	[[ "$output" == *"'weft sched --timehist FILE'"* ]]
	run -2 weft sched record
	[[ "$output" == *"'weft record --for sched -- COMMAND'"* ]]
	cp "$file" latency
	run -0 weft sched latency
	run -2 weft flight stop
	[[ "$output" == *"a flight has no action 'stop': it ends with SIGINT or SIGTERM"* ]]
	run -2 weft record --for sched,nosuch -- true
	[[ "$output" == *"--for: unknown analysis 'nosuch'"* ]]
	run -2 weft record --for nosuch,sched -- true
	[[ "$output" == *"--for: unknown analysis 'nosuch'"* ]]
}
