#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft flight: what a kill leaves, the next flight or weft recover saves.
load lib
load flight

# fly_and_kill: kills a flight that holds the numbers 1 to 500, the first ones in its memory and the last ones only in the
# kernel's buffer. One CPU has them all: of the few that another one has, none may be in the memory.
fly_and_kill()
{
	taskset -pc "$(taskset -pc $BASHPID | sed 's/.*: //; s/[^0-9].*//')" $BASHPID > /dev/null
	fly -e sched:sched_process_exec --when 'exit:bash status==77' "$@"
	write_numbers 1 490
	# Its recorders have emptied the buffers: every page was read but those that the status itself may have filled.
	until weft flight status --name "$NAME" | awk '$1 == "-" && $5 != 0 { held = 1 } END { exit !held }'; do kill -0 $PID; sleep 0.02; done
	write_numbers 491 500
	killed=$PID
	kill -KILL $PID
	wait $PID || true
	PID=
	[ -d "$T/instances/weft-$killed" ]
}

# nothing_left: nothing of the killed flight is in tracefs, nor in memory
nothing_left()
{
	[ ! -d "$T/instances/weft-$killed" ]
	[ ! -d "$T/instances/weft-$killed-2" ]
	run bash -c "ls -d /run/weft/$NAME.dat.* /dev/shm/$NAME.dat.* /run/weft/undo-$killed-*"
	[ "$status" -ne 0 ]
}

@test "flight: the next flight of that name saves what a killed one held, and what the kernel holds of it" {
	need_command jq
	fly_and_kill
	fly -e sched:sched_process_exec
	nothing_left
	[ "$(numbers ./*-left.dat)" = "$(seq 500)" ]
	[ "$(jq -r '.reason, .complete' ./*-left.json)" = "$(printf '%s\n' 'the previous flight ended without closing' true)" ]
	[ "$(jq .size ./*-left.json)" = "$(stat -c %s ./*-left.dat)" ]
	weft flight --format schema > schema.json
	python3 "$BATS_TEST_DIRNAME/schemas.py" schema.json ./*-left.json
	weft check ./*-left.dat
	grep -q -- '-left.dat: the previous flight ended without closing; .* of pages, .* of them were still in the kernel' log
	land
	[ "$(ls ./*.dat | wc -l)" -eq 1 ]
}

@test "flight: recover saves what a killed flight held into NAME.dat here" {
	fly_and_kill
	weft recover
	[ "$(numbers "$NAME.dat")" = "$(seq 500)" ]
	nothing_left
}

@test "flight: weft reset says what a killed flight still has in memory, and recover makes a file of it" {
	fly_and_kill
	parts=$(find /run/weft /dev/shm -maxdepth 1 -name "$NAME.dat.*")
	run weft reset
	[[ "$output" == *"note: '$parts' still has what a flight held when it was killed: 'weft recover $parts' makes a file of it"* ]]
	weft recover "$parts"
	# The kernel's part, which is the end of what each CPU has, went with the instance.
	numbers "$NAME.dat" > held
	[ -s held ]
	seq "$(wc -l < held)" | cmp - held
	nothing_left
	run weft reset
	[[ "$output" != *"$NAME.dat"* ]]
}

@test "flight: a flight of another name, and a running one, are left alone" {
	fly_and_kill
	other=$NAME-2
	weft flight start --name "$other" -e sched:sched_process_exec --duration 10ms
	[ -d "$T/instances/weft-$killed" ]
	run ! ls ./*-left.dat
	fly -e sched:sched_process_exec
	rm ./*-left.dat
	run weft flight start --name "$NAME" -e sched:sched_process_exec
	[ "$status" -eq 1 ]
	[[ "$output" == *"runs already"* ]]
	run ! ls ./*-left.dat
	land
}

@test "flight: without room in memory that outlives it, a kill leaves what the kernel holds" {
	need_mounts
	cat > inside <<- 'END'
		mount -t tmpfs -o size=8m tmpfs /run
		mount -t tmpfs -o size=8m tmpfs /dev/shm
		T=/sys/kernel/tracing
		weft flight start --name "$1" -e sched:sched_process_exec 2> log &
		until grep -qs "has begun" log; do kill -0 $! || exit; sleep 0.02; done
		for i in 1 2 3 4 5; do echo "number $i" > $T/instances/weft-$!/trace_marker; done
		kill -KILL $!
		wait $!
		weft recover
		ls $T/instances | grep -x "weft-$!"
	END
	unshare -m bash inside "$NAME" || true
	[ "$(numbers "$NAME.dat" | tail -n 1)" = 5 ]
}

@test "flight: pages that were read and not yet compressed outlive a kill" {
	for round in 1 2 3 4 5 6; do
		# The recorders work when the kill comes: each round at another point.
		fly -e sched:sched_process_exec -b 1M --keep 5m
		bash -c 'for ((i = 1; i <= $1; i++)); do echo "number $i"; done' - $((5000 * round)) > "$T/instances/weft-$PID/trace_marker"
		killed=$PID
		kill -KILL $PID
		wait $PID || true
		PID=
		weft recover 2> said
		cat said
		# What a kill loses is told.
		grep -q 'when it was killed\|when they were killed' said || [ "$(numbers "$NAME.dat" | cksum)" = "$(seq $((5000 * round)) | cksum)" ]
		rm "$NAME.dat"
		nothing_left
	done
}
