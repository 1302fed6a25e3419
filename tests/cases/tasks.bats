#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft tasks, compared with the kernel's own text of the same events, and with what a workload is known to start.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
file=$golden/6.12-events-sched.dat

setup()
{
	out=$BATS_TEST_TMPDIR/out
}

# Prints the values of a field of an event in the kernel's text, sorted.
field_of()
{
	grep ": $2: " "$1" | sed -E "s/.*[ :]$3=([^ ]+).*/\1/" | sort
}

@test "tasks: forks, execs and exits are those of the kernel's text" {
	need_command jq
	local name text
	for name in 6.12-events-sched 6.1-rt-events-sched; do
		text=$golden/$name.txt
		weft tasks "$golden/$name.dat" --self --format json > "$out"
		jq -r '.tasks[] | select(.began != null) | .pid' "$out" | sort | diff <(field_of "$text" sched_process_fork child_pid) -
		jq -r '.tasks[] | select(.began != null) | .parent_pid' "$out" | sort | diff <(field_of "$text" sched_process_fork pid) -
		jq -r '.tasks[] | select(.ended != null) | .pid' "$out" | sort | diff <(field_of "$text" sched_process_exit pid) -
		jq -r '.tasks[] | select(.execs > 0) | .program' "$out" | sort | diff <(field_of "$text" sched_process_exec filename) -
	done
}

@test "tasks: a life is the time between the fork and the exit in the kernel's text" {
	need_command jq
	weft tasks "$file" --format json > "$out"
	awk '{ match($0, / [0-9]+\.[0-9]+: /); ts = substr($0, RSTART, RLENGTH - 2) * 1e6 }
		/: sched_process_fork: / { sub(/.*child_pid=/, ""); since[$0] = ts }
		/: sched_process_exit: / { sub(/.* pid=/, ""); sub(/ .*/, ""); printf "%s %.0f\n", $0, ts - since[$0] }' "${file%.dat}.txt" > "$out.want"
	[ -s "$out.want" ]
	while read -r pid life; do
		jq -e --argjson pid "$pid" --argjson life "$life" '.tasks[] | select(.pid == $pid) | .life_ns / 1000 - $life | fabs < 2' "$out"
	done < "$out.want"
}

@test "tasks: prints a table, a tree, programs and parents, and what limits them" {
	weft tasks "$file" | sed '/^# wanted/,$d' | diff - <(cat <<- END
		# tasks that began, executed a program or ended
		TASK  PID  PARENT     LIFE      RUN  CHILDREN  EXECS        BEGAN        ENDED  PROGRAM
		ls     66  sh-62    8.6 ms   7.9 ms         0      0  2.946094647  2.954668489
		cat    67  sh-62   12.1 ms  10.7 ms         0      1  2.947818095  2.959898293  /proc/self/exe

		# longest life of a task: 12.1 ms, cat-67 on CPU 1: weft report --since 2.947818095 --until 2.959898293 $file
		# 2 tasks began, 2 ended, 1 exec of 1 program; sh-62 started the most: 2
		# RUN ends with LIFE, at sched_process_exit: until they had left their CPUs these tasks ran 1.1 ms more, which RUN of weft sched has, too
		# cut by the start or the end: none
		# broken by lost events: none
	END
	)
	need_command jq
	sum() { weft "$1" --format json "$file" | jq '[.tasks[] | select(.pid == 66 or .pid == 67).run_ns] | add'; }
	[ "$(awk -v ns=$(($(sum sched) - $(sum tasks))) 'BEGIN { printf "%.1f", ns / 1e6 }')" = 1.1 ]
	weft tasks "$file" --tree | sed '/^$/,$d' | diff - <(cat <<- END
		# tasks, below the tasks that started them
		TASK   PID     LIFE      RUN  CHILDREN  EXECS        BEGAN        ENDED  PROGRAM
		sh      62                           2
		  ls    66   8.6 ms   7.9 ms         0      0  2.946094647  2.954668489
		  cat   67  12.1 ms  10.7 ms         0      1  2.947818095  2.959898293  /proc/self/exe
	END
	)
	[ "$(weft tasks "$file" --by program --format csv | sed -n 2p | cut -d, -f1-5)" = "/proc/self/exe,1,0,,5597493" ]
	[ "$(weft tasks "$file" --by parent --format csv | sed -n 2p | cut -d, -f1-5)" = "sh,62,2,0,2" ]
	[ "$(weft tasks "$file" --top 1 | sed -n '3p; 4p' | awk '{ print $1, $2, $3, $4 }')" = "$(printf 'ls 66 sh-62 8.6\n... and 1 more;')" ]
	[ "$(weft tasks "$file" --sort life --format csv | sed -n 2p | cut -d, -f1,2)" = cat,67 ]
	[ "$(weft tasks "$file" --comm 'c*' --format csv | sed -n '2,$p' | cut -d, -f1,2)" = cat,67 ]
	# The command to paste begins with the fork.
	eval "$(weft tasks "$file" | sed -n 's/^# longest .*: \(weft report .*\)/\1/p')" | grep -v '^#' > "$out"
	grep -q 'sched_process_fork: .* child_pid=67' "$out"
	[[ "$(tail -n 1 "$out")" == *"sched_process_exit: comm=cat pid=67 "* ]]
}

