# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# Many functions are selected by their line numbers in available_filter_functions: they are the same functions as by
# name, and this is faster.
now() { cut -d' ' -f1 /proc/uptime | tr -d .; }

scenario() {
	has_command start || { skip "everything" "weft has no start"; return; }
	grep -m 1 . $T/available_filter_functions > /dev/null 2>&1 || { skip "everything" "no list of functions"; return; }
	local names options='' begin by_name by_place

	names=$(grep -E '^(vfs|do|sys|ksys)_[a-z_0-9]+$' $T/available_filter_functions | sort | uniq -u | head -n 40)
	for n in $names; do options="$options -l $n"; done
	remember
	begin=$(now)
	for n in $names; do echo $n; done > $T/set_ftrace_filter
	by_name=$(($(now) - begin))
	sort $T/set_ftrace_filter > /tmp/by-name.txt
	echo > $T/set_ftrace_filter
	begin=$(now)
	weft start -p function $options 2> /tmp/s.err
	check "start with 40 functions works" status_is $? 0 /tmp/s.err
	by_place=$(($(now) - begin))
	sort $T/set_ftrace_filter > /tmp/by-place.txt
	same "they are the same as by name" /tmp/by-name.txt /tmp/by-place.txt
	check "$by_place hundredths by place and all of start, $by_name by name" true
	weft reset 2> /dev/null
	unchanged "reset takes them away"
	for g in vfs_read vfs_w* *fsync; do echo "$g"; done > $T/set_ftrace_filter
	for g in vfs_o* vfs_g* vfs_l* do_sys_open* ksys_w* vfs_i*; do echo "$g"; done >> $T/set_ftrace_filter
	sort $T/set_ftrace_filter > /tmp/by-name.txt
	echo > $T/set_ftrace_filter
	weft start -p function -l vfs_read -l 'vfs_w*' -l '*fsync' -l 'vfs_o*' -l 'vfs_g*' -l 'vfs_l*' -l 'do_sys_open*' -l 'ksys_w*' \
		-l 'vfs_i*' 2> /tmp/s.err
	check "start with 9 globs works" status_is $? 0 /tmp/s.err
	sort $T/set_ftrace_filter > /tmp/by-place.txt
	same "they mean the same functions" /tmp/by-name.txt /tmp/by-place.txt
	weft reset 2> /dev/null
	weft start -p function $options -l vfs_raed 2> /tmp/s.err
	check "one of them that is not there is named" matches /tmp/s.err "no function 'vfs_raed'"
	unchanged "and nothing is left"
}
