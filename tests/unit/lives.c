// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/follow/lives.h"

#include <stdlib.h>
#include <string.h>

#include "lib/meaning/follow/roles.h"
#include "tests/unit/golden.h"
#include "tests/unit/test.h"

/* The number behind `word` in a line of the kernel's text; -1 if the word is missing. */
static int32_t number(const char *line, const char *word)
{
	const char *at = strstr(line, word);

	return at ? (int32_t)strtol(at + strlen(word), NULL, 10) : -1;
}

/* The last task with this PID; NULL if there is none. */
static const struct life *life_of(const struct lives *lives, int32_t pid)
{
	for (size_t i = lives_count(lives); i-- > 0;)
		if (lives_at(lives, (uint32_t)i)->pid == pid)
			return lives_at(lives, (uint32_t)i);
	return NULL;
}

static bool is_text(const char *line, const char *word, const char *text)
{
	const char *at = strstr(line, word);

	return at && !strncmp(at + strlen(word), text, strlen(text)) && strchr(" \n", at[strlen(word) + strlen(text)]);
}

/* A line of the kernel's text: "TASK-PID [CPU] FLAGS SECONDS.MICROS: EVENT: ...". */
static void check_exit(const struct lives *lives, const char *line)
{
	const struct life *life = life_of(lives, number(line, "pid="));
	const char *name = strstr(line, "comm=") + strlen("comm=");
	size_t len = (size_t)(strstr(name, " pid=") - name);

	REQUIRE(life && life->known & LIFE_TOLD && life->known & LIFE_ENDED);
	CHECK_MEM(life->name, strlen(life->name), name, len);
	CHECK(life->ended == life->last && life->status == LIFE_STATUS_UNKNOWN);
}

static void check_fork(const struct lives *lives, const char *line)
{
	const struct life *life = life_of(lives, number(line, "child_pid="));

	REQUIRE(life && life->known & LIFE_BEGAN && life->parent != LIFE_NONE);
	CHECK(life->parent_pid == number(line, " pid="));
	CHECK(lives_at(lives, life->parent)->pid == life->parent_pid && life->began == life->first);
	CHECK(is_text(line, " comm=", life->parent_name));
}

static void check_exec(const struct lives *lives, const char *line)
{
	const struct life *life = life_of(lives, number(line, " pid="));

	REQUIRE(life && life->execs == 1 && life->program != LIFE_NONE);
	CHECK(is_text(line, "filename=", lives_program(lives, life->program, NULL)));
}

static void check_file(const char *name)
{
	unsigned forks = 0, execs = 0, exits = 0;
	struct golden golden;
	struct lives *lives;
	struct event event;
	const char *line;
	uint32_t told;
	uint8_t role;

	REQUIRE(golden_open(&golden, name));
	lives = lives_new();
	REQUIRE(lives);
	while (events_next(golden.events, &event, NULL) > 0) {
		role = event.kind == EVENT_RECORD ? lives_look(lives, &event) : ROLE_NONE;
		if (role != ROLE_NONE)
			CHECK(lives_see(lives, &event, role, &told) != LIFE_NOTHING);
	}
	while ((line = golden_line(&golden, "sched_process_"))) {
		if (strstr(line, "sched_process_fork:")) {
			check_fork(lives, line);
			forks++;
		} else if (strstr(line, "sched_process_exec:")) {
			check_exec(lives, line);
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
/* Without a PID the event is about the current task. */
static const struct format rename_format_without_pid = {
	.system = "task", .name = "task_rename", .nr_fields = 2, .fields = rename_fields + 1
};
static const struct format newtask_format = {
	.system = "task", .name = "task_newtask", .nr_fields = 2, .fields = newtask_fields
};
static const struct context here = { .abi = { .long_size = 8 } };
static struct event_type types[] = { { .index = 0, .context = &here, .format = &rename_format },
				     { .index = 1, .context = &here, .format = &newtask_format },
				     { .index = 0, .context = &here, .format = &rename_format_without_pid } };

static void see(struct lives *lives, unsigned type, uint64_t ts, int32_t pid, const char *first, const char *second)
{
	uint8_t data[44] = { 0 };
	const struct event event = { .ts = ts, .type = &types[type], .pid = 1, .data = data, .len = sizeof(data) };
	uint32_t told;

	memcpy(data + 8, &pid, sizeof(pid));
	memcpy(data + 12, first, strlen(first));
	memcpy(data + 28, second, strlen(second));
	CHECK(lives_see(lives, &event, lives_look(lives, &event), &told) != LIFE_NOTHING);
}

TEST(lives_know_the_names_of_each_task_with_the_same_pid)
{
	struct lives *lives = lives_new();

	REQUIRE(lives);
	see(lives, 0, 100, 7, "sh", "make");
	CHECK_STR(life_of(lives, 7)->name, "make");
	see(lives, 0, 200, 7, "make", "cc1");
	CHECK_STR(life_of(lives, 7)->name, "cc1");
	see(lives, 1, 300, 7, "child", "");
	/* Another task with the same PID. The end of the former one was not seen. */
	CHECK_STR(life_of(lives, 7)->name, "child");
	CHECK(life_of(lives, 7)->parent_pid == 1 && life_of(lives, 7)->began == 300);
	REQUIRE(life_of(lives, 7)->before == 0);
	CHECK(lives_at(lives, 0)->known == (LIFE_TOLD | LIFE_REPLACED) && lives_at(lives, 0)->renames == 2);
	CHECK_STR(lives_at(lives, 0)->name, "cc1");
	CHECK(!life_of(lives, 8));
	lives_free(lives);
}

TEST(lives_call_a_reason_what_tells_neither_a_task_nor_its_end)
{
	static const char *const reasons[][2] = { { "syscalls", "sys_enter_exit_group" },
						  { "syscalls", "sys_enter_exit" },
						  { "signal", "signal_deliver" },
						  { "raw_syscalls", "sys_enter" } };
	static const char *const others[][2] = { { "sched", "sched_process_fork" },
						 { "sched", "sched_process_exec" },
						 { "sched", "sched_process_exit" },
						 { "task", "task_newtask" },
						 { "task", "task_rename" } };

	for (size_t i = 0; i < array_size(reasons) + array_size(others); i++) {
		bool is_reason = i < array_size(reasons);
		const char *const *names = is_reason ? reasons[i] : others[i - array_size(reasons)];
		const struct format format = { .system = names[0], .name = names[1] };
		struct event_type type = { .context = &here, .format = &format };
		const struct event event = { .type = &type };
		struct lives *lives = lives_new();
		uint8_t role;

		REQUIRE(lives);
		role = lives_look(lives, &event);
		CHECK(role != ROLE_NONE && lives_is_reason(role) == is_reason);
		lives_free(lives);
	}
	CHECK(!lives_is_reason(ROLE_NONE));
}

TEST(lives_take_a_rename_without_a_pid_for_one_of_the_current_task)
{
	struct lives *lives = lives_new();

	REQUIRE(lives);
	see(lives, 2, 100, 7, "sh", "make");
	CHECK(!life_of(lives, 7) && life_of(lives, 1));
	CHECK_STR(life_of(lives, 1)->name, "make");
	lives_free(lives);
}
