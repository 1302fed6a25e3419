# SPDX-License-Identifier: GPL-2.0-only
# limit: 1800
# The eight questions of weft-tutorial(7) and the ten of ten-questions, typed on a terminal of 80 columns in a userland of
# Debian, each with no other program than grep behind a pipe. Each answer has to name what the workload did, and to fit.
# Most of the time goes into the fifth question, for which each function of the kernel is patched.
. /host/scenarios/tutorial.sh
R=/tmp/debian
DESK=/tmp/desk

# enter: makes Debian's userland the root of what is typed
enter() {
	local dir

	cp -a /host/debian $R || return
	mkdir -p $R/proc $R/sys $R/dev $R/tmp $R$DESK/music/album $R$DESK/disk
	mount -t proc proc $R/proc
	mount -t sysfs sys $R/sys
	mount -t tracefs nodev $R/sys/kernel/tracing
	mount -t devtmpfs dev $R/dev
	mkdir -p $R/dev/pts
	mount -t devpts -o ptmxmode=666 pts $R/dev/pts
	[ -e $R/dev/ptmx ] || ln -s pts/ptmx $R/dev/ptmx
}
leave() {
	local dir

	umount $R$DESK/disk 2> /dev/null
	for dir in dev/pts dev sys/kernel/tracing sys proc; do umount $R/$dir; done
}

# typed COMMAND: what a terminal of 80 columns shows of it goes to /tmp/said, its status to $status
typed() {
	printf 'stty cols 80 rows 50\ncd %s || exit\n%s\n' $DESK "$1" > $R/tmp/typed
	chroot $R /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=xterm PAGER=cat HOME=/root \
		/usr/bin/script -qec 'sh /tmp/typed' /dev/null < /dev/null > /tmp/said.raw
	status=$?
	tr -d '\r' < /tmp/said.raw > /tmp/said
}

