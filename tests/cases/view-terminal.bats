#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What a terminal does to weft view: other sizes, job control, another emulator, many keys.

load lib
load screens

setup()
{
	need_shared bench/sched-syscalls.dat
	FILE=$BATS_TEST_TMPDIR/sched.dat
	ln -s "$SHARED/bench/sched-syscalls.dat" "$FILE"
	weft report --limit 100 "$FILE" 2> /dev/null | grep -v '^#' > "$BATS_TEST_TMPDIR/report"
}

teardown()
{
	screen_end
	[ -z "${GNU_SCREEN:-}" ] || screen -S "$GNU_SCREEN" -X quit > /dev/null 2>&1 || true
}

# first_lines WIDTH HEIGHT: what the list shows of the start of the report.
first_lines()
{
	head -n $(($2 - 3)) "$BATS_TEST_TMPDIR/report" | screen_lines "$1"
}

@test "view: a terminal of another size is filled at once, at any size" {
	screen_start 80 24 "$WEFT" view "$FILE"
	screen_await "? keys"
	for size in 120x40 40x12 200x60 60x8 80x24; do
		tmux -L "$SCREENS" resize-window -x "${size%x*}" -y "${size#*x}"
		last=$(first_lines "${size%x*}" "${size#*x}" | tail -n 1)
		screen_await "$last"
		for _ in $(seq 200); do
			screen_show | sed '1d' | head -n -2 | grep -v '^$' > "$BATS_TEST_TMPDIR/shown"
			! first_lines "${size%x*}" "${size#*x}" | diff -q - "$BATS_TEST_TMPDIR/shown" > /dev/null || break
			sleep 0.025
		done
		first_lines "${size%x*}" "${size#*x}" | diff - "$BATS_TEST_TMPDIR/shown"
	done
}

@test "view: Ctrl-Z gives the terminal back to the shell, and fg draws the same screen" {
	screen_start 80 24 bash -c 'set -m; "$0" view "$1"; stty -g > "$2/stty.stopped"; echo STOPPED; read -r _; fg > /dev/null; echo "ENDED WITH $?"' \
		"$WEFT" "$FILE" "$BATS_TEST_TMPDIR"
	screen_await "? keys"
	screen_keys G
	screen_await "100.0 %"
	screen_show > "$BATS_TEST_TMPDIR/before"
	screen_keys C-z
	screen_await STOPPED
	[ "$(tmux -L "$SCREENS" display -p '#{alternate_on}#{mouse_any_flag}#{cursor_flag}')" = 001 ]
	diff "$BATS_TEST_TMPDIR/stty.before" "$BATS_TEST_TMPDIR/stty.stopped"
	screen_keys Enter
	screen_await "100.0 %"
	screen_show | diff "$BATS_TEST_TMPDIR/before" -
	screen_keys q
	screen_await "ENDED WITH 0"
	diff "$BATS_TEST_TMPDIR/stty.before" "$BATS_TEST_TMPDIR/stty.after"
}

# Shows what GNU screen understood, when it has a text.
gnu_await()
{
	local copy=$BATS_TEST_TMPDIR/hardcopy
	for _ in $(seq 400); do
		rm -f "$copy"
		screen -S "$GNU_SCREEN" -p 0 -X hardcopy "$copy" > /dev/null 2>&1 || true
		[ ! -s "$copy" ] || ! grep -qF -- "$1" "$copy" || return 0
		sleep 0.025
	done
	echo "the screen never had: $1"
	cat "$copy"
	return 1
}

# A hard copy of GNU screen has the low byte of each character only.
low_bytes()
{
	python3 -c 'import sys; sys.stdout.buffer.write(bytes(ord(c) & 255 for c in sys.stdin.read()))'
}

@test "view: GNU screen shows what tmux shows, list, time line and tables" {
	need_command screen
	need_command python3
	export LC_ALL=C.UTF-8
	export GNU_SCREEN=weft-$$-$BATS_TEST_NUMBER SCREENDIR=$BATS_TEST_TMPDIR/screens
	mkdir -m 700 "$SCREENDIR"
	printf 'startup_message off\n' > "$BATS_TEST_TMPDIR/screenrc"
	screen_start 80 24 "$WEFT" view "$FILE"
	screen_await "? keys"
	TERM=xterm screen -c "$BATS_TEST_TMPDIR/screenrc" -U -d -m -S "$GNU_SCREEN" "$WEFT" view "$FILE"
	gnu_await "? keys"
	for step in '1:G:100.0 %' '4:g:tasks: how long each ran' '2:g:storm-0' '1:G:100.0 %'; do
		IFS=: read -r pane key text <<< "$step"
		screen_keys "$pane" "$key"
		screen_await "$text"
		screen -S "$GNU_SCREEN" -p 0 -X stuff "$pane$key"
		gnu_await "$text"
		# The time line is complete at the same time in neither of them.
		for _ in $(seq 200); do
			screen -S "$GNU_SCREEN" -p 0 -X hardcopy "$BATS_TEST_TMPDIR/hardcopy"
			screen_show | low_bytes > "$BATS_TEST_TMPDIR/tmux"
			! sed 's/ *$//' "$BATS_TEST_TMPDIR/hardcopy" | cmp -s - "$BATS_TEST_TMPDIR/tmux" || break
			sleep 0.05
		done
		sed 's/ *$//' "$BATS_TEST_TMPDIR/hardcopy" | diff -a - "$BATS_TEST_TMPDIR/tmux"
	done
}
