# SPDX-License-Identifier: GPL-2.0-only
# Ten questions that people ask of a trace, each in at most two commands, about a workload whose answers are known.

# ask COMMAND...: writes the answer to /tmp/a.csv
ask() {
	case $1 in
	diff) weft "$@" --format csv ;;
	*) tables "$@" ;;
	esac > /tmp/a.csv 2> /tmp/r.err
	check "weft $1 answers" status_is $? 0 /tmp/r.err
}
# column NAME: prints its number in the first table; cell ROW NAME: prints this cell
column() { head -n 1 /tmp/a.csv | tr , '\n' | grep -n -x "$1" | cut -d: -f1; }
cell() { awk -F, -v c="$(column "$2")" -v n="$1" 'NR == n + 1 { print $c }' /tmp/a.csv; }
# among PATTERN WHAT: a row of the first table matches the pattern
among() { awk '/^$/ { exit } 1' /tmp/a.csv | grep -Eq "$1" || { head -n 5 /tmp/a.csv; return 1; }; }

workload() {
	# A reader that is woken 150 times, on a CPU that another task wants, too.
	cat > /tmp/reader <<-'EOF'
		printf reader > /proc/$$/comm
		while read -r line; do :; done
	EOF
	cat > /tmp/hog <<-'EOF'
		printf hog > /proc/$$/comm
		n=0
		while [ $n -lt 12000 ]; do n=$((n + 1)); done
	EOF
	# An interrupt's thread, as far as its name and priority go.
	cat > /tmp/thread <<-'EOF'
		printf irq/9-probe > /proc/$$/comm
		: > /tmp/thread.up
		n=0
		while [ $n -lt 4000 ]; do n=$((n + 1)); done
	EOF
	cat > /tmp/rt <<-'EOF'
		printf control > /proc/$$/comm
		: > /tmp/rt.up
		while read -r line; do :; done
	EOF
	cat > /tmp/work <<-'EOF'
		[ ! -e /dev/vda ] || dd if=/dev/zero of=/dev/vda bs=8k count=16 seek=40 oflag=direct 2> /dev/null
		[ ! -e /dev/vda ] || dd if=/dev/zero of=/dev/vda bs=1k count=4 seek=40 oflag=direct 2> /dev/null
		sleep 0.05
		weft mark -B ten here
		taskset 1 sh /tmp/hog &
		n=0
		while [ $n -lt 150 ]; do n=$((n + 1)); usleep 500; echo $n; done | taskset 1 sh /tmp/reader
		wait
		# The thread spins when the real-time task is woken.
		mkfifo /tmp/lines
		chrt -f 50 taskset 2 sh /tmp/rt < /tmp/lines &
		exec 3> /tmp/lines
		while [ ! -e /tmp/rt.up ]; do taskset 1 usleep 1000; done
		chrt -f 60 taskset 2 sh /tmp/thread 3>&- &
		while [ ! -e /tmp/thread.up ]; do taskset 1 usleep 1000; done
		taskset 1 sh -c 'echo 1 >&3'
		exec 3>&-
		wait
	EOF
}