@test "tasks: --slowest and --longer show the longest lives, whose they were and what most of each was" {
	need_command jq
	local file=tests/fixtures/golden/6.12-events-sched.dat
	weft tasks --format json --slowest 1 "$file" > "$BATS_TEST_TMPDIR/json"
	# In the text, the fork of cat-67 is at 2.947818 and its exit at 2.959898; it had its CPU for most of that.
	jq -e '.slowest | length == 1 and (.[0] | .pid == 67 and .parent_pid == 62 and .cause == "ran" and .run_ns > .lasted_ns / 2)' "$BATS_TEST_TMPDIR/json"
	jq -e '.slowest[0].lasted_ns / 1000 - (2959898 - 2947818) | fabs < 1.1' "$BATS_TEST_TMPDIR/json"
	[ "$(jq '.slowest[0].lasted_ns' "$BATS_TEST_TMPDIR/json")" -eq "$(jq '[.tasks[] | select(.end == "ended") | .life_ns] | max' "$BATS_TEST_TMPDIR/json")" ]
	run -0 weft tasks --longer 10ms "$file"
	[[ "$output" == *"# longer than 10.0 ms: 1 task"* ]]
}

@test "tasks: refuses what makes no sense, and says what a file lacks" {
	run -2 weft tasks --tree --sort life "$file"
	[[ "$output" == *"--tree cannot be combined with --sort: its order is fixed"* ]]
	run -2 weft tasks --tree --by program "$file"
	[[ "$output" == *"--tree cannot be combined with --by program: its rows are tasks"* ]]
	run -2 weft tasks --by thread "$file"
	[[ "$output" == *"--by: unknown value 'thread'; the values are task, program, parent, process, unit, "* ]]
	run -1 weft tasks "$golden/6.12-function.dat"
	[[ "$output" == "weft: there are no tasks that began or ended among the events"*"record with -e sched -e task"* ]]
	run -0 weft tasks "$file"
	[[ "$output" == *"# wanted and not recorded: "*"-e task:task_newtask (which tasks are threads)"*"'weft record --for tasks' records it all"* ]]
}

@test "tasks: a shell script's forks, execs and ends are those that it says" {
	need_tracefs
	need_command jq
	# shellcheck disable=SC2016 # of the inner shells
	weft record -q --for tasks -F -c -o "$out.dat" -- sh -c '
		for i in 1 2 3 4 5; do /bin/true; done
		(exit 3)
		(exec false)
		sh -c "kill -9 \$\$; :"
		sh -c "trap : TERM; kill -TERM \$\$; exit 4"
		exit 9' 2> /dev/null || [ $? -eq 9 ]
	weft tasks "$out.dat" --format json > "$out"
	jq -r '.tasks[] | "\(.comm) \(.kind) \(.execs) \(.exit_status) \(.exit_signal)"' "$out" | diff - <(cat <<- END
		sh null 1 9 null
		true process 1 0 null
		true process 1 0 null
		true process 1 0 null
		true process 1 0 null
		true process 1 0 null
		sh process 0 3 null
		false process 1 1 null
		sh process 1 null 9
		sh process 1 4 null
	END
	)
	jq -e '.missing == null and .broken == null' "$out"
	jq -e '.tasks[0].pid as $pid | .tasks[0].children == 9 and ([.tasks[1:][] | .parent_pid == $pid and .end == "ended" and .life_ns > 0] | all)' "$out"
	# Each program ran once for each exec.
	[ "$(weft tasks "$out.dat" --by program --format json | jq -r '[.programs[] | "\(.program | sub(".*/"; "")) \(.runs) \(.failed)"] | sort | join(", ")')" = \
		"false 1 1, sh 3 3, true 5 0" ]
	# The shell began before the recording.
	weft tasks "$out.dat" --tree | sed -n 3p | grep -qE '^sh +[0-9]+ +> +[0-9.]+ ms +[0-9.]+ [mu]s  9 '
	weft tasks "$out.dat" --tree | sed -n 4p | grep -qE '^  true +[0-9]+  process  +[0-9.]+ [mu]s +[0-9.]+ [mu]s  0 '
	grep -q '^# 9 tasks began, 10 ended, 9 execs of 3 programs; sh-[0-9]* started the most: 9$' <(weft tasks "$out.dat")
	# The runs that weft diff compares.
	[ "$(weft diff tasks "$out.dat" "$out.dat" --format json | jq '.changes[] | select(.figure == "rate" and (.row | endswith("/true"))) | .old_n')" = 5 ]
}

