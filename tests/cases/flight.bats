#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft flight: what happened before and after a trigger, in an instance of this machine's own tracefs.
load lib
load flight

@test "flight: the command line is checked" {
	run weft flight
	[ "$status" -eq 2 ]
	[[ "$output" == *"no action given; use start, dump, status or explain"* ]]
	run weft flight strat -e sched
	[ "$status" -eq 2 ]
	[[ "$output" == *"did you mean 'start'?"* ]]
	run weft flight start -e sched ls
	[ "$status" -eq 2 ]
	run weft flight start
	[ "$status" -eq 2 ]
	run weft flight start -e sched --before 1m
	[ "$status" -eq 2 ]
	[[ "$output" == *"--before cannot be longer than --keep"* ]]
	run weft flight start -e sched -C local
	[ "$status" -eq 2 ]
	[[ "$output" == *"mono, mono_raw, boot or tai"* ]]
	run weft flight dump --keep 1s
	[ "$status" -eq 2 ]
	[[ "$output" == *"only 'weft flight start' takes --keep"* ]]
	run weft flight start -e sched --name a/b
	[ "$status" -eq 2 ]
}

@test "flight: a wrong condition on the command line is shown with a caret" {
	run weft flight start -e sched --when 'signal:SEGW'
	[ "$status" -eq 2 ]
	[ "${lines[0]}" = "weft flight: --when: no signal 'SEGW'; did you mean 'SEGV'?" ]
	[ "${lines[1]}" = "  signal:SEGW" ]
	[ "${lines[2]}" = "         ^" ]
	run weft flight start -e sched --when kmsg:oom --when oom=kmsg:x --when oom=kmsg:y
	[ "$status" -eq 2 ]
	[[ "$output" == *"two conditions are called 'oom'"* ]]
}

@test "flight: dump saves what came before and after, marks it, and prints the path" {
	fly -e sched:sched_process_exec --keep 10s --after 200ms
	write_numbers 1 20
	file=$(dump --reason 'by hand')
	[ -s "$file" ]
	[ "$(numbers "$file")" = "$(seq 20)" ]
	[[ "$(marks "$file")" == "weft: trigger dump at "*": by hand" ]]
	weft check "$file"
	[ "$(stat -c %a "$file")" = 600 ]
	land
	[ "$landed" -eq 0 ]
	[ ! -e $T/instances/weft-$! ]
	[[ "$(cat log)" == *"1 trigger in "*", 1 file" ]]
}

@test "flight: the line of JSON beside the file tells the trigger and each CPU" {
	need_command jq
	fly -e sched:sched_process_exec --keep 5s --before 1s --after 100ms
	file=$(dump --reason 'a "quoted" reason')
	land
	[ "$(jq -r .reason "${file%.dat}.json")" = 'a "quoted" reason' ]
	[ "$(jq -r .file "${file%.dat}.json")" = "$(basename "$file")" ]
	[ "$(jq '.from < .time and .time - .from <= 1.0001 and .time + .0999 <= .to' "${file%.dat}.json")" = true ]
	[ "$(jq '.cpus | length' "${file%.dat}.json")" = "$(grep -c ^processor /proc/cpuinfo)" ]
	[ "$(jq '[.cpus[].lost] | add' "${file%.dat}.json")" = 0 ]
	[ "$(jq .size "${file%.dat}.json")" = "$(stat -c %s "$file")" ]
	weft flight --format schema > schema.json
	python3 "$BATS_TEST_DIRNAME/schemas.py" schema.json "${file%.dat}.json"
	run -2 weft flight dump --format json
}

@test "flight: no event is missing in the time that each file is for, across triggers" {
	fly -e sched:sched_process_exec --keep 2s --before 1s --after 50ms
	write_numbers 1 3000 &
	for _ in 1 2 3 4 5; do dump > /dev/null; done
	wait $!
	dump > /dev/null
	land
	[ "$(ls ./*.dat | wc -l)" -eq 6 ]
	for file in *.dat; do
		numbers "$file" > got
		[ ! -s got ] || [ "$(cat got)" = "$(seq "$(head -n1 got)" "$(tail -n1 got)")" ]
	done
	[ "$(tail -n1 got)" = 3000 ]
}

