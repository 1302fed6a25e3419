#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# report --format pretty: system calls as strace writes them, and lines as wide as the terminal. The oracle is the
# kernel's text of the same file.
load lib

file=tests/fixtures/demo.dat

@test "pretty calls: each call is one line, or two where another event of its CPU came between" {
	weft report --format pretty $file > "$BATS_TEST_TMPDIR/text"
	weft report $file > "$BATS_TEST_TMPDIR/kernel"
	entries=$(grep -c ': sys_[a-z0-9_]*(' "$BATS_TEST_TMPDIR/kernel")
	exits=$(grep -c ': sys_[a-z0-9_]* -> ' "$BATS_TEST_TMPDIR/kernel")
	unfinished=$(grep -c '<unfinished \.\.\.>$' "$BATS_TEST_TMPDIR/text")
	resumed=$(grep -c '<\.\.\. [a-z0-9_]* resumed>) = ' "$BATS_TEST_TMPDIR/text")
	whole=$(grep -v '<' "$BATS_TEST_TMPDIR/text" | grep -Ec ' [a-z0-9_]+\(.*\) = ')
	[ "$whole" -gt 10 ]
	[ "$unfinished" -gt 0 ]
	[ $((whole + unfinished)) = "$entries" ]
	[ $((whole + resumed)) = "$exits" ]
}

@test "pretty calls: names of directories, flags and errors; addresses where the trace has no string" {
	weft report --format pretty $file > "$BATS_TEST_TMPDIR/text"
	grep -Eq ' openat\(AT_FDCWD, 0x7ffd1dc86fa9, O_RDONLY\|O_NONBLOCK\|O_CLOEXEC\|O_DIRECTORY, 0\) = 3$' "$BATS_TEST_TMPDIR/text"
	grep -Eq ' newfstatat\(AT_FDCWD, 0x7ffd1dc86faf, 0x7ffd1dc84b98, 0\) = -1 ENOENT$' "$BATS_TEST_TMPDIR/text"
	grep -Eq ' ioctl\(0, TIOCGWINSZ, 0x7ffd1dc84c00\) = -1 ENOTTY$' "$BATS_TEST_TMPDIR/text"
	grep -Eq ' rt_sigprocmask\(SIG_SETMASK, ' "$BATS_TEST_TMPDIR/text"
}

@test "pretty calls: a line has how long its call took" {
	took=$(weft report -t $file | awk '/sys_newfstatat\(.*7ffd1dc86faf/ { sub(":", "", $4); from = $4 } /sys_newfstatat -> 0xf/ { sub(":", "", $4); printf "%.1fus", ($4 - from) * 1e6 }')
	line=$(weft report --format pretty $file | grep '= -1 ENOENT$')
	[[ $line == *" $took "* ]]
}

@test "pretty calls: exits whose entries were not selected are printed, and --raw leaves the fields" {
	[ "$(weft report --format pretty -e 'sys_exit_*' $file | grep -c 'resumed>) = ')" = "$(weft report $file | grep -c ': sys_[a-z0-9_]* -> ')" ]
	weft report --format pretty -R $file | grep -q 'sys_exit_openat.*ret='
}

@test "pretty calls: an error is red, a name bold, on a terminal" {
	weft report --format pretty --color always $file | grep -qF $'= \033[31m-1 ENOENT\033[0m'
	weft report --format pretty --color always $file | grep -qF $'\033[1mopenat\033[0m(AT_FDCWD'
	weft report --format pretty --color always $file | sed $'s/\033\\[[0-9]*m//g' | cmp - <(weft report --format pretty $file)
}

# on_terminal COLUMNS WORD...: prints what a terminal of this width shows
on_terminal()
{
	local columns=$1
	shift
	SHELL=$BASH TERM=xterm timeout 60 script -qec "stty rows 24 cols $columns; $(printf '%q ' "$@")" /dev/null < /dev/null | tr -d '\r'
}

@test "pretty: a terminal gets lines of its width, with a sign where they go on; a file gets them whole" {
	need_command script
	on_terminal 90 "$WEFT" report --format pretty $file > "$BATS_TEST_TMPDIR/shown"
	[ "$(awk 'length > widest { widest = length } END { print widest }' "$BATS_TEST_TMPDIR/shown")" = 90 ]
	grep -q '>$' "$BATS_TEST_TMPDIR/shown"
	weft report --format pretty $file > "$BATS_TEST_TMPDIR/whole"
	sed -E '/^.{91}/s/^(.{89}).*/\1>/' "$BATS_TEST_TMPDIR/whole" | cmp - "$BATS_TEST_TMPDIR/shown"
	NO_COLOR='' on_terminal 90 "$WEFT" report --format pretty $file | sed $'s/\033\\[[0-9]*m//g' | cmp - "$BATS_TEST_TMPDIR/shown"
	on_terminal 90 "$WEFT" report $file | cmp - <(weft report $file)
}
