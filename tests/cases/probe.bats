#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Probes on this machine's own kernel: those of programs, if it has them. The other kinds are tested in guests.
load lib

T=/sys/kernel/tracing

setup()
{
	need_tracefs
	[ -e $T/uprobe_events ] && [ -e $T/dynamic_events ] || skip "this kernel has no uprobes"
	[ "$(cat $T/dynamic_events)" = "" ] || skip "somebody has probes here"
	need_command cc
	cd "$BATS_TEST_TMPDIR" || return 1
	printf '%s\n' '#include <stdio.h>' '__attribute__((noinline)) int probed_here(const char *text, int n) { return printf("%s %d\n", text, n); }' \
		'int main(void) { return probed_here("hello", 7) < 0; }' > program.c
	cc -O1 -g -o program program.c || skip "cc makes no program here"
}

teardown()
{
	[ -e program ] || return 0
	weft probe remove 'weft:probed_test*' > /dev/null 2>&1 || true
	weft probe remove 'elsewhere:probed_test*' > /dev/null 2>&1 || true
}

@test "probe: a function of a program is found in its symbols, recorded by name, listed and removed" {
	run --separate-stderr weft probe add 'probed_test=./program:probed_here text=arg1:string n=arg2:s32' 'probed_test_ret=./program:probed_here%return ret:s32'
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "weft:probed_test: uprobe "*"/program:0x"*" text=+0("*"):string n="*":s32" ]]
	weft record -q -o p.dat -e weft:probed_test -e weft:probed_test_ret -- ./program
	weft report p.dat > text
	grep -q 'probed_test: (0x[0-9a-f]*) text="hello" n=7$' text
	grep -q 'probed_test_ret: (0x[0-9a-f]* <- 0x[0-9a-f]*) ret=8$' text
	run --separate-stderr weft probe list
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == EVENT*KIND*BY*ON*HITS*MISSED*PLACE*ARGUMENTS ]]
	grep -Eq '^weft:probed_test +uprobe +weft +no +1 +0 +/.*/program:0x' <<< "$output"
	run --separate-stderr weft probe remove probed_test weft:probed_test_ret
	[ "$status" -eq 0 ]
	[ "$(cat $T/dynamic_events)" = "" ]
	[ -z "$(ls /run/weft/held-* 2> /dev/null | xargs -r grep -l probed_test)" ]
}

@test "probe: remove --all takes weft's own and leaves those of others" {
	weft probe add 'probed_test=./program:probed_here' > out
	echo "p:elsewhere/probed_test2 $PWD/program:0x1000" >> $T/dynamic_events
	run --separate-stderr weft probe list
	grep -Eq '^elsewhere:probed_test2 +uprobe +others ' <<< "$output"
	weft probe remove --all
	[[ "$(cat $T/dynamic_events)" == "p:elsewhere/probed_test2 "* ]]
	run ! weft probe list probed_test
	weft probe remove elsewhere:probed_test2
	[ "$(cat $T/dynamic_events)" = "" ]
}

@test "probe: what the kernel refuses is shown with the caret and the names that fit; of several none is made" {
	run --separate-stderr weft probe add 'probed_test=./program:probed_here' 'probed_test2=./program:probed_here a=%di:strin'
	[ -z "$output" ]
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"Unknown type is specified"*"a=%di:strin"*"did you mean 'string'"* ]]
	grep -q '^ *^$' <<< "$stderr"
	[ "$(cat $T/dynamic_events)" = "" ]
	run --separate-stderr weft probe add 'probed_test=./program:probed_here a=%ddi'
	[[ "$stderr" == *"Invalid register name"* ]]
	run --separate-stderr weft probe add 'probed_test=./program:probed_heer'
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"no function 'probed_heer'"*"did you mean 'probed_here'"* ]]
	run --separate-stderr weft probe add 'probed_test=./program:probed_here text:string'
	[[ "$stderr" == *"'text=\$arg1:string'"* ]]
	run --separate-stderr weft probe add 'probed_test=./program.c:probed_here'
	[[ "$stderr" == *"is neither a program nor a library"* ]]
}

