# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	VARIANTS='raw hex fields latency-format noprintk-msg-only'
	live markers 'for i in 1 2 3 4 5; do
			echo "marker $i" > $I/trace_marker
			printf "without a newline" > $I/trace_marker
		done
		printf "two\nlines\n" > $I/trace_marker
		printf "\n" > $I/trace_marker
		printf "tab\tescape \033[1m %%s \377\376 \346\227\245" > $I/trace_marker
		for n in 1 2 3 4 5 6 7 8 9 10 11 12; do printf "\003\000\000\000%0${n}d" 7 > $I/trace_marker_raw; done
		load' -e sched:sched_process_exec
	if ls /host/modules/trace-printk.ko > /dev/null 2>&1; then
		# trace_printk() in this module writes to the top buffer only.
		VARIANTS='raw hex'
		live printk 'echo 1 > $T/tracing_on; insmod /host/modules/trace-printk.ko; rmmod trace_printk' -p function -l vfs_read -g vfs_read \
			-e sched:sched_process_exec
	else
		skip "trace_printk" "no module of this kernel that calls it"
	fi
}
