# SPDX-License-Identifier: GPL-2.0-only
# Functions for the scenarios of `weft start`: options that are set and restored, errors, and kills. Call `remember`
# before.

# try SENTENCE FILE REGEX OPTION...: weft start with these options makes a line of FILE match, and reset removes it
try() {
	local sentence="$1" file="$2" regex="$3"

	shift 3
	weft start "$@" > /tmp/s.err 2>&1
	check "$sentence is set" status_is $? 0 /tmp/s.err
	check "$sentence is there" matches "$file" "$regex"
	weft reset > /tmp/s.err 2>&1
	check "$sentence is reset" status_is $? 0 /tmp/s.err
	unchanged "$sentence leaves nothing"
}

# tell SENTENCE REGEX OPTION...: start fails with a message that matches
tell() {
	local sentence="$1" regex="$2"

	shift 2
	weft start "$@" > /tmp/s.err 2>&1
	check "$sentence is an error" equal $? 1
	check "$sentence is told" matches /tmp/s.err "$regex"
	unchanged "$sentence changes nothing"
}

# killed SENTENCE COMMAND...: the command is killed at several moments, and reset restores the settings
killed() {
	local sentence="$1" delay

	shift
	for delay in 0 0.02 0.04 0.08 0.1 0.15 0.3 0.6; do
		"$@" > /dev/null 2>&1 &
		sleep $delay
		kill -9 $! 2> /dev/null
		wait $! 2> /dev/null
	done
	weft reset > /tmp/s.err 2>&1
	check "reset works after $sentence was killed" status_is $? 0 /tmp/s.err
	unchanged "it puts back what $sentence left"
}
