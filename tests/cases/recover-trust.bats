#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What recover, run by root, makes from parts that somebody else may have written: nothing. The oracle is the file
# system, and the kernel's own counters of an instance.
load lib

SECRET='root:$6$secret:19000:0:99999:7:::'
# Kinds of items in the metadata: see lib/kernel/record/ledger_internal.h.
FILE=1 OUTPUT=2 HEADER_PAGE=3 HEADER_EVENT=4 BUFFER=12 MOVED=17 INSTANCE=18

setup()
{
	local parent

	need_root
	need_command setpriv
	for parent in "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR"; do chmod a+rx "$parent"; done
	cd "$BATS_TEST_TMPDIR" || exit 1
	mkdir shared private
	chmod 1777 shared
	chmod 700 private
	printf "%-4096s" "$SECRET" > private/secret
	chmod 600 private/secret
	as_nobody test -w shared || skip "nobody cannot reach $PWD"
}

as_nobody()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

le32()
{
	local i

	for ((i = 0; i < 32; i += 8)); do
		# shellcheck disable=SC2059
		printf "\\x$(printf %02x $(($1 >> i & 255)))"
	done
}

# item KIND BUFFER KEY DATA: prints an item as a recorder appends it to the metadata.
item()
{
	le32 0x74666577
	le32 "$1"
	le32 "$2"
	le32 ${#3}
	le32 ${#4}
	le32 0
	printf '%s\0%s\0' "$3" "$4"
}

# Prints a spool with one page, an empty one from the kernel.
spool()
{
	le32 0x74706677
	le32 1
	le32 4096
	le32 0
	head -c $((4096 - 16)) /dev/zero
	head -c 4096 /dev/zero
}

# forge: makes the parts of a killed recording with one CPU. OUTPUT is $2.
forge()
{
	mkdir -m 755 "$1"
	{
		item $OUTPUT 0 "" "$2"
		item $FILE 0 "" "weft-parts 3 version=6 compress=0 level=0 big_endian=0 long=8 page=4096 swap=0 cpus=1 id=1"
		item $HEADER_PAGE 0 "" header
		item $HEADER_EVENT 0 "" header
		item $BUFFER 0 "" "4096 local"
	} > "$1/metadata"
	chmod 644 "$1/metadata"
}

dead()
{
	sh -c 'echo $$'
}

# refused: recover refuses the parts $1, says who owns them and what to do, and changes nothing below them.
refused()
{
	local before after

	before=$(find . -path './shared/*.parts' -prune -o -type f -exec sha256sum {} + | sort)
	run -1 weft recover "$@"
	[[ "$output" == *"another user"* || "$output" == *"others may write"* ]]
	[[ "$output" == *"cp -r"* ]]
	after=$(find . -path './shared/*.parts' -prune -o -type f -exec sha256sum {} + | sort)
	[ "$before" = "$after" ]
}

@test "recover: parts of another user name no file that is deleted" {
	P=shared/k.dat.weft-$(dead)-abcdef.parts
	forge $P "$PWD/shared/k.dat"
	item 16 0 "" "$PWD/private/secret" >> $P/metadata
	chown -R nobody $P
	refused $P
	[[ "$(cat private/secret)" = "$SECRET"* ]]
}

@test "recover: parts of another user name no place to write to" {
	forge shared/parts "$PWD/private/written"
	chown -R nobody shared/parts
	refused shared/parts
	refused shared/parts -o private/mine
	[ ! -e private/written ]
	[ ! -e private/mine ]
}

@test "recover: parts of another user name no file whose bytes become pages" {
	P=shared/k.dat.weft-$(dead)-abcdef.parts
	forge $P "$PWD/shared/k.dat"
	item $MOVED 0 0 "0 4096 0 $PWD/private/secret" >> $P/metadata
	chown -R nobody $P
	refused $P
	[ ! -e shared/k.dat ]
}

@test "recover: a spool of another user that is a link empties nothing" {
	P=shared/k.dat.weft-$(dead)-abcdef.parts
	forge $P "$PWD/shared/k.dat"
	spool > private/spool
	ln -s "$PWD/private/spool" $P/0.0
	chown -hR nobody $P
	refused $P
	[ "$(stat -c %s private/spool)" = 8192 ]
}

@test "recover: parts of another user stop and drain no instance" {
	need_tracefs
	I=/sys/kernel/tracing/instances/weft-trust-$$
	mkdir $I
	echo 1 > $I/tracing_on
	for ((i = 0; i < 50; i++)); do echo "mark $i" > $I/trace_marker; done
	P=shared/k.dat.weft-$(dead)-abcdef.parts
	forge $P "$PWD/shared/k.dat"
	item $INSTANCE 0 "$(cat /proc/sys/kernel/random/boot_id)" "weft-trust-$$" >> $P/metadata
	for ((i = 0; i < $(nproc); i++)); do spool > $P/0.$i; done
	chown -R nobody $P
	refused $P
	left=$(cat $I/per_cpu/cpu*/stats | awk '/^entries:/ { n += $2 } END { print n }')
	on=$(cat $I/tracing_on)
	rmdir $I
	[ "$on" = 1 ]
	[ "$left" = 50 ]
}

@test "recover: parts of our own are not believed when others may write there, or one file is another user's, or they are a link" {
	P=shared/k.dat.weft-$(dead)-abcdef.parts
	forge $P "$PWD/shared/k.dat"
	chmod 775 $P
	refused $P
	chmod 700 $P
	chmod 666 $P/metadata
	refused $P
	chmod 600 $P/metadata
	spool > $P/0.0
	chown nobody $P/0.0
	refused $P
	mkfifo $P/fifo
	mv $P/fifo $P/metadata
	run -1 timeout 60 weft recover $P
	[[ "$output" == *"not a regular file"* ]]
	ln -s "$PWD/private" shared/link
	run -1 weft recover shared/link/
	[[ "$output" == *"symbolic link"* ]]
}

@test "recover: a copy of forged parts touches nothing but itself and the file beside it" {
	P=k.dat.weft-$(dead)-abcdef.parts
	forge shared/$P "$PWD/private/written"
	spool > shared/$P/0.0
	chown -R nobody shared/$P
	cp -r shared/$P private/
	run -0 weft recover private/$P
	[ -s private/k.dat ]
	[ ! -e private/$P ]
	[ ! -e private/written ]
	# Data that was moved lies inside the parts, whatever the metadata says.
	for name in "$PWD/private/secret" ../secret unfinished.1/../../secret; do
		rm -rf private/$P
		cp -r shared/$P private/
		item $MOVED 0 0 "0 4096 0 $name" >> private/$P/metadata
		run -1 weft recover private/$P -o private/m.dat
		[[ "$output" == *"is not the name of a file in"* ]]
		[ ! -e private/m.dat ]
	done
	rm -rf private/$P
	cp -r shared/$P private/other
	run -1 weft recover private/other
	[[ "$output" == *"name a file with -o"* ]]
	run -0 weft recover private/other -o private/other.dat
	[ -s private/other.dat ]
	[[ "$(cat private/secret)" = "$SECRET"* ]]
}

@test "recover: a copy of forged parts drains no instance of another recording" {
	need_tracefs
	cd private
	start_marks
	kill -9 $pid
	wait $pid || true
	P=../shared/x.dat.weft-$(dead)-abcdef.parts
	forge $P x
	item $INSTANCE 0 "$(cat /proc/sys/kernel/random/boot_id)" "weft-$pid" >> $P/metadata
	spool > $P/0.0
	run -0 weft recover $P
	[ "$(entries)" = $MARKS ]
	run -0 weft recover k.dat
	[ "$(marks k.dat)" = $MARKS ]
}

@test "recover: who may not trace makes a file of parts of his own" {
	P=shared/k.dat.weft-$(dead)-abcdef.parts
	forge $P "$PWD/shared/k.dat"
	spool > $P/0.0
	chown -R nobody $P
	cp "$WEFT" ./weft
	chmod 755 . ./weft
	as_nobody ./weft --version || skip "nobody cannot reach $PWD"
	run -0 as_nobody ./weft recover $P
	[ "$(stat -c '%U %a' shared/k.dat)" = "nobody 600" ]
	[ ! -e $P ]
}

MARKS=12000

entries()
{
	cat /sys/kernel/tracing/instances/weft-$pid/per_cpu/cpu*/stats | awk '/^entries:/ { n += $2 } END { print n + 0 }'
}

marks()
{
	weft report "$1" | grep -c ': mark '
}

# start_marks: starts a recording of nothing but $MARKS markers of the test, and stops its recorders before they take
# them.
start_marks()
{
	local i

	weft record -q -o k.dat -e syscalls:sys_enter_reboot -b 4M "$@" 3>&- &
	pid=$!
	await_tracing $pid
	kill -STOP $pid
	for ((i = 0; i < MARKS; i++)); do echo "mark $i"; done > /sys/kernel/tracing/instances/weft-$pid/trace_marker
	[ "$(entries)" = $MARKS ]
}

@test "recover: a refused recovery leaves the instance, its events and the parts; the next has all of them" {
	need_tracefs
	start_marks
	kill -9 $pid
	wait $pid || true
	echo old > k.dat
	run -1 weft recover k.dat
	[[ "$output" == *"'k.dat' exists"* ]]
	[ "$(entries)" = $MARKS ]
	# Recovering something else, or nothing, does not change this.
	run -1 weft recover none.dat
	[[ "$output" == *"weft recover $PWD/k.dat.weft-$pid-"* ]]
	[ "$(entries)" = $MARKS ]
	run -0 weft recover k.dat -o new.dat
	[ "$(marks new.dat)" = $MARKS ]
	[ "$(cat k.dat)" = old ]
	[ ! -e /sys/kernel/tracing/instances/weft-$pid ]
	[ -z "$(ls -d ./*.parts /run/weft/undo-$pid-* 2> /dev/null)" ]
}

@test "recover: a buffer that cannot be read leaves the instance and the parts" {
	need_tracefs
	need_mounts
	start_marks
	kill -9 $pid
	wait $pid || true
	# Reading the last CPU fails. By then recover has put the data of the other CPUs into the parts.
	last=$(ls -d /sys/kernel/tracing/instances/weft-$pid/per_cpu/cpu* | sort -V | tail -n 1)
	run -1 unshare -m sh -c "mount --bind /proc/self/mem $last/trace_pipe_raw && weft recover k.dat"
	[[ "$output" == *"trace_pipe_raw"* || "$output" == *"nput/output error"* ]]
	[ -e /sys/kernel/tracing/instances/weft-$pid ]
	[ ! -e k.dat ]
	run -0 weft recover k.dat
	[ "$(marks k.dat)" = $MARKS ]
}

@test "recover: a full disk leaves the instance and all events that are in it" {
	need_tracefs
	mkdir small
	mount -t tmpfs -o size=64m tmpfs small || skip "cannot mount a tmpfs"
	start_marks --temp-dir small
	kill -9 $pid
	wait $pid || true
	head -c 128M /dev/zero > small/full || true
	run -1 weft recover small/*.parts -o k.dat
	said=$output
	left=$(entries)
	rm small/full
	run weft recover small/*.parts -o k.dat
	umount small
	[[ "$said" == *"nothing was taken out of them"* ]]
	[ "$left" = $MARKS ]
	[ "$status" = 0 ]
	[ "$(marks k.dat)" = $MARKS ]
}
