#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Programs over libweft that do what known programs over libtracecmd and libtraceevent do: what both print is compared.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
demo=$BATS_TEST_DIRNAME/../fixtures/demo.dat
CC=${CC:-gcc}

build_shark()
{
	[ -e /usr/include/kernelshark/libkshark.h ] || skip "no library of KernelShark here (apt-get install libkshark-dev libjson-c-dev)"
	"$CC" -O1 -g -Wall -Wextra -Werror -Wno-ignored-qualifiers -Iinclude -I/usr/include/kernelshark -shared -fPIC \
		-o "$BATS_TEST_TMPDIR/weft_input.so" examples/kernelshark.c -L"$BUILD" -lweft -Wl,-rpath,"$BUILD"
	"$CC" -O1 -g -Wall -Wextra -Werror -Wno-ignored-qualifiers -I/usr/include/kernelshark \
		-o "$BATS_TEST_TMPDIR/entries" tests/api/entries.c -lkshark
}

# entries FILE: what KernelShark's own reader loads goes to `own`, what it loads by the plugin to `weft`. Its reader takes only
# names that end in .dat, and never asks a plugin about them.
entries()
{
	ln -sf "$(realpath "$1")" "$BATS_TEST_TMPDIR/it.dat"
	ln -sf "$(realpath "$1")" "$BATS_TEST_TMPDIR/it.weft"
	"$BATS_TEST_TMPDIR/entries" "$BATS_TEST_TMPDIR/it.dat" > "$BATS_TEST_TMPDIR/own"
	"$BATS_TEST_TMPDIR/entries" "$BATS_TEST_TMPDIR/it.weft" "$BATS_TEST_TMPDIR/weft_input.so" |
		grep -v '^loading plugin' > "$BATS_TEST_TMPDIR/weft"
}

# Without the column of texts, and without what follows the first line of one.
but_texts() { awk -F '; ' '/^[\t0-9]/ { if (NF > 7) print $1, $2, $3, $4, $5, $6; else print }' "$1"; }

@test "example: KernelShark loads by a plugin over libweft what its own reader loads, field by field" {
	local name
	build_shark
	for name in 6.12-events-sched 6.12-events-syscalls 6.12-function_graph 6.12-user_events; do
		entries "$golden/$name.dat"
		diff <(but_texts "$BATS_TEST_TMPDIR/own") <(but_texts "$BATS_TEST_TMPDIR/weft")
	done
	entries "$demo"
	diff <(but_texts "$BATS_TEST_TMPDIR/own") <(but_texts "$BATS_TEST_TMPDIR/weft")
	[ "$(grep -c '^0; ' "$BATS_TEST_TMPDIR/weft")" -gt 100 ]
	# The column of texts is what the kernel prints; KernelShark's own is in libtraceevent's words.
	entries "$golden/6.12-events-sched.dat"
	sed -nE 's/^.* [0-9]+\.[0-9]{6}: [a-z_]+: //p' "$golden/6.12-events-sched.txt" > "$BATS_TEST_TMPDIR/want"
	sed -nE 's/^0; ([^;]*; ){5}(.*); 0xff$/\2/p' "$BATS_TEST_TMPDIR/weft" | diff "$BATS_TEST_TMPDIR/want" -
	[ -s "$BATS_TEST_TMPDIR/want" ]
}

@test "example: the plugin tells KernelShark of lost events, leaks nothing, and refuses what is no trace" {
	build_shark
	entries tests/corpora/report/accept/lost-6.12.dat
	grep -q '^0; .*; missed_events; missed_events=230; 0xff$' "$BATS_TEST_TMPDIR/weft"
	awk -F '; ' '/^0/ { if ($2 + 0 < last) exit 1; last = $2 + 0 }' "$BATS_TEST_TMPDIR/weft"
	run -1 "$BATS_TEST_TMPDIR/entries" README.md "$BATS_TEST_TMPDIR/weft_input.so"
	need_command valgrind
	ln -sf "$(realpath "$golden/6.12-events-sched.dat")" "$BATS_TEST_TMPDIR/it.weft"
	valgrind -q --leak-check=full --error-exitcode=9 "$BATS_TEST_TMPDIR/entries" "$BATS_TEST_TMPDIR/it.weft" \
		"$BATS_TEST_TMPDIR/weft_input.so" > /dev/null
}
