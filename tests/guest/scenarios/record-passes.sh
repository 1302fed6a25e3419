# SPDX-License-Identifier: GPL-2.0-only
# record --files: of many reads and writes, by descriptors that are dupped, passed and shared (tests/guest/passes.c), each has
# its file, which the length of the call tells. PASSES=1000000 WEFT_GUEST_QUIET=3000 tests/guest/run makes a million
# instead of 20,000; such a recording is also kept.
scenario() {
	local calls=20000

	[ ! -s /host/passes ] || calls=$(cat /host/passes)

	command -v passes > /dev/null || { skip "record --files" "no program for it in this guest"; return; }
	[ -e $T/kprobe_events ] && grep -q ' fd_install$' /proc/kallsyms || { skip "record --files" "this kernel has no probes"; return; }
	rm -f /tmp/r.dat
	timeout 3000 weft record -q -o /tmp/r.dat -b 65536 --files -e syscalls:sys_enter_read -e syscalls:sys_exit_read -e syscalls:sys_enter_write -e syscalls:sys_exit_write -- passes "$calls" > /tmp/r.out 2> /tmp/r.err
	check "a recording of many calls" status_is $? 0 /tmp/r.err
	[ "$calls" -le 100000 ] || cp /tmp/r.dat "$OUT/"
	weft syscalls --trace --comm passes -i /tmp/r.dat 2> /tmp/err | awk '
		/ (read|write)\(.*count: / {
			match($0, /count: [0-9]+/); count = substr($0, RSTART + 7, RLENGTH - 7)
			# The dynamic linker reads more at once, and before the exec weft writes a byte; if one of the calls that
			# are asked for were left out here, there would be too few.
			if (count + 0 > 40 || (count == 1 && !/fd: [0-9]+</)) next
			all++
			if (index($0, "</tmp/passes." count ">") || index($0, "<passes." count ">")) right++
			else if (/fd: [0-9]+<\(unknown\)>/) unknown++
			else if (++wrong < 5) print > "/tmp/wrong"
		}
		END { print all + 0, right + 0, unknown + 0, wrong + 0 }' > /tmp/judged
	cp /tmp/judged $OUT/numbers
	weft info /tmp/r.dat 2> /dev/null | grep -iE 'lost|cpu' | head -n 20 > $OUT/info
	[ ! -s /tmp/wrong ] || cp /tmp/wrong $OUT/
	check "each has its file: $(cat /tmp/judged)" equal "$(cat /tmp/judged)" "$calls $calls 0 0"
}
