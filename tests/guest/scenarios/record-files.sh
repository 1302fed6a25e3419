# SPDX-License-Identifier: GPL-2.0-only
# record --files: what is behind descriptors, and which names calls have, from the kernel's functions that know it.
scenario() {
	[ -e $T/kprobe_events ] && grep -q ' fd_install$' /proc/kallsyms || { skip "record --files" "this kernel has no probes"; return; }
	remember
	mkdir -p /tmp/f/a/b/c/d/e/f/g
	echo text > /tmp/f/a/b/c/d/e/f/g/deep
	cat > /tmp/f/script <<-'END'
		exec 5< /etc/passwd 6> /tmp/f/out
		cat <&5 >&6
		cat /nonexistent
		cd /tmp/f/a/b
		cat /tmp/f/a/b/c/d/e/f/g/deep c/d/e/f/g/deep | cat > /tmp/f/copy
		rm /tmp/f/copy
	END
	record "weft records which files are behind descriptors" 0 --files -e syscalls -- sh /tmp/f/script
	text
	check "its own events are not in the text" lacks /tmp/r.txt 'fd_install|getname|task_newtask'
	weft report --instance weft/files /tmp/r.dat > /tmp/f/own 2>&1
	check "they are in a buffer of weft's own" matches /tmp/f/own 'fd_install: .*fd='
	weft syscalls --trace -i /tmp/r.dat > /tmp/f/trace 2> /tmp/f/err
	check "weft syscalls --trace reads it" status_is $? 0 /tmp/f/err
	check "an argument has its name" matches /tmp/f/trace 'openat\(.*"/nonexistent".*ENOENT'
	check "a relative one, too" matches /tmp/f/trace '"c/d/e/f/g/deep"'
	check "what was opened has a name" matches /tmp/f/trace '= [0-9]+<(/|\.\.\.)[^>]*passwd>'
	check "what was opened before an exec has it, too" matches /tmp/f/trace 'read\(fd: 0<(/|\.\.\.)[^>]*passwd>|sendfile.*in_fd: 0<(/|\.\.\.)[^>]*passwd>'
	check "so has what is written to" matches /tmp/f/trace '(write\(fd: 1|out_fd: 1)<(/tmp/f|\.\.\.)/out>'
	check "a path of many directories is whole" matches /tmp/f/trace '= 3</tmp/f/a/b/c/d/e/f/g/deep>|= 3<\.\.\.[a-g/]*/deep>'
	if [ -e /sys/kernel/btf/vmlinux ]; then
		check "a pipe is one" matches /tmp/f/trace '(fd: 0|in_fd: 0)<pipe:\[[0-9]+\]>'
	fi
	check "a removed file has its name" matches /tmp/f/trace 'unlink(at)?\(.*"/tmp/f/copy"'
	check "no descriptor of these is unknown" lacks /tmp/f/trace "-$(sed -n 's/.*task_newtask: pid=\([0-9]*\).*/\1/p' /tmp/f/own | head -n 1) .*openat.*\(unknown\)"
	 cp /tmp/r.dat $OUT/
	# What tasks did with one file: strace -P /tmp/f/copy shows calls of these two alone.
	record "files and what tasks did" 0 --files -e syscalls -e sched -- sh /tmp/f/script
	for part in sched:tasks tasks:tasks syscalls:syscalls; do
		by=''
		[ "$part" != syscalls:syscalls ] || by='--by task'
		# shellcheck disable=SC2086 # words
		weft ${part%:*} $by --file /tmp/f/copy --top 0 --table ${part#*:} --format csv /tmp/r.dat > /tmp/f/rows 2> /tmp/err
		check "weft ${part%:*} --file reads it" status_is $? 0 /tmp/err
		check "--file leaves the tasks that used the file: ${part%:*}" equal "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "comm") at = i; next } { print $at }' /tmp/f/rows | sort -u | tr '\n' ' ')" "cat rm "
	done
	check "report has what they did inside the calls" equal "$(weft report --file /tmp/f/copy -e 'sys_enter_*' /tmp/r.dat | grep -c ': sys_')" "$(weft syscalls --trace --file /tmp/f/copy /tmp/r.dat 2> /dev/null | grep -c ') = ')"
	if command -v ranges > /dev/null && [ -e $T/events/syscalls/sys_enter_close_range ]; then
		record "close_range() is recorded" 0 --files -e syscalls -- ranges
		weft syscalls --trace -i /tmp/r.dat 2> /tmp/f/err | grep -E ' (ranges|exe)-[0-9]+ +fcntl\(fd: 1[0-4]' > /tmp/f/asked
		check "its program asked 25 times" equal "$(grep -c . /tmp/f/asked)" 25
		check "what is closed has no name" lacks /tmp/f/asked '<.*= -1 EBADF'
		check "what is open has one" equal "$(grep -cE 'fd: 1[0-4]<(/|\.\.\.)[^>]*passwd>.* = [01] ' /tmp/f/asked)" "$(grep -vc EBADF /tmp/f/asked)"
	fi
	unchanged "probes and instances of weft's own go with the recording"
}