@test "flight: a file begins and ends at the times of its JSON, on all CPUs" {
	need_command jq
	fly -e sched:sched_process_exec --keep 2s --before 800ms --after 50ms
	# Numbers all the time, so that the file has some however late the dump comes; the first one is too old for it.
	write_numbers 1 1
	first=$(date +%s%N)
	write_numbers 2 10000000 &
	writer=$!
	until [ $(($(date +%s%N) - first)) -gt 850000000 ]; do kill -0 $writer; done
	# On a busy machine the writer may not have had a CPU in the time of a file: then it is the next file.
	until file=$(dump) && [ "$(numbers "$file" | wc -l)" -gt 0 ]; do kill -0 $writer; done
	kill $writer
	wait $writer || true
	land
	# jq prints no zeros at the end of a number.
	jq -r '"\(.from) \(.to)", "\(.cpus[] | select(.first) | .first, .last)"' "${file%.dat}.json" > times
	{ read -r from to; sort -n; } < times > sorted
	[ "$(numbers "$file" | head -n 1)" -gt 1 ]
	weft report -t "$file" 2> /dev/null | grep -o ' [0-9]*\.[0-9]*: ' | tr -d ': ' | sed 's/0*$//' | sort -n > events
	awk -v from="$from" -v to="$to" '$1 < from || $1 > to { exit 1 }' events
	[ "$(head -n 1 events)" = "$(head -n 1 sorted)" ]
	[ "$(tail -n 1 events)" = "$(tail -n 1 sorted)" ]
}

@test "flight: an event that meets its condition is a trigger at its own time" {
	fly -e sched:sched_process_exec --after 100ms --when 'bad=exit:bash status==77'
	bash -c 'exit 76' || true
	bash -c 'exit 77' || true
	until ls ./*-bad.json 2> /dev/null; do kill -0 $PID; sleep 0.02; done
	land
	run marks ./*-bad.dat
	[ "${#lines[@]}" -eq 1 ]
	[[ "${lines[0]}" == *"sys_exit_group(error_code: "* ]]
	# The time of the event, which the kernel printed, is the time of the trigger.
	read -r _ _ _ _ at rest <<< "${lines[0]}"
	[[ "$rest" == *" ${at%:}: sys_exit_group"* ]]
	[[ "$(weft info ./*-bad.dat)" == *"mode       flight"* ]]
}

@test "flight: a condition meets an event that is recorded, too" {
	fly -e sched:sched_process_exec --after 100ms --when 'event:sched:sched_process_exec if filename ~ "*/printenv"'
	printenv > /dev/null
	until ls ./*-sched_process_exec.json 2> /dev/null; do kill -0 $PID; sleep 0.02; done
	land
	[ "$(weft report ./*.dat | grep -c 'sched_process_exec: filename=.*/printenv')" -ge 1 ]
}

@test "flight: an unknown event or field of a condition is refused with similar names, and nothing stays" {
	run weft flight start --name "$NAME" -e sched:sched_switch --when 'event:sched:sched_swich'
	[ "$status" -eq 1 ]
	[[ "$output" == *"sched:sched_switch"* ]]
	run weft flight start --name "$NAME" -e sched:sched_switch --when 'event:sched:sched_switch if prev_pio < 3'
	[ "$status" -eq 1 ]
	[[ "$output" == *"prev_prio"* ]]
	run bash -c "ls $T/instances | grep -c '^weft-[0-9]'"
	[ ! -e "/run/weft/$NAME.sock" ]
}

@test "flight: lost events are told when a file is written, and at the end" {
	fly -b 8 -e raw_syscalls --after 0
	# While it stands still, the buffers overflow.
	kill -STOP $PID
	dd if=/dev/zero of=/dev/null bs=1 count=20000 2> /dev/null
	kill -CONT $PID
	file=$(dump)
	land
	grep -q "dat: [0-9,]* events were lost since the flight began; a larger buffer (-b) may keep them$" log
	[[ "$(tail -n 1 log)" == *"1 trigger in "*", 1 file, "*" events lost; a larger buffer (-b) may keep them" ]]
}

@test "flight: a second trigger in time extends the file; one while cooling down is counted" {
	fly -e sched:sched_process_exec --after 300ms --when 'p=event:sched:sched_process_exec if filename ~ "*/printenv"'
	printenv > /dev/null
	file=$(dump)
	[[ "$file" == *-p.dat ]]
	[ "$(marks "$file" | wc -l)" -eq 2 ]
	printenv > /dev/null
	until weft flight status --name "$NAME" | grep -q '^2 triggers, 1 more only counted; 1 file of'; do kill -0 $PID; sleep 0.02; done
	land
}

