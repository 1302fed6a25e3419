#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft in place of trace-cmd: its command line, and its text. tests/peers/texts compares the texts with each option.
load lib

demo=tests/fixtures/demo.dat

@test "trace-cmd report: the lines of trace-cmd, with the texts of its plugins" {
	weft trace-cmd report $demo > "$BATS_TEST_TMPDIR/text"
	[ "$(head -n 3 "$BATS_TEST_TMPDIR/text")" = "$(printf '%s\n' 'cpus=2' \
		'            weft-64    [001]     4.468163: sched_waking:         comm=weft pid=65 prio=120 target_cpu=001' \
		'            weft-64    [001]     4.469206: sched_wakeup:         weft:65 [120] CPU:001')" ]
	[ "$(wc -l < "$BATS_TEST_TMPDIR/text")" = 131 ]
	weft report --format trace-cmd $demo | cmp - "$BATS_TEST_TMPDIR/text"
	ln -s "$(command -v weft)" "$BATS_TEST_TMPDIR/trace-cmd"
	"$BATS_TEST_TMPDIR/trace-cmd" report -i $demo | cmp - "$BATS_TEST_TMPDIR/text"
}

@test "trace-cmd report: the same text from any number of threads" {
	local file
	for file in $demo tests/fixtures/golden/6.12-function_graph.dat tests/fixtures/golden/6.12-function.dat; do
		weft report --threads 3 --format trace-cmd $file | cmp - <(weft report --threads 1 --format trace-cmd $file)
	done
}

@test "trace-cmd report: trace.dat is the default, options may be abbreviated, and wrong ones end with 255" {
	cp $demo "$BATS_TEST_TMPDIR/trace.dat"
	cd "$BATS_TEST_TMPDIR"
	weft trace-cmd report | diff - <(weft trace-cmd report trace.dat)
	weft trace-cmd report --ts-d | diff - <(weft trace-cmd report --ts-diff)
	run -255 weft trace-cmd report -Z
	run -255 weft trace-cmd report --no-such-option
	run -255 weft trace-cmd
	run -255 weft trace-cmd nonsense
	run -2 weft trace-cmd report /nonexistent
	run -255 weft trace-cmd report -i trace.dat other.dat
	weft trace-cmd report trace.dat other.dat 2> told | diff - <(weft trace-cmd report trace.dat)
	grep -q "'other.dat' is left out" told
}

@test "trace-cmd report -i A -i B: the events of all files by time, each line with the name of its file" {
	local a=$demo b=tests/fixtures/golden/6.12-events-sched.dat options
	weft trace-cmd report -i $a -i $b > "$BATS_TEST_TMPDIR/both"
	[ "$(head -n 2 "$BATS_TEST_TMPDIR/both")" = "$(printf '%21s: cpus=2\n' demo.dat 6.12-events-sched.dat)" ]
	sed -n 's/^ *demo.dat: //p' "$BATS_TEST_TMPDIR/both" | diff - <(weft trace-cmd report $a)
	sed -n 's/^ *6.12-events-sched.dat: //p' "$BATS_TEST_TMPDIR/both" | diff - <(weft trace-cmd report $b)
	weft trace-cmd report -i $a -i $b --align-ts | sed -n 3p | grep -q '6.12-events-sched.dat: .* 0\.000000: '
	weft trace-cmd report -i $a --ts-offset 1000000000 -i $b | grep -q 'demo.dat: .* 5\.468163: sched_waking'
	for options in -w "-F sched_switch" "--ts2secs 1000" -E; do
		# shellcheck disable=SC2086
		run -255 weft trace-cmd report -i $a -i $b $options
	done
	run -2 weft trace-cmd report -i $a -i /nonexistent
	need_command trace-cmd
	# trace-cmd's letters of states are the known difference.
	for options in "" -t -R -l --ts-diff "-i $a" --align-ts; do
		# shellcheck disable=SC2086
		diff <(weft trace-cmd report -i $a -i $b $options) <(trace-cmd report -i $a -i $b $options 2> /dev/null) \
			> "$BATS_TEST_TMPDIR/differences" || true
		[ -z "$(grep '^[<>]' "$BATS_TEST_TMPDIR/differences" | grep -v sched_switch)" ]
	done
}

