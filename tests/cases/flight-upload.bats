#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft flight start --upload: a plain user's command gets each file, and nothing that it does holds the flight back.
load lib
load flight

teardown()
{
	[ -z "${PID:-}" ] || { kill "$PID" && wait "$PID"; } 2> /dev/null || true
	rm -f "/run/weft/${NAME:-none}.sock"
	[ -z "${GOT:-}" ] || rm -rf "$GOT"
}

# make_got: a folder that everybody may write to, which the tests' own folder is not
make_got()
{
	GOT=$(mktemp -d /tmp/weft-upload.XXXXXX)
	chmod 777 "$GOT"
}

# fly_up OPTION...: a flight of one rare event
fly_up() { fly -e sched:sched_process_exec --after 10ms "$@"; }

# until_told WORDS: waits until the flight has said so
until_told()
{
	local end=$((SECONDS + 60))
	until grep -qs -- "$1" log; do
		kill -0 $PID && [ $SECONDS -lt $end ] || { cat log; return 1; }
		sleep 0.02
	done
}

@test "flight --upload: a plain user without other rights gets the file, by descriptor and by a name that is no code" {
	make_got
	mkdir "it's \$(id) place"
	# shellcheck disable=SC2016 # the shell of the upload expands it
	fly_up -o "it's \$(id) place" --upload 'cat > '"$GOT"'/file; echo {} > '"$GOT"'/path; id -u > '"$GOT"'/id; id -G >> '"$GOT"'/id; grep -E "^(CapEff|NoNewPrivs)" /proc/self/status >> '"$GOT"'/id; pwd >> '"$GOT"'/id'
	file=$(weft flight dump --name "$NAME")
	until_told 'uploaded '
	weft flight status --name "$NAME" | grep -q '^1 uploaded, 0 not$'
	land
	[ $landed -eq 0 ]
	cmp "$GOT"/file "$file"
	[ "$(< "$GOT/path")" = "$PWD/${file#./}" ]
	diff "$GOT/id" - <<- END
		$(id -u nobody)
		$(id -g nobody)
		CapEff:	0000000000000000
		NoNewPrivs:	1
		/
	END
}

@test "flight --upload: a command that fails is told and counted, and the flight goes on" {
	fly_up --upload 'exit 3'
	file=$(weft flight dump --name "$NAME")
	until_told "${file#./} is not uploaded: the command ended with status 3"
	weft flight status --name "$NAME" | grep -q '^0 uploaded, 1 not$'
	[ -s "$(weft flight dump --name "$NAME")" ]
	land
	[ $landed -eq 0 ]
}

@test "flight --upload: a command that hangs is killed with what it has started, and the next file has its turn" {
	make_got
	fly_up --upload-timeout 100ms --upload 'echo $$ >> '"$GOT"'/pids; sleep 1000 & wait'
	first=$(weft flight dump --name "$NAME")
	second=$(weft flight dump --name "$NAME")
	until_told "${first#./} is not uploaded: the command took more than 100"
	until_told "${second#./} is not uploaded: the command took more than 100"
	[ "$(wc -l < "$GOT/pids")" -eq 2 ]
	while read -r pid; do
		# What was killed may not be gone yet.
		timeout 60 bash -c 'while pgrep -g "$1" > /dev/null; do sleep 0.02; done' - "$pid"
	done < "$GOT/pids"
	land
}

@test "flight --upload: the end of the flight waits for its last file, and for no longer than one may take" {
	make_got
	fly_up --upload 'cat > '"$GOT"'/file'
	kill -USR1 $PID
	until_told 'uploaded ' || true
	land
	[ -s "$GOT/file" ]
	fly_up --upload-timeout 50ms --upload 'sleep 1000'
	[ -s "$(weft flight dump --name "$NAME")" ]
	land
	grep -q 'is not uploaded' log
}

@test "flight --upload: root is no user of an upload, and a user has to exist" {
	run -1 weft flight start -e sched:sched_process_exec --upload true --upload-user root
	[[ "$output" == *"an upload has no rights of root, so 'root' cannot be the user"* ]]
	run -1 weft flight start -e sched:sched_process_exec --upload true --upload-user no-such-user
	[[ "$output" == *"there is no user 'no-such-user'"* ]]
}
