// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/event_select.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"

/* Splits "system:name\n" in place into two strings. False: the line does not have that form. */
static bool cut_line(char *line, struct catalog_event *ret)
{
	char *colon = strchr(line, ':');

	if (!colon || colon == line || !colon[1])
		return false;
	*colon = '\0';
	*ret = (struct catalog_event){ .system = line, .name = colon + 1 };
	return true;
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static int cut_lines(struct catalog *catalog)
{
	char *line = catalog->text, *newline;

	catalog->events = calloc(count_lines(catalog->text) + 1, sizeof(*catalog->events));
	if (!catalog->events)
		return -ENOMEM;
	for (; *line; line = newline + 1) {
		newline = strchr(line, '\n');
		if (!newline)
			break;
		*newline = '\0';
		if (cut_line(line, &catalog->events[catalog->nr]))
			catalog->nr++;
	}
	return 0;
}

int catalog_of(const char *lines, struct catalog **ret, struct fail *fail)
{
	struct catalog *catalog = calloc(1, sizeof(*catalog));

	if (!catalog)
		return fail_memory(fail);
	catalog->text = strdup(lines);
	if (!catalog->text || cut_lines(catalog)) {
		catalog_free(catalog);
		return fail_memory(fail);
	}
	*ret = catalog;
	return 0;
}

int catalog_new(const struct tracing *tracing, struct catalog **ret, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	cleanup_free char *path = NULL;
	int err;

	if (asprintf(&path, "%s/available_events", tracing->dir) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	err = tracing_read_path(path, &buf, fail);
	return err ? err : catalog_of(buf_str(&buf), ret, fail);
}

void catalog_free(struct catalog *catalog)
{
	if (!catalog)
		return;
	free(catalog->events);
	free(catalog->text);
	free(catalog);
}

void event_set_release(struct event_set *set)
{
	free(set->has);
	*set = (struct event_set){ 0 };
}

void event_set_subtract(struct event_set *set, const struct event_set *others)
{
	if (!set->has || set->catalog != others->catalog)
		return;
	for (size_t i = 0; i < set->catalog->nr; i++) {
		if (!set->has[i] || !event_set_has(others, i))
			continue;
		set->has[i] = 0;
		set->nr--;
	}
}

static size_t add_matches(struct event_set *set, const char *system, const char *name)
{
	const struct catalog *catalog = set->catalog;
	size_t matches = 0;

	for (size_t i = 0; i < catalog->nr; i++) {
		if (!text_glob(system, catalog->events[i].system) || !text_glob(name, catalog->events[i].name))
			continue;
		matches++;
		set->nr += !set->has[i];
		set->has[i] = 1;
	}
	return matches;
}

/*
 * Reports an unknown event with similar names. A bare word is compared with the names of systems and of events,
 * anything else with "system:event".
 */
static int not_found(const struct catalog *catalog, const char *pattern, bool bare, struct fail *fail)
{
	struct near near = near_to(pattern);
	char full[NEAR_NAME_SIZE];

	if (text_is_glob(pattern))
		return fail_set(fail, -ENOENT, "no event matches '%s'", pattern);
	for (size_t i = 0; i < catalog->nr; i++) {
		const struct catalog_event *event = &catalog->events[i];

		snprintf(full, sizeof(full), "%s:%s", event->system, event->name);
		if (bare && (!i || strcmp(event->system, event[-1].system)))
			near_offer(&near, event->system);
		near_offer_as(&near, bare ? event->name : full, full);
		/* Users know a system call by its own name, so that name is also compared. */
		if (bare && !strcmp(event->system, "syscalls") && !strncmp(event->name, "sys_enter_", 10))
			near_offer_as(&near, event->name + 10, full);
	}
	return near_fail(&near, fail, -ENOENT, "no event '%s'%s", pattern,
			 near.found ? "" : "; 'weft list events' lists them");
}

static int use_catalog(struct event_set *set, const struct catalog *catalog, struct fail *fail)
{
	if (set->has)
		return 0;
	set->has = calloc(catalog->nr + 1, 1);
	if (!set->has)
		return fail_memory(fail);
	set->catalog = catalog;
	return 0;
}

static int add_pattern(struct event_set *set, const char *pattern, struct fail *fail)
{
	const struct catalog *catalog = set->catalog;
	cleanup_free char *system = strdup(pattern);
	size_t matches;
	char *name;

	if (!system)
		return fail_memory(fail);
	name = strpbrk(system, ":/");
	if (!strcmp(pattern, "all"))
		matches = add_matches(set, "*", "*");
	else if (!name) {
		matches = add_matches(set, pattern, "*");
		if (!matches)
			matches = add_matches(set, "*", pattern);
	} else {
		*name++ = '\0';
		matches = add_matches(set, *system ? system : "*", *name ? name : "*");
		/* The message shows "system:event", the form that weft prints, also for "system/event". */
		if (!matches)
			name[-1] = ':';
	}
	return matches ? 0 : not_found(catalog, name ? system : pattern, !name, fail);
}

int event_set_add(struct event_set *set, const struct catalog *catalog, const char *pattern, struct fail *fail)
{
	struct text_word word;
	int err = use_catalog(set, catalog, fail);

	if (!err && !pattern[strspn(pattern, ",")])
		return fail_set(fail, -ENOENT, "an event without a name");
	while (!err && text_next_word(&pattern, ",", &word)) {
		cleanup_free char *part = strndup(word.at, word.len);

		err = part ? add_pattern(set, part, fail) : fail_memory(fail);
	}
	return err;
}

int event_set_union(struct event_set *set, const struct event_set *others, struct fail *fail)
{
	int err = others->has ? use_catalog(set, others->catalog, fail) : 0;

	for (size_t i = 0; !err && others->has && i < others->catalog->nr; i++) {
		set->nr += !set->has[i] && others->has[i];
		set->has[i] |= others->has[i];
	}
	return err;
}

/*
 * An instance that a module made may have the events of some systems only (trace_array_get_by_name(), Linux 6.8). The
 * formats are the same in all instances, and the top one has those of all systems.
 */
static struct instance with_file(const struct instance *instance, const char *file)
{
	struct instance top = instance_top(instance->tracing);

	return !instance_has(instance, file) && instance_has(&top, file) ? top : *instance;
}

int event_format(const struct instance *instance, const char *system, const char *name, struct buf *buf,
		 struct fail *fail)
{
	cleanup_free char *file = NULL;
	struct instance from;

	if (asprintf(&file, "events/%s/%s/format", system, name) < 0) {
		file = NULL;
		return fail_memory(fail);
	}
	from = with_file(instance, file);
	return instance_read(&from, file, buf, fail);
}

int event_each_ftrace(const struct instance *instance, int (*each)(const char *name, void *data), void *data,
		      struct fail *fail)
{
	const struct instance from = with_file(instance, "events/ftrace");
	cleanup_free char *path = NULL, *file = NULL;
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	if (asprintf(&path, "%s/events/ftrace", from.dir) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	dir = opendir(path);
	if (!dir)
		return tracing_refused(path, -errno, "open", fail);
	while (!err && (entry = readdir(dir))) {
		free(take(file));
		if (entry->d_name[0] == '.' || asprintf(&file, "events/ftrace/%s/format", entry->d_name) < 0) {
			file = NULL;
			continue;
		}
		if (instance_has(&from, file))
			err = each(entry->d_name, data);
	}
	closedir(dir);
	return err;
}
