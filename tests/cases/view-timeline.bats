#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only

load lib
load screens

setup()
{
	need_shared bench/sched-syscalls.dat
	FILE=$BATS_TEST_TMPDIR/sched.dat
	ln -s "$SHARED/bench/sched-syscalls.dat" "$FILE"
}

teardown()
{
	screen_end
}

# All keys were done: the prompt has what was typed last.
screen_done()
{
	screen_keys : here
	screen_await ":here"
	screen_keys Escape
	screen_await_not ":here"
}

# timeline WIDTH HEIGHT [OPTION...]: the time line of the whole file, when it has been read.
timeline()
{
	local width=$1 height=$2
	shift 2
	screen_start "$width" "$height" "$WEFT" view "$@" "$FILE"
	screen_await "1 events"
	screen_keys 2
	screen_await "a column is"
	screen_await_not "~"
}

# to_row NAME: moves down to the row that begins with this name, which the screen shows.
to_row()
{
	local steps
	steps=$(screen_show | sed '1,4d; s/^.//' | awk -v name="$1" 'index($0, name) == 1 { print NR - 1; exit }')
	for _ in $(seq "$steps"); do screen_keys j; done
	screen_await ">$1"
}

@test "view: the time line has a row for each CPU and each task, the busiest task first" {
	timeline 120 34
	screen_show | grep '^[> ][a-zA-Z]' > "$BATS_TEST_TMPDIR/rows"
	grep -q '^>events' "$BATS_TEST_TMPDIR/rows"
	grep -q '^ CPU 0 ' "$BATS_TEST_TMPDIR/rows"
	weft sched "$FILE" 2> /dev/null | awk 'NR > 2 && NF { print $1 "-" $2 } !NF { exit }' | head -n 8 > "$BATS_TEST_TMPDIR/sched"
	sed 's/^.//; s/ .*//' "$BATS_TEST_TMPDIR/rows" | grep -- '-[0-9]*$' | head -n 8 | diff "$BATS_TEST_TMPDIR/sched" -
}

@test "view: W goes to the longest wait of a task, as weft sched has it" {
	max=$(weft sched --format json "$FILE" 2> /dev/null | jq -r '.tasks[] | select(.comm == "rcu_preempt") | .delay_max_ns')
	timeline 120 34
	to_row rcu_preempt
	screen_keys W + + + + + + + +
	screen_await "waiting for a CPU"
	screen_await "longest wait 63.0 ms"
	[ "$((max / 100000))" = 630 ] || [ "$((max / 100000))" = 629 ]
	# Enter shows the event at which the wait began.
	screen_keys Enter
	screen_await "[1 events]"
	screen_await 'sched_waking: comm=rcu_preempt'
}

@test "view: the time line comes as close as 1 ns, and goes back to the whole" {
	timeline 100 30
	screen_keys l l l l l l l l l l
	for _ in $(seq 31); do screen_keys +; done
	screen_await "a column is 1 ns"
	screen_await_not "~"
	screen_keys 0
	screen_await "a column is 370.0 ms"
}

# ruler: what the first two lines say: where the columns begin, how long one is, and where times stand.
ruler()
{
	screen_show | sed -n 2,3p | sed 's/│/|/g' | awk '
		NR == 1 {
			match($0, /column is [0-9.]+ [a-z]+/)
			split(substr($0, RSTART, RLENGTH), word, " ")
			unit = word[4] == "s" ? 1 : word[4] == "ms" ? 1e-3 : word[4] == "us" ? 1e-6 : 1e-9
			column = word[3] * unit
			match($0, /[0-9.]+ to [0-9.]+$/)
			from = substr($0, RSTART) + 0
		}
		NR == 2 {
			for (at = 1; at <= length($0); at++) {
				if (substr($0, at, 1) != "|" || substr($0, at + 1) !~ /^[0-9]/)
					continue
				off = (substr($0, at + 1) + 0 - from) / column - (at - 21)
				if (off < -0.01 || off > 1.01) { print "a time is " off " columns off: " $0; bad = 1 }
				times++
				last = at
			}
		}
		END { print times, last; exit bad || times < 2 }'
}

@test "view: the time line has the whole width, and a ruler with times where their columns are" {
	for size in 80x24 160x45; do
		timeline "${size%x*}" "${size#*x}"
		# The last column of the recording is near the right end.
		[ "$(screen_show | sed -n 5p | sed 's/ *$//' | wc -m)" -gt $((${size%x*} * 9 / 10)) ]
		ruler
		for _ in 1 2 3 4; do
			screen_keys + + + +
			screen_done
			screen_await_not "~"
			ruler
		done
		# After the first step closer a column is 1, 2 or 5 times a power of ten.
		screen_await_line "a column is [125]0*\.0 [mu]s"
		screen_end
	done
}

