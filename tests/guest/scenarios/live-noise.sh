# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	local tracer

	VARIANTS='raw latency-format'
	for tracer in hwlat osnoise timerlat; do
		has_tracer $tracer || { skip "$tracer" "this kernel has no such tracer"; continue; }
		[ $tracer = hwlat ] && echo 1 > $T/tracing_thresh
		live $tracer "sleep $([ $tracer = timerlat ] && echo 0.2 || echo 2)" -p $tracer
		echo 0 > $T/tracing_thresh
	done
}
