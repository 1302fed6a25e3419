# SPDX-License-Identifier: GPL-2.0-only
# weft flight: timerlat and osnoise stop tracing above a bound, in an instance of their own. Each stop is a trigger, and
# all is as before afterwards, also after a kill.
# A task before which neither thread runs has CPU 0, until a file of the condition is there.
disturb() { await "intrude 98 3; ls /tmp/flight/*-$1.json"; }

noise() {
	local tracer=$1 bound=$2 file=$3 other=$4 lines=$5 us

	echo 123456 > $T/osnoise/$file
	echo 234567 > $T/osnoise/$other
	remember
	fly -e sched -e osnoise -b 1M --after 100ms --cool-down 0 --max-per-hour 0 --when "$tracer>$bound"
	check "the cost of $tracer is told" matches /tmp/flight.out "^weft: --when $tracer: a thread of the kernel"
	equal "$(cat $T/osnoise/$file) $(cat $T/osnoise/$other)" "${bound%ms}000 0" && pass "the kernel has the bound of $tracer" || fail "the kernel has the bound of $tracer"
	weft flight start --name second -e sched --when "timerlat>1s" -o /tmp > /tmp/second.out 2>&1
	check "another flight with such a tracer is refused" equal $? 1
	check "and is told who has $tracer" matches /tmp/second.out "the tracer 'timerlat' stops tracing in every instance that has it, and the instance 'weft-[0-9-]+' has $tracer"
	disturb $tracer
	await "[ \"\$(cat $T/instances/*/tracing_on | sort -u)\" = 1 ]"
	rm /tmp/flight/*
	disturb $tracer
	pass "a second stop of $tracer is noticed"
	land
	for i in /tmp/flight/*-$tracer.dat; do break; done
	mkdir -p $OUT
	cp /tmp/flight.out $OUT/$tracer.out
	weft report "$i" > $OUT/$tracer.txt 2>&1
	us=$(weft report "$i" 2> /dev/null | sed -n "s/.*weft: trigger $tracer at .*$lines *\([0-9]*\) ns.*/\1/p" | head -n 1)
	check "the marker has what $tracer measured, above the bound" more "${us:-0}" "${bound%ms}000000"
	weft report "$i" 2> /dev/null > /tmp/report
	check "the file has the events around it" matches /tmp/report 'sched_switch'
	unchanged "a flight with $tracer leaves nothing behind"
	for killed in next recover; do
		remember
		fly -e sched:sched_process_exec --when "$tracer>1s"
		kill -KILL $flight
		wait $flight
		if [ $killed = next ]; then
			fly -e sched:sched_process_exec
			equal "$(cat $T/osnoise/$file) $(cat $T/osnoise/$other)" "123456 234567" && pass "the next flight restores the bounds of a killed one" || fail "the next flight restores the bounds of a killed one"
			land
		else
			(cd /tmp/flight && weft recover > /tmp/recover.out 2>&1)
		fi
		unchanged "$tracer leaves nothing behind after a kill ($killed)"
	done
	echo 0 > $T/osnoise/$file
	echo 0 > $T/osnoise/$other
}

scenario() {
	has_command flight || { skip "noise" "weft has no flights yet"; return; }
	has_tracer timerlat && has_tracer osnoise || { skip "noise" "this kernel has neither timerlat nor osnoise"; return; }
	noise timerlat 20ms stop_tracing_total_us stop_tracing_us timer_latency
	noise osnoise 20ms stop_tracing_us stop_tracing_total_us duration
	echo 30000 > $T/tracing_thresh
	remember
	weft flight start -e sched --when 'osnoise>20ms' -o /tmp > /tmp/flight.out 2>&1
	check "noise at which the kernel does not look is refused" matches /tmp/flight.out 'tracing_thresh is 30000'
	echo osnoise > $T/current_tracer
	weft flight start -e sched --when 'timerlat>20ms' -o /tmp > /tmp/flight.out 2>&1
	check "the tracer of the top instance is seen" matches /tmp/flight.out 'and the top instance has osnoise$'
	check "and goes on" equal "$(cat $T/tracing_on)" 1
	echo nop > $T/current_tracer
	echo 0 > $T/tracing_max_latency
	unchanged "refusals leave nothing behind"
	echo 0 > $T/tracing_thresh
}
