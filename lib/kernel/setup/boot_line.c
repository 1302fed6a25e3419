// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/boot_line.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/probe/probe_define.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/tracefs/instance.h"

enum { TRIGGERS_MAX = 32 }; /* MAX_BOOT_TRIGGERS of kernel/trace/trace_events.c */

struct line {
	const struct setup *setup;
	const struct tracing *tracing;
	struct buf *out;
	struct fail *fail;
};

/*
 * Checks one item of a list on the kernel's command line. It must not contain a separator, because there is no escape.
 */
static int check_item(const struct line *line, const char *item, const char *separators)
{
	if (!*item || item[strcspn(item, separators)] || item[strcspn(item, "\"\n\t")])
		return fail_set(line->fail, -EOPNOTSUPP,
				"'%.200s' cannot be written on the kernel's command line, which has no escapes for %s, "
				"quotes and tabs",
				item, separators);
	return 0;
}

static int add_parameter(const struct line *line, const char *name, struct buf *value)
{
	const char *text = buf_str(value);
	const char *quote = strchr(text, ' ') ? "\"" : "";

	if (!value->len)
		return 0;
	return buf_addf(line->out, "%s%s=%s%s%s", line->out->len ? " " : "", name, quote, text, quote) ?
		       0 :
		       fail_memory(line->fail);
}

static int add_item(const struct line *line, struct buf *value, const char *item)
{
	int err = check_item(line, item, ",");

	if (err)
		return err;
	return buf_addf(value, "%s%s", value->len ? "," : "", item) ? 0 : fail_memory(line->fail);
}

static int add_word(const struct line *line, const char *name, const char *word)
{
	cleanup_buf struct buf value = BUF_INIT;
	int err = word ? add_item(line, &value, word) : 0;

	return err ? err : add_parameter(line, name, &value);
}

static int add_number(const struct line *line, const char *name, uint64_t number, const char *unit)
{
	if (!number)
		return 0;
	return buf_addf(line->out, "%s%s=%" PRIu64 "%s", line->out->len ? " " : "", name, number, unit) ?
		       0 :
		       fail_memory(line->fail);
}

static int add_list(const struct line *line, const char *name, const struct setup_list *list)
{
	cleanup_buf struct buf value = BUF_INIT;
	int err = 0;

	for (size_t i = 0; !err && i < list->nr; i++)
		err = add_item(line, &value, list->items[i]);
	return err ? err : add_parameter(line, name, &value);
}

/* --- events --- */

/* At boot the kernel compares whole names: "system:event", "system" or "event". "*" means all. */
static int add_one_event(const struct line *line, struct buf *value, const char *pattern)
{
	cleanup_free char *text = strdup(!strcmp(pattern, "all") ? "*:*" : pattern);
	size_t len = text ? strlen(text) : 0;
	char *slash;

	if (!text)
		return fail_memory(line->fail);
	slash = strchr(text, '/');
	if (slash && !strchr(text, ':'))
		*slash = ':';
	if (len > 1 && text[len - 1] == ':' && *text != ':')
		text[len - 1] = '\0';
	if (len > 2 && !strcmp(text + len - 2, ":*") && strcmp(text, "*:*"))
		text[len - 2] = '\0';
	if (strcmp(text, "*:*") && text_is_glob(text))
		return fail_set(line->fail, -EOPNOTSUPP,
				"'%s': the kernel's command line has no globs; name the events, or their system",
				pattern);
	return add_item(line, value, text);
}

/* Adds the events of one -e, which may be a list. */
static int add_event(const struct line *line, struct buf *value, const char *pattern)
{
	struct text_word word;
	int err = pattern[strspn(pattern, ",")] ? 0 : add_item(line, value, pattern);

	while (!err && text_next_word(&pattern, ",", &word)) {
		cleanup_free char *one = strndup(word.at, word.len);

		err = one ? add_one_event(line, value, one) : fail_memory(line->fail);
	}
	return err;
}

static int add_trigger(const struct line *line, struct buf *value, const char *pattern, const char *trigger,
		       unsigned *nr)
{
	const char *colon = strpbrk(pattern, ":/"), *name = colon ? colon + 1 : pattern;
	cleanup_free char *item = NULL;

	if (!colon || !*name || text_is_glob(name) || strchr(name, ','))
		return fail_set(
			line->fail, -EOPNOTSUPP,
			"-R %s: on the kernel's command line a trigger is for one event: SYSTEM:EVENT, not '%s'",
			trigger, pattern);
	if (++*nr > TRIGGERS_MAX)
		return fail_set(line->fail, -EOPNOTSUPP,
				"more than %d triggers: the kernel's command line takes no more", TRIGGERS_MAX);
	if (strchr(trigger, ','))
		return fail_set(line->fail, -EOPNOTSUPP, "-R %s: a comma ends a trigger on the kernel's command line",
				trigger);
	if (asprintf(&item, "%s.%s", name, trigger) < 0) {
		item = NULL;
		return fail_memory(line->fail);
	}
	return add_item(line, value, item);
}

static int add_probe(const struct line *line, struct buf *value, const char *definition)
{
	struct instance top = instance_top(line->tracing);
	cleanup_buf struct buf text = BUF_INIT;
	struct probe probe;
	char *at;
	int err = probe_define(&top, definition, false, &probe, line->fail);

	if (err)
		return fail_in(line->fail, err, "--probe '%.200s'", definition);
	if (probe.kind != PROBE_KPROBE && probe.kind != PROBE_KRETPROBE)
		err = fail_set(
			line->fail, -EOPNOTSUPP,
			"--probe '%.200s': the kernel's command line takes probes in the kernel's functions only, "
			"not a %s",
			definition, probe_kind_name(probe.kind));
	else if (!probe_print(&probe, &text))
		err = fail_memory(line->fail);
	probe_release(&probe);
	if (!err)
		err = check_item(line, buf_str(&text), ",;");
	if (err)
		return err;
	for (at = text.data; (at = strchr(at, ' '));)
		*at = ',';
	return buf_addf(value, "%s%s", value->len ? ";" : "", buf_str(&text)) ? 0 : fail_memory(line->fail);
}

