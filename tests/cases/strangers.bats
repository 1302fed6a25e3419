#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Root writes into a directory of another user, who exchanges names at the worst moment (tests/fixtures/stranger.c) or
# has put something there before. The oracle is the file system: what belongs to root stays as it was.
load lib
load screens

stranger=12345

setup_file()
{
	need_root
	need_command cc
	cc -O1 -D_GNU_SOURCE -shared -fPIC -o "$BATS_FILE_TMPDIR/stranger.so" tests/fixtures/stranger.c -ldl
	cc -O1 -D_GNU_SOURCE -shared -fPIC -o "$BATS_FILE_TMPDIR/takeover.so" tests/fixtures/takeover.c -ldl
}

setup()
{
	demo=$PWD/tests/fixtures/demo.dat
		files=$PWD/tests/fixtures/tracefs-files
	cd "$BATS_TEST_TMPDIR" || exit 1
	chmod 755 .
	mkdir theirs
	chown $stranger theirs
	echo precious > victim
	chmod 600 victim
}

teardown()
{
	screen_end
}

# Runs weft while another user exchanges names that contain $1.
meanwhile()
{
	local name=$1
	shift
	STRANGER_DIR=$PWD/theirs STRANGER_NAME=$name LD_PRELOAD=$BATS_FILE_TMPDIR/stranger.so timeout 60 "$WEFT" "$@"
}

victim_is_whole()
{
	[ "$(cat victim)" = precious ]
	[ "$(stat -c %a victim)" = 600 ]
}

@test "strangers: no command writes through a link that is put at the name of its unfinished file" {
	local command
	for old_fs in '' 1; do
		for command in "export --to sqlite" "export --to jsonl" "export --to perfetto" convert "merge $demo" split; do
			rm -rf theirs/*
			ln -s ../victim theirs/prepared
			# shellcheck disable=SC2086 # words
			STRANGER_OLD_FS=$old_fs run meanwhile .weft- $command -q -o theirs/out "$demo"
			echo "$command: $output"
			victim_is_whole
			[ ! -L theirs/out ]
			# Where files need a name, the exchange is noticed; where they need none, there is nothing to exchange.
			if [ -n "$old_fs" ]; then
				[ "$status" = 1 ]
				[[ $output == *"cannot name the finished file 'theirs/out': it was replaced by another one meanwhile"* ]]
				[ -n "$(find theirs -name '.weft-*.new' -type l)" ]
			else
				[ "$status" = 0 ]
				[ -s theirs/out ]
				[ "$(ls -A theirs)" = $'out\nprepared' ]
			fi
		done
	done
}

@test "strangers: the file that gets the name is the one that was written, or the command fails" {
	local command
	for command in "export --to sqlite" "export --to csv" convert split; do
		rm -rf theirs/*
		echo forged > theirs/prepared
		# shellcheck disable=SC2086 # words
		STRANGER_OLD_FS=1 STRANGER_WHEN=name run -1 meanwhile .weft- $command -q -o theirs/out "$demo"
		[[ $output == *"cannot name the finished file 'theirs/out': it was replaced by another one meanwhile"* ]]
	done
}

@test "strangers: an export of a folder changes no mode of what is put in its place" {
	local to
	for to in ctf parquet; do
		rm -rf theirs/*
		mkdir theirs/prepared
		ln -s ../../victim theirs/prepared/a
		chown -hR $stranger theirs/prepared
		run -1 meanwhile .weft- export -q --mode 644 --to $to -o theirs/out "$demo"
		[[ $output == *"it was replaced by another one meanwhile"* ]]
		victim_is_whole
		# A folder of root's that has files is as little taken for the new one.
		rm -rf theirs/* theirs/.weft*
		mkdir -m 700 theirs/prepared
		cp victim theirs/prepared/victim
		chmod 600 theirs/prepared/victim
		for when in make name; do
			STRANGER_WHEN=$when run -1 meanwhile .weft- export -q --mode 644 --to $to -o theirs/out "$demo"
			[[ $output == *"it was replaced by another one meanwhile"* ]]
			[ "$(find theirs -name victim -perm 600 | wc -l)" = 1 ]
			[ "$(find theirs -perm 700 -type d -exec test -e {}/victim \; -print | wc -l)" = 1 ]
			rm -rf theirs/moved
			mv theirs/out theirs/prepared 2> /dev/null || mv theirs/.weft* theirs/prepared
		done
	done
}

@test "strangers: an export that fails empties no folder that was put in the place of its own" {
	mkdir -m 700 theirs/prepared
	cp victim theirs/prepared/victim
	echo garbage > bad.dat
	run -1 meanwhile .weft- export -q --to ctf -o theirs/out bad.dat
	[ "$(cat theirs/.weft-*/victim)" = precious ]
	# Also when the exchange comes later: tests/unit/dir.c.
}

