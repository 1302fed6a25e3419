# SPDX-License-Identifier: GPL-2.0-only
# Probes use the kernel's size of a long, and find the parameters of a program by the program's own calling convention:
# also if weft and the program have 32 bits and the kernel has 64.
scenario() {
	local bits program=$(command -v readlines)

	has_command probe || { skip "probes" "weft has no probe yet"; return; }
	[ -e $T/dynamic_events ] || { skip "probes" "this kernel has no dynamic_events"; return; }
	bits=$(sed -n 's/.*local_t commit;.*size:\([48]\);.*/\1/p' $T/events/header_page)
	bits=$((bits * 8))
	remember
	weft probe add 'vfs_read%return ret' > /tmp/p.out 2> /tmp/p.err
	check "a return is made" status_is $? 0 /tmp/p.err
	check "what a function returns has the size of the kernel's long, $bits bits" matches $T/dynamic_events "vfs_read ret=\\\$retval:s$bits\$"
	weft probe remove --all > /tmp/p.out 2>&1
	# int p9_client_read(struct p9_fid *fid, u64 offset, ...) of a module, with types of its own
	if [ -e /sys/kernel/btf/9pnet ]; then
		weft probe add '9pnet:p9_client_read offset' > /tmp/p.out 2> /tmp/p.err
		check "a parameter of a module's function is known by its name" status_is $? 0 /tmp/p.err
		check "it is the second one" matches $T/dynamic_events 'offset=\$arg2:u64$'
		weft probe remove --all > /tmp/p.out 2>&1
	fi
	# See arch_uprobe_analyze_insn().
	case $(uname -m) in arm*) skip "programs" "this kernel has no probes of Thumb code, which Debian's compiler makes"; return ;; esac
	weft probe add "began=$program:main argc=\$arg1" "ended=$program:main%return ret" > /tmp/p.out 2> /tmp/p.err
	check "parameter and return of a program are made" status_is $? 0 /tmp/p.err || return
	record "a program with two arguments is recorded" 0 -e weft:began -e weft:ended -- readlines /dev/null /dev/null
	weft report /tmp/r.dat > /tmp/r.txt 2> /tmp/r.err
	check "its first parameter is the number of its words" matches /tmp/r.txt ' began: .* argc=0x3$'
	check "its return is its exit status" matches /tmp/r.txt ' ended: .* ret=0$'
	weft probe remove --all > /tmp/p.out 2>&1
	unchanged "probes leave nothing behind"
}
