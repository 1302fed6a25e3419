// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#include <string.h>

#include "lib/meaning/event/tasks.h"

static struct tasks *tasks_of(const char *names, const char *tgids)
{
	struct tasks *tasks = NULL;

	if (tasks_new(names, strlen(names), tgids, tgids ? strlen(tgids) : 0, &tasks, NULL))
		return NULL;
	return tasks;
}

TEST(tasks_name_the_idle_task_unknown_ones_and_negative_ones_as_the_kernel_does)
{
	struct tasks *tasks = tasks_of("7 sh\n", NULL);

	REQUIRE(tasks);
	CHECK_STR(task_name(tasks, 0).text, "<idle>");
	CHECK_STR(task_name(tasks, 8).text, "<...>");
	CHECK_STR(task_name(tasks, -1).text, "<XXX>");
	CHECK_STR(task_name(tasks, 7).text, "sh");
	CHECK(task_name(tasks, 8).len == 5 && task_name(tasks, 0).len == 6 && task_name(tasks, -1).len == 5);
	tasks_free(tasks);
}

TEST(tasks_keep_blanks_inside_and_around_a_name)
{
	struct tasks *tasks = tasks_of("1 my task\n2  x \n3 \n", NULL);

	REQUIRE(tasks);
	CHECK_STR(task_name(tasks, 1).text, "my task");
	CHECK_STR(task_name(tasks, 2).text, " x ");
	CHECK_STR(task_name(tasks, 3).text, "");
	tasks_free(tasks);
}

TEST(tasks_take_a_line_without_a_number_as_part_of_the_name_before)
{
	struct tasks *tasks = tasks_of("1 two\nlines\n2 end\n\n3 x\n", NULL);

	REQUIRE(tasks);
	CHECK_STR(task_name(tasks, 1).text, "two\nlines");
	CHECK_STR(task_name(tasks, 2).text, "end\n");
	CHECK_STR(task_name(tasks, 3).text, "x");
	tasks_free(tasks);
}

TEST(tasks_have_blanks_in_front_of_every_name)
{
	struct tasks *tasks = tasks_of("1 a\n", NULL);
	const char blanks[] = "                ";

	REQUIRE(tasks);
	for (int pid = -1; pid < 3; pid++)
		CHECK_MEM(task_name(tasks, pid).text - TASK_NAME_PAD, (size_t)TASK_NAME_PAD, blanks,
			  (size_t)TASK_NAME_PAD);
	tasks_free(tasks);
}

TEST(tasks_know_the_thread_group_also_of_a_task_without_a_name)
{
	struct tasks *tasks = tasks_of("5 five\n", "5 4\n6 6\n0 9\n");

	REQUIRE(tasks);
	CHECK(task_tgid(tasks, 5) == 4);
	CHECK(task_tgid(tasks, 6) == 6);
	CHECK(task_tgid(tasks, 7) == 0);
	CHECK(task_tgid(tasks, 0) == 0);
	CHECK_STR(task_name(tasks, 6).text, "<...>");
	tasks_free(tasks);
}

TEST(tasks_survive_what_is_no_list_of_tasks)
{
	struct tasks *tasks = tasks_of("\n\nx\n99999999999 big\n1\n4", "a b\n1 -3\n");

	REQUIRE(tasks);
	CHECK_STR(task_name(tasks, 1).text, "<...>");
	CHECK_STR(task_name(tasks, 4).text, "<...>");
	tasks_free(tasks);
}

TEST(tasks_have_the_columns_in_front_of_a_line_ready_for_those_whose_name_fits)
{
	struct tasks *tasks = tasks_of("7 sh\n4194304 sixteen-chars-xy\n8 more-than-sixteen\n", "9 9\n");

	REQUIRE(tasks);
	CHECK_MEM(task_head(tasks, 7), (size_t)TASK_HEAD_LEN, "              sh-7       ", (size_t)TASK_HEAD_LEN);
	CHECK_MEM(task_head(tasks, 4194304), (size_t)TASK_HEAD_LEN, "sixteen-chars-xy-4194304 ", (size_t)TASK_HEAD_LEN);
	CHECK_MEM(task_head(tasks, 0), (size_t)TASK_HEAD_LEN, "          <idle>-0       ", (size_t)TASK_HEAD_LEN);
	CHECK(!task_head(tasks, 8) && !task_head(tasks, 9) && !task_head(tasks, 10) && !task_head(tasks, -1));
	tasks_free(tasks);
}
