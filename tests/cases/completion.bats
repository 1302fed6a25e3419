#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

# completes LINE: prints the words that bash offers at the end of the line, one per line
completes()
{
	bash -c '
		. "$BUILD/docs/completions/weft.bash"
		COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=$'\'' \t\n"><=;|&(:'\''
		_weft
		printf "%s\n" "${COMPREPLY[@]}"' - "$1"
}

offers()
{
	completes "$1" | grep -qx -e "$2"
}

@test "bash completes commands" {
	offers 'weft re' report
	offers 'weft re' record
	offers 'weft ' help
	run ! offers 'weft rep' record
}

@test "bash completes the long and short options of the command only" {
	offers 'weft record --ev' --event
	offers 'weft record -' -e
	run ! offers 'weft report -' --duration
}

@test "bash completes events, also behind the colon and behind an equals sign" {
	need_tracefs
	offers 'weft record -e sched' sched
	offers 'weft record -e sched:sched_sw' sched_switch
	offers 'weft record --event=sched:sched_sw' sched_switch
	offers 'weft record -e sched_sw' sched_switch
}

@test "bash completes each of several events with commas between them" {
	local file=$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat
	offers "weft report $file -e sched_wakeup,sched_sw" sched_wakeup,sched_switch
	offers "weft report $file --event=sched_wakeup,sched_sw" sched_wakeup,sched_switch
	# readline replaces what is behind the last colon.
	offers "weft report $file -e sched:sched_wakeup,sched:sched_sw" sched_switch
	offers "weft report $file -e sched:sched_wakeup,sched_sw" sched_wakeup,sched_switch
	run ! offers "weft report $file -e sched_wakeup,sched_sw" sched_switch
}

@test "bash completes tracers, clocks, formats and choices" {
	need_tracefs
	offers 'weft record -p ' nop
	offers 'weft record -C glo' global
	offers 'weft report --format ' ftrace
}

@test "bash completes files of tracefs, triggers and the keys of hwlat" {
	offers 'weft show set_ev' set_event_pid
	offers 'weft help set_ftrace_f' set_ftrace_filter
	offers 'weft help rec' record
	offers 'weft help realt' realtime
	offers 'weft help gui' guides
	offers 'weft record -R st' stacktrace
	offers 'weft start --trigger=enable_h' enable_hist
	offers 'weft record --hwlat wi' width=
	# readline has the word behind the equals sign alone.
	offers 'weft record --hwlat mode=pe' per-cpu
	offers 'weft record --hwlat=mode=pe' per-cpu
	run ! offers 'weft record --osnoise wi' width=
}

@test "bash completes a file for report and a command for record" {
	cd "$BATS_TEST_TMPDIR"
	: > seen.dat
	run bash -c '
		. "$BUILD/docs/completions/weft.bash"
		COMP_LINE="weft report se" COMP_POINT=14
		_weft
		echo "${COMPREPLY[@]}"'
	[[ "$output" == *seen.dat* ]]
	cd "$OLDPWD"
	offers 'weft record -- mkd' mkdir
	offers 'weft record mkd' mkdir
	offers 'weft syscalls -- mkd' mkdir
	offers "weft record --process $(cat /proc/$$/comm)" "$(cat /proc/$$/comm)"
}

@test "bash offers events, fields, tasks, instances and tables of the file that the line names" {
	local file=tests/fixtures/demo.dat
	offers "weft report $file -e sched:sched_sw" sched_switch
	offers "weft report $file --event=sch" sched
	offers "weft report $file -e sched_sw" sched_switch
	offers "weft report $file -f next_" next_comm
	offers "weft sched --sort run $file --comm " rcu_preempt
	run ! offers "weft sched $file --comm " set_event
	offers "weft sched $file --process l" ls
	run ! offers "weft sched $file --process rcu" rcu_preempt
	run ! offers "weft sched $file --process " bats
	offers "weft sched $file --pid " 65
	run ! offers "weft sched $file --pid " $$
	offers "weft sched $file --table c" cpus
	offers "weft report tests/fixtures/golden/6.12-events-sched.dat --comm c" cat
	offers "weft sched none.dat --table c" cpus
	offers "weft why $file --task rcu" rcu_preempt
	offers "weft why $file --call execv" execve
	run ! offers "weft why $file --call " nanosleep
	printf '             t7-7 [001] .... 1%s.000000: tracing_mark_write: %s\n' 0 'B|7|request' 1 'E|7' | weft import -o "$BATS_TEST_TMPDIR/marks.dat" - 2> /dev/null
	offers "weft why $BATS_TEST_TMPDIR/marks.dat --mark re" request
	# The file that is read when none is named.
	BUILD=$(realpath "$BUILD")
	export BUILD
	cp $file "$BATS_TEST_TMPDIR/trace.dat"
	(cd "$BATS_TEST_TMPDIR" && offers 'weft sched --table w' wakeups)
	[ "$(weft list -i $file tasks | sort)" = "$(weft list -i $file tasks -F | cut -f 1 | sort -u)" ]
	[ "$(weft list -i $file -F tasks ls)" = "ls	65" ]
}

