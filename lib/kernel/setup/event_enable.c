// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/event_enable.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/setup/late.h"
#include "lib/kernel/tracefs/kconfig.h"
#include "lib/kernel/undo/change.h"

/* The refusals of the kernel: the text of the first one, and their number. */
struct refusals {
	int err;
	size_t nr;
	struct fail first;
};

static void refuse(struct refusals *refusals, int err, const struct fail *why)
{
	/* Keep the first refusal, but prefer any other reason to a missing field (-ENOENT), which says less. */
	if (!refusals->nr++ || (refusals->err == -ENOENT && err != -ENOENT)) {
		refusals->err = err;
		refusals->first = *why;
	}
}

static int refusals_end(const struct refusals *refusals, size_t of, struct fail *fail)
{
	if (!refusals->nr)
		return 0;
	if (of == 1)
		return fail_set(fail, refusals->err, "%s", refusals->first.text);
	return fail_set(fail, refusals->err, "%s\n  (refused for %zu of %zu events)", refusals->first.text,
			refusals->nr, of);
}

static void enable_one(const struct instance *instance, const struct catalog_event *event, bool on,
		       struct refusals *refusals)
{
	const struct instance top = instance_top(instance->tracing);
	cleanup_free char *file = NULL;
	struct fail why = FAIL_INIT;
	int err;

	if (asprintf(&file, "events/%s/%s/enable", event->system, event->name) < 0) {
		file = NULL;
		refuse(refusals, fail_memory(&why), &why);
		return;
	}
	err = instance_write(instance, file, on ? "1" : "0", &why);
	if (!err)
		return;
	if (!instance_has(instance, file) && instance_has(&top, file))
		fail_set(&why, err, "the instance '%s' was made without '%s:%s': name another one, or none",
			 instance->name, event->system, event->name);
	else
		fail_set(&why, err, "cannot %s '%s:%s': %s", on ? "enable" : "disable", event->system, event->name,
			 strerror(-err));
	refuse(refusals, err, &why);
}

static bool enable_system(const struct instance *instance, const char *system, bool on)
{
	cleanup_free char *file = NULL;

	if (asprintf(&file, "events/%s/enable", system) >= 0)
		return !instance_write(instance, file, on ? "1" : "0", NULL);
	file = NULL;
	return false;
}

/* Enables or disables the events of one system, from index `first` on. Returns the index after them. */
static size_t enable_group(const struct event_set *set, const struct instance *instance, size_t first, bool on,
			   struct refusals *refusals)
{
	const struct catalog_event *events = set->catalog->events;
	size_t end = first, wanted = 0;

	for (; end < set->catalog->nr && !strcmp(events[end].system, events[first].system); end++)
		wanted += set->has[end];
	if (!wanted)
		return end;
	/* If the kernel refuses a whole system, it does not name the event. So each event is then enabled alone. */
	if (wanted > 1 && wanted == end - first && enable_system(instance, events[first].system, on))
		return end;
	for (size_t i = first; i < end; i++)
		if (set->has[i])
			enable_one(instance, &events[i], on, refusals);
	return end;
}

/*
 * Journals the state of the events. set_event lists the enabled events, but also events that are only armed for a
 * trigger ("0*" in their `enable`). So set_event is journaled before a trigger of weft arms an event, and events that
 * are armed already are journaled one by one.
 */
static int remember_events(const struct event_set *set, struct instance *instance, struct fail *fail)
{
	int err;

	if (instance->kind == INSTANCE_PRIVATE)
		return 0;
	err = instance_remember(instance, "set_event", fail);
	for (size_t i = 0; !err && i < set->catalog->nr; i++) {
		const struct catalog_event *event = &set->catalog->events[i];
		cleanup_free char *file = NULL;
		char word[8];

		if (!set->has[i])
			continue;
		if (asprintf(&file, "events/%s/%s/enable", event->system, event->name) < 0) {
			file = NULL;
			return fail_memory(fail);
		}
		if (!instance_read_word(instance, file, word, sizeof(word), NULL) && !strcmp(word, "0*"))
			err = instance_remember(instance, file, fail);
	}
	return err;
}

int event_set_enable(const struct event_set *set, struct instance *instance, bool on, struct fail *fail)
{
	struct refusals refusals = { 0 };
	int err;

	if (!set->nr)
		return 0;
	err = remember_events(set, instance, fail);
	if (err)
		return err;
	for (size_t i = 0; i < set->catalog->nr;)
		i = enable_group(set, instance, i, on, &refusals);
	return refusals_end(&refusals, set->nr, fail);
}

/*
 * Adds a hint to the error if the kernel does not have this kind of trigger. A `trigger` file without triggers lists
 * the available kinds ("# traceon traceoff ..."). If the file has triggers, only a kind that no kernel has is reported.
 */
