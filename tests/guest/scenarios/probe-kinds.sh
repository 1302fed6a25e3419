# SPDX-License-Identifier: GPL-2.0-only
# Every kind of probe that the kernel has: made by name and by the kernel's syntax, recorded, listed, removed; nothing
# stays.
has_kind() { grep -qF -- "$1" $T/README; }

# made SENTENCE LINE DEFINITION...: weft probe add ends with 0 and dynamic_events has the line
made() {
	local sentence="$1" line="$2"

	shift 2
	weft probe add "$@" > /tmp/p.out 2> /tmp/p.err
	check "weft probe add: $sentence" status_is $? 0 /tmp/p.err && check "the kernel has it as meant: $sentence" matches $T/dynamic_events "$line"
}

# seen NAME REGEX: a recording of that event while files are read has such a line
seen() {
	record "record $1" 0 -e "$1" -- sh -c 'head -n 1 /proc/version /no/such/file > /dev/null 2>&1; ls -l /tmp | cat > /dev/null'
	weft report /tmp/r.dat > /tmp/r.txt 2> /tmp/r.err
	check "its text has what was asked for: $1" matches /tmp/r.txt "$2"
}

scenario() {
	has_command probe || { skip "probes" "weft has no probe yet"; return; }
	registers
	# Probes on some machines cannot read arguments of functions.
	grep -v 'return probes support:' $T/README | grep -qF '$arg<N>' && A2='\$arg2'
	remember
	made "a parameter by name, a string of the program" "p:weft/do_sys_openat2 do_sys_openat2 filename=\+0\($A2\):ustring\$" \
		'do_sys_openat2 filename:ustring'
	seen weft:do_sys_openat2 'do_sys_openat2: \(do_sys_openat2\+0x.*filename="/proc/version"'
	made "a return" '^r.*:weft/vfs_read_return vfs_read ret=\$retval:s(64|32)' 'vfs_read%return ret'
	seen weft:vfs_read_return 'vfs_read_return: \(.* <- vfs_read\) ret=[0-9]'
	made "a return that may be an error" '^r.*:weft/do_sys_openat2_return do_sys_openat2 ret=' 'do_sys_openat2%return ret'
	# Without type information nothing tells that the function of 7.3 returns an int.
	error=-2
	[ -e /sys/kernel/btf/vmlinux ] || error='(-2|4294967294)'
	seen weft:do_sys_openat2_return "do_sys_openat2_return: \\(.* <- do_sys_openat2\\) ret=$error\$"
	made "the kernel's own syntax" "^p:mine/reads vfs_read count=$A3" "p:mine/reads vfs_read count=$A3"
	seen mine:reads 'reads: \(vfs_read.* count=0x'
	made "a place that is named" '^p:weft/inside vfs_read$' "inside=vfs_read+0"
	weft probe list > /tmp/p.txt
	check "list tells kind, maker and hits" matches /tmp/p.txt '^weft:do_sys_openat2 +kprobe +weft +no +[1-9][0-9]* +0 +do_sys_openat2 +filename='
	if has_kind 'e[:'; then
		made "another event, by its fields" '^e:weft/sched_switch sched.sched_switch next_comm=\$next_comm:string p=\$prev_pid' \
			'sched:sched_switch next_comm p=prev_pid'
		seen weft:sched_switch 'sched_switch: \(sched.sched_switch\) next_comm="[^"]+" p='
	else
		weft probe add 'sched:sched_switch next_comm' > /tmp/p.out 2> /tmp/p.err
		check "no event probes: the option is named" matches /tmp/p.err 'CONFIG_EPROBE_EVENTS'
	fi
	if has_kind 'f[:'; then
		made "fprobe" '^f:weft/vfs_open vfs_open' 'fprobe:vfs_open'
		made "fprobe of a return" '^f.*:weft/fret vfs_open%return r=\$retval' 'fret=fprobe:vfs_open%return r=ret'
		seen weft:fret 'fret: \(.* <- vfs_open\) r='
		made "tracepoint" '^t:weft/sched_switch_2 sched_switch' 'tracepoint:sched_switch'
		seen weft:sched_switch_2 'sched_switch_2: '
	else
		weft probe add 'fprobe:vfs_open' > /tmp/p.out 2> /tmp/p.err
		check "no fprobes: the option is named" matches /tmp/p.err 'CONFIG_FPROBE_EVENTS'
	fi
	made "a program's place" '^p:weft/busy /bin/busybox:0x0*1000' 'busy=/bin/busybox:0x1000'
	if [ -e $T/synthetic_events ]; then
		made "a synthetic event" '^s:synthetic/lat' --synthetic 'lat u64 lat; pid_t pid'
	else
		weft probe add --synthetic 'lat u64 lat; pid_t pid' > /tmp/p.out 2> /tmp/p.err
		check "no synthetic events: the option is named" matches /tmp/p.err 'CONFIG_SYNTH_EVENTS'
	fi
	echo 'p:others/theirs vfs_write' >> $T/dynamic_events
	weft probe remove --all > /tmp/p.out 2> /tmp/p.err
	check "remove --all" status_is $? 0 /tmp/p.err
	check "leaves those of others" equal "$(cat $T/dynamic_events)" "p:others/theirs vfs_write"
	weft probe remove theirs 2> /tmp/p.err
	check "who is named goes" status_is $? 0 /tmp/p.err
	unchanged "probes leave nothing behind"

	weft probe add 'vfs_read' 'vfs_write%return ret' > /tmp/p.out
	weft reset > /tmp/p.out 2> /tmp/p.err
	check "weft reset removes probes" status_is $? 0 /tmp/p.err
	unchanged "and nothing else"
}
