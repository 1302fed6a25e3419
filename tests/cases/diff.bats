#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft diff: its output, its conditions and its refusals. tests/unit/diff.c checks the statistical test with traces of
# known differences.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
old=$golden/6.12-function_graph.dat
new=$golden/6.1-rt-function_graph.dat

# many FILE: the file as 8 runs, which prove what one cannot
many() { echo "$1,$1,$1,$1,$1,$1,$1,$1"; }

# median TEXT: prints the median time of irq_enter_rcu in the kernel's text, in ns, and the number of its calls
median() {
	sed -n 's/^ *[0-9]*) *[^0-9 ]* *\([0-9.]*\) us .* irq_enter_rcu();$/\1/p' "$1" | sort -n |
		awk '{ v[NR] = $1 } END { printf "%.0f %d\n", v[int((NR + 1) / 2)] * 1000, NR }'
}

@test "diff: the figures of both sides are those of the kernel's texts" {
	need_command jq
	run -0 weft diff graph "$old" "$new" --row irq_enter_rcu --figure p50 --format json
	read -r want n <<< "$(median "${old%.dat}.txt")"
	[ "$(jq '.changes[0].old_n' <<< "$output")" = "$n" ]
	# The kernel rounds.
	[ "$(jq ".changes[0].old - $want | fabs < 2" <<< "$output")" = true ]
	read -r want n <<< "$(median "${new%.dat}.txt")"
	[ "$(jq '.changes[0].new_n' <<< "$output")" = "$n" ]
	[ "$(jq ".changes[0].new - $want | fabs < 2" <<< "$output")" = true ]
	[ "$(jq -r '.changes[0] | "\(.verdict) \(.change_percent > 300)"' <<< "$output")" = "~ true" ]
	run -0 weft diff graph "$(many "$old")" "$(many "$new")" --row irq_enter_rcu --figure p50 --format json
	[ "$(jq -r '.changes[0] | "\(.verdict) \(.change_percent > 300) \(.from_percent > 300)"' <<< "$output")" = "+ true true" ]
}

# The span of the times in the kernel's text $1, in ms.
lasts() { grep -oE '\[[0-9]+\].* [0-9]+\.[0-9]{6}: ' "$1" | grep -oE '[0-9]+\.[0-9]{6}' | awk 'NR == 1 { first = $1 } { last = $1 } END { printf "%.1f ms", (last - first) * 1000 }'; }

@test "diff: how long each file lasts is told, for rates and totals are per second" {
	local sched=$BATS_TEST_DIRNAME/../fixtures/golden/6.1-rt-events-sched calls=$BATS_TEST_DIRNAME/../fixtures/golden/6.1-rt-events-syscalls
	run -0 weft diff summary "$sched.dat" "$calls.dat"
	[[ "$output" == *"# rate and total are per second: the old file lasts $(lasts "$sched.txt"), the new $(lasts "$calls.txt")"* ]]
}

@test "diff: a file and itself differ in nothing" {
	need_command jq
	for name in summary graph; do
		run -0 weft diff $name "$old" "$old" --format json
		[ "$(jq '[.changes[] | select(.verdict == "+" or .verdict == "-" or .old != .new)] | length' <<< "$output")" = 0 ]
		[ "$(jq '[.changes[] | select(.verdict == "~")] | length > 0' <<< "$output")" = true ]
	done
}

# Most tasks of this file are named once, in the last events: only their rows tell of them.
@test "diff: a damaged file is compared as far as it can be read" {
	run -1 --separate-stderr weft diff sched tests/corpora/commands/found/diff-uaf.dat tests/corpora/commands/found/diff-uaf.dat
	[[ "$stderr" == *"is damaged"* ]]
}

@test "diff: text and CSV have the same rows, the changes first, and the limits stand below" {
	run -0 weft diff "$(many "$old")" "$(many "$new")"
	[[ "${lines[1]}" =~ ^OF\ +ROW\ +FIGURE\ +OLD\ +NEW\ +CHANGE ]]
	[[ "${lines[2]}" =~ ^functions\ +schedule\ .*\ \+\  ]]
	[[ "$output" == *"the kernels differ: "* ]]
	[[ "$output" == *"# cut by the start or the end: old: "* ]]
	[[ "$output" == *"of a figure, chance makes one in at most 5 % of comparisons"* ]]
	run -0 weft diff "$old" "$new"
	[[ "${lines[0]}" == *"exceeds what one run can prove, ~ one run cannot tell"* ]]
	run -0 weft diff "$old" "$new" --top 3 --format csv
	[ "${#lines[@]}" -ge 4 ]
	[[ "${lines[0]}" == table,row,figure,old_text,new_text,change_percent,from_percent,to_percent,verdict,* ]]
	# Nothing is proved, so what differs by the most time is first.
	[[ "${lines[1]}" == functions,schedule,total,* ]]
	# What only one file has stands beside nothing.
	run -0 weft diff "$old" "$new" --top 0 --format csv
	grep -q '^functions,vfs_statx_path,total,98.1 ms/s,-,,,,old,' <<< "$output"
	grep -q '^functions,scheduler_tick,total,-,13.2 ms/s,,,,new,' <<< "$output"
}