@test "strangers: a partition is not put into a folder of root's that took the place of the new one" {
	mkdir -m 700 theirs/prepared
	cp victim theirs/prepared/victim
	run -1 meanwhile fleet export -q --mode 644 --partition host=a --to parquet -o theirs/fleet "$demo"
	[[ $output == *"contains more than directories host=..."* ]]
	[ "$(stat -c %a theirs/fleet)" = 700 ]
	[ "$(cat theirs/fleet/victim)" = precious ]
}

@test "strangers: record does not take another recording's parts for its own" {
	need_tracefs
	mkdir -m 700 theirs/prepared
	echo precious > theirs/prepared/metadata
	echo precious > theirs/prepared/0.0
	run -125 meanwhile .parts record -q -e sched_switch -o theirs/new.dat -- true
	[[ $output == *"replaced by another directory"* ]]
	[ "$(cat theirs/new.dat.weft-*.parts/metadata theirs/new.dat.weft-*.parts/0.0)" = $'precious\nprecious' ]
}

@test "strangers: a link of another user on the way leads only to what is that user's" {
	mkdir roots
	echo precious > roots/out
	ln -s ../roots theirs/away
	mkdir theirs/here
	ln -s here theirs/near
	chown -h $stranger theirs/away theirs/here theirs/near
	for command in "export --to csv" "export --to ctf" convert pack; do
		input=$demo
		[[ $command != pack* ]] || input=$files
		# shellcheck disable=SC2086 # words
		run -1 weft $command -q -o theirs/away/out "$input"
		[[ $output == *"'theirs/away/out' is reached through a symbolic link of another user (uid $stranger)"* ]]
		[ "$(cat roots/out)" = precious ]
	done
	weft convert -q -o theirs/near/out "$demo"
	[ -s theirs/here/out ]
	# Root's own links lead anywhere.
	ln -s roots mine
	weft convert -q -o mine/out "$demo"
	weft check roots/out
}

@test "strangers: a FIFO of another user ends every command at once, and one without a reader is not waited for" {
	mkfifo theirs/fifo fifo
	chown $stranger theirs/fifo
	for command in "export --to jsonl" convert "merge $demo" split; do
		# shellcheck disable=SC2086 # words
		run -1 timeout 60 "$WEFT" $command -q -o theirs/fifo "$demo"
		[[ $output == *"'theirs/fifo' is a FIFO that belongs to another user (uid $stranger)"* ]]
		# shellcheck disable=SC2086 # words
		run -1 timeout 60 "$WEFT" $command -q -o fifo "$demo"
		[[ $output == *"nobody reads the FIFO 'fifo'"* ]]
	done
	need_tracefs
	run -125 timeout 60 "$WEFT" record -q -e sched_switch -o theirs/fifo -- touch ran
	[[ $output == *"'theirs/fifo' is a FIFO that belongs to another user (uid $stranger)"* ]]
	[ ! -e ran ]
}

@test "strangers: a signal ends a command whose output nobody takes" {
	local command pid
	mkfifo fifo
	for command in convert "merge $demo"; do
		# The shell holds the FIFO open and reads nothing.
		exec {held}<> fifo
		# shellcheck disable=SC2086 # words
		"$WEFT" $command -q -o fifo "$demo" {held}<&- 3>&- &
		pid=$!
		# It has written what fits when no more is free in the pipe.
		until perl -e 'open(my $f, "+<", "fifo"); vec(my $w = "", fileno($f), 1) = 1; exit(select(undef, $w, undef, 0) ? 1 : 0)'; do
			kill -0 $pid
			sleep 0.02
		done
		kill -TERM $pid
		status=0
		wait $pid || status=$?
		[ $status = 143 ]
		exec {held}<&-
	done
}

