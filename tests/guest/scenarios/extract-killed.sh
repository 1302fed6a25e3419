# SPDX-License-Identifier: GPL-2.0-only
# weft extract is killed at several moments: no setting stays changed, and the data read from the kernel can be
# recovered.
scenario() {
	local after

	echo 1 > $T/events/sched/enable
	for after in 0.3 1; do
		rm -rf /tmp/kx
		mkdir /tmp/kx
		echo 1 > $T/tracing_on
		load
		echo 0 > $T/tracing_on
		remember
		timeout -s KILL $after weft extract -q -o /tmp/kx/x.dat
		(cd /tmp/kx && weft recover x.dat) > /tmp/k.out 2>&1
		unchanged "tracefs is as it was before the extraction that was killed after $after s"
		[ ! -e /tmp/kx/x.dat ] || check "its file is whole" weft check /tmp/kx/x.dat
	done
}
