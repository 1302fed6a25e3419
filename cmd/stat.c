// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/elsewhere.h"
#include "cmd/options/answer.h"
#include "cmd/options/kernel.h"
#include "cmd/terminal/terminal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/setup/boot.h"
#include "lib/kernel/tracefs/users.h"
#include "lib/kernel/undo/claim.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"

enum { LINES_SHOWN = 8, TITLE_WIDTH = 22 };

struct stat_arguments {
	struct kernel kernel;
	bool full, check;
	/* Valid while an instance is printed: */
	const struct instance *instance;
	bool headed;        /* its name was printed */
	bool differs;       /* this instance, or one before it, differs */
	struct buf options; /* "noannotate stacktrace" */
	struct answer answer;
	struct elsewhere_arguments elsewhere;
};

static const struct option_row table[] = {
	{ "full", 0, NULL, 0, "Print long lists in full, and also settings that are as at boot", 0,
	  OPTION_FLAG(struct stat_arguments, full) },
	{ "check", 0, NULL, 0, "Exit with status 1 when anything differs from boot", 0,
	  OPTION_FLAG(struct stat_arguments, check) },
	{ 0 },
};

static const struct options_child children[] = {
	{ &kernel_options, offsetof(struct stat_arguments, kernel), 0, NULL },
	{ &answer_options, offsetof(struct stat_arguments, answer), 0, NULL },
	{ &elsewhere_one_options, offsetof(struct stat_arguments, elsewhere), 0, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = table,
	.children = children,
	.doc = "Shows what differs from the state at boot: settings, events, filters, triggers, probes and full "
	       "buffers of the top instance and of every other, and which processes read them.\v"
	       "Events are shown as the kernel does: 1 all of a system, X some of it; a * behind the state of an event "
	       "means that a trigger switches it.",
};

/* A difference in JSON, with all its lines; `event` may be NULL. */
static void put_lines(struct stat_arguments *arguments, const char *title, const char *event, const char *text)
{
	struct json *json = &arguments->answer.json;
	size_t left = strlen(text);
	struct text_word line;

	json_object(json);
	answer_text(json, "instance", arguments->instance->name);
	answer_text(json, "what", title);
	answer_text(json, "event", event);
	json_key(json, "lines");
	json_array(json);
	while (text_next_line(&text, &left, &line))
		if (line.len && line.at[0] != '#')
			json_put_bytes(json, line.at, line.len);
	json_end(json);
	json_end(json);
}

static void print_head(struct stat_arguments *arguments)
{
	cleanup_free char *name = terminal_line(arguments->instance->name);

	if (arguments->headed)
		return;
	arguments->headed = true;
	if (arguments->answer.is_json) {
		if (*name)
			put_lines(arguments, "instance", NULL, "");
		return;
	}
	if (*name)
		printf("instance %s\n", name);
	else
		puts("top instance");
}

/* Prints a title with lines below each other. If there are too many lines, the rest is left out. */
static void print_lines(struct stat_arguments *arguments, const char *title, const char *text)
{
	size_t left = strlen(text), shown = 0, more = 0;
	struct text_word line;

	print_head(arguments);
	if (arguments->answer.is_json) {
		put_lines(arguments, title, NULL, text);
		return;
	}
	while (text_next_line(&text, &left, &line)) {
		if (!line.len || line.at[0] == '#')
			continue;
		if (shown == LINES_SHOWN && !arguments->full) {
			more++;
			continue;
		}
		printf("  %-*s %.*s\n", TITLE_WIDTH, shown++ ? "" : title, (int)line.len, line.at);
	}
	if (more)
		printf("  %-*s ... and %zu more (--full)\n", TITLE_WIDTH, "", more);
}

static void print_options(struct stat_arguments *arguments)
{
	if (arguments->options.len)
		print_lines(arguments, "options", buf_str(&arguments->options));
	buf_clear(&arguments->options);
}

/* Returns "events/sched/sched_switch/filter" as "sched:sched_switch". */
static const char *event_name(const char *file, char into[256])
{
	const char *system = file + strlen("events/"), *end = strrchr(file, '/');
	char *slash;

	snprintf(into, 256, "%.*s", end > system ? (int)(end - system) : 0, system);
	slash = strchr(into, '/');
	if (slash)
		*slash = ':';
	return into;
}

static void print_event(struct stat_arguments *arguments, const char *title, const char *file, const char *text)
{
	size_t left = strlen(text);
	struct text_word line;
	char name[256];

	print_head(arguments);
	event_name(file, name);
	if (arguments->answer.is_json) {
		put_lines(arguments, title, name, text);
		return;
	}
	while (text_next_line(&text, &left, &line))
		if (line.len && line.at[0] != '#')
			printf("  %-*s %s  %.*s\n", TITLE_WIDTH, title, name, (int)line.len, line.at);
}

static int print_difference(const struct boot_difference *difference, void *data)
{
	struct stat_arguments *arguments = data;
	const char *file = difference->file;
	char name[256], text[300];

	arguments->differs = true;
	if (difference->what != BOOT_OPTION)
		print_options(arguments);
	switch (difference->what) {
	case BOOT_OPTION:
		if (!buf_addf(&arguments->options, "%s%s%s", arguments->options.len ? " " : "",
			      difference->now[0] == '1' ? "" : "no", file + strlen("options/")))
			return -1;
		break;
	case BOOT_SYSTEM:
		snprintf(text, sizeof(text), "%s  %s", difference->now, event_name(file, name));
		print_lines(arguments, "events", text);
		break;
	case BOOT_EVENT:
		snprintf(text, sizeof(text), "%.*s  %s", (int)strcspn(difference->now, "\n"), difference->now,
			 event_name(file, name));
		print_lines(arguments, "events", text);
		break;
	case BOOT_FILTER:
		print_event(arguments, "filter", file, difference->now);
		break;
	case BOOT_TRIGGER:
		print_event(arguments, "trigger", file, difference->now);
		break;
	case BOOT_SYSCTL:
		file = strrchr(file, '/') + 1;
		/* fall through */
	case BOOT_SETTING:
	case BOOT_DYNAMIC:
	case BOOT_SNAPSHOT:
		print_lines(arguments, file, difference->now);
		break;
	}
	return 0;
}

static void print_buffer(struct stat_arguments *arguments)
{
	uint64_t entries = 0, lost = 0;
	char text[128], count[TEXT_HUMAN], gone[TEXT_HUMAN], size[TEXT_HUMAN];
	struct cpus online;

	if (tracing_online_cpus(&online, NULL))
		return;
	for (int cpu = cpus_next(&online, 0); cpu >= 0; cpu = cpus_next(&online, cpu + 1)) {
		struct ring_buffer_stats stats;

		if (ring_buffer_stats(arguments->instance, (uint32_t)cpu, &stats, NULL))
			continue;
		entries += stats.entries;
		lost += stats.overrun + stats.commit_overrun + stats.dropped;
	}
	if (!entries && !lost && !arguments->full)
		return;
	arguments->differs |= entries || lost;
	snprintf(text, sizeof(text), "%s event%s in %s per CPU, %s lost", text_count(count, entries),
		 text_plural(entries), text_size(size, ring_buffer_size(arguments->instance)), text_count(gone, lost));
	print_lines(arguments, "buffer", text);
}

static int print_user(const struct tracing_user *user, void *data)
{
	struct stat_arguments *arguments = data;
	const char *file = tracing_user_file(user, arguments->instance->name);
	cleanup_free char *comm = terminal_line(user->comm);
	char text[600];

	if (!file)
		return 0;
	snprintf(text, sizeof(text), "%s (process %d): %s", comm, (int)user->pid, file);
	print_lines(arguments, "in use by", text);
	return 0;
}

static int print_instance(struct stat_arguments *arguments, const struct instance *instance, struct fail *fail)
{
	int err;

	arguments->instance = instance;
	arguments->headed = false;
	/* The existence of an instance is a difference in itself. */
	if (instance->kind != INSTANCE_TOP || arguments->full)
		print_head(arguments);
	arguments->differs |= instance->kind != INSTANCE_TOP;
	err = boot_each(instance, print_difference, arguments, fail);
	if (err)
		return err < 0 ? fail_memory(fail) : err;
	print_options(arguments);
	print_buffer(arguments);
	return tracing_each_user(&arguments->kernel.tracing, print_user, arguments);
}

static void put_claim(struct stat_arguments *arguments, const char *instance, const struct claim *claim)
{
	struct json *json = &arguments->answer.json;

	json_object(json);
	answer_text(json, "instance", instance);
	answer_text(json, "what", "traced by");
	answer_text(json, "command", claim->command);
	answer_number(json, "pid", (uint64_t)claim->owner.pid);
	answer_bool(json, "ended", claim->held);
	json_end(json);
}

static void print_claim(struct stat_arguments *arguments, const char *instance)
{
	cleanup_free char *name = terminal_line(instance), *command = NULL;
	struct claim claim;

	if (!claim_find(NULL, instance, &claim))
		return;
	arguments->differs = true;
	if (arguments->answer.is_json) {
		put_claim(arguments, instance, &claim);
		return;
	}
	command = terminal_line(claim.command);
	printf("the %s%s%s is traced by '%s' (process %d%s)\n", *name ? "instance '" : "top instance", name,
	       *name ? "'" : "", command, (int)claim.owner.pid, claim.held ? ", ended; until 'weft reset'" : "");
}

struct each_instance {
	struct stat_arguments *arguments;
	struct fail *fail;
};

static int print_named(const char *name, void *data)
{
	struct each_instance *each = data;
	struct instance *instance;
	int err;

	/* The instance has been removed meanwhile. */
	if (instance_open(&each->arguments->kernel.tracing, name, false, NULL, &instance, NULL))
		return 0;
	err = print_instance(each->arguments, instance, each->fail);
	print_claim(each->arguments, name);
	instance_close(instance, NULL);
	return err;
}

static void put_journal(struct stat_arguments *arguments, const struct undo_pending *journal)
{
	struct json *json = &arguments->answer.json;

	json_object(json);
	answer_text(json, "instance", NULL);
	answer_text(json, "what", journal->held ? "asked for" : "left behind");
	answer_number(json, "pid", (uint64_t)journal->pid);
	answer_number(json, "settings", journal->entries);
	answer_number(json, "instances", journal->instances);
	answer_number(json, "probes", journal->probes);
	json_end(json);
}

/* Prints the settings that weft itself changed, on purpose or because it was killed. */
static int print_journals(struct stat_arguments *arguments, struct fail *fail)
{
	cleanup_free struct undo_pending *journals = NULL;
	char words[KERNEL_WORDS];
	size_t nr = 0;
	int err = undo_list(NULL, &journals, &nr, fail);

	for (size_t i = 0; !err && i < nr; i++) {
		cleanup_buf struct buf remedy = BUF_INIT;

		arguments->differs = true;
		if (arguments->answer.is_json) {
			put_journal(arguments, &journals[i]);
			continue;
		}
		if (!kernel_journal_remedy(&journals[i], &arguments->kernel.tracing, &remedy))
			return fail_memory(fail);
		printf("weft (process %d) %s %s; %s\n", (int)journals[i].pid,
		       journals[i].held ? "was asked for" : "was killed and left behind",
		       kernel_journal_words(&journals[i], words), buf_str(&remedy));
	}
	return err;
}

static int print_all(struct stat_arguments *arguments, struct fail *fail)
{
	struct each_instance each = { .arguments = arguments, .fail = fail };
	int err = print_instance(arguments, arguments->kernel.instance, fail);

	if (!err && !arguments->kernel.name) {
		err = instance_each(&arguments->kernel.tracing, print_named, &each, fail);
		if (!err)
			print_claim(arguments, "");
		if (!err)
			err = print_journals(arguments, fail);
	}
	if (!err && !arguments->differs && !arguments->answer.is_json)
		puts("nothing differs from boot");
	return err;
}

static int put_all(struct stat_arguments *arguments, struct fail *fail)
{
	struct json *json = &arguments->answer.json;
	int err = answer_begin(&arguments->answer, fail);

	if (err)
		return err;
	json_key(json, "differences");
	json_array(json);
	err = print_all(arguments, fail);
	json_end(json);
	answer_bool(json, "as_at_boot", !arguments->differs);
	if (!err)
		return answer_end(&arguments->answer, fail);
	out_release(&arguments->answer.out);
	return err;
}

static int stat_here(struct stat_arguments *arguments)
{
	struct fail fail = FAIL_INIT;
	int err = kernel_open(&arguments->kernel, NULL, &fail), status;

	if (!err)
		err = arguments->answer.is_json ? put_all(arguments, &fail) : print_all(arguments, &fail);
	buf_release(&arguments->options);
	status = kernel_finish(&arguments->kernel, err, &fail);
	return status == EXIT_OK && arguments->check && arguments->differs ? EXIT_FAILED : status;
}

static int stat_run(int argc, char **argv)
{
	struct stat_arguments arguments = { .options = BUF_INIT };
	int status;

	/* As perf stat takes one. */
	for (int i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], "--")) {
			fprintf(stderr, "weft status runs no command: 'weft record -- COMMAND' records one, and "
					"'weft summary' then tells what it did\n");
			return EXIT_USAGE;
		}
	command_parse(&stat_command, argc, argv, 0, &arguments);
	status = arguments.elsewhere.host ? elsewhere_command(&arguments.elsewhere, false) : stat_here(&arguments);
	elsewhere_release(&arguments.elsewhere);
	return status;
}

