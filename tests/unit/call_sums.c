// SPDX-License-Identifier: GPL-2.0-only
#include "lib/answers/graph/call_sums.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_graph(loom);
	loom_type(loom, "raw_syscalls", "sys_enter", "long id; u64 args", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom->uname = "Linux loom 6.12.0 #1 SMP x86_64";
}

/* The child of a node with this name; CALL_TREE_NONE: it has none. */
static uint32_t child_of(const struct call_sums *sums, const struct call_tree *tree, uint32_t node, const char *name)
{
	char text[CALL_SUMS_NAME];

	for (uint32_t at = tree->nodes[node].first; at != CALL_TREE_NONE; at = tree->nodes[at].next) {
		call_sums_name(sums, tree->nodes[at].func, text);
		if (!strcmp(text, name))
			return at;
	}
	return CALL_TREE_NONE;
}

static bool has(const struct call_tree *tree, uint32_t node, uint64_t calls, uint64_t total, uint64_t self,
		uint64_t longest)
{
	const struct call_node *is = node == CALL_TREE_NONE ? NULL : &tree->nodes[node];
	bool same = is && is->calls == calls && is->total == total && is->self == self && is->longest == longest;

	if (is && !same)
		fprintf(stderr, "calls %llu total %llu self %llu longest %llu\n", (unsigned long long)is->calls,
			(unsigned long long)is->total, (unsigned long long)is->self, (unsigned long long)is->longest);
	return same;
}

/*
 * Task 7: 0xa at 1000 calls 0xb at 1100 to 1400; 0xa ends at 2000, and is called again from 3000 to 3500. In a system
 * call (number 0) from 4000 to 6000 it calls 0xa, from 4500 to 5000.
 */
static const char script[] = "0 1000 7 funcgraph_entry func=0xa depth=0\n"
			     "0 1100 7 funcgraph_entry func=0xb depth=1\n"
			     "0 1400 7 funcgraph_exit func=0xb depth=1 calltime=1100 rettime=1400\n"
			     "0 2000 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=2000\n"
			     "0 3000 7 funcgraph_entry func=0xa depth=0\n"
			     "0 3500 7 funcgraph_exit func=0xa depth=0 calltime=3000 rettime=3500\n"
			     "0 4000 7 sys_enter id=0\n"
			     "0 4500 7 funcgraph_entry func=0xa depth=0\n"
			     "0 5000 7 funcgraph_exit func=0xa depth=0 calltime=4500 rettime=5000\n"
			     "0 6000 7 sys_exit id=0 ret=3\n";

TEST(call_sums_have_functions_below_the_system_call_that_they_ran_in)
{
	struct call_sums sums = { .nodes_max = 0 };
	struct analysed analysed;
	uint32_t a, read;

	REQUIRE(analysed_begin(&analysed, &call_sums_analysis, &sums, types, script));
	a = child_of(&sums, &sums.tree, 0, "0xa");
	read = child_of(&sums, &sums.tree, 0, "read()");
	CHECK(has(&sums.tree, 0, 0, 3500, 0, 0));
	CHECK(has(&sums.tree, a, 2, 1500, 1200, 1000));
	CHECK(sums.tree.nodes[a].longest_at == 1000);
	CHECK(has(&sums.tree, child_of(&sums, &sums.tree, a, "0xb"), 1, 300, 300, 300));
	CHECK(has(&sums.tree, read, 1, 2000, 1500, 2000));
	CHECK(has(&sums.tree, child_of(&sums, &sums.tree, read, "0xa"), 1, 500, 500, 500));
	call_sums_release(&sums);
	analysed_end(&analysed);
}

TEST(call_sums_tell_what_a_function_called_and_who_called_it)
{
	struct call_sums sums = { .nodes_max = 0 };
	struct call_tree tree = { .nodes = NULL };
	struct analysed analysed;

	REQUIRE(analysed_begin(&analysed, &call_sums_analysis, &sums, types, script));
	CHECK(call_tree_below(&sums.tree, 0xa, &tree));
	CHECK(has(&tree, 0, 3, 2000, 1700, 1000));
	CHECK(has(&tree, child_of(&sums, &tree, 0, "0xb"), 1, 300, 300, 300));
	CHECK(call_tree_above(&sums.tree, 0xa, &tree));
	CHECK(has(&tree, 0, 3, 2000, 1700, 1000));
	CHECK(has(&tree, child_of(&sums, &tree, 0, "read()"), 1, 500, 500, 500));
	CHECK(tree.nr == 2);
	call_tree_release(&tree);
	call_sums_release(&sums);
	analysed_end(&analysed);
}

/* 0xa calls 0xb, which calls 0xa. */
TEST(call_sums_count_a_function_inside_itself_once)
{
	static const char inside[] = "0 1000 7 funcgraph_entry func=0xa depth=0\n"
				     "0 1100 7 funcgraph_entry func=0xb depth=1\n"
				     "0 1200 7 funcgraph_entry func=0xa depth=2\n"
				     "0 1300 7 funcgraph_exit func=0xa depth=2 calltime=1200 rettime=1300\n"
				     "0 1400 7 funcgraph_exit func=0xb depth=1 calltime=1100 rettime=1400\n"
				     "0 2000 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=2000\n";
	struct call_sums sums = { .nodes_max = 0 };
	struct call_tree tree = { .nodes = NULL };
	struct analysed analysed;

	REQUIRE(analysed_begin(&analysed, &call_sums_analysis, &sums, types, inside));
	CHECK(call_tree_below(&sums.tree, 0xa, &tree));
	CHECK(has(&tree, 0, 1, 1000, 700, 1000) && tree.nr == 3);
	CHECK(call_tree_above(&sums.tree, 0xa, &tree));
	CHECK(has(&tree, 0, 1, 1000, 700, 1000) && tree.nr == 1);
	call_tree_release(&tree);
	call_sums_release(&sums);
	analysed_end(&analysed);
}

TEST(call_sums_count_what_lies_beyond_their_limit)
{
	struct call_sums sums = { .nodes_max = 2 };
	struct analysed analysed;

	REQUIRE(analysed_begin(&analysed, &call_sums_analysis, &sums, types, script));
	/* The root and 0xa have room; 0xb, whose time 0xa now has, and the system call with its 0xa have not. */
	CHECK(sums.tree.nr == 2);
	CHECK(has(&sums.tree, 1, 2, 1500, 1500, 1000));
	CHECK(sums.left_out == 3);
	call_sums_release(&sums);
	analysed_end(&analysed);
}

TEST(call_sums_say_what_was_cut)
{
	static const char cut[] = "0 900 7 funcgraph_exit func=0xc depth=0\n"
				  "0 1000 7 funcgraph_entry func=0xa depth=0\n"
				  "0 1100 7 funcgraph_entry func=0xb depth=1\n"
				  "0 1400 7 funcgraph_exit func=0xb depth=1 calltime=1100 rettime=1400\n";
	struct call_sums sums = { .nodes_max = 0 };
	struct analysed analysed;
	uint32_t a;

	REQUIRE(analysed_begin(&analysed, &call_sums_analysis, &sums, types, cut));
	a = child_of(&sums, &sums.tree, 0, "0xa");
	CHECK(sums.unpaired == 1 && sums.open == 1);
	/* It has not returned: it lasted at least as long as what it called. */
	CHECK(has(&sums.tree, a, 0, 300, 0, 0));
	call_sums_release(&sums);
	analysed_end(&analysed);
}
