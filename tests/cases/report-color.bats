#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# report --color: colours in the kernel's own text. The oracle is the text without colours, which the captures compare
# with the kernel's.
load lib
load hostile

escape=$'\033'
sequence="s/$escape\[[0-9]*m//g"

# on_terminal WORD...: prints what arrives at the terminal, without carriage returns
on_terminal()
{
	SHELL=$BASH TERM=xterm timeout 60 script -qec "$(printf '%q ' "$@")" /dev/null < /dev/null | tr -d '\r'
}

@test "color: without the sequences each text is the kernel's, byte for byte" {
	local file format
	for file in tests/fixtures/demo.dat tests/corpora/report/accept/*.dat; do
		# With colours, a marker of two lines is shown on one line.
		[[ $file != *markers* ]] || continue
		for format in ftrace trace_pipe; do
			weft report --format $format --color always "$file" > "$BATS_TEST_TMPDIR/painted"
			grep -q "$escape" "$BATS_TEST_TMPDIR/painted"
			sed "$sequence" "$BATS_TEST_TMPDIR/painted" | cmp - <(weft report --format $format "$file")
		done
	done
	for format in latency-format verbose noirq-info nocontext-info fields raw funcgraph-proc funcgraph-abstime; do
		weft report -O $format --color always tests/corpora/report/accept/graph-6.1.dat | sed "$sequence" |
			cmp - <(weft report -O $format tests/corpora/report/accept/graph-6.1.dat)
		weft report -O $format --color always tests/fixtures/demo.dat | sed "$sequence" | cmp - <(weft report -O $format tests/fixtures/demo.dat)
	done
}

@test "color: a pipe and a file get the kernel's bytes, whatever the terminal beside them is" {
	need_command script
	local file=tests/fixtures/demo.dat
	unset NO_COLOR
	weft report $file > "$BATS_TEST_TMPDIR/want"
	on_terminal bash -c "weft report $file | cat > $BATS_TEST_TMPDIR/piped; weft report $file > $BATS_TEST_TMPDIR/file"
	cmp "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/piped"
	cmp "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/file"
	run ! grep -q "$escape" "$BATS_TEST_TMPDIR/want"
}

@test "color: a terminal has it, NO_COLOR, --color never and TERM=dumb take it away" {
	need_command script
	local file=tests/fixtures/demo.dat
	NO_COLOR='' on_terminal "$WEFT" report $file > "$BATS_TEST_TMPDIR/shown"
	grep -q "$escape" "$BATS_TEST_TMPDIR/shown"
	sed "$sequence" "$BATS_TEST_TMPDIR/shown" | cmp - <(weft report $file)
	for words in "NO_COLOR=1 $WEFT report" "NO_COLOR= $WEFT report --color never" "NO_COLOR= TERM=dumb $WEFT report"; do
		on_terminal env $words $file | cmp - <(weft report $file)
	done
}

@test "color: tasks, names, flags, slow functions, errors and losses have their own" {
	weft report --color always tests/fixtures/demo.dat > "$BATS_TEST_TMPDIR/demo"
	grep -qF "${escape}[32mls-65${escape}[0m" "$BATS_TEST_TMPDIR/demo"
	grep -qF "${escape}[35mweft-64${escape}[0m" "$BATS_TEST_TMPDIR/demo"
	grep -qF "${escape}[1msched_waking${escape}[0m: comm=" "$BATS_TEST_TMPDIR/demo"
	grep -qF "${escape}[33mdN.4.${escape}[0m" "$BATS_TEST_TMPDIR/demo"
	grep -qF "${escape}[1msys_ioctl${escape}[0m ${escape}[31m-> 0xffffffffffffffe7${escape}[0m" "$BATS_TEST_TMPDIR/demo"
	weft report --color always tests/corpora/report/accept/graph-6.1.dat | grep -qF " 0) ${escape}[33m! 178.912 us${escape}[0m  |  vfs_open();"
	weft report --color always --format trace_pipe tests/corpora/report/accept/lost-6.12.dat | grep -qxF "${escape}[7mCPU:1 [LOST 230 EVENTS]${escape}[0m"
	weft report --color always --format pretty tests/corpora/report/accept/lost-6.12.dat | grep -qF -- "${escape}[7m--- CPU 1 lost 230 events here ---${escape}[0m"
}

@test "color: nothing of a stranger's is obeyed between the colours" {
	cd "$BATS_TEST_TMPDIR"
	tiny_tree tree "lo${escape}[31mom"
	tiny_event tree sys plain 2000 '"x=%d %s", REC->x, REC->text' "${escape}]0;mine"$'\a'
	tiny_pack tree odd.dat
	weft report --color always odd.dat > shown
	grep -qF 'lo\033[31mom' shown
	grep -qF '\033]0;mine\007' shown
	sed -E "s/$escape\[(0|[127]|3[1-6])m//g" shown > plain
	run ! grep -q "$escape" plain
}

@test "color: the bytes do not depend on the number of threads" {
	weft report --color always --threads 1 tests/fixtures/demo.dat | cmp - <(weft report --color always --threads 5 tests/fixtures/demo.dat)
}
