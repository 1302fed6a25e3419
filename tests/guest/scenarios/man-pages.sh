# SPDX-License-Identifier: GPL-2.0-only
# limit: 900
# Each command line of the manual pages (tests/man-commands), in the order of its page, in a folder of its own: what it
# traces, reads or writes works as the page has it. Programs that the pages name are made up here, files that no line
# before has made are recordings of the folder, and what never ends is ended.
D=/tmp/pages

# made_up: programs by the names that the pages use, which do a little of something
made_up() {
	local name

	rm -rf $D
	mkdir -p $D/bin $D/run
	for name in make benchmark benchmark.new parse parse.new; do
		printf '#!/bin/sh\ncat /proc/version > made; grep -c Linux made; ls / > /dev/null\n' > $D/bin/$name
	done
	# ssh HOST COMMAND... and what reads a pipe
	printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' > $D/bin/ssh
	for name in jq less babeltrace2 sqlite3; do printf '#!/bin/sh\n[ -t 0 ] || cat > /dev/null\n' > $D/bin/$name; done
	chmod +x $D/bin/*
	export PATH=$D/bin:$PATH
}

# begin_page: an empty folder with what the pages take for granted
begin_page() {
	cd $D && weft reset > /dev/null 2>&1
	rm -rf run && mkdir -p run/here && cd run || return
	cp $D/bin/benchmark $D/bin/benchmark.new $D/bin/parse $D/bin/parse.new .
	echo here > here/file
	for file in big.xml state.bin; do echo something > $file; done
	cp $D/all.dat trace.dat
}

# why_not PAGE COMMAND: prints why this cannot run here
why_not() {
	case $2 in
	*/var/crash/* | *"crash.dat" | *"crash.dat |"* | install*) echo "a kernel must die for it (tests/guest/dump, scenario record-panic)" ;;
	*/bin/bash:readline*) echo "no bash in the guest" ;;
	*"--plugin-dir"*) echo "a plugin must be compiled (tests/unit/plugin.c)" ;;
	*"weft trace.dat"* | "weft view"* | "weft top"*) echo "needs a terminal (tests/cases/view-terminal.bats)" ;;
	*"flight explain"*) echo "a flight must have made the file (scenario flight-explain)" ;;
	*"'timerlat>"*) has_tracer timerlat || echo "this kernel has no timerlat" ;;
	*"psi:io"*) [ -e /proc/pressure/io ] || echo "this kernel has no pressure of io" ;;
	*"--decode"* | *'error == "ENOENT"'*) echo "no plugins in the guest (tests/cases/man-examples.bats)" ;;
	*"-B flight --for latency -b 4M"*) [ "$(free -m | awk '/^Mem/ { print $4 }')" -gt 100 ] || echo "little memory" ;;
	*"-p function_graph"*) has_tracer function_graph || echo "this kernel has no function_graph" ;;
	*profile-functions*) [ -e $T/function_profile_enabled ] || echo "this kernel has no profiler of functions" ;;
	*"mark --inject"*) [ -e $T/events/sched/sched_process_exit/inject ] || echo "this kernel injects no events" ;;
	*"-p function"*) has_tracer function || echo "this kernel has no function tracer" ;;
	*"weft stack"*) [ "$1" != stack ] || [ -e $T/stack_trace ] || echo "this kernel has no stack tracer" ;;
	*"-e lock"*) [ -e $T/events/lock ] || echo "this kernel has no events of locks" ;;
	*"-e ext4"*) [ -e $T/events/ext4 ] || echo "this kernel has no events of ext4" ;;
	*snapshot* | "weft extract -s"*) [ -e $T/snapshot ] || echo "this kernel has no snapshots" ;;
	*"weft sql"*) weft sql $D/all.dat 'SELECT 1' > /dev/null 2>&1 || echo "no SQLite here" ;;
	*"--key"* | *"show --hist"*) grep -qs hist $T/events/sched/sched_switch/trigger || echo "this kernel has no histograms" ;;
	esac
}

