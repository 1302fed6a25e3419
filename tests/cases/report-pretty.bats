#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# report --format pretty: weft's own form of the text, for people.
load lib

corpus=tests/corpora/report/accept
escape=$'\033'

pretty()
{
	weft report --format pretty "$@"
}

@test "pretty: times count from the first event, and each line tells the time since the one before" {
	pretty $corpus/lost-6.12.dat > "$BATS_TEST_TMPDIR/text"
	sed -n 4p "$BATS_TEST_TMPDIR/text" | grep -Eq '^ +0\.000000 +\+0ns +1  <idle>-0 +softirq_exit +vec=1'
	sed -n 5p "$BATS_TEST_TMPDIR/text" | grep -Eq '^ +0\.000001 +\+1\.18us +1  <idle>-0 +softirq_entry'
}

@test "pretty: what events say is the kernel's text" {
	pretty $corpus/lost-6.12.dat | grep -v '^#\|^---' | sed -E 's/^.{64}//; s/ +/ /' > "$BATS_TEST_TMPDIR/got"
	weft report $corpus/lost-6.12.dat | grep -v '^#' | sed -E 's/^.{22} *\[[0-9]+\] [^ ]+ +[0-9.]+: //; s/: / /' > "$BATS_TEST_TMPDIR/want"
	diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
}

@test "pretty: tells how long interrupts, calls and turns on a CPU took" {
	pretty $corpus/lost-6.12.dat > "$BATS_TEST_TMPDIR/text"
	grep -Eq '^ +[0-9.]+ +\+[0-9.]+[nu]s   6\.90us +[0-9]  .*softirq_exit +vec=7 \[action=SCHED\]$' "$BATS_TEST_TMPDIR/text"
	grep -Eq '^ +[0-9.]+ +\+[0-9.]+[num]*s    287us +[0-9]  .*sched_switch +prev_comm=thr-b ' "$BATS_TEST_TMPDIR/text"
	# The first exit has no entry in the file.
	[ -z "$(sed -n 4p "$BATS_TEST_TMPDIR/text" | cut -c 25-33 | tr -d ' ')" ]
}

@test "pretty: a turn on a CPU whose start was left out has no length" {
	pretty --pid 581 $corpus/lost-6.12.dat > "$BATS_TEST_TMPDIR/text"
	grep -q 'sched_switch' "$BATS_TEST_TMPDIR/text"
	[ -z "$(grep 'sched_switch' "$BATS_TEST_TMPDIR/text" | cut -c 25-33 | tr -d ' \n')" ]
}

@test "pretty: tells losses in words and with thousands" {
	pretty $corpus/lost-6.12.dat | grep -Fqx -- '--- CPU 1 lost 230 events here ---'
	pretty tests/fixtures/demo.dat > /dev/null
}

@test "pretty: stacks stand under their event" {
	pretty $corpus/userstack-6.12.dat | grep -Eq '^ {65}=>  <[0-9a-f]+>$'
}

@test "pretty: the function graph has no banners and no CPU of its own" {
	pretty $corpus/graph-6.1.dat > "$BATS_TEST_TMPDIR/text"
	run -1 grep -q -- '-----' "$BATS_TEST_TMPDIR/text"
	grep -Eq ' [0-9] +sh-418 .*\|  vfs_write\(\) \{$' "$BATS_TEST_TMPDIR/text"
}

@test "pretty: colours by --color=always, none for a pipe or with never" {
	pretty --color=always $corpus/lost-6.12.dat | grep -q "$escape"
	for never in '' --color=never; do
		pretty $never $corpus/lost-6.12.dat > "$BATS_TEST_TMPDIR/plain"
		run -1 grep "$escape" "$BATS_TEST_TMPDIR/plain"
	done
	pretty --color=always $corpus/lost-6.12.dat | sed "s/$escape\[[0-9]*m//g" > "$BATS_TEST_TMPDIR/text"
	pretty $corpus/lost-6.12.dat | diff - "$BATS_TEST_TMPDIR/text"
}

@test "pretty: a terminal has colours, unless NO_COLOR is set" {
	need_command script
	TERM=xterm NO_COLOR='' script -qec "weft report --format pretty $corpus/lost-6.12.dat" /dev/null < /dev/null | grep -q "$escape"
	TERM=xterm NO_COLOR=1 script -qec "weft report --format pretty $corpus/lost-6.12.dat" /dev/null < /dev/null > "$BATS_TEST_TMPDIR/plain"
	run -1 grep "$escape" "$BATS_TEST_TMPDIR/plain"
	grep -q ' lost 230 events here' "$BATS_TEST_TMPDIR/plain"
}

@test "pretty: an unknown --color is an error of usage" {
	run weft report --format pretty --color=blue $corpus/lost-6.12.dat
	[ "$status" -eq 2 ]
	[[ "$output" == *"unknown value 'blue'"* ]]
}

@test "pretty: the bytes do not depend on the number of threads" {
	pretty --threads 1 $corpus/lost-6.12.dat > "$BATS_TEST_TMPDIR/one"
	pretty --threads 7 $corpus/lost-6.12.dat | cmp - "$BATS_TEST_TMPDIR/one"
}

@test "pretty: --nanoseconds and --raw work here, too" {
	pretty -t $corpus/lost-6.12.dat | grep -Eq '^ +0\.000001[0-9]{3} '
	pretty -R $corpus/lost-6.12.dat | grep -Eq 'softirq_entry +vec=(0x)?7'
}
