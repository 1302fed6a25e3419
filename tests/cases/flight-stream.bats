#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft flight --when latency:...: latencies that weft measures from the kernel's events, because the kernel cannot, or
# because of the word `streamed`.
load lib
load flight

# first NAME ENDING: the first file of the condition
first()
{
	local files=(./*-"$1.$2")
	echo "${files[0]}"
}

# reason NAME: the reason that the JSON of the condition's first file has
reason()
{
	jq -r .reason "$(first "$1" json)"
}

@test "flight: the command line has 'streamed' before 'if'" {
	run weft flight start -e sched --when 'latency:wakeup>5ms if next_prio < 100 streamed' --check
	[ "$status" -ne 0 ]
	run weft flight start -e sched --when 'latency:wakeup>5ms stremed'
	[ "$status" -eq 2 ]
	[[ "$output" == *"here comes 'if FILTER', or nothing"* ]]
}

@test "flight: where the kernel has no histograms, the start says that weft measures, why, and how late it may be" {
	[ ! -e $T/events/sched/sched_switch/hist ] || skip "this kernel has histograms"
	fly -e sched:sched_process_exec --when 'latency:wakeup>1h'
	grep -q -- '--when wakeup: this kernel has no histograms: .*; weft reads these events itself, 25 times a second, so a trigger may be 100 ms late' log
	land
	[ "$landed" -eq 0 ]
	[ ! -d "$T/instances/weft-$!" ]
	[ ! -d "$T/instances/weft-$!-2" ]
}

@test "flight: a streamed condition on a system call tells the task, the call and its length" {
	need_command jq
	fly -e sched:sched_process_exec --after 100ms --when 'latency:syscall>400ms streamed if comm == "victim"'
	grep -q -- '--when syscall: streamed; weft reads these events itself' log
	cp "$(command -v sleep)" victim
	# On a busy machine the kernel loses events, and says so; then it is the next victim's call.
	until [ -e "$(first syscall json)" ]; do
		kill -0 $PID
		./victim 0.5 &
		victims+=" $! "
		wait $!
		sleep 0.3
	done
	land
	[[ "$(reason syscall)" =~ ^victim-([0-9]+)\ \[0[0-9]+\]\ [0-9]+\.[0-9]{6}:\ weft_latency_[0-9]+_1:\ lat=([0-9]+)\ id=[0-9]+$ ]]
	[[ $victims == *" ${BASH_REMATCH[1]} "* ]]
	[ "${BASH_REMATCH[2]}" -ge 400000000 ]
	[[ "$(marks "$(first syscall dat)")" == *": $(reason syscall)" ]]
}

@test "flight: a streamed wakeup is the one that the trace has" {
	need_command jq
	need_command chrt
	chrt -f 90 true 2> /dev/null || skip "no real-time tasks here"
	fly -e sched:sched_waking -e sched:sched_switch -b 4M --after 100ms --when 'latency:wakeup>150ms streamed if next_comm == "victim"'
	cp "$(command -v sleep)" victim
	taskset 1 bash -c 'while :; do ./victim 0.05; done' &
	victims=$!
	# A task of SCHED_FIFO has the CPU; the victim may just begin or end then, and is not woken.
	until [ -e "$(first wakeup json)" ]; do
		kill -0 $PID
		chrt -f 90 taskset 1 bash -c 'end=$((${EPOCHREALTIME/./} + 250000)); while ((${EPOCHREALTIME/./} < end)); do :; done'
		sleep 0.3
	done
	kill $victims
	land
	[[ "$(reason wakeup)" =~ \ \[000\]\ ([0-9.]+):\ weft_latency_[0-9]+_1:\ lat=([0-9]+)\ next_comm=victim\ next_prio=$((120 + $(nice)))$ ]]
	at=${BASH_REMATCH[1]} lat=${BASH_REMATCH[2]}
	# By the kernel's own text: the last waking of the task that the switch to a victim at this time lets run. Each
	# instance has stamps of its own of an event.
	weft report "$(first wakeup dat)" 2> /dev/null | awk -v at="$at" -v lat="$lat" '
		match($0, / [0-9]+\.[0-9]+: /) { now = substr($0, RSTART + 1, RLENGTH - 3) }
		/ sched_waking: comm=victim / { match($0, / pid=[0-9]+/); woken[substr($0, RSTART + 5, RLENGTH - 5)] = now }
		/ sched_switch: .* next_comm=victim / {
			match($0, / next_pid=[0-9]+/)
			pid = substr($0, RSTART + 10, RLENGTH - 10)
			off = now - at
			long = (now - woken[pid]) * 1e9 - lat
			found += off < 0.02 && off > -0.02 && long < 2e7 && long > -2e7
		}
		END { exit found != 1 }'
}

@test "flight: streamed conditions on interrupts, softirqs, requests and locks are set up, and refuse fields that they do not have" {
	for what in irq softirq block lock; do
		case $what in
		lock) [ -e $T/events/lock/contention_begin ] || continue ;;
		block) [ -e $T/events/block/block_rq_issue ] || continue ;;
		esac
		weft flight start -e sched:sched_process_exec --check --when "latency:$what>1s streamed if common_pid != 0"
		run weft flight start -e sched:sched_process_exec --check --when "latency:$what>1s streamed if nothing == 3"
		[ "$status" -eq 1 ]
		[[ "$output" == *"--when $what: "* && "$output" == *"nothing == 3"* ]]
	done
}

@test "flight: a streamed condition asks for comm only where the kernel knows it" {
	run weft flight start -e sched:sched_process_exec --check --when 'latency:wakeup>1s streamed if comm == "x"'
	[ "$status" -eq 1 ]
	[[ "$output" == *"'comm' is for syscall and lock here, and the task that was woken is 'next_comm'"* ]]
	run weft flight start -e sched:sched_process_exec --check --when 'latency:wakeup>1s streamed if next_pid == 3 || !(COMM ~ "x*")'
	[ "$status" -eq 1 ]
	[[ "$output" == *"'comm' is for syscall and lock here"* ]]
	weft flight start -e sched:sched_process_exec --check --when 'latency:wakeup>1s streamed if next_comm == "comm" && prev_comm != "is comm or COMM"'
}

@test "flight: what the kernel lost before a streamed condition could read it is told" {
	fly -e sched:sched_process_exec --when 'latency:syscall>1h streamed'
	kill -STOP $PID
	dd if=/dev/zero of=/dev/null bs=1 count=300000 2> /dev/null
	kill -CONT $PID
	until grep -q -- '--when syscall: the kernel lost [0-9,]* events that were not read in time' log; do kill -0 $PID; sleep 0.02; done
	land
	[ "$landed" -eq 0 ]
}

@test "flight: the instance of a streamed condition is removed after a kill" {
	fly -e sched:sched_process_exec --when 'latency:wakeup>1h streamed' --when 'other=latency:syscall>1h streamed'
	ls -d $T/instances/weft-$PID*
	killed=$PID
	kill -KILL $PID
	wait $PID || true
	PID=
	weft recover
	run ! ls -d $T/instances/weft-$killed*
}

@test "flight: the command line of mark: asks for a name and a time" {
	run -2 weft flight start -e sched --when 'mark:parse'
	[[ "$output" == *"a mark is NAME>TIME, such as parse*>20ms"* ]]
	run -2 weft flight start -e sched --when 'mark: > 20ms'
	[[ "$output" == *"which mark? Give a name or a glob"* ]]
	run -2 weft flight start -e sched --when 'mark:parse > soon'
	[[ "$output" == *"'soon'"* ]]
}

@test "flight: a span that a program marks is told when it lasted too long, with its name and length" {
	need_command jq
	if ! copies_marks; then
		run -1 weft flight start -e sched:sched_process_exec --when 'mark:request*>2s'
		[[ "$output" == *"this kernel does not copy what programs write to the top trace_marker"* ]]
		return
	fi
	fly -e sched:sched_process_exec --after 100ms --when 'mark:request * > 2s'
	# One thread writes: a long span of another name, and in it a short one and a long one, with a short one inside.
	bash -c '
		mark() { echo "$1" > /sys/kernel/tracing/trace_marker; }
		mark "B|$$|other"
		mark "B|$$|request 1"; mark "E|$$"
		mark "B|$$|request 2"; mark "B|$$|request 3"; mark "E|$$"; sleep 2.1; mark "E|$$"
		mark "E|$$"
		echo $$' > pid
	until [ -e "$(first mark-request dat)" ]; do kill -0 $PID; done
	land
	# The name of the task may be gone when weft asks for it.
	[[ "$(reason mark-request)" =~ ^(bash|\<...\>)-([0-9]+)\ \[0[0-9]+\]\ [0-9]+\.[0-9]{6}:\ mark\ \'request\ 2\'\ lasted\ [0-9.]+\ s$ ]]
	[ "${BASH_REMATCH[2]}" = "$(cat pid)" ]
	[[ "$(marks "$(first mark-request dat)")" == *": $(reason mark-request)" ]]
}

# Whether an instance can have what is written to the top trace_marker.
copies_marks()
{
	local there=1
	mkdir "$T/instances/weft-test-$$" || return
	[ ! -e "$T/instances/weft-test-$$/options/copy_trace_marker" ] || there=0
	rmdir "$T/instances/weft-test-$$"
	return $there
}

@test "flight: 'of unit:' is about the tasks of a service alone, when they have come in or were born there" {
	need_command jq
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	group=$root/weft-of-$$.service
	mkdir "$group" || skip "no control group can be made"
	ln -s "$(command -v bash)" of$$
	fly -e sched:sched_process_exec --after 100ms --when "exit:of$$ status==7 of unit:weft-of-$$" \
		--when "slow=latency:syscall>300ms of cgroup:/weft-of-$$.service if comm == \"of$$\""
	grep -q -- "--when exit-of$$: now the unit 'weft-of-$$' is empty: no task runs in it" log
	grep -q -- '--when slow: the kernel does not know whom a task belongs to; weft reads these events itself' log
	# Neither is one of the service: another one that exits so, and that waits so long.
	./of$$ -c 'read -t 0.4 < <(sleep 1); exit 7' || :
	# A busy machine's system calls may be more than weft can read; what is lost is told, and the next try is seen.
	for inside in 'read -t 0.4 < <(sleep 1)' 'exit 7'; do
		[ "$inside" = 'exit 7' ] && name=exit-of$$ || name=slow
		for ((try = 0; try < 20; try++)); do
			# shellcheck disable=SC2016
			./of$$ -c 'echo 0 > '"$group"'/cgroup.procs; ./of'$$' -c "echo \$\$ >> inside; $0"; exit 0' "$inside"
			# Near each other they would be in one file.
			for ((i = 0; i < 150; i++)); do [ ! -e "$(first $name json)" ] || break 2; sleep 0.02; done
		done
	done
	land
	# The last sleep may still be in it.
	for ((i = 0; i < 500; i++)); do ! rmdir "$group" 2> /dev/null || break; sleep 0.02; done
	[ ! -e "$group" ]
	[ "$landed" -eq 0 ]
	[[ "$(reason exit-of$$)" =~ ^of$$-[0-9]+\ \[0[0-9]+\]\ [0-9]+\.[0-9]{6}:\ sys_exit_group\(error_code:\ 7\)$ ]]
	[[ "$(reason slow)" =~ ^of$$-[0-9]+\ .*:\ lat=[34][0-9]+\ id=[0-9]+$ ]]
	for file in ./*-exit-of$$.json ./*-slow.json; do
		grep -qx "$(jq -r .reason "$file" | sed -n "s/^of$$-\([0-9]*\) .*/\1/p")" inside
	done
}

@test "flight: 'of' and 'if' together choose of the events that tell whom tasks belong to" {
	need_command jq
	ln -s "$(type -P true)" right$$
	ln -s "$(type -P true)" wrong$$
	ln -s "$(command -v bash)" of$$
	# The program that runs from then on is whom the task belongs to: ours starts another one, and is no shell any more.
	fly -e sched:sched_process_exec --after 100ms --when "event:sched:sched_process_exec of process:right$$ if filename ~ \"*/right$$\"" \
		--when "born=event:task:task_newtask of process:of$$ if comm == \"of$$\" && clone_flags & 0x10000" \
		--when "forked=event:task:task_newtask of process:of$$ if comm == \"of$$\" && !(clone_flags & 0x10000)"
	for ((try = 0; try < 20; try++)); do
		"$PWD/wrong$$"
		# shellcheck disable=SC2016
		./of$$ -c '"$0"; "$1"; :' "$PWD/wrong$$" "$PWD/right$$"
		for ((i = 0; i < 150; i++)); do [ ! -e "$(first sched_process_exec json)" ] || [ ! -e "$(first forked json)" ] || break 2; sleep 0.02; done
	done
	land
	[ "$landed" -eq 0 ]
	[[ "$(reason sched_process_exec)" =~ ^right$$-[0-9]+\ .*:\ filename=$PWD/right$$\ pid=[0-9]+\ old_pid=[0-9]+$ ]]
	[[ "$(reason forked)" =~ ^of$$-[0-9]+\ .*:\ pid=[0-9]+\ comm=of$$\ clone_flags=[0-9a-f]+\  ]]
	# No thread was born.
	[ ! -e "$(first born json)" ]
	run ! grep -q 'wrong' ./*.json
}

@test "flight: 'of' and 'if' on the events that tell whom tasks belong to refuse a filter that is wrong" {
	while IFS='|' read -r filter words; do
		run weft flight start --name "$NAME" -e sched:sched_process_exec --when "x=event:sched:sched_process_exec of process:1 if $filter"
		[ "$status" -ne 0 ]
		[[ "$output" == *"--when x"*"$words"* ]]
	done <<-END
		comm == "sh"|that event has no field 'comm'
		filenam == "sh"|'sched:sched_process_exec' has no field 'filenam'
		pid ==|Invalid value
	END
}