of_tasks() {
	record "weft records the workload with stacks" 0 -B ten -b 16M -T -e sched -e raw_syscalls -e block -- sh /tmp/work
	check "it lost nothing" matches /tmp/r.err ' 0 lost'

	if [ -e /dev/vda ]; then
		ask block /tmp/r.dat --by task --operation write --sort bytes
		check "1: who wrote most to the disk" equal "$(cell 1 comm) $(cell 1 bytes)" "dd 131072"
		check "1: and who wrote less" equal "$(cell 2 comm) $(cell 2 bytes)" "dd 4096"
		check "1: how long its requests took" test "$(cell 1 q2c_max_ns)" -gt 0
	else
		skip "1: who wrote most to the disk" "a guest without a disk"
	fi

	ask sched /tmp/r.dat --comm reader
	check "2: the 99th percentile of the reader's wakeups" test "$(cell 1 delays)" -ge 100 -a "$(cell 1 delay_p99_ns)" -gt 0
	ask latency /tmp/r.dat --comm reader
	check "2: and why it waited" among '(the task before it: |hog)'

	ask syscalls /tmp/r.dat --longer 10ms
	awk '/^lasted_ns,/ { on = 1 } on' /tmp/a.csv > /tmp/slow.csv
	check "3: calls over 10 ms, where they were blocked, and who ended it" \
		awk -F, '/nanosleep,0,sleep,/ && /,an interrupt,/ && /hrtimer_nanosleep/ && $1 > 50000000 { found = 1 } END { exit !found }' /tmp/slow.csv

	ask sched /tmp/r.dat --idle-while-waiting
	check "4: which CPU was idle while hog and reader waited for CPU 0" among '^(reader|hog),[0-9]+,0,1,'

	ask sched /tmp/r.dat --every 20ms --sort switches
	check "5: the switches of each interval are those of all" equal \
		"$(awk -F, '/^since,until,cpu,/ { on = 1; next } /^$/ { on = 0 } on { n += $10 } END { print n }' /tmp/a.csv)" \
		"$(weft sched /tmp/r.dat --table cpus --format csv | awk -F, 'NR > 1 { n += $8 } END { print n }')"

	ask latency /tmp/r.dat --rt --comm control
	check "8: the interrupt's thread that delayed a real-time task" among 'irq/9-probe'

	weft report -t /tmp/r.dat > /tmp/all.txt 2> /tmp/r.err
	weft report -t /tmp/r.dat --since @mark:here-50ms --until @mark:here 2> /tmp/r.err | grep -v '^#' > /tmp/part.txt
	awk '!/^#/ { match($0, / [0-9]+\.[0-9]+: /); if (RSTART) t = substr($0, RSTART, RLENGTH) + 0 }
		NR == FNR { if (/tracing_mark_write: here/) mark = t; next }
		!/^#/ && t >= mark - 0.05 && t <= mark' /tmp/all.txt /tmp/all.txt > /tmp/want.txt
	check "9: the 50 ms before a marker have events" more "$(wc -l < /tmp/want.txt)" 1
	same "9: they are those of the whole report" /tmp/want.txt /tmp/part.txt
}

regressed() {
	grep -qw function_graph $T/available_tracers || { skip "6: which function regressed" "a kernel without function_graph"; return; }
	record "weft records the old program" 0 -o /tmp/old.dat -b 4M -p function_graph -g vfs_write -g vfs_read -F -- \
		dd if=/dev/zero of=/tmp/regress bs=1k count=400
	record "weft records the new one" 0 -o /tmp/new.dat -b 4M -p function_graph -g vfs_write -g vfs_read -F -- \
		dd if=/dev/zero of=/tmp/regress bs=64k count=400
	ask diff graph /tmp/old.dat /tmp/new.dat
	check "6: which function regressed" among 'vfs_write'
	rm -f /tmp/old.dat /tmp/new.dat /tmp/regress
}

by_process() {
	record "weft records faults, allocations and writes" 0 -b 8M -e exceptions:page_fault_user -e kmem:mm_page_alloc \
		-e syscalls:sys_enter_write -O userstacktrace -O sym-userobj -- \
		sh -c 'printf writer > /proc/$$/comm; for n in 1 2 3; do echo 123; done; echo 1234567 > /dev/null'
	if [ -e $T/events/exceptions/page_fault_user ]; then
		ask stacks /tmp/r.dat --comm writer
		text
		check "7: each user stack of the process's faults" equal \
			"$(awk -F, -v c="$(column count)" -v e="$(column event)" 'NR == 1 { next } /^$/ { exit } $e == "exceptions:page_fault_user" { n += $c } END { print n + 0 }' /tmp/a.csv)" \
			"$(grep -c '^ *writer-.*: page_fault_user: ' /tmp/r.txt)"
	else
		skip "7: each user stack of the process's faults" "a kernel without the event"
	fi
	weft hist -i /tmp/r.dat syscalls:sys_enter_write --keys common_pid.execname,count > /tmp/h.txt 2> /tmp/r.err
	check "10: the sizes of a process's writes" status_is $? 0 /tmp/r.err
	check "10: three of four bytes" grep -Eq '^writer-[0-9]+ +4 +3( |$)' /tmp/h.txt
	check "10: and one of eight" grep -Eq '^writer-[0-9]+ +8 +1( |$)' /tmp/h.txt
}

scenario() {
	workload
	of_tasks
	regressed
	by_process
}