@test "flight: SIGUSR1 and a failing command are triggers" {
	fly -e sched:sched_process_exec --after 50ms --when "sick=command:'exit 5' every 300ms"
	until ls ./*-sick.json 2> /dev/null; do kill -0 $PID; sleep 0.02; done
	kill -USR1 $PID
	until ls ./*-signal.json 2> /dev/null; do kill -0 $PID; sleep 0.02; done
	land
	[[ "$(marks ./*-sick.dat)" == *"'exit 5' ended with status 5"* ]]
	[[ "$(marks ./*-signal.dat)" == *"SIGUSR1 of process $$"* ]]
}

@test "flight: explain and the log say who sent a signal to whom, and with which status a program ended" {
	local when does says
	while IFS='|' read -r when does says; do
		rm -f ./*.dat ./*.json
		fly -e sched:sched_process_exec --after 50ms --when "$when"
		run bash -c "$does"
		until ls ./*.json 2> /dev/null; do kill -0 $PID; sleep 0.02; done
		land
		run -0 weft flight explain ./*.dat
		grep -qE "^because +bash-[0-9]+ $says\$" <<< "$output"
		grep -qE "dat: bash-[0-9]+ $says\$" log
	done <<- 'END'
		signal:USR2 bash|kill -USR2 $$|sent SIGUSR2 to itself
		signal:23 bash|bash -c "kill -s URG \$PPID"|sent SIGURG to bash-[0-9]+, where it is ignored
		exit:bash status==7|exit 7|exited with status 7
	END
}

@test "flight: a line of the kernel's log is a trigger" {
	[ -w /dev/kmsg ] || skip "no /dev/kmsg here"
	fly -e sched:sched_process_exec --after 50ms --when "log=kmsg:weft-test-$$ lock(up)?"
	echo "<7>weft-test-$$ lockup" > /dev/kmsg
	until ls ./*-log.json 2> /dev/null; do kill -0 $PID; sleep 0.02; done
	land
	[[ "$(marks ./*-log.dat)" == *": weft-test-$$ lockup" ]]
}

@test "flight: status tells how far back each CPU reaches; a second flight needs another name" {
	fly -e sched:sched_process_exec --keep 5s --max-memory 8M
	run weft flight status --name "$NAME"
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "flying for "*": 5.00 s asked for, "*" of 8.0 MiB held in memory (mode ring)" ]]
	[ "${#lines[@]}" -eq $((3 + $(grep -c ^processor /proc/cpuinfo))) ]
	need_command jq
	weft flight status --name "$NAME" --format json > status.json
	weft flight status --format schema > schema.json
	python3 "$BATS_TEST_DIRNAME/schemas.py" schema.json status.json
	jq -e --arg name "$NAME" --argjson cpus "$(grep -c ^processor /proc/cpuinfo)" '.flight == $name and .mode == "ring" and .keep_ns == 5000000000
		and .max_memory_bytes == 8388608 and .triggers == 0 and .files == 0 and (.cpus | length) == $cpus' status.json
	# What is refused says nothing of a flight that it could not begin.
	before=$(grep -c 'mode ring (the default)' log)
	[ "$before" -eq 1 ]
	run weft flight start --name "$NAME" -e sched:sched_switch
	[ "$status" -eq 1 ]
	[[ "$output" == *"a flight named '$NAME' runs already"* ]]
	[[ "$output" != *"mode ring"* ]]
	for ask in status dump; do
		run weft flight $ask --name "none-$$"
		[ "$status" -eq 1 ]
		[[ "$output" == *"no flight named 'none-$$' runs; --name chooses "*"'$NAME'"*", which run"* ]]
	done
	land
	run weft flight status --name "$NAME"
	[ "$status" -eq 1 ]
	[[ "$output" == *"no flight named '$NAME' runs"* ]]
}

@test "flight: too little memory is told, with what it reaches" {
	fly -e sched -e syscalls --keep 1s --max-memory 1M
	dd if=/dev/zero of=/dev/null bs=1 count=40000000 2> /dev/null &
	dd=$!
	until grep -qs 'of memory reach back' log; do kill -0 $PID; sleep 0.05; done
	kill $dd
	land
	grep -q '1.0 MiB of memory reach back .*, not 1.00 s' log
}

@test "flight: --max-files removes the oldest of the same trigger, never its first since the boot, nor a file of others" {
	other=$(uname -n | sed 's/[.].*//')-2001-01-01T00-00-00.000-other
	touch "$other.dat" "$other.json" my.dat
	fly -e sched:sched_process_exec --keep 1s --after 10ms --max-files 2
	first=$(dump)
	second=$(dump)
	[ -e "$second" ]
	third=$(dump)
	land
	[ -e "$first" ]
	[ -e "$third" ]
	[ ! -e "$second" ]
	[ ! -e "${second%.dat}.json" ]
	[ -e my.dat ]
	[ -e "$other.dat" ]
	[ -e "$other.json" ]
	[ "$(grep -c 'older file was removed' log)" -eq 1 ]
}