@test "view: where a task was not born yet, or is dead, the time line is empty, and the mouse's wheel zooms it" {
	weft import -q -o "$BATS_TEST_TMPDIR/life.dat" - <<- 'END'
		# tracer: nop
		#
		          burner-9       [000] d..2.     1.000000: sched_switch: prev_comm=burner prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=parent next_pid=7 next_prio=120
		          parent-7       [000] d..2.     1.030000: sched_wakeup_new: comm=child pid=8 prio=120 target_cpu=000
		          parent-7       [000] d..2.     1.040000: sched_switch: prev_comm=parent prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=child next_pid=8 next_prio=120
		           child-8       [000] d..2.     1.060000: sched_switch: prev_comm=child prev_pid=8 prev_prio=120 prev_state=X ==> next_comm=burner next_pid=9 next_prio=120
		          burner-9       [000] d..2.     1.099000: sched_waking: comm=parent pid=7 prio=120 target_cpu=000
	END
	screen_start 120 24 "$WEFT" view --color=never --ascii "$BATS_TEST_TMPDIR/life.dat"
	screen_await "1 events"
	screen_keys 2
	screen_await "a column is 1.0 ms"
	screen_await_not "~"
	# 30 columns of nothing, 10 of waiting, 20 of running.
	screen_await_line "^ child-8 {12} {30}w{10}\[child=*\] *$"
	# Away from the pointer, column 40 of the time, at 1.040 s: its column stays.
	tmux -L "$SCREENS" send-keys -H 1b 5b 3c 36 34 3b 36 31 3b 31 30 4d
	screen_await "a column is 500.0 us"
	screen_await_not "~"
	screen_await_line "^ child-8 {12} {20}w{20}\[child=*\] *$"
	tmux -L "$SCREENS" send-keys -H 1b 5b 3c 36 35 3b 36 31 3b 31 30 4d
	screen_await "a column is 1.0 ms"
}

@test "view: before a task was woken for the first time, the time line is empty, and says that nothing is known" {
	weft import -q -o "$BATS_TEST_TMPDIR/first.dat" - <<- 'END'
		# tracer: nop
		#
		          burner-9       [000] d..2.     1.000000: sched_switch: prev_comm=burner prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=parent next_pid=7 next_prio=120
		          parent-7       [000] d..2.     1.030000: sched_waking: comm=child pid=8 prio=120 target_cpu=000
		          parent-7       [000] d..2.     1.040000: sched_switch: prev_comm=parent prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=child next_pid=8 next_prio=120
		           child-8       [000] d..2.     1.060000: sched_switch: prev_comm=child prev_pid=8 prev_prio=120 prev_state=S ==> next_comm=burner next_pid=9 next_prio=120
		          burner-9       [000] d..2.     1.099000: sched_waking: comm=parent pid=7 prio=120 target_cpu=000
	END
	screen_start 120 24 "$WEFT" view --color=never --ascii "$BATS_TEST_TMPDIR/first.dat"
	screen_await "1 events"
	screen_keys 2
	screen_await "a column is 1.0 ms"
	screen_await_not "~"
	screen_await_line "^ child-8 {12} {30}w{10}\[child=*\][.]*[?]? *$"
}

@test "view: the command line that c copies prints what the row shows" {
	timeline 160 30
	to_row 'CPU 1'
	screen_keys c
	screen_await "weft sched --cpu 1 --since"
	command=$(screen_show | grep -o 'weft sched --cpu 1 .*dat')
	run -0 --separate-stderr sh -c "PATH=$(dirname "$WEFT"):\$PATH; cd $BATS_TEST_TMPDIR && $command"
	[[ "$output" == *"# CPUs"* ]]
}

@test "view: the time line in a small terminal, with ASCII only, and without colours" {
	timeline 40 12 --ascii --color=never
	screen_await_line '^ CPU 1 *!#*'
	screen_show > "$BATS_TEST_TMPDIR/shown"
	LC_ALL=C run -1 grep '[^ -~]' "$BATS_TEST_TMPDIR/shown"
	screen_show -e > "$BATS_TEST_TMPDIR/shown"
	run -1 grep $'\033\[3[1-7]m' "$BATS_TEST_TMPDIR/shown"
}

@test "view: the time line has the counters that programs mark and those of --counter" {
	cd "$BATS_TEST_TMPDIR"
	for mark in '000 B|7360|outer' '100 C|7360|queue|8' '200 C|7360|temp|-9' '400 C|7360|queue|2' '600 C|7360|temp|-3' '1000 E|7360'; do
		printf '             app-7360   ( 7360) [001] ....  10.%06d: tracing_mark_write: %s\n' "${mark%% *}" "${mark#* }"
	done | weft import -o marks.dat - 2> /dev/null
	FILE=marks.dat
	timeline 120 20
	# A bar begins at 0, or at the least value; a value holds until the next one.
	screen_await_line '^ queue \(7360\) +██████+▂▂▂▂▂▂+ *$'
	screen_await_line '^ temp \(7360\)  +▅▅▅▅▅▅+ *$'
	to_row 'temp'
	screen_keys "$(printf 'l%.0s' $(seq 19))"
	screen_await "at most -9"
	screen_keys c
	screen_await "weft report --since"
	screen_end
	FILE=$BATS_TEST_TMPDIR/sched.dat
	timeline 120 200 --counter sched_waking:pid
	screen_await_line '^ sched_waking:pid '
	screen_end
	screen_start 120 20 "$WEFT" view --counter sched_waking:nope "$FILE"
	screen_await "no event with a number as its field 'sched_waking:nope'"
	screen_await "STATUS 1"
}
