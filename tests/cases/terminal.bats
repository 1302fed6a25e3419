#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Bytes from strangers reach a terminal as text; a file or pipe gets them unchanged. script(1) is the terminal.
load lib
load hostile

setup()
{
	need_command script
	cd "$BATS_TEST_TMPDIR" || return
	local esc=$'\033' bell=$'\a' rlo=$'\342\200\256'
	tiny_tree tree "lo${esc}[31mom"
	printf 'Linux lo%s[32mom 6.1.0%s x86_64\n' "$esc" "$esc" > tree/uname
	tiny_event tree sys plain 2000 '"x=%d %s", REC->x, REC->text' "${esc}]0;mine${bell}"
	tiny_event tree sys "na${esc}[7mme" 2001 "\"${esc}[35mfmt %s${rlo}\", REC->text" $'\302\233m\233m'
	tiny_pack tree odd.dat
}

# on_terminal COMMAND...: prints what arrives at the terminal, without the carriage returns that the terminal driver
# adds before newlines. script runs the words with $SHELL, or with /bin/sh if it is unset; only bash undoes the quotes
# of its own printf.
on_terminal()
{
	SHELL=$BASH script -qec "$(printf '%q ' "$@")" /dev/null < /dev/null | tr -d '\r'
}

# hidden FILE: prints the lines with something that a terminal would obey
hidden()
{
	LC_ALL=C grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]|(^|[^\xc2-\xf4])[\x80-\xbf]' "$1"
}

@test "report: on a terminal nothing of a task's name, an event's name, its print fmt or its strings is obeyed" {
	on_terminal "$WEFT" report odd.dat > shown
	run ! hidden shown
	grep -aqF 'lo\033[31mom-41' shown
	grep -aqF 'x=5 \033]0;mine\007' shown
	grep -aqF '\033[35mfmt \302\233m\233m\342\200\256' shown
}

@test "report: a pager gets nothing that it would let through to the terminal" {
	WEFT_PAGER='cat > paged' TERM=vt100 on_terminal "$WEFT" report odd.dat > shown
	run ! hidden paged
	grep -aqF 'lo\033[31mom-41' paged
	grep -aqF 'x=5 \033]0;mine\007' paged
}

@test "report: into a pipe and a file the bytes are the kernel's" {
	"$WEFT" report odd.dat | cat > piped
	"$WEFT" report odd.dat > file
	cmp piped file
	grep -aqF $'x=5 \033]0;mine\a' file
	grep -aqF $'lo\033[31mom-41' file
	# The lines are the same, except for what is escaped.
	on_terminal "$WEFT" report odd.dat > shown
	[ "$(wc -l < shown)" = "$(wc -l < file)" ]
}

@test "report: a terminal gets a file without anything odd byte for byte" {
	cd - > /dev/null
	on_terminal "$WEFT" report tests/fixtures/demo.dat > "$BATS_TEST_TMPDIR/shown"
	"$WEFT" report tests/fixtures/demo.dat | cmp - "$BATS_TEST_TMPDIR/shown"
}

@test "report --format pretty: the only escape sequences are its own colours, also on the way to a pager" {
	unset NO_COLOR
	TERM=xterm on_terminal "$WEFT" report --format pretty odd.dat > shown
	"$WEFT" report --format pretty --color always odd.dat > paged
	grep -aqF $'\033[2m' shown
	local text
	for text in shown paged; do
		sed -E 's/\x1b\[(0|[127]|3[1-6])m//g' "$text" > plain
		run ! hidden plain
		grep -aqF '\033]0;mine\007' "$text"
		grep -aqF 'lo?[31mom-41' "$text"
		grep -aqF '6.1.0\033' "$text"
	done
}

@test "info, list of settings and stored texts: nothing of the file is obeyed on a terminal" {
	local arguments
	for arguments in '' --settings '--setting current_tracer'; do
		# shellcheck disable=SC2086 # words
		on_terminal "$WEFT" info $arguments odd.dat > shown
		[ -s shown ]
		run ! hidden shown
	done
	on_terminal "$WEFT" info odd.dat | grep -aqF 'lo\033[32mom'
	on_terminal "$WEFT" report --format json odd.dat > shown || true
	run ! hidden shown
}

