#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A process that reads a recording gives up what reading does not need; /proc shows it.
load lib

# status_of UID COMMAND...: prints Uid, Groups and Seccomp of the command from /proc, while it waits for its output to
# be read
status_of()
{
	perl -e '
		use Fcntl; my $uid = shift; pipe(my $r, my $w); fcntl($w, 1031, 4096);
		my $pid = fork;
		if (!$pid) { $> = $uid if $uid; open(STDOUT, ">&", $w); close $r; close $w; exec @ARGV; }
		close $w; my $text = "";
		for (1 .. 400) {
			open(my $f, "/proc/$pid/status") or last; local $/; my $now = <$f>;
			$text = $now if $now =~ /^Name:\tweft/;
			last if $now =~ /^State:\tZ/ || ($text =~ /^Seccomp:\t2/m || $ENV{UNTIL_ASLEEP}) && $now =~ /^State:\tS/m && $_ > 20;
			select(undef, undef, undef, 0.02);
		}
		print grep /^(Uid|Gid|Groups|NoNewPrivs|Seccomp):/, map "$_\n", split /\n/, $text;
		1 while sysread($r, my $rest, 65536);
		waitpid $pid, 0; exit $? >> 8;' "$@"
}

setup()
{
	cp tests/fixtures/demo.dat "$BATS_TEST_TMPDIR/demo.dat"
	case $(uname -m) in x86_64 | aarch64) ;; *) skip "there is no filter for $(uname -m)" ;; esac
	grep -q '^Seccomp:' /proc/self/status || skip "this kernel has no filters"
}

@test "report: root reads as the file's owner, with a filter that lets nothing be opened" {
	need_root
	chown 1234:1235 "$BATS_TEST_TMPDIR/demo.dat"
	status_of 0 "$WEFT" report --threads 1 "$BATS_TEST_TMPDIR/demo.dat" > "$BATS_TEST_TMPDIR/status"
	grep -q $'^Uid:\t1234\t1234\t1234\t1234$' "$BATS_TEST_TMPDIR/status"
	grep -q $'^Gid:\t1235\t1235\t1235\t1235$' "$BATS_TEST_TMPDIR/status"
	grep -Eq '^Groups:[[:space:]]*$' "$BATS_TEST_TMPDIR/status"
	grep -q $'^Seccomp:\t2$' "$BATS_TEST_TMPDIR/status"
}

@test "report: of root's own file root becomes nobody; --no-sandbox keeps what it has" {
	need_root
	status_of 0 "$WEFT" report --threads 1 "$BATS_TEST_TMPDIR/demo.dat" | grep -q $'^Uid:\t65534\t65534\t65534\t65534$'
	UNTIL_ASLEEP=1 status_of 0 "$WEFT" report --no-sandbox --threads 1 "$BATS_TEST_TMPDIR/demo.dat" > "$BATS_TEST_TMPDIR/status"
	grep -q $'^Uid:\t0\t0\t0\t0$' "$BATS_TEST_TMPDIR/status"
	grep -q $'^Seccomp:\t0$' "$BATS_TEST_TMPDIR/status"
}

@test "report, info and check print the same in the sandbox and without, from a file only root may read and from standard input" {
	local arguments
	chmod 600 "$BATS_TEST_TMPDIR/demo.dat"
	for arguments in report "report --threads 3" "report --format json" "report --tail 9" "report --decode --plugin-dir $BUILD/plugins" info "info --settings" check; do
		# shellcheck disable=SC2086 # words
		"$WEFT" $arguments "$BATS_TEST_TMPDIR/demo.dat" > "$BATS_TEST_TMPDIR/with" 2> "$BATS_TEST_TMPDIR/err"
		# shellcheck disable=SC2086 # words
		"$WEFT" $arguments --no-sandbox "$BATS_TEST_TMPDIR/demo.dat" | cmp - "$BATS_TEST_TMPDIR/with"
		[ ! -s "$BATS_TEST_TMPDIR/err" ]
	done
	"$WEFT" report - < "$BATS_TEST_TMPDIR/demo.dat" | cmp - <("$WEFT" report "$BATS_TEST_TMPDIR/demo.dat")
	cat "$BATS_TEST_TMPDIR/demo.dat" | "$WEFT" report - | cmp - <("$WEFT" report "$BATS_TEST_TMPDIR/demo.dat")
}

@test "in the sandbox nothing is opened, executed or sent any more" {
	need_command strace
	strace -f -o "$BATS_TEST_TMPDIR/calls" "$WEFT" report --threads 2 "$BATS_TEST_TMPDIR/demo.dat" > "$BATS_TEST_TMPDIR/text" || skip "strace does not work here"
	sed -n '/PR_SET_SECCOMP/,$p' "$BATS_TEST_TMPDIR/calls" > "$BATS_TEST_TMPDIR/inside"
	grep -q exit_group "$BATS_TEST_TMPDIR/inside"
	run ! grep -E '\<(open|openat|execve|socket|connect|unlink)\(.*= [0-9]' "$BATS_TEST_TMPDIR/inside"
}

# inside COMMAND...: prints what code inside the sandbox could do (inside.c). Descriptor 9 is open in the caller.
inside()
{
	"${CC:-cc}" -O1 -fPIC -shared -o "$BATS_TEST_TMPDIR/inside.so" "$BATS_TEST_DIRNAME/inside.c" -ldl || skip "there is no compiler"
	VICTIM=$$ LD_PRELOAD=$BATS_TEST_TMPDIR/inside.so "$@" 2>&1 > /dev/null 9< /etc/passwd | grep ^inside:
}

