# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	remember
	weft doctor > /tmp/doctor 2> /tmp/err
	check "weft doctor ends with status 0" status_is $? 0 /tmp/err
	check "recording works" matches /tmp/doctor '^ok +recording +works'
	check "functions can be traced" matches /tmp/doctor '^ok +functions +can be traced'
	check "symbols have addresses" matches /tmp/doctor '^ok +symbols '
	cat $T/available_tracers | tr ' ' '\n' | grep . | sort > /tmp/expected
	# Long lines are broken between words.
	awk '/^[a-zA-Z]/ { on = $1 == "ok" && $2 == "tracers" } on { sub(/^ok +tracers/, ""); print }' /tmp/doctor |
		tr ' ' '\n' | grep . | sort > /tmp/tracers
	same "the tracers are the kernel's" /tmp/expected /tmp/tracers
	unchanged
	# Newer kernels refuse this.
	if ! echo 0 > /proc/sys/kernel/ftrace_enabled; then
		skip "functions that are switched off" "this kernel lets nobody switch them off"
		weft set --ftrace-enabled off 2> /tmp/err
		check "weft set says so" matches /tmp/err 'lets nobody forbid function tracing'
		unchanged "and again nothing is changed"
		return
	fi
	weft doctor > /tmp/doctor 2>&1
	check "functions that are switched off are told" matches /tmp/doctor '^lacks +functions +are switched off'
	echo 1 > /proc/sys/kernel/ftrace_enabled
	unchanged "and again nothing is changed"
}
