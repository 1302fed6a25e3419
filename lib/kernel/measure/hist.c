// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/measure/hist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/utf8.h"
#include "lib/kernel/measure/hist_bar_internal.h"
#include "lib/kernel/measure/hist_text.h"
#include "lib/kernel/probe/probe_define.h"
#include "lib/kernel/probe/probes.h"
#include "lib/kernel/refusals/fitting.h"
#include "lib/kernel/tracefs/event_fields.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/sql.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/undo.h"

struct hist_event {
	char system[HIST_NAME_SIZE], event[HIST_NAME_SIZE];
};

static int must_check hist_find_event(const struct instance *instance, const char *pattern, struct hist_event *ret,
				      struct fail *fail);
static int must_check hist_set_trigger(struct instance *instance, struct undo *undo, const struct hist_event *event,
				       const char *trigger, struct fail *fail);
static int must_check hist_set_of(struct instance *instance, struct undo *undo, const struct hist_event *event,
				  const char *keys, const struct hist_wanted *wanted, struct hist *ret,
				  struct fail *fail);
static int must_check hist_check_kernel(const struct instance *instance, const struct hist_event *event,
					struct fail *fail);
static bool hist_add_keys(struct buf *buf, const struct instance *instance, const char *keys);

/* U+2588 is a full column. Each of the seven characters after it is an eighth narrower. */
enum { EIGHTHS = 8, FULL_BLOCK = 0x88 };

static size_t put_block(char *at, size_t eighths)
{
	if (!eighths)
		return 0;
	memcpy(at, "\xe2\x96", 2);
	at[2] = (char)(FULL_BLOCK + EIGHTHS - eighths);
	return 3;
}

void hist_bar(const struct hist_bars *bars, uint64_t value, uint64_t max, char into[HIST_BAR_SIZE])
{
	size_t steps = bars->blocks ? EIGHTHS : 1, all = bars->width * steps,
	       len = max ? (size_t)((double)value / (double)max * (double)all + 0.5) : 0;
	size_t at = 0;

	if (len > all)
		len = all;
	/* A value above 0 has a visible bar. */
	if (!len && value)
		len = 1;
	if (!bars->blocks) {
		memset(into, '#', len);
		into[len] = '\0';
		return;
	}
	for (; len >= EIGHTHS; len -= EIGHTHS)
		at += put_block(into + at, EIGHTHS);
	at += put_block(into + at, len);
	into[at] = '\0';
}

bool hist_bars_shorten(struct hist_bars *bars, const struct out *text)
{
	size_t longest = 0, left = out_len(text), width;
	const char *at = text->start;
	struct text_word line;

	while (text_next_line(&at, &left, &line)) {
		size_t columns = utf8_columns(line.at, line.len);

		longest = columns > longest ? columns : longest;
	}
	if (!bars->room || longest <= bars->room || bars->width <= HIST_BAR_LEAST)
		return false;
	width = longest - bars->room < bars->width ? bars->width - (longest - bars->room) : 0;
	bars->width = width > HIST_BAR_LEAST ? width : HIST_BAR_LEAST;
	return true;
}

static const char time_field[] = "lat";

enum { KEYS_MAX = 3 * HIST_NAME_SIZE };

struct latency {
	struct hist_event first, second;
	struct event_fields first_fields, second_fields;
	char first_key[KEYS_MAX], second_key[KEYS_MAX]; /* with commas */
	char keys[512];                                 /* of the histogram */
	char name[PROBE_NAME_SIZE];                     /* of the synthetic event */
	const char *unit;                               /* "" or ".usecs" */
	char clock[32];                                 /* ":clock=NAME" or "" */
};

static int no_field(const struct instance *instance, const struct hist_event *event, const char *field,
		    struct fail *fail)
{
	cleanup_buf struct buf words = BUF_INIT;

	if (!buf_addf(&words, "'%s:%s' has no field '%s'", event->system, event->event, field) ||
	    !fitting_print(FITTING_FIELD, instance, event->system, event->event, field, &words))
		return fail_memory(fail);
	return fail_set(fail, -ENOENT, "%s", buf_str(&words));
}

