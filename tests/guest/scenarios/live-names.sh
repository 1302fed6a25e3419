# SPDX-License-Identifier: GPL-2.0-only
# Names of tasks that are as odd as the kernel permits.
scenario() {
	VARIANTS='latency-format raw'
	live names 'for name in "my task" "a:b-1 [x]" "tab	name" "%s%d%n" "<...>" "kworker/0:1-99" "=>[000] 1.000:" "trailing   " "  leading" "a==>b"; do
			(printf "%s" "$name" > /proc/self/comm; usleep 100)
		done
		(printf "new\nline" > /proc/self/comm; usleep 100)
		(printf "\377\376\200zz" > /proc/self/comm; usleep 100)' -e sched -e task
	VARIANTS=
	echo norecord-cmd > $T/trace_options
	live no-names load -e sched:sched_switch
}
