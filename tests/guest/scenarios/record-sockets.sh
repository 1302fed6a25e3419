# SPDX-License-Identifier: GPL-2.0-only
# record --files: between which addresses or sockets a socket is, beside a program that asks for them itself (tests/guest/sockets.c).
scenario() {
	local line length address

	command -v sockets > /dev/null || { skip "record --files" "no program for it in this guest"; return; }
	[ -e $T/kprobe_events ] && grep -q ' fd_install$' /proc/kallsyms || { skip "record --files" "this kernel has no probes"; return; }
	ip link set lo up 2> /dev/null || ifconfig lo up
	remember
	record "weft records which sockets are behind descriptors" 0 --files -e syscalls -- sh -c 'sockets > /tmp/asked'
	unchanged "probes and instances of weft's own go with the recording"
	weft syscalls --trace -i /tmp/r.dat > /tmp/trace 2> /tmp/err
	check "weft syscalls --trace reads it" status_is $? 0 /tmp/err
	cp /tmp/r.dat /tmp/asked $OUT/
	grep 'sockets-' /tmp/trace | grep -E 'socket|write|accept|listen|connect' > $OUT/trace
	if [ ! -e /sys/kernel/btf/vmlinux ]; then
		skip "addresses of sockets" "this kernel does not tell its structures"
		return
	fi
	check "the name of a UNIX socket's kind stands before its number" matches /tmp/trace 'write\(fd: [0-9]+<UNIX-STREAM:\[[0-9]+->[0-9]+\]>, .*count: 3\)'
	check "the program has asked" more "$(grep -c . /tmp/asked)" 1
	while read -r length address; do
		grep -E "write\(fd: [0-9]+<[^>]*->[^>]*>, .*count: $length\)" /tmp/trace > /tmp/writes
		# The kernel tells it when the call returns, if it still knows the arguments then: Linux 6.10 and later.
		[ "$length" = 12 ] && ! grep -qF 'return probes support: $retval, $arg<N>' $T/README && address="${address%->*}->(unknown)]"
		check "addresses are those that the program has: $length ${address%%:*}" grep -qF "<$address>" /tmp/writes
	done < /tmp/asked
	check "a socket that listens has its name" matches /tmp/trace "accept[4(].*fd: [0-9]+<UNIX-STREAM:\\[[0-9]+,\"/tmp/sockets.named\"\\]>"
	check "so has one without a file" matches /tmp/trace "accept[4(].*fd: [0-9]+<UNIX:\\[[0-9]+,@\"sockets.hidden\"\\]>"
	check "a listening socket has its address" matches /tmp/trace "accept[4(].*fd: [0-9]+<TCP:\\[127.0.0.1:[0-9]+\\]>"
}
