# SPDX-License-Identifier: GPL-2.0-only
# A module is unloaded while its events are recorded or streamed: the kernel then empties the whole buffer and tells
# nobody. By the kernel's counts before and after, each event is in the file, lost, or was in the buffer when it was
# emptied.
I=$T/instances/guest
sums() {
	cat $I/per_cpu/cpu*/stats | awk -F': ' '/^(entries|read events|overrun|commit overrun|dropped events): / { w += $2 } /^entries: / { e += $2 }
		END { print w + 0, e + 0 }'
}
summary() { sed -n "s/,//g; s/.* \([0-9]*\) events* in .*/\1/p" /tmp/r.err; }
lost() { sed -n 's/,//g; s/.* \([0-9]*\) lost$/\1/p' /tmp/r.err; }
within() {
	echo "$1: $2 events, $3 lost; $(tr '\n' ';' < /tmp/sums)"
	check "$1" awk -v told=$(($2 + $3)) '{ w += $1; e += $2 } END { if (told > w || told < w - e) { print told " of " w " and " e; exit 1 } }' /tmp/sums
}

# begin: makes the instance and loads the module
begin() {
	insmod "$file"
	mkdir $I
	rm -f /tmp/sums
}
# end WHAT: checks the message of weft
end() {
	cat /tmp/r.err
	check "$1: weft says that the buffer was cleared" matches /tmp/r.err 'cleared the buffer meanwhile \([1-9][0-9]* times? .* a module'
	within "$1: events and losses are what the kernel counted" "$(summary)" "$(lost)"
	check "$1: the module is gone" lacks /proc/modules "^$module "
	check "$1: nothing of the tracing is left" equal "$(cat $I/set_event $I/set_event_pid)" ""
	rmdir $I
}

scenario() {
	file=/host/modules/trace-events-sample.ko system=sample-trace
	[ -e $file ] || file=/host/modules/kyber-iosched.ko system=kyber
	[ -e $file ] || { skip everything "there is no module for this kernel"; return; }
	module=$(basename $file .ko | tr - _)

	insmod $file
	check "the module has events" test -d $T/events/$system
	rmmod $module
	cat > /tmp/loads.sh <<-END
	$(sed -n '/^sums() {/,/^}/p' /host/scenarios/module-gone.sh)
	I=$I
	dd if=/dev/zero of=/dev/null bs=1 count=3000 2> /dev/null
	echo 0 > \$I/tracing_on
	sums > /tmp/sums
	rmmod $module
	echo 1 > \$I/tracing_on
	# So few that the kernel's counters stay below what weft has seen of them before.
	dd if=/dev/zero of=/dev/null bs=1 count=200 2> /dev/null
	echo 0 > \$I/tracing_on
	sums | sed 's/ .*/ 0/' >> /tmp/sums
	END
	begin
	record "record: --fail-on-lost is not content" 123 -B guest -b 64 --fail-on-lost -F -c -e raw_syscalls -e $system -- sh /tmp/loads.sh
	end record
	peers
	weft report /tmp/r.dat > /tmp/r.txt 2> /dev/null
	check "record: the summary counts the events of the file" equal "$(summary)" "$(grep -Ecv '^#|^CPU:[0-9]+ .LOST' /tmp/r.txt)"

	begin
	timeout 60 weft stream -B guest -b 64 --fail-on-lost -F -c -e raw_syscalls -e $system -- sh /tmp/loads.sh > /tmp/s.txt 2> /tmp/r.err
	check "stream: --fail-on-lost is not content" status_is $? 123 /tmp/r.err
	end stream
	check "stream: the summary counts the lines" equal "$(summary)" "$(grep -Ecv '^#|^CPU:[0-9]+ .LOST' /tmp/s.txt)"

	insmod $file
	weft start -B guest -e $system -e sched 2> /tmp/s.err
	check "start takes its events" status_is $? 0 /tmp/s.err
	rmmod $module
	weft reset > /tmp/s.err 2>&1
	check "reset does not miss what is gone" status_is $? 0 /tmp/s.err
	check "and leaves nothing" test ! -e $I
	check "nor a journal" equal "$(ls /run/weft)" ""
}