/*
 * If an event has no field `pid`, the other event's `pid` may match `next_pid` (sched_switch): in the second event it
 * is the task that comes, in the first event the one that goes.
 */
static int find_key(const struct instance *instance, const struct hist_event *event, const struct event_fields *fields,
		    const char *name, size_t len, const char *prefix, char into[KEYS_MAX], struct fail *fail)
{
	char plain[HIST_NAME_SIZE / 2], key[HIST_NAME_SIZE];
	size_t used = strlen(into);

	if (!len || len >= sizeof(plain))
		return fail_set(fail, -EINVAL, "'%.*s' is not the name of a field", (int)len, name);
	memcpy(plain, name, len);
	plain[len] = '\0';
	snprintf(key, sizeof(key), "%s", plain);
	if (!event_fields_find(fields, key) && !event_field_is_generic(key)) {
		snprintf(key, sizeof(key), "%s%s", prefix, plain);
		if (!event_fields_find(fields, key))
			return no_field(instance, event, plain, fail);
	}
	if (used + strlen(key) + 2 > KEYS_MAX)
		return fail_set(fail, -EINVAL, "too many fields that pair the events");
	snprintf(into + used, KEYS_MAX - used, "%s%s", used ? "," : "", key);
	return 0;
}

/* Each is "FIELD" or "FIELD=FIELD". */
static int find_match(const struct instance *instance, const char *match, struct latency *latency, struct fail *fail)
{
	int err = 0;

	for (bool more = true; more && !err;) {
		size_t len = strcspn(match, ","), first = strcspn(match, "=,"),
		       second = match[first] == '=' ? first + 1 : 0;

		err = find_key(instance, &latency->first, &latency->first_fields, match, first, "prev_",
			       latency->first_key, fail);
		if (!err)
			err = find_key(instance, &latency->second, &latency->second_fields, match + second,
				       len - second, "next_", latency->second_key, fail);
		more = match[len];
		match += len + more;
	}
	return err;
}

static int find_keys(const struct instance *instance, const struct hist_wanted *wanted, struct latency *latency,
		     struct fail *fail)
{
	int err =
		event_fields_read(instance, latency->first.system, latency->first.event, &latency->first_fields, fail);

	if (!err)
		err = event_fields_read(instance, latency->second.system, latency->second.event,
					&latency->second_fields, fail);
	return err ? err : find_match(instance, wanted->match ? wanted->match : "common_pid", latency, fail);
}

static bool names_time(struct text_word key)
{
	return key.len >= strlen(time_field) && !memcmp(key.at, time_field, strlen(time_field)) &&
	       (key.len == strlen(time_field) || key.at[strlen(time_field)] == '.');
}

/* Sets the keys that the user wants. The default is the matching field, and the time. */
static int settle_keys(const struct instance *instance, const struct hist_wanted *wanted, struct latency *latency,
		       struct fail *fail)
{
	cleanup_buf struct buf keys = BUF_INIT;
	bool ok = hist_add_keys(&keys, instance, wanted->keys ? wanted->keys : latency->second_key);

	if (!wanted->keys)
		ok = ok && buf_addf(&keys, "%s%s.log2", keys.len ? "," : "", time_field);
	if (!ok)
		return fail_memory(fail);
	if (keys.len >= sizeof(latency->keys))
		return fail_set(fail, -EINVAL, "too many keys: '%s'", buf_str(&keys));
	memcpy(latency->keys, buf_str(&keys), keys.len + 1);
	return 0;
}

/* Copies the field of a key without its modifiers. Returns false for the time and for fields that every event has. */
static bool shown_field(struct text_word key, char into[HIST_NAME_SIZE])
{
	const char *dot = memchr(key.at, '.', key.len);
	size_t len = dot ? (size_t)(dot - key.at) : key.len;

	if (names_time(key) || !len || len >= HIST_NAME_SIZE)
		return false;
	memcpy(into, key.at, len);
	into[len] = '\0';
	return !event_field_is_generic(into) && strcmp(into, "common_pid") != 0;
}

