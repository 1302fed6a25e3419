#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A user's own plugins of libtraceevent: their texts are those that trace-cmd prints, and no plugin harms a report.
load lib

file=tests/fixtures/demo.dat

setup() {
	plugins=$BATS_TEST_TMPDIR/plugins
	mkdir -p "$plugins"
	[ -e /usr/include/traceevent/event-parse.h ] || skip "the headers of libtraceevent are not installed"
}

# build [OPTION...]: makes the plugin in the directory, and only it
build() {
	rm -f "$plugins"/*
	"${CC:-cc}" -shared -fPIC -I/usr/include/traceevent "$@" -o "$plugins/plugin_ours.so" tests/cases/traceevent-plugin.c
}

# own: the lines of sched_switch with the plugin's text
own() {
	grep -c 'sched_switch: *next to [0-9]'
}

# no_line_lost FILE: all other lines are those without plugins
no_line_lost() {
	weft trace-cmd report -i $file | diff - "$1" | grep '^[<>]' | grep -v ' sched_switch: ' && return 1
	[ "$(wc -l < "$1")" = "$(weft trace-cmd report -i $file | wc -l)" ]
}

@test "trace-cmd report prints the texts of the plugins in the user's directory, with their options, as trace-cmd does" {
	local option
	need_command trace-cmd
	build
	mkdir -p "$BATS_TEST_TMPDIR/home/.local/lib/traceevent"
	ln -s "$plugins" "$BATS_TEST_TMPDIR/home/.local/lib/traceevent/plugins"
	export HOME=$BATS_TEST_TMPDIR/home
	[ "$(weft trace-cmd report $file | own)" -gt 10 ]
	for option in "" "-O ours:loud" "-O loud" "-O ours:word=from" "-O other:loud" -N -L "-n sched_switch" \
		"-r sched_switch" -R -l "-t -w"; do
		# shellcheck disable=SC2086
		trace-cmd report $option -i $file 2> /dev/null | diff - <(weft trace-cmd report $option -i $file)
	done
	unset HOME
	TRACEEVENT_PLUGIN_DIR=$plugins weft trace-cmd report $file | diff - <(TRACEEVENT_PLUGIN_DIR=$plugins trace-cmd report -i $file)
}

@test "report --traceevent-plugins adds the plugins' text to the kernel's, with any number of threads" {
	build
	weft report $file > "$BATS_TEST_TMPDIR/plain"
	weft report --traceevent-plugins="$plugins" $file > "$BATS_TEST_TMPDIR/added"
	[ "$(grep -c ' sched_switch: .* {traceevent=next to [0-9]* .*}$' "$BATS_TEST_TMPDIR/added")" = \
		"$(grep -c ' sched_switch: ' "$BATS_TEST_TMPDIR/plain")" ]
	sed 's/ {traceevent=.*}$//' "$BATS_TEST_TMPDIR/added" | diff "$BATS_TEST_TMPDIR/plain" -
	weft report --threads 3 --traceevent-plugins="$plugins" $file | diff "$BATS_TEST_TMPDIR/added" -
	weft report --format trace-cmd --traceevent-plugins="$plugins" $file | own
	run -2 weft report --format json --traceevent-plugins="$plugins" $file
	run -1 weft report --traceevent-plugins="$BATS_TEST_TMPDIR" $file
	[[ "$output" == *"no plugin of libtraceevent in '$BATS_TEST_TMPDIR'"* ]]
}

@test "a plugin of libtraceevent has no files, no sockets, no processes, and no place to write to" {
	build -DNOISE
	run -0 --separate-stderr weft report --traceevent-plugins="$plugins" -e sched_switch $file
	[ -z "$stderr" ]
	[[ "$output" != *noise* ]]
	[[ "$output" == *"{traceevent=no file no socket no process next to "* ]]
}

@test "a plugin of libtraceevent that crashes is told once, costs its events only their text, and starts once more" {
	local how
	for how in -DCRASH=0 -DGROW -DSTART_CRASH; do
		build $how
		TRACEEVENT_PLUGIN_DIR=$plugins weft trace-cmd report $file > "$BATS_TEST_TMPDIR/text" 2> "$BATS_TEST_TMPDIR/told"
		no_line_lost "$BATS_TEST_TMPDIR/text"
		[ "$(wc -l < "$BATS_TEST_TMPDIR/told")" = 1 ]
		grep -q '^weft: note: .*plugin.* crashed' "$BATS_TEST_TMPDIR/told"
	done
	# What came before the crash has its text.
	build -DCRASH=64
	TRACEEVENT_PLUGIN_DIR=$plugins weft trace-cmd report $file 2> /dev/null | own
}

@test "a plugin of libtraceevent that loops is ended" {
	build -DLOOP=64
	TRACEEVENT_PLUGIN_DIR=$plugins weft trace-cmd report $file > "$BATS_TEST_TMPDIR/text" 2> "$BATS_TEST_TMPDIR/told"
	no_line_lost "$BATS_TEST_TMPDIR/text"
	grep -q "took too long at an event 'sched_switch'" "$BATS_TEST_TMPDIR/told"
}

@test "a plugin of libtraceevent that sleeps or stops itself is ended soon" {
	local how
	for how in -DWAIT=64 -DSTOP=64; do
		build $how
		TRACEEVENT_PLUGIN_DIR=$plugins timeout 30 weft trace-cmd report $file > "$BATS_TEST_TMPDIR/text" 2> "$BATS_TEST_TMPDIR/told"
		no_line_lost "$BATS_TEST_TMPDIR/text"
		grep -q "took too long at an event 'sched_switch'" "$BATS_TEST_TMPDIR/told"
	done
}

@test "what is not a plugin of libtraceevent is told, and the others are used" {
	build
	echo nothing > "$plugins/a_text.so"
	run -0 --separate-stderr weft report --traceevent-plugins="$plugins" -e sched_switch $file
	[[ "$output" == *"{traceevent=next to "* ]]
	[[ "$stderr" == *"a plugin cannot be loaded: "* ]]
}

@test "root does not load a plugin of libtraceevent that others may write" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	build
	chmod o+w "$plugins/plugin_ours.so"
	run -0 --separate-stderr weft report --traceevent-plugins="$plugins" -e sched_switch $file
	[[ "$output" != *traceevent=* ]]
	[[ "$stderr" == *"a plugin is not loaded: "*plugin_ours.so* ]]
}

@test "an option in a pager, or a report that ends early, leaves no process of plugins behind" {
	build
	weft report --traceevent-plugins="$plugins" $file | head -n 1
	TRACEEVENT_PLUGIN_DIR=$plugins weft trace-cmd report $file > "$BATS_TEST_TMPDIR/text"
	# The processes close what they share with weft; the last one that holds the plugin's file open is gone.
	for _ in $(seq 600); do
		grep -ls "$plugins" /proc/[0-9]*/maps > /dev/null 2>&1 || return 0
		read -rt 0.1 <> <(:) || :
	done
	false
}
