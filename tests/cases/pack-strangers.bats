#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What weft, run by root, reads from a directory or file that somebody else has made. The oracle is a secret that must
# not be in the file, and the clock: nothing waits forever.
load lib

SECRET='root:$6$do-not-tell:19000:0:99999:7:::'

setup()
{
	pages=$PWD/tests/corpora/container/accept/v7-zstd.dat
	cd "$BATS_TEST_TMPDIR" || exit 1
	mkdir outside folder folder/per_cpu folder/per_cpu/cpu0
	echo "$SECRET" > outside/secret
	chmod 600 outside/secret
	echo '[local] global' > folder/trace_clock
	echo nop > folder/current_tracer
}

pack()
{
	run timeout 60 weft pack -q --compression none -o out.dat --pages "$pages" "$@"
	if [ -e out.dat ]; then
		! grep -qa "do-not-tell" out.dat || { echo "the secret is in the file"; return 1; }
	fi
}

refused()
{
	pack folder "${@:2}"
	echo "$output"
	[ "$status" = 1 ]
	[[ "$output" == *"$1"* ]]
	[ ! -e out.dat ]
}

@test "pack: a plain directory is packed" {
	pack folder
	[ "$status" = 0 ]
	[ "$(weft info --setting current_tracer out.dat)" = nop ]
}

@test "pack: a link leads to nothing outside of the directory" {
	for name in set_event_pid per_cpu/cpu0/stats printk_formats saved_cmdlines kallsyms trace.dat; do
		ln -s "$PWD/outside/secret" folder/$name
		[ $name != trace.dat ] || pages=
		if [ -n "$pages" ]; then
			refused "folder/$name' is a symbolic link"
		else
			run -1 timeout 60 weft pack -q -o out.dat folder
			[[ "$output" == *"folder/$name' is a symbolic link"* ]]
		fi
		rm folder/$name
	done
}

@test "pack: a link in place of a directory leads nowhere" {
	mkdir outside/cpu1 outside/events
	cp outside/secret outside/cpu1/stats
	cp outside/secret outside/cpu1/trace_pipe_raw
	for name in per_cpu/cpu1 events meta instances instances.d raw_main; do
		ln -s ../outside "folder/$name"
		[ $name = per_cpu/cpu1 ] && ln -sfn ../../outside/cpu1 folder/$name
		pack folder
		[ "$status" = 1 ] || ! grep -qa do-not-tell out.dat
		rm -f out.dat folder/$name
	done
	mkdir folder/instances
	ln -s ../../outside folder/instances/weft
	refused "symbolic link"
	rm -r folder/instances
	ln -s ../outside folder/raw_main
	cp outside/secret outside/cpu0.raw
	refused "symbolic link"
}

@test "pack: a directory that leads back to itself ends" {
	ln -s / folder/loop
	refused "folder/loop' is a symbolic link"
	rm folder/loop
	mkdir -p folder/1/2/3/4/5/6/7/8/9/10
	refused "deeper than tracefs"
}

@test "pack: a FIFO, a socket or a device among the copies does not block" {
	need_root
	for name in trace_options per_cpu/cpu0/trace_pipe_raw kallsyms; do
		mkfifo folder/$name
		refused "folder/$name' is not a regular file"
		rm folder/$name
		mknod folder/$name c 1 5 || skip "no devices can be made here"
		refused "folder/$name' is not a regular file"
		rm folder/$name
	done
	mkfifo folder/trace.dat
	run -1 timeout 60 weft pack -q -o out.dat folder
	[[ "$output" == *"not a regular file"* ]]
}

@test "pack: too much of anything is refused in words, at once" {
	truncate -s 65M folder/trace_options
	refused "larger than 64 MiB"
	rm folder/trace_options
	truncate -s 100T folder/per_cpu/cpu0/trace_pipe_raw || truncate -s 10T folder/per_cpu/cpu0/trace_pipe_raw ||
		skip "no large sparse files here"
	refused "the pages in 'folder' are larger than 64 GiB"
	rm folder/per_cpu/cpu0/trace_pipe_raw
	mkdir folder/many
	(cd folder/many && seq 16500 | xargs touch)
	refused "more than 16384 settings"
}

