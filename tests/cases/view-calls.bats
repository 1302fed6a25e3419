#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only

load lib
load screens

setup()
{
	need_shared bench/funcgraph.dat
	FILE=$BATS_TEST_TMPDIR/graph.dat
	ln -s "$SHARED/bench/funcgraph.dat" "$FILE"
}

teardown()
{
	screen_end
}

# The lines of events on the screen, without the comments behind a closing brace, which name what began out of sight.
events_shown()
{
	screen_show | sed '1d' | head -n -2 | sed 's, /\*.*,,; s/ *$//'
}

# calls WIDTH HEIGHT [OPTION...]: the calls of the whole file, when it has been read.
calls()
{
	local width=$1 height=$2
	shift 2
	screen_start "$width" "$height" "$WEFT" view "$@" "$FILE"
	screen_await "1 events"
	screen_keys 3
	screen_await "all calls, by TOTAL"
	screen_await "- all calls"
}

# to_line NAME: moves down to the line of this function.
to_line()
{
	local steps
	steps=$(screen_show | sed '1,4d' | awk -v name="$1" '$NF == name { print NR; exit }')
	for _ in $(seq "$steps"); do screen_keys j; done
}

# The table with this name of weft graph, as "TOTAL SELF CALLS" and the depth and name of each row.
graph_tree()
{
	weft graph --tree "$2" --format json "$FILE" 2> /dev/null |
		jq -r --arg table "$1" '.[$table][] | "\(.depth) \(.function) \(.calls)"'
}

@test "view: what a function called is what weft graph --tree says" {
	calls 140 45
	to_line __x64_sys_openat
	screen_keys d
	screen_await "__x64_sys_openat and what it called"
	# All of it, but what is too small for weft graph to show.
	screen_keys Z Z
	screen_await "- do_sys_openat2"
	graph_tree callees __x64_sys_openat | head -n 15 > "$BATS_TEST_TMPDIR/graph"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/graph")" -gt 5 ]
	while read -r depth function count; do
		count=$(echo "$count" | sed ':a; s/\B[0-9]\{3\}\>/,&/; ta')
		screen_show | grep -E " $count +[0-9.]+ [a-z]+ {$((2 + depth * 2))}[-+ ] $function( |$)" > /dev/null ||
			{ echo "no: $depth $function $count"; screen_show; return 1; }
	done < "$BATS_TEST_TMPDIR/graph"
	screen_keys r
	screen_await "all calls, by TOTAL"
}

@test "view: who called a function is what weft graph --tree says" {
	calls 140 45
	to_line kmem_cache_free
	screen_keys u
	screen_await "kmem_cache_free and who called it"
	graph_tree callers kmem_cache_free | awk '$1 < 2' > "$BATS_TEST_TMPDIR/graph"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/graph")" -gt 1 ]
	while read -r depth function count; do
		[[ "$function" != \[* ]] || continue
		count=$(echo "$count" | sed ':a; s/\B[0-9]\{3\}\>/,&/; ta')
		screen_show | grep -E " $count +[0-9.]+ [a-z]+ {$((2 + depth * 2))}[-+ ] $function( |$)" > /dev/null ||
			{ echo "no: $depth $function $count"; screen_show; return 1; }
	done < "$BATS_TEST_TMPDIR/graph"
}

@test "view: l follows the longest child, and Enter goes to the longest call, as weft graph has it" {
	calls 140 45
	to_line __x64_sys_openat
	screen_keys l
	screen_await "- __x64_sys_openat"
	screen_keys l
	screen_await "- do_sys_openat2"
	screen_keys h h
	screen_keys Enter
	screen_await "[1 events]"
	screen_await "__x64_sys_openat"
	# The end of the longest call, less its time.
	weft graph --format json "$FILE" 2> /dev/null |
		jq -r '.functions[] | select(.function == "__x64_sys_openat") | "\(.max_at) \(.max_ns)"' > "$BATS_TEST_TMPDIR/max"
	read -r at lasted < "$BATS_TEST_TMPDIR/max"
	began=$(awk -v at="$at" -v lasted="$lasted" 'BEGIN { printf "%.4f", at - lasted / 1e9 }')
	screen_show | tail -n 2 | grep -F "${began%?}"
}

@test "view: the calls are ordered by each figure, and c copies the command line" {
	calls 120 30
	screen_keys s s
	screen_await "all calls, by CALLS"
	# The most calls are those of weft graph that nothing called.
	screen_show | sed '1,4d' | awk '{ gsub(",", ""); print $5 }' | grep -E '^[0-9]+$' | head -n 10 > "$BATS_TEST_TMPDIR/counts"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/counts")" -gt 5 ]
	sort -rnC "$BATS_TEST_TMPDIR/counts"
	screen_keys S S
	screen_await "all calls, by TOTAL"
	to_line __x64_sys_openat
	screen_keys c
	screen_await "weft graph --tree __x64_sys_openat"
}

@test "view: between the marks the calls are those of --since and --until" {
	screen_start 140 30 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys : 38 Enter a : 39 Enter b 3
	screen_await "between A and B"
	screen_await "- all calls"
	count=$(weft graph --since 38 --until 39 --tree __x64_sys_openat --format json "$FILE" 2> /dev/null | jq '.callees[0].calls')
	count=$(echo "$count" | sed ':a; s/\B[0-9]\{3\}\>/,&/; ta')
	screen_await_line " $count +[0-9.]+ ms +\+ __x64_sys_openat"
}

@test "view: the calls in a small terminal have only the figure that orders them" {
	calls 40 12 --ascii --color=never
	screen_await_line '^ +[0-9.]+ s +- all calls$'
	screen_show > "$BATS_TEST_TMPDIR/shown"
	LC_ALL=C run -1 grep '[^ -~]' "$BATS_TEST_TMPDIR/shown"
}

@test "view: Z folds all calls of the list but the outermost, and z unfolds one and folds it again" {
	weft report --limit 4000 "$FILE" 2> /dev/null | sed 's, /\*.*,,; s/ *$//' > "$BATS_TEST_TMPDIR/report"
	screen_start 120 24 "$WEFT" view "$FILE"
	screen_await "? keys"
	screen_keys Z
	screen_await "only the outermost calls"
	grep -E '\|  [^ ]' "$BATS_TEST_TMPDIR/report" | head -n 20 | diff - <(events_shown | head -n 20)
	# The second line is a call of several lines.
	screen_keys j z
	screen_await_not "only the outermost calls"
	first=$(grep -nE '\|  [^ ]' "$BATS_TEST_TMPDIR/report" | sed -n 2p | cut -d: -f1)
	inner=$(tail -n +$((first + 1)) "$BATS_TEST_TMPDIR/report" | grep -nE '\|  [^ ]' | head -n 1 | cut -d: -f1)
	[ "$inner" -gt 2 ]
	tail -n +"$first" "$BATS_TEST_TMPDIR/report" | head -n "$inner" | grep -E '\|    ?[^ ]|\|  [^ ]' |
		diff - <(events_shown | sed 's/^.//' | tail -n +2 | head -n "$inner")
	screen_keys Z z
	screen_await "+ 0) "
	# What was in it is hidden; the rest is not.
	tail -n +$((first + inner)) "$BATS_TEST_TMPDIR/report" | head -n 5 |
		diff - <(events_shown | sed 's/^.//' | grep -A 5 -F "$(sed -n "${first}p" "$BATS_TEST_TMPDIR/report")" | tail -n +2)
	screen_keys z
	screen_await_not "+ 0) "
}
