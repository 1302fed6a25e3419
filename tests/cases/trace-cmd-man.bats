#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# man/weft-trace-cmd.7 has a row for every command and option of the trace-cmd that is installed, and what it names exists in weft.
load lib

setup_file()
{
	# SECTION <tab> OPTIONS <tab> TEXT
	awk '/^\.SH /{ section = $NF } /^\.TP$/ { getline name; getline text; sub(/^\.B /, "", name); gsub(/\\-/, "-", name)
		gsub(/\\-/, "-", text); gsub(/\\\(aq/, "\047", text); print section "\t" name "\t" text }' man/weft-trace-cmd.7 > "$BATS_FILE_TMPDIR/rows"
}

# has_row SECTION WORD
has_row()
{
	awk -F'\t' -v section="$1" -v word="$2" '$1 == section { n = split($2, words, ", ")
		for (i = 1; i <= n; i++) if (words[i] == word) found = 1 } END { exit !found }' "$BATS_FILE_TMPDIR/rows"
}

# options_of WORD...: those that a help of trace-cmd tells, "-e" and "--full"
options_of()
{
	trace-cmd "$@" 2>&1 | grep -oE '^ +--?[A-Za-z][-A-Za-z0-9]*' | tr -d ' ' | sed -E 's/^(-[A-Za-z])[a-z].*/\1/'
}

@test "weft-trace-cmd(7): every command and every option of trace-cmd's record, report and list has a row" {
	need_command trace-cmd
	local missing='' word
	while read -r word; do
		has_row COMMANDS "$word" || missing="$missing $word"
	done < <(trace-cmd --help 2>&1 | awk '/commands:/ { on = 1; next } on && $2 == "-" { print $1 }')
	for command in record report list; do
		local help=-h
		[ "$command" = record ] || help=--help
		options_of "$command" $help > "$BATS_TEST_TMPDIR/options"
		[ "$(wc -l < "$BATS_TEST_TMPDIR/options")" -gt 8 ]
		while read -r word; do
			has_row "${command^^}" "$word" || missing="$missing $command:$word"
		done < "$BATS_TEST_TMPDIR/options"
	done
	[ -z "$missing" ] || { echo "no row for:$missing"; false; }
}

@test "weft-trace-cmd(7): what it names exists in weft" {
	weft __describe > "$BATS_TEST_TMPDIR/tables"
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
	done < <(cut -f3 "$BATS_FILE_TMPDIR/rows" | grep -oE 'weft [a-z][-a-z]*( +--?[A-Za-z][-a-z]*)*')
}

# The other direction: a letter of record, report or list that trace-cmd has, too, is in its row.
@test "weft-trace-cmd(7): letters that both have are told, with the same meaning or another" {
	local missing='' command letter
	while read -r command letter; do
		has_row "${command^^}" "-$letter" || continue
		awk -F'\t' -v section="${command^^}" -v letter="-$letter" -v command="$command" '$1 == section && index($2 ",", letter ",") {
			found = index($3, "weft " command " " letter) } END { exit !found }' "$BATS_FILE_TMPDIR/rows" || missing="$missing $command:-$letter"
	done < <(weft __describe | awk -F'\t' '$1 == "option" && $3 != "-" && ($2 == "record" || $2 == "report" || $2 == "list") { print $2, $3 }')
	[ "$missing" = " list:-B" ] || [ -z "$missing" ] || { echo "not told:$missing"; false; }
}

@test "an option of trace-cmd that has another name here is told with that name" {
	run -2 weft report -w
	[[ "$output" == *"no option '-w' as trace-cmd has it; 'weft hist --latency"* ]]
	run -2 weft report --stat
	[[ "$output" == *"'weft info' tells"* ]]
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
	# The third letter of the flags: h and H are hard interrupts, s and H soft ones.
	weft report -I $file | grep -v '^#' | diff - <(grep -vE '\] ..[hH]' "$BATS_TEST_TMPDIR/all")
	weft report -S $file | grep -v '^#' | diff - <(grep -vE '\] ..[sH]' "$BATS_TEST_TMPDIR/all")
	weft report -l $file | cmp - <(weft report -O latency-format $file)
}