@test "pack: --maps, --kallsyms, --latency, --events and --pages take no device, and wait for no FIFO" {
	mkfifo fifo
	for option in "--maps 1:" --kallsyms= --latency= --latency-sample= --pages=; do
		# shellcheck disable=SC2086
		for what in "fifo nobody writes to the FIFO 'fifo'" "/dev/zero '/dev/zero' is a device" "outside 'outside' is a directory"; do
			# shellcheck disable=SC2086
			run timeout 60 weft pack -q -o out.dat folder --pages "$pages" $option${what%% *}
			echo "$option: $output"
			[ "$status" = 1 ]
			[[ "$output" == *"${what#* }"* ]]
		done
	done
	run -1 timeout 60 weft pack -q -o out.dat folder --pages "$pages" --events fifo
	[[ "$output" == *"'fifo'"* ]]
	[ ! -e out.dat ]
	# A FIFO with a writer is read.
	pack folder --kallsyms <(echo 'ffffffff81000000 T startup_64')
	[ "$status" = 0 ]
}

@test "report, info, check: a FIFO that nobody writes into, a device or a directory is told, and not waited for" {
	mkfifo fifo
	for command in report info check; do
		run -1 timeout 60 weft $command fifo
		[[ "$output" == *"nobody writes to the FIFO 'fifo'"* ]]
		run -1 timeout 60 weft $command /dev/zero
		[[ "$output" == *"'/dev/zero' is a device"* ]]
		run -1 timeout 60 weft $command outside
		[[ "$output" == *"'outside' is a directory"* ]]
		run -1 timeout 60 weft $command /dev/null
		[[ "$output" == *"it is empty"* ]]
		# With a writer a FIFO is like any other file, whichever side is opened first.
		cat "$pages" > fifo 3>&- &
		run -0 timeout 60 weft $command fifo
		wait $!
		run -0 timeout 60 weft $command <(cat "$pages")
	done
}

@test "record: --config takes no device and waits for no FIFO; --temp-dir is a directory" {
	mkfifo fifo
	run -2 timeout 60 weft record --config fifo -- true
	[[ "$output" == *"nobody writes to the FIFO 'fifo'"* ]]
	run -2 timeout 60 weft record --config /dev/zero -- true
	[[ "$output" == *"'/dev/zero' is a device"* ]]
	run -2 timeout 60 weft record --config . -- true
	[[ "$output" == *"'.' has no file whose name ends with .conf"* ]]
	truncate -s 2M large
	run -2 timeout 60 weft record --config large -- true
	[[ "$output" == *"'large': it is larger than 1 MiB"* ]]
	need_tracefs
	for dir in fifo /dev/zero large absent; do
		run -125 timeout 60 weft record -q -e sched --temp-dir $dir -- touch ran
		[[ "$output" == *"'$dir"* ]]
		[ ! -e ran ]
	done
}

@test "pack: what cannot be opened for lack of descriptors is told, and not taken for what is not there" {
	local when status first
	need_command strace
	strace -o calls true || skip "strace does not work here"
	mkdir -p tree/events/sys/one tree/per_cpu/cpu0
	printf '\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n' > tree/events/header_page
	printf '\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n' >> tree/events/header_page
	printf 'name: one\nID: 900\nformat:\n\nprint fmt: "x"\n' > tree/events/sys/one/format
	head -c 8192 /dev/zero > tree/per_cpu/cpu0/trace_pipe_raw
	# Only from the opening of the directory on: the files of the dynamic loader come before.
	strace -o calls -e trace=openat "$WEFT" pack -q -o whole.dat tree
	first=$(grep '^openat' calls | grep -n '"tree"' | head -n 1 | cut -d: -f1)
	for ((when = first; when < first + 60; when++)); do
		rm -f one.dat
		status=0
		strace -o calls -e trace=openat -e "inject=openat:error=EMFILE:when=$when" "$WEFT" pack -q -o one.dat tree || status=$?
		[ $status != 0 ] || cmp one.dat whole.dat
	done
}
