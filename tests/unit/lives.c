// SPDX-License-Identifier: GPL-2.0-only
#include "lib/event/lives.h"

#include "tests/unit/golden.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

/* The number behind `word` in a line of the kernel's text; -1 if the word is missing. */
static int32_t number(const char *line, const char *word)
{
	const char *at = strstr(line, word);

	return at ? (int32_t)strtol(at + strlen(word), NULL, 10) : -1;
}

static bool has_step(const struct lives *lives, int32_t pid, enum life_what what, int32_t other)
{
	const struct life_step *step;

	for (size_t i = 0; (step = lives_step(lives, pid, i)); i++)
		if (step->what == what && (what != LIFE_FORKED || step->other == other))
			return true;
	return false;
}

/* A line of the kernel's text: "TASK-PID [CPU] FLAGS SECONDS.MICROS: EVENT: ...". */
static void check_exit(const struct lives *lives, const char *line)
{
	int32_t pid = number(line, "pid=");
	const struct life_step *last = NULL;
	const char *name = strstr(line, "comm=") + strlen("comm=");
	size_t len = (size_t)(strstr(name, " pid=") - name);

	for (size_t i = 0; lives_step(lives, pid, i); i++)
		last = lives_step(lives, pid, i);
	REQUIRE(last && last->what == LIFE_EXITED);
	CHECK_MEM(last->name, strlen(last->name), name, len);
	REQUIRE(lives_name(lives, pid, last->ts));
	CHECK_STR(lives_name(lives, pid, last->ts), last->name);
	CHECK(!lives_name(lives, pid, last->ts + 1));
}

static void check_file(const char *name)
{
	unsigned forks = 0, execs = 0, exits = 0;
	struct golden golden;
	struct lives *lives;
	struct event event;
	const char *line;

	REQUIRE(golden_open(&golden, name));
	lives = lives_new(&golden.context->abi);
	REQUIRE(lives);
	while (events_next(golden.events, &event, NULL) > 0)
		lives_see(lives, &event);
	while ((line = golden_line(&golden, "sched_process_"))) {
		if (strstr(line, "sched_process_fork:")) {
			CHECK(has_step(lives, number(line, "child_pid="), LIFE_FORKED, number(line, " pid=")));
			forks++;
		} else if (strstr(line, "sched_process_exec:")) {
			CHECK(has_step(lives, number(line, " pid="), LIFE_EXECED, 0));
			execs++;
		} else if (strstr(line, "sched_process_exit:")) {
			check_exit(lives, line);
			exits++;
		}
	}
	CHECK(forks && execs && exits && !lives_failed(lives));
	lives_free(lives);
	golden_close(&golden);
}

TEST(lives_tell_what_the_kernel_printed_of_forks_execs_and_exits)
{
	check_file("6.12-events-sched");
	check_file("6.1-rt-events-sched");
}

static const struct field rename_fields[] = {
	{ .name = "pid", .type = "pid_t", .offset = 8, .size = 4, .flags = FIELD_SIGNED },
	{ .name = "oldcomm",
	  .type = "char[16]",
	  .offset = 12,
	  .size = 16,
	  .elem_size = 1,
	  .flags = FIELD_ARRAY | FIELD_STRING },
	{ .name = "newcomm",
	  .type = "char[16]",
	  .offset = 28,
	  .size = 16,
	  .elem_size = 1,
	  .flags = FIELD_ARRAY | FIELD_STRING },
};
static const struct field newtask_fields[] = {
	{ .name = "pid", .type = "pid_t", .offset = 8, .size = 4, .flags = FIELD_SIGNED },
	{ .name = "comm",
	  .type = "char[16]",
	  .offset = 12,
	  .size = 16,
	  .elem_size = 1,
	  .flags = FIELD_ARRAY | FIELD_STRING },
};
static const struct format rename_format = {
	.system = "task", .name = "task_rename", .nr_fields = 3, .fields = rename_fields
};
static const struct format newtask_format = {
	.system = "task", .name = "task_newtask", .nr_fields = 2, .fields = newtask_fields
};
static struct event_type types[] = { { .index = 0, .format = &rename_format },
				     { .index = 1, .format = &newtask_format } };

static void see(struct lives *lives, unsigned type, uint64_t ts, int32_t pid, const char *first, const char *second)
{
	uint8_t data[44] = { 0 };
	const struct event event = { .ts = ts, .type = &types[type], .pid = 1, .data = data, .len = sizeof(data) };

	memcpy(data + 8, &pid, sizeof(pid));
	memcpy(data + 12, first, strlen(first));
	memcpy(data + 28, second, strlen(second));
	lives_see(lives, &event);
}

TEST(lives_know_the_name_that_a_task_had_at_each_time)
{
	const struct schema_abi abi = { .long_size = 8 };
	struct lives *lives = lives_new(&abi);

	REQUIRE(lives);
	see(lives, 0, 100, 7, "sh", "make");
	see(lives, 0, 200, 7, "make", "cc1");
	see(lives, 1, 300, 7, "child", "");
	CHECK_STR(lives_name(lives, 7, 50), "sh");
	CHECK_STR(lives_name(lives, 7, 100), "make");
	CHECK_STR(lives_name(lives, 7, 299), "cc1");
	/* Another task with the same PID. */
	CHECK_STR(lives_name(lives, 7, 300), "child");
	CHECK(lives_step(lives, 7, 2)->what == LIFE_FORKED && lives_step(lives, 7, 2)->other == 1);
	CHECK(!lives_name(lives, 8, 300) && !lives_step(lives, 7, 3));
	lives_free(lives);
}
