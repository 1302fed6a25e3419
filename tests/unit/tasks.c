// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
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
	/* The last line may have no end. */
	tasks = tasks_of("5 five", "5 4\n6 2");
	REQUIRE(tasks);
	CHECK_STR(task_name(tasks, 5).text, "five");
	CHECK(task_tgid(tasks, 5) == 4 && task_tgid(tasks, 6) == 2);
	tasks_free(tasks);
}

TEST(tasks_have_room_for_thread_groups_in_lines_of_any_length)
{
	static char tgids[1 << 16];
	struct tasks *tasks;
	size_t len = 0;

	memset(tgids, '\n', sizeof(tgids) / 2);
	len = sizeof(tgids) / 2;
	for (int i = 1; i < 10; i++)
		len += (size_t)snprintf(tgids + len, sizeof(tgids) - len, "%d 1\n", i);
	tasks = tasks_of("", tgids);
	REQUIRE(tasks);
	for (int i = 0; i < 12; i++)
		CHECK(task_tgid(tasks, i) == (i && i < 10));
	tasks_free(tasks);
	/* No line is longer than it has to be. */
	len = 0;
	for (int i = 1; i < 10; i++)
		len += (size_t)snprintf(tgids + len, sizeof(tgids) - len, "%d 1\n", i);
	for (int i = 10; i < 5000; i++)
		len += (size_t)snprintf(tgids + len, sizeof(tgids) - len, "%d 2\n", i);
	tasks = tasks_of("", tgids);
	REQUIRE(tasks);
	for (int i = 1; i < 5002; i++)
		CHECK(task_tgid(tasks, i) == (i < 10 ? 1 : i < 5000 ? 2 : 0));
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

TEST(tasks_are_listed_once_each_with_those_that_have_a_name_alone)
{
	static char names[20000], tgids[100] = "70000 70000\n";
	unsigned seen[1500] = { 0 }, others = 0;
	struct tasks *tasks;
	size_t at = 0, len = 0;
	int32_t pid;

	for (int i = 1; i < 1500; i += 2)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%d t%d\n", i, i);
	tasks = tasks_of(names, tgids);
	REQUIRE(tasks);
	while (tasks_each(tasks, &at, &pid))
		if (pid > 0 && pid < 1500)
			seen[pid]++;
		else
			others++;
	CHECK(!others);
	for (int i = 0; i < 1500; i++) {
		char name[16];

		snprintf(name, sizeof(name), "t%d", i);
		CHECK(seen[i] == (unsigned)i % 2 && task_known(tasks, i) == (i % 2 || !i));
		CHECK(!(i % 2) || !strcmp(task_name(tasks, i).text, name));
	}
	CHECK(task_known(tasks, -1) && !task_known(tasks, 70000) && task_tgid(tasks, 70000) == 70000);
	CHECK(task_tgid(tasks, -1) == 0 && task_tgid(tasks, 1) == 0);
	tasks_free(tasks);
}

/* As ps shows them on a kernel; a program may be called so as well. */
TEST(task_name_of_a_kernel_thread_has_its_numbers)
{
	static const struct {
		const char *name;
		size_t len; /* 0: it is none */
	} rows[] = {
		{ "kworker/0:1", 11 },
		{ "kworker/0:1H", 12 },
		{ "kworker/0:1H-kblockd", 12 },
		{ "kworker/u8:2-ext4", 12 },
		{ "kworker/u8:2+flush", 12 },
		{ "kworker/u8:2_x", 0 },
		{ "kworker/0:", 0 },
		{ "kworker/:1", 0 },
		{ "kworker", 0 },
		{ "kworker/0", 0 },
		{ "ksoftirqd/15", 12 },
		{ "ksoftirqd/", 0 },
		{ "ksoftirqd/1234567", 17 },
		{ "ksoftirqd/12345678", 0 },
		{ "irq/24-nvme0q1", 6 },
		{ "irq/x", 0 },
		{ "kswapd0", 7 },
		{ "kswapd", 0 },
		{ "kthreadd", 8 },
		{ "kthread", 0 },
		{ "kthreadds", 0 },
		{ "swapper/3", 9 },
		{ "rcu_preempt", 11 },
		{ "rcu_preempt:", 11 },
		{ "jbd2/0-8", 4 },
		{ "", 0 },
		{ "bash", 0 },
	};

	for (size_t i = 0; i < array_size(rows); i++)
		if (!CHECK(task_kernel_name(rows[i].name, strlen(rows[i].name)) == rows[i].len))
			fprintf(stderr, "%s\n", rows[i].name);
	/* The bytes behind a name do not belong to it. */
	CHECK(task_kernel_name("kworker/0:12", 11) == 11 && task_kernel_name("kworker/0:12", 10) == 0);
}
