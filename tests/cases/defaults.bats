#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Options that a user always wants: ~/.config/weft/config and WEFT_OPTIONS. The oracle is the same command with the
# options typed.
load lib

setup()
{
	file=$PWD/tests/fixtures/demo.dat
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$PWD/home
	unset WEFT_CONFIG XDG_CONFIG_HOME
	mkdir -p home/.config/weft
	config=home/.config/weft/config
	# The file belongs to the user who runs the tests, and no other user may write it.
	umask 022
}

# same WORDS -- WORDS: both command lines print the same
same()
{
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	weft "${options[@]}" > one
	WEFT_CONFIG='' weft "$@" > two
	[ -s two ]
	cmp one two
}

@test "defaults: lines of the file are options of their commands, and the command line wins" {
	printf '# mine\n\nreport = --format json --limit 3\n  info=--no-events\n' > $config
	same report "$file" -- report --format json --limit 3 "$file"
	same report --format ftrace "$file" -- report --limit 3 "$file"
	same info "$file" -- info --no-events "$file"
	same list formats -- list formats
}

@test "defaults: WEFT_OPTIONS holds more of them, WEFT_CONFIG and XDG_CONFIG_HOME name the file, and quotes keep blanks" {
	WEFT_OPTIONS="info = --no-events; report = -f 'prev_pid == 65' --limit 2" same report "$file" -- report -f 'prev_pid == 65' --limit 2 "$file"
	echo 'report = --limit 4' > mine
	WEFT_CONFIG=mine same report "$file" -- report --limit 4 "$file"
	mkdir -p xdg/weft
	echo 'report = --limit 5' > xdg/weft/config
	XDG_CONFIG_HOME=$PWD/xdg same report "$file" -- report --limit 5 "$file"
	echo 'report = --limit 1' > $config
	WEFT_OPTIONS='report = --limit 6' same report "$file" -- report --limit 6 "$file"
}

@test "defaults: --no-config does without, in front of the command and behind it, and so does an empty WEFT_CONFIG" {
	echo 'report = --limit 1' > $config
	export WEFT_OPTIONS='report = --format json'
	weft --no-config report "$file" > one
	weft report --no-config "$file" > two
	env -u WEFT_OPTIONS WEFT_CONFIG='' weft report "$file" > three
	cmp one two
	cmp one three
	[ "$(wc -l < one)" -gt 100 ]
}

@test "defaults: a file that others may write is not read, and a note says so" {
	echo 'report = --limit 1' > $config
	chmod 666 $config
	weft report "$file" > text 2> messages
	[ "$(wc -l < text)" -gt 100 ]
	grep -q "^weft: note: the defaults of .*weft/config" messages
	if [ "$(id -u)" = 0 ]; then
		chmod 600 $config
		chown 12345 $config
		weft report "$file" > text 2> messages
		[ "$(wc -l < text)" -gt 100 ]
		grep -q "^weft: note: the defaults of .*weft/config" messages
	fi
}

@test "defaults: what is wrong is told with file and line, before anything is done" {
	local line
	for line in 'report = --limti 3' 'report = trace.dat' 'record = -- rm -rf x' 'report' 'reprot = -t' 'report = --limit' "report = -f 'x"; do
		printf '\n%s\n' "$line" > $config
		run weft report "$file"
		[ "$status" = 2 ] || [ "${line%% *}" = record ]
		[[ $line = *limti* ]] || [ "${line%% *}" = record ] || [[ $output == *"weft/config:2: "*"--no-config"* ]]
	done
	printf 'record = -- rm -rf x\n' > $config
	run weft record --dry-run -e sched -- true
	[ "$status" = 2 ]
	[[ $output == *"'--' is no option"* ]]
	echo 'reprot = -t' > $config
	run weft report "$file"
	[[ $output == *"did you mean 'report'"* ]] || [[ $output == *report* ]]
}

@test "defaults: another user's link does not choose the file, and nothing of it is printed" {
	need_root
	echo 'root:secret:0' > target
	mkdir theirs
	ln -s "$PWD/target" theirs/config
	ln -s "$PWD" theirs/folder
	chown -h 12345 theirs theirs/config theirs/folder
	for path in theirs/config "$PWD/theirs/config" theirs/folder/target; do
		WEFT_CONFIG=$path run -0 --separate-stderr weft list formats
		[[ "$stderr" == "weft: note: the defaults are left out: '$path' leads over a link of another user (uid 12345)"* ]]
		[[ "$output$stderr" != *secret* ]]
	done
	# A link of one's own leads where it did.
	printf 'report = --limit 3\n' > target
	ln -s ../target own-link
	mkdir -p deep
	mv own-link deep/link
	chown -h 0 deep/link
	WEFT_CONFIG=deep/link weft report "$file" > one
	WEFT_CONFIG=$PWD/deep/../deep//link weft report "$file" | cmp one -
	WEFT_CONFIG='' weft report --limit 3 "$file" | cmp one -
}
