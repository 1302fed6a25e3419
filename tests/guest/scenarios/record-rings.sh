# SPDX-License-Identifier: GPL-2.0-only
# record --files: what a program reads and writes by io_uring, which makes no system call for it (tests/guest/rings.c).
# row FILE OPERATION: its requests, errors and bytes
row() { awk -F, -v file="$1" -v op="$2" '$1 == file && $2 == op { print $3, $4, $5 }' /tmp/rings.csv; }

scenario() {
	command -v rings > /dev/null || { skip "record --files" "no program for it in this guest"; return; }
	head -c 4096 /dev/zero > /tmp/rings.in
	rings /tmp/rings.in > /tmp/asked
	[ $? != 77 ] || { skip "record --files" "this kernel has no io_uring"; return; }
	record "a recording without --files" 0 -e raw_syscalls -- rings /tmp/rings.in
	weft syscalls -i /tmp/r.dat > /tmp/trace 2> /tmp/err
	check "says that what io_uring did is in no row" matches /tmp/trace 'programs called io_uring_enter: what io_uring reads and writes makes no system call'
	[ -e $T/kprobe_events ] && grep -q ' fd_install$' /proc/kallsyms || { skip "record --files" "this kernel has no probes"; return; }
	remember
	record "weft records what is asked of io_uring" 0 --files -e raw_syscalls -- sh -c 'rings /tmp/rings.in > /tmp/asked'
	unchanged "probes and instances of weft's own go with the recording"
	weft syscalls --by file --table io_uring --format csv -i /tmp/r.dat > /tmp/rings.csv 2> /tmp/err
	check "weft syscalls --by file has it" status_is $? 0 /tmp/err
	cp /tmp/r.dat /tmp/rings.csv /tmp/asked $OUT/
	check "the program got what it asked for" equal "$(tr '\n' ' ' < /tmp/asked)" "READ fd 64 READ fd 64 READ fd 64 READ fixed 32 READ fixed 32 WRITE fd 5 READ closed -9 NOP none 0 "
	check "what has no file is told" equal "$(row "(no descriptor)" NOP)" "1 0 0"
	# Without the kernel's type information a path is its last part.
	[ -e /sys/kernel/btf/vmlinux ] || { skip "files of io_uring" "this kernel does not tell its structures"; return; }
	check "a read is of the file behind its descriptor" equal "$(row /tmp/rings.in READ)" "3 0 192"
	check "a write, too" equal "$(row /tmp/rings.out WRITE)" "1 0 5"
	# A kernel in which this function is inline does not let it be probed.
	if grep -q '^io_file_get_fixed$' $T/available_filter_functions; then
		check "a fixed file has its name" equal "$(row /etc/passwd READ)" "2 0 64"
	else
		check "a fixed file is unknown" equal "$(row "(unknown)" READ)" "2 0 64"
	fi
	weft syscalls --file '/tmp/rings.in' --table io_uring --format csv -i /tmp/r.dat > /tmp/rings.csv 2> /tmp/err
	check "--file chooses its requests" equal "$(row /tmp/rings.in READ) $(grep -c . /tmp/rings.csv)" "3 0 192 2"
}
