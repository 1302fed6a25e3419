#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# man/weft-trace-cmd.7 has a row for every command and option of the installed trace-cmd, and everything that it names
# exists in weft.
load lib

setup_file()
{
	# Prints SECTION <tab> OPTIONS <tab> TEXT.
	awk '/^\.SH /{ section = $NF } /^\.TP$/ { getline name; getline text; sub(/^\.B /, "", name); gsub(/\\-/, "-", name)
		gsub(/\\-/, "-", text); gsub(/\\\(aq/, "\047", text); print section "\t" name "\t" text }' man/weft-trace-cmd.7 > "$BATS_FILE_TMPDIR/rows"
	weft __describe > "$BATS_FILE_TMPDIR/tables"
}

# has_row SECTION WORD: there is a row for this option
has_row()
{
	awk -F'\t' -v section="$1" -v word="$2" '$1 == section { n = split($2, words, ", ")
		for (i = 1; i <= n; i++) if (words[i] == word) found = 1 } END { exit !found }' "$BATS_FILE_TMPDIR/rows"
}

# The commands with options of their own; start, stream and profile share those of record.
commands='record report list set extract show snapshot stack stop restart clear reset stat split'

# options_of COMMAND: prints the options in trace-cmd's help of it, "-e" and "--full"
options_of()
{
	local help=-h
	[[ " report list show snapshot " != *" $1 "* ]] || help=--help
	trace-cmd "$1" $help 2>&1 | grep -oE '(^ +|-B buf\]\[-t\]\[-o\] +)--?[A-Za-z][-A-Za-z0-9_]*' | grep -oE -- '--?[A-Za-z][-A-Za-z0-9_]*$' |
		sed -E 's/^(-[A-Za-z])[a-z].*/\1/' | sort -u
}

# has_option COMMAND OPTION: weft's table has it
has_option()
{
	awk -F'\t' -v name="$1" -v word="$2" '($1 == "option" || $1 == "alias") && $2 == name && ("-" $3 == word || "--" $4 == word) { found = 1 }
		END { exit !found }' "$BATS_FILE_TMPDIR/tables"
}

@test "weft-trace-cmd(7): every command of trace-cmd, and every option of each, has a row" {
	need_command trace-cmd
	local missing='' word
	while read -r word; do
		has_row COMMANDS "$word" || missing="$missing $word"
	done < <(trace-cmd --help 2>&1 | awk '/commands:/ { on = 1; next } on && $2 == "-" { print $1 }')
	for command in $commands; do
		options_of "$command" > "$BATS_TEST_TMPDIR/options"
		[ "$(wc -l < "$BATS_TEST_TMPDIR/options")" -ge 2 ]
		while read -r word; do
			has_row "${command^^}" "$word" || missing="$missing $command:$word"
		done < "$BATS_TEST_TMPDIR/options"
	done
	[ -z "$missing" ] || { echo "no row for:$missing"; false; }
}

# The name that weft has for a command of trace-cmd.
ours_of()
{
	case $1 in
		stack) echo deepest-stack ;;
		stat) echo status ;;
		*) echo "$1" ;;
	esac
}

# bats test_tags=long
@test "every option of trace-cmd that weft does not have is told with what does the same here" {
	need_command trace-cmd
	local command word untold=''
	for command in $commands; do
		while read -r word; do
			# -V is --version of each command; --temp is an abbreviation of --temp-dir.
			has_option "$(ours_of "$command")" "$word" || [[ "$word" == -V || "$word" == --version || "$word" == --temp ]] && continue
			run -2 timeout 60 weft "$command" "$word"
			[[ "$output" == *"no option '$word' as trace-cmd has it; "* ]] || untold="$untold $command:$word"
		done < <(options_of "$command")
	done
	[ -z "$untold" ] || { echo "not told:$untold"; false; }
}

# What 3.4 has besides the installed one: COMMAND OPTION...; the commands that are new there, and those whose help lists no options here.
newer()
{
	cat << 'END'
record -K --daemonize --subbuf-size --proc-map --no-filter --tsc2nsec --temp --file-version --compression
start --subbuf-size --fork
reset -k
show --buffer_subbuf_size --buffer_percent --max_latency --hist --trigger
list --proto
split -B -t --top -b
dump -i -v --validate -a --all --summary --head-page --head-event --ftrace-events --systems --events --kallsyms --printk --cmd-lines --modules --options --flyrecord --clock --strings --sections
convert -i -o --file-version --compression
check-events -N
sqlhist -n -e -s -S -m -c -T -t -f
report -i -e -f -P -E --events --event --check-events -t -F -v -T -I -S -R -r -n -l -w -O -L -N -V -q --cpu --cpus --first-event --last-event --pid --comm --kallsyms --stat --uname --version --debug --profile -G -H --by-comm --ts-offset --ts2secs --ts-diff --ts-check --nodate --raw-ts --align-ts
END
}

