#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What is behind descriptors, in a recording of the scenario record-files of tests/guest, whose shell script is known.
load lib
load screens

file=$BATS_TEST_DIRNAME/../fixtures/files.dat

@test "syscalls --trace: arguments have the names that calls were given, in memory that nobody had touched, too" {
	weft syscalls --trace "$file" > "$BATS_TEST_TMPDIR/out"
	grep -qE ' cat-[0-9]+ +openat\(dfd: [^,]*, filename: "/nonexistent", .*\) = -1 ENOENT' "$BATS_TEST_TMPDIR/out"
	grep -qE ' rm-[0-9]+ +unlink\(pathname: "/tmp/f/copy"\) = 0' "$BATS_TEST_TMPDIR/out"
	grep -qE ' execve\(filename: "/bin/sh", ' "$BATS_TEST_TMPDIR/out"
	run ! grep -E ' (openat|unlink|access|execve|chdir)\(.*(filename|pathname): 0x' "$BATS_TEST_TMPDIR/out"
}

@test "syscalls --trace: descriptors have their file over dup, fork and exec; pipes are told apart from files" {
	weft syscalls --trace "$file" > "$BATS_TEST_TMPDIR/out"
	grep -qE ' sh-[0-9]+ +openat\(.*"/etc/passwd".* = 3</etc/passwd>' "$BATS_TEST_TMPDIR/out"
	grep -qE ' dup2\(oldfd: 3</etc/passwd>, newfd: 5\) = 5</etc/passwd>' "$BATS_TEST_TMPDIR/out"
	grep -qE ' cat-[0-9]+ +sendfile64\(out_fd: 1</tmp/f/out>, in_fd: 0</etc/passwd>, .*\) = 64 ' "$BATS_TEST_TMPDIR/out"
	grep -qE ' cat-[0-9]+ +read\(fd: 0<pipe:\[[0-9]+\]>, .*\) = 10 ' "$BATS_TEST_TMPDIR/out"
	grep -qE ' cat-[0-9]+ +write\(fd: 1</tmp/f/copy>, .*\) = 10 ' "$BATS_TEST_TMPDIR/out"
	# A path that was too long for the probe is that of the program, or says that it is cut.
	grep -qE '"/tmp/f/a/b/c/d/e/f/g/deep", .* = 3</tmp/f/a/b/c/d/e/f/g/deep>' "$BATS_TEST_TMPDIR/out"
	grep -qE '"c/d/e/f/g/deep", .* = 3<\.\.\./a/b/c/d/e/f/g/deep>' "$BATS_TEST_TMPDIR/out"
	run ! grep -F '(unknown)' "$BATS_TEST_TMPDIR/out"
}

@test "syscalls --by file: bytes are those that the script moved, and all calls are in a row" {
	weft syscalls --by file --table syscalls --format json "$file" > "$BATS_TEST_TMPDIR/by.json"
	weft syscalls --table syscalls --format json "$file" > "$BATS_TEST_TMPDIR/all.json"
	python3 - "$BATS_TEST_TMPDIR/by.json" "$BATS_TEST_TMPDIR/all.json" <<-'END'
		import json, sys
		rows, every = (json.load(open(path))["syscalls"] for path in sys.argv[1:3])
		moved = {row["file"]: row["bytes_bytes"] for row in rows}
		assert moved["/tmp/f/out"] == 64 and moved["/tmp/f/copy"] == 10, moved
		assert sum(moved[name] for name in moved if name.startswith("pipe:")) == 20, moved
		for key in "calls", "errors", "total_ns":
		    assert sum(row[key] for row in rows) == sum(row[key] for row in every), key
	END
}

@test "syscalls --file: only calls of these files, by descriptor and by name; each line is whole" {
	weft syscalls --file '*/copy' --trace "$file" > "$BATS_TEST_TMPDIR/out"
	sed '/^$/,$d' "$BATS_TEST_TMPDIR/out" > "$BATS_TEST_TMPDIR/lines"
	grep -qE ' rm-[0-9]+ +unlink\(pathname: "/tmp/f/copy"\) = 0' "$BATS_TEST_TMPDIR/lines"
	grep -qE ' write\(fd: 1</tmp/f/copy>, .* = 10 ' "$BATS_TEST_TMPDIR/lines"
	run ! grep -vE '/tmp/f/copy' "$BATS_TEST_TMPDIR/lines"
	run ! grep -E 'unfinished|resumed' "$BATS_TEST_TMPDIR/lines"
	[ "$(weft syscalls --file '*/copy' --table syscalls --format json "$file" |
		python3 -c 'import json, sys; print(sum(row["calls"] for row in json.load(sys.stdin)["syscalls"]))')" -eq "$(wc -l < "$BATS_TEST_TMPDIR/lines")" ]
	run -1 weft syscalls --file '*' "$BATS_TEST_DIRNAME/../fixtures/demo.dat"
}

