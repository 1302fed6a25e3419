#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# report -f: the kernel's filter language, applied to a file. The oracle is the kernel's text, whose words awk compares.
# tests/guest/scenarios/report-filter.sh compares with what a kernel itself selects.
load lib

setup()
{
	file=tests/fixtures/demo.dat
	weft report "$file" | grep -v '^#' > "$BATS_TEST_TMPDIR/all"
}

body()
{
	weft report "$@" "$file" | grep -v '^#' || true
}

# meets FILTER EVENT CONDITION: -f prints those lines of EVENT ("" for all) that fulfil CONDITION in awk; v["NAME"] are
# their fields
meets()
{
	awk -v event="$2" '
		event == "" || index($0, " " event ": ") {
			delete v
			for (i = 1; i <= NF; i++) if (split($i, part, "=") == 2) v[part[1]] = part[2]
			cpu = substr($0, index($0, "[") + 1, 3) + 0
			task = $1
			if ('"$3"') print
		}' "$BATS_TEST_TMPDIR/all" > "$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	body -f "$1" | diff "$BATS_TEST_TMPDIR/want" -
}

@test "filter: numbers are compared, of one event and of all that have the field" {
	meets 'sched_switch: next_pid == 65' sched_switch 'v["next_pid"] == 65'
	meets 'sched:sched_switch:next_pid!=65' sched_switch 'v["next_pid"] != 65'
	meets 'next_pid > 15' '' '"next_pid" in v && v["next_pid"] > 15'
	meets 'next_pid >= 0x10 && next_pid <= 65' '' '"next_pid" in v && v["next_pid"] >= 16 && v["next_pid"] <= 65'
	meets 'sched_wak*: pid < 17' '' '"target_cpu" in v && v["pid"] < 17'
	meets 'runtime > 1000000' '' 'v["runtime"] > 1000000'
	meets 'sched_switch: next_pid & 1' sched_switch 'v["next_pid"] % 2 == 1'
}

@test "filter: && binds before ||, ! and parentheses turn round and group, as in C" {
	meets 'next_pid == 0 || next_pid == 65 && prev_pid == 17' '' '"next_pid" in v && (v["next_pid"] == 0 || v["next_pid"] == 65 && v["prev_pid"] == 17)'
	meets '(next_pid == 0 || next_pid == 65) && prev_pid == 17' '' '(v["next_pid"] == 0 || v["next_pid"] == 65) && v["prev_pid"] == 17 && "next_pid" in v'
	meets '!(next_pid == 0 || next_pid == 65)' '' '"next_pid" in v && !(v["next_pid"] == 0 || v["next_pid"] == 65)'
	meets '!next_pid == 0&&!(prev_pid == 65)' '' '"next_pid" in v && v["next_pid"] != 0 && v["prev_pid"] != 65'
	meets '! ! (next_pid==65)' '' 'v["next_pid"] == 65'
}

@test "filter: strings are equal, unequal or fit a glob" {
	meets 'next_comm == "rcu_preempt"' '' 'v["next_comm"] == "rcu_preempt"'
	meets "next_comm != 'rcu_preempt'" '' '"next_comm" in v && v["next_comm"] != "rcu_preempt"'
	meets 'next_comm ~ "k*"' '' 'v["next_comm"] ~ /^k/'
	meets 'next_comm ~ "*[:/]0*"' '' 'v["next_comm"] ~ /[:\/]0/'
	meets 'next_comm ~ "!k*"' '' '"next_comm" in v && v["next_comm"] !~ /^k/'
}

@test "filter: the task, the CPU, common fields and lists of CPUs" {
	body -f 'COMM == "ls"' | diff <(body --comm ls) -
	body -f 'common_pid == 65' | diff <(body --pid 65) -
	body -f 'CPU == 1' | diff <(body --cpu 1) -
	body -f 'common_cpu == 1' | diff <(body --cpu 1) -
	body -f 'CPU & CPUS{0-1}' | diff "$BATS_TEST_TMPDIR/all" -
	meets 'CPU == 0 && next_pid == 65' '' 'cpu == 0 && v["next_pid"] == 65'
	meets 'target_cpu & CPUS{1}' '' '"target_cpu" in v && v["target_cpu"] == 1'
	meets 'target_cpu != CPUS{1}' '' '"target_cpu" in v && v["target_cpu"] != 1'
}

