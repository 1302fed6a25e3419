#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Whom a task belongs to: processes, services and control groups select events and rows in each reader.

load lib
load screens

setup() {
	cd "$BATS_TEST_TMPDIR"
	# The program itself: a script of that name would make calls of its own.
	ln -s "$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')" work$$
	ln -s work$$ other$$
}

# How many calls of getppid() the events of a file have.
calls() {
	weft report "$@" -e sys_enter_getppid | grep -c ': sys_getppid'
}

# What `weft syscalls` counts of them.
counted() {
	weft syscalls --format json "$@" | grep -o '"syscall":"getppid","nr":[0-9]*,"calls":[0-9]*' | grep -o '[0-9]*$'
}

@test "who: --process takes all threads of a program, those that were born while it was recorded as well" {
	need_tracefs
	cat > work.py << 'END'
import os, subprocess, sys, threading
def call(n):
    for i in range(n): os.getppid()
# Threads of threads, another program, and a process that goes on as this program.
def begin(n, depth):
    call(n)
    if depth:
        t = threading.Thread(target=begin, args=(n, depth - 1))
        t.start()
        t.join()
begin(10, 4)
subprocess.run([sys.argv[1], "-c", "import os\nfor i in range(7): os.getppid()"])
if not os.fork():
    call(3)
    os._exit(0)
os.wait()
print(os.getpid())
END
	weft record -q -o a.dat -O norecord-tgid -e syscalls:sys_enter_getppid -e task:task_newtask \
		-e sched:sched_process_exec -- ./work$$ work.py ./other$$ > pid
	[ "$(calls --process "$(cat pid)" a.dat)" = 50 ]
	[ "$(calls --process "wo*k$$" a.dat)" = 53 ]
	[ "$(calls --process "other$$" a.dat)" = 7 ]
	[ "$(calls --process "other$$" --process "wo*k$$" a.dat)" = 60 ]
	run -0 --separate-stderr weft report --process "othr$$" a.dat
	[[ "$stderr" == *"none is known to be of process 'othr$$'; did you mean 'other$$'"* ]]
}

@test "who: --comm and --process together are a wrong command line of what counts by tasks" {
	for command in sched syscalls; do
		run -2 weft $command --process ls --comm ls "$OLDPWD/tests/fixtures/demo.dat"
		[ "$output" = "weft: --comm and --process cannot be combined here: leave one of them out" ]
	done
}

@test "who: a thread's name given to --process is told as such" {
	printf '%s\n' '             app-60      (   60) [000] .....     1.000001: tracing_mark_write: one' \
		'          mix-io-61      (   60) [000] .....     1.000002: tracing_mark_write: two' > threads
	weft import -q -o threads.dat threads
	run -0 --separate-stderr weft report --process mix-io threads.dat
	[ "${stderr_lines[-1]}" = "weft: none is known to be of process 'mix-io'; a thread has this name: --comm instead of --process chooses it" ]
	run -0 --separate-stderr weft report --process other threads.dat
	[ "${stderr_lines[-1]}" = "weft: none is known to be of process 'other'" ]
	[[ "$(weft report --comm mix-io threads.dat)" == *": two" ]]
}

@test "who: the process of all 3,000 tasks that are born while recording is right without record-tgid" {
	need_tracefs
	# 100 processes, children of children in part, of 29 threads each; of each task, its TID and PID as gettid() and getpid() say them.
	cat > work.py << 'END'
import os, sys, threading
def tell():
    os.getppid()
    os.write(1, b"%d,%d\n" % (threading.get_native_id(), os.getpid()))
def live(depth):
    tell()
    threads = [threading.Thread(target=tell) for i in range(29)]
    for t in threads: t.start()
    for t in threads: t.join()
    if depth and not os.fork():
        live(depth - 1)
        os._exit(0)
    if depth: os.wait()
for i in range(25):
    if not os.fork():
        live(3)
        os._exit(0)
    os.wait()
END
	weft record -q -o a.dat -O norecord-tgid -b 4M -e syscalls:sys_enter_getppid -e task:task_newtask -- ./work$$ work.py > truth
	[ "$(sort -u truth | wc -l)" = 3000 ]
	weft export -q --to csv -e sys_enter_getppid --fields pid,tgid -o out.csv a.dat
	[ "$(sed 1d out.csv | sort -u | comm -12 - <(sort -u truth) | wc -l)" = 3000 ]
}

