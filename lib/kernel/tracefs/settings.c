// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"

void settings_release(struct settings *settings)
{
	for (size_t i = 0; i < settings->nr; i++) {
		free(settings->items[i].name);
		free(settings->items[i].text);
	}
	free(settings->items);
	*settings = (struct settings){ 0 };
}

const struct setting *settings_find(const struct settings *settings, const char *name)
{
	for (size_t i = 0; i < settings->nr; i++)
		if (!strcmp(settings->items[i].name, name))
			return &settings->items[i];
	return NULL;
}

static struct setting *new_item(struct settings *settings, const char *name)
{
	struct setting *item = vec_push(settings->items, settings->nr);

	if (!item)
		return NULL;
	item->name = strdup(name);
	if (item->name)
		return item;
	settings->nr--;
	return NULL;
}

int settings_put(struct settings *settings, const char *name, const char *text, size_t len, struct fail *fail)
{
	struct setting *item = (struct setting *)settings_find(settings, name);
	char *copy = malloc(len + 1);

	if (copy && !item)
		item = new_item(settings, name);
	if (!copy || !item) {
		free(copy);
		return fail_memory(fail);
	}
	memcpy(copy, text, len);
	copy[len] = '\0';
	free(item->text);
	item->text = copy;
	item->len = len;
	return 0;
}

int settings_put_file(struct settings *settings, const char *name, const char *path, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	int err = tracing_read_path(path, &buf, NULL);

	if (err == -ENOMEM)
		return fail_memory(fail);
	return err ? 0 : settings_put(settings, name, buf_str(&buf), buf.len, fail);
}

static int put_files(struct settings *settings, const char *dir, const char *const *names, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; names[i] && !err; i++) {
		cleanup_free char *path = NULL;

		if (asprintf(&path, "%s/%s", dir, names[i]) < 0) {
			path = NULL;
			return fail_memory(fail);
		}
		err = settings_put_file(settings, names[i], path, fail);
	}
	return err;
}

/* Adds "SYSTEM:EVENT FILTER" for an event that has a filter. */
static int add_filter(struct buf *buf, const char *dir, struct text_word event, struct fail *fail)
{
	const char *colon = memchr(event.at, ':', event.len);
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *path = NULL;
	int err;

	if (!colon)
		return 0;
	if (asprintf(&path, "%s/events/%.*s/%.*s/filter", dir, (int)(colon - event.at), event.at,
		     (int)(event.at + event.len - colon - 1), colon + 1) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	err = tracing_read_path(path, &text, NULL);
	if (err)
		return err == -ENOMEM ? fail_memory(fail) : 0;
	if (!strcmp(buf_str(&text), "none\n") || !text.len)
		return 0;
	return buf_addf(buf, "%.*s %.*s\n", (int)event.len, event.at, (int)strcspn(buf_str(&text), "\n"),
			buf_str(&text)) ?
		       0 :
		       fail_memory(fail);
}

static int put_filters(struct settings *settings, const char *dir, struct fail *fail)
{
	const struct setting *enabled = settings_find(settings, "set_event");
	const char *at = enabled ? enabled->text : NULL;
	cleanup_buf struct buf buf = BUF_INIT;
	struct text_word event;
	int err = 0;

	while (!err && at && text_next_word(&at, "\n", &event))
		err = add_filter(&buf, dir, event, fail);
	return err || !buf.len ? err : settings_put(settings, "weft/filters", buf_str(&buf), buf.len, fail);
}

const char *const settings_of_instance[] = {
	"trace_options",
	"current_tracer",
	"trace_clock",
	"timestamp_mode",
	"tracing_thresh",
	"tracing_max_latency",
	"tracing_cpumask",
	"buffer_size_kb",
	"buffer_total_size_kb",
	"buffer_subbuf_size_kb",
	"buffer_percent",
	"max_graph_depth",
	"set_event",
	"set_event_pid",
	"set_event_notrace_pid",
	"set_ftrace_pid",
	"set_ftrace_notrace_pid",
	"set_ftrace_filter",
	"set_ftrace_notrace",
	"set_graph_function",
	"set_graph_notrace",
	"available_tracers",
	"last_boot_info",
	NULL,
};

int settings_read_instance(struct settings *settings, const struct instance *instance, struct fail *fail)
{
	int err = put_files(settings, instance->dir, settings_of_instance, fail);

	return err ? err : put_filters(settings, instance->dir, fail);
}

/* The resolution of the coarse clock is one tick, 1 / HZ. */
static int put_hz(struct settings *settings, struct fail *fail)
{
	struct timespec tick;
	char text[24];
	long hz;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || !tick.tv_nsec)
		return 0;
	hz = (NS_PER_S + tick.tv_nsec / 2) / tick.tv_nsec;
	snprintf(text, sizeof(text), "%ld\n", hz);
	return settings_put(settings, "weft/hz", text, strlen(text), fail);
}