@test "filter: several are one or the other, and other choices hold besides" {
	diff <(body -f 'next_pid == 65' -f 'sched_waking: pid == 16') <(grep -E ' sched_switch: .* next_pid=65 | sched_waking: .* pid=16 ' "$BATS_TEST_TMPDIR/all")
	diff <(body -F 'pid == 16' -e sched_waking) <(grep -E ' sched_waking: .* pid=16 ' "$BATS_TEST_TMPDIR/all")
	diff <(body --filter 'pid == 16' --cpu 0 --tail 2) <(grep -E '\[000\].* pid=16 ' "$BATS_TEST_TMPDIR/all" | tail -n 2)
	diff <(body -f 'next_pid >= 0' --threads 4) <(body -f 'next_pid >= 0' --threads 1)
	run weft report -f 'next_pid == 4711' "$file"
	[[ "$output" == *"none meets the filter 'next_pid == 4711'"* ]]
}

# refused FILTER WORDS COLUMN: a field that the file does not have is a failure, everything else an error of usage; the message has the kernel's words, and a caret under this column
refused()
{
	run --separate-stderr weft report -f "$1" "$file"
	[[ $2 == "Field not found"* ]] && [ "$status" -eq 1 ] || [ "$status" -eq 2 ]
	[ -z "$output" ]
	[[ "${stderr_lines[0]}" == "weft: --filter: $2"* ]]
	[ "${stderr_lines[1]}" = "  ${1#*: }" ] || [ "${stderr_lines[1]}" = "   ${1#*: }" ]
	[ "$(printf '%s' "${stderr_lines[2]}" | sed 's/^  //' | tr -d '^' | wc -c)" -ge "$3" ]
	[[ "${stderr_lines[2]}" == *^ ]]
}

@test "filter: what is wrong is said in the kernel's words, with a caret under it and names that are near" {
	refused 'nex_pid == 65' "Field not found; did you mean 'next_pid'" 0
	refused 'next_pid = 65' 'Invalid operator; the operators are ==, !=,' 9
	refused 'next_pid == ls' 'Invalid value (did you forget quotes)?' 12
	refused 'next_pid == 65x' 'Illegal integer value' 12
	refused 'next_pid == "65"' 'Expecting numeric field' 12
	refused 'next_comm == 65' 'Expecting string field' 13
	refused 'next_comm == "ls' 'Missing matching quote' 13
	refused 'next_comm > "ls"' 'Illegal operation for field type' 12
	refused '(next_pid == 65' "Too many '('" 0
	refused 'next_pid == 65)' "Too few '('" 14
	refused 'next_pid == 65 &&' 'Meaningless filter expression' 17
	refused 'next_pid == 65 next_pid' 'Too many terms in predicate expression' 15
	refused 'CPU & CPUS{0' "Missing '}'" 11
	refused 'CPU & CPUS 0' "Missing '{'" 10
	refused 'CPU & CPUS{x}' 'Invalid cpulist' 11
	run weft report -f 'sched_swich: next_pid == 65' "$file"
	[[ "$output" == *"the file knows no event 'sched_swich'; did you mean 'sched:sched_switch'"* ]]
	run weft report -f '' "$file"
	[ "$status" -eq 2 ]
	[[ "$output" == *"No filter found"* ]]
	# Depth and length of a filter are limited.
	run weft report -f "$(printf '(%.0s' {1..5000})" "$file"
	[ "$status" -eq 2 ]
	run weft report -f "next_pid == 1$(printf ' || next_pid == 1%.0s' {1..300})" "$file"
	[ "$status" -eq 2 ]
	[[ "$output" == *"Too many terms"* ]]
}

