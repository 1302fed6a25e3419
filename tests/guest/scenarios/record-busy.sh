# SPDX-License-Identifier: GPL-2.0-only
# Only one instance at a time can have these tracers: the message names that instance.
scenario() {
	local n=0

	mkdir $T/instances/one
	for tracers in 'irqsoff irqsoff' 'irqsoff preemptoff' 'wakeup_rt wakeup' 'hwlat hwlat' 'osnoise timerlat'; do
		has_tracer ${tracers% *} && has_tracer ${tracers#* } || continue
		echo ${tracers% *} > $T/instances/one/current_tracer
		echo ${tracers#* } > $T/current_tracer 2> /dev/null && { echo nop > $T/current_tracer; continue; }
		n=$((n + 1))
		record "a second one is refused ($tracers)" 125 -p ${tracers#* } -- true
		check "and is told by whom ($tracers)" matches /tmp/r.err "'${tracers#* }' for one instance at a time, and the instance 'one' has ${tracers% *}"
		echo nop > $T/instances/one/current_tracer
	done
	echo nop > $T/instances/one/current_tracer
	rmdir $T/instances/one
	[ $n -gt 0 ] || skip "a second one" "no tracer here that the kernel has only once"
}