@test "strangers: sql opens no file beside its tables" {
	chmod 1777 theirs
	for suffix in -journal -wal; do
		for option in '' --no-sandbox; do
			# shellcheck disable=SC2086 # words
			STRANGER_BESIDE=$suffix TMPDIR=$PWD/theirs run -0 meanwhile weft- sql -q $option --format csv "$demo" "SELECT count(*) AS n FROM e_sched_sched_switch"
			[[ $output == n$'\n'* ]]
		done
	done
}

# taken_over WHAT COMMAND...: weft with a reader process that a file has taken over (tests/fixtures/takeover.c)
taken_over()
{
	TAKEOVER=$1 LD_PRELOAD=$BATS_FILE_TMPDIR/takeover.so timeout 60 "$WEFT" "${@:2}"
}

need_filter()
{
	case $(uname -m) in x86_64 | aarch64) ;; *) skip "there is no filter for $(uname -m)" ;; esac
	grep -q '^Seccomp:' /proc/self/status || skip "this kernel has no filters"
}

@test "strangers: a reader that was taken over gets no file of a name that the command does not make" {
	need_filter
	echo precious > out.b.dat
	echo old > out.dat
	for out in out.dat -; do
		for word in b .. x/y; do
			run -1 taken_over "word=$word" convert -q -o $out "$demo"
			[[ $output == *"did what no weft does"*"nothing is written"* ]]
		done
	done
	run -1 taken_over word=b merge -q -o out.dat "$demo" "$demo"
	# A command that makes several files makes none without a word, and replaces none.
	run -1 taken_over word= split -q --count 10 -o out.dat "$demo"
	[[ $output == *"did what no weft does"* ]]
	run taken_over word=b split -q --count 10 -o out.dat "$demo"
	[[ $output == *"error: -17"* ]]
	[ "$(cat out.b.dat out.dat)" = $'precious\nold' ]
	[ "$(ls -A)" = $'out.b.dat\nout.dat\ntheirs\nvictim' ]
}

@test "strangers: split replaces no part that exists, with the sandbox and without" {
	echo precious > part.002.dat
	for option in '' --no-sandbox; do
		# shellcheck disable=SC2086 # words
		run -1 weft split -q $option --count 50 -o part.dat "$demo"
		[[ $output == *"'part.002.dat' exists; choose another file with -o"* ]]
		[ "$(cat part.002.dat)" = precious ]
		rm -f part.001.dat
	done
}

@test "strangers: a file has no name while a reader that was taken over can write to it" {
	need_filter
	TAKEOVER_FILE=$PWD/out.dat run taken_over early convert -q -o out.dat "$demo"
	[[ $output == *"named while the reader could write: 0"* ]]
	[[ $output == *"links: 0"* ]]
	[ "$(cat out.dat)" = first ]
}

@test "strangers: a reader that was taken over tells nothing of a file that is not complete, and not without end" {
	need_filter
	run -1 taken_over tell convert -o out.dat "$demo"
	[[ $output == *"did what no weft does"* && $output != *"12 events"* ]]
	run taken_over "tell much" convert -o out.dat "$demo"
	[[ $output == *"told: 4096"* ]]
}

@test "strangers: the temporary files of a reader that was taken over are limited in number and size" {
	need_filter
	run taken_over temporaries convert -q -o out.dat "$demo"
	[[ $output == *"temporaries: 4096"* ]]
	run taken_over size convert -q -o out.dat "$demo"
	# EFBIG
	[[ $output == *"a terabyte: 27"* ]]
}

@test "strangers: a signal ends weft although a reader that was taken over ignores it" {
	need_filter
	TAKEOVER=stay LD_PRELOAD=$BATS_FILE_TMPDIR/takeover.so "$WEFT" convert -q -o out.dat "$demo" 2> said 3>&- &
	pid=$!
	until grep -qs stays said; do sleep 0.02; done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ $status = 143 ]
	[ "$(ls -A)" = $'said\ntheirs\nvictim' ]
}