# ready PAGE COMMAND: makes what the page says exists
ready() {
	local file

	case $2 in
	*"-B foo"*) weft instance create foo ;;
	*"set -B io"*) weft instance create io ;;
	*"-B flight"*) weft instance create flight ;;
	*"show --hist"*) echo 'hist:keys=pid' > $T/events/sched/sched_wakeup/trigger ;;
	*"weft recover trace.dat"*)
		# A recording that was killed, and is the first to have this name
		rm -f trace.dat
		weft record -e sched -- sleep 100 &
		await 'grep -qs 1 $T/instances/weft-*/tracing_on'
		kill -9 $!
		wait $!
		;;
	"weft extract" | "weft extract -s"*) weft start -e sched && weft snapshot take ;;
	"weft extract -B"*) weft start -e sched; weft start -B flight -e sched; sleep 0.1 ;;
	"weft diff graph"*) for file in a1 a2 a3 a4 a5 b1 b2 b3 b4 b5; do cp $D/graph.dat $file.dat; done ;;
	"weft diff sched --per run"*) for file in a1 a2 a3 a4 b1 b2 b3 b4; do cp before.dat $file.dat; done ;;
	*"flight dump"* | *"flight status"*)
		if ! weft flight status; then
			weft flight start -e sched:sched_process_exec -o . &
			flight=$!
			await "weft flight status"
		fi
		;;
	*@mark:late*)
		weft record -q -B late -e sched -o trace.dat -- weft mark -B late late
		;;
	esac > /dev/null 2>&1
	for file in $(echo "$2" | grep -oE '[A-Za-z0-9_./-]+\.dat'); do
		[ -e "$file" ] || echo "$2" | grep -qE -- "-o $file" || cp trace.dat "$file"
	done
}

# ends COMMAND: whether it ends by itself
ends() {
	case $1 in
	*" -- "* | *--duration* | *--dry-run* | *"weft flight dump"* | *"weft flight status"*) ;;
	"weft stream"* | "weft flight start"* | "weft record"*) return 1 ;;
	"weft hist -i"*) ;;
	"weft hist"*) return 1 ;;
	esac
}

run_line() {
	local page="$1" line="$2" status reason

	reason=$(why_not "$page" "$line")
	[ -z "$reason" ] || { skip "$page: $line" "$reason"; return; }
	ready "$page" "$line"
	# The machine is an emulator: what lasts seconds is made shorter.
	line=$(echo "$line" | sed -E 's/(--duration |sleep )(5s|60|10s?|100)/\10.3/g; s/head -5/head -n 5/')
	if ends "$line"; then
		eval "timeout 120 $line" > $D/said 2>&1 < /dev/null
		status=$?
		# diff, bench --fail-if: what they were asked to find is there
		case "$line $status" in *"diff "*--fail-if*" "[13] | *"bench "*--fail-if*" 1") status=0 ;; esac
	else
		eval "exec $line" > $D/said 2>&1 < /dev/null &
		await "[ -n \"\$(ls $T/instances)\" ] || grep -q '^[0-9]' $D/said || grep -qE ' has begun|Ctrl-C' $D/said || ! kill -0 $!"
		kill -TERM $! 2> /dev/null
		wait $!
		status=$?
		case $status in 143) status=0 ;; esac
	fi
	# There is nothing to tell about what this machine did not do.
	grep -q 'none occurred' $D/said && status=0
	case $line in *"grep "*) [ $status != 1 ] || status=0 ;; esac
	check "$page: $2" status_is $status 0 $D/said
}

scenario() {
	local page line last='' flight=''

	has_command start || { skip "everything" "weft has no start"; return; }
	made_up
	remember
	weft record -q -T -e sched -e irq -e raw_syscalls -e syscalls:sys_enter_openat -e syscalls:sys_exit_openat -e kmem:kmalloc -e block -e timer -o $D/all.dat -- \
		sh -c 'make; cp /proc/version /tmp/pages/copy; sync' > /dev/null 2>&1
	has_tracer function_graph && weft record -q -p function_graph -l 'vfs_*' -o $D/graph.dat -- make > /dev/null 2>&1
	echo guest > /etc/hostname
	while IFS="$(printf '\t')" read -r page line; do
		[ "$page" = "$last" ] || begin_page
		last=$page
		run_line "$page" "$line"
		if [ -n "$flight" ] && case $line in *"flight status"*) true ;; *) false ;; esac; then
			kill -TERM "$flight"
			wait "$flight"
			flight=''
		fi
	done < /host/man-commands
	cd /tmp || return
	weft reset > /dev/null 2>&1
	# Some lines make instances, probes and triggers, which stay by their nature. The boot state has another size of buffers.
	weft reset --all --yes --probes > /dev/null 2>&1
	set_to $T/buffer_size_kb "${KB:-512}"
	rm -rf $D
	unchanged "nothing is left"
}