# After the option come two words that no command knows: one may be its value, and the other ends it before it does anything.
@test "weft trace-cmd knows every option of trace-cmd's tables, of 3.4, too" {
	need_command trace-cmd
	local command words word unknown=''
	{
		for command in $commands; do echo "$command" $(options_of "$command"); done
		newer
	} > "$BATS_TEST_TMPDIR/options"
	[ "$(wc -w < "$BATS_TEST_TMPDIR/options")" -gt 250 ]
	while read -r command words; do
		for word in $words; do
			run timeout 60 "$WEFT" trace-cmd "$command" "$word" --no-such-one --no-such-two
			[ "$status" -ne 0 ] && [ "$status" -ne 124 ] || unknown="$unknown $command:$word(status $status)"
			[[ "$output" != *"option '$word'"* && "$output" != *"option -- '${word#-}'"* ]] || unknown="$unknown $command:$word"
		done
	done < "$BATS_TEST_TMPDIR/options"
	[ -z "$unknown" ] || { echo "not known:$unknown"; false; }
}

# is_told WORD: the page names the option where it says what weft trace-cmd takes
is_told()
{
	sed -n '/^\.SH IN PLACE/,/^\.SH COMMANDS/s/\\-/-/gp' man/weft-trace-cmd.7 | grep -qE -- "(^|[ (])$1([ ,;):.]|\$)"
}

@test "weft-trace-cmd(7) has each option that 3.4 has besides" {
	local command words word missing=''
	while read -r command words; do
		# start shares the rows of record.
		[ "$command" != start ] || continue
		for word in $words; do
			has_row "${command^^}" "$word" || is_told "$word" || missing="$missing $command:$word"
		done
	done < <(newer)
	[ -z "$missing" ] || { echo "not told:$missing"; false; }
}

# A letter that trace-cmd's command of the same name has, too, means the same there, unless a row says otherwise. Every
# other letter has one meaning: the same long name in every command.
@test "a letter means the same in every command of weft, but where trace-cmd's letters of a command say otherwise" {
	need_command trace-cmd
	local command own=''
	for command in $commands; do
		own="$own $(options_of "$command" | sed -nE "s/^-([A-Za-z])\$/$command:\1/p" | tr '\n' ' ')"
	done
	# view has letters of report. start, stream, top and flight have the options of record, and also record's -a, which trace-cmd accepts without documenting
	# it.
	own="$own $(grep -o ' record:.' <<< "$own" | sed 's/record/start/' | tr '\n' ' ') $(grep -o ' record:.' <<< "$own" | sed 's/record/stream/' | tr '\n' ' ') $(grep -o ' record:.' <<< "$own" | sed 's/record/top/' | tr '\n' ' ') $(grep -o ' record:.' <<< "$own" | sed 's/record/flight/' | tr '\n' ' ') $(grep -o ' report:.' <<< "$own" | sed 's/report/view/' | tr '\n' ' ') record:a "
	[[ "$own" == *" record:e "* && "$own" == *" show:c "* && "$own" == *" list:t "* ]]
	# trace-cmd's help says less about stat -B and list -B: they name an instance, too.
	awk -F'\t' -v own="$own" '$1 != "option" && $1 != "alias" || $3 == "-" || index(own, " " $2 ":" $3 " ") { next }
		{ name = $4 == "-" ? "?" : $4 }
		$3 in means && means[$3] != name { print "-" $3 " is --" means[$3] " of " where[$3] " and --" name " of " $2; wrong = 1 }
		!($3 in means) { means[$3] = name; where[$3] = $2 }
		END { exit wrong }' "$BATS_FILE_TMPDIR/tables"
}

@test "weft-trace-cmd(7): what it names exists in weft" {
	cp "$BATS_FILE_TMPDIR/tables" "$BATS_TEST_TMPDIR/tables"
	local piece command word
	while read -r piece; do
		read -r _ command _ <<< "$piece"
		awk -F'\t' -v name="$command" '$1 == "command" && $2 == name { found = 1 } END { exit !found }' "$BATS_TEST_TMPDIR/tables" ||
			[ "$command" = help ] || { echo "no command: $piece"; false; }
		for word in $piece; do
			[[ $word == -?* ]] || continue
			awk -F'\t' -v name="$command" -v word="$word" '($1 == "option" || $1 == "alias") && $2 == name && ("-" $3 == word || "--" $4 == word) { found = 1 }
				END { exit !found }' "$BATS_TEST_TMPDIR/tables" || { echo "no option $word: $piece"; false; }
		done
	done < <(cut -f3 "$BATS_FILE_TMPDIR/rows" | grep -oE 'weft [a-z][-a-z]*( +--?[A-Za-z][-a-z_]*)*')
}