@test "probe: a probe that is in use is not removed, and the message says where it is on" {
	weft probe add 'probed_test=./program:probed_here' > out
	mkdir $T/instances/weft-test-probes-$$
	echo 1 > $T/instances/weft-test-probes-$$/events/weft/probed_test/enable
	run --separate-stderr weft probe list -B weft-test-probes-$$
	grep -Eq '^weft:probed_test +uprobe +weft +yes ' <<< "$output"
	run --separate-stderr weft probe remove probed_test
	echo 0 > $T/instances/weft-test-probes-$$/events/weft/probed_test/enable
	rmdir $T/instances/weft-test-probes-$$
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"in use"*"instance 'weft-test-probes-$$'"* ]]
	weft probe remove probed_test
	[ "$(cat $T/dynamic_events)" = "" ]
}

@test "probe: --dry-run prints shell that makes the same probe, and makes none" {
	run --separate-stderr weft probe add --dry-run "probed_test=./program:probed_here a=\\'x'"
	[ "$status" -eq 0 ]
	[[ "$output" == "echo 'p:weft/probed_test $PWD/program:0x"*"' >> $T/dynamic_events" ]]
	[ "$(cat $T/dynamic_events)" = "" ]
}

@test "probe: a wrong command line is a usage error" {
	run --separate-stderr weft probe
	[ "$status" -eq 2 ]
	run --separate-stderr weft probe ad x
	[ "$status" -eq 2 ]
	run --separate-stderr weft probe remove
	[ "$status" -eq 2 ]
	run --separate-stderr weft probe list --all
	[ "$status" -eq 2 ]
	run --separate-stderr weft probe add -B x 'vfs_read'
	[ "$status" -eq 2 ]
}

@test "probe: record, start and stream make those of --probe, and they go with what made them" {
	run --separate-stderr weft record -o p.dat --probe './program:probed_here text=arg1:string n=arg2:s32' -f 'n > 5' \
		--probe 'probed_ret=./program:probed_here%return ret:s32' -- ./program
	[ "$status" -eq 0 ]
	[ "$(cat $T/dynamic_events)" = "" ]
	weft report p.dat > text
	grep -q 'program_probed_here: (0x[0-9a-f]*) text="hello" n=7$' text
	grep -q 'probed_ret: (.*) ret=8$' text
	run --separate-stderr weft stream --probe './program:probed_here text=arg1:string' -- ./program
	[ "$status" -eq 0 ]
	[[ "$output" == *'program_probed_here: ('*'text="hello"'* ]]
	[ "$(cat $T/dynamic_events)" = "" ]
	run --separate-stderr weft start --dry-run --probe './program:probed_here text=arg1:string'
	[ "$status" -eq 0 ]
	[[ "$output" == *"echo 'p:weft/program_probed_here "*"' >> dynamic_events"*"echo 1 > events/weft/program_probed_here/enable"* ]]
	[ "$(cat $T/dynamic_events)" = "" ]
	run --separate-stderr weft record -o p.dat --probe './program:probed_heer' -- ./program
	[ "$status" -eq 125 ]
	[[ "$stderr" == *"--probe './program:probed_heer': no function 'probed_heer'"*"did you mean 'probed_here'"* ]]
}

# A program with the probe `tick` in two places, and `tock`, which has an argument that the kernel cannot fetch.
usdt_program()
{
	need_command gcc
	[ "$(uname -m)" = x86_64 ] || skip "its notes are those of x86-64"
	cat > prog.c <<- 'END'
		#define NOTE(name, semaphore, arguments) \
			"990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n" \
			"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b, _.stapsdt.base, " semaphore "\n" \
			".asciz \"demo\"\n.asciz \"" name "\"\n.asciz \"" arguments "\"\n994: .balign 4\n.popsection\n"
		__asm__(".section .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n.weak _.stapsdt.base\n"
			"_.stapsdt.base: .space 1\n.previous\n");
		__attribute__((section(".probes"))) volatile unsigned short tick_semaphore __asm__("tick_semaphore");
		int main(void)
		{
			for (int i = 0; i < 3; i++) {
				if (tick_semaphore)
					__asm__ volatile(NOTE("tick", "tick_semaphore", "-4@%%eax 8@$7") : : "a"(i));
			}
			if (tick_semaphore)
				__asm__ volatile(NOTE("tick", "tick_semaphore", "-4@%%ebx 8@$7") : : "b"(40));
			__asm__ volatile(NOTE("tock", "0", "8@(%%rax,%%rbx,8) -4@%%ecx") : : "c"(-5));
			return 0;
		}
	END
	gcc -O1 -o prog prog.c
}

