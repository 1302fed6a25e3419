#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Text printed on a terminal goes through a pager. script(1) is the terminal; the pagers are programs that leave a
# trace.
load lib

setup()
{
	need_command script
	file=$PWD/tests/fixtures/demo.dat
	cd "$BATS_TEST_TMPDIR" || return
	unset WEFT_PAGER PAGER LESS
	export TERM=vt100
}

# on_terminal WORD...: prints what arrives at the terminal, without carriage returns; its status is that of the command
on_terminal()
{
	SHELL=$BASH timeout 60 script -qec "$(printf '%q ' "$@")" /dev/null < /dev/null > screen
}

@test "report, list, info, show --help and help go through WEFT_PAGER, and print into it what a file gets" {
	export WEFT_PAGER='cat > paged'
	local words
	for words in "report $file" "info $file" "list formats" "help report" "show --help"; do
		rm -f paged
		# shellcheck disable=SC2086
		on_terminal "$WEFT" $words
		# shellcheck disable=SC2086
		COLUMNS=80 "$WEFT" $words | diff - paged
		[ ! -s screen ]
	done
}

@test "an analysis of a file goes through the pager; one of a COMMAND has the terminal with it" {
	export WEFT_PAGER='cat > paged'
	on_terminal "$WEFT" sched "$file" > out || true
	grep -q '^# ' paged
}

@test "PAGER is used where WEFT_PAGER is not set; none for a pipe, a file, a dumb terminal, cat or an empty word" {
	PAGER='cat > paged' on_terminal "$WEFT" report "$file"
	"$WEFT" report "$file" | cmp - paged
	rm paged
	PAGER='touch paged' "$WEFT" report "$file" > out
	PAGER='touch paged' "$WEFT" report "$file" | cmp - out
	TERM=dumb PAGER='touch paged' on_terminal "$WEFT" report "$file"
	tr -d '\r' < screen | cmp - out
	PAGER='touch paged' WEFT_PAGER='' on_terminal "$WEFT" report "$file"
	tr -d '\r' < screen | cmp - out
	PAGER='touch paged' WEFT_PAGER=cat on_terminal "$WEFT" report "$file"
	tr -d '\r' < screen | cmp - out
	[ ! -e paged ]
}

@test "a pager that is left ends the command, which has not failed" {
	WEFT_PAGER='head -n 1' on_terminal "$WEFT" report "$file"
	[ "$(wc -l < screen)" = 1 ]
}

@test "the status is the command's, and errors go through the pager, too" {
	run -1 env WEFT_PAGER='cat > paged' SHELL="$BASH" script -qec "$WEFT report missing.dat" /dev/null < /dev/null
	grep -q "^weft: .*missing.dat" paged
}

@test "less is the pager by itself: a short text stays on the screen, a long one can be left" {
	need_command less
	on_terminal "$WEFT" list formats
	grep -q pretty screen
	printf q | SHELL=$BASH timeout 60 script -qec "stty rows 10 cols 80; $(printf %q "$WEFT") report $(printf %q "$file")" /dev/null > screen
	grep -aq 'tracer: nop' screen
	[ "$(wc -l < screen)" -lt 60 ]
}

@test "colours reach the pager, and nothing else that a terminal would obey" {
	NO_COLOR='' WEFT_PAGER='cat > paged' on_terminal "$WEFT" report --format pretty "$file"
	grep -q $'\033\\[32m' paged
	NO_COLOR='' WEFT_PAGER='cat > paged' on_terminal "$WEFT" report "$file"
	grep -q $'\033\\[32m' paged
	NO_COLOR=1 WEFT_PAGER='cat > paged' on_terminal "$WEFT" report --format pretty "$file"
	run -1 grep -q $'\033' paged
}

# The pager of the next tests is the brother of the process that reads. More is printed than a pipe holds.
brother='brother=$(ps -o pid= --ppid $PPID | grep -vw $$ | head -n 1)'

large()
{
	large=${file%/*}/golden/6.1-rt-events-sched.dat
	"$WEFT" report --format json "$large" > want
	[ "$(wc -c < want)" -gt 100000 ]
}

@test "a process that was killed while the pager still read has failed, whatever signal it was" {
	large
	for signal in PIPE KILL; do
		run env WEFT_PAGER="$brother; kill -$signal \$brother; cat > paged" SHELL="$BASH" timeout 60 \
			script -qec "$WEFT report --format json $large" /dev/null < /dev/null
		[ "$status" = $((128 + $(kill -l $signal))) ]
		[[ "$output" == *"ended the process that reads: the output is not complete"* ]]
		run -1 cmp -s want paged
	done
}

@test "a process that another stops goes on, and the output is complete" {
	large
	WEFT_PAGER="$brother; kill -STOP \$brother; cat > paged" on_terminal "$WEFT" report --format json "$large"
	cmp want paged
}

@test "the pager of root is told to start no shell where another user's sudo started weft" {
	need_root
	export WEFT_PAGER='printenv LESSSECURE > paged; cat > /dev/null'
	SUDO_UID=1234 on_terminal "$WEFT" list formats
	[ "$(< paged)" = 1 ]
	SUDO_UID=0 on_terminal "$WEFT" list formats
	[ ! -s paged ]
	on_terminal "$WEFT" list formats
	[ ! -s paged ]
}
