#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Names of the functions of programs, in the stacks of a program whose chain of calls is known.
load lib
load screens

setup()
{
	need_tracefs
	need_command gcc
	cat > "$BATS_TEST_TMPDIR/chain.c" <<-'END'
		#include <sys/syscall.h>
		#include <unistd.h>
		#define A __attribute__((noinline, noclone))
		A void mangled(int) __asm__("_ZN4weft5chain3runEi");
		A void leaf(void) { syscall(SYS_getppid); usleep(2000); __asm__ volatile(""); }
		A static void middle(void) { leaf(); __asm__ volatile(""); }
		A void mangled(int n) { middle(); __asm__ volatile("" : : "r"(n)); }
		A void outer(int n) { mangled(n); __asm__ volatile(""); }
		int main(void) { outer(1); return 0; }
	END
	gcc -O2 -fno-omit-frame-pointer -g -o "$BATS_TEST_TMPDIR/chain" "$BATS_TEST_TMPDIR/chain.c"
	record_chain
}

teardown()
{
	screen_end
}

record_chain()
{
	weft record -o "$BATS_TEST_TMPDIR/t.dat" -e syscalls:sys_enter_getppid -e sched:sched_switch -T -O userstacktrace "$BATS_TEST_TMPDIR/chain"
}

@test "stacks: a program that ends at once has names of functions, static ones and those of C++, too" {
	weft stacks --comm chain "$BATS_TEST_TMPDIR/t.dat" > "$BATS_TEST_TMPDIR/out"
	# The C library's function has no frame of its own, so the kernel cannot see who called it.
	grep -qE 'syscalls:sys_enter_getppid +1 +syscall < middle < (weft::chain::run|_ZN4weft5chain3runEi) < outer < main < ' "$BATS_TEST_TMPDIR/out"
}

@test "stacks: the names are in the recording, and in an excerpt, when the program is gone" {
	rm "$BATS_TEST_TMPDIR/chain"
	weft split --since 0s -o "$BATS_TEST_TMPDIR/part.dat" "$BATS_TEST_TMPDIR/t.dat"
	for file in t part; do
		weft stacks --comm chain "$BATS_TEST_TMPDIR/$file.dat" | grep -qE 'syscall < middle < '
	done
	weft report --stored weft/functions "$BATS_TEST_TMPDIR/t.dat" | grep -qE '^f [0-9]+ [0-9a-f]+ .*/chain$'
}

@test "stacks: a program without frame pointers has its whole stack at a probe, and each event its own" {
	cd "$BATS_TEST_TMPDIR"
	cat > two.c <<-'END'
		#define A __attribute__((noinline, noclone))
		A int leaf(int n) { __asm__ volatile(""); return n; }
		A int red(int n) { volatile char room[56]; room[5] = (char)leaf(n); return room[5] + 1; }
		A int blue(int n) { return red(n) + leaf(n) + 1; }
		int main(void) { int sum = 0; for (int i = 0; i < 1000; i++) sum += i % 4 ? red(i) : blue(i); return sum == 1; }
	END
	gcc -O2 -fomit-frame-pointer -o two two.c
	weft record -q -o t.dat --probe "$PWD/two:leaf" --stacks user ./two
	weft stacks --comm two --top 0 --table events --format csv t.dat > out
	grep -qE '^leaf,.*,750,leaf < red < main < .*_start$' out
	grep -qE '^leaf,.*,250,leaf < red < blue < main < .*_start$' out
	grep -qE '^leaf,.*,250,leaf < blue < main < .*_start$' out
	weft export --to folded --weight count --comm two t.dat | grep -qE '^two;_start;.*;main;blue;leaf 250$'
	weft export --to perfetto -q -o perfetto t.dat
	[ "$(strings -n 4 perfetto | grep -c '^blue$')" -eq 500 ]
	weft export --to firefox -q -o firefox t.dat
	python3 - firefox > stacks <<-'END'
		import collections, json, sys
		profile = json.load(open(sys.argv[1]))
		sums = collections.Counter()
		shared = profile.get("shared", {})
		for thread in profile["threads"]:
		    part = lambda name: thread.get(name) or shared.get(name)
		    strings, stacks = part("stringArray"), part("stackTable")
		    frames, funcs = part("frameTable"), part("funcTable")
		    weights = thread["samples"].get("weight") or [1] * len(thread["samples"]["stack"])
		    for at, weight in zip(thread["samples"]["stack"], weights):
		        names = []
		        while at is not None:
		            names.append(strings[funcs["name"][frames["func"][stacks["frame"][at]]]])
		            at = stacks["prefix"][at]
		        sums[" < ".join(names)] += weight
		for text, weight in sums.items(): print(text, weight)
	END
	grep -qE '^leaf < red < main < .*_start < two-[0-9]+ 750(\.0)?$' stacks
	grep -qE '^leaf < red < blue < main < .*_start < two-[0-9]+ 250(\.0)?$' stacks
	grep -qE '^leaf < blue < main < .*_start < two-[0-9]+ 250(\.0)?$' stacks
	screen_start 120 60 "$WEFT" view t.dat
	screen_await "? keys"
	screen_keys / "leaf" Enter 5
	screen_await "=>  leaf"
	screen_await "=>  blue"
	screen_await "=>  _start"
}

