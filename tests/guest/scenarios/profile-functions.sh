# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	[ -e $T/function_profile_enabled ] || { skip "profile-functions" "this kernel has no function profiler"; return; }
	remember
	weft profile-functions -l 'vfs_*' -n vfs_write -- sh -c 'cat /proc/uptime /proc/uptime /bin/busybox > /dev/null; exit 3' > /tmp/table 2> /tmp/err
	check "the status is the command's" status_is $? 3 /tmp/err
	check "there is a table" matches /tmp/table '^FUNCTION +HITS +TIME us +AVERAGE us +DEVIATION us$'
	check "the functions were counted" matches /tmp/table '^vfs_read +[1-9][0-9]* +[0-9]+\.[0-9]{3} '
	check "none but those asked for" lacks /tmp/table '^vfs_write |^do_'
	awk 'NR > 1 && NF == 5 { if (last != "" && $3 + 0 > last + 0) exit 1; last = $3 }' /tmp/table
	check "the longest time comes first" equal $? 0
	# The kernel's counts stay until the next profile.
	hits=$(cat $T/trace_stat/function* | awk '$1 == "vfs_read" { n += $2 } END { print n }')
	check "the counts of all CPUs are added" equal "$(awk '$1 == "vfs_read" { print $2 }' /tmp/table)" "$hits"
	unchanged
	echo 1 > $T/function_profile_enabled
	weft profile-functions -l vfs_read -- true 2> /tmp/err
	check "somebody else's profile is left alone" equal $? 1
	check "and that is said" matches /tmp/err 'another process is already profiling functions'
	check "it still runs" equal "$(cat $T/function_profile_enabled)" 1
	echo 0 > $T/function_profile_enabled
	weft profile-functions -l vfs_read -- sh -c 'kill -9 $PPID' 2> /dev/null
	weft reset 2> /tmp/err
	unchanged "after a kill, weft reset puts everything back"
}