@test "flight: the next flight of the same name counts what the last one has left; a flight of another name does not" {
	fly -e sched:sched_process_exec --keep 1s --after 10ms
	first=$(dump) second=$(dump)
	land
	fly -e sched:sched_process_exec --keep 1s --after 10ms --max-files 2
	third=$(dump)
	land
	[ -e "$first" ]
	[ ! -e "$second" ]
	[ ! -e "${second%.dat}.json" ]
	[ -e "$third" ]
	NAME=$NAME-b
	fly -e sched:sched_process_exec --keep 1s --after 10ms --max-files 1
	fourth=$(dump) fifth=$(dump) sixth=$(dump)
	land
	[ -e "$first" ]
	[ -e "$third" ]
	[ -e "${third%.dat}.json" ]
	[ -e "$fourth" ]
	[ ! -e "$fifth" ]
	[ -e "$sixth" ]
}

@test "flight: in a directory for all, files of others neither count for the limits nor are they removed" {
	need_command setpriv
	mkdir -m 1777 all
	fly -e sched:sched_process_exec --keep 1s --after 10ms --max-files 3 --max-bytes 1G -o all
	first=$(dump) second=$(dump)
	# What a stranger can make: a file with a name of the future, as large as the filesystem says, the line of JSON beside it, and
	# links to what the flight has written.
	host=$(uname -n | sed 's/[.].*//')
	cd all
	setpriv --reuid=12345 --regid=12345 --clear-groups sh -e -c '
		for day in 01 02 03; do
			truncate -s 4G "$1-9999-12-$day""T23-59-59.999-x.dat"
			printf "{\"file\":\"%s\",\"flight\":\"%s\"," "$1-9999-12-$day""T23-59-59.999-x.dat" "$2" > "$1-9999-12-$day""T23-59-59.999-x.json"
		done
		ln -s "$3.dat" "$1-2001-01-01T00-00-00.000-x.dat"
		mkfifo "$1-2001-01-01T00-00-01.000-x.dat" "$1-2001-01-01T00-00-02.000-x.json"
		echo mine > "$1-2001-01-01T00-00-02.000-x.dat"' sh "$host" "$NAME" "$(basename "${first%.dat}")"
	cd ..
	theirs=$(find all -uid 12345 | sort)
	[ "$(wc -l <<< "$theirs")" -eq 10 ]
	third=$(dump)
	[ -s "$first" ]
	[ -s "$second" ]
	[ -s "$third" ]
	land
	run ! grep 'removed' log
	# The next flight of the name finds them there when it begins.
	fly -e sched:sched_process_exec --keep 1s --after 10ms --max-files 3 --max-bytes 1G -o all
	fourth=$(dump)
	land
	[ -s "$first" ]
	[ ! -e "$second" ]
	[ -s "$third" ]
	[ -s "$fourth" ]
	[ "$(find all -uid 12345 | sort)" = "$theirs" ]
}

@test "flight: --max-per-hour only counts what is too much, and tells it once" {
	fly -e sched:sched_process_exec --after 10ms --cool-down 0 --max-per-hour 2 --when 'p=event:sched:sched_process_exec if filename ~ "*/printenv"'
	for i in 1 2; do
		printenv > /dev/null
		until [ "$(ls ./*-p.json 2> /dev/null | wc -l)" = $i ]; do kill -0 $PID; sleep 0.02; done
	done
	for i in 1 2; do
		printenv > /dev/null
		until weft flight status --name "$NAME" | grep -q "^2 triggers, $i more only counted; 2 files of"; do kill -0 $PID; sleep 0.02; done
	done
	[ -s "$(dump)" ]
	land
	[ "$(grep -c 'within an hour' log)" -eq 1 ]
}

@test "flight: a full disk is told, and the flight goes on" {
	need_mounts
	mkdir small
	cat > inside <<- 'END'
		mount -t tmpfs -o size=8k tmpfs small
		weft flight start --name "$1" -e sched:sched_process_exec --after 50ms -o small 2> log &
		until grep -qs "has begun" log; do kill -0 $! || exit; sleep 0.02; done
		weft flight dump --name "$1"
		echo "dump $?"
		mount -o remount,size=16m small
		weft flight dump --name "$1"
		kill $!
		wait $!
	END
	run unshare -m bash inside "$NAME"
	[[ "$output" == *"pace left"* ]]
	[[ "$output" == *"dump 1"* ]]
	[[ "${lines[-1]}" == "small/"*"-dump.dat" ]]
}

@test "flight: a kill leaves an instance that recover removes, and the next flight takes the socket over" {
	fly -e sched:sched_process_exec --when 'exit:bash status==77'
	killed=$PID
	kill -KILL $PID
	wait $PID || true
	PID=
	[ -d "$T/instances/weft-$killed" ]
	weft recover
	[ ! -d "$T/instances/weft-$killed" ]
	[ ! -d "$T/instances/weft-$killed-2" ]
	fly -e sched:sched_process_exec --after 50ms
	dump
	land
}
