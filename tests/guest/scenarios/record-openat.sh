# SPDX-License-Identifier: GPL-2.0-only
# record --files: names and files of the openat() calls of a shell script, beside strace -ff -y, which sees
# the same calls.
scenario() {
	local all same

	command -v strace > /dev/null || { skip "record --files" "no strace in this guest"; return; }
	[ -e $T/kprobe_events ] && grep -q ' fd_install$' /proc/kallsyms || { skip "record --files" "this kernel has no probes"; return; }
	mkdir -p /tmp/o/deep/er
	cat > /tmp/o/script <<-'END'
		cd /tmp/o
		for i in 1 2 3 4 5 6 7 8; do
			echo $i > file.$i
			dd if=file.$i of=deep/copy.$i 2> /dev/null
			cp deep/copy.$i deep/er/ && cat deep/er/copy.$i /nonexistent.$i > /dev/null 2>&1
			(read -r line < ./deep/../file.$i; exec 7< "deep/er/copy.$i" 8>> log; dd <&7 >&8 2> /dev/null)
		done
		rm -r deep
	END
	record "weft and strace see the same calls" 0 --files -e syscalls:sys_enter_openat -e syscalls:sys_exit_openat -- strace -ff -y -qq -e trace=openat -o /tmp/o/st sh /tmp/o/script
	for file in /tmp/o/st.*; do
		awk -v pid="${file##*.}" '/^openat\(/ { match($0, /"[^"]*"/); name = substr($0, RSTART, RLENGTH); sub(/.*\) += /, ""); sub(/ .*/, ""); print pid, name, $0 }' "$file"
	done | sort > /tmp/o/theirs
	weft syscalls --trace --file '*' -i /tmp/r.dat 2> /tmp/err | awk '/ openat\(/ {
		match($0, /-[0-9]+ +openat\(/); pid = substr($0, RSTART + 1, RLENGTH); sub(/ .*/, "", pid)
		match($0, /"[^"]*"/); name = substr($0, RSTART, RLENGTH); sub(/.*\) = /, ""); sub(/ .*/, ""); print pid, name, $0 }' | sort > /tmp/o/ours
	# Programs that strace does not follow open files, too.
	all=$(grep -c . /tmp/o/theirs)
	same=$(awk 'NR == FNR { n[$0]++; next } n[$0]-- > 0 { same++ } END { print same + 0 }' /tmp/o/ours /tmp/o/theirs)
	awk 'NR == FNR { n[$0]++; next } n[$0]-- > 0 { next } { print }' /tmp/o/ours /tmp/o/theirs > $OUT/only-strace
	cp /tmp/o/ours /tmp/o/theirs $OUT/
	echo "$same of $all" > $OUT/numbers
	check "there are many calls: $all" more "$all" 100
	check "each has the name and the file that strace has: $same of $all" equal "$same" "$all"
}