# The other direction: a letter of record, report or list that trace-cmd has, too, is in its row.
@test "weft-trace-cmd(7): letters that both have are told, with the same meaning or another" {
	local missing='' command letter
	while read -r command letter; do
		has_row "${command^^}" "-$letter" || continue
		awk -F'\t' -v section="${command^^}" -v letter="-$letter" -v command="$command" '$1 == section && index($2 ",", letter ",") {
			found = index($3, "weft " command " " letter) } END { exit !found }' "$BATS_FILE_TMPDIR/rows" || missing="$missing $command:-$letter"
	done < <(awk -F'\t' '$1 == "option" && $3 != "-" { print $2, $3 }' "$BATS_FILE_TMPDIR/tables")
	[ "$missing" = " list:-B" ] || [ -z "$missing" ] || { echo "not told:$missing"; false; }
}

@test "an option of trace-cmd that has another name here is told with that name" {
	run -2 weft report -w
	[[ "$output" == *"no option '-w' as trace-cmd has it; 'weft sched'"* ]]
	run -2 weft report --stat
	[[ "$output" == *"'weft info' shows"* ]]
	run -2 weft record --date true
	[[ "$output" == *"clock tai"* ]]
	run -2 weft report -n 3
	[[ "$output" == *"--limit"* ]]
	run -2 weft restore
	[[ "$output" == *"trace-cmd's restore is 'weft recover' here"* ]]
}

@test "list takes trace-cmd's letters" {
	need_tracefs
	[ "$(weft list -e 'sched:sched_sw*')" = "$(grep ^sched:sched_sw /sys/kernel/tracing/available_events)" ]
	[ "$(weft list -t)" = "$(weft list tracers)" ]
	[ "$(weft list -o)" = "$(weft list options)" ]
	[ "$(weft list -C)" = "$(weft list clocks)" ]
	run -2 weft list -t -e
	[[ "$output" == *"one list at a time: tracers and events"* ]]
}

@test "report takes trace-cmd's letters: -F and -v for filters, -I and -S for interrupts, -l for the latency format" {
	file=tests/fixtures/demo.dat
	weft report $file | grep -v '^#' > "$BATS_TEST_TMPDIR/all"
	weft report -F 'next_pid == 65' $file | grep -v '^#' | diff - <(grep ' next_pid=65 ' "$BATS_TEST_TMPDIR/all")
	weft report -v -F 'next_pid == 65' $file | grep -v '^#' | diff - <(grep -v ' next_pid=65 ' "$BATS_TEST_TMPDIR/all")
	weft report -F 'next_pid >= 0' -v -F 'next_pid == 65' $file | grep -v '^#' |
		diff - <(grep ' next_pid=' "$BATS_TEST_TMPDIR/all" | grep -v ' next_pid=65 ')
	# The third letter of the flags: h and H are hard interrupts, s and H softirqs.
	weft report -I $file | grep -v '^#' | diff - <(grep -vE '\] ..[hH]' "$BATS_TEST_TMPDIR/all")
	weft report -S $file | grep -v '^#' | diff - <(grep -vE '\] ..[sH]' "$BATS_TEST_TMPDIR/all")
	weft report -l $file | cmp - <(weft report -O latency-format $file)
}

