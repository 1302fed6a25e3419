// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/texts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"

static int put(struct settings *settings, const char *dir, const char *name, struct fail *fail)
{
	cleanup_free char *path = NULL;

	if (asprintf(&path, "%s/%s", dir, name) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	return settings_put_file(settings, name, path, fail);
}

/*
 * Whether the text of a `trigger` file has a histogram. Without triggers, it has comments that list the available
 * kinds.
 */
static bool has_hist(const char *triggers)
{
	return !strncmp(triggers, "hist:", 5) || strstr(triggers, "\nhist:");
}

static int put_hist(struct settings *settings, const struct instance *instance, const struct catalog_event *event,
		    struct fail *fail)
{
	cleanup_free char *trigger = NULL, *hist = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	int err;

	if (asprintf(&trigger, "events/%s/%s/trigger", event->system, event->name) < 0) {
		trigger = NULL;
		return fail_memory(fail);
	}
	err = instance_read(instance, trigger, &text, NULL);
	if (err == -ENOMEM)
		return fail_memory(fail);
	if (err || !has_hist(buf_str(&text)))
		return 0;
	if (asprintf(&hist, "events/%s/%s/hist", event->system, event->name) < 0) {
		hist = NULL;
		return fail_memory(fail);
	}
	err = settings_put(settings, trigger, buf_str(&text), text.len, fail);
	return err ? err : put(settings, instance->dir, hist, fail);
}

int texts_of_hists(struct settings *settings, const struct instance *instance, const struct event_set *events,
		   struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && events->catalog && i < events->catalog->nr; i++)
		if (event_set_has(events, i))
			err = put_hist(settings, instance, &events->catalog->events[i], fail);
	return err;
}

static int put_stats(struct settings *settings, const struct tracing *tracing, struct fail *fail)
{
	cleanup_free char *path = NULL;
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	if (asprintf(&path, "%s/trace_stat", tracing->dir) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	dir = opendir(path);
	while (dir && !err && (entry = readdir(dir))) {
		char name[sizeof(entry->d_name) + 16];

		if (*entry->d_name == '.')
			continue;
		snprintf(name, sizeof(name), "trace_stat/%s", entry->d_name);
		err = put(settings, tracing->dir, name, fail);
	}
	if (dir)
		closedir(dir);
	return err;
}

int texts_of_kernel(struct settings *settings, const struct tracing *tracing, unsigned which, struct fail *fail)
{
	static const char *const stack[] = { "stack_trace", "stack_max_size", "stack_trace_filter" };
	int err = 0;

	for (size_t i = 0; !err && which & TEXTS_STACK && i < array_size(stack); i++)
		err = put(settings, tracing->dir, stack[i], fail);
	if (!err && which & TEXTS_STAT)
		err = put_stats(settings, tracing, fail);
	return err;
}
