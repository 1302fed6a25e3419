# SPDX-License-Identifier: GPL-2.0-only
# One file of each kind that weft writes, and the journal of settings that `start` holds. tests/old/make lets a weft of an
# older commit run this, and keeps what comes back in golden/; tests/cases/old.bats reads that with the weft of today.

# made NAME OPTION...: weft makes NAME.dat. An older weft may not know how.
made() {
	local name="$1"

	shift
	if weft "$@" > "$OUT/$name.said" 2>&1 < /dev/null && [ -s "$name.dat" ]; then
		cp "$name.dat" /host/golden/
		# The first weft could only record.
		has_command report || return
		weft report "$name.dat" > "$name.txt" 2> "$OUT/$name.err"
		check "$name: report reads it" status_is $? 0 "$OUT/$name.err"
		cp "$name.txt" /host/golden/
	else
		skip "$name" "this weft does not make it: $(head -c 100 "$OUT/$name.said")"
	fi
}

scenario() {
	mkdir -p /tmp/old && cd /tmp/old || return
	# Old files have all symbols of the kernel, and would be nothing but symbols.
	grep -E ' (_?stext|_text|_etext|vfs_[a-z]*|__schedule|schedule|do_syscall_64|do_exit|ksys_[a-z]*|__x64_sys_[a-z]*)$' /proc/kallsyms > symbols
	mount --bind symbols /proc/kallsyms
	printf '#!/bin/sh\ncat /proc/version > copy\nls missing\nexit 0\n' > work && chmod +x work
	made events record -e sched -e syscalls:sys_enter_openat -e syscalls:sys_exit_openat -o events.dat -- ./work
	made version6 record --file-version 6 -e sched -o version6.dat -- ./work
	made plain record --compression none -e sched:sched_process_exec -o plain.dat -- ./work
	made graph record -p function_graph -l 'vfs_*' -o graph.dat -- ./work
	made stacks record -T -e sched:sched_switch -o stacks.dat -- ./work
	made instances record -B one -e sched:sched_switch -B two -e irq -o instances.dat -- ./work
	made wakeup record -p wakeup -o wakeup.dat -- ./work
	made probe record --probe 'vfs_read count' -o probe.dat -- ./work
	made hist record -e sched:sched_switch -R hist:keys=prev_pid -o hist.dat -- ./work
	made marks record --for marks -o marks.dat -- weft mark --span build -- ./work
	made excerpt split -o excerpt.dat --comm work events.dat
	made posted redact -o posted.dat events.dat
	if weft start -b 3M -e sched:sched_switch -f 'prev_pid != 0' -p function -l vfs_read > "$OUT/start.said" 2>&1; then
		cat /run/weft/held-* > /host/golden/journal
		made extract extract -o extract.dat
		check "reset undoes what start did" weft reset
		check "the buffer is as it was" equal "$(cat $T/current_tracer) $(cat $T/events/sched/sched_switch/enable)" "nop 0"
	fi
	umount /proc/kallsyms
	rm -rf /tmp/old
}
