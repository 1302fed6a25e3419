# SPDX-License-Identifier: GPL-2.0-only
# record --stacks user: stacks of a program without frame pointers, which notes its own chains of calls (tests/guest/chains.c).
# judge FUNCTION COLUMN: prints of the times off a CPU in nanosleep(), or other events, in /tmp/off.csv, how many have a stack that begins
# with FUNCTION, by the numbers in COLUMN, how many of these are whole, and how many are of no chain, or the beginning of none, of /tmp/chains
judge() {
	awk -v first="${1:-clock_nanosleep}" -v times="${2:-times}" '
	BEGIN { FS = ","; split("leaf next alpha beta gamma3 delta order main", f, " "); for (i in f) own[f[i]] = 1 }
	FILENAME ~ /csv$/ && FNR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
	FILENAME ~ /csv$/ {
		n = split($col["stack"], s, " < "); text = ""
		for (i = 1; i <= n; i++) if (s[i] in own) text = text " " s[i]
		if (s[1] != first) next
		all += $col[times]
		if (s[n] == "_start") { whole += $col[times]; got[text] += $col[times] } else cut[text] += $col[times]
		next
	}
	{ text = $0; sub(/^[0-9]+/, "", text); split($0, w, " "); want[text] = w[1] }
	END {
		for (t in got) if (!(t in want)) wrong += got[t]
		for (c in cut) { found = 0; for (t in want) found += index(t, c) == 1; if (!found) wrong += cut[c] }
		print all + 0, whole + 0, wrong + 0
	}' /tmp/off.csv /tmp/chains
}

# most MANY ALL: at least 95 %
most() { [ $(($1 * 100)) -ge $(($2 * 95)) ] || { echo "$1 of $2"; return 1; }; }

# calls FUNCTION: of the 300 events whose stacks begin with it, nearly each has a whole stack, and none is wrong
calls() {
	local all whole wrong

	weft stacks --comm chains --table events --top 0 --format csv /tmp/r.dat > /tmp/off.csv 2> /tmp/err
	check "weft stacks reads them" status_is $? 0 /tmp/err
	read -r all whole wrong << EOF
$(judge "$1" count)
EOF
	echo "$1: $all stacks, $whole whole, $wrong wrong" >> $OUT/numbers
	check "each has a stack" equal "$all" 300
	check "of which nearly each is whole" most "$whole" "$all"
	check "and no frame is wrong" equal "$wrong" 0
	cp /tmp/off.csv "$OUT/$1.csv"
	weft export --to folded --weight count --comm chains /tmp/r.dat > /tmp/folded 2> /tmp/err
	check "a flame graph has them" matches /tmp/folded "^chains;_start;__libc_start_main.*;main;next;.*leaf.* [0-9]+$"
}

scenario() {
	local all whole wrong slept

	command -v chains > /dev/null || { skip "record --stacks user" "no program for it in this guest"; return; }
	remember
	record "weft copies the stacks of programs" 0 -e sched:sched_switch --stacks user -- sh -c 'chains 400 > /tmp/chains'
	unchanged "the instance of weft's own goes with the recording"
	weft stacks --comm chains --table off_cpu --top 0 --format csv /tmp/r.dat > /tmp/off.csv 2> /tmp/err
	check "weft stacks reads them" status_is $? 0 /tmp/err
	read -r all whole wrong << EOF
$(judge)
EOF
	# A timer of this slow machine may be over before the task has left its CPU.
	slept=$(weft report -e sched_switch -f 'prev_comm == "chains" && prev_state == 1' /tmp/r.dat | grep -c 'prev_comm=chains')
	echo "$slept sleeps, $all stacks, $whole whole, $wrong wrong" > $OUT/numbers
	check "there are many sleeps" more "$slept" 200
	check "nearly each has a stack" most "$all" "$slept"
	check "of which nearly each is whole" most "$whole" "$all"
	check "and no frame is wrong" equal "$wrong" 0
	weft export --to folded --weight off-cpu /tmp/r.dat > /tmp/folded 2> /tmp/err
	check "a flame graph of times off the CPU has them" matches /tmp/folded '^chains;_start;__libc_start_main.*;main;next;.*leaf;nanosleep;clock_nanosleep;\[blocked\] [0-9]+$'
	cp /tmp/folded $OUT/
	weft stacks --comm chains /tmp/r.dat > /tmp/off.txt 2>&1
	check "it is said how they are known" matches /tmp/off.txt '^# [0-9]+ stacks of programs by the rules of their own files'
	record "weft copies fewer words" 0 -e sched:sched_switch --stacks user:16 -- sh -c 'chains 100 > /tmp/chains'
	weft stacks --comm chains --table off_cpu --top 0 --format csv /tmp/r.dat > /tmp/off.csv 2> /tmp/err
	check "a stack that is cut says so" matches /tmp/off.csv 'clock_nanosleep < nanosleep < leaf < .* < \.\.\.(,.*)?$'
	read -r all whole wrong << EOF
$(judge)
EOF
	check "and has no wrong frame" equal "$wrong" 0
	record "weft copies stacks at a system call" 0 -e syscalls:sys_enter_clock_nanosleep --stacks user -- sh -c 'chains 300 > /tmp/chains'
	calls clock_nanosleep
	record "weft copies stacks at all system calls, beside those of the kernel" 0 -e raw_syscalls:sys_enter -T --stacks user -- sh -c 'chains 300 > /tmp/chains'
	if grep -q 't\[:\[<group>/\]' "$T/README"; then
		calls clock_nanosleep
	else
		check "without probes of tracepoints, record says that they have none" matches /tmp/r.err 'no probes of tracepoints .*raw_syscalls have no stacks'
	fi
	record "weft copies stacks at a probe of a program" 0 --probe "$(command -v chains):leaf" --stacks user -- sh -c 'chains 300 > /tmp/chains'
	calls leaf
	record "weft copies stacks at ticks" 0 --profile --stacks user -- sh -c 'shares-bare 2 > /tmp/measured'
	weft stacks --on-cpu --top 0 --format csv --comm shares-bare /tmp/r.dat > /tmp/ticks.csv 2> /tmp/err
	check "weft stacks --on-cpu reads them" status_is $? 0 /tmp/err
	read -r all whole << EOF
$(awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
	$col["stack"] ~ /(six|three|one) </ { all += $col["samples"] } $col["stack"] ~ /(six|three|one) < work < main < .* < _start$/ { whole += $col["samples"] } END { print all + 0, whole + 0 }' /tmp/ticks.csv)
EOF
	echo "$all samples, $whole whole" >> $OUT/numbers
	check "there are many samples" more "$all" 50
	check "nearly each has the whole stack of the program" most "$whole" "$all"
	weft export --to folded --comm shares-bare /tmp/r.dat > /tmp/folded 2> /tmp/err
	check "a flame graph has the same stacks" matches /tmp/folded '^shares-bare;_start;__libc_start_main.*;main;work;six [0-9]+$'
	cp /tmp/ticks.csv /tmp/r.dat /tmp/chains /tmp/off.csv /tmp/off.txt $OUT/
}