/*
 * Adds a field of the synthetic event. It has the type of the event's field, if synthetic events know the type.
 * Otherwise it is an unsigned number of the same size, because the kernel drops the sign of a value that it passes on
 * (create_var() in trace_events_hist.c).
 */
static bool add_field(struct buf *definition, const struct event_field *field)
{
	static const char *const known[] = {
		"s64",           "u64", "s32",          "u32",  "s16",           "u16",  "s8",    "u8",    "char",
		"unsigned char", "int", "unsigned int", "long", "unsigned long", "bool", "pid_t", "gfp_t",
	};

	if (strstr(field->type, "char") && field->array)
		return buf_addf(definition, "; char %s[%s]", field->name, field->array);
	if (strstr(field->type, "char") && strstr(field->type, "__data_loc"))
		return buf_addf(definition, "; char %s[]", field->name);
	for (size_t i = 0; i < array_size(known); i++)
		if (!strcmp(field->type, known[i]))
			return buf_addf(definition, "; %s %s", field->type, field->name);
	return buf_addf(definition, "; u%u %s", field->size * 8, field->name);
}

/* Writes the definition of the synthetic event, and the values that the second event passes to it. */
static int define(const struct instance *instance, const struct latency *latency, struct buf *definition,
		  struct buf *parameters, struct fail *fail)
{
	bool ok = buf_addf(definition, "%s u64 %s", latency->name, time_field);
	const char *at = latency->keys;
	struct text_word key;
	char name[HIST_NAME_SIZE];

	while (ok && text_next_word(&at, ",", &key)) {
		const struct event_field *field;

		if (!shown_field(key, name))
			continue;
		field = event_fields_find(&latency->second_fields, name);
		if (!field)
			field = event_fields_find(&latency->first_fields, name);
		if (!field)
			return no_field(instance, &latency->second, name, fail);
		ok = add_field(definition, field) && buf_addf(parameters, ",%s", name);
	}
	return ok ? 0 : fail_memory(fail);
}

static int make_synthetic(struct instance *top, struct undo *undo, const char *definition, struct fail *fail)
{
	struct probe probe;
	int err = probe_define(top, definition, true, &probe, fail);

	if (err)
		return err;
	err = probe_add(top, undo, &probe, fail);
	probe_release(&probe);
	return err;
}

static int set_pair(struct instance *instance, struct undo *undo, const struct latency *latency, const char *parameters,
		    unsigned size, struct fail *fail)
{
	cleanup_buf struct buf first = BUF_INIT, second = BUF_INIT;
	char room[24] = "";
	int err;

	if (size)
		snprintf(room, sizeof(room), ":size=%u", size);
	if (!buf_addf(&first, "hist:keys=%s:weft_%d_ts=common_timestamp%s%s%s", latency->first_key, (int)getpid(),
		      latency->unit, room, latency->clock) ||
	    !buf_addf(&second,
		      "hist:keys=%s:weft_%d_lat=common_timestamp%s-$weft_%d_ts%s%s:onmatch(%s.%s).%s($weft_%d_lat%s)",
		      latency->second_key, (int)getpid(), latency->unit, (int)getpid(), room, latency->clock,
		      latency->first.system, latency->first.event, latency->name, (int)getpid(), parameters))
		return fail_memory(fail);
	err = hist_set_trigger(instance, undo, &latency->first, buf_str(&first), fail);
	return err ? err : hist_set_trigger(instance, undo, &latency->second, buf_str(&second), fail);
}

static int set_all(struct instance *instance, struct instance *top, struct undo *undo, const struct hist_wanted *wanted,
		   struct latency *latency, struct hist *ret, struct fail *fail)
{
	cleanup_buf struct buf definition = BUF_INIT, parameters = BUF_INIT;
	struct hist_event synthetic = { .system = "synthetic" };
	int err = define(instance, latency, &definition, &parameters, fail);