@test "bash offers tables without a file, the second file of diff, and arguments by their place" {
	local file=tests/fixtures/demo.dat
	offers 'weft sched --table w' wakeups
	offers 'weft summary --table rec' recording
	offers "weft diff $file tests/fixtures/dem" "$file"
	offers "weft diff sched $file tests/fixtures/dem" "$file"
	offers "weft diff tests/fixtures/dem" "$file"
	offers 'weft diff sche' sched
	run ! offers "weft diff $file sche" sched
	offers 'weft lake ad' add
	offers 'weft lake add tests/fix' tests/fixtures
	offers "weft lake add tests/fixtures tests/fixtures/dem" "$file"
	offers "weft flight explain tests/fixtures/dem" "$file"
	offers "weft sql $file 'select ts from e_sched_sched_sw" 'select ts from e_sched_sched_switch'
	offers "weft report --input=$file -f next_c" next_comm
}

@test "bash offers the fields of the event that hist counts, and the columns of export" {
	local file=tests/fixtures/demo.dat
	offers "weft hist -i $file sched_swi" sched_switch
	run ! offers "weft hist -i $file sched_" sched_pi_setprio_none
	offers "weft hist -i $file sched_switch --keys next_c" next_comm
	run ! offers "weft hist -i $file sched_switch --keys tar" target_cpu
	offers "weft hist -i $file sched_waking --keys pid,tar" pid,target_cpu
	offers "weft hist -i $file sched_switch --values=next_p" next_prio
	offers "weft hist -i $file --latency sched_waking..sched_switch --key ta" target_cpu
	offers "weft export $file --fields ts,next_c" ts,next_comm
	offers "weft export $file --fields ts,contai" ts,container
	offers "weft export --fields=wal" wall
	need_tracefs
	offers 'weft hist sched_switch --keys next_c' next_comm
	offers 'weft record -e sched:sched_switch -f next_c' next_comm
}

@test "bash offers processes and no threads, lists of analyses, conditions and modifiers" {
	printf '%s\n' '             app-60      (   60) [000] .....     1.000001: sched_process_exec: filename=/bin/app pid=60 old_pid=60' \
		'          mix-io-61      (   60) [000] .....     1.000002: tracing_mark_write: two' > "$BATS_TEST_TMPDIR/threads"
	weft import -q -o "$BATS_TEST_TMPDIR/threads.dat" "$BATS_TEST_TMPDIR/threads"
	offers "weft sched $BATS_TEST_TMPDIR/threads.dat --process " app
	run ! offers "weft sched $BATS_TEST_TMPDIR/threads.dat --process " mix-io
	offers "weft report $BATS_TEST_TMPDIR/threads.dat --comm mix" mix-io
	offers 'weft record --for sc' sched
	offers 'weft record --for sched,la' sched,latency
	offers 'weft record --for=sched,la' sched,latency
	offers 'weft flight start --when time' timerlat
	offers "weft hist -i tests/fixtures/demo.dat sched_switch --keys next_pid.he" next_pid.hex
	offers "weft hist -i tests/fixtures/demo.dat sched_switch --keys prev_pid,next_pid.lo" prev_pid,next_pid.log2
	offers "weft hist -i tests/fixtures/demo.dat sched_switch --values next_prio.p9" next_prio.p90
}

