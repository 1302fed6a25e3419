# SPDX-License-Identifier: GPL-2.0-only
# record --files: the names of all files that a shell script opens, beside strace -f, which runs it.
scenario() {
	command -v strace > /dev/null || { skip "record --files" "no strace in this guest"; return; }
	[ -e $T/kprobe_events ] && grep -q ' fd_install$' /proc/kallsyms || { skip "record --files" "this kernel has no probes"; return; }
	cat > /tmp/script <<-'EOF'
		cat /etc/passwd /nonexistent/a < /etc/group > /tmp/copied
		for i in 1 2 3 4 5 6 7 8 9; do cp /tmp/copied /tmp/copied.$i; dd if=/tmp/copied.$i of=/dev/null; done
		ls /tmp /etc /usr/bin > /dev/null
		find /etc > /dev/null
		chains 2 | cat
		(cd /tmp; cat copied.1 ./copied.2 ../etc/passwd)
	EOF
	record "weft records a script" 0 --files -e syscalls:sys_enter_openat -e syscalls:sys_exit_openat -e syscalls:sys_enter_open -- strace -f -o /tmp/strace -e trace=openat -s 4096 sh /tmp/script
	weft syscalls --trace -i /tmp/r.dat 2> /tmp/err > /tmp/trace
	sed -n 's/^\([0-9]*\) *openat([^"]*"\([^"]*\)".*/\1 \2/p' /tmp/strace | sort > /tmp/want
	sed -n 's/.*-\([0-9]*\) *openat([^"]*filename: "\([^"]*\)".*/\1 \2/p' /tmp/trace | grep -E "^($(cut -d' ' -f1 /tmp/want | sort -u | tr '\n' '|')none) " | sort > /tmp/got
	check "strace has seen calls" more "$(grep -c . /tmp/want)" 40
	same "each name of a file is that of strace" /tmp/want /tmp/got
	# strace reads the names before the kernel does, so all of them are in memory then.
	record "weft records the script without strace" 0 --files -F -c -e syscalls:sys_enter_openat -e syscalls:sys_exit_openat -- sh /tmp/script
	weft syscalls --trace -i /tmp/r.dat 2> /tmp/err | sed -n 's/.*openat([^"]*filename: "\([^"]*\)".*/\1/p' | sort > /tmp/got
	cut -d' ' -f2- /tmp/want | sort > /tmp/names
	same "each name is the same without it" /tmp/names /tmp/got
}