@test "tasks: a thread that ends its process, and one that executes a program" {
	need_tracefs
	need_command jq
	command -v "${CC:-gcc}" > /dev/null || skip "no compiler here"
	cat > "$out.c" <<- 'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <unistd.h>
		static void *waits(void *arg) { pause(); return arg; }
		static void *ends(void *arg) { if (!arg) _exit(7); execl("/bin/true", "true", NULL); return NULL; }
		int main(int argc, char **argv)
		{
			pthread_t threads[3];
			(void)argv;
			pthread_create(&threads[0], NULL, waits, NULL);
			pthread_create(&threads[1], NULL, waits, NULL);
			pthread_create(&threads[2], NULL, ends, argc > 1 ? argv : NULL);
			return pthread_join(threads[0], NULL);
		}
	END
	"${CC:-gcc}" -pthread -o "$BATS_TEST_TMPDIR/threads" "$out.c"
	# shellcheck disable=SC2016 # of the inner shell
	weft record -q --for tasks -F -c -o "$out.dat" -- sh -c '"$1"; "$1" exec; :' - "$BATS_TEST_TMPDIR/threads"
	weft tasks "$out.dat" --format json > "$out"
	jq -r '.tasks[1:][] | "\(.comm) \(.kind) \(.execs) \(.exit_status) \(.exit_signal)"' "$out" | sort | diff - <(sort <<- END
		threads process 1 7 null
		threads thread 0 7 null
		threads thread 0 7 null
		threads thread 0 7 null
		true process 2 0 null
		threads thread 0 null 9
		threads thread 0 null 9
		threads thread 0 null null
	END
	)
	[ "$(jq '[.tasks[] | select(.kind == "thread") | .parent_pid] | unique | length' "$out")" -eq 2 ]
	# Those of the tree are the same.
	[ "$(weft tasks "$out.dat" --tree --format json | jq -c '[.tasks[] | .depth] | sort')" = "[0,1,1,2,2,2,2,2,2]" ]
}

@test "tasks -- COMMAND: shows the command's own tasks; stream --summary counts them as they come" {
	need_tracefs
	need_command jq
	weft tasks --format json -- sh -c '/bin/true; /bin/true; :' > "$out"
	[ "$(jq -r '[.tasks[].comm] | join(" ")' "$out")" = "sh true true" ]
	weft stream -q -F -c --summary tasks --every 20ms --format json -- sh -c '/bin/true; sleep 0.05; /bin/true; :' > "$out"
	[ "$(jq -s -r '[.[-1].tasks[].comm] | join(" ")' "$out")" = "sh true sleep true" ]
	[ "$(jq -s '[.[:-1][] | .tasks // [] | .[] | select(.began != null)] | length' "$out")" -eq 3 ]
}

@test "summary: says how many tasks began and ended, if the file has the events, and where there is more" {
	local forks exits
	forks=$(grep -c ': sched_process_fork: ' "${file%.dat}.txt")
	exits=$(grep -c ': sched_process_exit: ' "${file%.dat}.txt")
	weft summary "$file" | grep -qE "^tasks began, ended +$forks, $exits \(more: weft tasks\)$"
	weft summary "$golden/6.12-function.dat" > "$out"
	run -1 grep 'tasks began' "$out"
}
