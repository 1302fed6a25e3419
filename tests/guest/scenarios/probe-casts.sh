# SPDX-License-Identifier: GPL-2.0-only
# Features of probes from 7.3 on: casts, $current and values of the CPU. On older kernels weft names the missing feature
# and makes no probe.
lately() { grep -qF -- "$1" $T/README; }

# made SENTENCE DEFINITION REGEX: the probe is made, and a recording of it during a read from /proc has such a line
made() {
	weft probe add "$2" > /tmp/p.out 2> /tmp/p.err
	check "$1 is taken" status_is $? 0 /tmp/p.err || return
	record "$1 is recorded" 0 -e weft:opened -- cat /proc/version
	weft report /tmp/r.dat > /tmp/r.txt 2> /tmp/r.err
	check "$1 has the value" matches /tmp/r.txt "$3"
	weft probe remove opened > /tmp/p.out 2>&1
}

# refused SENTENCE DEFINITION REGEX: the message matches, and no probe is made
refused() {
	weft probe add "$2" > /tmp/p.out 2> /tmp/p.err
	check "$1: status 1" status_is $? 1 /tmp/p.err
	check "$1: the message says it" matches /tmp/p.err "$3"
	check "$1: nothing is made" equal "$(cat $T/dynamic_events)" ""
}

scenario() {
	local inode

	[ -e $T/dynamic_events ] || { skip "casts" "this kernel has no dynamic_events"; return; }
	remember
	if lately '[(structname'; then
		inode=$(stat -c %i /proc/version)
		made "a cast of the task" 'opened=proc_reg_open who=(task_struct)$current->pid:s32' 'cat-([0-9]+) .* who=\1$'
		made "a cast to what a member lies in" 'opened=proc_reg_open n=(proc_inode,vfs_inode)inode->vfs_inode.i_ino:u64' " n=$inode\$"
		made "a cast of an expression" 'opened=fprobe:proc_reg_open who=(task_struct)($current)->pid:s32' 'cat-([0-9]+) .* who=\1$'
		refused "no such structure" 'opened=proc_reg_open (task_strct)$current->pid' "no structure 'task_strct'.*'task_struct'"
		refused "a cast without a member" 'opened=proc_reg_open (task_struct)$current' 'which member'
		refused "a cast in a program" 'opened=/bin/busybox:0x1000 (task_struct)$arg1->pid' 'probes of the kernel'
	else
		refused "no casts here" 'opened=vfs_open (task_struct)$arg1->pid' 'this kernel has no casts in probes'
	fi
	if lately ', $current' && ! lately '[(structname'; then
		skip "the name of the task" "this kernel's probes know no structures (CONFIG_PROBE_EVENTS_BTF_ARGS)"
	elif lately ', $current'; then
		made "the name of the task" 'opened=proc_reg_open name=$current->comm:string' ' name="cat"$'
	fi
	if lately ', $current'; then
		refused "the task in a program" 'opened=/bin/busybox:0x1000 $current' 'probes of the kernel'
	else
		refused "no task here" 'opened=vfs_open $current->comm:string' "this kernel does not know '.current' in probes"
	fi
	if lately 'this_cpu_read('; then
		made "the number of the CPU" 'opened=proc_reg_open cpu=this_cpu_read(@cpu_number):u32' '\[00([0-9])\] .* cpu=\1$'
		refused "the CPU's value in a program" 'opened=/bin/busybox:0x1000 this_cpu_read(@cpu_number)' 'probes of the kernel'
	else
		refused "no values of the CPU here" 'opened=vfs_open this_cpu_read(@runqueues)' "this kernel does not know 'this_cpu_read"
	fi
	unchanged "what was there before is as it was"
}