@test "diff: --fail-if ends with 3 and names the row that changed; other rows and figures may" {
	many_old=$(many "$old") many_new=$(many "$new")
	run -3 --separate-stderr weft diff graph "$many_old" "$many_new" --fail-if 'irq_enter*: p50 > 20%'
	[[ "$stderr" == *"'irq_enter_rcu': p50 changed by +"*"which --fail-if 'irq_enter*: p50 > 20%' does not allow"* ]]
	[[ "$output" == *"irq_enter_rcu"* ]]
	run -1 --separate-stderr weft diff graph "$many_old" "$many_new" --fail-if 'irq_entre*: p50 > 20%' --fail-if 'irq_enter*: p50 < -20%'
	[ "$stderr" = "weft: --fail-if 'irq_entre*: p50 > 20%' cannot be checked: both sides have no row 'irq_entre*' with p50" ]
	[[ "$output" == *"irq_enter_rcu"* ]]
	run -3 weft diff graph "$many_old" "$many_new" --fail-if 'irq_entre*: p50 > 20%' --fail-if 'irq_enter*: p50 > 20%'
	run -1 --separate-stderr weft diff graph "$many_old" "$many_new" --figure p99 --fail-if 'irq_enter_rcu: p50 > 20%'
	[[ "$stderr" == *"both sides have no row 'irq_enter_rcu' with p50" ]]
	run -0 weft diff graph "$old" "$new" --row nosuch
	[[ "$output" == *"# both sides have no row 'nosuch'"* ]]
	run -0 weft diff graph "$many_old" "$many_new" --fail-if 'irq_enter*: p50 < -20%' --fail-if 'irq_exit_rcu: p50 < -1%'
	run -0 weft diff graph "$old" "$old" --one-run --fail-if 'total > 0%' --fail-if 'total < 0%'
	run -0 weft diff graph "$many_new" "$many_old" --least 1000 --fail-if 'irq*: total > 0%'
}

@test "diff: several files a side, with commas or with -a and -b" {
	need_command jq
	for i in 1 2 3 4 5; do
		cp "$old" "$BATS_TEST_TMPDIR/a$i.dat"
		cp "$new" "$BATS_TEST_TMPDIR/b$i.dat"
	done
	cd "$BATS_TEST_TMPDIR"
	run -0 weft diff graph a1.dat,a2.dat,a3.dat,a4.dat,a5.dat b1.dat,b2.dat,b3.dat,b4.dat,b5.dat --row irq_enter_rcu --format json
	# All values of one side are larger: p is 2 / (10 over 5).
	[ "$(jq -r '.changes[0] | "\(.verdict) \(.p)"' <<< "$output")" = "+ 0.007937" ]
	both=$output
	run -0 weft diff graph --old a1.dat --old a2.dat,a3.dat --old a4.dat --old a5.dat --new b1.dat,b2.dat,b3.dat --new b4.dat --new b5.dat --row irq_enter_rcu --format json
	[ "$output" = "$both" ]
	run -0 weft diff graph a1.dat,a2.dat b1.dat,b2.dat
	[[ "$output" == *"4 and 4 at least"* ]]
}