@test "hist, sql, export, split: nothing of the file is obeyed on a terminal" {
	on_terminal "$WEFT" hist --input odd.dat sys:plain --keys common_pid.execname,text > hist
	on_terminal "$WEFT" sql odd.dat 'select * from ftrace_event, thread' > sql
	on_terminal "$WEFT" export --to csv odd.dat > csv
	on_terminal "$WEFT" export --to jsonl odd.dat > jsonl
	on_terminal "$WEFT" split --by event -o part.dat odd.dat > split
	for shown in hist sql csv jsonl split; do
		# Exports write U+FFFD in place of bytes that are not UTF-8.
		LC_ALL=C sed -i 's/\xef\xbf\xbd//g' "$shown"
		run ! hidden "$shown"
	done
	grep -aqF 'lo\033[31mom' hist
	grep -aqF 'lo\033[31mom' sql
	grep -aqF 'lo\033[31mom' csv
	grep -aqF 'lo\u001b[31mom' jsonl
	grep -aqF 'part.na__7mme.dat' split
}

@test "messages: names of files and arguments are shown on a terminal, not obeyed" {
	local odd=$'no\033]0;mine\asuch\342\200\256'
	for arguments in "report $odd" "info $odd" "check $odd" "report --format $odd odd.dat" "report --$odd" "$odd" "pack $odd" "list $odd"; do
		# shellcheck disable=SC2086 # words
		on_terminal "$WEFT" $arguments > shown || true
		[ -s shown ]
		run ! hidden shown
		grep -aqF '\033]0;mine' shown
	done
	# A pipe gets the bytes unchanged.
	run "$WEFT" report "$odd"
	[ "$status" = 1 ]
	[[ $output = *$'\033]0;mine\a'* ]]
}

# A name with a newline could make a line that looks like one of weft's own.
@test "report: on a terminal a newline in a task's name or a string begins no line; a pipe gets it" {
	tiny_tree lines $'lo\nom'
	tiny_event lines sys plain 2000 '"x=%d %s", REC->x, REC->text' $'a\nb'
	tiny_event lines sys odd 2001 '"%s", no_such_function(REC->x)' $'c\nd'
	tiny_pack lines lines.dat
	local arguments
	for arguments in '' '-O latency-format' '-O latency-format -O verbose' '-O fields' '-O raw' '--format trace_pipe' '--format pretty'; do
		# shellcheck disable=SC2086 # words
		on_terminal "$WEFT" report $arguments lines.dat > shown
		cat shown
		run ! grep -aE '^(om|b$|d)|^ *(b|d"?)$' shown
		[[ $arguments = *raw* ]] || grep -aqF 'a\012b' shown
		[[ $arguments != '' ]] || [ "$(grep -acF 'lo\012om-41' shown)" = 2 ]
	done
	"$WEFT" report lines.dat > file
	grep -qx 'b' file
	[ "$(grep -c '^om-41' file)" = 2 ]
}

@test "messages: on a terminal a newline in a name of a file, an event or an instance begins no line" {
	local odd=$'no\nweft: all is well\n' arguments
	for arguments in report info check pack list "report --format" "report -e" "report -B" "info --setting" "list -B" "stat -B" record stream show \
		extract "extract -B" "record -e" "record -C" "record -p" recover "instance remove" hist "probe add" clear \
		"report --stored" snapshot "mark -B" stack; do
		# shellcheck disable=SC2086 # words
		on_terminal timeout 60 "$WEFT" $arguments "$odd" > shown || true
		[ -s shown ]
		run ! grep -a '^weft: all is well' shown
	done
	on_terminal "$WEFT" report "$odd" > shown || true
	grep -qF "weft: cannot open 'no\\012weft: all is well\\012'" shown
	[ "$(wc -l < shown)" = 1 ]
	run "$WEFT" report "$odd"
	[ "${lines[1]}" = 'weft: all is well' ]
}

