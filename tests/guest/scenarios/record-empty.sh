# SPDX-License-Identifier: GPL-2.0-only
# limit: 900
# More than 100 ways to set a recording up, of which many record nothing: each of those says so, and why.

# The way after "|" comes behind the event.
ways() {
	cat <<-END
	-C mono
	-F
	-F -c
	-P $quiet
	-P $quiet -c
	--process $quiet
	--process quiet
	--no-pid 1,$quiet
	-M 1
	-B other
	--cgroup /none*
	| -f common_pid==4194303
	| -R traceoff
	-v
	-m 8K
	--duration 50ms
	--stacks=user
	--quota
	END
}

# try EVENT OPTION...: a recording of /bin/true has an event, or says why not, or was refused with a message
try() {
	local status nr

	tries=$((tries + 1))
	rm -f /tmp/r.dat
	timeout 60 weft record -o /tmp/r.dat "$@" -- true > /tmp/r.out 2> /tmp/r.err < /dev/null
	status=$?
	nr=$(weft report /tmp/r.dat 2> /dev/null | grep -vc '^#')
	if [ $status != 0 ]; then
		refused=$((refused + 1))
		[ -s /tmp/r.err ] || echo "$*: status $status and no message" >> /tmp/silent
	elif [ $nr = 0 ]; then
		empty=$((empty + 1))
		grep -qE 'nothing was recorded(:|; possible reasons:) ..*' /tmp/r.err || echo "$*: no event and no reason" >> /tmp/silent
	fi
	echo "$*: status $status, $nr events: $(grep -v ' events* in .* lost$' /tmp/r.err | head -n 2 | tr '\n' ' ')"
}

scenario() {
	local event way quiet tries=0 empty=0 refused=0

	mkfifo /tmp/never
	sh -c 'echo -n quiet > /proc/$$/comm; read -r never < /tmp/never' &
	quiet=$!
	await "grep -qx quiet /proc/$quiet/comm"
	: > /tmp/silent
	for event in sched:sched_switch sched:sched_process_exec sched:sched_process_hang irq:irq_handler_entry signal:signal_deliver syscalls:sys_enter_acct; do
		while read -r way; do
			case $way in
			'| '*) try -e $event ${way#| } ;;
			-v) try -e $event -v -e $event ;;
			*) try $way -e $event ;;
			esac
		done <<-END
			$(ways)
		END
	done
	kill $quiet
	echo "$tries set-ups, $empty empty, $refused refused"
	check "no recording is empty without saying why" equal "$(cat /tmp/silent)" ""
	check "there were 100 set-ups ($tries, $empty empty, $refused refused)" more $tries 99
	check "some recorded nothing" more $empty 30
	check "some recorded something" more $((tries - empty - refused)) 10
}
