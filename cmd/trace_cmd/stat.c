// SPDX-License-Identifier: GPL-2.0-only
/* trace-cmd stat: what differs from boot, in trace-cmd's words. */
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "cmd/trace_cmd/trace_cmd.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/setup/boot.h"
#include "lib/kernel/undo/instance_open.h"

enum { INSTANCES_MAX = 64 };

struct stat_command {
	struct kernel kernel;
	const char *names[INSTANCES_MAX]; /* of -B, in their order */
	size_t nr;
	bool top, options;
};

/* What boot_each() finds of events, by the section in which it is printed. */
struct found {
	struct buf systems, events, filters, triggers;
	char system[128]; /* of the last event in `events` */
	bool ok;
};

static int parse(int argc, char **argv, struct stat_command *command)
{
	int key;

	optind = 1;
	while ((key = getopt(argc, argv, "+htoB:")) != -1) {
		switch (key) {
		case 'B':
			if (command->nr == INSTANCES_MAX)
				return -TRACE_CMD_USAGE;
			command->names[command->nr++] = optarg;
			break;
		case 't':
			command->top = true;
			break;
		case 'o':
			command->options = true;
			break;
		default:
			return -TRACE_CMD_USAGE;
		}
	}
	return 0;
}

/* The text of a file without the blanks around it; "" if there is none. */
static const char *read_file(const struct instance *instance, const char *file, struct buf *buf)
{
	size_t len;
	char *text;

	buf_clear(buf);
	if (!instance_has(instance, file) || instance_read(instance, file, buf, NULL))
		buf_clear(buf);
	text = (char *)(uintptr_t)buf_str(buf);
	for (len = buf->len; len && strchr(" \t\n", text[len - 1]); len--)
		;
	if (buf->len)
		text[len] = '\0';
	return text + strspn(text, " \t\n");
}

static void print_file(const struct instance *instance, const char *file, const char *usual, const char *title)
{
	cleanup_buf struct buf buf = BUF_INIT;
	const char *text = read_file(instance, file, &buf);

	if (*text && strcmp(text, usual) != 0)
		printf("\n%s%s\n", title, text);
}

/* Lines below each other, without comments. */
static void print_list(const struct instance *instance, const char *file, const char *title)
{
	cleanup_buf struct buf buf = BUF_INIT;
	const char *text = read_file(instance, file, &buf);
	size_t left = strlen(text);
	struct text_word line;
	bool titled = false;

	while (text_next_line(&text, &left, &line)) {
		if (!line.len || *line.at == '#')
			continue;
		if (!titled)
			printf("\n%s:\n", title);
		titled = true;
		printf("   %.*s\n", (int)line.len, line.at);
	}
}

/* Splits "events/sched/sched_switch/filter". */
static bool split_event(const char *file, char system[128], char event[128])
{
	*event = '\0';
	return sscanf(file, "events/%127[^/]/%127[^/]/", system, event) >= 1;
}

static int find(const struct boot_difference *difference, void *data)
{
	struct found *found = data;
	char system[128], event[128];
	size_t len = strlen(difference->now);

	if (!split_event(difference->file, system, event))
		return 0;
	while (len && strchr(" \t\n", difference->now[len - 1]))
		len--;
	switch (difference->what) {
	case BOOT_SYSTEM:
		if (*difference->now == '1')
			found->ok &= buf_addf(&found->systems, "   %s\n", system);
		break;
	case BOOT_EVENT:
		if (*difference->now != '1')
			break;
		if (strcmp(found->system, system) != 0)
			found->ok &= buf_addf(&found->events, "    %s\n", system);
		memcpy(found->system, system, sizeof(system));
		found->ok &= buf_addf(&found->events, "        %s\n", event);
		break;
	case BOOT_FILTER:
		found->ok &= buf_addf(&found->filters, "  %s:%s \"%.*s\"\n", system, event, (int)len, difference->now);
		break;
	case BOOT_TRIGGER:
		found->ok &= buf_addf(&found->triggers, "  %s:%s \"%.*s\"\n", system, event, (int)len, difference->now);
		break;
	default:
		break;
	}
	return 0;
}

static void print_found(struct buf *text, const char *title)
{
	if (text->len)
		printf("%s%s", title, buf_str(text));
}

static int print_events(const struct instance *instance, struct fail *fail)
{
	struct found found = { .ok = true };
	cleanup_buf struct buf buf = BUF_INIT;
	const char *all = read_file(instance, "events/enable", &buf);
	int err = boot_each(instance, find, &found, fail);

	if (!err && !found.ok)
		err = fail_memory(fail);
	if (!err) {
		puts("\nEvents:");
		if (*all == '1')
			puts(" All enabled");
		else if (*all == '0')
			puts(" All disabled");
		else if (!found.systems.len && !found.events.len)
			puts("  (none enabled)");
		if (*all != '1' && *all != '0') {
			print_found(&found.systems, " Individual systems:\n");
			print_found(&found.events, " Individual events:\n");
		}
		print_found(&found.filters, "\nFilters:\n");
		print_found(&found.triggers, "\nTriggers:\n");
	}
	buf_release(&found.systems);
	buf_release(&found.events);
	buf_release(&found.filters);
	buf_release(&found.triggers);
	return err;
}

