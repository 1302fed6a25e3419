# SPDX-License-Identifier: GPL-2.0-only
# weft flight while memory is short: it goes on, says what of its history is gone, and restores tracefs as ever.

# write_numbers FROM TO: markers that compress badly, so that what is held has many blocks of the file system: a history of
# three or four blocks may be gone as a whole before the next chunk has room
write_numbers() {
	local i=$1

	while [ $i -le $2 ]; do
		read -r noise < /tmp/noise
		echo "number $i $noise" > $T/instances/weft-$flight/trace_marker
		i=$((i + 1))
		[ $((i % 10)) != 0 ] || make_noise
	done
}
make_noise() { head -c 350 /dev/urandom | hexdump -v -e '1/1 "%02x"' > /tmp/noise; echo >> /tmp/noise; }

# numbers_of FILE: prints the numbers that a file has
numbers_of() { weft report "$1" 2> /dev/null | sed -n 's/.*tracing_mark_write: number \([0-9]*\) .*/\1/p'; }

# dumped TO: weft flight dump writes a file that ends with this number and has no gap; sets $first to its first one
dumped() {
	path=$(weft flight dump) || return
	numbers_of "$path" > /tmp/numbers
	first=$(head -n 1 /tmp/numbers)
	seq "$first" "$1" | cmp - /tmp/numbers
}
fill() { dd if=/dev/zero bs=4k >> /run/weft/zero 2> /dev/null; }

# The file system that has the history is filled by somebody else.
full_file_system() {
	mkdir -p /run/weft
	mount -t tmpfs -o size=24m full /run/weft || { skip "a full file system" "no tmpfs"; return; }
	remember
	make_noise
	fly -e sched:sched_process_exec --max-memory 1M --keep 5m --after 0 --cool-down 0
	check "the history lies in that file system" matches /tmp/flight.out 'has begun'
	ls /run/weft/*.weft*/* > $OUT/spools 2>&1
	write_numbers 1 600
	fill
	write_numbers 601 1500
	fill
	write_numbers 1501 1800
	check "a flight goes on when its file system is full" kill -0 $flight
	await "grep -q 'no free memory for the history' /tmp/flight.out"
	check "it says so" matches /tmp/flight.out 'there is no free memory for the history .*: what was older than .* is gone, and the recording goes on'
	check "a file has the last events without a gap" dumped 1800
	check "and not those that had to go" more "$first" 1
	rm -f /run/weft/zero
	from=$first
	write_numbers 1801 2000
	check "when there is memory again, it holds as much as before" dumped 2000
	check "and still what it held then" more $((from + 1)) "$first"
	fill
	land
	cp /tmp/flight.out $OUT/full.out
	unchanged "a flight with a full file system leaves nothing behind"
	umount /run/weft
}

# A task takes all memory of the machine, until the kernel kills it.
all_memory() {
	remember
	make_noise
	fly -e sched:sched_process_exec --keep 5m --after 0 --cool-down 0
	write_numbers 1 300
	# tail keeps a line until it ends.
	tail -n 1 < /dev/zero > /dev/null 2>&1 &
	hog=$!
	write_numbers 301 600
	wait $hog
	check "the kernel kills the task that took the memory" equal $? 137
	write_numbers 601 800
	check "a flight goes on after the memory was exhausted" kill -0 $flight
	check "every event before and after is in the file" dumped 800
	check "from the first on" equal "$first" 1
	land
	cp /tmp/flight.out $OUT/memory.out
	dmesg | grep -iE 'oom|out of memory' > $OUT/oom
	check "it was no task of weft" lacks $OUT/oom 'Killed process [0-9]+ \(weft'
	unchanged "a flight that was short of memory leaves nothing behind"
}

scenario() {
	has_command flight || { skip "a flight that is short of memory" "weft has no flights yet"; return; }
	full_file_system
	all_memory
}