	if (!err)
		err = make_synthetic(top, undo, buf_str(&definition), fail);
	if (!err)
		err = set_pair(instance, undo, latency, buf_str(&parameters), wanted->size, fail);
	if (err)
		return err;
	snprintf(synthetic.event, sizeof(synthetic.event), "%s", latency->name);
	return hist_set_of(instance, undo, &synthetic, latency->keys, wanted, ret, fail);
}

static int check_kernel(const struct instance *top, const struct hist_event *event, struct fail *fail)
{
	int err = hist_check_kernel(top, event, fail);

	if (!err && !instance_has(top, "synthetic_events"))
		err = fail_set(fail, -EOPNOTSUPP,
			       "this kernel has no synthetic events: it was built without CONFIG_SYNTH_EVENTS");
	return err;
}

int hist_can_measure(const struct instance *top, const char *event, struct fail *fail)
{
	struct hist_event found;
	int err = hist_find_event(top, event, &found, fail);

	return err ? err : check_kernel(top, &found, fail);
}

/*
 * The time from one event to another. The first event stores its time under a key. The second event makes a synthetic
 * event with the difference if its key is the same, and the histogram counts the synthetic event (histogram.rst,
 * "onmatch"). The synthetic event is called weft_latency_PID and has the field `lat`.
 */
static int hist_set_latency(struct instance *instance, struct instance *top, struct undo *undo,
			    const struct hist_wanted *wanted, struct hist *ret, struct fail *fail)
{
	struct latency latency = { .unit = wanted->ns ? "" : ".usecs" };
	int err = hist_find_event(instance, wanted->event, &latency.first, fail);

	if (!err)
		err = hist_find_event(instance, wanted->second, &latency.second, fail);
	if (!err)
		err = check_kernel(top, &latency.first, fail);
	if (wanted->clock)
		snprintf(latency.clock, sizeof(latency.clock), ":clock=%s", wanted->clock);
	snprintf(latency.name, sizeof(latency.name), wanted->number ? "weft_latency_%d_%u" : "weft_latency_%d",
		 (int)getpid(), wanted->number);
	if (!err)
		err = find_keys(instance, wanted, &latency, fail);
	if (!err)
		err = settle_keys(instance, wanted, &latency, fail);
	if (!err)
		err = set_all(instance, top, undo, wanted, &latency, ret, fail);
	event_fields_release(&latency.first_fields);
	event_fields_release(&latency.second_fields);
	return err;
}

static int hist_find_event(const struct instance *instance, const char *pattern, struct hist_event *ret,
			   struct fail *fail)
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

static int hist_set_trigger(struct instance *instance, struct undo *undo, const struct hist_event *event,
			    const char *trigger, struct fail *fail)
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

static bool hist_add_keys(struct buf *buf, const struct instance *instance, const char *keys)
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
static bool hist_add_sort(struct buf *buf, const char *keys, const char *sort)
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

static int hist_set_of(struct instance *instance, struct undo *undo, const struct hist_event *event, const char *keys,
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

static int hist_check_kernel(const struct instance *instance, const struct hist_event *event, struct fail *fail)
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

static int make_event(struct instance *top, struct undo *undo, const char *text, struct fail *fail)
{
	struct probe probe;
	int err = probe_define(top, text + 2, true, &probe, fail);

	if (err)
		return err;
	err = probe_add(top, undo, &probe, fail);
	probe_release(&probe);
	return err;
}

int hist_set_sql(struct instance *instance, struct instance *top, struct undo *undo, const struct sql *sql,
		 struct fail *fail)
{
	/* The triggers of a synthetic event are where its events come from. */
	struct instance *where = sql->nr && sql_is_event(&sql->writes[0]) ? top : instance;
	int err = 0;

	for (size_t i = 0; !err && i < sql->nr; i++) {
		const struct sql_write *write = &sql->writes[i];
		struct hist_event event;

		if (sql_is_event(write))
			err = make_event(top, undo, write->text, fail);
		else if (sscanf(write->file, "events/%127[^/]/%127[^/]/trigger", event.system, event.event) != 2)
			err = fail_set(fail, -EPROTO, "'%s' is not the triggers of an event", write->file);
		else
			err = hist_set_trigger(where, undo, &event, write->text, fail);
	}
	return err;
}
