#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

@test "weft --version prints its name and version" {
	run --separate-stderr weft --version
	[ "$status" -eq 0 ]
	[[ "$output" =~ ^weft\ [0-9]+\.[0-9]+\.[0-9]+(\ \(git\ [0-9a-gv.-]+(-dirty)?\))?$ ]]
	[ -z "$stderr" ]
}

# A build of the tagged commit names none.
@test "weft --version: a build of a release has its version alone, of another commit also the commit" {
	text() { make -n -B COMMIT="$1" "$BUILD/cmd/weft.o" | grep -oE "WEFT_COMMIT='[^']*'"; }
	[ "$(text '')" = "WEFT_COMMIT='\"\"'" ]
	[ "$(text v9.9.9-1-g0123)" = "WEFT_COMMIT='\" (git v9.9.9-1-g0123)\"'" ]
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
	# What an administrator has changed stays.
	make -s install BUILD="$BUILD" DESTDIR="$BATS_TEST_TMPDIR/root" PREFIX=/usr/local
	echo 'keep = 1s' >> "$BATS_TEST_TMPDIR/root/etc/weft/flight.d/50-default.conf"
	make -s install BUILD="$BUILD" DESTDIR="$BATS_TEST_TMPDIR/root" PREFIX=/usr/local
	make -s uninstall BUILD="$BUILD" DESTDIR="$BATS_TEST_TMPDIR/root" PREFIX=/usr/local
	[ "$(cd "$BATS_TEST_TMPDIR/root" && find . -type f)" = ./etc/weft/flight.d/50-default.conf ]
	[ "$(tail -n1 "$BATS_TEST_TMPDIR/root/etc/weft/flight.d/50-default.conf")" = 'keep = 1s' ]
}

@test "make: an object is built again when its header changes, whether BUILD is relative or absolute" {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p lib/ground/base
	cp "$BATS_TEST_DIRNAME/../../Makefile" .
	echo '#define NUMBER 1' > lib/ground/base/a.h
	printf '#include "lib/ground/base/a.h"\nint a(void);\nint a(void)\n{\n\treturn NUMBER;\n}\n' > lib/ground/base/a.c
	for order in "out $PWD/out" "$PWD/out out"; do
		read -r first second <<< "$order"
		rm -rf out
		run -0 make BUILD="$first" "$first/lib/ground/base/a.o"
		[[ "$output" == *" -o $first/lib/ground/base/a.o lib/ground/base/a.c"* ]]
		run -0 make BUILD="$second" "$second/lib/ground/base/a.o"
		[[ "$output" != *"lib/ground/base/a.c"* ]]
		touch lib/ground/base/a.h
		run -0 make BUILD="$second" "$second/lib/ground/base/a.o"
		[[ "$output" == *" -o $second/lib/ground/base/a.o lib/ground/base/a.c"* ]]
	done
}
