#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft record --on --agentless: a shell of another machine, which is this one here: `--rsh env` starts it.
load lib

setup()
{
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# over SCRIPT: makes a program for --rsh of it: "$@" is the far command
over()
{
	printf '#!/bin/sh\n%s\n' "$1" > rsh
	chmod +x rsh
}

instances()
{
	ls /sys/kernel/tracing/instances
}

# own: prints the instances of agentless recordings that were not there before
own()
{
	comm -13 before <(instances | sort) | grep '^weft-agentless-' || true
}

is_left()
{
	[ -z "$(own)" ]
}

is_tracing()
{
	[ "$(cat "/sys/kernel/tracing/instances/$(own)/tracing_on" 2> /dev/null)" = 1 ] &&
		[ -n "$(cat "/sys/kernel/tracing/instances/$(own)/set_event" 2> /dev/null)" ]
}

# has_parts: whether pages of a CPU have come
has_parts()
{
	[ -n "$(find . -path './*.parts/0.*' -size +8k)" ]
}

# begin [WORD...]: records until it is stopped; sets $near and $far when pages come
begin()
{
	instances | sort > before
	weft record -o k.dat --on far --rsh env --agentless -e sched -e syscalls "$@" > out.txt 2> err.txt 3>&- &
	near=$!
	await has_parts
	is_tracing
	far=$(pgrep -P $near)
}

# settings: what tracefs says outside of instances, but what changes by itself
settings()
{
	(cd /sys/kernel/tracing && grep -H '' tracing_on current_tracer trace_clock trace_options set_event set_event_pid buffer_size_kb saved_cmdlines_size)
}

@test "record --agentless: has what the kernel's own text has, and the counters of the kernel" {
	need_tracefs
	local judge=weft-test-agentless-$$ shell='env'
	local there=/sys/kernel/tracing/instances/$judge
	instances | sort > before
	settings > settings.before
	mkdir bin
	cp /bin/true "bin/weft-probe-$$"
	if command -v busybox > /dev/null; then
		for applet in sh cat dd mkdir rmdir sleep uname; do ln -s "$(command -v busybox)" bin/$applet; done
		shell="env PATH=$PWD/bin"
	fi
	mkdir "$there"
	echo "filename ~ \"*/weft-probe-$$\"" > "$there/events/sched/sched_process_exec/filter"
	echo 1 > "$there/events/sched/sched_process_exec/enable"
	run -7 weft record -o a.dat --result a.json --on far --rsh "$shell" --agentless -e sched_process_exec -f "filename ~ \"*/weft-probe-$$\"" -- \
		/bin/sh -c "for i in 1 2 3 4 5 6 7 8 9; do $PWD/bin/weft-probe-$$; done; echo printed; exit 7"
	cp "$there/trace" trace.txt
	rmdir "$there"
	[[ "$output" == *"weft: far: printed"* ]]
	[[ "$output" == *"weft: a.dat of far: 9 events in "*", 0 lost"* ]]
	weft check a.dat
	# Each buffer takes the time and the flags for itself.
	sed 's/^\(.*\]\) [^ ]* *[0-9.]*: /\1 /' trace.txt | grep weft-probe > want.txt
	weft report a.dat | sed 's/^\(.*\]\) [^ ]* *[0-9.]*: /\1 /' | grep weft-probe | diff want.txt -
	[ "$(wc -l < want.txt)" = 9 ]
	grep -q '"events":9,.*"lost":0,.*"status":7,' a.json
	is_left
	settings | diff settings.before -
}

@test "record --agentless: what is in the file and what the kernel counts as lost is what was done" {
	need_tracefs
	need_command python3
	instances | sort > before
	for size in 64K 8M; do
		weft record -q -o a.dat --result a.json --on far --rsh env --agentless -F -C mono -b $size -e sys_enter_getsid -- \
			python3 -c 'import os
for i in range(200000): os.getsid(0)'
		python3 - a.json "$(weft report a.dat | grep -c sys_getsid)" <<'END'
import json, sys
result = json.load(open(sys.argv[1]))
assert result["events"] == int(sys.argv[2]), (result, sys.argv)
assert result["events"] + result["lost"] == 200000, result
assert result["lost"] == sum(cpu["lost"] for cpu in result["cpus"]), result
END
		weft check a.dat
	done
	weft info a.dat | grep -q 'clock mono'
	is_left
}

@test "record --agentless: Ctrl-C, and the end of --duration, end it there" {
	need_tracefs
	begin
	kill -INT $near
	wait $near
	weft check k.dat
	grep -q 'weft: k.dat of far: [1-9].* events' err.txt
	is_left
	weft record -q -o d.dat --on far --rsh env --agentless -e sched --duration 300ms
	weft check d.dat
	is_left
}

@test "record --agentless: a killed near side leaves parts for weft recover, and the instance is removed" {
	need_tracefs
	begin
	kill -9 $near
	wait $near || true
	await is_left
	run -0 weft recover k.dat
	weft check k.dat
	weft report k.dat | grep -q sched_switch
	[ -z "$(compgen -G '*.parts')" ]
}

@test "record --agentless: a far shell that is hung up or killed restores tracing, and the file has what has come" {
	need_tracefs
	for signal in HUP KILL; do
		begin -- sh -c 'while :; do echo x > /dev/null; done'
		child=$(pgrep -P "$far" -f 'while :')
		kill -$signal "$far"
		status=0
		wait $near || status=$?
		[ $status = 125 ]
		grep -q 'weft: far: the connection has ended before the recording did' err.txt
		grep -q 'weft: k.dat of far: .* of pages in a file of .*; how many events were lost is not known' err.txt
		weft check k.dat
		await is_left
		kill "$child" 2> /dev/null || true
	done
}

@test "record --agentless: both sides killed at once leave nothing but parts" {
	need_tracefs
	begin
	kill -9 "$far" $near
	wait $near || true
	await is_left
	run -0 weft recover k.dat
	weft check k.dat
}

# A near side that says nothing, and takes nothing of what is sent.
@test "record --agentless: the script ends by itself when the near side has become silent" {
	need_tracefs
	instances | sort > before
	mkfifo in out
	sh < in > out 2> err.txt 3>&- &
	exec 8> in 9< out
	{
		echo "limit=3 token=$(printf '%032d' 7) own_name=weft-agentless-test-$$ command="
		cat "$BATS_TEST_DIRNAME/../../cmd/agentless.sh"
		echo main
	} >&8
	# a shell may have read ahead what is sent before it answers
	read -r line <&9
	[ "$line" = "H 1" ]
	printf 'set events/sched/enable 1\ngo 4096\n' >&8
	await is_tracing
	[ "$(own)" = "weft-agentless-test-$$" ]
	await is_left
	exec 8>&- 9<&-
	wait $! || true
}

@test "record --agentless: what it cannot do is refused by its name" {
	while IFS='|' read -r words name; do
		read -ra words <<< "$words"
		run -2 weft record -o a.dat --on far --rsh false --agentless -e sched "${words[@]}" -- true
		[[ "$output" == *"--agentless cannot be used with $name: a weft there can, see --push"* ]]
	done <<- 'END'
		-p function|-p
		-B x -e irq|-B
		-R traceoff|-R
		-v -e sched_switch|-v
		--probe p:vfs_read|--probe
		--process sh|--process
		--unit x|--unit
		--no-pid 3|--no-pid
		--subbuf-size 64K|--subbuf-size
		--thresh 3us|--thresh, --hwlat or --osnoise
		--user nobody|--user
		--profile|--profile
		--sync 1s|--sync
		--max-events 3|--max-events
		--save hist|--save
	END
	run -2 weft record --agentless -e sched
	[[ "$output" == *"--agentless needs --on"* ]]
	run -2 weft record --on far --push x --agentless -e sched
}

@test "record --agentless: what fails there is said, and no file is made" {
	need_tracefs
	instances | sort > before
	run -125 weft record -o a.dat --on far --rsh env --agentless -e no_such_event
	[[ "$output" == *"weft: far: no event 'no_such_event'"* ]]
	run -125 weft record -o a.dat --on far --rsh env --agentless -e sched_switch -f 'no_such_field > 1'
	[[ "$output" == *"weft: far: events/sched/sched_switch/filter takes no 'no_such_field > 1' there"* ]]
	run -125 weft record -o a.dat --on far --rsh 'setpriv --reuid 65534 --clear-groups' --agentless -e sched_switch
	[[ "$output" == *"weft: far: the user there has no tracefs: "* ]]
	run -0 weft record -o b.dat --on far --rsh env --agentless -e 'sched:sched_switch,sched:sched_wakeup' -f 'prev_pid > 1' --duration 100ms
	[[ "$output" == *"weft: far: note: events/*/filter was set for 1 of 2 events of 'sched:sched_switch,sched:sched_wakeup'; the others have none"* ]]
	weft info --setting weft/filters b.dat | grep -qx 'sched:sched_switch prev_pid > 1'
	[ "$(ls)" = $'b.dat\nbefore' ]
	is_left
}

# A far end that has the token, and its own frames: $1 has ( for the begin of a frame and ) for its end
speaks()
{
	over "read -r line; eval \"\${line%% *}\"; frames() { printf '%b\\n' '$1' | sed \"s/)\$/\\\\n\$token/; s/^(//\"; }; frames; cat > /dev/null"
}

@test "record --agentless: a hostile far end is refused with a message" {
	elf='\0177ELF\02\01'
	facts='(T weft/possible\n0-1)\n(T trace_clock\n[local] global)\n(T events/header_event\nx)\n(T events/header_page\n\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;)\n(T available_events\nsched:sched_switch\n)\n'
	while IFS='|' read -r frames message; do
		speaks "${frames//FACTS/(H 1\\n$elf)\\n$facts}"
		run -125 timeout 60 weft record -o a.dat --on far --rsh ./rsh --agentless -e sched
		[[ "$output" == *"weft: far: $message"* ]] || { echo "$message: $output"; false; }
	done <<- 'END'
		Welcome!\n|something else than weft's script answers there: 'Welcome!'
		(H 2\nx)|the script there is of another version
		(H 1\nx)|it does not show in which order its bytes are
		(T uname\nLinux)|it sends a frame 'T' where none can be
		FACTS(P 0\nxxxx)|it sends a frame 'P' where none can be
		FACTS(A 1\nx)\n(T ../../etc/passwd\nx)|it sends '../../etc/passwd', which nobody has asked for
		FACTS(T events/../x/format\nx)\n(T per_cpu/cpu7/stats\nx)|it names CPU 7, which it does not have
		FACTS(A 1\nx)\n(A 2\nx)\n(B -\nx)\n(P 99\nxxxx)|it names CPU 99, which it does not have
		FACTS(A 1\nx)\n(A 2\nx)\n(B -\nx)\n(P -1\nxxxx)|'-1' is not a CPU
		FACTS(A 1\nx)\n(A 2\nx)\n(B -\nx)\n(X 0\nx)|it sends a frame 'X' where none can be
		FACTS(E -\nno more)|no more
	END
	# a line, a text and sub-buffers without an end
	over 'yes | tr -d "\n"'
	run -125 timeout 60 weft record -o a.dat --on far --rsh ./rsh --agentless -e sched
	[[ "$output" == *"something else than weft's script answers there: 'yyyy"* ]]
	over "read -r line; eval \"\${line%% *}\"; printf 'H 1\\n\\177ELF\\2\\1\\n%s\\nT kallsyms\\n' \"\$token\"; yes"
	run -125 timeout 60 weft record -o a.dat --on far --rsh ./rsh --agentless -e sched
	[[ "$output" == *"weft: far: it sends 'kallsyms' without an end"* ]]
	[ -z "$(compgen -G '*.parts')" ]
}