@test "--file: every reader gives one answer about what a file was used for" {
	local answers=$BATS_TEST_TMPDIR/answers
	# The calls of the script that strace -P /tmp/f/copy shows: cat opens it, dups it over 1, closes it, tries sendfile and writes; rm looks twice and removes it.
	for word in '*/copy' /tmp/f/copy; do
		echo "report $(weft report --file "$word" -e 'sys_enter_*' "$file" | grep -c ': sys_')" > "$answers"
		echo "report, ends $(weft report --file "$word" -e 'sys_exit_*' "$file" | grep -c ' -> ')" >> "$answers"
		echo "syscalls $(weft syscalls --file "$word" --table syscalls --format csv "$file" | awk -F, 'NR > 1 { sum += $3 } END { print sum }')" >> "$answers"
		echo "syscalls --by task $(weft syscalls --by task --file "$word" --table syscalls --format csv "$file" | awk -F, 'NR > 1 { sum += $3 } END { print sum }')" >> "$answers"
		echo "syscalls --trace $(weft syscalls --trace --file "$word" "$file" | grep -c '^ .*) = ')" >> "$answers"
		echo "csv $(weft export -q --to csv --file "$word" -e 'sys_enter_*' -o - "$file" | sed 1d | grep -c .)" >> "$answers"
		echo "sql $(weft sql --file "$word" "$file" "SELECT count(*) FROM ftrace_event WHERE name LIKE 'sys_enter%'" | tail -n 1)" >> "$answers"
		weft split -q --file "$word" -o "$BATS_TEST_TMPDIR/part.dat" "$file"
		echo "split $(weft report -e 'sys_enter_*' "$BATS_TEST_TMPDIR/part.dat" | grep -c ': sys_')" >> "$answers"
		[ ! -d "$BUILD/python" ] || echo "libweft $(PYTHONPATH=$BUILD/python python3 -c '
import sys, weft
print(sum(1 for event in weft.open(sys.argv[1]).events("sys_enter_*", file=sys.argv[2])))' "$file" "$word")" >> "$answers"
		cat "$answers"
		[ "$(sed 's/.* //' "$answers" | sort -u)" = 8 ]
	done
	# Two files are more than one, and other words choose among their events.
	[ "$(weft report --file '*/copy' --file /tmp/f/out -e 'sys_enter_*' "$file" | grep -c ': sys_')" -gt 8 ]
	[ "$(weft report --file '*/copy' --comm rm -e 'sys_enter_*' "$file" | grep -c ': sys_')" = 3 ]
	[ "$(weft summary --format json --file '*/copy' "$file" | python3 -c 'import json, sys; print(sum(row["calls"] for row in json.load(sys.stdin)["syscalls"]))')" = 8 ]
}

@test "--file: the list of view has what report has" {
	need_command tmux
	screen_start 160 60 "$WEFT" view --file '*/copy' "$file"
	screen_await ': sys_unlink'
	[ "$(screen_show | grep -c ': sys_')" = 16 ]
	screen_end
}

@test "--file: a file that no program had open, and a recording without files, are told" {
	for command in report syscalls block summary "export --to csv -o -"; do
		# shellcheck disable=SC2086 # words
		run ! weft $command --file '*/nothing' "$file"
		[[ "$output" == *"--file: no file of the recording is called '*/nothing'"* ]]
	done
	run -1 --separate-stderr weft report --file /tmp/f/coyp "$file"
	[[ "$stderr" == *"no file of the recording is called '/tmp/f/coyp'; did you mean '/tmp/f/copy'"* ]]
	run -1 --separate-stderr weft report --file '*' "$BATS_TEST_DIRNAME/../fixtures/demo.dat"
	[[ "$stderr" == *"--file: the recording does not tell which files are behind descriptors: record it with 'weft record --files'"* ]]
	[ ! -d "$BUILD/python" ] || {
		run -1 env PYTHONPATH="$BUILD/python" python3 -c 'import sys, weft; list(weft.open(sys.argv[1]).events(file="*"))' "$BATS_TEST_DIRNAME/../fixtures/demo.dat"
		[[ "$output" == *"WEFT_QUERY_FILE: the recording does not tell"* ]]
	}
}

@test "weft's own buffer is shown only if it is asked for" {
	run -0 weft report "$file"
	[[ "$output" != *fd_install* ]]
	run -0 weft report --instance weft/files "$file"
	[[ "$output" == *"fd_install: "*'n0="passwd" n1="etc"'* ]]
}

@test "syscalls --by file: a recording without --files says how to make one" {
	run -1 weft syscalls --by file "$BATS_TEST_DIRNAME/../fixtures/demo.dat"
	[[ "$output" == *"does not tell which files are behind descriptors: record it with 'weft record --files"* ]]
}

