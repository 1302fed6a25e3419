#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft brief: what stands out. The recordings are of a made-up machine (brief.py), so that the cause is known.
load lib

setup_file()
{
	export planted=$BATS_FILE_TMPDIR/planted
	python3 "$BATS_TEST_DIRNAME/brief.py" "$planted" 0 3 5 7 10 13 23
}

setup()
{
	need_command python3
	cd "$BATS_TEST_TMPDIR" || return 1
}

# The first line of all causes names each, and no control has anything.
check_causes()
{
	local number kind words missed=

	while read -r number kind words; do
		weft brief "$1/cause-$number.dat" > said
		first=$(sed -n '/^1\. /,/^\(2\.\|-\) /p' said | tr -s '\n ' ' ')
		[[ $first = *"$words"* ]] || missed+=" $number:$words"
		[ "$(wc -l < said)" -le 40 ]
		[ "$(wc -c < said)" -le 4096 ]
		[ -z "$(cut -c 82- said)" ]
		weft brief --ask "$kind" --format json "$1/cause-$number.dat" > said
		jq -e --arg kind "$kind" '.stands_out | length > 0 and all(.kind == $kind)' said
	done < "$1/causes"
	[ -z "$missed" ] || { echo "missed:$missed"; false; }
}

check_controls()
{
	local file

	for file in "$1"/control-*.dat; do
		weft brief "$file" > said
		grep -q '^weft brief control-.*: nothing stands out$' said || { cat said; false; }
		[[ $(tr -s '\n ' ' ' < said) = *'a read or wait that slept until another sent or ended something is no case; what is always slow is not found, nor what happened before, after or elsewhere'* ]]
		grep -q '^- not recorded, so not seen: ' said
	done
}

@test "brief: a planted cause is named first, and nothing stands out without one" {
	check_causes "$planted"
	check_controls "$planted"
	run -0 weft brief --ask memory "$planted/cause-00.dat"
	[[ $output = 'weft brief cause-00.dat, asked for memory: nothing stands out'* ]]
	run -2 weft brief --ask money "$planted/cause-00.dat"
	[[ $output = *"'money' is no kind; use latency, io, locks, cpu, errors or memory"* ]]
}

# bats test_tags=long
@test "brief: each of 24 planted causes is named first, and nothing stands out in 24 recordings without one" {
	python3 "$BATS_TEST_DIRNAME/brief.py" all
	[ "$(wc -l < all/causes)" = 24 ]
	check_causes all
	[ "$(ls all/control-* | wc -l)" = 24 ]
	check_controls all
}

@test "brief: JSON, Markdown and text say the same, and the commands run" {
	local file=$planted/cause-10.dat command

	weft brief "$file" > text
	weft brief --format markdown "$file" > markdown
	[ "$(sed '1d;$d' markdown)" = "$(cat text)" ]
	[ "$(sed -n '1p;$p' markdown | tr '\n' ' ')" = '```text ``` ' ]
	weft brief --format json "$file" > json
	what=$(jq -r '.stands_out[0].what' json)
	[[ $(tr -s '\n ' ' ' < text) = *"1. $what"* ]]
	jq -r '.stands_out[].command' json | while read -r command; do
		bash -c "$command" > /dev/null
	done
	# A name cannot end the block.
	cp "$file" 'a```b.dat'
	weft brief --format markdown 'a```b.dat' > markdown
	[ "$(head -1 markdown)" = '````text' ]
}

@test "brief: a file without the events, a wrong option, and a damaged file" {
	run -0 weft brief "$BATS_TEST_DIRNAME/../fixtures/session/open.dat"
	[[ $output = *'nothing can be said: no event of it was recorded'* ]]
	run -2 weft brief --format html "$planted/cause-00.dat"
	[[ $output = *"unknown format 'html'; use text, markdown, json or schema"* ]]
	run -2 weft brief --max-bytes 2000 "$planted/cause-00.dat"
	[[ $output = *'--max-bytes limits --format json'* ]]
	head -c 200000 "$planted/cause-00.dat" > half.dat
	run -1 weft brief half.dat
	run -1 weft brief nosuch.dat
	[[ $output = *"nosuch.dat"* ]]
}

