// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/measure/hist.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/measure/hist_internal.h"
#include "lib/measure/hist_text.h"
#include "lib/tracefs/event_fields.h"
#include "lib/tracefs/event_select.h"
#include "lib/tracefs/instance.h"
#include "lib/undo/change.h"
#include "lib/undo/undo.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int hist_find_event(const struct instance *instance, const char *pattern, struct hist_event *ret, struct fail *fail)
{
	struct catalog *catalog = NULL;
	struct event_set set = { .nr = 0 };
	int err = catalog_new(instance->tracing, &catalog, fail);

	if (!err)
		err = event_set_add(&set, catalog, pattern, fail);
	if (!err && set.nr != 1)
		err = fail_set(fail, -EINVAL, "'%s' matches %zu events, but a histogram counts only one event", pattern,
			       set.nr);
	for (size_t i = 0; !err && i < catalog->nr; i++) {
		if (!event_set_has(&set, i))
			continue;
		if (strlen(catalog->events[i].system) >= HIST_NAME_SIZE ||
		    strlen(catalog->events[i].name) >= HIST_NAME_SIZE)
			err = fail_set(fail, -EINVAL, "the name of '%s' is too long", pattern);
		snprintf(ret->system, sizeof(ret->system), "%s", catalog->events[i].system);
		snprintf(ret->event, sizeof(ret->event), "%s", catalog->events[i].name);
	}
	event_set_release(&set);
	catalog_free(catalog);
	return err;
}

int hist_set_trigger(struct instance *instance, struct undo *undo, const struct hist_event *event, const char *trigger,
		     struct fail *fail)
{
	cleanup_free char *file = NULL;
	int err;

	if (asprintf(&file, "events/%s/%s/trigger", event->system, event->event) < 0) {
		file = NULL;
		return fail_memory(fail);
	}
	err = undo_remember(undo, instance->name, file, fail);
	/* The kernel changes the clock of an instance whose triggers use times (event_hist_trigger_parse()). */
	if (!err && strstr(trigger, "common_timestamp") && instance->kind != INSTANCE_PRIVATE)
		err = undo_remember(undo, instance->name, "trace_clock", fail);
	return err ? err : instance_append(instance, file, trigger, fail);
}

/* "execname" and "stacktrace" are short forms. */
static bool add_key(struct buf *buf, const struct instance *instance, struct text_word key)
{
	if (text_word_is(key, "execname"))
		return buf_add_str(buf, "common_pid.execname");
	if (text_word_is(key, "stacktrace") || text_word_is(key, "common_stacktrace")) {
		const struct instance top = instance_top(instance->tracing);
		cleanup_buf struct buf readme = BUF_INIT;
		bool new_name =
			!instance_read(&top, "README", &readme, NULL) && strstr(buf_str(&readme), "common_stacktrace");

		return buf_add_str(buf, new_name ? "common_stacktrace" : "stacktrace");
	}
	return buf_add(buf, key.at, key.len);
}

bool hist_add_keys(struct buf *buf, const struct instance *instance, const char *keys)
{
	struct text_word key;
	bool ok = true;

	for (unsigned nr = 0; ok && text_next_word(&keys, ", ", &key); nr++)
		ok = (!nr || buf_add_str(buf, ",")) && add_key(buf, instance, key);
	return ok;
}

static bool has_steps(struct text_word key)
{
	return memmem(key.at, key.len, ".log2", 5) || memmem(key.at, key.len, ".bucket", 7);
}

static bool add_name(struct buf *buf, struct text_word key)
{
	const char *dot = memchr(key.at, '.', key.len);

	return buf_add(buf, key.at, dot ? (size_t)(dot - key.at) : key.len);
}

/*
 * Appends the sort keys, of which the kernel takes two at most. The default is by steps (log2, buckets) if the
 * histogram has some, otherwise by the most hits.
 */
bool hist_add_sort(struct buf *buf, const char *keys, const char *sort)
{
	struct text_word key, first = { .len = 0 }, steps = { .len = 0 };

	if (sort)
		return buf_addf(buf, ":sort=%s", sort);
	while (text_next_word(&keys, ",", &key)) {
		if (!first.len)
			first = key;
		if (has_steps(key))
			steps = key;
	}
	if (!steps.len)
		return buf_add_str(buf, ":sort=hitcount.descending");
	return buf_add_str(buf, ":sort=") && add_name(buf, first) &&
	       (first.at == steps.at || (buf_add_str(buf, ",") && add_name(buf, steps)));
}

/* Returns the trigger without "[active]". */
static struct text_word without_state(struct text_word trigger)
{
	const char *state = memrchr(trigger.at, '[', trigger.len);

	if (state)
		trigger.len = (size_t)(state - trigger.at);
	return trigger;
}