@test "report -r prints the fields of the events that it names, as trace-cmd report -r does; the others stay" {
	need_command trace-cmd
	file=tests/fixtures/demo.dat
	weft report -r sched_switch,sys_enter_execve "$file" > "$BATS_TEST_TMPDIR/some"
	# The fields in trace-cmd's form: numbers without their hexadecimal form.
	trace-cmd report -N -r sched_switch -i "$file" 2> /dev/null | sed -n 's/.* sched_switch: *//p' > "$BATS_TEST_TMPDIR/want"
	sed -nE 's/=0x[0-9a-f]+ \((-?[0-9]+)\)/=\1/g; s/.* sched_switch: //p' "$BATS_TEST_TMPDIR/some" | diff "$BATS_TEST_TMPDIR/want" -
	[ "$(wc -l < "$BATS_TEST_TMPDIR/want")" -gt 10 ]
	grep -q ' sys_enter_execve: __syscall_nr=0x3b (59)' "$BATS_TEST_TMPDIR/some"
	diff <(weft report "$file" | grep -vE ' sched_switch: | sys_execve\(') <(grep -vE ' sched_switch: | sys_enter_execve: ' "$BATS_TEST_TMPDIR/some")
	# Also for entries of a graph, whose lines have another form.
	[ "$(weft report -r funcgraph_entry tests/fixtures/golden/6.12-function_graph.dat | grep -c 'funcgraph_entry: func=')" -gt 50 ]
	run -1 weft report -r sched_swich "$file"
	[[ "$output" == *"the file knows no event 'sched_swich'; did you mean 'sched:sched_switch'"* ]]
	run -2 weft report -r sched_switch --format json "$file"
}

@test "report --ts-diff prints the differences that trace-cmd report --ts-diff prints" {
	need_command trace-cmd
	local file=tests/fixtures/demo.dat choice
	for choice in '' -t; do
		# shellcheck disable=SC2086
		trace-cmd report $choice --ts-diff -i $file 2> /dev/null | sed -nE 's/.* ([0-9]+\.[0-9]+: ( {8}|\(\+[0-9]+\)) ).*/\1/p' > "$BATS_TEST_TMPDIR/want"
		[ "$(wc -l < "$BATS_TEST_TMPDIR/want")" = 130 ]
		# shellcheck disable=SC2086
		weft report $choice --ts-diff $file | sed -nE 's/.* ([0-9]+\.[0-9]+: ( {8}|\(\+[0-9]+\)) ).*/\1/p' | diff "$BATS_TEST_TMPDIR/want" -
	done
	# Without these options the text is the kernel's.
	weft report --ts-diff $file | sed -E 's/^(.{30,}[0-9]\.[0-9]{6}: )(\(\+[0-9]+\) *|         )/\1/' | diff <(weft report $file) -
	run -2 weft report --ts-diff --format csv $file
	run -2 weft report --ts-diff --format json $file
	[[ "$output" == *"not with 'json'"* ]]
}

@test "report --ts-offset moves all times, those of --since, too; what would begin before 0 is refused" {
	local file=tests/fixtures/demo.dat
	# Times have six digits, as the kernel's text shows.
	weft report $file | grep -v '^#' | awk '{ match($0, / [0-9]+\.[0-9]+: /); at = substr($0, RSTART + 1, RLENGTH - 3); sub(/ [0-9]+\.[0-9]+: /, sprintf(" %.6f: ", at + 1000)) } 1' > "$BATS_TEST_TMPDIR/want"
	weft report --ts-offset 1000000000000 $file | grep -v '^#' | diff -b "$BATS_TEST_TMPDIR/want" -
	weft report --ts-offset 1000000000000 --since 1004.48 $file | grep -v '^#' | diff -b <(awk '{ match($0, / [0-9]+\.[0-9]+: /) } substr($0, RSTART + 1) + 0 >= 1004.48' "$BATS_TEST_TMPDIR/want") -
	weft report --ts-offset -4000000000 $file | grep -q ' 0\.468163: sched_waking'
	run -1 weft report --ts-offset -5000000000 $file
	[[ "$output" == *"--ts-offset"*"below 0"* ]]
	run -2 weft report --ts-offset 1s $file
	[[ "$output" == *"'1s' is not a whole number"* ]]
}

@test "report -N asks no plugin, whatever the defaults say" {
	local file=tests/fixtures/demo.dat
	[ "$(WEFT_OPTIONS='report = --decode' weft report $file | grep -c 'error=')" -gt 2 ]
	WEFT_OPTIONS='report = --decode' weft report -N $file | diff <(weft report $file) -
}

@test "weft-trace-cmd(7) has the reason for each difference that tests/guest/trace-cmd-lines names" {
	local before line compared why missing='' nr=0
	tr '\n' ' ' < man/weft-trace-cmd.7 | sed 's/\\-/-/g' > "$BATS_TEST_TMPDIR/page"
	while IFS=$'\t' read -r before line compared why; do
		[ "$why" != - ] || continue
		nr=$((nr + 1))
		grep -qF -- "$why" "$BATS_TEST_TMPDIR/page" || missing="$missing '$why'"
	done < <(grep -v '^#' tests/guest/trace-cmd-lines)
	[ "$nr" -ge 8 ]
	[ -z "$missing" ] || { echo "not in the page:$missing"; false; }
}