# 4 files a side have a p of 2 / (8 over 4).
@test "diff: --per run has the elapsed time, which 4 files a side can tell, and --match names programs alike" {
	need_command jq
	for i in 1 2 3 4; do
		cp "$old" "$BATS_TEST_TMPDIR/a$i.dat"
		cp "$new" "$BATS_TEST_TMPDIR/b$i.dat"
		cp "$golden/6.12-events-sched.dat" "$BATS_TEST_TMPDIR/s$i.dat"
	done
	cd "$BATS_TEST_TMPDIR"
	run -3 --separate-stderr weft diff graph --per run --old a1.dat,a2.dat,a3.dat,a4.dat --new b1.dat,b2.dat,b3.dat,b4.dat \
		--format json --fail-if 'elapsed: total > 20%'
	[[ "$stderr" == *"'elapsed': total changed by +"* ]]
	[ "$(jq -r '.changes[] | select(.table == "run") | "\(.row) \(.figure) \(.verdict) \(.p)"' <<< "$output")" = "elapsed total + 0.028571" ]
	run -0 weft diff sched --per run --old s1.dat,s2.dat,s3.dat,s4.dat --new s1.dat,s2.dat,s3.dat,s4.dat --format json
	[ "$(jq '[.changes[] | select(.old != .new or .verdict == "+" or .verdict == "-")] | length' <<< "$output")" = 0 ]
	[ "$(jq '[.changes[] | select(.row == "sh on a CPU" and .figure == "total" and .new > 0)] | length' <<< "$output")" = 1 ]
	run -0 weft diff sched --per run --match ash=sh --old s1.dat,s2.dat,s3.dat,s4.dat --new s1.dat,s2.dat,s3.dat,s4.dat --format json
	[ "$(jq '.changes[] | select(.row == "ash on a CPU" and .figure == "total") | .old == 0 and .new > 0' <<< "$output")" = true ]
	# What was 0 has no percentage.
	[ "$(jq -c '[.changes[] | select(.old == 0) | .change_percent, .from_percent, .to_percent] | unique' <<< "$output")" = '[null]' ]
	[ "$(jq '.changes[] | select(.row == "sh on a CPU" and .figure == "total") | .old > 0 and .new == 0' <<< "$output")" = true ]
}