@test "strangers: a limit of the file size ends a command with a message, and nothing is left" {
	local blocks command
	for blocks in 1 20; do
		for command in "export --to sqlite -o out" "export --to ctf -o out" "convert -o out" sql; do
			# shellcheck disable=SC2086 # words
			run -1 bash -c "ulimit -f $blocks; exec \"\$0\" $command -q \"\$1\"" "$WEFT" "$demo"
			[[ $output == "weft: "*"File too large" ]]
			[ "$(ls -A)" = $'theirs\nvictim' ]
		done
	done
	# What weft starts does not inherit how weft takes the signal: the shell's child is killed.
	need_tracefs
	run -125 bash -c "ulimit -f 1; exec \"\$0\" record -q -e sched_switch -o out -- true" "$WEFT"
	[[ $output == "weft: "*"File too large"* ]]
	run -153 weft record -q -e sched_switch -o out -- bash -c 'ulimit -f 1; head -c 4096 /dev/zero > big'
}

@test "strangers: the session of weft view is saved in the directory that had the recording, whatever its name leads to now" {
	mkdir -m 700 rooms
	mkdir theirs/x
	cp "$demo" theirs/x/app.dat
	cp victim rooms/app.dat.view
	chown -R $stranger theirs/x
	screen_start 120 24 "$WEFT" view theirs/x/app.dat
	screen_await "? keys"
	mv theirs/x theirs/y
	ln -s ../rooms theirs/x
	chown -h $stranger theirs/x
	screen_keys : w Enter
	screen_await "saved as 'theirs/x/app.dat.view'"
	screen_keys Q
	screen_await "STATUS 0"
	diff victim rooms/app.dat.view
	grep -q '^# weft view' theirs/y/app.dat.view
}

@test "strangers: weft view waits for no FIFO and follows no link at the name of its session, and the keys go on" {
	cp "$demo" theirs/fifo.dat
	mkfifo theirs/fifo.dat.view
	cp "$demo" theirs/link.dat
	ln -s ../victim theirs/link.dat.view
	chown -h -R $stranger theirs
	screen_start 120 24 "$WEFT" view theirs/fifo.dat
	screen_await "? keys"
	screen_keys : w Enter
	screen_await "not saved: 'theirs/fifo.dat.view' is no regular file"
	screen_keys Q
	screen_await "STATUS 0"
	screen_end
	screen_start 120 24 "$WEFT" view theirs/link.dat
	screen_await "? keys"
	screen_keys : w Enter
	screen_await "not saved: 'theirs/link.dat.view' is a symbolic link"
	screen_keys Q
	screen_await "STATUS 0"
	victim_is_whole
}

@test "outputs: on a full disk weft view keeps the session that was saved before" {
	need_mounts
	cp "$demo" .
	cat > inside <<- 'END'
		mount -t tmpfs -o size=16k tmpfs small
		ln -s "$PWD/demo.dat" small/demo.dat
		printf '# weft view\n' > small/demo.dat.view
		dd if=/dev/zero of=small/fill bs=4k status=none 2> /dev/null
		"$1" view small/demo.dat
		echo "LEFT $(cat small/demo.dat.view) $(ls -A small | tr '\n' ' ')"
	END
	mkdir small
	screen_start 120 24 unshare -m bash inside "$WEFT"
	screen_await "with the marks and filters of"
	screen_keys : w Enter
	screen_await "not saved: "
	screen_keys Q
	screen_await "LEFT # weft view demo.dat demo.dat.view fill"
}

@test "strangers: the directory of a recording for an analysis is removed, and nothing that got its name" {
	need_tracefs
	mkdir rooms theirs/prepared
	cp victim rooms/trace.dat
	# A directory of root that another user moved to the name, as far as that user may.
	cp victim theirs/prepared/trace.dat
	for kind in directory link; do
		if [ $kind = link ]; then
			rm -r theirs/*
			ln -s ../rooms theirs/prepared
			chown -h $stranger theirs/prepared
		fi
		TMPDIR=$PWD/theirs run meanwhile weft- sched -- true
		echo "$kind: $output"
		[ "$status" -ne 0 ]
		[ -e theirs/moved ]
		diff victim "$(echo theirs/weft-*)/trace.dat"
	done
}

@test "strangers: a pressure file to watch is one of the kernel, and no other file gets a text" {
	need_tracefs
	for name in victim theirs/link; do
		ln -sf ../victim theirs/link
		run -1 weft flight start --name "none-$$" -e sched:sched_switch --when "p=psi:$PWD/$name some 100ms/1s"
		[[ "$output" == *"victim' is no pressure file of a cgroup"* || "$output" == *"link' is no pressure file of a cgroup"* ]]
		victim_is_whole
	done
}