@test "brief: a moment that it prints is taken instead of a file by report, view, html, the analyses and brief" {
	need_command script
	local moment

	weft brief "$planted/cause-00.dat" > said
	moment=$(sed -n 's/^  moment: //p' said)
	[[ $moment = *cause-00.dat@1.[0-9]* ]]
	weft report --format json "$moment" > got
	weft report --format json --around "${moment#*@}" --before 100ms --after 100ms "${moment%@*}" > want
	cmp got want
	[ -s got ]
	weft report --format json --before 1ms "$moment" > got
	weft report --format json --around "${moment#*@}" --before 1ms --after 100ms "${moment%@*}" > want
	cmp got want
	run -0 weft latency --top 1 --format json "$moment"
	jq -e '.wakeups | length > 0' <<< "$output"
	run -0 weft brief "$moment"
	weft export --to html -o at.html "$moment"
	[ "$(wc -c < at.html)" -lt "$(weft export --to html -o all.html "${moment%@*}"; wc -c < all.html)" ]
	# A file whose name has the same form is that file.
	cp "$planted/control-00.dat" x.dat
	cp "$planted/cause-00.dat" x.dat@1.2
	weft report --format json x.dat@1.2 > got
	weft report --format json "$planted/cause-00.dat" > want
	cmp got want
	# A time of whole seconds is no text of a marker.
	weft report --format json x.dat@1 > got
	weft report --format json x.dat@1.0 > want
	cmp got want
	run -1 weft report x.dat@tomorrow
	[[ $output = *'x.dat@tomorrow'* ]]
	run -2 weft report --around 1.3 x.dat@1.4
	[[ $output = *'both a moment'* ]]
}

@test "brief: a choice that nothing meets is told, and so is a file of samples alone" {
	run -0 --separate-stderr weft brief --comm nobody "$BATS_TEST_DIRNAME/../fixtures/demo.dat"
	[[ "$stderr" == *"none is of a task called 'nobody'"* ]]
	run -0 --separate-stderr weft brief "$BATS_TEST_DIRNAME/../fixtures/session/open.dat"
	[ -z "$stderr" ]
	run -1 --separate-stderr weft brief "$BATS_TEST_DIRNAME/../fixtures/profile.dat"
	[[ "$stderr" == *"'weft stacks --on-cpu' shows them"* ]]
}

@test "brief: one wait for a lock is told once, and interrupts are said to be the machine's where tasks are chosen" {
	cat > wait.txt <<- 'EOF'
		    app-4622 [000] ..... 1.000000: sys_futex(uaddr: 557f00001000, op: 80, val: 2, utime: 0, uaddr2: 0, val3: 0)
		    app-4622 [000] d.... 1.000010: sched_switch: prev_comm=app prev_pid=4622 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
		    own-4700 [001] d.... 1.090000: sched_waking: comm=app pid=4622 prio=120 target_cpu=000
		    <idle>-0 [000] d.... 1.090010: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=app next_pid=4622 next_prio=120
		    app-4622 [000] ..... 1.090020: sys_futex -> 0x0
		    own-4700 [001] d.h.. 1.091000: irq_handler_entry: irq=9 name=acpi
		    own-4700 [001] d.h.. 1.092000: irq_handler_exit: irq=9 ret=handled
		    app-4622 [000] ..... 1.100000: sched_waking: comm=own pid=4700 prio=120 target_cpu=001
	EOF
	weft import --formats-from "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-syscalls.dat" -o wait.dat wait.txt
	weft brief wait.dat > said
	grep -qx '1\. app-4622 waited 90.0 ms for futex 0x557f00001000' said
	run ! grep -q 'whole machine' said
	weft brief --comm app wait.dat > said
	grep -q 'interrupts: 1' said
	grep -q '^- interrupts and softirqs are those of the whole machine' said
}
