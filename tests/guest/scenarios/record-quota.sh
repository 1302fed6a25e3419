# SPDX-License-Identifier: GPL-2.0-only
# record --quota: how long the tasks of a service waited because a control group above them had used up its quota, beside cpu.stat.
column() { head -n 1 "$1" | tr , '\n' | grep -n -x "$2" | cut -d: -f1; }
cell() { awk -F, -v c="$(column "$1" "$3")" -v who="$2" '/^$/ { exit } $1 == who { print $c }' "$1"; }
stopped() { sed -n 's/^throttled_usec //p' /tmp/cg/t.slice/cpu.stat; }
# Within 2 %: the kernel takes its own clock, of the last tick or switch.
is_near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a > b ? a - b : b - a; exit !(a != "" && b > 0 && d <= b / 50) }'; }
adds_up() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
		/^$/ { exit }
		{ all = sum = 0
		  for (i = 2; i <= NF; i++)
			if (name[i] == "wait_ns") all = $i
			else if (name[i] ~ /^(quota|others|own|kernel|irq|softirq|idle|unknown)_ns$/) sum += $i
		  if (all != sum) exit 1 }' "$1"
}

# judge FILE WANT: "RIGHT WRONG UNKNOWN" of the switches and calls of the children, from their first call on
# (they are in their groups then)
judge() {
	awk -F, 'NR == FNR { split($0, word, " "); want[word[1]] = word[2]; next }
		FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ pid = $at["pid"]; event = $at["event"]; group = $at["cgroup"] }
		!(pid in want) { next }
		event == "sys_enter_getppid" { there[pid] = 1 }
		!there[pid] || (event != "sched_switch" && event != "sys_enter_getppid") { next }
		group == want[pid] { right++; next }
		group == "" || group == "(unknown)" { unknown++; next }
		{ wrong++ }
		END { print right + 0, wrong + 0, unknown + 0 }' "$2" "$1"
}

# Children in 50 groups, of which each fifth is born there.
births() {
	local right wrong unknown

	command -v forks > /dev/null || { skip "groups of children" "forks is built for this machine only"; return; }
	record "weft records children in 50 control groups" 0 --quota -b 4M -e sched:sched_switch -e syscalls:sys_enter_getppid -e task:task_newtask \
		-e sched:sched_process_exec -e cgroup:cgroup_attach_task -e cgroup:cgroup_mkdir -- sh -c 'exec forks /tmp/cg 500 > /tmp/want'
	weft export -q --to csv --fields ts,event,pid,cgroup -o /tmp/births.csv /tmp/r.dat
	read -r right wrong unknown <<-END
		$(judge /tmp/births.csv /tmp/want)
	END
	check "all 500 children tell their groups" equal "$(wc -l < /tmp/want)" 500
	check "each switch and call of them is in its group ($right right, $wrong wrong, $unknown unknown)" equal "$wrong $unknown" "0 0"
	check "there were enough of them" more "$right" 2999
}

scenario() {
	local before after quota

	[ -e $T/kprobe_events ] && grep -q ' tg_throttle_down$' /proc/kallsyms && [ -e /sys/kernel/btf/vmlinux ] ||
		{ skip "record --quota" "this kernel has no probes, no types or no quotas"; return; }
	remember
	mkdir -p /tmp/cg && mount -t cgroup2 none /tmp/cg && echo +cpu > /tmp/cg/cgroup.subtree_control &&
		mkdir /tmp/cg/t.slice && echo +cpu > /tmp/cg/t.slice/cgroup.subtree_control && mkdir /tmp/cg/t.slice/a.service ||
		{ skip "record --quota" "no control group can be made"; return; }
	echo '20000 100000' > /tmp/cg/t.slice/cpu.max
	cat > /tmp/spin <<-'END'
		n=0
		while [ $n -lt 4000 ]; do n=$((n + 1)); done
	END
	cat > /tmp/work <<-'END'
		echo $$ > /tmp/cg/t.slice/a.service/cgroup.procs
		taskset 1 sh /tmp/spin &
		taskset 2 sh /tmp/spin &
		wait
	END
	before=$(stopped)
	record "weft records when a quota was used up" 0 --quota -b 4M -C mono -e sched -e irq -e task:task_newtask -e cgroup:cgroup_attach_task -- sh /tmp/work
	after=$(stopped)
	weft latency --by unit --format csv --table waits /tmp/r.dat > /tmp/waits.csv 2> /tmp/r.err
	check "weft latency --by reads it" status_is $? 0 /tmp/r.err
	quota=$(cell /tmp/waits.csv a.service quota_ns)
	echo "quota: weft ${quota:-0} ns, cpu.stat $(((after - before) * 1000)) ns"
	check "the quota of the group above is what cpu.stat says ($quota and $(((after - before) * 1000)) ns)" is_near "$quota" $(((after - before) * 1000))
	check "the parts add up to the waits" adds_up /tmp/waits.csv
	cp /tmp/r.dat $OUT/quota.dat
	record "weft records without it" 0 -e sched -- sh /tmp/work
	weft latency --by unit --table waits /tmp/r.dat > /tmp/r.txt 2>&1
	check "it says that quotas were not recorded" matches /tmp/r.txt 'not recorded: quota: the kernel stopped control groups [0-9]+ times'
	births
	rmdir /tmp/cg/t.slice/a.service /tmp/cg/t.slice && umount /tmp/cg
	unchanged "probes and instances of weft's own go with the recording"
}