@test "usage errors: on a terminal a newline in a word of the command line begins no line" {
	local name=$'a\nFAKE'
	for line in "report --format" "sched --top" "reset" "report --color" "split --by" "nosuch" "record -b"; do
		# shellcheck disable=SC2086 # words
		on_terminal "$WEFT" $line "$name" > shown
		run ! grep -a '^FAKE' shown
		[ "$line" = nosuch ] || grep -aqF 'a\012FAKE' shown || { echo "$line"; cat shown; false; }
		run ! grep -aF '\012'"'weft help" shown
	done
	on_terminal "$WEFT" report "--no$name" > shown
	grep -aqFx "weft report: no option '--noa\\012FAKE'" shown
	grep -aqFx "'weft help report' lists the options." shown
}

@test "info, check: on a terminal a newline in a file's name begins no line" {
	local odd=$'odd\nweft: all is well'
	cp odd.dat "$odd"
	for command in info check; do
		on_terminal "$WEFT" $command "$odd" > shown
		run ! grep -a '^weft: all is well' shown
		grep -qF 'odd\012weft: all is well' shown
	done
	"$WEFT" check "$odd" | grep -a '^weft: all is well'
}

@test "list, instance, stat: on a terminal a newline in an instance's name begins no line" {
	need_tracefs
	local odd="weft-terminal-$$"$'\nweft: all is well'
	mkdir "/sys/kernel/tracing/instances/$odd"
	on_terminal "$WEFT" list instances > shown
	on_terminal "$WEFT" instance >> shown
	on_terminal "$WEFT" stat >> shown
	rmdir "/sys/kernel/tracing/instances/$odd"
	run ! grep -a '^weft: all is well' shown
	[ "$(grep -acF "weft-terminal-$$\\012weft" shown)" -ge 3 ]
}

@test "report, stream: on a terminal a newline in the name of one of several instances begins no line" {
	need_tracefs
	local odd="weft-terminal-$$"$'\nweft: all is well'
	weft record -q -o two.dat -e sched:sched_process_exit -F -B "$odd" -e sched:sched_process_exit -F -- true
	on_terminal "$WEFT" report two.dat > shown
	on_terminal timeout 60 "$WEFT" stream -e sched:sched_process_exit -F -B "$odd" -e sched:sched_process_exit -F -- true >> shown
	run ! grep -a '^weft: all is well' shown
	[ "$(grep -acF "weft-terminal-$$\\012weft: all is well: " shown)" -ge 2 ]
	"$WEFT" report two.dat | grep -q '^weft: all is well: '
}

@test "show: nothing of the kernel's buffer is obeyed on a terminal" {
	need_tracefs
	local instance=weft-terminal-$$
	mkdir "/sys/kernel/tracing/instances/$instance"
	if ! [ -e "/sys/kernel/tracing/instances/$instance/trace_marker" ]; then
		rmdir "/sys/kernel/tracing/instances/$instance"
		skip "an instance has no marker here"
	fi
	printf 'before \033]0;mine\a after\n' > "/sys/kernel/tracing/instances/$instance/trace_marker"
	on_terminal "$WEFT" show -B "$instance" > shown || true
	"$WEFT" show -B "$instance" > file || true
	rmdir "/sys/kernel/tracing/instances/$instance"
	grep -aqF $'before \033]0;mine\a after' file
	grep -aqF 'before \033]0;mine\007 after' shown
	run ! hidden shown
}

@test "stream: nothing of an event is obeyed on a terminal" {
	need_tracefs
	# shellcheck disable=SC2016 # of the inner shell
	on_terminal timeout 60 "$WEFT" stream -F -c -e sched:sched_process_exec -- sh -c 'cp /bin/true "$1/$(printf "we\033]0;x\aft")"; "$1"/we*' - "$BATS_TEST_TMPDIR" > shown
	grep -aqF 'we\033]0;x\007ft' shown
	run ! hidden shown
}