@test "who: --unit and --cgroup follow a task from one service to another" {
	need_tracefs
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	top=$root/weft-who-$$.slice
	mkdir -p "$top/a.service" "$top/b.service" || skip "no control group can be made"
	cat > work.py << 'END'
import os, sys, threading
def call(n):
    for i in range(n): os.getppid()
def move(where):
    open(sys.argv[1] + "/" + where + "/cgroup.procs", "w").write(str(os.getpid()))
def other():
    for n in 30, 40:
        turn.acquire()
        call(n)
        done.release()
turn, done = threading.Semaphore(0), threading.Semaphore(0)
threading.Thread(target=other).start()
call(1)
move("a.service")
call(10)
turn.release()
done.acquire()
move("b.service")
call(20)
turn.release()
done.acquire()
if not os.fork():
    call(5)
    os._exit(0)
os.wait()
END
	weft record -q -o a.dat -e syscalls:sys_enter_getppid -e syscalls:sys_exit_getppid -e task:task_newtask \
		-e cgroup:cgroup_attach_task -- ./work$$ work.py "$top" || failed=1
	rmdir "$top"/*.service "$top" || :
	[ -z "${failed:-}" ]
	# The kernel has one event for both threads.
	[ "$(calls --unit a a.dat)" = 40 ]
	[ "$(calls --unit b.service a.dat)" = 65 ]
	[ "$(calls --cgroup "/weft-who-$$.slice" a.dat)" = 105 ]
	[ "$(calls --cgroup "*/a.service" --process "wo*k$$" a.dat)" = 40 ]
	[ "$(counted --unit a a.dat)" = 40 ]
	[ "$(counted --unit b a.dat)" = 65 ]
	run -0 weft syscalls --by unit --format csv a.dat
	[[ "$output" == *$'\na.service,'* ]]
	[ "$(grep ^a.service, <<< "$output" | cut -d, -f 3)" = 40 ]
	[ "$(grep ^b.service, <<< "$output" | cut -d, -f 3)" = 65 ]
}

# answers OPTION WORD COLUMN NAME: what each reader says of the calls of getppid() of those whom OPTION WORD chooses, and who have NAME in COLUMN.
answers()
{
	local one=(-e sys_enter_getppid "$1" "$2") by=$3 name=$4
	echo "report $(calls "$1" "$2" a.dat)"
	echo "syscalls $(counted "$1" "$2" a.dat)"
	echo "syscalls --by $(weft syscalls --by "$by" --format csv a.dat | awk -F, -v name="$name" '$1 == name { sum += $3 } END { print sum }')"
	echo "csv $(weft export -q --to csv "${one[@]}" -o - a.dat | sed 1d | grep -c .)"
	echo "csv, a column $(weft export -q --to csv -e sys_enter_getppid --fields "$by" -o - a.dat | grep -cx "$name")"
	echo "sql $(weft sql "$1" "$2" a.dat "SELECT count(*) FROM ftrace_event WHERE name = 'sys_enter_getppid'" | tail -n 1)"
	echo "sql, who $(weft sql a.dat "SELECT count(*) FROM ftrace_event AS e JOIN who USING (utid)
		WHERE e.name = 'sys_enter_getppid' AND e.ts >= who.ts AND e.ts < who.ts + who.dur AND who.$by = '$name'" | tail -n 1)"
	screen_start 160 90 "$WEFT" view "${one[@]}" a.dat
	screen_await ': sys_getppid'
	echo "view $(screen_show | grep -c ': sys_getppid')"
	screen_end
	[ ! -d "$BUILD/python" ] || echo "libweft $(PYTHONPATH=$BUILD/python python3 -c '
import sys, weft
trace = weft.open("a.dat")
print(sum(trace.who(sys.argv[1], event.pid, event.ts) == sys.argv[2] for event in trace.events("sys_enter_getppid")))' "$by" "$name")"
}

