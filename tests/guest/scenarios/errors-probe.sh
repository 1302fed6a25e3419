# SPDX-License-Identifier: GPL-2.0-only
# Probes that the kernel refuses: the messages have the kernel's words, the caret under the wrong part, and near names;
# no probe is made.
refused() {
	local sentence="$1" regex="$2"

	shift 2
	weft probe add "$@" > /tmp/e.out 2> /tmp/e.err
	check "$sentence: status 1" status_is $? 1 /tmp/e.err
	check "$sentence: $regex" matches /tmp/e.err "$regex"
	unchanged "$sentence: nothing is changed"
}

caret() { check "a caret stands under it" matches /tmp/e.err '^ +\^$'; }

scenario() {
	has_command probe || { skip "errors of probes" "weft has no probe yet"; return; }
	registers
	remember
	cat $T/error_log > /tmp/log.before
	refused "no such function" 'did you mean .*vfs_read' 'vfs_raed'
	caret
	refused "no such function in that module" "no function 'vfs_read'" 'p nothing:vfs_read'
	refused "no such module" "there is no module and no system of events 'nothing'" 'nothing:vfs_read'
	cat $T/error_log > /tmp/log.after
	same "functions are looked up before the kernel is asked" /tmp/log.before /tmp/log.after
	refused "no such parameter" "did you mean 'filename'" 'do_sys_openat2 filenam:ustring'
	refused "no such function, whose parameters are named" "no function 'do_sys_openatt2'; did you mean .*do_sys_openat2" 'do_sys_openatt2 filename:ustring'
	refused "no such register" 'Invalid register name' 'p vfs_read %zz'
	caret
	refused "no such type" "did you mean 'string'" "p vfs_read a=+0($A1):strin"
	caret
	refused "no such variable" 'Invalid \$-va[rl]iable' 'p vfs_read a=$nothing'
	caret
	if grep -qF 'e[:' $T/README; then
		refused "no such event" "did you mean .*sched_switch" 'e:x sched.sched_swich'
		caret
		refused "no such field" "did you mean 'prev_pid'" 'sched:sched_switch prev_pidd'
		caret
	else
		skip "errors of event probes" "this kernel takes none"
	fi
	refused "a string of a number" 'String accepts only memory argument' "p vfs_read a=$A1:string"
	caret
	refused "a name that is no name" 'must follow the same rules as C identifiers' 'p:a-b vfs_read'
	caret
	if echo 'p:guest/try vfs_read' > $T/kprobe_events 2> /dev/null; then
		echo > $T/kprobe_events
		refused "the same name again" "there is an event 'weft:one' already" 'one=vfs_read' 'one=vfs_write'
	else
		skip "the same name again" "this kernel takes no probe of a function's entry"
	fi
	if [ -e $T/synthetic_events ]; then
		refused "no such synthetic type" 'Invalid type' --synthetic 'lat u46 lat'
		caret
	else
		skip "errors of synthetic events" "this kernel has none"
	fi
	refused "no such program" "cannot find '/bin/nothing'" '/bin/nothing:main'
	refused "no program" 'is neither a program nor a library' '/etc/passwd:main'
	unchanged "refusals leave nothing behind"
}
