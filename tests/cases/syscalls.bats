#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft syscalls: compares its counts with the kernel's own text of the same events.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden

setup()
{
	out=$BATS_TEST_TMPDIR/out
}

# Prints "NAME CALLS" from the kernel's text $1: each exit that follows an entry in the same task. No file has tasks of
# weft.
calls_of()
{
	grep -E ': sys_[a-z0-9_]+(\(| -> )' "$1" | sed -E 's/^.*-([0-9]+) +\[.*: sys_([a-z0-9_]+)(\(| -> ).*/\1 \2 \3/' |
		awk '$3 == "(" { open[$1] = $2; next } open[$1] == $2 { n[$2]++; delete open[$1] } END { for (c in n) print c, n[c] }' | sort
}

@test "syscalls: the calls that returned are those of the kernel's text" {
	need_command jq
	for name in 6.12-events-syscalls 6.1-rt-events-syscalls; do
		weft syscalls "$golden/$name.dat" --format json > "$out"
		jq -r '.syscalls[] | .endless //= 0 | select(.calls > .endless) | "\(.syscall) \(.calls - .endless)"' "$out" | sort |
			diff <(calls_of "$golden/$name.txt") -
		# The longest call is as long as the times in the command to paste say, and lies between them.
		jq -e '.longest[0] | (.until - .since) * 1e9 - .lasted_ns | fabs < 2' "$out"
	done
}

@test "syscalls: errors by name are those that the kernel's text has as numbers" {
	need_command jq
	weft syscalls "$golden/6.12-events-syscalls.dat" --by errno --format json > "$out"
	local want
	want=$(grep -cE ': sys_[a-z0-9_]+ -> 0xf{12,13}[0-9a-f]{3,4}$' "$golden/6.12-events-syscalls.txt" || true)
	jq -e --argjson want "$want" '[.syscalls[].calls] | add // 0 | . == $want' "$out"
}

@test "syscalls: rows by task, and the slowest alone" {
	local file=$golden/6.12-events-syscalls.dat
	weft syscalls "$file" --by task --slowest 2 > "$out"
	[ "$(sed -n 2p "$out" | awk '{ print $1, $2, $3 }')" = "TASK PID CALLS" ]
	grep -q '^# the longest system calls$' "$out"
	grep -q '^# wanted and not recorded: -e sched:sched_switch ' "$out"
	[ "$(weft syscalls "$file" --slowest 2 --table slowest --format csv | wc -l)" -eq 3 ]
	run -1 weft syscalls "$golden/6.12-function.dat"
	[[ "$output" == *"no system calls among the events"*"-e raw_syscalls" ]]
	run -2 weft syscalls "$file" --by tsk
	[[ "${lines[0]}" == *"the values are syscall, task, process, errno, cpu, program, unit, container, pod, cgroup, user and file"* ]]
}

@test "syscalls: --longer has those of all calls that took longer" {
	local file=$golden/6.12-events-syscalls.dat
	need_command jq
	want=$(weft syscalls "$file" --slowest 1000 --format json | jq -c '[.slowest[].lasted_ns]')
	limit=$(jq '.[2]' <<< "$want")
	[ "$(weft syscalls "$file" --longer "$limit"ns --format json | jq -c '[.slowest[].lasted_ns]')" = "$(jq -c "map(select(. > $limit))" <<< "$want")" ]
	run -0 weft syscalls "$file" --longer "$limit"ns
	[[ "$output" == *"# longer than "*": 2 calls"* ]]
	run -2 weft syscalls "$file" --longer 0
}

@test "syscalls --trace: a line for each call of the kernel's text, with its arguments and result, in order of time" {
	file=$golden/6.12-events-syscalls
	weft syscalls --trace "$file.dat" > "$out"
	sed '/^$/,$d' "$out" > "$out.lines"
	# Every entry and every exit of the kernel's text is one half of a line.
	[ "$(grep -c '(' "$out.lines")" -eq "$(grep -cE ': sys_[a-z0-9_]+\(' "$file.txt")" ]
	[ "$(grep -c ' = ' "$out.lines")" -eq "$(grep -cE ': sys_[a-z0-9_]+ -> ' "$file.txt")" ]
	awk '{ print $1 }' "$out.lines" | sort -nc
	# Prints "PID NAME RESULT" of the exits, in order.
	grep -E ': sys_[a-z0-9_]+ -> ' "$file.txt" | sed -E 's/^.*-([0-9]+) +\[.*: sys_([a-z0-9_]+) -> 0x([0-9a-f]+).*/\1 \2 \3/' |
		while read -r pid name hex; do printf '%d %s %d\n' "$pid" "$name" "$((16#$hex))"; done > "$out.want"
	grep ' = ' "$out.lines" | grep -v ' = -1 ' | sed -E 's/^ *[0-9.]+ +[0-9]+ +.*-([0-9]+) +(<\.\.\. )?([a-z0-9_]+)(\(.*| resumed>) = ([^ ]+).*/\1 \3 \5/' |
		while read -r pid name ret; do printf '%d %s %d\n' "$pid" "$name" "$((ret))"; done > "$out.got"
	awk '$3 >= 0' "$out.want" | diff - "$out.got"
	grep -qF 'openat(dfd: AT_FDCWD, filename: 0x1c9690a8, flags: O_WRONLY|O_CREAT|O_TRUNC, mode: 0666) = 3 <0.000191' "$out.lines"
}