@test "who: every reader gives one answer about a process, a unit, a container and a pod" {
	need_tracefs
	need_command tmux
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	id=$(printf 'weft%s' "$$" | sha256sum | cut -d' ' -f 1)
	uid=0f1a2b3c-1111-2222-3333-$(printf '%012d' $$)
	top=$root/weft-who-$$.slice kubepods=$root/kubepods-weft$$.slice
	pod=$kubepods/kubepods-weft$$-pod${uid//-/_}.slice
	mkdir -p "$top/a.service" "$pod/cri-containerd-$id.scope" || skip "no control group can be made"
	# GROUP CALLS
	cat > run.py <<-END
		import os, sys
		open(sys.argv[1] + "/cgroup.procs", "w").write(str(os.getpid()))
		for i in range(int(sys.argv[2])): os.getppid()
	END
	weft record -q -o a.dat -e syscalls:sys_enter_getppid -e syscalls:sys_exit_getppid -e sched:sched_switch -e sched:sched_waking \
		-e task:task_newtask -e sched:sched_process_exec -e cgroup:cgroup_attach_task -- \
		sh -c "./work$$ run.py '$top/a.service' 40; ./other$$ run.py '$pod/cri-containerd-$id.scope' 25; ./other$$ -c 'import os; os.getppid()'" || failed=1
	rmdir "$top/a.service" "$top" "$pod/cri-containerd-$id.scope" "$pod" "$kubepods" || :
	[ -z "${failed:-}" ]
	while read -r option word by name want; do
		answers "$option" "$word" "$by" "$name" > said
		[ "$(sed 's/.* //' said | sort -u)" = "$want" ] || { echo "$option $word:"; cat said; false; }
		[ "$(grep -c . said)" -ge 8 ]
	done <<-END
		--process work$$ process work$$ 40
		--process other$$ process other$$ 26
		--unit a unit a.service 40
		--container ${id:0:12} container $id 25
		--pod $uid pod $uid 25
	END
	# And sched, latency and the table of all times to the nanosecond. Its status asks for stacks, too.
	run python3 "$BATS_TEST_DIRNAME/../oracle/agree" -w "$WEFT" a.dat
	[[ "$output" == *"agree: 1 passed, 0 failed"* ]]
}

@test "who: record --unit and --cgroup take the tasks of a group, what they fork, and tell what comes in later" {
	need_tracefs
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	top=$root/weft-live-$$.slice
	mkdir -p "$top/a.service" || skip "no control group can be made"
	mkfifo go done
	cat > inside.py << 'END'
import os, sys, threading
def call(n):
    for i in range(n): os.getppid()
open(sys.argv[1] + "/a.service/cgroup.procs", "w").write(str(os.getpid()))
open("ready", "w")
open("go").read()
call(100)
t = threading.Thread(target=call, args=(20,))
t.start()
t.join()
if not os.fork():
    call(30)
    os._exit(0)
os.wait()
open("done", "w").write("x")
END
	cat > drive.py << 'END'
import os, sys, time
def call(n):
    for i in range(n): os.getppid()
call(1000)
open("go", "w").write("x")
open("done").read()
if not os.fork():
    open(sys.argv[1] + "/a.service/cgroup.procs", "w").write(str(os.getpid()))
    while "came into it later" not in open("err").read(): time.sleep(0.01)
    call(50)
    os._exit(0)
os.wait()
END
	python3 inside.py "$top" 3>&- &
	inside=$!
	until [ -e ready ]; do sleep 0.05; done
	weft record -o a.dat -e syscalls:sys_enter_getppid --unit 'weft-none-*' -- true 2> no && no=0 || no=$?
	mkdir "$top/empty.service"
	weft record -o a.dat -e syscalls:sys_enter_getppid --cgroup "/weft-live-$$.slice/empty.service" -- true 2> empty && empty=0 || empty=$?
	timeout 60 weft record -o a.dat -e syscalls:sys_enter_getppid --cgroup "/weft-live-$$.slice" -- python3 drive.py "$top" 2> err || failed=1
	# bats has a process of its own in this shell, which watches the time of the test.
	[ -z "${failed:-}" ] || kill "$inside" 2> /dev/null || :
	wait "$inside" || :
	rmdir "$top"/*.service "$top" || :
	cat err no empty
	[ -z "${failed:-}" ]
	[ "$no" = 2 ]
	[ "$empty" = 2 ]
	grep -q "the control group '.*/empty.service' is empty: no task runs in it; .*weft does not wait for one: start it first, or record all" empty
	grep -q "no task runs in a unit 'weft-none-\*'.*record all tasks, and give --unit to the command that reads" no
	[ "$(calls a.dat)" = 200 ]
	[ "$(grep -c 'came into it later: what it did is recorded from' err)" = 1 ]
}

@test "who: each analysis has rows of each kind of those that tasks belong to" {
	for part in process program unit container pod cgroup user; do
		for command in sched syscalls latency tasks; do
			run -0 weft $command --by $part -o "$part-$command" "$BATS_TEST_DIRNAME/../fixtures/demo.dat"
			head -q -n 1 "$part-$command"/*.csv | grep -qE "^($part|comm),"
		done
	done
}

# sums COLUMN... OPTION...: the sums of two columns of a table
sums() {
	local a=$1 b=$2

	shift 2
	weft "$@" --format csv a.dat | awk -F, -v a="$a" -v b="$b" 'NR > 1 { x += $a; y += $b } END { printf "%d %d\n", x, y }'
}

@test "who: what interrupts hit, memory and marks add up to the same, whosever the rows are" {
	need_tracefs
	# shellcheck disable=SC2016
	weft record -q -o a.dat -b 4M --for irq -e sched -e task:task_newtask -e exceptions -e kmem:kmalloc -e kmem:kfree -e ftrace:print -- \
		sh -c 'echo "B|$$|outer" > /sys/kernel/tracing/trace_marker; ./work'$$' -c "list(range(300000))"; echo "E|$$" > /sys/kernel/tracing/trace_marker'
	hit=$(sums 3 4 irq --table victims)
	allocated=$(sums 2 3 memory --table callers)
	faults=$(sums 3 4 memory --table faults)
	marked=$(sums 3 4 marks --table marks)
	for part in process program unit container pod cgroup user; do
		[ "$(sums 3 4 irq --table victims --by $part)" = "$hit" ]
		[ "$(sums 2 3 memory --table callers --by $part)" = "$allocated" ]
		[ "$(sums 3 4 memory --table faults --by $part)" = "$faults" ]
		[ "$(sums 3 4 marks --table marks --by $part)" = "$marked" ]
		run -0 weft memory --by $part --format csv --table faults a.dat
		[[ "$output" == $part,pid,user,kernel* ]]
		# It ran for as long as sched says.
		weft sched --by $part --table groups --format csv a.dat | cut -d, -f 1-3 | LC_ALL=C sort > ran
		weft irq --by $part --table victims --format csv a.dat | awk -F, '$5 != "" && $1 != "<idle>" && $1 != "weft itself" { print $1 "," $2 "," $5 }' | LC_ALL=C sort > hits
		[ -z "$(LC_ALL=C comm -23 hits ran)" ]
	done
	weft marks --by program --table marks --format csv a.dat | grep -q '^\(sh\|dash\|bash\),'
	weft marks --by program --slowest 1 --table slowest --format csv a.dat | grep -q ',outer,'
}

# Recorded in a guest of Linux 6.1 by tests/guest/scenarios/record-quota: two tasks on a CPU each, of a service below a
# slice that may run for 20 of 100 ms. Its cpu.stat said throttled_usec 31253147 more after it than before.
@test "who: latency --by unit has the waits for a quota, and without --quota a line that they are missing" {
	file=$BATS_TEST_DIRNAME/../fixtures/quota.dat
	weft latency --by unit --table waits --format csv "$file" > waits
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 == "a.service" { n = $at["quota_ns"] / 31253147000; found = n > 0.98 && n < 1.02 }
		{ sum = 0; for (part in at) if (part ~ /^(quota|others|own|kernel|irq|softirq|idle|unknown)_ns$/) sum += $at[part]
		  wrong += sum != $at["wait_ns"] }
		END { exit !(found && !wrong) }' waits
	run -0 weft latency --by unit --table waits "$file"
	[[ "$output" =~ WAIT\ +QUOTA && "$output" != *"not recorded: quota"* ]]
	run -0 weft report "$file"
	[[ "$output" != *tg_throttle_down* ]]
	run -0 weft latency --by unit --table waits "$BATS_TEST_DIRNAME/../fixtures/demo.dat"
	[[ "$output" == *"not recorded: quota"*"weft record --quota"* ]]
}

@test "who: --process says in every reader that new tasks are left out whose process is not known" {
	local file=$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat command
	local lack='wanted and not recorded: -e task:task_newtask (the process of 1 new task, left out by --process)'
	for command in report "export -q --to csv -o out.csv" "export -q --to sqlite -o out.db" "split -q -o out.dat"; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr weft $command --process sleep "$file"
		[[ "$stderr" == *"$lack"* ]]
		# shellcheck disable=SC2086
		run -0 --separate-stderr weft $command --comm sleep "$file"
		[[ "$stderr" != *task_newtask* ]]
	done
	run -0 --separate-stderr weft sql --process sleep "$file" 'SELECT count(*) FROM thread'
	[[ "$stderr" == *"$lack"* ]]
	run -0 weft sched --process sleep "$file"
	[[ "$output" == *"-e task:task_newtask (the process of 1 new task, left out by --process)"* ]]
}

@test "who: a choice of tasks has the same times in each command and export, of a recording of all tasks" {
	need_command python3
	local file=$BATS_TEST_DIRNAME/../fixtures/golden/6.1-rt-events-sched.dat words
	# Two of the tasks called sh execute another program in the recording.
	for words in "--comm sh" "--comm ls" "--pid 147" "--pid 17,147" "--process 152" "--comm sh --since 7.5 --until 7.56"; do
		# shellcheck disable=SC2086
		run -0 python3 "$BATS_TEST_DIRNAME/export/chosen.py" "$WEFT" "$file" $words
		[ "${#lines[@]}" -eq 4 ]
		[ "$(cut -d' ' -f2 <<< "$output" | sort -u | wc -l)" -eq 1 ]
		[ "${lines[0]}" != "sched 0" ]
	done
	run -0 python3 "$BATS_TEST_DIRNAME/export/chosen.py" "$WEFT" "$BATS_TEST_DIRNAME/../fixtures/quota.dat" --unit a.service
	[ "$(cut -d' ' -f2 <<< "$output" | sort -u | wc -l)" -eq 1 ]
	[ "${lines[0]}" = "sched 3953942880" ]
}

@test "who: HTML has the tables of the chosen tasks, as weft summary has them" {
	need_command jq
	local file=$BATS_TEST_DIRNAME/../fixtures/golden/6.1-rt-events-sched.dat
	weft export -q --to html --comm sh -o "$BATS_TEST_TMPDIR/page.html" "$file"
	sed -n 's/^"tables":\(".*"\),$/\1/p' "$BATS_TEST_TMPDIR/page.html" | jq -r . | sed -n '/^# tasks/,/^$/p' > "$BATS_TEST_TMPDIR/got"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/got")" -eq 6 ]
	weft summary --comm sh "$file" | sed -n '/^# tasks/,/^$/p' | diff - "$BATS_TEST_TMPDIR/got"
}

@test "who: an export of some tasks has no other one's events, and Perfetto gets all that the scheduler did" {
	need_command protoc
	need_command python3
	local file=$BATS_TEST_DIRNAME/../fixtures/golden/6.1-rt-events-sched.dat
	run -0 weft sql -q --format csv --pid 147 "$file" 'SELECT count(*), count(DISTINCT utid) FROM ftrace_event'
	[ "${lines[1]}" = "$(weft report --pid 147 "$file" | grep -cv '^#'),1" ]
	weft export -q --to perfetto --pid 147 "$file" -o - 2> /dev/null | protoc -I"$BATS_TEST_DIRNAME/export" \
		--decode=weft.Trace "$BATS_TEST_DIRNAME/export/perfetto.proto" > "$BATS_TEST_TMPDIR/decoded"
	run -0 python3 "$BATS_TEST_DIRNAME/export/perfetto.py" counts "$BATS_TEST_TMPDIR/decoded"
	[[ "$output" == *"sched_switch $(weft report "$file" | grep -c sched_switch:)"* ]]
	[[ "$output" == *"sched_waking $(weft report "$file" | grep -c sched_waking:)"* ]]
	[[ "$output" == *"sched_stat_runtime $(weft report --pid 147 "$file" | grep -c sched_stat_runtime:)"* ]]
}

@test "who: an export of the last events of some tasks says that their times of running and waiting are not exact" {
	local file=$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat note='so these times are not exact'
	for to in sqlite perfetto chrome; do
		run -0 --separate-stderr weft export -q --to $to --comm sleep --tail 20 -o out "$file"
		[[ "$stderr" == *"$note"* ]]
		run -0 --separate-stderr weft export -q --to $to --tail 20 -o out "$file"
		[[ "$stderr" != *"$note"* ]]
		run -0 --separate-stderr weft export -q --to $to --comm sleep -o out "$file"
		[[ "$stderr" != *"$note"* ]]
	done
	run -0 --separate-stderr weft export -q --to csv --comm sleep --tail 20 -o out "$file"
	[[ "$stderr" != *"$note"* ]]
	run -0 --separate-stderr weft sql --comm sleep --tail 20 "$file" 'SELECT 1'
	[[ "$stderr" == *"$note"* ]]
}
