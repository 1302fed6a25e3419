# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# The guides of weft-recipes(7): each line as the page has it, about a service, a container and programs that stand for
# those that it names. Only the times of recordings are shorter.

. /host/start.sh

HERE=/tmp/guides
GROUPS_OF=/sys/fs/cgroup/system.slice
ID=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef

# guide NAME: runs the block of the page with this mark
guide() {
	awk -v name="$1" '$0 == ".\\\" example: " name { on = 1; next } /^\.EX/ { inside = on; next }
		/^\.EE/ { inside = on = 0 } inside' /host/weft-recipes.7 |
		sed "s/\\\\-/-/g; s/\\\\(aq/'/g; s/\\\\\\\\/\\\\/g; s/--duration [0-9]*s/--duration 500ms/" > /tmp/block
	grep -q . /tmp/block && sh -e /tmp/block > /tmp/block.out 2>&1 < /dev/null || { tail -n 4 /tmp/block.out; return 1; }
}
# told SENTENCE REGEX: the last guide has printed it
told() { check "$1" matches /tmp/block.out "$2"; }

# program NAME: makes a program of standard input
program() { cat > "$HERE/bin/$1" && chmod +x "$HERE/bin/$1"; }

# begin NAME GROUP: lets a program run in a control group until it is ended
begin() {
	mkdir -p "$2"
	sh -c "echo \$\$ > $2/cgroup.procs; exec $1" > /dev/null 2>&1 &
	await "grep -q . $2/cgroup.procs"
}

programs() {
	mkdir -p $HERE/bin $HERE/old $HERE/new /var/tmp
	program nginx <<-'EOF'
		#!/bin/sh
		while :; do /bin/ls / /missing; usleep 1000; done
	EOF
	program player <<-'EOF'
		#!/bin/sh
		while :; do usleep 2000; done
	EOF
	program make <<-'EOF'
		#!/bin/sh
		ls /
		ls /bin
	EOF
	program parser <<-'EOF'
		#!/bin/sh
		kill -SEGV $$
	EOF
	# The way to another machine, which is this one: ssh OPTION... HOST COMMAND...
	program ssh <<-'EOF'
		#!/bin/sh
		while :; do case $1 in -*) shift ;; *) break ;; esac; done
		shift
		exec "$@"
	EOF
}

of_groups() {
	mkdir -p /sys/fs/cgroup /var/lib/docker/containers/$ID
	if ! mount -t cgroup2 none /sys/fs/cgroup 2> /dev/null; then
		skip "a service and a container" "this kernel has no control groups"
		return
	fi
	printf '{"ID":"%s","Name":"/web","Config":{"Image":"nginx","Labels":{}}}' $ID > /var/lib/docker/containers/$ID/config.v2.json
	begin nginx $GROUPS_OF/nginx.service
	service=$!
	begin nginx $GROUPS_OF/docker-$ID.scope
	container=$!
	# On kernels without probes, too: these guides ask for nothing that only some kernels have.
	check "a slow service: the guide works" guide service
	told "a slow service: its waits are told" '^nginx.service '
	check "a guest: the guide works" guide guest
	if [ -e $T/kprobe_events ]; then
		check "a container: the guide works" guide container
		told "a container: its programs are told" '^/bin/ls '
		told "a container: its failures are told" 'ENOENT'
	else
		skip "a container" "this kernel has no probes of its functions"
	fi
	kill $service $container
	wait $service $container 2> /dev/null
	await "rmdir $GROUPS_OF/nginx.service $GROUPS_OF/docker-$ID.scope 2> /dev/null; [ ! -e $GROUPS_OF/nginx.service ] && [ ! -e $GROUPS_OF/docker-$ID.scope ]"
	rmdir $GROUPS_OF
	umount /sys/fs/cgroup
	rm -rf /var/lib/docker
}

# The guide's first command is typed in one terminal, the others in another one.
flights() {
	PATH=$HERE/bin:$PATH player &
	player=$!
	check "a late task: the guide works" guide late
	told "a late task: its wakeups are told" ' player '
	kill $player
	wait $player 2> /dev/null
	awk '$0 == ".\\\" example: crash" { on = 1; next } /^\.EX/ { inside = on; next } /^\.EE/ { inside = on = 0 } inside' /host/weft-recipes.7 | sed "s/\\\\-/-/g; s/\\\\(aq/'/g" > /tmp/flight
	sh -c "exec $(cat /tmp/flight)" > /tmp/flight.out 2>&1 &
	flight=$!
	await "grep -q 'has begun' /tmp/flight.out || ! kill -0 $flight"
	parser
	await "grep -q 'written in' /tmp/flight.out || ! kill -0 $flight"
	land
	check "a crash: the guide works" guide crashed
	told "a crash: the signal is told" 'sig=11|SEGV'
	rm -f /var/tmp/*.dat /var/tmp/*.json
}

disks() {
	[ -e /dev/vda ] || { skip "a disk" "this guest has none"; return; }
	program writer <<-'EOF'
		#!/bin/sh
		while :; do dd if=/dev/zero of=/dev/vda bs=8k count=16 oflag=direct; done
	EOF
	writer > /dev/null 2>&1 &
	writer=$!
	check "a disk: the guide works" guide disk
	told "a disk: its requests are told" '^# requests of each device'
	told "a disk: the longest are told" '^# the longest requests'
	kill $writer
	wait $writer 2> /dev/null
}

locks() {
	command -v holder > /dev/null || { skip "a lock" "no program for it in this guest"; return; }
	holder 400 5000 > /dev/null 2>&1 &
	holder=$!
	check "a lock: the guide works" guide lock
	told "a lock: who ends waits is told" '^# waits for locks, by the task that ended them'
	kill $holder
	wait $holder 2> /dev/null
}

scenario() {
	has_command flight || { skip "everything" "weft has no flight"; return; }
	remember
	programs
	cd $HERE || return
	PATH=$HERE/bin:$PATH
	of_groups
	flights
	disks
	locks
	check "a slower build: the guide works" guide build
	check "another machine: the guide works" guide machine
	told "another machine: the file says where it is from" '^kernel '
	check "two machines: the guide works" guide both
	check "a fleet: the guide works" guide fleet
	cd / && rm -rf $HERE
	unchanged "nothing is left"
}
