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