@test "zsh and fish offer processes and no threads, lists of analyses, conditions and modifiers" {
	need_command zsh
	need_command fish
	export HOME=$BATS_TEST_TMPDIR
	local file=$PWD/tests/fixtures/demo.dat
	fish_offers() { fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "$argv[1]"' "$1" | cut -f 1 | grep -qxF -- "$2"; }
	printf '%s\n' '             app-60      (   60) [000] .....     1.000001: sched_process_exec: filename=/bin/app pid=60 old_pid=60' \
		'          app-io-61      (   60) [000] .....     1.000002: tracing_mark_write: two' > "$BATS_TEST_TMPDIR/threads"
	weft import -q -o "$BATS_TEST_TMPDIR/threads.dat" "$BATS_TEST_TMPDIR/threads"
	fish_offers "weft sched $BATS_TEST_TMPDIR/threads.dat --process a" app
	run ! fish_offers "weft sched $BATS_TEST_TMPDIR/threads.dat --process a" app-io
	fish_offers 'weft record --for sched,la' sched,latency
	fish_offers 'weft flight --when time' timerlat
	fish_offers "weft hist -i $file sched_switch --keys prev_pid,next_pid.lo" prev_pid,next_pid.log2
	fish_offers "weft hist -i $file sched_switch --values next_prio.perc" next_prio.percent
	[ "$(zsh_line "weft sched $BATS_TEST_TMPDIR/threads.dat --process a\t")" = "weft sched $BATS_TEST_TMPDIR/threads.dat --process app" ]
	[ "$(zsh_line 'weft record --for sched,la\t')" = "weft record --for sched,latency" ]
	[ "$(zsh_line 'weft flight --when time\t')" = "weft flight --when timerlat" ]
	[ "$(zsh_line "weft hist -i $file sched_switch --keys prev_pid,next_pid.lo\t")" = "weft hist -i $file sched_switch --keys prev_pid,next_pid.log2" ]
	[ "$(zsh_line "weft hist -i $file sched_switch --values next_prio.perc\t")" = "weft hist -i $file sched_switch --values next_prio.percent" ]
}

@test "an interactive zsh offers events, fields, tasks and tables of the file that the line names" {
	need_command zsh
	local file=$PWD/tests/fixtures/demo.dat
	[ "$(zsh_line "weft report $file -e sched:sched_swi\t")" = "weft report $file -e sched:sched_switch" ]
	[ "$(zsh_line "weft report $file -e sched_swi\t")" = "weft report $file -e sched_switch" ]
	[ "$(zsh_line "weft report $file -e sched_wakeup,sched_swi\t")" = "weft report $file -e sched_wakeup,sched_switch" ]
	[ "$(zsh_line "weft report $file --event=sched_wakeup,sched:sched_swi\t")" = "weft report $file --event=sched_wakeup,sched:sched_switch" ]
	[ "$(zsh_line 'weft help realt\t')" = "weft help realtime" ]
	[ "$(zsh_line "weft report $file -f next_c\t")" = "weft report $file -f next_comm" ]
	[ "$(zsh_line "weft sched $file --comm rcu\t")" = "weft sched $file --comm rcu_preempt" ]
	[ "$(zsh_line "weft sched $file --table c\t")" = "weft sched $file --table cpus" ]
	[ "$(zsh_line "weft why $file --call execv\t")" = "weft why $file --call execve" ]
}

@test "an interactive zsh offers tables without a file, the second file of diff, fields of hist and columns of export" {
	need_command zsh
	local file=$PWD/tests/fixtures/demo.dat
	[ "$(zsh_line 'weft sched --table w\t')" = "weft sched --table wakeups" ]
	[ "$(zsh_line "weft diff $file $PWD/tests/fixtures/dem\t")" = "weft diff $file $file" ]
	[ "$(zsh_line 'weft diff sche\t')" = "weft diff sched" ]
	[ "$(zsh_line "weft hist -i $file sched_swit\t")" = "weft hist -i $file sched_switch" ]
	[ "$(zsh_line "weft hist -i $file sched_switch --keys next_prio,next_c\t")" = "weft hist -i $file sched_switch --keys next_prio,next_comm" ]
	[ "$(zsh_line "weft export $file --fields ts,next_c\t")" = "weft export $file --fields ts,next_comm" ]
	[ "$(zsh_line "weft sql $file 'select ts from e_sched_sched_sw\t")" = "weft sql $file 'select ts from e_sched_sched_switch'" ]
}

@test "fish offers events, fields, tasks and tables of the file that the line names" {
	need_command fish
	export HOME=$BATS_TEST_TMPDIR file=tests/fixtures/demo.dat
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft report $file -e sched:sched_sw"' | grep -q '^sched:sched_switch'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft report $file -e sched_sw"' | grep -q '^sched_switch'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft report $file -e sched_wakeup,sched_sw"' | grep -q '^sched_wakeup,sched_switch'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft report $file --event=sched_wakeup,sched:sched_sw"' | grep -q '^--event=sched_wakeup,sched:sched_switch'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft help realt"' | grep -q '^realtime'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft report $file -f next_"' | grep -q '^next_comm'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft sched $file --comm rcu"' | grep -q '^rcu_preempt'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft sched $file --table c"' | grep -q '^cpus'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft why $file --call execv"' | grep -q '^execve'
}

@test "fish offers tables without a file, the second file of diff, fields of hist and columns of export" {
	need_command fish
	export HOME=$BATS_TEST_TMPDIR file=tests/fixtures/demo.dat
	fish_offers() { fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "$argv[1]"' "$1" | cut -f 1 | grep -qxF -- "$2"; }
	fish_offers 'weft sched --table w' wakeups
	fish_offers "weft diff $file tests/fixtures/dem" "$file"
	fish_offers 'weft diff sche' sched
	run ! fish_offers "weft diff $file sche" sched
	fish_offers "weft hist -i $file sched_swi" sched_switch
	fish_offers "weft hist -i $file sched_switch --keys next_prio,next_c" next_prio,next_comm
	run ! fish_offers "weft hist -i $file sched_switch --keys tar" target_cpu
	fish_offers "weft export $file --fields ts,next_c" ts,next_comm
	fish_offers "weft sql $file 'select ts from e_sched_sched_sw" 'select ts from e_sched_sched_switch'
}

@test "bash completes nothing of weft behind the command that is recorded" {
	run ! offers 'weft record -- ls --ev' --event
	run ! offers 'weft record ls --ev' --event
}

# bats test_tags=long
@test "bash completes the columns of --sort, which are those of the command's table" {
	offers 'weft sched --sort ' run
	offers 'weft sched --sort=w' w/idle
	run ! offers 'weft sched --sort ' calls
	offers 'weft syscalls --sort on' on_cpu_ns
	# Each column that is offered sorts, and each that an unknown one is answered with is offered, if it is one word.
	sorted=0
	while IFS=$'\t' read -r _ name columns; do
		for file in tests/fixtures/demo.dat tests/fixtures/golden/6.12-function_graph.dat tests/fixtures/golden/*.dat; do
			! weft "$name" "$file" > /dev/null 2>&1 || break
		done
		weft "$name" "$file" > /dev/null 2>&1 || continue
		offered=$(completes "weft $name --sort ")
		for column in ${columns//|/ }; do
			weft "$name" "$file" --sort "$column" > /dev/null
			grep -qx -e "$column" <<< "$offered"
		done
		run -2 --separate-stderr weft "$name" "$file" --sort none-such
		[[ "$stderr" == *"; there are "* ]]
		while read -r column; do
			[[ $column == *' '* || "|$columns|" == *"|$column|"* || $column == errors ]]
		done < <(sed -n 's/.*; there are //p' <<< "$stderr" | sed 's/, /\n/g')
		sorted=$((sorted + 1))
	done < <(weft __describe | grep ^columns)
	[ "$sorted" -ge 7 ]
}

@test "fish completes commands, options and events" {
	need_command fish
	export HOME=$BATS_TEST_TMPDIR
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft re"' | grep -q '^report'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft record --ev"' | grep -q '^--event'
	need_tracefs
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft record -e sched:sched_sw"' | grep -q sched_switch
}

@test "fish completes files of tracefs, triggers and the keys of hwlat" {
	need_command fish
	export HOME=$BATS_TEST_TMPDIR
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft show set_ev"' | grep -q '^set_event_pid'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft help set_ftrace_f"' | grep -q '^set_ftrace_filter'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft record -R st"' | grep -q '^stacktrace'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft record --hwlat mode=pe"' | grep -q '^mode=per-cpu'
}

@test "fish completes formats and choices, and shows descriptions as they are" {
	need_command fish
	export HOME=$BATS_TEST_TMPDIR
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft report --format pre"' | grep -q '^pretty'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft report --format=pre"' | grep -q '^--format=pretty'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft report --color al"' | grep -q '^always'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft irq --sort sou"' | grep -q '^source'
	fish -c 'source $BUILD/docs/completions/weft.fish; complete -C "weft report --even"' | grep -q 'Only EVENT: system:event'
}

# bash_types KEYS: prints the command line of an interactive bash after KEYS were typed
bash_types()
{
	local dir=$BATS_TEST_TMPDIR shell keys
	cat > "$dir/rc" <<-END
		PS1='ready> '
		. $BUILD/docs/completions/weft.bash
		said() { printf '%s\n' "\$READLINE_LINE" > "$dir/line"; exit; }
		bind -x '"\\C-xs": said'
	END
	rm -f "$dir/keys" "$dir/line"
	mkfifo "$dir/keys"
	TERM=vt100 script -qec "bash --noprofile --rcfile $dir/rc -i" /dev/null < "$dir/keys" > "$dir/screen" 3>&- &
	shell=$!
	exec {keys}> "$dir/keys"
	timeout 60 bash -c 'until grep -aq "ready> " "$1"; do sleep 0.05; done' - "$dir/screen"
	printf '%b\030s' "$1" >&"$keys"
	timeout 60 bash -c 'until [ -s "$1" ]; do sleep 0.05; done' - "$dir/line"
	exec {keys}>&-
	wait "$shell" || true
	cat "$dir/line"
}

@test "an interactive bash completes commands, options, formats and choices" {
	need_command script
	[ "$(bash_types 'weft repo\t')" = "weft report " ]
	[ "$(bash_types 'weft report --eve\t')" = "weft report --event " ]
	[ "$(bash_types 'weft report --format pre\t')" = "weft report --format pretty " ]
	[ "$(bash_types 'weft report --format=pre\t')" = "weft report --format=pretty " ]
	[ "$(bash_types 'weft report --color al\t')" = "weft report --color always " ]
	[ "$(bash_types 'weft sched --sort vo\t')" = "weft sched --sort vol " ]
	[ "$(bash_types 'weft sql tests/fixtures/demo.dat "select ts from e_sched_sched_sw\t')" = 'weft sql tests/fixtures/demo.dat "select ts from e_sched_sched_switch" ' ]
}

@test "an interactive bash completes events and clocks" {
	need_command script
	need_tracefs
	[ "$(bash_types 'weft record -C mono\t_\t')" = "weft record -C mono_raw " ]
	[ "$(bash_types 'weft record -e sched:sched_process_fo\t')" = "weft record -e sched:sched_process_fork " ]
	[ "$(bash_types 'weft record --event=sched:sched_process_fo\t')" = "weft record --event=sched:sched_process_fork " ]
}

# zsh_types KEYS: prints what an interactive zsh shows while KEYS are typed, and then "line: " and its command line
zsh_types()
{
	timeout 100 tests/cases/zsh-types "$BUILD/docs/completions" "$1" "$BATS_TEST_TMPDIR/line"
}

zsh_line()
{
	local shown
	shown=$(zsh_types "$1")
	shown=${shown##*line: }
	printf '%s\n' "${shown%"${shown##*[! ]}"}"
}

# bats test_tags=long
@test "an interactive zsh completes commands, options, formats and choices" {
	need_command zsh
	[ "$(zsh_line 'weft repo\t')" = "weft report" ]
	[ "$(zsh_line 'weft help repo\t')" = "weft help report" ]
	[ "$(zsh_line 'weft report --eve\t')" = "weft report --event=" ]
	[ "$(zsh_line 'weft report --format pre\t')" = "weft report --format pretty" ]
	[ "$(zsh_line 'weft report --format=pre\t')" = "weft report --format=pretty" ]
	[ "$(zsh_line 'weft report --color al\t')" = "weft report --color always" ]
	[ "$(zsh_line 'weft list trac\t')" = "weft list tracers" ]
	: > "$BATS_TEST_TMPDIR/seen.dat"
	[ "$(zsh_line "weft report $BATS_TEST_TMPDIR/se\\t")" = "weft report $BATS_TEST_TMPDIR/seen.dat" ]
	[ "$(zsh_line "weft report -i $BATS_TEST_TMPDIR/se\\t")" = "weft report -i $BATS_TEST_TMPDIR/seen.dat" ]
}

# bats test_tags=long
@test "an interactive zsh completes events, tracers and clocks" {
	need_command zsh
	need_tracefs
	[ "$(zsh_line 'weft record -p no\t')" = "weft record -p nop" ]
	[ "$(zsh_line 'weft record -C mono_\t')" = "weft record -C mono_raw" ]
	[ "$(zsh_line 'weft record --clock=mono_\t')" = "weft record --clock=mono_raw" ]
	[ "$(zsh_line 'weft record -e sched:sched_process_fo\t')" = "weft record -e sched:sched_process_fork" ]
	[ "$(zsh_line 'weft record --event=sched:sched_process_fo\t')" = "weft record --event=sched:sched_process_fork" ]
}

# bats test_tags=long
@test "zsh shows descriptions with their colons and brackets" {
	need_command zsh
	zsh_types 'weft report --e\C-d' | grep -q 'Only EVENT: system:event, system or event'
	zsh_types 'weft report --input\C-d' | grep -q '(default: trace.dat)'
	zsh_types 'weft report --format \C-d' | grep -q 'for people: relative times'
}

# hostile_names: makes files whose names are commands, and a command that says that it was called
hostile_names()
{
	cd "$BATS_TEST_TMPDIR" || return
	: > 'file$(touch${IFS}called).dat'
	: > 'name;touch called;.dat'
}

# Runs the command line that a shell has completed, without what it names.
runs_nothing()
{
	[ ! -e "$BATS_TEST_TMPDIR/called" ]
}

@test "bash takes names of events, of instances and of files as names, not as commands" {
	hostile_names
	mkdir -p 'tracefs/instances/$(touch${IFS}called)' 'tracefs/instances/;touch called'
	printf 'sched:sched_switch\nuser_events:$(touch${IFS}called)\nuser_events:`touch${IFS}called`\n' > tracefs/available_events
	printf '[local] $(touch${IFS}called)\n' > tracefs/trace_clock
	cp tracefs/trace_clock tracefs/available_tracers
	printf '$(touch${IFS}called)\n' | tee tracefs/trace_options tracefs/available_filter_functions > /dev/null
	export WEFT_COMPLETIONS=$BUILD/docs/completions/weft.bash
	cat > complete <<-'END'
		. "$WEFT_COMPLETIONS"
		_weft_tracefs() { echo "tracefs/$1"; }
		COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=$' \t\n"><=;|&(:'
		_weft
		printf '%s\n' "${COMPREPLY[@]}"
		# What readline inserts is one word for the shell.
		for word in "${COMPREPLY[@]}"; do
			[[ $1 == 'weft report '* ]] || eval ": $word"
		done
	END
	# What is offered is quoted, except where readline quotes names of files.
	run -0 bash complete 'weft record -e user'
	[[ "$output" == *'user_events:\$\(touch\$\{IFS\}called\)'* ]]
	run -0 bash complete 'weft record -e user_events:'
	[[ "$output" == *'\$\(touch\$\{IFS\}called\)'* ]]
	run -0 bash complete 'weft show -B '
	[ "${#lines[@]}" = 2 ]
	for line in 'weft record -C ' 'weft record -p ' 'weft record -O ' 'weft record -l $' 'weft report ' 'weft report $(touch${IFS}called)' \
		'weft report --format $(touch${IFS}called)' 'weft $(touch${IFS}called)' 'weft report --comm=`touch${IFS}called`' 'weft record -P $(touch${IFS}called)'; do
		run -0 bash complete "$line"
	done
	runs_nothing
}

@test "an interactive bash quotes the names of files" {
	need_command script
	hostile_names
	cd "$OLDPWD"
	[ "$(bash_types "weft report $BATS_TEST_TMPDIR/file\t")" = "weft report $BATS_TEST_TMPDIR/file\\\$\\(touch\\\$\\{IFS\\}called\\).dat " ]
	runs_nothing
}

@test "zsh and fish take the names of files and of instances as names, not as commands" {
	need_command zsh
	need_command fish
	hostile_names
	cd "$OLDPWD"
	export HOME=$BATS_TEST_TMPDIR
	[ "$(zsh_line "weft report $BATS_TEST_TMPDIR/file\t")" = "weft report $BATS_TEST_TMPDIR/file\\\$\\(touch\\\$\\{IFS\\}called\\).dat" ]
	fish -c "source $BUILD/docs/completions/weft.fish; complete --escape -C 'weft report $BATS_TEST_TMPDIR/fi'" | grep -qF 'file\$\(touch'
	runs_nothing
	need_tracefs
	instance='hostile$(touch${IFS}'"$BATS_TEST_TMPDIR"'/called)'
	instance=${instance//\//.}
	mkdir "/sys/kernel/tracing/instances/$instance"
	lines=$(zsh_line 'weft show -B host\t'
		fish -c 'source $BUILD/docs/completions/weft.fish; complete --escape -C "weft show -B host"'
		bash_types 'weft show -B host\t') || true
	rmdir "/sys/kernel/tracing/instances/$instance"
	runs_nothing
	[ "$(grep -cF 'hostile\$\(touch\$' <<< "$lines")" = 3 ]
}

@test "the man pages render without a warning" {
	need_command groff
	for page in man/*.[1-8] "$BUILD"/docs/man/*.[1-8]; do
		run groff -ww -man -z -T utf8 "$page"
		[ "$status" -eq 0 ]
		[ -z "$output" ]
	done
}