# Counts instructions, which do not depend on the load of the machine. What a filter costs more is its compilation for
# each type of event in the file.
@test "filter: costs no more than a choice by name" {
	need_command valgrind
	local choice
	# Whether calloc() has to clear a large block depends on what was freed before: blocks of their own are always clear.
	export GLIBC_TUNABLES=glibc.malloc.mmap_threshold=32768
	for choice in --comm=ls '--filter=common_pid == 65'; do
		valgrind --tool=none true 2> /dev/null || skip "valgrind does not run here"
		valgrind --tool=callgrind --callgrind-out-file=/dev/null weft report --threads 1 --no-sandbox "$choice" "$file" 2>&1 > /dev/null |
			sed -nE 's/.*I +refs: *//p' | tr -d , >> "$BATS_TEST_TMPDIR/instructions"
	done
	awk 'NR == 1 { name = $1 } NR == 2 { exit !(name > 100000 && $1 < name * 1.05) } END { if (NR < 2) exit 1 }' "$BATS_TEST_TMPDIR/instructions"
}

# lines: a graph's lines of functions, without the frames of task switches
lines()
{
	grep -v -e '^#' -e '^ ---' -e ' => ' -e '^$' -e '^ *[0-9]*)[^|]*=>' || true
}

# within: the lines of the second file are lines of the first, in the same order
within()
{
	awk 'NR == FNR { part[NR] = $0; nr = NR; next } at < nr && $0 == part[at + 1] { at++ } END { exit at != nr }' "$2" "$1"
}

@test "filter: --longer prints the functions that lasted longer, with their callers, as the whole report has them" {
	local kernel=tests/fixtures/golden name
	for name in 6.12-function_graph 6.1-rt-function_graph 6.12-function_graph-event-stack; do
		lines < $kernel/$name.txt > "$BATS_TEST_TMPDIR/whole"
		weft report --longer 100us $kernel/$name.dat > "$BATS_TEST_TMPDIR/text"
		lines < "$BATS_TEST_TMPDIR/text" > "$BATS_TEST_TMPDIR/part"
		within "$BATS_TEST_TMPDIR/whole" "$BATS_TEST_TMPDIR/part"
		# Each function of the kernel's text with such a duration, and no other one with a duration.
		awk -F'[)|]' '$2 ~ / us +$/ { n = $2; gsub(/[^0-9.]/, "", n); if (n + 0 > 100) print }' "$BATS_TEST_TMPDIR/whole" \
			> "$BATS_TEST_TMPDIR/want"
		[ -s "$BATS_TEST_TMPDIR/want" ]
		grep ' us  *|' "$BATS_TEST_TMPDIR/part" | diff "$BATS_TEST_TMPDIR/want" -
		# A function that is closed was opened before.
		[ "$(grep -c ' {' "$BATS_TEST_TMPDIR/part")" -gt 0 ]
		weft report -f 'duration > 100us' $kernel/$name.dat | diff "$BATS_TEST_TMPDIR/text" -
	done
}

@test "filter: --longer says what to record if nothing has a duration" {
	local function=tests/fixtures/golden/6.12-function.dat
	run -1 weft report --longer 1ms $function
	[[ $output == *"nothing among the events has a duration"*"-p function_graph"* ]]
	run -1 weft split --longer 1ms -o "$BATS_TEST_TMPDIR/made" $function
	[[ $output == *"nothing among the events has a duration"* ]]
	run -2 weft report --longer 1ms --longer 2ms $function
	[[ $output == *"only one time is allowed"* ]]
	run -2 weft report --longer soon $function
}