@test "syscalls --trace --failures: a whole line for each call that failed, and no other" {
	weft syscalls --trace "$golden/6.12-events-syscalls.dat" | sed '/^$/,$d' > "$out"
	weft syscalls --trace --failures "$golden/6.12-events-syscalls.dat" | sed '/^$/,$d' > "$out.failed"
	[ -s "$out.failed" ]
	run -1 grep -v ' = -1 E' "$out.failed"
	# Both have the same tasks, names, errors and durations; a call that was interrupted by others has its arguments, too.
	for file in "$out" "$out.failed"; do
		grep ' = -1 E' "$file" | sed -E 's/^ *[0-9.]+ +[0-9]+ +(.*-[0-9]+) +(<\.\.\. )?([a-z0-9_]+)(\(.*| resumed>) = -1 /\1 \3 /' > "$file.lines"
	done
	diff "$out.lines" "$out.failed.lines"
	grep -qE '[a-z0-9_]+\(.*\) = -1 E' "$out.failed"
	[ "$(weft syscalls --trace --failures "$BATS_TEST_DIRNAME/../fixtures/session/demo.dat" | grep -c ' = -1 E')" -eq 3 ]
}

@test "syscalls --trace -- COMMAND: what strace would say of a call that fails, with its arguments' names" {
	need_tracefs
	weft syscalls --trace -- rmdir /no/such/dir > "$out" 2> /dev/null || status=$?
	[ "${status:-0}" -eq 1 ]
	grep -qE ' rmdir-[0-9]+ +rmdir\(pathname: .*\) = -1 ENOENT <0\.[0-9]{9}' "$out"
	run -2 weft syscalls --trace --format json
	[[ "${lines[0]}" == *"--trace prints text only"*"'weft export --to csv'"* ]]
}

@test "syscalls --trace: the six numbers of raw_syscalls get the names, the number and the constants that their call has" {
	file=$BATS_TEST_DIRNAME/../fixtures/session/demo.dat
	weft syscalls --trace "$file" > "$out"
	grep -qF "prlimit64(pid: 0, resource: RLIMIT_STACK, new_rlim: NULL, old_rlim: 0x7ffc46ed6f80) = 0" "$out"
	grep -qF "ioctl(fd: 0, cmd: TIOCGWINSZ, arg: 0x7ffc46ed6df0) = -1 ENOTTY" "$out"
	grep -qF "getuid() = 0" "$out"
	# The kernel's own formats are the oracle of the table.
	need_tracefs
	for format in /sys/kernel/tracing/events/syscalls/sys_enter_*/format; do
		name=${format%/format}
		printf '%s %s\n' "${name##*sys_enter_}" "$(sed -n 's/^\tfield:[^;]*[ *]\([a-z0-9_]*\);.*/\1/p' "$format" | tail -n +6 | grep -v '^__' | paste -sd ' ')"
	done | sed 's/ $//' | sort > "$out.kernel"
	awk '/^\t[{] "/ { line = $0; if (line !~ /[}],$/) { getline more; line = line more } gsub(/"\t* *"/, "", line)
			split(line, part, "\""); n = split(part[4], argument, ","); text = part[2]
			for (i = 1; i <= n; i++) { sub(/.*[ *]/, "", argument[i]); text = text " " argument[i] }
			print text }' lib/meaning/uapi/call_arguments.c | sort > "$out.weft"
	# What both know is the same; clone has another order on other machines.
	join -j 1 -o 1.1 "$out.kernel" "$out.weft" | grep -vx clone > "$out.both"
	[ "$(wc -l < "$out.both")" -gt 100 ]
	diff <(awk 'NR == FNR { both[$1]; next } $1 in both' "$out.both" "$out.kernel") <(awk 'NR == FNR { both[$1]; next } $1 in both' "$out.both" "$out.weft")
}

@test "syscalls: BYTES is what the calls returned, also without --files, and --sort bytes shows and orders it" {
	local file=$BATS_TEST_DIRNAME/../fixtures/session/why.dat
	# The numbers of read and write on x86-64. A call that began before the recording is in no row.
	weft syscalls --self --format csv "$file" | awk -F, '$1 == "read" || $1 == "write" { print $1, $5 }' | sort > "$BATS_TEST_TMPDIR/bytes"
	weft report --format json -e sys_enter,sys_exit "$file" | python3 -c '
import json, sys
open_, sums = {}, {0: 0, 1: 0}
for line in sys.stdin:
    event = json.loads(line)
    if event["event"] == "sys_enter":
        open_[event["pid"]] = event["fields"]["id"]
    elif open_.pop(event["pid"], -1) == event["fields"]["id"] and event["fields"]["id"] in sums:
        sums[event["fields"]["id"]] += max(event["fields"]["ret"], 0)
print("read", sums[0])
print("write", sums[1])' > "$BATS_TEST_TMPDIR/want"
	[ "$(awk '{ sum += $2 } END { print sum }' "$BATS_TEST_TMPDIR/want")" -gt 0 ]
	diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/bytes"
	run -0 weft syscalls --sort bytes "$file"
	[[ "${lines[1]}" == *BYTES* && "${lines[2]}" == read* ]]
	run -0 weft syscalls "$file"
	[[ "${lines[1]}" != *BYTES* ]]
}

@test "syscalls: where no file is known, the refusals of --by file and --file say what to do without kprobes" {
	run -1 weft syscalls --by file "$BATS_TEST_DIRNAME/../fixtures/demo.dat"
	[[ "$output" == *"CONFIG_KPROBE_EVENTS; on another, "*"'weft hist -i FILE weft:open --keys name'"* ]]
	run -1 weft report --file x "$BATS_TEST_DIRNAME/../fixtures/demo.dat"
	[[ "$output" == *"CONFIG_KPROBE_EVENTS; on another, "*"-e weft:open -f 'name ~ "* ]]
}
