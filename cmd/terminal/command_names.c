// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/command.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/near.h"

const struct command *command_at(size_t index)
{
	return commands[index];
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name) || (commands[i]->former && !strcmp(commands[i]->former, name)))
			return commands[i];
	return NULL;
}

/* Names that other programs have for a command. */
static const struct {
	const char *name, *whose, *ours;
} elsewhere[] = {
	{ "restore", "trace-cmd's", "recover" },
	{ "dump", "trace-cmd's", "info" },
	{ "options", "trace-cmd's", "list options" },
	{ "sqlhist", "trace-cmd's", "hist" },
	{ "profile", "trace-cmd's", "profile-functions" },
	{ "check-events", "trace-cmd's", "doctor" },
	{ "script", "perf's", "report" },
	{ "trace", "perf's", "stream -e syscalls" },
	{ "replay", "uftrace's", "report" },
	{ "execsnoop", "bcc's", "tasks" },
	{ "exitsnoop", "bcc's", "tasks" },
};

/* Words of people who do not know the names of the field yet. */
static const struct {
	const char *word, *ours;
} everyday[] = {
	{ "disk", "block" },      { "disks", "block" },    { "io", "block" },        { "cpu", "sched" },
	{ "cpus", "sched" },      { "wakeup", "latency" }, { "wakeups", "latency" }, { "lock", "locks" },
	{ "mutex", "locks" },     { "futex", "locks" },    { "interrupt", "irq" },   { "interrupts", "irq" },
	{ "strace", "syscalls" }, { "calls", "syscalls" }, { "processes", "tasks" }, { "programs", "tasks" },
	{ "slow", "why" },        { "mem", "memory" },     { "functions", "graph" }, { "spans", "marks" },
};

const char *command_about(const char *word)
{
	for (size_t i = 0; i < array_size(everyday); i++)
		if (!strcmp(everyday[i].word, word))
			return everyday[i].ours;
	return NULL;
}

int command_unknown(const char *name)
{
	const char *about = command_about(name);
	struct near near = near_to(name);
	struct fail fail = FAIL_INIT;
	struct stat status;

	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->group)
			near_offer(&near, commands[i]->name);
	for (size_t i = 0; i < array_size(elsewhere); i++) {
		if (strcmp(elsewhere[i].name, name))
			continue;
		fprintf(stderr, "weft: no command '%s'; %s %s is 'weft %s' here\n", name, elsewhere[i].whose, name,
			elsewhere[i].ours);
		return EXIT_USAGE;
	}
	if (!stat(name, &status) && S_ISREG(status.st_mode)) {
		command_warn("no command '%s', but a file: 'weft summary FILE' is the first look at one", name);
		return EXIT_USAGE;
	}
	if (about) {
		fprintf(stderr, "weft: no command '%s'; 'weft %s' answers questions about that\n", name, about);
		return EXIT_USAGE;
	}
	near_fail(&near, &fail, -ENOENT, "no command '%s'", name);
	fprintf(stderr, "weft: %s%s\n", fail.text, near.found ? "" : "; 'weft help' lists them");
	return EXIT_USAGE;
}
