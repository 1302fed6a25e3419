#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# man/weft-tracefs.7 has a row for every file of tracefs, and everything that it names exists.
load lib

setup_file()
{
	# Prints FILE <tab> COMMANDS.
	awk '/^\.TP$/ { getline file; getline text; sub(/^\.I /, "", file); gsub(/\\-/, "-", file); gsub(/\\-/, "-", text)
		print file "\t" text }' man/weft-tracefs.7 > "$BATS_FILE_TMPDIR/rows"
}

# Finds the row about a file: by name, by pattern, or by its directory.
row_of()
{
	local file row
	while IFS=$'\t' read -r file row; do
		# shellcheck disable=SC2053
		[[ $1 == $file || $file == "$1"/* ]] && { echo "$row"; return; }
	done < "$BATS_FILE_TMPDIR/rows"
	return 1
}

@test "weft-tracefs(7): every file that the kernel's documentation names has a row with a command" {
	local name missing=''
	while read -r name; do
		row_of "$name" | grep -q '\bweft [a-z]' || missing="$missing $name"
	done < <(grep -v '^#' tests/fixtures/tracefs-files)
	[ -z "$missing" ] || { echo "no row for:$missing"; false; }
}

@test "weft-tracefs(7): every file of this kernel's tracefs has a row" {
	need_tracefs
	local name missing=''
	for name in $(cd /sys/kernel/tracing && echo * per_cpu/cpu0/* events/header_* events/sched/enable events/sched/filter \
		events/sched/sched_switch/*); do
		row_of "$name" > /dev/null || missing="$missing $name"
	done
	[ -z "$missing" ] || { echo "no row for:$missing"; false; }
}

@test "weft help FILE prints the row of each file of tracefs, by its name or its path" {
	local name row missing=''
	while read -r name; do
		weft help "$name" > "$BATS_TEST_TMPDIR/said"
		# A command of this name explains itself.
		! weft __describe | grep -q "^command	$name	" || continue
		# Several patterns may fit a file that has no row of its own.
		row=$(awk -F'\t' -v name="$name" '$1 == name { print $2; exit }' "$BATS_FILE_TMPDIR/rows")
		grep -qF -- ": ${row:-weft}" "$BATS_TEST_TMPDIR/said" || missing="$missing $name"
	done < <(grep -v '^#' tests/fixtures/tracefs-files)
	[ -z "$missing" ] || { echo "not printed:$missing"; false; }
	[ "$(weft help /sys/kernel/tracing/set_ftrace_filter)" = "$(weft help set_ftrace_filter)" ]
	run -0 weft help events/sched/sched_switch/trigger
	[[ "$output" == *'weft set -e SYSTEM:EVENT -R TRIGGER'* ]]
	run -2 weft help no_such_file
}

@test "weft help WORD knows each tracer, clock, option and command of functions that the documents have" {
	local document section item command rest missing=''
	while IFS=$'\t' read -r document section item command rest; do
		case $section in *trace_clock | 'The Tracers' | trace_options | 'Filter commands') ;; *) continue ;; esac
		case $item in *' '*) continue ;; esac
		! weft __describe | grep -q "^command	$item	" || continue
		weft help "$item" | grep -q "^$item: .*\bweft [a-z]" || missing="$missing $item"
	done < <(grep -v '^#' tests/guest/documents)
	[ -z "$missing" ] || { echo "not known:$missing"; false; }
}

@test "weft-tracefs(7): every command and option in it exists" {
	weft __describe > "$BATS_TEST_TMPDIR/tables"
	local command options option wrong=''
	while read -r command options; do
		grep -q "^command	$command	" "$BATS_TEST_TMPDIR/tables" || wrong="$wrong '$command'"
		for option in $options; do
			case $option in
			--*) grep -qE "^option	$command	[^	]*	${option#--}	" "$BATS_TEST_TMPDIR/tables" || wrong="$wrong '$command $option'" ;;
			-?) grep -qE "^option	$command	${option#-}	" "$BATS_TEST_TMPDIR/tables" || wrong="$wrong '$command $option'" ;;
			esac
		done
	done < <(cut -f2 "$BATS_FILE_TMPDIR/rows" | sed 's/\.$//' | tr ',;' '\n\n' | grep -o '\bweft .*' | sed 's/^weft //')
	[ -z "$wrong" ] || { echo "not there:$wrong"; false; }
}
