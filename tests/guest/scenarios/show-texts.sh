# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	local cpu

	mkdir $T/instances/guest
	set_to $T/instances/guest/events/sched/enable 1
	load
	echo 0 > $T/instances/guest/tracing_on
	echo 0 > $T/instances/guest/events/enable
	remember
	cat $T/instances/guest/trace > /tmp/expected.txt
	timeout 60 weft show -B guest > /tmp/shown.txt 2> /tmp/s.err
	check "weft show ends with status 0" status_is $? 0 /tmp/s.err
	same "the trace" /tmp/expected.txt /tmp/shown.txt
	for cpu in $(seq 0 "$(last_cpu)"); do
		cat $T/instances/guest/per_cpu/cpu$cpu/trace > /tmp/expected.txt
		weft show -B guest -c $cpu > /tmp/shown.txt 2> /tmp/s.err
		same "the trace of CPU $cpu" /tmp/expected.txt /tmp/shown.txt
	done
	if [ -e $T/instances/guest/snapshot ]; then
		cat $T/instances/guest/snapshot > /tmp/expected.txt
		weft show -B guest -s > /tmp/shown.txt 2> /tmp/s.err
		same "a snapshot that is not there yet" /tmp/expected.txt /tmp/shown.txt
	else
		weft show -B guest -s > /tmp/shown.txt 2> /tmp/s.err
		check "without snapshots the message names the option" matches /tmp/s.err 'CONFIG_TRACER_SNAPSHOT'
	fi
	check "a setting" equal "$(weft show -B guest current_tracer)" "$(cat $T/instances/guest/current_tracer)"
	check "by trace-cmd's name" equal "$(weft show -B guest --buffer_size)" "$(cat $T/instances/guest/buffer_size_kb)"
	check "an option" equal "$(weft show -B guest irq-info)" 1
	weft show -B guest curent_tracer > /dev/null 2> /tmp/s.err
	check "a wrong name comes with the right one" matches /tmp/s.err "did you mean 'current_tracer'"
	weft show free_buffer > /dev/null 2> /tmp/s.err
	check "closing free_buffer would empty the buffer: refused" matches /tmp/s.err 'write-only'
	unchanged "nothing of tracefs differs"
	rmdir $T/instances/guest
}