static void print_buffers(const struct instance *instance)
{
	cleanup_buf struct buf buf = BUF_INIT;
	const char *size = read_file(instance, "buffer_size_kb", &buf);

	/* A buffer that nobody used yet has no size of its own. */
	if (!*size || strstr(size, "expanded"))
		return;
	if (strcmp(size, "X") != 0) {
		printf("\nBuffer size in kilobytes (per cpu):\n   %s\n", size);
	} else {
		for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
			char file[64];

			snprintf(file, sizeof(file), "per_cpu/cpu%d/buffer_size_kb", cpu);
			size = read_file(instance, file, &buf);
			if (!*size)
				break;
			printf("%sCPU %d buffer size (kb): %s\n", cpu ? "" : "\n", cpu, size);
		}
	}
	printf("\nBuffer total size in kilobytes:\n   %s\n", read_file(instance, "buffer_total_size_kb", &buf));
	size = read_file(instance, "buffer_subbuf_size_kb", &buf);
	if (*size && strtol(size, NULL, 10) * 1024 != sysconf(_SC_PAGESIZE))
		printf("\nSub-buffer size in kilobytes:\n   %s\n", size);
}

static void print_clock(const struct instance *instance)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct text_word clock;

	if (text_chosen(read_file(instance, "trace_clock", &buf), &clock) && !text_word_is(clock, "local"))
		printf("\nClock: %.*s\n", (int)clock.len, clock.at);
}

/* Printed if a CPU that is there is missing in it. */
static void print_mask(const struct instance *instance)
{
	cleanup_buf struct buf buf = BUF_INIT;
	const char *text = read_file(instance, "tracing_cpumask", &buf);
	size_t digit = strlen(text);
	struct cpus online;

	if (!digit || tracing_online_cpus(&online, NULL))
		return;
	for (int cpu = 0, last = -1; digit && cpu < CPUS_MAX; cpu += 4) {
		unsigned bits;

		do
			digit--;
		while (digit && text[digit] == ',');
		bits = (unsigned)strtoul((char[2]){ text[digit], '\0' }, NULL, 16);
		for (int i = cpus_next(&online, last + 1); i >= 0 && i < cpu + 4; i = cpus_next(&online, last + 1)) {
			last = i;
			if (!(bits >> (i - cpu) & 1)) {
				printf("\nCPU mask: %s\n", text);
				return;
			}
		}
	}
}

static void print_options(const struct instance *instance)
{
	cleanup_buf struct buf buf = BUF_INIT;
	const char *text = read_file(instance, "trace_options", &buf);
	size_t left = strlen(text);
	struct text_word line;

	puts("\nOptions:");
	while (text_next_line(&text, &left, &line))
		printf("   %.*s\n", (int)line.len, line.at);
}

static int print_instance(const struct stat_command *command, const struct instance *instance, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	int err;

	print_file(instance, "current_tracer", "nop", "Tracer: ");
	err = print_events(instance, fail);
	if (err)
		return err;
	print_list(instance, "set_ftrace_filter", "Function Filter");
	print_list(instance, "set_ftrace_notrace", "Function No Trace");
	print_list(instance, "set_graph_function", "Function Graph Filter");
	print_list(instance, "set_graph_notrace", "Function Graph No Trace");
	print_buffers(instance);
	print_clock(instance);
	print_mask(instance);
	print_file(instance, "tracing_max_latency", "0", "Max Latency: ");
	print_list(instance, "kprobe_events", "Kprobe events");
	print_list(instance, "uprobe_events", "Uprobe events");
	print_list(instance, "synthetic_events", "Synthetic events");
	print_file(instance, "set_event_pid", "", "Filtered event PIDs:\n");
	print_file(instance, "set_event_notrace_pid", "", "Filtered notrace event PIDs:\n");
	print_file(instance, "set_ftrace_pid", "no pid", "Filtered function tracer PIDs:\n");
	print_file(instance, "set_ftrace_notrace_pid", "no pid", "Filtered function tracer notrace PIDs:\n");
	if (command->options)
		print_options(instance);
	printf("\nTracing is %s\n\n", strcmp(read_file(instance, "tracing_on", &buf), "0") ? "enabled" : "disabled");
	print_file(instance, "error_log", "", "Error log:\n");
	return 0;
}

static int print_name(const char *name, void *data)
{
	bool *titled = data;

	if (!*titled)
		puts("\nInstances:");
	*titled = true;
	printf(" %s\n", name);
	return 0;
}

static int print_named(const struct stat_command *command, const char *name, bool first, struct fail *fail)
{
	struct instance *instance;
	int err = instance_open(&command->kernel.tracing, name, false, NULL, &instance, fail);

	if (err)
		return err;
	printf("%sInstance: %s\n", first ? "" : "---------------\n", name);
	err = print_instance(command, instance, fail);
	instance_close(instance, NULL);
	return err;
}

static int print_all(struct stat_command *command, struct fail *fail)
{
	const struct instance top = instance_top(&command->kernel.tracing);
	bool titled = false;
	int err = 0;

	if (command->top || !command->nr) {
		err = print_instance(command, &top, fail);
		if (!err)
			err = instance_each(&command->kernel.tracing, print_name, &titled, fail);
	}
	for (size_t i = 0; !err && i < command->nr; i++)
		err = print_named(command, command->names[i], !i && !command->top, fail);
	return err;
}

int trace_cmd_stat(int argc, char **argv)
{
	struct stat_command command = { .nr = 0 };
	struct fail fail = FAIL_INIT;
	cleanup_buf struct buf buf = BUF_INIT;
	int err = parse(argc, argv, &command);

	if (err)
		return -err;
	err = kernel_find(&command.kernel, &fail);
	if (!err)
		err = print_all(&command, &fail);
	if (!err) {
		const struct instance top = instance_top(&command.kernel.tracing);

		if (!strcmp(read_file(&top, "/proc/sys/kernel/stack_tracer_enabled", &buf), "1"))
			puts("Stack tracing is enabled\n");
		err = command_flush(&fail);
	}
	kernel_close(&command.kernel);
	return err ? trace_cmd_failed(err, &fail) : EXIT_OK;
}
