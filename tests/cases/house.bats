#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

@test "weft --version prints its name and version" {
	run --separate-stderr weft --version
	[ "$status" -eq 0 ]
	[[ "$output" =~ ^weft\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	[ -z "$stderr" ]
}

@test "an unknown command is a usage error that names it" {
	run --separate-stderr weft no-such-command
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[[ "$stderr" == *"'no-such-command'"* ]]
}

@test "install puts every file below DESTDIR and uninstall takes all of them away" {
	run make -s install BUILD="$BUILD" DESTDIR="$BATS_TEST_TMPDIR/root" PREFIX=/usr/local
	[ "$status" -eq 0 ]
	[ -x "$BATS_TEST_TMPDIR/root/usr/local/bin/weft" ]
	run make -s uninstall BUILD="$BUILD" DESTDIR="$BATS_TEST_TMPDIR/root" PREFIX=/usr/local
	[ "$status" -eq 0 ]
	[ -z "$(find "$BATS_TEST_TMPDIR/root" -type f)" ]
}