static int stat_far(int argc, char **argv, const struct far_side *far)
{
	struct stat_arguments arguments = { .options = BUF_INIT };
	int status;

	(void)far;
	command_parse(&stat_command, argc, argv, 0, &arguments);
	status = stat_here(&arguments);
	elsewhere_release(&arguments.elsewhere);
	return status;
}

/* clang-format off */
static const struct json_member members[] = {
	{ "differences[].instance", "string|null", "where; null: left by weft, or of no instance" },
	{ "differences[].what", "string", "the setting, or who uses it" },
	{ "differences[].event?", "string|null", "of an event's setting" },
	{ "differences[].lines[]?", "string", "all of its text" },
	{ "differences[].command?", "string", "traced by: its command line" },
	{ "differences[].pid?", "number", "of who traces or left something behind" },
	{ "differences[].ended?", "boolean", "traced by: its process has ended" },
	{ "differences[].settings?", "number", "how many wait for weft reset" },
	{ "differences[].instances?", "number", "how many" },
	{ "differences[].probes?", "number", "how many" },
	{ "as_at_boot", "boolean", "nothing differs" },
	{ 0 },
};
/* clang-format on */

const struct command stat_command = {
	.name = "status",
	.former = "stat",
	.summary = "show what in tracing differs from the state at boot",
	.brief = "what is changed",
	.examples = "  weft status\n"
		    "  weft status --check",
	.group = "kernel",
	.options = &command_options,
	.answer = members,
	.run = stat_run,
	.run_far = stat_far,
};