@test "probe: USDT probes of a program are listed, and become events with a semaphore and all places: command line" {
	cd "$BATS_TEST_TMPDIR"
	usdt_program
	weft list --usdt ./prog > got
	[ "$(sed 's/.*prog://' got | paste -sd ' ')" = 'demo:tick demo:tock' ]
	[ "$(weft list --usdt ./prog --full 'demo:tick' | cut -f 2)" = '2 places, semaphore: -4@%eax 8@$7' ]
	run -1 weft list --usdt ./prog nothing
	# The addresses are those of readelf; the program is loaded where the file says, or moved as a whole.
	need_command readelf
	weft list --usdt ./prog --full | grep -c . | diff - <(readelf -n prog | awk '/Provider/ { getline; print $2 }' | sort -u | grep -c .)
	run -2 weft list --usdt
	run -1 --separate-stderr weft list --usdt /etc/passwd
	[[ $stderr == *"neither a program nor a library"* ]]
}

@test "probe: USDT probes are hit as often as the program passes them, with their arguments" {
	need_tracefs
	cd "$BATS_TEST_TMPDIR"
	usdt_program
	weft record -q -o u.dat --probe usdt:./prog:tick --probe usdt:./prog:demo:tock -- ./prog
	weft report u.dat | sed -n 's/.*: \(t[io]ck\): (0x[0-9a-f]*)/\1/p' | diff - /dev/fd/3 3<<- 'END'
		tick arg1=0 arg2=7
		tick arg1=1 arg2=7
		tick arg1=2 arg2=7
		tick arg1=40 arg2=7
		tock arg2=-5
	END
	run ! grep -q prog /sys/kernel/tracing/dynamic_events
	run --separate-stderr weft probe add ticks=usdt:./prog:tick usdt:./prog:tock
	[[ $stderr == *"tock is without arg1 (8@(%rax,%rbx,8))"* ]]
	[ "$(grep -c 'weft/ticks' /sys/kernel/tracing/dynamic_events)" = 2 ]
	weft probe remove ticks tock
	run ! grep -q prog /sys/kernel/tracing/dynamic_events
	run -1 --separate-stderr weft probe add usdt:./prog:tic
	[[ $stderr == *"no USDT probe 'tic'"*"tick"* ]]
}

@test "probe: all USDT probes of programs of this machine are added, at each place that readelf names" {
	need_tracefs
	need_command readelf
	need_command python3
	cd "$BATS_TEST_TMPDIR"
	for program in "$(readlink -f "$(command -v python3)")" /usr/lib/postgresql/*/bin/postgres; do
		places=$(readelf -n "$program" 2> /dev/null | grep -c Provider) || continue
		weft list --usdt "$program" > names
		xargs weft probe add < names 2> notes
		[ "$(grep -cF "$program:" /sys/kernel/tracing/dynamic_events)" = "$places" ]
		[ "$(grep -F "$program:" /sys/kernel/tracing/dynamic_events | cut -d ' ' -f 1 | sort -u | grep -c .)" = "$(grep -c . names)" ]
		# What has no argument has one that is relative to the code.
		run ! grep -v '(%rip)' notes
		sed 's/.*usdt:.*:\(.*\)/\1/' names | xargs weft probe remove
		run ! grep -F "$program:" /sys/kernel/tracing/dynamic_events
	done
}
