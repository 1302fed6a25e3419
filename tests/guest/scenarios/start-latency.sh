# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# Options of hwlat, osnoise and timerlat: set and restored; and messages about options that the kernel lacks.

. /host/start.sh

# The thread of hwlat changes the mode by itself as soon as it runs (Linux 7.2 and 7.3).
mode_stays() {
	local mode=$T/hwlat_detector/mode

	[ -e $mode ] || return
	record "hwlat in an instance of its own" 0 -p hwlat -- sleep 1
	unchanged "it leaves the mode of hwlat as it was"
	weft record -o /tmp/r.dat -p hwlat -- sleep 1000 > /tmp/r.err 2>&1 &
	await 'grep -qw hwlat $T/instances/weft-*/current_tracer && grep -q 1 $T/instances/weft-*/tracing_on'
	sleep 1
	kill -9 $!
	wait $! 2> /dev/null
	weft reset > /tmp/s.err 2>&1
	check "reset works after a recording of hwlat was killed" status_is $? 0 /tmp/s.err
	unchanged "it puts back the mode of hwlat"
	echo hwlat > $T/current_tracer
	sleep 1
	weft reset --all --yes > /tmp/s.err 2>&1
	check "reset --all works while hwlat runs" status_is $? 0 /tmp/s.err
	check "it puts back the mode of hwlat, too" matches $mode '\[round-robin\]'
}

scenario() {
	has_command start || { skip "everything" "weft has no start"; return; }
	local e='-e sched:sched_switch'

	remember
	if has_tracer hwlat; then
		try "hwlat's width and window, in any order" $T/hwlat_detector/width '^1100000$' -p hwlat --hwlat width=1.1s --hwlat window=1.2s
		try "hwlat's width and window the other way" $T/hwlat_detector/window '^100$' -p hwlat --hwlat window=100 --hwlat width=50us
		if [ -e $T/hwlat_detector/mode ]; then
			try "hwlat's mode" $T/hwlat_detector/mode '\[per-cpu\]' -p hwlat --hwlat mode=per-cpu
		else
			tell "hwlat's mode" 'hwlat_detector/mode' -p hwlat --hwlat mode=per-cpu
		fi
	else
		tell "hwlat" 'CONFIG_HWLAT_TRACER' -p hwlat
		tell "an option of hwlat" 'CONFIG_HWLAT_TRACER' $e --hwlat width=100
	fi
	if has_tracer timerlat; then
		try "timerlat's period" $T/osnoise/timerlat_period_us '^2000$' -p timerlat --osnoise timerlat-period=2ms
		try "osnoise's CPUs" $T/osnoise/cpus '^0$' -p osnoise --osnoise cpus=0
		try "osnoise's runtime and period" $T/osnoise/runtime_us '^500000$' -p osnoise --osnoise period=600ms --osnoise runtime=500ms
		try "a threshold that stops" $T/osnoise/stop_tracing_us '^999999$' -p osnoise --osnoise stop=999999
		[ ! -e $T/osnoise/options ] ||
			try "osnoise's options" $T/osnoise/options 'PANIC_ON_STOP' -p osnoise --osnoise options=OSNOISE_IRQ_DISABLE
	else
		tell "timerlat" 'CONFIG_TIMERLAT_TRACER' -p timerlat
	fi
	unchanged "nothing is left"
	! has_tracer hwlat || mode_stays
}
