// SPDX-License-Identifier: GPL-2.0-only
#include "formats/kernel/graph.h"

#include "tests/unit/test.h"

enum { VFS_OPEN = 0x1000, DPUT = 0x2000, IRQ = 0x9010 };

static const struct graph irqs_hidden = { .irqs = false, .irq_start = 0x9000, .irq_end = 0x9100 };
static const struct graph irqs_shown = { .irqs = true, .irq_start = 0x9000, .irq_end = 0x9100 };

TEST(graph_announces_a_task_only_when_another_one_was_printed_before)
{
	struct graph_cpu cpu;
	int32_t before = 0;

	graph_cpu_init(&cpu);
	CHECK(!graph_cpu_switch(&cpu, 5, &before));
	CHECK(!graph_cpu_switch(&cpu, 5, &before));
	CHECK(graph_cpu_switch(&cpu, 0, &before) && before == 5);
	CHECK(graph_cpu_switch(&cpu, 5, &before) && before == 0);
}

TEST(graph_exit_matches_the_entry_of_its_depth_once)
{
	struct graph_cpu cpu;

	graph_cpu_init(&cpu);
	graph_cpu_enter(&cpu, VFS_OPEN, 0, false);
	graph_cpu_enter(&cpu, DPUT, 1, false);
	CHECK(graph_cpu_leave(&cpu, DPUT, 1, NULL) == GRAPH_EXIT);
	CHECK(graph_cpu_leave(&cpu, VFS_OPEN, 0, NULL) == GRAPH_EXIT);
	CHECK(graph_cpu_leave(&cpu, VFS_OPEN, 0, NULL) == GRAPH_EXIT_LOST);
}

TEST(graph_exit_of_another_function_has_lost_its_entry)
{
	struct graph_cpu cpu;

	graph_cpu_init(&cpu);
	graph_cpu_enter(&cpu, VFS_OPEN, 0, false);
	CHECK(graph_cpu_leave(&cpu, DPUT, 0, NULL) == GRAPH_EXIT_LOST);
}

TEST(graph_leaf_forgets_the_function_that_was_open_at_its_depth)
{
	struct graph_cpu cpu;

	graph_cpu_init(&cpu);
	graph_cpu_enter(&cpu, VFS_OPEN, 2, false);
	graph_cpu_enter(&cpu, DPUT, 2, true);
	CHECK(graph_cpu_leave(&cpu, VFS_OPEN, 2, NULL) == GRAPH_EXIT_LOST);
}

TEST(graph_exit_deeper_than_the_kernel_remembers_passes_for_matched)
{
	struct graph_cpu cpu;

	graph_cpu_init(&cpu);
	CHECK(graph_cpu_leave(&cpu, DPUT, GRAPH_DEPTH - 1, NULL) == GRAPH_EXIT_LOST);
	CHECK(graph_cpu_leave(&cpu, DPUT, GRAPH_DEPTH, NULL) == GRAPH_EXIT);
	CHECK(graph_cpu_leave(&cpu, DPUT, -1, NULL) == GRAPH_EXIT);
	CHECK(graph_cpu_leave(&cpu, DPUT, INT32_MIN, NULL) == GRAPH_EXIT);
	CHECK(graph_cpu_leave(&cpu, DPUT, INT32_MAX, NULL) == GRAPH_EXIT);
}

TEST(graph_comments_stand_inside_the_open_function)
{
	struct graph_cpu cpu;

	graph_cpu_init(&cpu);
	CHECK(cpu.depth == 0);
	graph_cpu_enter(&cpu, VFS_OPEN, 3, false);
	CHECK(cpu.depth == 3);
	graph_cpu_enter(&cpu, DPUT, 4, true);
	CHECK(cpu.depth == 3);
	graph_cpu_leave(&cpu, VFS_OPEN, 3, NULL);
	CHECK(cpu.depth == 2);
}

TEST(graph_without_irqs_hides_all_from_an_interrupts_entry_to_its_exit)
{
	struct graph_cpu cpu;

	graph_cpu_init(&cpu);
	CHECK(!graph_cpu_hides(&cpu, &irqs_hidden, DPUT, 0));
	CHECK(graph_cpu_hides(&cpu, &irqs_hidden, IRQ, 1));
	CHECK(graph_cpu_hides(&cpu, &irqs_hidden, DPUT, 2));
	CHECK(graph_cpu_leaves_irq(&cpu, &irqs_hidden, 2));
	CHECK(graph_cpu_leaves_irq(&cpu, &irqs_hidden, 1));
	CHECK(!graph_cpu_leaves_irq(&cpu, &irqs_hidden, 0));
	CHECK(!graph_cpu_hides(&cpu, &irqs_hidden, DPUT, 0));
}

TEST(graph_leaves_an_interrupt_whose_exit_was_lost_at_a_shallower_one)
{
	struct graph_cpu cpu;

	graph_cpu_init(&cpu);
	graph_cpu_hides(&cpu, &irqs_hidden, IRQ, 5);
	CHECK(graph_cpu_leaves_irq(&cpu, &irqs_hidden, 3));
	CHECK(!graph_cpu_leaves_irq(&cpu, &irqs_hidden, 2));
}

TEST(graph_with_irqs_hides_nothing)
{
	struct graph_cpu cpu;

	graph_cpu_init(&cpu);
	CHECK(!graph_cpu_hides(&cpu, &irqs_shown, IRQ, 1));
	CHECK(!graph_cpu_leaves_irq(&cpu, &irqs_shown, 1));
}
