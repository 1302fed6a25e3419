#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What kernels before 5.10 printed otherwise, by the release in the file.
load lib
load hostile

# text RELEASE PRINT_FMT: prints what the report of one event, whose field x is 5, has behind the name of the event
text() {
	rm -rf tree
	tiny_tree tree
	echo "Linux loom $1 x86_64" > tree/uname
	tiny_event tree sys one 2000 "$2"
	tiny_pack tree one.dat
	weft report one.dat | sed -n 's/.*: one: //p'
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "old kernels: %p is the address before 4.15, and a hash since" {
	[ "$(text 4.13.0 '"at %p", (void *)(0xffff888000000000 + REC->x)')" = 'at ffff888000000005' ]
	[ "$(text 4.14.300 '"at %p", (void *)(0xffff888000000000 + REC->x)')" = 'at ffff888000000005' ]
	[ "$(text 4.15.0 '"at %p", (void *)(0xffff888000000000 + REC->x)')" = 'at (____ptrval____)' ]
	[ "$(text 6.1.0 '"at %p", (void *)(0xffff888000000000 + REC->x)')" = 'at (____ptrval____)' ]
}

@test "old kernels: %p of NULL is a word before 5.2, and a number since" {
	[ "$(text 4.13.0 '"at %p.", (void *)(REC->x - 5)')" = 'at           (null).' ]
	[ "$(text 5.1.0 '"at %p.", (void *)(REC->x - 5)')" = 'at           (null).' ]
	[ "$(text 5.10.0 '"at %p.", (void *)(REC->x - 5)')" = 'at 0000000000000000.' ]
}

@test "old kernels: ext4's flags of extents have their letters although the format has names for their bits" {
	[ "$(text 4.13.0 '"status %s", __print_flags(REC->x + 12, "", { (1 << ES_WRITTEN_B), "W" }, { (1 << ES_UNWRITTEN_B), "U" }, { (1 << ES_DELAYED_B), "D" }, { (1 << ES_HOLE_B), "H" })')" = 'status W0x10' ]
}
