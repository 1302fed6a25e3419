#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

@test "help: the first page is one screen, has the commands of a day in their order, and two examples" {
	run -0 weft help
	[ "${#lines[@]}" -le 24 ]
	[ "$(awk 'length > 80 || / $/' <<< "$output")" = "" ]
	[ "$(sed -n 's/^  \([a-z]*\)  .*/\1/p' <<< "$output" | tr '\n' ' ')" = \
		"record summary latency sched syscalls irq block locks tasks graph why view top flight bench report export " ]
	[ "$(sed -n 's/^  \(weft [a-z]*\).*/\1/p' <<< "$output" | tr '\n' ' ')" = "weft record weft summary " ]
	[ "$(weft)" = "$output" ]
}

@test "help: the first page names each command with which the tutorial answers its questions 1 to 5" {
	local command
	while read -r command; do
		grep -q "^  $command  *[a-z]*s " <<< "$(weft help)"
	done < <(sed -n 's/\\//g; /^\.SH 1\. /,/^\.SH 6\. /s/^# weft \([a-z-]*\) .*/\1/p' man/weft-tutorial.7 | sort -u)
}

@test "help --all: every command is in it, nothing is cut, and each topic is a manual page" {
	local name brief
	run -0 weft help --all
	[ "$(awk 'length > 80 || / $/' <<< "$output")" = "" ]
	while read -r name; do
		grep -qE "(^|  )$name +[^ ]" <<< "$output"
		! grep -qE "^  $name +[a-z]+s " <<< "$(weft help)" || continue
		# Its words are whole: those of its struct command, which fit the column.
		brief=$(grep -h -A6 -E "\.name = \"$name\",|^ANALYSE_COMMAND\($name," cmd/*.c cmd/terminal/*.c | sed -n 's/.*\.brief = "\([^"]*\)".*/\1/p' | head -n 1)
		[ -n "$brief" ]
		[ "${#brief}" -le 15 ]
		grep -qE "(^|  )$name +$brief(  |$)" <<< "$output"
	done < <(weft __describe | awk -F'\t' '$1 == "command" { print $2 }')
	# A man that says what it was asked for.
	printf '#!/bin/sh\necho "$*"\n' > "$BATS_TEST_TMPDIR/man"
	chmod +x "$BATS_TEST_TMPDIR/man"
	while read -r name; do
		[ -e "man/weft-$name.7" ]
		[ "$(PATH=$BATS_TEST_TMPDIR:$PATH weft help "$name")" = "7 weft-$name" ]
	done < <(sed '1,/^Topics/d' <<< "$output" | awk '{ print $1 }')
	grep -q '^  tutorial ' <<< "$output"
	run -1 env PATH=/nowhere "$WEFT" help tutorial
	[[ "$output" == *"cannot run man"*"weft-tutorial(7)"* ]]
}

@test "help: a word that is nearly a guide or a topic, or begins one, gets the name" {
	run -2 weft help realt
	[ "$output" = "weft: no command, topic or guide 'realt'; did you mean 'realtime', 'redact' or 'reset'?" ]
	run -2 weft help tutoral
	[ "$output" = "weft: no command, topic or guide 'tutoral'; did you mean 'tutorial'?" ]
	run -2 weft help recrod
	[ "$output" = "weft: no command 'recrod'; did you mean 'record'?" ]
}

@test "help guides: lists the guides of weft-recipes(7), and each name prints its guide with the page's commands" {
	local name title
	run -0 weft help guides
	[ "$(grep -c '^  ' <<< "$output")" = "$(grep -c '^\.\\" guide: ' man/weft-recipes.7)" ]
	[[ "$(weft help --all)" == *"$output"* ]]
	while read -r name title; do
		weft help "$name" > "$BATS_TEST_TMPDIR/guide"
		[ "$(head -n 1 "$BATS_TEST_TMPDIR/guide")" = "$title" ]
		# The formatted page says the same: its words, and the lines that are typed.
		man -l -E UTF-8 man/weft-recipes.7 2> /dev/null | col -b | sed -n "/^   $title\$/,/^   [A-Z]/p" | sed '$d; /^[A-Z]/d' > "$BATS_TEST_TMPDIR/page"
		[ ! -s "$BATS_TEST_TMPDIR/page" ] || diff <(tr -cd 'a-zA-Z0-9' < "$BATS_TEST_TMPDIR/page") <(tr -cd 'a-zA-Z0-9' < "$BATS_TEST_TMPDIR/guide")
		grep -q '^    weft record \|^    weft flight ' "$BATS_TEST_TMPDIR/guide"
	done < <(sed 1d <<< "$output")
}

@test "help: version, --version, -V and -v print the version" {
	local word version
	version=$(weft --version)
	[[ "$version" == "weft "[0-9]* ]]
	for word in version -V -v; do
		[ "$(weft $word)" = "$version" ]
	done
}

# bats test_tags=long
@test "help: -h, -? and --help of a command are one text, with examples in front of the options" {
	local name option
	while read -r name; do
		[ "$name" != __describe ] || continue
		weft help "$name" > "$BATS_TEST_TMPDIR/by-name"
		weft help "weft-$name" | cmp - "$BATS_TEST_TMPDIR/by-name"
		for option in -h '-?' --help; do
			weft "$name" "$option" | cmp - "$BATS_TEST_TMPDIR/by-name"
		done
		sed -n '/^Examples:$/,/^$/p' "$BATS_TEST_TMPDIR/by-name" | grep -q "^  .*weft $name"
		run grep -nE '^Examples:$|^ +-' "$BATS_TEST_TMPDIR/by-name"
		[[ "${lines[0]}" == *:Examples: ]]
		# The options in the examples exist; those of trace-cmd are in its own manual.
		[ "$name" != trace-cmd ] || continue
		sed -n '/^Examples:$/,/^$/p' "$BATS_TEST_TMPDIR/by-name" | grep -o "weft $name.*" | sed 's/ -- .*//; s/<(.*//' | grep -oE ' --?[a-zA-Z][a-z-]*' | while read -r option; do
			sed '1,/^Examples:$/d' "$BATS_TEST_TMPDIR/by-name" | grep -qE -- "^ +(-., )?$option([,=[ ]|$)" || { echo "$name: $option"; exit 1; }
		done
	done < <(weft __describe | awk -F'\t' '$1 == "command" { print $2 }')
}

@test "help: breaks its lines where the terminal ends" {
	SHELL=$BASH script -qec "stty cols 60; $(type -P weft) help record" /dev/null < /dev/null | tr -d '\r' > "$BATS_TEST_TMPDIR/narrow"
	grep -q -- --event "$BATS_TEST_TMPDIR/narrow"
	[ "$(sed '/^Examples:/,/^$/d' "$BATS_TEST_TMPDIR/narrow" | awk 'length > 60')" = "" ]
}

@test "help: the words that an option takes do not make its line longer than a terminal" {
	local command
	cd "$BATS_TEST_TMPDIR"
	for command in export diff record set start syscalls sched graph irq; do
		weft $command --help > text
		sed -n '/^ *-/p; /^                             /p' text > options
		[ "$(grep -c . options)" -gt 5 ]
		awk 'length($0) > 80 { print; long = 1 } END { exit long }' options
	done
	weft export --help | tr -s ' \n' ' ' | grep -q -- '--to=WORD Format to write; .* jsonl, csv, .* or perf '
	# Completion still has them.
	weft __describe | grep -q 'jsonl|csv|perfetto'
}

@test "options: one that the command does not have is told with those that are near, before anything is done" {
	run -2 weft record --evnt sched -- touch ran
	[ "${lines[0]}" = "weft record: no option '--evnt'; did you mean '--event'?" ]
	[ "${lines[1]}" = "'weft help record' lists the options." ]
	[ ! -e ran ]
	run -2 weft report --formt=json trace.dat
	[[ "${lines[0]}" == *"did you mean '--format'?" ]]
	run -2 weft report -k
	[ "${lines[0]}" = "weft report: no option '-k'" ]
	run -2 weft report --qqqqqqqq
	[ "${lines[0]}" = "weft report: no option '--qqqqqqqq'" ]
	# An ambiguous start of names, a missing value and a superfluous value are not reported as unknown options.
	run -2 weft report --co
	[[ "$output" == *"'--co' is ambiguous"* ]]
	run -2 weft report --cpu
	[ "${lines[0]}" = "weft report: --cpu needs a value, CPULIST" ]
	run -2 weft report -e
	[ "${lines[0]}" = "weft report: -e needs a value, EVENT" ]
	run -2 weft record --quiet=yes
	[[ "$output" == *"'--quiet' doesn't allow an argument"* ]]
	# Whatever is wrong, the second line is the same, as are all its quotes.
	for wrong in "report --co" "report --cpu" "report --cpu=x" "record --quiet=yes" "record" "diff one" "sched --sort= a b" "hist" "list --nosuch"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr weft $wrong
		[ -z "$output" ]
		[ "${stderr_lines[-1]}" = "'weft help ${wrong%% *}' lists the options." ]
		[[ "$stderr" != *\`* ]]
	done
	# The options of the command that is recorded are its own.
	run weft record -o nowhere/trace.dat -e nothing:at_all -- ls --no-such-option
	[[ "$output" != *"no option"* ]]
}

@test "commands: a word of every day leads to the command that is about it" {
	run -2 weft disk
	[ "$output" = "weft: no command 'disk'; 'weft block' answers questions about that" ]
	run -2 weft record --for disk -- true
	[[ "$output" == *"unknown analysis 'disk'; did you mean block; the analyses are "* ]]
	run -2 weft sched --by service
	[[ "$output" == *"--by: unknown value 'service'; the values are "*"; a service of systemd is a unit"* ]]
	# Guides and topics are found where commands are looked for.
	for name in service container recipes tutorial guides; do
		run -2 weft "$name"
		[ "$output" = "weft: no command '$name'; 'weft help $name' is about that" ]
	done
	run -2 weft help guide
	[[ "$output" == *"did you mean 'guides'"* ]]
	while read -r name; do
		weft help "$name" > /dev/null
	done < <(sed -n '/^} everyday\[\]/,/^};/p' cmd/terminal/command_names.c | grep -oE '", "[a-z]+"' | tr -d '", ')
}

@test "commands: names of trace-cmd, perf, uftrace and bcc say what they are called here" {
	run -2 weft restore
	[ "$output" = "weft: no command 'restore'; trace-cmd's restore is 'weft recover' here" ]
	run -2 weft script
	[ "$output" = "weft: no command 'script'; perf's script is 'weft report' here" ]
	run -2 weft execsnoop
	[ "$output" = "weft: no command 'execsnoop'; bcc's execsnoop is 'weft tasks' here" ]
	# Each of them is a command.
	while read -r name; do
		weft help "$name" > /dev/null
	done < <(sed -n '/^} elsewhere\[\]/,/^};/s/.*, "\([a-z-]*\)[ a-z-]*" },/\1/p' cmd/terminal/command_names.c)
}

@test "events: several with commas, in record and in report; a system call's own name is near its event's" {
	local all=tests/fixtures/demo.dat
	cd "$BATS_TEST_DIRNAME/../.."
	weft report -e sched_switch "$all" > "$BATS_TEST_TMPDIR/one"
	weft report -e sched_waking "$all" > "$BATS_TEST_TMPDIR/two"
	weft report -e sched_switch,sched:sched_waking "$all" > "$BATS_TEST_TMPDIR/both"
	[ -s "$BATS_TEST_TMPDIR/one" ]
	cmp <(grep -v '^#' "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/two" -h | sort) <(grep -v '^#' "$BATS_TEST_TMPDIR/both" | sort)
	run -1 weft report -e sched_switch,nothing "$all"
	[[ "$output" == *"no event 'nothing'"* ]]
	need_tracefs
	run -0 weft record -e sched_switch,irq:irq_handler_entry --dry-run
	[[ "$output" == *"events/sched/sched_switch/enable"*"events/irq/irq_handler_entry/enable"* || "$output" == *"events/irq/irq_handler_entry/enable"*"events/sched/sched_switch/enable"* ]]
	run -125 weft record -e sched_switch,nothing --dry-run
	[[ "$output" == *"no event 'nothing'"* ]]
	run -0 weft record --ignore-missing -e sched_switch,nothing --dry-run
	[[ "$output" == *"events/sched/sched_switch/enable"* ]]
	run -125 weft record -e , --dry-run
	grep -q sys_enter_openat "/sys/kernel/tracing/available_events" || skip "this kernel has no syscall events"
	run -125 weft record -e openat --dry-run
	[[ "$output" == *"did you mean 'syscalls:sys_enter_openat'"* ]]
}

@test "report -O says of a misspelt option which there are" {
	run weft report -O latency-formt tests/fixtures/demo.dat
	[ "$status" -eq 2 ]
	[[ "$output" == *"did you mean 'latency-format'"* ]]
	# The options that the kernel's trace_options and weft share.
	for name in print-parent sym-offset verbose irq-info funcgraph-proc stacktrace; do
		[[ "$output" == *"$name"* ]]
	done
}

@test "help: stack and stat still work, and only deepest-stack and status are listed" {
	weft help --all > "$BATS_TEST_TMPDIR/all"
	grep -qw deepest-stack "$BATS_TEST_TMPDIR/all"
	grep -qw status "$BATS_TEST_TMPDIR/all"
	run ! grep -qE '(^| )stat( |$)' "$BATS_TEST_TMPDIR/all"
	for pair in stack:deepest-stack stat:status; do
		weft help "${pair%:*}" > "$BATS_TEST_TMPDIR/old"
		weft help "${pair#*:}" | diff "$BATS_TEST_TMPDIR/old" -
		weft "${pair%:*}" --help > "$BATS_TEST_TMPDIR/old"
	done
}

@test "help: weft(1) has in one place each letter that means one thing in some commands and another one in others" {
	sed -n '/^\.SH LETTERS/,/^\.SH TERMINALS/p' man/weft.in | sed 's/\\-/-/g' > "$BATS_TEST_TMPDIR/letters"
	weft __describe | awk -F '\t' '$1 == "option" && $3 != "-" && $4 != "-" { print $3, $4 }' | sort -u > "$BATS_TEST_TMPDIR/all"
	cut -d ' ' -f 1 "$BATS_TEST_TMPDIR/all" | uniq -d > "$BATS_TEST_TMPDIR/several"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/several")" -gt 10 ]
	while read -r letter name; do
		if grep -qx -e "$letter" "$BATS_TEST_TMPDIR/several"; then
			grep -A 1 -x -e "\.B -$letter" "$BATS_TEST_TMPDIR/letters" | grep -qwe "--$name" || { echo "-$letter --$name"; false; }
		fi
	done < "$BATS_TEST_TMPDIR/all"
	# And no other one.
	diff <(sed -n 's/^\.B -//p' "$BATS_TEST_TMPDIR/letters" | LC_ALL=C sort) <(LC_ALL=C sort "$BATS_TEST_TMPDIR/several")
}

@test "record: --stacks says what it takes" {
	for words in kernel user: user:0 user:321 user:x; do
		run -2 weft record --stacks $words -- true
		[[ "$output" == *"--stacks "*user:WORDS* ]]
	done
}

@test "help: at every width no word is split and no line is too long" {
	local command width
	for command in record report sched flight export; do
		ARGP_HELP_FMT=rmargin=20000 weft $command --help | tr -s ' \n' '\n\n' > "$BATS_TEST_TMPDIR/words"
		for width in 39 45 52 59 60 66 79 80 99 119 199; do
			ARGP_HELP_FMT=rmargin=$width weft $command --help > "$BATS_TEST_TMPDIR/text"
			tr -s ' \n' '\n\n' < "$BATS_TEST_TMPDIR/text" > "$BATS_TEST_TMPDIR/got"
			cmp "$BATS_TEST_TMPDIR/words" "$BATS_TEST_TMPDIR/got"
			# Examples are lines to copy, and a word has no place to break.
			sed '/^Examples:$/,/^[^ ]\|^ [^ ]/d' "$BATS_TEST_TMPDIR/text" |
				awk -v most=$width 'length($0) > most && $0 ~ /[^ ] +[^ ]/ { print FILENAME, most, $0; wrong = 1 }
					END { exit wrong }' || { echo "$command at $width"; false; }
			run ! grep -n ' $' "$BATS_TEST_TMPDIR/text"
		done
	done
}

@test "help: the manual of each analysis names the columns of its main table as its JSON does" {
	compared=0
	while read -r name; do
		for file in tests/fixtures/demo.dat tests/fixtures/golden/6.12-function_graph.dat tests/fixtures/golden/*.dat; do
			if weft "$name" --format json "$file" > "$BATS_TEST_TMPDIR/$name.json" 2> /dev/null; then break; fi
		done
		python3 - "$name" "$BATS_TEST_TMPDIR/$name.json" "$BUILD/docs/man/weft-$name.1" > "$BATS_TEST_TMPDIR/result" <<-'END'
			import json, re, sys
			name, answer, page = sys.argv[1:]
			try:
			    tables = [rows for rows in json.load(open(answer)).values() if isinstance(rows, list) and rows]
			except ValueError:
			    tables = []
			if not tables:
			    sys.exit(0)
			told = open(page).read().split("columns of the main table", 1)[1].split("\n.SH ", 1)[0]
			told = [key.replace("\\-", "-") for key in re.findall(r"\\fB(.*?)\\fR", told)]
			assert sorted(told) in [sorted(rows[0]) for rows in tables], (name, told)
			print(name)
		END
		compared=$((compared + $(wc -l < "$BATS_TEST_TMPDIR/result")))
	done < <(weft __describe | awk -F '\t' '$1 == "column" { print $2 }' | uniq)
	echo "$compared"
	[ "$compared" -ge 5 ]
}
