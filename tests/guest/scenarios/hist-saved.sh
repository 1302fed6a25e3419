# SPDX-License-Identifier: GPL-2.0-only
# Compares weft hist --input with the kernel's own histograms: a recorded instance has hist triggers, and the file must
# give the same counts, byte for byte. All filters select one shell, which sleeps except during a time that is
# completely recorded.
i=$T/instances/counted

# trigger EVENT REST: sets the trigger in the instance and notes it, unless this kernel refuses it
trigger() {
	echo "$2" >> "$i/events/$1/trigger" 2> /dev/null && echo "$1 $2" >> /tmp/hists
}

# block FILE TRIGGER: the kernel's histogram of it. Linux 7.3 prints one name twice there, and does not take it so.
block() {
	awk -v trigger="$2" '
		/^# trigger info: / { gsub(/common_cpucommon_cpu/, "common_cpu") }
		/^# event histogram$/ { shown = 0; title = 1; next }
		title && /^# trigger info: / { title = 0; shown = substr($0, 17) == trigger; if (shown) print "# event histogram\n#\n" $0; next }
		shown && NF { for (; blanks > 0; blanks--) print ""; print; next }
		shown { blanks++ }' "$1"
}

# untied FILE FIELDS: orders the rows that are the same in all fields of the sort order: the kernel has no order for them
untied() {
	awk -v fields="$2" '
		function flush(  i, j, line) {
			for (i = 2; i <= n; i++) {
				line = rows[i]
				for (j = i - 1; j > 0 && rows[j] > line; j--) rows[j + 1] = rows[j]
				rows[j + 1] = line
			}
			for (i = 1; i <= n; i++) print rows[i]
			n = 0
		}
		BEGIN { nr = split(fields, names, ",") }
		!/^\{/ { flush(); print; next }
		{
			values = ""
			for (f = 1; f <= nr; f++) {
				sub(/\..*/, "", names[f])
				rest = $0
				while (match(rest, "[ {]" names[f] ": ")) rest = substr(rest, RSTART + RLENGTH)
				sub(/^ */, "", rest)
				sub(/(,|\}|  ).*/, "", rest)
				values = values rest ","
			}
			if (values != before) flush()
			before = values
			rows[++n] = $0
		}
		END { flush() }' "$1"
}

