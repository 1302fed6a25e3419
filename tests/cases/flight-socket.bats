#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The socket of weft flight, asked by other users: each test has a /run/weft and an /etc/group of its own.
load lib

setup()
{
	need_tracefs
	need_mounts
	# Another user cannot run what is in the home of this one.
	PATH=$BUILD:/usr/bin:/bin:$PATH
	need_command setpriv
	need_command python3
	cd "$BATS_TEST_TMPDIR" || return
	NAME=test-$$
	# A flight with a group of friends whom nothing but the group makes different.
	{ grep -v '^weft:' /etc/group; echo 'weft:x:54321:'; } > group
	cat > inside <<- END
		set -u
		mount -t tmpfs -o mode=700 tmpfs /run/weft
		mount --bind group /etc/group
		as() { setpriv --reuid 65534 --regid 65534 "\$@"; }
		stranger() { as --clear-groups -- "\$@"; }
		friend() { as --groups 54321 -- "\$@"; }
		say() { "\$1" python3 -c '
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.connect("/run/weft/$NAME.sock")
		try:
		    s.sendall(sys.argv[1].encode().decode("unicode_escape").encode())
		except BrokenPipeError:
		    pass
		print(s.recv(4096).decode().strip())' "\$2"; }
		: > log
		weft flight start --name $NAME -e sched:sched_process_exec --after 10ms --max-per-hour 3 2> log &
		pid=\$!
		until grep -qs "has begun" log; do kill -0 \$pid || exit; sleep 0.02; done
	END
	cp "$WEFT" weft
	chmod 755 . weft
}

# inside: runs the rest of a test, which stands on standard input, where /run and /etc/group are its own
inside()
{
	mkdir -p /run/weft
	{ cat inside -; echo 'kill $pid; wait $pid'; } > script
	run -0 timeout 60 unshare -m bash script
	echo "$output"
}

@test "flight socket: the group may ask and fire, others may not even reach it" {
	inside <<- END
		stat -c '%a %U %g' /run/weft /run/weft/$NAME.sock
		friend ./weft flight status --name $NAME | head -n1
		friend ./weft flight dump --name $NAME --reason 'a friend' > said
		cat said
		stranger ./weft flight status --name $NAME 2>&1
		stranger ./weft flight dump --name $NAME 2>&1
		ls ./*.dat | wc -l
		friend ls /run/weft 2>&1
	END
	[ "${lines[0]}" = "710 root 54321" ]
	[ "${lines[1]}" = "660 root 54321" ]
	[[ "${lines[2]}" == "flying for "* ]]
	[[ "${lines[3]}" == ./*-dump.dat ]]
	[[ "${lines[4]}" == *"Permission denied; root and the group 'weft' may" ]]
	[[ "${lines[5]}" == *"Permission denied; root and the group 'weft' may" ]]
	[ "${lines[6]}" = 1 ]
	[[ "${lines[7]}" == *"Permission denied" ]]
}

@test "flight socket: who asks is known from the kernel, whatever the mode of the socket" {
	inside <<- END
		chmod 755 /run/weft
		chmod 666 /run/weft/$NAME.sock
		say stranger 'status\n'
		say stranger 'dump me\n'
		say friend 'status\n' | sed -n 1p
		ls ./*.dat 2> /dev/null | wc -l
	END
	[ "${lines[0]}" = "error only root and the members of the group 'weft' may ask a flight" ]
	[ "${lines[1]}" = "error only root and the members of the group 'weft' may ask a flight" ]
	[[ "${lines[2]}" == "flying for "* ]]
	[ "${lines[3]}" = 0 ]
}

@test "flight socket: the group cannot configure, and lines that are wrong or too long are refused" {
	inside <<- END
		for line in 'keep 1s' 'stop' 'reload' '' 'dumpling' 'status now'; do say friend "\$line\n"; done
		say friend "dump \$(printf '%0600d' 0)\n"
		say friend 'dump \x1b[31mred\x07\n'
		weft report ./*.dat | grep -c 'weft: trigger dump at .*: *.31mred *\$'
		LC_ALL=C grep -c '[[:cntrl:]]' ./*.json log
	END
	for i in 0 1 2 3 4 5; do [ "${lines[i]}" = "error a flight knows 'dump REASON', 'sample N REASON', 'status' and 'status json'" ]; done
	[ "${lines[6]}" = "error the line is too long" ]
	[[ "${lines[7]}" == "file ./"* ]]
	[ "${lines[8]}" = 1 ]
}

@test "flight socket: clients that say nothing, or flood it, hold back neither root nor the flight" {
	inside <<- END
		setpriv --reuid 65534 --regid 65534 --groups 54321 -- python3 -c '
		import socket
		def ask():
		    s = socket.socket(socket.AF_UNIX)
		    s.connect("/run/weft/$NAME.sock")
		    return s
		silent = [ask() for _ in range(40)]
		print("silent", flush=True)
		while True:
		    try:
		        ask().sendall(b"x" * 400)
		        ask().sendall(b"status\n")
		    except OSError:
		        pass' > flood 2>&1 &
		until grep -qs silent flood; do sleep 0.02; done
		for i in 1 2 3 4 5; do
			weft flight status --name $NAME | head -n1
			weft flight dump --name $NAME
		done
		kill \$!
	END
	[ "${#lines[@]}" -eq 10 ]
	for i in 0 2 4 6 8; do
		[[ "${lines[i]}" == "flying for "* ]]
		[[ "${lines[i + 1]}" == ./*-dump.dat ]]
	done
}

@test "flight socket: the group begins no more files in an hour than conditions; root does" {
	inside <<- END
		for i in 1 2 3 4; do friend ./weft flight dump --name $NAME 2>&1; done
		weft flight dump --name $NAME
	END
	[[ "${lines[2]}" == ./*-dump.dat ]]
	[ "${lines[3]}" = "weft: 3 files were begun within an hour (--max-per-hour)" ]
	[[ "${lines[4]}" == ./*-dump.dat ]]
}

@test "flight socket: dump --sample writes nothing on a machine under pressure, and else a file of its weight" {
	need_command jq
	[ -e /proc/pressure/cpu ] || skip "this kernel does not measure pressure"
	inside <<- END
		pressure() { echo "some avg10=\$1.00 avg60=0.00 avg300=0.00 total=0" > pressure; }
		pressure 90
		for of in cpu memory io; do mount --bind pressure /proc/pressure/\$of; done
		weft flight dump --name $NAME --sample 1/1 2>&1 | cut -c 1-57
		ls ./*.dat 2> /dev/null | wc -l
		pressure 3
		weft flight dump --name $NAME --sample 1/1 > /dev/null
		jq -c '[.trigger, .weight]' ./*-sample.json
		rm ./*.dat ./*.json
		say friend 'sample 20 by a timer\n' > /dev/null
		jq -c '[.trigger, .reason, .weight]' ./*-sample.json
		weft info --format json ./*-sample.dat | jq .weight
		rm ./*.dat ./*.json
		weft flight dump --name $NAME > /dev/null
		jq -c '[.trigger, .weight]' ./*-dump.json
		for line in 'sample' 'sample x' 'sample 0' 'sample 20x'; do say friend "\$line\n"; done
	END
	[ "${lines[0]}" = "weft: nothing is recorded: the machine is under pressure:" ]
	[ "${lines[1]}" = 0 ]
	[ "${lines[2]}" = '["sample",1]' ]
	[ "${lines[3]}" = '["sample","by a timer",20]' ]
	[ "${lines[4]}" = 20 ]
	[ "${lines[5]}" = '["dump",1]' ]
	for i in 6 7 8 9; do [[ "${lines[i]}" = "error a flight knows "* ]]; done
}