@test "trace-cmd report -F: events and expressions of trace-cmd's filters" {
	weft trace-cmd report $demo | grep ' sched_switch: ' > "$BATS_TEST_TMPDIR/switches"
	weft trace-cmd report -F sched_switch $demo | sed 1d | diff - "$BATS_TEST_TMPDIR/switches"
	weft trace-cmd report -F 'sched/sched_switch:next_pid == 65' $demo | sed 1d | diff - <(grep '==> [^ ]*:65 ' "$BATS_TEST_TMPDIR/switches")
	weft trace-cmd report -F 'sched_switch:next_comm =~ "^l.*"' $demo | sed 1d | diff - <(grep '==> l' "$BATS_TEST_TMPDIR/switches")
	weft trace-cmd report -v -F sched_switch $demo | diff - <(weft trace-cmd report $demo | grep -v ' sched_switch: ')
	weft trace-cmd report -F '.*:COMM == "ls"' $demo | sed 1d | diff - <(weft trace-cmd report $demo | grep '^ *ls-')
	run -255 weft trace-cmd report -F no_such_event $demo
}

# LISA's parser gives each event of the file that it knows with an -r of its own.
@test "trace-cmd report -r: any number of events, also unknown ones" {
	local options=() event
	for event in $(weft trace-cmd report -N -E -- $demo | cut -d : -f 2) no_such_event; do
		options+=(-r "$event")
	done
	[ ${#options[@]} -gt 1200 ]
	weft trace-cmd report -N -t "${options[@]}" -- $demo > "$BATS_TEST_TMPDIR/raw"
	grep -q 'sched_waking: *comm=weft pid=65 prio=120 target_cpu=001$' "$BATS_TEST_TMPDIR/raw"
	command -v trace-cmd > /dev/null || skip "trace-cmd is not installed"
	trace-cmd report -N -t "${options[@]}" -- $demo 2> /dev/null | diff - "$BATS_TEST_TMPDIR/raw"
}

# The differences of tests/peers/known, each with the kernel's own text as the judge.
@test "where trace-cmd's text is wrong weft prints what the kernel does" {
	need_command trace-cmd
	# A state: I is the idle kthread's of the kernel's text, W of trace-cmd's.
	weft report $demo | grep -q 'prev_comm=rcu_preempt prev_pid=[0-9]* prev_prio=120 prev_state=I '
	weft trace-cmd report $demo | grep -q 'sched_switch: *rcu_preempt:[0-9]* \[120\] I ==> '
	trace-cmd report -i $demo 2> /dev/null | grep -q 'sched_switch: *rcu_preempt:[0-9]* \[120\] W ==> '
	# The exit of a call is that of its own CPU.
	local file=tests/fixtures/golden/6.1-rt-function_graph.dat
	trace-cmd report -i $file 2> /dev/null | grep -q '\[001\]    25.759780: funcgraph_entry: .* schedule_idle();$'
	weft trace-cmd report $file | grep -A1 '\[001\]    25.759780: funcgraph_entry: .* schedule_idle() {$' | grep -q '\[000\].* funcgraph_exit: '
	# The time of an event behind an absolute time stamp.
	file=tests/fixtures/golden/6.12-synth-hist
	grep -q ' 21.229925: wakeup_lat: lat=114 ' $file.txt
	weft trace-cmd report $file.dat | grep -q ' 21.229925: wakeup_lat: *lat=114, '
	trace-cmd report -i $file.dat 2> /dev/null | grep -q ' 21.229982: wakeup_lat: *lat=114, '
	# --ts-offset of a single file has no effect there.
	weft trace-cmd report -i $demo --ts-offset 1000000000 | grep -q ' 5.468163: sched_waking'
	trace-cmd report -i $demo --ts-offset 1000000000 2> /dev/null | grep -q ' 4.468163: sched_waking'
	# The bytes of a stack end with its record.
	file=tests/fixtures/golden/6.12-event-stacktrace.dat
	weft trace-cmd report -R $file | grep -m1 'kernel_stack: *size=7 ' | tr ',' '\n' | grep -c . | grep -qx $((7 * 8))
	trace-cmd report -R -i $file 2> /dev/null | grep -m1 'kernel_stack: *size=7 ' | tr ',' '\n' | grep -c . | grep -qx 64
}

@test "trace-cmd report: names of tasks that the file lacks come from the events before" {
	# shellcheck disable=SC2016
	weft convert -q -o "$BATS_TEST_TMPDIR/v6.dat" --file-version 6 $demo
	# The list of tasks of version 6 is text: its names are overwritten with another PID.
	LC_ALL=C sed -i 's/^65 ls$/99 ls/' "$BATS_TEST_TMPDIR/v6.dat"
	weft trace-cmd report "$BATS_TEST_TMPDIR/v6.dat" > "$BATS_TEST_TMPDIR/text"
	grep -q '^ *weft-65 ' "$BATS_TEST_TMPDIR/text"
}

# bats test_tags=long
@test "make install TRACE_CMD=1 makes the link and its page, and leaves what stands there" {
	# Another prefix than that of the build would rebuild what the suites beside this one run.
	local dest=$BATS_TEST_TMPDIR/dest
	make -s install PREFIX=/usr/local DESTDIR="$dest" TRACE_CMD=1
	[ "$(readlink "$dest/usr/local/bin/trace-cmd")" = weft ]
	[ -s "$dest/usr/local/share/man/man1/trace-cmd.1" ]
	"$dest/usr/local/bin/trace-cmd" report $demo | grep -q '^cpus=2$'
	make -s install PREFIX=/usr/local DESTDIR="$dest" TRACE_CMD=1
	make -s uninstall PREFIX=/usr/local DESTDIR="$dest"
	[ ! -e "$dest/usr/local/bin/trace-cmd" ]
	mkdir -p "$dest/usr/local/bin"
	echo theirs > "$dest/usr/local/bin/trace-cmd"
	run ! make -s install PREFIX=/usr/local DESTDIR="$dest" TRACE_CMD=1
	[[ "$output" == *"/usr/local/bin/trace-cmd exists"* ]]
	[ "$(cat "$dest/usr/local/bin/trace-cmd")" = theirs ]
}

@test "trace-cmd: commands become those of weft, and what cannot be had is told with what to use" {
	run -255 weft trace-cmd record -N host:1 true
	[[ "$output" == *"record -N cannot be had: "*"ssh"* ]]
	run -255 weft trace-cmd record -A guest true
	[[ "$output" == *"weft merge"* ]]
	run -255 weft trace-cmd profile
	[[ "$output" == *"weft sched"* ]]
	run -255 weft trace-cmd record --no-such-option
	run -255 weft trace-cmd show -Z
	run -255 weft trace-cmd stat -Z
	cd "$BATS_TEST_TMPDIR"
	weft trace-cmd convert -i "$BATS_TEST_DIRNAME/../fixtures/demo.dat" --file-v 6 out.dat
	weft info out.dat | grep -q 'version 6'
	weft trace-cmd dump -i out.dat --summary | grep -q '^		6	.Version.$'
}

@test "trace-cmd record and stream: options, abbreviations and statuses of trace-cmd" {
	need_tracefs
	cd "$BATS_TEST_TMPDIR"
	# Its status is not that of the command; the default file is trace.dat.
	weft trace-cmd record -q -e sched:sched_process_exec -b 500 --file-v 6 sh -c 'exit 3'
	weft info trace.dat | grep -q 'version 6'
	weft trace-cmd report | grep -q 'sched_process_exec: *filename=[^ ]*/sh '
	# The command's own options are its own.
	weft trace-cmd record -q -o other.dat -e sched:sched_process_exec sh -c true -e
	weft trace-cmd report other.dat | grep -q ' sched_process_exec: '
	run -2 weft trace-cmd record -e no_such_event true
	weft trace-cmd stream -e sched:sched_process_exec sh -c true 2> /dev/null | grep -q 'sched_process_exec: *filename=[^ ]*/sh '
	weft trace-cmd list -e '^sched_switch$' | diff - <(echo sched:sched_switch)
	weft trace-cmd list -e 'sched_swi.*' | grep -qx sched:sched_switch
	[ "$(weft trace-cmd show --tracing_on)" = "$(cat /sys/kernel/tracing/tracing_on)" ]
}

@test "trace-cmd: files have the mode that the umask leaves, as those of trace-cmd" {
	cd "$BATS_TEST_TMPDIR"
	local demo=$BATS_TEST_DIRNAME/../fixtures/demo.dat mask
	for mask in 022 077 027; do
		rm -f real.dat out.dat
		(umask $mask; : > real.dat; weft trace-cmd convert -i "$demo" -o out.dat)
		[ "$(stat -c %a out.dat)" = "$(stat -c %a real.dat)" ]
		rm -f part*
		(umask $mask; weft trace-cmd split -i "$demo" -o part -e 100 > /dev/null)
		[ "$(stat -c %a part* | sort -u)" = "$(stat -c %a real.dat)" ]
	done
	weft convert -q -i "$demo" -o own.dat
	[ "$(stat -c %a own.dat)" = 600 ]
}

@test "trace-cmd record: the file has the mode that the umask leaves" {
	need_tracefs
	cd "$BATS_TEST_TMPDIR"
	(umask 022; weft trace-cmd record -q -e sched:sched_process_exec true)
	[ "$(stat -c %a trace.dat)" = 644 ]
}

@test "trace-cmd report --comm: all tasks of a name, however many; -G changes nothing" {
	cd "$BATS_TEST_TMPDIR"
	seq 1000 1999 | awk '{ printf "          worker-%d    [000] .....   %d.000001: tracing_mark_write: hi\n", $1, $1 }
		END { print "           other-77      [000] .....  3000.000001: tracing_mark_write: ho" }' > text
	weft import -q -o many.dat text
	[ "$(weft trace-cmd report --comm worker many.dat | grep -c ' worker-')" = 1000 ]
	[ "$(weft trace-cmd report --comm worker many.dat | grep -c ' other-')" = 0 ]
	[ "$(weft trace-cmd report --comm worker --comm other many.dat | grep -c 'print: ')" = 1001 ]
	[ "$(weft trace-cmd report --pid 1500 many.dat | grep -c 'print: ')" = 1 ]
	weft trace-cmd report -G many.dat | cmp - <(weft trace-cmd report many.dat)
}

@test "trace-cmd dump: the summary and the texts of a file are trace-cmd's" {
	need_command trace-cmd
	local file
	weft convert -q -o "$BATS_TEST_TMPDIR/v6.dat" --file-version 6 $demo
	for file in $demo "$BATS_TEST_TMPDIR/v6.dat" tests/fixtures/golden/6.12-hwlat.dat; do
		weft trace-cmd dump -i "$file" | diff - <(trace-cmd dump -i "$file")
		weft trace-cmd dump -v -i "$file" | diff - <(trace-cmd dump -v -i "$file")
		for part in --cmd-lines --kallsyms --head-page --head-event --ftrace-events --systems --events; do
			weft trace-cmd dump $part -i "$file" | grep -v '^$' |
				diff - <(trace-cmd dump $part -i "$file" | grep -v '^	.Section [0-9]' | grep -v '^$')
		done
	done
	head -c 300000 $demo > "$BATS_TEST_TMPDIR/cut.dat"
	run ! weft trace-cmd dump -v -i "$BATS_TEST_TMPDIR/cut.dat"
}

@test "trace-cmd sqlhist, weft hist --sql: a query becomes commands, and a wrong one has a caret" {
	need_tracefs
	local query='SELECT start.pid AS who, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS lat FROM sched_waking AS start
		JOIN sched_switch AS end ON start.pid = end.next_pid'
	[ "$(weft hist --sql 'SELECT irq FROM irq_handler_entry' --dry-run)" = \
		"echo 'hist:keys=irq' >> /sys/kernel/tracing/events/irq/irq_handler_entry/trigger" ]
	weft hist --sql "$query" --name wake --dry-run > "$BATS_TEST_TMPDIR/script"
	grep -qxF "echo 's:wake pid_t who; u64 lat;' >> /sys/kernel/tracing/dynamic_events" "$BATS_TEST_TMPDIR/script"
	grep -q 'onmatch(sched.sched_waking).wake(.* >> .*/events/sched/sched_switch/trigger$' "$BATS_TEST_TMPDIR/script"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/script")" = 3 ]
	sh -n "$BATS_TEST_TMPDIR/script"
	# The numbers of the library are in its names.
	weft trace-cmd sqlhist -n wake "$query" | tr -d '0-9' | diff - <(tr -d '0-9' < "$BATS_TEST_TMPDIR/script")
	echo "$query" | weft trace-cmd sqlhist -n wake -f - | tr -d '0-9' | diff - <(tr -d '0-9' < "$BATS_TEST_TMPDIR/script")
	run -1 weft hist --sql 'SELECT irq FROM nonesuch'
	[[ "$output" == *$'\nSELECT irq FROM nonesuch\n                ^\n'*"event not found"* ]]
	run -22 weft trace-cmd sqlhist 'SELECT irq, FROM irq_handler_entry'
	[[ "$output" == *"syntax error"* ]]
	# libtracefs 1.6.4 crashes on this one, newer ones do not.
	run weft hist --sql 'SELECT CAST(irq AS _COUNTER_), name FROM irq_handler_entry WHERE irq > 3' --dry-run
	[ "$status" -le 1 ]
	run -255 weft trace-cmd sqlhist -m lat -c lat "$query"
	run -255 weft trace-cmd sqlhist -s "$query"
	run -2 weft hist --sql "$query" --keys pid
	run -2 weft hist irq:irq_handler_entry --keys irq --dry-run
	[ -z "$(grep wake /sys/kernel/tracing/synthetic_events 2> /dev/null)" ]
}

@test "trace-cmd start: filters of one event are all needed, and a mask is hexadecimal" {
	need_tracefs
	weft set -e sched:sched_switch -f '(prev_pid == 1)&&(next_pid == 2)' -M 0x1 --dry-run > "$BATS_TEST_TMPDIR/script"
	grep -qF "echo '(prev_pid == 1)&&(next_pid == 2)' > events/sched/sched_switch/filter" "$BATS_TEST_TMPDIR/script"
	local name=weft-test-$$
	weft trace-cmd start -B $name -e sched_switch -f 'prev_pid == 1' -f 'next_pid == 2' -e sched_waking -f 'pid == 3' -M 1
	local at=/sys/kernel/tracing/instances/$name
	cat $at/events/sched/sched_switch/filter $at/events/sched/sched_waking/filter $at/tracing_cpumask > "$BATS_TEST_TMPDIR/state"
	weft trace-cmd stat -B $name > "$BATS_TEST_TMPDIR/stat"
	weft trace-cmd reset -B $name -b 700
	cat $at/events/sched/sched_switch/filter $at/buffer_size_kb $at/set_event > "$BATS_TEST_TMPDIR/reset"
	weft trace-cmd reset -B $name -d
	[ ! -e $at ]
	weft reset -B $name 2> /dev/null || true
	diff - "$BATS_TEST_TMPDIR/state" <<- 'EOF'
		(prev_pid == 1)&&(next_pid == 2)
		(pid == 3)
		1
	EOF
	grep -qx '  sched:sched_switch "(prev_pid == 1)&&(next_pid == 2)"' "$BATS_TEST_TMPDIR/stat"
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/stat")" = "Instance: $name" ]
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/reset")" = none ]
	[ "$(sed -n 2p "$BATS_TEST_TMPDIR/reset")" -ge 700 ]
	[ "$(wc -l < "$BATS_TEST_TMPDIR/reset")" = 2 ]
}