@test "merge: each recording keeps the functions of its own programs" {
	cd "$BATS_TEST_TMPDIR"
	sed -i 's/middle/centre/g' chain.c
	gcc -O2 -fno-omit-frame-pointer -g -o chain chain.c
	mv t.dat first.dat
	record_chain
	weft merge -q -o all.dat first.dat t.dat
	weft stacks --comm chain -B first all.dat | grep -qE 'syscall < middle < '
	weft stacks --comm chain -B t all.dat | grep -qE 'syscall < centre < '
	weft stacks --table events --top 0 --format csv -B t all.dat | diff - <(weft stacks --table events --top 0 --format csv t.dat)
}

@test "export: folded stacks have the program's functions below the kernel's" {
	weft export --to folded --weight count --comm chain -o "$BATS_TEST_TMPDIR/folded" "$BATS_TEST_TMPDIR/t.dat"
	grep -qE '^chain;.*main;outer;.*middle;syscall;.*do_syscall_64;.* 1$' "$BATS_TEST_TMPDIR/folded"
}

@test "export: firefox and perfetto have the same functions of the program" {
	need_command python3
	cd "$BATS_TEST_TMPDIR"
	weft export --to folded --weight count --comm chain -o folded t.dat
	weft export --to firefox --weight count --comm chain -o profile.json t.dat
	python3 "$OLDPWD/tests/cases/export/firefox.py" stacks profile.json | grep ';middle;' | LC_ALL=C sort > got
	sed 's/^chain;//' folded | grep ';middle;' | LC_ALL=C sort > want
	[ -s want ]
	diff want got
	weft export --to perfetto -o perfetto t.dat
	strings -n 4 perfetto | grep -A1 '^middle$' | grep -qE '^(weft::chain::run|_ZN4weft5chain3runEi)$'
}

@test "view: the details show the functions of the program beside the addresses of the kernel's text" {
	ln -s "$BATS_TEST_TMPDIR/t.dat" "$BATS_TEST_TMPDIR/chain.dat"
	screen_start 120 60 "$WEFT" view "$BATS_TEST_TMPDIR/chain.dat"
	screen_await "? keys"
	screen_keys / "sys_getppid" Enter
	screen_await "sys_getppid()"
	screen_keys 5
	screen_await ">  syscall"
	screen_await ">  middle"
	screen_await "do_syscall_64"
}

@test "stacks: a time off the CPU has the functions of the program behind those of the kernel" {
	# On an idle machine the kernel leaves out switches from the idle task at times, also in an instance without filters.
	# Without the switch that ends a sleep, nobody knows how long it was.
	until weft report "$BATS_TEST_TMPDIR/t.dat" |
		awk '/sched_switch: prev_comm=chain .*prev_state=S /{ sleeps = 1 } sleeps && / next_comm=chain / { back = 1 } END { exit !back }'; do
		record_chain
	done
	weft stacks --comm chain "$BATS_TEST_TMPDIR/t.dat" > "$BATS_TEST_TMPDIR/out"
	# usleep() calls nanosleep functions of its own, so the caller that a wrapper hides is among them.
	grep -qE '^do_nanosleep .* do_nanosleep < .*nanosleep < .*middle < .* < outer < main < ' "$BATS_TEST_TMPDIR/out"
}

@test "stacks: names agree with those of nm, place by place" {
	weft report --stored weft/functions "$BATS_TEST_TMPDIR/t.dat" > "$BATS_TEST_TMPDIR/functions"
	sed -n '/^f .*\/chain$/,/^f /p' "$BATS_TEST_TMPDIR/functions" | awk '$1 != "f" { print $1, $3 }' | sort > "$BATS_TEST_TMPDIR/ours"
	[ -s "$BATS_TEST_TMPDIR/ours" ]
	# In a program that the linker laid out by itself, the code has the same place in the file and in memory.
	nm -C "$BATS_TEST_TMPDIR/chain" | awk '$2 ~ /[tT]/ { sub(/^0*/, "", $1); sub(/\(.*/, "", $3); print $1, $3 }' | sort > "$BATS_TEST_TMPDIR/theirs"
	while read -r place name; do
		grep -qE "^$place ($name|_ZN4weft5chain3runEi)$" "$BATS_TEST_TMPDIR/theirs" || grep -q "^$place weft::chain::run" "$BATS_TEST_TMPDIR/theirs"
	done < "$BATS_TEST_TMPDIR/ours"
}