static int put_uname(struct settings *settings, struct fail *fail)
{
	struct utsname name;
	cleanup_buf struct buf buf = BUF_INIT;

	if (uname(&name))
		return fail_set(fail, -errno, "uname: %s", strerror(errno));
	if (!buf_addf(&buf, "%s %s %s %s\n", name.sysname, name.release, name.version, name.machine))
		return fail_memory(fail);
	return settings_put(settings, "weft/uname", buf_str(&buf), buf.len, fail);
}

const char *const settings_of_kernel[] = {
	"saved_cmdlines", "saved_cmdlines_size", "saved_tgids", "printk_formats", "eval_map", "dynamic_events", NULL,
};

const struct settings_path settings_elsewhere[] = {
	{ "weft/modules", "/proc/modules" },
	{ "weft/kptr_restrict", "/proc/sys/kernel/kptr_restrict" },
	{ "weft/sched_preempt", "/sys/kernel/debug/sched/preempt" },
	{ "weft/online", "/sys/devices/system/cpu/online" },
	{ NULL, NULL },
};

int settings_read_kernel(struct settings *settings, const struct tracing *tracing, struct fail *fail)
{
	int err = put_files(settings, tracing->dir, settings_of_kernel, fail);

	for (const struct settings_path *at = settings_elsewhere; !err && at->name; at++)
		err = settings_put_file(settings, at->name, at->path, fail);
	if (!err)
		err = put_hz(settings, fail);
	return err ? err : put_uname(settings, fail);
}

int settings_kallsyms(struct buf *buf, bool *ret_hidden, struct fail *fail)
{
	size_t start = buf->len;
	int err = tracing_read_path("/proc/kallsyms", buf, fail);
	const char *at;

	if (err)
		return err;
	/*
	 * Whether the addresses are hidden, that is, all zeros. Per-CPU symbols have the address 0 in any case, so one
	 * other digit in any line shows that the addresses are visible.
	 */
	buf_str(buf);
	*ret_hidden = true;
	for (at = buf->data + start; at && at < buf->data + buf->len && *ret_hidden;) {
		const char *newline;

		for (; isxdigit((unsigned char)*at); at++)
			if (*at != '0')
				*ret_hidden = false;
		newline = memchr(at, '\n', (size_t)(buf->data + buf->len - at));
		at = newline ? newline + 1 : NULL;
	}
	return 0;
}

bool settings_symbol(const struct buf *kallsyms, const char *module, const char *name, uint64_t *ret)
{
	const char *start = kallsyms->len ? kallsyms->data : "", *at = start, *end = start + kallsyms->len;
	size_t len = strlen(name), module_len = module ? strlen(module) : 0;

	/* A line is "ffffffff81000000 T name\t[module]". */
	for (; (at = memmem(at, (size_t)(end - at), name, len)); at += len) {
		const char *behind = at + len, *line = at;

		if (at == start || at[-1] != ' ' || (behind < end && *behind != '\n' && *behind != '\t'))
			continue;
		if (module && ((size_t)(end - behind) < module_len + 3 || memcmp(behind, "\t[", 2) != 0 ||
			       memcmp(behind + 2, module, module_len) != 0 || behind[2 + module_len] != ']'))
			continue;
		while (line > start && line[-1] != '\n')
			line--;
		*ret = strtoull(line, NULL, 16);
		return true;
	}
	return false;
}