@test "diff: a wrong command line, missing and damaged files end with words" {
	run -2 --separate-stderr weft diff "$old"
	[[ "$stderr" == *"weft diff OLD NEW"* ]]
	run -2 --separate-stderr weft diff "$old" "$old" "$new"
	[[ "$stderr" == *"--old and --new"* ]]
	run -2 --separate-stderr weft diff "$old" "$new" --fail-if 'mean > 1%'
	[[ "$stderr" == *"there are p50, p99, rate and total"* ]]
	run -2 --separate-stderr weft diff "$old" "$new" --figure mean
	run -2 --separate-stderr weft diff "$old" "$new" --fail-if 'total > 1%'
	[[ "$stderr" == *"judges two recordings, not two programs"*"--one-run"* ]]
	run -2 --separate-stderr weft diff "$old" "$new" --per run
	run -2 --separate-stderr weft diff "$old" "$new" --match sh
	run -2 --separate-stderr weft diff sched "$golden/6.12-events-sched.dat" "$golden/6.12-events-sched.dat" --match sh=ash
	[[ "$stderr" == *"--match sh=ash: no row of the new side is of a program 'ash', but the old one's name is there: it is OLD=NEW"* ]]
	run -2 --separate-stderr weft diff "$old" "$new" --least much
	run -1 --separate-stderr weft diff "$old" "$BATS_TEST_TMPDIR/none.dat"
	[[ "$stderr" == *"none.dat"* ]]
	run -1 --separate-stderr weft diff syscalls "$old" "$new"
	[[ "$stderr" == *"raw_syscalls"* ]]
	head -c $(($(stat -c %s "$old") / 2)) "$old" > "$BATS_TEST_TMPDIR/cut.dat"
	run -1 --separate-stderr weft diff "$old" "$BATS_TEST_TMPDIR/cut.dat"
	[[ "$stderr" == *"cut.dat"* ]]
	for file in "$BATS_TEST_DIRNAME"/../corpora/report/*/*.dat; do
		run --separate-stderr timeout 60 weft diff "$file" "$file"
		[ "$status" -le 1 ]
	done
}

@test "diff: --per counts rate and total per event of the kernel's text, or per second of each CPU" {
	need_command jq
	file=$golden/6.12-events-syscalls
	writes=$(grep -c ': sys_write(fd: 1,' "$file.txt")
	run -0 weft diff syscalls "$file.dat" "$file.dat" --per 'sys_enter_write: fd == 1' --row openat --format json
	[[ "$(jq -r '.changes[0].table, .changes[0].old_n' <<< "$output")" = $'syscalls\n'"$(grep -c ': sys_openat -> ' "$file.txt")" ]]
	jq -e --argjson per "$writes" '.changes[] | select(.figure == "rate") | .old - .old_n / $per | fabs < 0.000001' <<< "$output"
	jq -e '.notes | tostring | test("per .sys_enter_write: fd == 1., which happened '"$writes"' times in the old file, '"$writes"' in the new")' <<< "$output"
	run -0 weft diff syscalls "$file.dat" "$file.dat" --per sys_enter_write --figure rate --row openat
	[[ "${lines[2]}" =~ ^syscalls\ +openat\ +rate\ +[0-9.]+\ each ]]
	# A second of the machine is one of each of its CPUs.
	sched=$golden/6.12-events-sched
	cpus=$(sed -n 's/.*#P:\([0-9]*\)$/\1/p' "$sched.txt")
	[ "$cpus" -gt 1 ]
	second=$(weft diff "$sched.dat" "$sched.dat" --figure total --format json | jq -c '[.changes[] | [.table, .row, .old]] | sort')
	cpu=$(weft diff "$sched.dat" "$sched.dat" --figure total --format json --per cpu-second | jq -c '[.changes[] | [.table, .row, .old]] | sort')
	jq -e --argjson nr "$cpus" --argjson cpu "$cpu" '[[., $cpu] | transpose[] | (.[0][2] - .[1][2] * $nr | fabs) <= 0.001 * $nr] | length > 0 and all' <<< "$second"
	run -1 --separate-stderr weft diff "$old" "$new" --per nosuch
	[[ "$stderr" == *"'$old': the file knows no event 'nosuch'; "* ]]
	run -1 --separate-stderr weft diff syscalls "$file.dat" "$file.dat" --per 'sys_enter_write: fd == 77'
	[[ "$stderr" == *"did not happen in it, so nothing can be counted per event of it" ]]
	run -1 --separate-stderr weft diff syscalls "$file.dat" "$file.dat" --per 'sys_enter_write: f == 1'
	[[ "$stderr" == *"did you mean 'fd'?"* ]]
	run -2 weft diff "$old" "$new" --per ''
}

@test "diff: --since and --until take a part of each side, which together are the file, and --comm only rows of such tasks" {
	need_command jq
	read -r _ n <<< "$(median "${old%.dat}.txt")"
	run -0 weft diff graph "$old" "$old" --row irq_enter_rcu --figure rate --until 14.735, --since ,14.735000001 --format json
	[ "$(jq '.changes[0].old_n + .changes[0].new_n' <<< "$output")" = "$n" ]
	[ "$(jq '.changes[0].old_n > 0 and .changes[0].new_n > 0' <<< "$output")" = true ]
	# A single time applies to both sides: nothing differs, and the rate is that of the shorter span.
	run -0 weft diff graph "$old" "$old" --row irq_enter_rcu --figure rate --until 14.735 --format json
	[ "$(jq '.changes[0] | .old_n == .new_n and .old == .new' <<< "$output")" = true ]
	[ "$(jq --argjson n "$n" '.changes[0].old_n < $n' <<< "$output")" = true ]
	run -0 weft diff graph "$old" "$old" --comm nosuch --format json
	[ "$(jq '.changes | length' <<< "$output")" = 0 ]
	run -2 weft diff graph "$old" "$old" --since 1,x
}

@test "diff: block has the requests of the kernel's text, by device, operation and task, and --fail-if sees them" {
	need_command jq
	block=$BATS_TEST_DIRNAME/../fixtures/resources/block
	issues=$(grep -c ': block_rq_issue: ' "$block.txt")
	for by in device operation task; do
		run -0 weft diff block --by $by "$block.dat" "$block.dat" --figure rate --format json
		[ "$(jq '[.changes[] | select(.row | endswith(" d2c")) | .old_n] | add' <<< "$output")" = "$issues" ]
		[ "$(jq '[.changes[] | select(.old_n != .new_n or .old != .new or .verdict == "+" or .verdict == "-")] | length' <<< "$output")" = 0 ]
	done
	# With that few requests, nothing is tested.
	run -1 --separate-stderr weft diff block "$block.dat" "$block.dat" --one-run --fail-if '*d2c: total > 0%'
	[[ "$stderr" == *"'*d2c: total > 0%' cannot be checked: total of '*d2c' was not tested, as the lines below the table say" ]]
	[[ "$output" == *"too few to be tested"* ]]
	# The comparison of everything that a file has events for gives the same figures.
	run -0 weft diff "$block.dat" "$block.dat" --row '254:0 write d2c' --format json
	all=$(jq -c '[.changes[] | del(.p)]' <<< "$output")
	run -0 weft diff block "$block.dat" "$block.dat" --row '254:0 write d2c' --format json
	[ "$(jq -c '[.changes[] | del(.p)]' <<< "$output")" = "$all" ]
}

@test "diff: --by has the rows of weft syscalls, and says which tables have none to choose" {
	need_command jq
	file=$golden/6.12-events-syscalls
	run -0 weft diff syscalls --by task "$file.dat" "$file.dat" --figure rate --format json
	# Each exit in the kernel's text ends one call; the calls of ls began within the file.
	[ "$(jq '.changes[] | select(.row == "ls") | .old_n' <<< "$output")" = "$(grep -c '^ *ls-.*sys_[a-z0-9_]* -> ' "$file.txt")" ]
	run -0 weft diff syscalls --by errno "$file.dat" "$file.dat" --figure rate --format json
	[ "$(jq -r '[.changes[].row] | sort | join(",")' <<< "$output")" = "$(weft syscalls --by errno "$file.dat" --format json | jq -r '[.syscalls[] | "\(.syscall) \(.error)"] | sort | join(",")')" ]
	run -2 --separate-stderr weft diff --by task "$file.dat" "$file.dat"
	[[ "$stderr" == *"not those of summary"* ]]
	run -2 --separate-stderr weft diff sched --by task "$file.dat" "$file.dat"
	[[ "$stderr" == *"syscalls, latency, block, locks, stacks or power"* ]]
	run -2 --separate-stderr weft diff locks --by device "$file.dat" "$file.dat"
	[[ "$stderr" == *"the values are lock, caller, task, waker, process, "* ]]
	run -2 --separate-stderr weft diff power --by task "$file.dat" "$file.dat"
	[[ "$stderr" == *"the values are state and cpu"* ]]
	run -2 --separate-stderr weft diff --of hist "$file.dat" "$file.dat"
	[[ "$stderr" == *"there are summary, "*"stacks, memory, power"* ]]
}

@test "diff: stacks, power and latency have the rows of the kernel's text" {
	need_command jq
	file=$golden/6.12-event-stacktrace
	# A stack follows each event. Switches of the idle task are no time off the CPU.
	run -0 weft diff stacks --by task "$file.dat" "$file.dat" --format json
	stacks=$(grep -c '<stack trace>' "$file.txt")
	[ "$(jq '[.changes[] | select(.table == "events") | .old_n] | add' <<< "$output")" = "$stacks" ]
	[ "$(jq -r '[.changes[] | select(.table == "events") | .figure] | unique | join(",")' <<< "$output")" = rate ]
	file=$BATS_TEST_DIRNAME/../fixtures/resources/power
	run -0 weft diff power "$file.dat" "$file.dat" --format json
	# A CPU leaves a state that it has entered: counts these pairs for each CPU and state.
	pairs=$(sed -n 's/.*: cpu_idle: state=\([0-9]*\) cpu_id=\([0-9]*\).*/\1 \2/p' "$file.txt" | awk '$1 == 4294967295 { if ($2 in in_state) n[in_state[$2]]++; delete in_state[$2]; next }
		{ in_state[$2] = $1 } END { for (s in n) print "state " s, n[s] }' | sort)
	[ "$(jq -r '.changes[] | select(.table == "states" and .figure == "rate") | "\(.row) \(.old_n)"' <<< "$output" | sort)" = "$pairs" ]
	# --by cpu has the same pairs, a row for each CPU.
	run -0 weft diff power --by cpu "$file.dat" "$file.dat" --format json
	pairs=$(sed -n 's/.*: cpu_idle: state=\([0-9]*\) cpu_id=\([0-9]*\).*/\1 \2/p' "$file.txt" | awk '$1 == 4294967295 { if ($2 in in_state) n[in_state[$2] " cpu " $2]++; delete in_state[$2]; next }
		{ in_state[$2] = $1 } END { for (s in n) print "state " s, n[s] }' | sort)
	[ "$(jq -r '.changes[] | select(.table == "states" and .figure == "rate") | "\(.row) \(.old_n)"' <<< "$output" | sort)" = "$pairs" ]
	jq -e '[.changes[] | select(.table == "wakeups") | .row | test(" cpu [0-9]+$")] | length > 0 and all' <<< "$output"
	file=$BATS_TEST_DIRNAME/../fixtures/demo.dat
	run -0 weft diff latency "$file" "$file" --format json
	# weft latency looks at each wakeup, so there is one delay for each, and its parts belong to it.
	looked=$(weft latency "$file" | sed -n 's/^# looked at: \([0-9,]*\) wakeups\?$/\1/p')
	[ "$(jq '.changes[] | select(.row == "delay" and .figure == "rate") | .old_n' <<< "$output")" = "${looked//,/}" ]
	[ "$(jq '[.changes[] | select(.figure == "total")] | ([.[] | select(.row != "delay") | .old] | add) / (.[] | select(.row == "delay") | .old) | . > 0.999 and . < 1.001' <<< "$output")" = true ]
}

# slices FILE FROM LENGTH NR: compares so many pairs of neighbouring slices of a file, of so many ms, and prints how many
# rows were tested, and how many of them are called changed by any of their figures.
slices() {
	local i begin end

	for ((i = 0; i < $4; i++)); do
		begin=$(($2 + 2 * i * $3)) end=$(($2 + (2 * i + 1) * $3))
		weft diff "$1" "$1" --since "+${begin}ms,+${end}ms" --until "+${end}ms,+$((end + $3))ms" --format json || return
	done | jq -s -r '[.[].changes | map(select(.verdict | IN("~", "+", "-"))) | group_by([.table, .row])[] | any(.verdict != "~")] |
		"\(length) \(map(select(.)) | length)"'
}

# Neighbouring parts of a recording are runs of a machine that does the same work, and has slow and fast seconds.
@test "diff: of one file a side, at most 5 % of the rows of a workload that is the same are called changed" {
	need_shared bench/sched-syscalls.dat
	need_command jq
	read -r tested changed <<< "$(slices "$SHARED/bench/sched-syscalls.dat" 100 2000 6)"
	[ "$tested" -gt 50 ]
	[ $((changed * 20)) -le "$tested" ]
	read -r tested changed <<< "$(slices "$SHARED/bench/funcgraph.dat" 100 500 3)"
	[ "$tested" -gt 50 ]
	[ $((changed * 20)) -le "$tested" ]
}

@test "diff: of one file a side, a sleep that is doubled exceeds what one run can prove" {
	need_tracefs
	need_command jq
	"${CC:-cc}" -O1 -o "$BATS_TEST_TMPDIR/work" "$BATS_TEST_DIRNAME/../bench/work.c" -lpthread
	cd "$BATS_TEST_TMPDIR"
	cat > load <<- 'END'
		for i in 1 2 3 4; do ./work sleep $1; done
	END
	# So long that a busy machine does not double them.
	for us in 20000 40000; do weft record -o $us.dat -F -c --for syscalls --for sched -- sh load $us; done
	run -3 --separate-stderr weft diff 20000.dat 40000.dat --one-run --fail-if '*nanosleep: p50 > 50%' --format json
	[[ "$stderr" == *"nanosleep': p50 changed by +"* ]]
	jq -e '.notes | tostring | test("of the others, one run cannot tell")' <<< "$output"
}

@test "diff: on a terminal of 80 columns the names of the rows and both figures are whole" {
	SHELL=$BASH script -qec "stty cols 80 rows 50; PAGER=cat $WEFT diff graph $old $new --row irq_enter_rcu --top 3" /dev/null < /dev/null | tr -d '\r' > "$BATS_TEST_TMPDIR/lines"
	[ "$(grep -cE '^[a-z.]+ +irq_enter_rcu +[a-z0-9]+ +[0-9.]+[^.]* +[0-9.]+[^.]*( |$)' "$BATS_TEST_TMPDIR/lines")" -eq 3 ]
	[ "$(awk 'length > 80' "$BATS_TEST_TMPDIR/lines")" = "" ]
}

@test "diff: an answer that is limited in bytes lacks rows, counts them, and says how to get them" {
	local session=$BATS_TEST_DIRNAME/../fixtures/session got all
	all=$(weft diff --format json "$session/slow.dat" "$session/late.dat" | jq '.changes | length')
	for bytes in 2000 6000 12000; do
		weft diff --format json --max-bytes $bytes "$session/slow.dat" "$session/late.dat" > "$BATS_TEST_TMPDIR/some"
		[ "$(wc -c < "$BATS_TEST_TMPDIR/some")" -le $bytes ]
		got=$(jq '(.changes | length) + .rows_left_out.changes' "$BATS_TEST_TMPDIR/some")
		[ "$got" = "$all" ]
		jq -e '.for_more | test("--row NAME")' "$BATS_TEST_TMPDIR/some"
	done
	run -1 weft diff --format json --max-bytes 100 "$session/slow.dat" "$session/late.dat"
	[[ $output = *"without any row the answer has"* ]]
}