# Of a terminal's lines ($1 columns wide), those that are longer, and have more than one word to break at.
too_long()
{
	awk -v width="$1" -v what="$2" '/^weft: / { next }
		length > width && !(/^#/ && NF < 3) { print what ": " $0; bad = 1 } END { exit bad }'
}

@test "analyses: on a terminal of 60, 80 or 120 columns no line is longer; what a table leaves out is told" {
	command -v script > /dev/null || skip "no script(1)"
	local fixtures=$BATS_TEST_DIRNAME/../fixtures file what width widths=(60 80 120) nr=0
	# Each has one of the widths, the next one another.
	for file in demo golden/6.12-function_graph golden/6.12-osnoise golden/6.12-event-stacktrace golden/6.12-events-irq-timer golden/6.12-events-sched \
		resources/block resources/kmem resources/power; do
		nr=$((nr + 1))
		for what in summary sched syscalls "syscalls --slowest 3" latency irq graph "graph --by errno" block locks stacks memory power tasks "tasks --tree" "tasks --by program" "tasks --by parent"; do
			nr=$((nr + 1)) width=${widths[nr % 3]}
			SHELL=$BASH script -qec "stty cols $width rows 50; PAGER=cat $WEFT $what $fixtures/$file.dat" /dev/null < /dev/null | tr -d '\r' > lines
			too_long $width "$what $file" < lines
		done
	done
}

@test "sched: on a terminal of 60 columns the columns left out are named, titles are whole, and rows differ" {
	command -v script > /dev/null || skip "no script(1)"
	SHELL=$BASH script -qec "stty cols 60 rows 50; PAGER=cat $WEFT sched $BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat" /dev/null < /dev/null | tr -d '\r' > lines
	tr '\n#' '  ' < lines | tr -s ' ' | grep -q 'no room for the columns [A-Z0-9/, ]*WAKEUPS[A-Z0-9/, ]*: a terminal of more than 60 columns or --table tasks --format csv shows them'
	for title in TASK PID RUN CPU SWITCHES COUNT MAX; do grep -qw -- "$title" lines; done
	# The rows of the parts of wakeups keep their names.
	for row in 'waking to queued' 'queued to running' 'waking to running'; do grep -q "^$row " lines; done
}

@test "analyses: the options that show the columns left out are those that the command takes" {
	command -v script > /dev/null || skip "no script(1)"
	local file=$BATS_TEST_DIRNAME/../fixtures/demo.dat what options nr=0
	for what in summary sched "sched --every 20ms" latency why "diff sched $file"; do
		SHELL=$BASH script -qec "stty cols 50 rows 50; PAGER=cat $WEFT $what $file" /dev/null < /dev/null | tr -d '\r' > lines
		sed 's/^#    //' lines | tr '\n' ' ' | grep -oE 'more than 50 columns or (--table [a-z_]+ )?--format csv shows' |
			sed 's/.* or //; s/ shows//' | sort -u > hints
		while read -r options; do
			# shellcheck disable=SC2086 # several words
			weft $what $options "$file" > csv
			grep -q ',' csv
			nr=$((nr + 1))
		done < hints
		[ "$(grep -c 'no room for' lines)" = 0 ] || [ -s hints ]
	done
	[ $nr -ge 6 ]
	# Of one table no name is needed.
	SHELL=$BASH script -qec "stty cols 50; PAGER=cat $WEFT sched --table tasks $file" /dev/null < /dev/null | tr -d '\r' | sed 's/^#    //' | tr '\n' ' ' |
		grep -q 'columns or --format csv shows'
}

@test "analyses: on a terminal a list that is longer than a line goes on behind a comma" {
	command -v script > /dev/null || skip "no script(1)"
	SHELL=$BASH script -qec "stty cols 50 rows 50; PAGER=cat $WEFT latency $BATS_TEST_DIRNAME/../fixtures/demo.dat" /dev/null < /dev/null | tr -d '\r' > lines
	grep -qx '#    QUEUE, IDLE, IRQ, SOFTIRQ, BEFORE, RESCHED,' lines
}
