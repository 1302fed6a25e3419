# SPDX-License-Identifier: GPL-2.0-only
# Histograms disappear with their instance: --stored prints them as the kernel did.
scenario() {
	local i=$T/instances/texts h

	mkdir $i
	h=$i/events/sched/sched_process_fork
	if [ -e $h/hist ]; then
		echo 'hist:keys=parent_comm:vals=hitcount:size=128' > $h/trigger
		load
		echo 'hist:keys=parent_comm:vals=hitcount:size=128:pause' >> $h/trigger
		cat $h/hist > /tmp/hist.txt
		remember
		record "weft records with --save hist" 0 -B texts -e sched:sched_switch --save hist -- true
		unchanged
		weft report --stored hist /tmp/r.dat > /tmp/h.txt
		same "--stored hist equals the kernel's histogram" /tmp/hist.txt /tmp/h.txt
		echo '!hist:keys=parent_comm:vals=hitcount:size=128' >> $h/trigger
		remember
		record "weft records with a histogram of its own" 0 -e sched:sched_process_fork -R hist:keys=parent_comm -- sh -c 'ls; ls'
		unchanged
		weft report --stored hist /tmp/r.dat > /tmp/h.txt
		check "its histogram is kept without a word" matches /tmp/h.txt '^# trigger info: hist:keys=parent_comm:'
		check "and has entries" matches /tmp/h.txt 'Hits: [1-9]'
	else
		skip "histograms" "this kernel has none"
	fi
	rmdir $i
}