@test "trace-cmd stat: its text is trace-cmd's" {
	need_tracefs
	need_command trace-cmd
	local name=weft-test-$$
	mkdir /sys/kernel/tracing/instances/$name
	echo 1 > /sys/kernel/tracing/instances/$name/events/irq/enable
	echo 1 > /sys/kernel/tracing/instances/$name/events/sched/sched_switch/enable
	echo 'prev_pid == 1' > /sys/kernel/tracing/instances/$name/events/sched/sched_switch/filter
	echo mono > /sys/kernel/tracing/instances/$name/trace_clock
	echo 1 > /sys/kernel/tracing/instances/$name/tracing_cpumask
	weft trace-cmd stat -B $name > "$BATS_TEST_TMPDIR/ours"
	trace-cmd stat -B $name > "$BATS_TEST_TMPDIR/theirs"
	rmdir /sys/kernel/tracing/instances/$name
	diff "$BATS_TEST_TMPDIR/ours" "$BATS_TEST_TMPDIR/theirs"
}

@test "trace-cmd list: its texts are trace-cmd's" {
	need_tracefs
	need_command trace-cmd
	local line
	while read -r line; do
		eval "set -- $line"
		weft trace-cmd list "$@" > "$BATS_TEST_TMPDIR/ours"
		trace-cmd list "$@" | diff "$BATS_TEST_TMPDIR/ours" - || { echo "list $line"; return 1; }
	done <<- 'EOF'
		-e
		-e sched_switch
		-e '^sched:sched_w'
		-e sched_wak -l
		-e sched_switch -R
		-e sched:sched_switch -F
		-e 'sched_wa.*' -F --full
		-s
		-t
		-p
		-o
		-C
		-O
		-t -C -s
		-e nosuch
	EOF
	weft trace-cmd list | diff - <(trace-cmd list | sed 's/^\tzstd, .*/\tzstd/')
	weft trace-cmd options | diff - <(trace-cmd options)
	run -255 weft trace-cmd list -Z
	run -255 weft trace-cmd list -e '['
}

@test "trace-cmd: a file without any buffer is described, and ends no command by a signal" {
	cd "$BATS_TEST_TMPDIR"
	# The head of version 7, one section of options at 32, and in it only the option that ends them.
	perl -e 'print "\x17\x08\x44tracing7\0\0\x08", pack("L<", 4096), "none\0\0", pack("Q<", 32), pack("S<S<L<Q<S<L<Q<", 0, 0, 0, 14, 0, 8, 0)' > none.dat
	for line in "dump --all" "dump --clock" "dump --summary" "dump --validate" "report --stat" "report --cpus --first-event" "report --check-events" "report --events" "report"; do
		# shellcheck disable=SC2086 # words
		run weft trace-cmd $line none.dat
		[ "$status" -eq 0 ] || [ "$status" -eq 74 ] || { echo "$status: $line: $output"; false; }
	done
	run -74 --separate-stderr weft trace-cmd dump --clock none.dat
	[ "$output" = local ]
	[[ "$stderr" == "weft: 'none.dat' is damaged at offset "* ]]
	run -74 --separate-stderr weft trace-cmd report --cpus none.dat
	[ "$output" = "List of CPUs in none.dat with data:" ]
}
