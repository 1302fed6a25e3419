// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/measure/hist_internal.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/explain/fitting.h"
#include "lib/probe/probe_define.h"
#include "lib/probe/probes.h"
#include "lib/tracefs/event_fields.h"
#include "lib/tracefs/instance.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char time_field[] = "lat";

struct latency {
	struct hist_event first, second;
	struct event_fields first_fields, second_fields;
	char first_key[HIST_NAME_SIZE], second_key[HIST_NAME_SIZE];
	char keys[512];             /* of the histogram */
	char name[PROBE_NAME_SIZE]; /* of the synthetic event */
	const char *unit;           /* "" or ".usecs" */
	char clock[32];             /* ":clock=NAME" or "" */
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
		    const char *name, size_t len, const char *prefix, char into[HIST_NAME_SIZE], struct fail *fail)
{
	char plain[HIST_NAME_SIZE / 2];

	if (!len || len >= sizeof(plain))
		return fail_set(fail, -EINVAL, "'%.*s' is not the name of a field", (int)len, name);
	memcpy(plain, name, len);
	plain[len] = '\0';
	snprintf(into, HIST_NAME_SIZE, "%s", plain);
	if (event_fields_find(fields, into) || event_field_is_generic(into))
		return 0;
	snprintf(into, HIST_NAME_SIZE, "%s%s", prefix, plain);
	if (event_fields_find(fields, into))
		return 0;
	return no_field(instance, event, plain, fail);
}

static int find_keys(const struct instance *instance, const struct hist_wanted *wanted, struct latency *latency,
		     struct fail *fail)
{
	const char *match = wanted->match ? wanted->match : "common_pid", *equals = strchr(match, '='), *second;
	int err =
		event_fields_read(instance, latency->first.system, latency->first.event, &latency->first_fields, fail);

	if (!err)
		err = event_fields_read(instance, latency->second.system, latency->second.event,
					&latency->second_fields, fail);
	if (!err)
		err = find_key(instance, &latency->first, &latency->first_fields, match,
			       equals ? (size_t)(equals - match) : strlen(match), "prev_", latency->first_key, fail);
	second = equals ? equals + 1 : match;
	if (!err)
		err = find_key(instance, &latency->second, &latency->second_fields, second, strlen(second), "next_",
			       latency->second_key, fail);
	return err;
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

int hist_set_latency(struct instance *instance, struct instance *top, struct undo *undo,
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