/* Finds the histogram of the event that was not there before. */
static int find_ours(const struct instance *instance, const char *before, struct hist *hist, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	int err = hist_read(instance, hist, &text, fail), more = 0;
	const char *at = buf_str(&text);
	struct hist_text one;

	*hist->trigger = '\0';
	while (!err && (more = hist_text_next(&at, &one, fail)) > 0) {
		struct text_word trigger = without_state(one.trigger);

		if (trigger.len < sizeof(hist->trigger) && !memmem(before, strlen(before), trigger.at, trigger.len)) {
			memcpy(hist->trigger, trigger.at, trigger.len);
			hist->trigger[trigger.len] = '\0';
		}
		hist_text_release(&one);
	}
	return err ? err : more;
}

int hist_find(const struct hist *hist, const char *text, struct hist_text *ret, struct fail *fail)
{
	int more;

	while ((more = hist_text_next(&text, ret, fail)) > 0) {
		if (!*hist->trigger || text_word_is(without_state(ret->trigger), hist->trigger))
			return 0;
		hist_text_release(ret);
	}
	return more ? more : fail_set(fail, -EBADMSG, "the histogram no longer exists: another process removed it");
}

int hist_set_of(struct instance *instance, struct undo *undo, const struct hist_event *event, const char *keys,
		const struct hist_wanted *wanted, struct hist *ret, struct fail *fail)
{
	cleanup_buf struct buf trigger = BUF_INIT, known = BUF_INIT, before = BUF_INIT;
	bool ok = hist_add_keys(&known, instance, keys) && buf_addf(&trigger, "hist:keys=%s", buf_str(&known));
	struct hist hist = { .trigger = "" };
	int err;

	if (wanted->values)
		ok = ok && buf_addf(&trigger, ":vals=%s", wanted->values);
	ok = ok && hist_add_sort(&trigger, buf_str(&known), wanted->sort);
	if (wanted->size)
		ok = ok && buf_addf(&trigger, ":size=%u", wanted->size);
	if (wanted->filter)
		ok = ok && buf_addf(&trigger, " if %s", wanted->filter);
	if (!ok)
		return fail_memory(fail);
	memcpy(hist.system, event->system, sizeof(hist.system));
	memcpy(hist.event, event->event, sizeof(hist.event));
	err = hist_read(instance, &hist, &before, fail);
	if (!err)
		err = hist_set_trigger(instance, undo, event, buf_str(&trigger), fail);
	if (!err)
		err = find_ours(instance, buf_str(&before), &hist, fail);
	if (!err)
		*ret = hist;
	return err;
}

int hist_check_kernel(const struct instance *instance, const struct hist_event *event, struct fail *fail)
{
	cleanup_free char *file = NULL;

	if (asprintf(&file, "events/%s/%s/hist", event->system, event->event) < 0) {
		file = NULL;
		return fail_memory(fail);
	}
	if (!instance_has(instance, file))
		return fail_set(fail, -EOPNOTSUPP,
				"this kernel has no histograms: it was built without CONFIG_HIST_TRIGGERS");
	return 0;
}

int hist_set(struct instance *instance, struct instance *top, struct undo *undo, const struct hist_wanted *wanted,
	     struct hist *ret, struct fail *fail)
{
	struct hist_event event;
	int err;

	if (wanted->second)
		return hist_set_latency(instance, top, undo, wanted, ret, fail);
	err = hist_find_event(instance, wanted->event, &event, fail);
	if (!err)
		err = hist_check_kernel(instance, &event, fail);
	return err ? err : hist_set_of(instance, undo, &event, wanted->keys, wanted, ret, fail);
}

int hist_read(const struct instance *instance, const struct hist *hist, struct buf *buf, struct fail *fail)
{
	cleanup_free char *file = NULL;

	if (asprintf(&file, "events/%s/%s/hist", hist->system, hist->event) < 0) {
		file = NULL;
		return fail_memory(fail);
	}
	return instance_read(instance, file, buf, fail);
}

/* The kernel adds values up, so only keys can be narrow. */
static void sign(const struct event_fields *fields, struct hist_column *columns, size_t nr, bool keys)
{
	for (size_t i = 0; i < nr; i++) {
		char name[HIST_NAME_SIZE];
		const struct event_field *field;

		/* With most modifiers the kernel does not print a plain number. */
		if (columns[i].modifier.len && !text_word_is(columns[i].modifier, "syscall"))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)columns[i].name.len, columns[i].name.at);
		field = event_fields_find(fields, name);
		columns[i].is_signed = field && field->is_signed && !field->array;
		columns[i].is_narrow = columns[i].is_signed && keys && field->size <= 4;
	}
}

void hist_sign(const struct instance *instance, const struct hist *hist, struct hist_text *text)
{
	struct event_fields fields = { .nr = 0 };

	if (!event_fields_read(instance, hist->system, hist->event, &fields, NULL)) {
		sign(&fields, text->keys, text->nr_keys, true);
		sign(&fields, text->values, text->nr_values, false);
	}
	event_fields_release(&fields);
}