@test "filter: -I and -S leave out the functions that begin and end an interrupt, too" {
	local graph=tests/fixtures/golden/6.12-function_graph.dat
	weft report $graph | grep -q irq_enter_rcu
	weft report -I -S $graph > "$BATS_TEST_TMPDIR/text"
	run ! grep -e irq_enter_rcu -e irq_exit_rcu "$BATS_TEST_TMPDIR/text"
	weft report $graph | lines > "$BATS_TEST_TMPDIR/whole"
	lines < "$BATS_TEST_TMPDIR/text" > "$BATS_TEST_TMPDIR/part"
	[ -s "$BATS_TEST_TMPDIR/part" ]
	within "$BATS_TEST_TMPDIR/whole" "$BATS_TEST_TMPDIR/part"
	# What the interrupts hit is there, all of it.
	grep -v -e irq_enter_rcu -e irq_exit_rcu -e irq_chip_ack_parent "$BATS_TEST_TMPDIR/whole" | diff - "$BATS_TEST_TMPDIR/part"
}

@test "filter: -I and -S leave out the functions whose flags are those of an interrupt, in the text of the function tracer" {
	local left=0
	for name in 6.12-function 6.1-rt-function 6.12-function-stacktrace; do
		local file=tests/fixtures/golden/$name
		# The third flag is that of interrupts, with PREEMPT_RT the fourth; a stack belongs to the event above it.
		kept() { lines < $file.txt | awk -v drop="$1" '/^ =>/ { if (keep) print; next }
			{ match($0, /\] [^ ]+ /); flags = substr($0, RSTART + 2, RLENGTH - 3); keep = substr(flags, length(flags) == 7 ? 4 : 3, 1) !~ drop }
			keep'; }
		kept '[hHzZ]' > "$BATS_TEST_TMPDIR/hard"
		kept '[hHzZs]' > "$BATS_TEST_TMPDIR/both"
		left=$((left + $(lines < $file.txt | wc -l) - $(wc -l < "$BATS_TEST_TMPDIR/both")))
		weft report -I $file.dat | lines | diff "$BATS_TEST_TMPDIR/hard" -
		weft report -I -S $file.dat | lines | diff "$BATS_TEST_TMPDIR/both" -
	done
	[ $left -gt 0 ]
}

@test "filter: branches that were guessed wrong" {
	local golden=tests/fixtures/golden/6.12-branch
	weft report -f 'correct == 0 && file == "qspinlock.h"' $golden.dat | grep -v '^#' > "$BATS_TEST_TMPDIR/got" || true
	grep '\[ MISS \].*:qspinlock\.h:' $golden.txt > "$BATS_TEST_TMPDIR/want" || true
	cmp "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
	weft report -f 'correct == 0' $golden.dat | grep -v '^#' > "$BATS_TEST_TMPDIR/got"
	grep '\[ MISS \]' $golden.txt | cmp - "$BATS_TEST_TMPDIR/got"
}

@test "report -I and -S keep the events of uprobes, whose flags and preempt count the kernel writes as -1" {
	cd "$BATS_TEST_TMPDIR"
	cat > text <<- 'END'
		# tracer: nop
		#
		# entries-in-buffer/entries-written: 3/3   #P:1
		#
		#                                _-----=> irqs-off/BH-disabled
		#                               / _----=> need-resched
		#                              | / _---=> hardirq/softirq
		#                              || / _--=> preempt-depth
		#                              ||| / _-=> migrate-disable
		#                              |||| /     delay
		#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
		#              | |         |   |||||     |         |
		              ls-7       [000] DBZff     1.000001: stx: (0x7f94a5352b30) name="/etc/hosts"
		              ls-7       [000] d.h1.     1.000002: tick: n=1
		              ls-7       [000] d.Z1.     1.000003: nmi: n=1
	END
	weft import -q -o t.dat text
	[ "$(weft report t.dat | grep -v '^#' | wc -l)" = 3 ]
	for option in -I "-I -S"; do
		# shellcheck disable=SC2086 # words
		run -0 weft report $option t.dat
		[ "$(grep -v '^#' <<< "$output" | grep -o ': [a-z]*: ')" = ": stx: " ]
	done
}