@test "split: an excerpt names no other file than the whole recording, and knows what was opened in it" {
	local since
	weft syscalls --trace "$file" > "$BATS_TEST_TMPDIR/whole"
	for line in 20 60 100; do
		since=$(awk -v line=$line '/: fd|\(/ && ++n == line { print $1; exit }' "$BATS_TEST_TMPDIR/whole")
		weft split -q -o "$BATS_TEST_TMPDIR/part.dat" --since "$since" "$file"
		weft syscalls --trace "$BATS_TEST_TMPDIR/part.dat" > "$BATS_TEST_TMPDIR/part"
		# Each name in a line of the part is that of the same line in the whole, or unknown.
		awk 'function names(text, into, n) { n = 0; while (match(text, /[a-z_]*: -?[0-9]+<[^>]*>|= [0-9]+<[^>]*>/)) {
				into[++n] = substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH) } return n }
			NR == FNR { whole[$1 $2 $3] = $0; next }
			($1 $2 $3) in whole { n = names($0, part); m = names(whole[$1 $2 $3], all)
				for (i = 1; i <= n; i++) if (part[i] !~ /<\(unknown\)>$/) {
					for (j = 1; j <= m && all[j] != part[i]; j++);
					if (j > m) { print "wrong: " part[i] " in " whole[$1 $2 $3]; bad = 1 }
					known++ } }
			END { print known + 0 > "/dev/stderr"; exit bad }' "$BATS_TEST_TMPDIR/whole" "$BATS_TEST_TMPDIR/part" 2> "$BATS_TEST_TMPDIR/known"
		[ "$(cat "$BATS_TEST_TMPDIR/known")" -gt 3 ] || { cat "$BATS_TEST_TMPDIR/known"; head -3 "$BATS_TEST_TMPDIR/part"; false; }
	done
}

@test "syscalls --trace: a pointer is no descriptor, whatever it is called" {
	weft syscalls --trace "$file" > "$BATS_TEST_TMPDIR/out"
	grep -qE ' pipe2\(fildes: 0x[0-9a-f]+, ' "$BATS_TEST_TMPDIR/out"
	weft split -q -o "$BATS_TEST_TMPDIR/part.dat" --since 75.1 "$file"
	weft syscalls --trace "$BATS_TEST_TMPDIR/part.dat" > "$BATS_TEST_TMPDIR/out"
	grep -qE ' pipe2\(fildes: 0x[0-9a-f]+, ' "$BATS_TEST_TMPDIR/out"
}

@test "block --by file: requests are of the inode that was written back, and all are in a row" {
	local file=$BATS_TEST_DIRNAME/../fixtures/resources/block
	# The text has the bytes of each bio; these lie between the events of writeback about one inode.
	weft report "$file.dat" | awk '/ writeback_single_inode_start: / { match($0, /ino=[0-9]+/); ino[$1] = substr($0, RSTART + 4, RLENGTH - 4) }
		/ writeback_single_inode: / { delete ino[$1] }
		/ block_bio_queue: / && ($1 in ino) && $(NF - 4) !~ /M/ && ino[$1] + 0 < 1000000 { sum[ino[$1]] += $(NF - 1) * 512 }
		END { for (i in sum) print "inode " i " of 254:0", sum[i] }' | sort > "$BATS_TEST_TMPDIR/want"
	weft block --by file --table requests --format csv "$file.dat" > "$BATS_TEST_TMPDIR/rows"
	python3 - "$BATS_TEST_TMPDIR/rows" > "$BATS_TEST_TMPDIR/got" <<-'END'
		import csv, sys
		print("\n".join(sorted(row["file"] + " " + row["bytes"] for row in csv.DictReader(open(sys.argv[1])) if row["file"].startswith("inode"))))
	END
	[ -s "$BATS_TEST_TMPDIR/want" ]
	diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
	for column in requests bytes; do
		[ "$(weft block --by file --format json "$file.dat" | python3 -c "import json, sys; print(sum(row['$column'] for row in json.load(sys.stdin)['requests']))")" = \
			"$(weft block --format json "$file.dat" | python3 -c "import json, sys; print(sum(row['$column'] for row in json.load(sys.stdin)['requests']))")" ]
	done
}

@test "block --by file: without events that tell it, weft says how to record them" {
	run -1 weft block --by file "$BATS_TEST_DIRNAME/../fixtures/session/disk.dat"
	[[ "$output" == *"no event tells for which files the requests were: record it with 'weft record -e block -e filemap:"*"; --files adds names to inode numbers, if the kernel has CONFIG_KPROBE_EVENTS"* ]]
}

@test "block --file: without names of files weft says so" {
	run -1 weft block --file '*' "$BATS_TEST_DIRNAME/../fixtures/resources/block.dat"
	[[ "$output" == *"--file: the recording does not tell which files are behind descriptors: record it with 'weft record --files'"* ]]
}
