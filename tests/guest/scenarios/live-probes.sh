# SPDX-License-Identifier: GPL-2.0-only
# event FILE DEFINITION...: writes the definitions; succeeds if the kernel takes them all
events() {
	local file=$T/$1

	shift
	[ -e "$file" ] || return 1
	for d; do echo "$d" >> "$file" || return 1; done
}

scenario() {
	local entry at=24

	registers || { skip "probes" "nobody has said what the registers of this machine are called"; return; }
	VARIANTS='raw hex fields latency-format'
	if events kprobe_events "p:guest/openat do_sys_openat2 dfd=$A1:s32 name=+0($A2):ustring flags=+0($A3):x64 mode=$A4:u16" \
		'r:guest/opened do_sys_openat2 ret=$retval:s64' "p:guest/arr vfs_read a=+0(\$stack):x64[3] c=\$comm b=$A4:b4@4/32 sym=+0(\$stack):symbol" \
		'p:guest/bare vfs_write'; then
		live kprobe load -e guest
		echo > $T/kprobe_events
	else
		skip "kprobe" "this kernel takes no kprobe events"
	fi
	# The entry of weft. In a position-independent program its text has the same address in the file and in memory.
	# A 64-bit big-endian machine stores the lower half second.
	[ "$(hexdump -s 5 -n 1 -e '1/1 "%d"' /usr/bin/weft)" = 1 ] || at=28
	entry=0x$(hexdump -s $at -n 4 -e '1/4 "%x"' /usr/bin/weft)
	# arch_uprobe_analyze_insn() of 32-bit ARM. Only there is an entry odd: it is Thumb code.
	if [ $((entry % 2)) = 1 ]; then
		skip "uprobe" "this kernel has no probes of Thumb code, which Debian's compiler makes"
	elif events uprobe_events "p:guest/begin /usr/bin/weft:$entry first=$A1:s32 text=+0($SP):u64" "r:guest/end /usr/bin/weft:$entry"; then
		live uprobe 'weft --version > /tmp/version; weft --version > /tmp/version' -e guest
		echo > $T/uprobe_events
	else
		skip "uprobe" "this kernel takes no uprobe events"
	fi
	if events dynamic_events 'e:guest/opening syscalls/sys_enter_openat file=+0($filename):ustring flags=$flags:x64' \
		'e:guest/switch sched/sched_switch name=$next_comm:string pid=$next_pid:s32 from=$prev_comm'; then
		live eprobe load -e guest
		echo > $T/dynamic_events
	else
		skip "eprobe" "this kernel takes no event probes"
	fi
	if events dynamic_events 'f:guest/fopen do_sys_openat2 dfd=$arg1:s32 name=+0($arg2):ustring' \
		'f:guest/fopened do_sys_openat2%return ret=$retval:s32' 't:guest/sw sched_switch preempt=$arg1:s32'; then
		live fprobe load -e guest
	else
		skip "fprobe" "this kernel takes no fprobe events"
	fi
	echo > $T/dynamic_events
}
