#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What a recorded command gets: the identity and environment of --user, and no file descriptor of weft's.
load lib

setup()
{
	need_tracefs
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# The variables that a login shell of the user would set.
variables='echo "$HOME $USER $LOGNAME $SHELL $PATH"'

# Prints the same from the system's own files. $1: the user; $2: the name of the user's PATH in /etc/login.defs.
want()
{
	local path shell

	path=$(awk -v name="$2" '$1 == name { sub(/^PATH=/, "", $2); print $2; exit }' /etc/login.defs)
	shell=$(getent passwd "$1" | cut -d: -f7)
	echo "$(getent passwd "$1" | cut -d: -f6) $1 $1 $shell $path"
}

@test "record: --user has the ids, groups and environment of that user" {
	grep -q '^ENV_PATH' /etc/login.defs && grep -q '^ENV_SUPATH' /etc/login.defs || skip "/etc/login.defs says no PATH"
	export PATH=$PATH:/root/private HOME=/root SHELL=/bin/other USER=other LOGNAME=other KEPT=kept
	got=$(weft record -q -e sched -o u.dat --user nobody -- /bin/sh -c "$variables; echo \$KEPT; id -u; id -g; id -G")
	[ "$got" = "$(want nobody ENV_PATH)"$'\nkept\n'"$(id -u nobody)"$'\n'"$(id -g nobody)"$'\n'"$(id -G nobody)" ]
	got=$(weft record -q -e sched -o u.dat --user root -- /bin/sh -c "$variables")
	[ "$got" = "$(want root ENV_SUPATH)" ]
	# Compares with runuser itself, where it sets the same variables.
	need_command runuser
	ours='echo "$HOME $USER $LOGNAME"'
	[ "$(weft record -q -e sched -o u.dat --user nobody -- sh -c "$ours")" = "$(runuser -u nobody -- sh -c "$ours")" ]
}

@test "record: a command is looked for in the PATH of --user" {
	mkdir bin
	printf '#!/bin/sh\necho root-only\n' > bin/weft-test-tool
	chmod -R 755 bin
	PATH=$PWD/bin:$PATH run -127 weft record -q -e sched -o u.dat --user nobody -- weft-test-tool
	[[ "$output" != *root-only* ]]
}

@test "record, stream: the command has no file descriptor but those that it would have without weft" {
	list='echo /proc/self/fd/*'
	want=$(sh -c "$list")
	[ "$(weft record -q -e sched -e syscalls -o f.dat -- sh -c "$list")" = "$want" ]
	[ "$(weft record -q -e sched -o f.dat -F -c -m 1M -- sh -c "$list")" = "$want" ]
	[ "$(weft record -q -e sched -o f.dat --user nobody -- sh -c "$list")" = "$want" ]
	[ "$(weft record -q -B one -e sched -B two -e irq -o f.dat -- sh -c "$list")" = "$want" ]
	[ "$(weft stream -e sched:sched_process_exit -- sh -c "$list >&2" 2>&1 > /dev/null | grep '^/proc')" = "$want" ]
}