# saved SENTENCE EVENT OPTION...: compares the histogram from the file with the kernel's
saved() {
	local sentence="$1" event="$2" file order

	shift 2
	file=${event%%:*}/${event#*:}
	weft hist -i /tmp/s.dat "$event" --format kernel "$@" > /tmp/h.got 2> /tmp/h.err
	check "$sentence: the file is counted" status_is $? 0 /tmp/h.err
	block "/tmp/counted.${event#*:}" "$(sed -n 's/^# trigger info: //p' /tmp/h.got)" > /tmp/h.want
	check "$sentence: has rows" matches /tmp/h.want 'Hits: [1-9]' || cp "/tmp/counted.${event#*:}" "$OUT/"
	order=$(sed -n 's/^# trigger info: .*:sort=\([^: ]*\).*/\1/p' /tmp/h.want)
	untied /tmp/h.want "$order" > /tmp/h.untied
	mv /tmp/h.untied /tmp/h.want
	untied /tmp/h.got "$order" > /tmp/h.untied
	mv /tmp/h.untied /tmp/h.got
	same "$sentence: is what the kernel counted" /tmp/h.want /tmp/h.got
}

# ends FILE: prints the histogram from the last function of its first stack on
ends() { awk '/^# trig/ || on; /^, id/ && !on { on = 1; print last; print } { last = $0 }' "$1"; }

scenario() {
	local own head percent=1 stack=common_stacktrace write

	[ -e $T/events/sched/sched_switch/hist ] || { skip "histograms" "this kernel has none"; return; }
	write=$(number_of write)
	mkdir $i
	rm -f /tmp/hists /tmp/w.*
	mkfifo /tmp/w.go /tmp/w.end
	cat > /tmp/w.first <<-'END'
		read -r _ < /tmp/w.go
		exec /bin/sh /tmp/w.second
	END
	cat > /tmp/w.second <<-'END'
		i=0
		while [ $i -lt 12 ]; do
			[ -e /nowhere/$i ]
			read -r line < /proc/stat
			echo "$line $i" > /tmp/w.out$i
			i=$((i + 1))
		done
		: > /tmp/w.done
		read -r _ < /tmp/w.end
	END
	/bin/sh /tmp/w.first &
	own=$!
	await '[ "$(cut -d" " -f3 /proc/$own/stat)" = S ]'
	head="common_pid == $own"
	grep -q common_stacktrace $T/README || stack=stacktrace
	trigger sched/sched_switch "hist:keys=next_comm,next_pid:vals=prev_prio,next_prio:sort=next_pid,next_comm if prev_pid == $own"
	trigger sched/sched_switch "hist:keys=common_pid.execname,common_cpu:sort=common_pid,common_cpu.descending if $head"
	trigger sched/sched_switch "hist:keys=common_timestamp:vals=prev_pid:sort=common_timestamp if $head"
	trigger sched/sched_switch "hist:keys=prev_state.hex,prev_pid.log2:sort=prev_pid,prev_state if $head"
	trigger raw_syscalls/sys_enter "hist:keys=id.syscall:sort=id if $head"
	trigger raw_syscalls/sys_exit "hist:keys=id,ret:sort=ret,id if $head"
	trigger syscalls/sys_exit_openat "hist:keys=ret,common_pid.execname:sort=ret.descending if $head"
	trigger kmem/kmalloc "hist:keys=bytes_req.buckets=100,bytes_alloc.log2:vals=bytes_alloc.percent,bytes_req.graph:sort=bytes_req,bytes_alloc if $head" ||
		percent=
	trigger kmem/kmalloc "hist:keys=call_site.sym,bytes_req:vals=bytes_req.hex:sort=call_site,bytes_req if $head"
	trigger kmem/kmalloc "hist:keys=common_timestamp.usecs,call_site.sym-offset:sort=common_timestamp,call_site if $head && bytes_req > 64"
	trigger raw_syscalls/sys_enter "hist:keys=common_timestamp:vals=id:sort=common_timestamp:size=128 if $head"
	trigger sched/sched_process_exec "hist:keys=filename,pid:sort=pid,filename if $head"
	trigger raw_syscalls/sys_enter "hist:keys=$stack,id:vals=id:sort=id if $head && id == $write"
	trigger raw_syscalls/sys_exit "hist:keys=ret.log2,id:sort=id,ret if $head"
	trigger raw_syscalls/sys_exit "hist:keys=ret.buckets=7,id:sort=id,ret if $head"
	trigger raw_syscalls/sys_exit "hist:keys=id.hex:vals=ret.hex:sort=id.descending if $head && ret >= 0"
	[ -z "$percent" ] || trigger raw_syscalls/sys_enter "hist:keys=id.buckets=10,common_cpu,common_pid:vals=id.percent:sort=id,common_cpu if $head"
	trigger kmem/kmalloc "hist:keys=common_pid.log2,bytes_req.buckets=64:vals=bytes_req,bytes_alloc:sort=bytes_req.descending if $head && !(bytes_req < 32)"
	trigger sched/sched_switch "hist:keys=next_comm:vals=next_prio:sort=next_prio,next_comm if prev_pid == $own && (next_prio > 100 && next_comm != \"sh\")"
	remember
	timeout 100 weft record -q -o /tmp/s.dat -B counted -T -e sched:sched_switch -e raw_syscalls -e syscalls:sys_exit_openat -e kmem:kmalloc \
		-e sched:sched_process_exec -- sh -c "echo go > /tmp/w.go
		while [ ! -e /tmp/w.done ] || ! read -r _ _ state _ < /proc/$own/stat || [ \"\$state\" != S ]; do sleep 0.1; done" > /tmp/h.txt 2> /tmp/h.err
	check "is recorded" status_is $? 0 /tmp/h.err
	unchanged "recording leaves the triggers as they are"
	for event in sched/sched_switch raw_syscalls/sys_enter raw_syscalls/sys_exit syscalls/sys_exit_openat kmem/kmalloc sched/sched_process_exec; do
		cat $i/events/$event/hist > /tmp/counted.${event#*/}
	done
	echo > /tmp/w.end
	wait $own
	check "all triggers were taken" more "$(wc -l < /tmp/hists)" 16

	saved "names and numbers, with sums" sched:sched_switch --keys next_comm,next_pid --values prev_prio,next_prio --sort next_pid,next_comm \
		--filter "prev_pid == $own"
	saved "tasks and CPUs" sched:sched_switch --keys execname,common_cpu --sort common_pid,common_cpu.descending --filter "$head"
	saved "times" sched:sched_switch --keys common_timestamp --values prev_pid --sort common_timestamp --filter "$head"
	saved "hexadecimal and powers of two" sched:sched_switch --keys prev_state.hex,prev_pid.log2 --sort prev_pid,prev_state --filter "$head"
	saved "system calls by name" raw_syscalls:sys_enter --keys id.syscall --sort id --filter "$head"
	saved "numbers below 0" raw_syscalls:sys_exit --keys id,ret --sort ret,id --filter "$head"
	compat || saved "those of one call, by task" syscalls:sys_exit_openat --keys ret,execname --sort ret.descending --filter "$head"
	[ -z "$percent" ] || saved "steps, per cent and bars" kmem:kmalloc --keys bytes_req.buckets=100,bytes_alloc.log2 \
		--values bytes_alloc.percent,bytes_req.graph --sort bytes_req,bytes_alloc --filter "$head"
	saved "functions" kmem:kmalloc --keys call_site.sym,bytes_req --values bytes_req.hex --sort call_site,bytes_req --filter "$head"
	saved "functions with offsets, times in us" kmem:kmalloc --keys common_timestamp.usecs,call_site.sym-offset \
		--sort common_timestamp,call_site --filter "$head && bytes_req > 64"
	saved "names of any length" sched:sched_process_exec --keys filename,pid --sort pid,filename --filter "$head"
	saved "no more rows than fit" raw_syscalls:sys_enter --keys common_timestamp --values id --sort common_timestamp --size 128 --filter "$head"
	saved "steps below 0" raw_syscalls:sys_exit --keys ret.log2,id --sort id,ret --filter "$head"
	saved "steps of a size below 0" raw_syscalls:sys_exit --keys ret.buckets=7,id --sort id,ret --filter "$head"
	saved "hexadecimal sums" raw_syscalls:sys_exit --keys id.hex --values ret.hex --sort id.descending --filter "$head && ret >= 0"
	[ -z "$percent" ] || saved "three keys, of which two have no name" raw_syscalls:sys_enter --keys id.buckets=10,common_cpu,common_pid \
		--values id.percent --sort id,common_cpu --filter "$head"
	saved "a sum of the key's field" kmem:kmalloc --keys common_pid.log2,bytes_req.buckets=64 --values bytes_req,bytes_alloc \
		--sort bytes_req.descending --filter "$head && !(bytes_req < 32)"
	saved "a filter with brackets" sched:sched_switch --keys next_comm --values next_prio --sort next_prio,next_comm \
		--filter "prev_pid == $own && (next_prio > 100 && next_comm != \"sh\")"
	weft hist -i /tmp/s.dat raw_syscalls:sys_enter --keys stacktrace,id --values id --sort id --filter "$head && id == $write" --format kernel > /tmp/h.got
	block /tmp/counted.sys_enter "$(sed -n 's/^# trigger info: //p' /tmp/h.got)" > /tmp/h.want
	# The kernel skips five frames, whatever they are. Stacks in the file begin at the caller of the event.
	ends /tmp/h.want > /tmp/h.want1
	ends /tmp/h.got > /tmp/h.got1
	check "stacks: has rows" matches /tmp/h.want1 'Hits: [1-9]'
	same "stacks: the same end in what the kernel counted" /tmp/h.want1 /tmp/h.got1
	check "stacks: none begins in the tracing itself" lacks /tmp/h.got ' trace_event_raw_event'
	weft hist -i /tmp/s.dat sched:sched_switch --keys next_comm --sort next_comm > /tmp/h.txt
	check "as a table" matches /tmp/h.txt '^sh +[0-9]+ +#'
	rmdir $i
}