static void hint_at_triggers(const struct instance *instance, const char *file, const char *trigger, int err,
			     struct fail *why)
{
	static const char known[] =
		"traceon traceoff snapshot stacktrace enable_event disable_event enable_hist disable_hist hist";
	cleanup_buf struct buf buf = BUF_INIT;
	cleanup_free char *kind = strdup(trigger);
	char hint[KCONFIG_HINT_SIZE];
	struct text_word word;
	struct near near;
	const char *at;
	bool complete;

	if (!kind || instance_read(instance, file, &buf, NULL))
		return;
	kind[strcspn(kind, ": ")] = '\0';
	near = near_to(kind);
	complete = *buf_str(&buf) == '#';
	for (at = complete ? buf_str(&buf) : known; text_next_word(&at, "# \n", &word);) {
		char name[NEAR_NAME_SIZE];

		snprintf(name, sizeof(name), "%.*s", (int)word.len, word.at);
		if (!strcmp(name, kind))
			return;
		near_offer(&near, name);
	}
	if (kconfig_find(KCONFIG_TRIGGER, kind))
		fail_set(why, err, "this kernel has no trigger '%s'%s", kind,
			 kconfig_hint(KCONFIG_TRIGGER, kind, hint));
	else
		near_fail(&near, why, err, "this kernel has no trigger '%s'", kind);
}

/* How put_each() writes: a value, or a trigger, which is kept for later if `late` is not NULL. */
struct put {
	const char *name, *text;
	bool add;
	struct late *late;
};

static int put_one(const struct catalog_event *event, struct instance *instance, const struct put *put,
		   struct fail *why)
{
	cleanup_free char *file = NULL;
	int err;

	if (asprintf(&file, "events/%s/%s/%s", event->system, event->name, put->name) < 0) {
		file = NULL;
		return fail_memory(why);
	}
	if (put->late)
		err = late_try(put->late, instance, file, put->text, why);
	else if (put->add)
		err = instance_add(instance, file, put->text, why);
	else
		err = instance_set(instance, file, put->text, why);
	if (err == -EINVAL && put->add)
		hint_at_triggers(instance, file, put->text, err, why);
	if (err == -EEXIST && put->add && strncmp(put->text, "hist:", 5))
		fail_set(why, err, "'%s:%s' has a trigger of the kind of '%s' already, and can have only one",
			 event->system, event->name, put->text);
	return err;
}

/* Writes to the file of each event of the set. */
static int put_each(const struct event_set *set, struct instance *instance, const struct put *put, struct fail *fail)
{
	struct refusals refusals = { 0 };

	for (size_t i = 0; set->has && i < set->catalog->nr; i++) {
		struct fail why = FAIL_INIT;
		int err = set->has[i] ? put_one(&set->catalog->events[i], instance, put, &why) : 0;

		if (err)
			refuse(&refusals, err, &why);
	}
	return refusals_end(&refusals, set->nr, fail);
}

int event_set_filter(const struct event_set *set, struct instance *instance, const char *filter, struct fail *fail)
{
	return put_each(set, instance, &(struct put){ .name = "filter", .text = filter }, fail);
}

int event_set_filter_fitting(const struct event_set *set, struct instance *instance, const char *filter,
			     struct event_set *ret_left, struct fail *fail)
{
	struct event_set left = { .catalog = set->catalog, .has = calloc(set->catalog->nr + 1, 1) };
	struct refusals refusals = { 0 };

	if (!left.has)
		return fail_memory(fail);
	for (size_t i = 0; set->has && i < set->catalog->nr; i++) {
		struct fail why = FAIL_INIT;
		int err;

		if (!set->has[i])
			continue;
		err = put_one(&set->catalog->events[i], instance, &(struct put){ .name = "filter", .text = filter },
			      &why);
		if (!err)
			continue;
		if (err != -EINVAL && err != -ENOENT) {
			event_set_release(&left);
			return fail_set(fail, err, "%s", why.text);
		}
		refuse(&refusals, err, &why);
		left.has[i] = 1;
		left.nr++;
	}
	if (left.nr && left.nr == set->nr) {
		event_set_release(&left);
		return refusals_end(&refusals, set->nr, fail);
	}
	*ret_left = left;
	return 0;
}

size_t event_set_filtered(const struct event_set *set, const struct instance *instance)
{
	size_t nr = 0;

	for (size_t i = 0; set->has && i < set->catalog->nr; i++) {
		const struct catalog_event *event = &set->catalog->events[i];
		cleanup_buf struct buf file = BUF_INIT, text = BUF_INIT;

		nr += set->has[i] && buf_addf(&file, "events/%s/%s/filter", event->system, event->name) &&
		      !instance_read(instance, buf_str(&file), &text, NULL) && strncmp(buf_str(&text), "none", 4) != 0;
	}
	return nr;
}

int event_set_trigger(const struct event_set *set, struct instance *instance, const char *trigger, struct late *late,
		      struct fail *fail)
{
	const struct put put = { .name = "trigger", .text = trigger, .add = true, .late = late };
	int err = set->nr ? remember_events(set, instance, fail) : 0;

	return err ? err : put_each(set, instance, &put, fail);
}