static int add_events(const struct line *line, const struct setup_instance *wanted)
{
	cleanup_buf struct buf events = BUF_INIT, triggers = BUF_INIT, probes = BUF_INIT;
	unsigned nr = 0;
	int err = 0;

	for (size_t i = 0; !err && i < wanted->nr_events; i++) {
		const struct setup_event *event = &wanted->events[i];

		err = event->probe ? add_probe(line, &probes, event->probe) : add_event(line, &events, event->pattern);
		for (size_t j = 0; !err && j < event->triggers.nr; j++)
			err = add_trigger(line, &triggers, event->pattern, event->triggers.items[j], &nr);
	}
	/* The kernel enables the probes of its command line when it makes them. */
	if (!err)
		err = add_parameter(line, "kprobe_event", &probes);
	if (!err)
		err = add_parameter(line, "trace_event", &events);
	return err ? err : add_parameter(line, "trace_trigger", &triggers);
}

/* --- instances --- */

/* Refuses files for which the kernel has no boot parameter. */
static int check_files(const struct line *line, const struct setup_instance *wanted)
{
	for (size_t i = 0; i < wanted->nr_files; i++)
		if (strcmp(wanted->files[i].file, "tracing_thresh"))
			return fail_set(line->fail, -EOPNOTSUPP, "%s cannot be set on the kernel's command line",
					wanted->files[i].file);
	return 0;
}

static int add_options(const struct line *line, const struct setup_instance *wanted)
{
	cleanup_buf struct buf value = BUF_INIT;
	int err = 0;

	for (size_t i = 0; !err && i < wanted->options.nr; i++)
		err = add_item(line, &value, wanted->options.items[i]);
	if (!err && wanted->stacks)
		err = add_item(line, &value, "stacktrace");
	if (!err && wanted->function_stacks)
		err = add_item(line, &value, "func_stack_trace");
	return err ? err : add_parameter(line, "trace_options", &value);
}

static int add_top(const struct line *line, const struct setup_instance *top)
{
	bool kilo = !(top->size % 1024);
	int err = add_number(line, "trace_buf_size", kilo ? top->size / 1024 : top->size, kilo ? "K" : "");

	if (!err)
		err = add_word(line, "trace_clock", top->clock);
	if (!err)
		err = add_options(line, top);
	if (!err)
		err = add_list(line, "ftrace_filter", &top->functions);
	if (!err)
		err = add_list(line, "ftrace_notrace", &top->notrace);
	if (!err)
		err = add_list(line, "ftrace_graph_filter", &top->graph);
	if (!err)
		err = add_list(line, "ftrace_graph_notrace", &top->graph_notrace);
	if (!err)
		err = add_number(line, "ftrace_graph_max_depth", top->graph_depth, "");
	if (!err)
		err = add_word(line, "ftrace", top->tracer);
	return err ? err : add_events(line, top);
}

static int add_instance(const struct line *line, const struct setup_instance *wanted)
{
	cleanup_buf struct buf value = BUF_INIT;
	int err = check_item(line, wanted->name, ",^@= ");

	if (!err)
		err = add_item(line, &value, wanted->name);
	for (size_t i = 0; !err && i < wanted->nr_events; i++)
		err = add_event(line, &value, wanted->events[i].pattern);
	return err ? err : add_parameter(line, "trace_instance", &value);
}

int boot_line(const struct setup *setup, const struct tracing *tracing, struct buf *ret, struct fail *fail)
{
	const struct line line = { setup, tracing, ret, fail };
	int err = 0;

	for (size_t i = 0; !err && i < setup->nr_instances; i++)
		err = check_files(&line, &setup->instances[i]);
	for (size_t i = 0; !err && i < setup->nr_instances; i++)
		for (size_t j = 0; !err && j < setup->instances[i].nr_files; j++)
			err = add_number(&line, "tracing_thresh", setup->instances[i].files[j].number, "");
	if (!err)
		err = add_top(&line, &setup->instances[0]);
	for (size_t i = 1; !err && i < setup->nr_instances; i++)
		err = add_instance(&line, &setup->instances[i]);
	return err;
}

int boot_line_stack_tracer(const char *functions, struct buf *ret, struct fail *fail)
{
	const struct line line = { .out = ret, .fail = fail };
	cleanup_buf struct buf names = BUF_INIT;
	struct text_word word;
	int err = 0;

	while (!err && text_next_word(&functions, ",", &word)) {
		cleanup_free char *one = strndup(word.at, word.len);

		err = one ? check_item(&line, one, ", ") : fail_memory(fail);
		if (!err)
			err = add_item(&line, &names, one);
	}
	if (!err && names.len)
		return add_parameter(&line, "stacktrace_filter", &names);
	if (!err && !buf_addf(ret, "%sstacktrace", ret->len ? " " : ""))
		err = fail_memory(fail);
	return err;
}

bool boot_line_hangs(const struct setup *setup, const char *release, const char *version)
{
	const struct setup_instance *top = &setup->instances[0];

	if (strncmp(release, "7.", 2) || release[2] < '0' || release[2] > '3' ||
	    (release[3] >= '0' && release[3] <= '9') || !strstr(version, "PREEMPT_RT"))
		return false;
	for (size_t i = 0; i < top->nr_events; i++)
		if (!top->events[i].probe && !top->events[i].triggers.nr)
			return true;
	return false;
}
