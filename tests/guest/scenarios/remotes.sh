# SPDX-License-Identifier: GPL-2.0-only
# Remotes (Linux 7.1): buffers that another system than this kernel writes. No kernel of Debian has one; the kernel's own
# test of them, CONFIG_TRACE_REMOTE_TEST, makes the remote "test", which this scenario uses (tests/guest/run -k FILE).
R=$T/remotes/test

# refused WEFT-ARGUMENT...: the command takes no remote, and says so
refused() {
	timeout 60 weft "$@" > /tmp/r.out 2> /tmp/r.err
	check "weft $1 of a remote is refused" test $? != 0
	check "weft $1 says what a remote gives" matches /tmp/r.err "not an instance but a remote.*'weft show remotes/test/trace'"
}

scenario() {
	[ -d $R ] || { skip "remotes" "this kernel has none"; return; }
	local n name

	set_to $R/tracing_on 1
	set_to $R/events/test/selftest/enable 1
	for n in 11 22 33; do echo $n > $R/write_event; done
	cat $R/trace > /tmp/kernel.txt
	check "the kernel's remote has the events" equal "$(grep -c 'selftest.*id=[123]' /tmp/kernel.txt)" 3
	remember
	weft instance > /tmp/list.txt 2> /tmp/list.err
	check "weft instance lists the remote, which has no tracer and no counts" matches /tmp/list.txt '^remotes/test +on +- .* -$'
	weft show remotes/test/trace > /tmp/r.txt 2> /tmp/r.err
	check "weft show prints its text" status_is $? 0 /tmp/r.err
	same "it is the kernel's text" /tmp/kernel.txt /tmp/r.txt
	weft show remotes/test/per_cpu/cpu0/trace > /tmp/r.txt 2> /tmp/r.err
	cat $R/per_cpu/cpu0/trace > /tmp/kernel0.txt
	same "and that of one CPU" /tmp/kernel0.txt /tmp/r.txt
	for name in test remotes/test; do
		refused record -o /tmp/r.dat -B $name -e sched -- true
		refused stream -B $name -e sched -- true
		refused start -B $name -e sched
		refused extract -o /tmp/r.dat -B $name
		refused stat -B $name
	done
	check "no file was made" test ! -e /tmp/r.dat
	unchanged "no refused command has changed tracefs"
	head $R/tracing_on $R/buffer_size_kb $R/events/test/selftest/enable > /tmp/settings.txt
	weft reset --all --yes > /tmp/reset.txt 2>&1
	check "weft reset --all ends well" status_is $? 0 /tmp/reset.txt
	head $R/tracing_on $R/buffer_size_kb $R/events/test/selftest/enable > /tmp/settings2.txt
	same "and leaves the settings of the remote" /tmp/settings.txt /tmp/settings2.txt
	cat $R/trace > /tmp/r.txt
	same "nothing of it was taken or removed" /tmp/kernel.txt /tmp/r.txt
	# This waits for more.
	timeout -s INT 10 weft show remotes/test/trace_pipe > /tmp/r.txt 2> /tmp/r.err
	same "weft show prints what a reader of the remote consumes" /tmp/kernel.txt /tmp/r.txt
	check "which is gone then" equal "$(cat $R/trace)" ""
	set_to $R/events/test/selftest/enable 0
	set_to $R/tracing_on 0
	echo > $R/trace
}