@test "in the sandbox no signal is sent to others, and what the caller had open is closed" {
	local words
	for words in report check "export --to csv"; do
		# shellcheck disable=SC2086 # words
		inside "$WEFT" $words "$BATS_TEST_TMPDIR/demo.dat" > "$BATS_TEST_TMPDIR/inside"
		for what in open "signal to another" "owner of signals" "choice of signal" signals "descriptor of the caller"; do
			grep -qx "inside: $what refused" "$BATS_TEST_TMPDIR/inside"
		done
		for what in "signal to itself" flags; do
			grep -qx "inside: $what done" "$BATS_TEST_TMPDIR/inside"
		done
	done
}

@test "root's reader cannot ask which paths exist" {
	need_root
	inside "$WEFT" report "$BATS_TEST_TMPDIR/demo.dat" | grep -qx "inside: path refused"
}

@test "not a byte of the file is looked at before the sandbox is entered" {
	local command inside
	need_command strace
	for command in report info check; do
		strace -f -y -e trace=read,pread64,readv,preadv,mmap,prctl -o "$BATS_TEST_TMPDIR/calls" "$WEFT" "$command" "$BATS_TEST_TMPDIR/demo.dat" \
			> "$BATS_TEST_TMPDIR/text" || skip "strace does not work here"
		inside=$(sed -n '/PR_SET_SECCOMP/,$p' "$BATS_TEST_TMPDIR/calls" | grep -c '<[^>]*demo.dat>')
		[ "$inside" -gt 10 ]
		run ! grep '<[^>]*demo.dat>' <(sed '/PR_SET_SECCOMP/q' "$BATS_TEST_TMPDIR/calls")
	done
}

# Each command that makes files from files.
makers=("convert --file-version 6" "convert" "split" "split --by cpu" "split --count 40" "merge tests/corpora/report/accept/userstack-6.12.dat")

@test "convert, split and merge make the same files in the sandbox and without, where only root may read and write" {
	local maker out=$BATS_TEST_TMPDIR/made
	need_root
	chown 1234:1235 "$BATS_TEST_TMPDIR/demo.dat"
	chmod 600 "$BATS_TEST_TMPDIR/demo.dat"
	for maker in "${makers[@]}"; do
		mkdir -m 700 "$out" "$out.with"
		# shellcheck disable=SC2086 # words
		"$WEFT" $maker -q -o "$out/a.dat" "$BATS_TEST_TMPDIR/demo.dat"
		# shellcheck disable=SC2086 # words
		"$WEFT" $maker -q --no-sandbox -o "$out.with/a.dat" "$BATS_TEST_TMPDIR/demo.dat"
		[ "$(stat -c '%u %a' "$out"/a*.dat | sort -u)" = "0 600" ]
		diff -r "$out" "$out.with"
		rm -r "$out" "$out.with"
	done
	"$WEFT" convert -q -o - "$BATS_TEST_TMPDIR/demo.dat" > "$out"
	cat "$BATS_TEST_TMPDIR/demo.dat" | "$WEFT" convert -q -o - - | cmp - "$out"
	"$WEFT" convert -q -o - "$BATS_TEST_TMPDIR/demo.dat" 2> "$out.said" | head -c 1 > "$out.first"
	[ -s "$out.first" ]
	[ ! -s "$out.said" ]
	"$WEFT" convert -q -o "$BATS_TEST_TMPDIR/demo.dat" "$BATS_TEST_TMPDIR/demo.dat"
	cmp "$BATS_TEST_TMPDIR/demo.dat" "$out"
}

@test "convert, split and merge: who reads has become the owner, opens nothing any more, and has seen no byte of the file before" {
	local maker inside=$BATS_TEST_TMPDIR/inside
	need_command strace
	for maker in "${makers[@]}"; do
		rm -f "$BATS_TEST_TMPDIR"/calls.*
		[ "$(id -u)" != 0 ] || chown 1234:1235 "$BATS_TEST_TMPDIR/demo.dat"
		# shellcheck disable=SC2086 # words
		strace -ff -y -o "$BATS_TEST_TMPDIR/calls" "$WEFT" $maker -q -o "$BATS_TEST_TMPDIR/a.dat" "$BATS_TEST_TMPDIR/demo.dat" || skip "strace does not work here"
		# Only one process has read the file; the other one has only made files.
		[ "$(grep -l 'pread64([0-9]*<[^>]*demo.dat>' "$BATS_TEST_TMPDIR"/calls.* | wc -l)" = 1 ]
		sed -n '/PR_SET_SECCOMP/,$p' "$(grep -l PR_SET_SECCOMP "$BATS_TEST_TMPDIR"/calls.*)" > "$inside"
		[ "$(grep -c '<[^>]*demo.dat>' "$inside")" -gt 10 ]
		run ! grep '\(read\|pread64\)([0-9]*<[^>]*demo.dat>' <(sed '/PR_SET_SECCOMP/q' "$(grep -l PR_SET_SECCOMP "$BATS_TEST_TMPDIR"/calls.*)")
		run ! grep -E '^(open|openat|execve|socket|connect|unlink|unlinkat|rename|renameat|renameat2)\(' "$inside"
		# merge runs as the owner of the first file; if that is root, as nobody.
		[ "$(id -u)" != 0 ] || grep -Eq '^setresuid\((1234, 1234, 1234|65534, 65534, 65534)\) *= 0' "$BATS_TEST_TMPDIR"/calls.*
	done
}
