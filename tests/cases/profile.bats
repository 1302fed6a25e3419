#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What CPUs spent their time on, in a recording of the scenario record-profile of tests/guest: its program measured 2,000 ms
# in six(), 760 in three() and 249 in one(), and the emulated CPU, which others kept from running, had 435 ticks of it.
load lib

file=$BATS_TEST_DIRNAME/../fixtures/profile.dat

@test "stacks --on-cpu: functions have their shares of the samples, and a line says the rate" {
	weft stacks --on-cpu --by function --format json --comm shares "$file" > "$BATS_TEST_TMPDIR/out"
	jq -e '[.on_cpu[].samples] | add == 435' "$BATS_TEST_TMPDIR/out"
	jq -e '.on_cpu | map({ (.function): .samples }) | add | .six == 245 and .three == 109 and .one == 34' "$BATS_TEST_TMPDIR/out"
	jq -e '.on_cpu[] | .time_ns == .samples * 4000000' "$BATS_TEST_TMPDIR/out"
	weft stacks --on-cpu --comm shares "$file" > "$BATS_TEST_TMPDIR/out"
	grep -qE '^six +245 +980.0 ms +six < work < main < ' "$BATS_TEST_TMPDIR/out"
	grep -qx '# 435 samples, one at each tick of a CPU that is not idle: 250 a second (HZ of this kernel), so each stands for 4.0 ms: TIME is an estimate from them; weft sched has exact times, of a recording of sched:sched_switch' "$BATS_TEST_TMPDIR/out"
	run ! grep -E 'hrtimer_interrupt|tick_' "$BATS_TEST_TMPDIR/out"
}

@test "stacks --on-cpu: all ways to count have the same samples" {
	for by in stack function task process program unit; do
		weft stacks --on-cpu --by $by --format json "$file" | jq -e '[.on_cpu[].samples] | add == 444'
	done
	# So do the kernel's ticks: those that are neither of an idle CPU, but in a softirq there, nor of weft itself.
	[ "$(weft report -B weft/profile "$file" | grep 'hrtimer_expire_entry:' | grep -cvE '<idle>-0 +.[0-9]*. ..h|weft-')" = 444 ]
}

@test "export: the samples are in folded, flame, speedscope, pprof and firefox, as time" {
	need_command python3
	cd "$BATS_TEST_TMPDIR"
	weft export --to folded --comm shares -o folded "$file"
	grep -qE '^shares;libc.so.6[^;]*;main;work;six 980000000$' folded
	[ "$(awk '{ sum += $NF } END { printf "%d", sum }' folded)" = 1740000000 ]
	weft export --to firefox --comm shares -o profile.json "$file"
	python3 "$OLDPWD/tests/cases/export/firefox.py" stacks profile.json | sed 's/^/shares;/' | LC_ALL=C sort > got
	LC_ALL=C sort folded | diff - got
	jq -e '[.threads[].name] | index("shares-88") != null' profile.json
	weft export --to speedscope --comm shares "$file" | jq -e '.profiles[0] | .name == "on-cpu" and (.weights | add == 1740000000)'
	weft export --to pprof --comm shares -o pprof.gz "$file"
	gzip -dc pprof.gz | grep -qa on-cpu
}

@test "stacks --on-cpu: what it cannot show is said" {
	run -1 weft stacks --on-cpu "$BATS_TEST_DIRNAME/../fixtures/files.dat"
	[[ $output == *"has no samples of what CPUs did: record with --profile"* ]]
	run -2 weft stacks --on-cpu -B top "$file"
	[[ $output == *"no instance that -B names"* ]]
	run -2 weft stacks --on-cpu --slowest 3 "$file"
	run -2 weft stacks --on-cpu -- true
	run -1 weft stacks "$file"
	run weft report "$file"
	[[ $output == *"the file has only samples of what CPUs did: 'weft stacks --on-cpu' shows them"* ]]
}

@test "record --profile: a COMMAND is sampled, beside nothing else" {
	need_tracefs
	command -v gcc > /dev/null || skip "no gcc"
	gcc -O2 -fno-omit-frame-pointer -o "$BATS_TEST_TMPDIR/shares" tests/guest/shares.c
	cd "$BATS_TEST_TMPDIR"
	weft record --profile -o t.dat ./shares 1 2> err
	grep -qF "weft stacks --on-cpu t.dat" err
	weft stacks --on-cpu --by function --comm shares --format json t.dat > out
	jq -e '.on_cpu[] | select(.function == "six") | .samples > 10' out
	[ "$(weft report t.dat | grep -vc '^#')" = 0 ]
}

@test "split: the samples of a span of time are in its file" {
	weft split -q -o "$BATS_TEST_TMPDIR/a.dat" --until 22 "$file"
	weft split -q -o "$BATS_TEST_TMPDIR/b.dat" --since 22 "$file"
	for part in a b; do
		weft stacks --on-cpu --by task --format json "$BATS_TEST_TMPDIR/$part.dat" | jq '[.on_cpu[].samples] | add'
	done > "$BATS_TEST_TMPDIR/sums"
	[ "$(awk '$1 > 0 { sum += $1; n++ } END { print n, sum }' "$BATS_TEST_TMPDIR/sums")" = "2 444" ]
}