# fits: no line of an answer is longer than the terminal. Events as the kernel prints them are as long as they are.
fits() {
	case $1 in
	*"weft report"* | *" record "* | *"weft start"* | *"weft extract"* | *"weft reset"* | ./*) return 0 ;;
	esac
	awk 'length > 80 { print; bad = 1 } END { exit bad }' /tmp/said
}

# alone COMMAND: behind a pipe is only grep
alone() { ! printf '%s\n' "$1" | sed "s/'[^']*'//g" | grep -q '|[ ]*[^g |]'; }

# ask COMMAND [REGEX...]: types it; the answer has a line that matches each of these
ask() {
	local command="$1" want=0 regex

	shift
	case $command in *"ls music missing" | *"./build") want=any ;; esac
	typed "$command"
	cp /tmp/said "$OUT/said.$((asked += 1))"
	[ $want = any ] || check "$command" status_is $status $want /tmp/said
	check "$command: alone" alone "$command"
	check "$command: fits 80 columns" fits "$command"
	for regex in "$@"; do check "$command: $regex" matches /tmp/said "$regex"; done
}

# truth COMMAND: sets $REGEX1 and $REGEX2 to what the workload makes true of the answer
truth() {
	REGEX1='' REGEX2=''
	case $1 in
	"weft syscalls --comm ls --top 4 demo.dat") REGEX1='^execve +1 +0 ' ;;
	"weft syscalls --comm ls --by errno demo.dat") REGEX1='^[a-z0-9]+ +ENOENT +[0-9]+ ' ;;
	"weft why --wakeup "*) REGEX1='^ *[0-9.]+ m?s .* player .* waited +behind hog' ;;
	"weft why "*) REGEX1='^# [0-9]+ % of the .*: sleep-[0-9]+ slept on its own timer' ;;
	"weft tasks "*) REGEX1='^ +grep +[0-9]+ .* 1 +0 ' REGEX2='^ +link +[0-9]+ .* 1 +2 ' ;;
	"weft report --limit"*) REGEX1='do_sys_openat2\(\) \{' ;;
	"weft graph "*) REGEX1='^ +[0-9]+ +.* do_sys_openat2$' ;;
	"weft block "*) REGEX1='^dd +[0-9]+ +write ' ;;
	"weft hist "*) REGEX1='^[0-9]+ - [0-9]+ +[0-9]+ +#' REGEX2='[0-9]+ hits in [0-9]+ rows, 0 dropped' ;;
	*"--by errno --comm ls moment.dat") REGEX1='^[a-z0-9]+ +ENOENT ' ;;
	esac
}

# concert COMMAND: on a busy machine all pieces may come before the player waits for one, and then nothing is late
concert() {
	local tries=0

	until chroot $R sh -c "cd $DESK && weft latency --comm player late.dat" 2> /dev/null | grep -q 'player .*hog-' || [ $tries = 8 ]; do
		rm -f $R$DESK/ready
		typed "$1"
		tries=$((tries + 1))
	done
	check "$1" status_is $status 0 /tmp/said
	check "$1: there is such a wait, after $tries tries" [ $tries != 8 ]
}

of_tutorial() {
	# The first one shows a file that the second one makes.
	commands /host/weft-tutorial.7 | awk 'NR == 1 { first = $0; next } 1; END { print first }' > /tmp/commands
	for name in $(sed -n 's/^\.\\" file: //p' /host/weft-tutorial.7); do
		file /host/weft-tutorial.7 "$name" > "$R$DESK/$name"
		chmod +x "$R$DESK/$name"
	done
	# So that this is the longest call also where a busy machine takes long to start cp.
	sed -i 's/^sleep 0.3$/sleep 5/' $R$DESK/confd
	echo one > $R$DESK/music/one.ogg
	mkfifo $R$DESK/ask $R$DESK/reply
	# Debian's kernel has ext4 as a module, which this guest lacks.
	if ! { chroot $R mke2fs -q -F -t ext4 /dev/vda && mount -t ext4 /dev/vda $R$DESK/disk; } > /tmp/disk.out 2>&1; then
		printf '#!/bin/sh\ndd if=/dev/zero of=/dev/vda bs=64k count=8 oflag=direct\n' > $R$DESK/backup
	fi
	while read -r command; do
		case $command in *disk.dat*) lacking='' ;; *) lacking=$(lacks_for "$command") ;; esac
		[ -z "$lacking" ] || { skip "$command" "$lacking"; continue; }
		case $command in *"./deploy"*) chroot $R sh -c "cd $DESK && ./confd" & ;; esac
		truth "$command"
		case $command in *./concert) concert "$command"; continue ;; esac
		ask "$command" ${REGEX1:+"$REGEX1"} ${REGEX2:+"$REGEX2"}
		wait
	done < /tmp/commands
}

# The workload of ten-questions, with Debian's programs.
work_of_ten() {
	cat > $R$DESK/reader <<-'END'
		printf reader > /proc/$$/comm
		while read -r line; do :; done
	END
	cat > $R$DESK/hog10 <<-'END'
		printf hog > /proc/$$/comm
		n=0
		while [ $n -lt 30000 ]; do n=$((n + 1)); done
	END
	cat > $R$DESK/thread <<-'END'
		printf irq/9-probe > /proc/$$/comm
		: > thread.up
		while [ ! -e sent ]; do :; done
		n=0
		while [ $n -lt 4000 ]; do n=$((n + 1)); done
	END
	cat > $R$DESK/rt <<-'END'
		printf control > /proc/$$/comm
		: > rt.up
		while read -r line; do :; done
	END
	cat > $R$DESK/work <<-'END'
		dd if=/dev/zero of=/dev/vda bs=8k count=16 seek=40 oflag=direct 2> /dev/null
		sleep 0.05
		weft mark -B ten here
		taskset 1 sh ./hog10 &
		n=0
		while [ $n -lt 60 ]; do n=$((n + 1)); sleep 0.0005; echo $n; done | taskset 1 sh ./reader
		wait
		# The thread spins until the real-time task was woken, and a while longer.
		mkfifo lines
		chrt -f 50 taskset 2 sh ./rt < lines &
		exec 3> lines
		while [ ! -e rt.up ]; do taskset 1 sleep 0.001; done
		chrt -f 60 taskset 2 sh ./thread 3>&- &
		while [ ! -e thread.up ]; do taskset 1 sleep 0.001; done
		taskset 1 sh -c 'echo 1 >&3; : > sent'
		exec 3>&-
		wait
	END
	cat > $R$DESK/writer <<-'END'
		printf writer > /proc/$$/comm
		for n in 1 2 3; do echo 123; done
		echo 1234567 > /dev/null
	END
}

of_ten() {
	work_of_ten
	ask "weft record -o ten.dat -B ten -b 16M -T -e sched -e raw_syscalls -e block -- sh ./work" ' 0 lost$'
	ask "weft block ten.dat --by task --operation write --sort bytes --table requests" '^dd +[0-9]+ +write +16 +128'
	ask "weft sched ten.dat --comm reader --table tasks" '^reader +[0-9]+ '
	ask "weft latency ten.dat --comm reader" '^ *[0-9.]+ [mu]?s +reader .*(the task before it: |hog)'
	ask "weft syscalls ten.dat --longer 10ms --comm sleep --table slowest" '^ *[0-9.]+ ms +clock[^ ]* +0 +sleep '
	ask "weft sched ten.dat --idle-while-waiting" '^(reader|hog) '
	ask "weft sched ten.dat --every 100ms --table cpus" '^  0 '
	ask "weft latency ten.dat --rt --comm control" 'irq/9-probe'
	ask "weft report ten.dat --since @mark:here-50ms --until @mark:here" 'tracing_mark_write.*here'
	grep -qw function_graph $T/available_tracers || { skip "which function regressed" "a kernel without function_graph"; return; }
	ask "weft record -o old.dat -b 4M -p function_graph -l vfs_write -- dd if=/dev/zero of=regress bs=1k count=100"
	ask "weft record -o new.dat -b 4M -p function_graph -l vfs_write -- dd if=/dev/zero of=regress bs=64k count=100"
	ask "weft diff graph old.dat new.dat" 'vfs_write'
	ask "weft record -o faults.dat -b 8M -e exceptions:page_fault_user -e syscalls:sys_enter_write -O userstacktrace -- sh ./writer"
	ask "weft stacks faults.dat --comm writer" 'exceptions:page_fa'
	ask "weft hist -i faults.dat syscalls:sys_enter_write --keys common_pid.execname,count" '^writer-[0-9]+ +4 +3( |$)' '^writer-[0-9]+ +8 +1( |$)'
}

scenario() {
	local command lacking name status asked=0 REGEX1 REGEX2

	[ -d /host/debian ] || { skip "everything" "$(tail -n 1 /host/debian.lacking 2>&1)"; return; }
	check "there is a userland of Debian" enter || return
	# An emulator that is busy with other guests takes long to patch each function of this kernel.
	[ ! -e /proc/sys/kernel/watchdog_thresh ] || echo 60 > /proc/sys/kernel/watchdog_thresh
	of_tutorial
	of_ten
	[ ! -e /proc/sys/kernel/watchdog_thresh ] || echo 10 > /proc/sys/kernel/watchdog_thresh
	leave
}
