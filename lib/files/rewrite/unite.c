// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/rewrite/unite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/rewrite/binder.h"
#include "lib/files/rewrite/kernel_ties.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/apart.h"
#include "lib/meaning/clock/pings.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/carried.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"

/*
 * Limit for texts that become settings: below the limit of all settings (lib/pages/trace/internal.h: SETTINGS_TEXT_MAX)
 * to leave room for others.
 */
enum { OWN_TEXTS_MAX = 20 << 20 };

/* One of the traces. */
struct member {
	struct trace *trace;
	const char *name;
	int64_t offset;
	struct carried carried;
	uint16_t *ids;           /* for each id of the trace, its id in the new file */
	struct binder **binders; /* for each of its buffers; NULL until it has an event */
	char **names;            /* names of its buffers in the new file */
	struct buf own;          /* its ids in the new file, separated by commas */
	struct buf *samples;     /* for each buffer, those of its clock at the times of the new file */
	struct buf moved_pings;
	struct wall **walls; /* for each buffer, if its events get their place by their time of day; else NULL */
	struct pings *pings; /* its events get their place by it and unite->near; NULL: they do not */
	uint64_t *placed;    /* for each buffer, the time of its last event in the new file */
	uint64_t worst;      /* the half width where it was widest */
	char error[24];      /* the same as a text */
	uint32_t first;      /* its first buffer in the new file */
	int64_t moved;       /* how far the first ones were moved */
	bool has_moved;
};

struct unite {
	struct recast_options form;
	struct trace *like; /* unite_like(); NULL: none */
	const char *like_name;
	size_t like_buffer;
	struct wall *day; /* of its times in the new file */
	struct buf like_samples;
	struct trace *first; /* unite_compare(); NULL: none */
	struct pings *near;
	struct member *members;
	size_t nr_members;
	struct writer_format *formats;
	size_t nr_formats;
	size_t *by_id;    /* 1 + the index in `formats`; 0: free */
	uint32_t free_id; /* no id above it is free */
	char **made;      /* texts of formats whose id was changed */
	size_t nr_made;
	struct writer_setting *settings;
	size_t nr_settings;
	uint32_t nr_buffers;
	size_t settings_len; /* bytes of the settings' texts */
	struct buf record;
};

int unite_new(const struct recast_options *form, struct unite **ret, struct fail *fail)
{
	struct unite *unite = calloc(1, sizeof(*unite));

	if (!unite)
		return fail_memory(fail);
	unite->form = *form;
	unite->nr_buffers = 1;
	unite->free_id = EVENT_TYPES_MAX - 1;
	unite->by_id = calloc(EVENT_TYPES_MAX, sizeof(*unite->by_id));
	if (!unite->by_id) {
		unite_free(unite);
		return fail_memory(fail);
	}
	*ret = unite;
	return 0;
}

static void member_release(struct member *member)
{
	for (size_t i = 0; i < trace_buffers(member->trace); i++) {
		if (member->binders)
			binder_free(member->binders[i]);
		if (member->names)
			free(member->names[i]);
		if (member->samples)
			buf_release(&member->samples[i]);
		if (member->walls)
			wall_free(member->walls[i]);
	}
	free(member->binders);
	free(member->names);
	free(member->samples);
	free(member->walls);
	free(member->placed);
	pings_free(member->pings);
	free(member->ids);
	buf_release(&member->own);
	buf_release(&member->moved_pings);
	carried_release(&member->carried);
}

void unite_free(struct unite *unite)
{
	if (!unite)
		return;
	for (size_t i = 0; i < unite->nr_members; i++)
		member_release(&unite->members[i]);
	for (size_t i = 0; i < unite->nr_made; i++)
		free(unite->made[i]);
	free(unite->members);
	free(unite->made);
	free(unite->formats);
	free(unite->by_id);
	free(unite->settings);
	buf_release(&unite->record);
	buf_release(&unite->like_samples);
	wall_free(unite->day);
	pings_free(unite->near);
	free(unite);
}

static int keep_format(struct unite *unite, const struct writer_format *format, uint32_t id, struct fail *fail)
{
	struct writer_format *kept = vec_push(unite->formats, unite->nr_formats);

	if (!kept)
		return fail_memory(fail);
	*kept = *format;
	unite->by_id[id] = unite->nr_formats;
	return 0;
}

/* Another event has this id: makes a copy of the format with a free id. */
static int keep_under_other_id(struct unite *unite, struct writer_format format, const char *at, const char *end,
			       uint16_t *ret, struct fail *fail)
{
	char **text;
	uint32_t id;

	while (unite->free_id && unite->by_id[unite->free_id])
		unite->free_id--;
	id = unite->free_id;
	if (!id)
		return fail_set(fail, -E2BIG, "the files have more than %d types of events", EVENT_TYPES_MAX);
	text = vec_push(unite->made, unite->nr_made);
	if (!text || asprintf(text, "%.*s%" PRIu32 "%s", (int)(at - format.text), format.text, id, end) < 0)
		return fail_memory(fail);
	format.text = *text;
	format.len = strlen(*text);
	*ret = (uint16_t)id;
	return keep_format(unite, &format, id, fail);
}

static int own_id(struct member *member, uint32_t id, struct fail *fail)
{
	return buf_addf(&member->own, "%s%" PRIu32, member->own.len ? "," : "", id) ? 0 : fail_memory(fail);
}

static int take_format(struct unite *unite, struct member *member, const struct writer_format *format,
		       struct fail *fail)
{
	const struct writer_format *there;
	const char *at, *end;
	uint32_t id;

	/* Records refer to formats by id, so a format without an id is useless. */
	if (!own_formats_id(format->text, &at, &end, &id))
		return 0;
	if (!unite->by_id[id])
		return keep_format(unite, format, id, fail) ?: own_id(member, id, fail);
	there = &unite->formats[unite->by_id[id] - 1];
	if (!strcmp(there->system, format->system) && there->len == format->len &&
	    !memcmp(there->text, format->text, format->len))
		return own_id(member, id, fail);
	return keep_under_other_id(unite, *format, at, end, &member->ids[id], fail) ?:
		       own_id(member, member->ids[id], fail);
}

static int put_setting(struct unite *unite, uint32_t buffer, const char *name, const char *text, size_t len,
		       struct fail *fail)
{
	struct writer_setting *setting = vec_push(unite->settings, unite->nr_settings);

	if (!setting)
		return fail_memory(fail);
	*setting = (struct writer_setting){ .buffer = buffer, .name = name, .text = text, .len = len };
	unite->settings_len += len;
	return 0;
}

/* Settings about the machine and the recording, which only the first buffer of a recording has. */
static bool is_of_all(const char *name)
{
	static const char *const names[] = {
		"weft/online",       "weft/preempt_model", "weft/uname",          "weft/hz",          "weft/mode",
		"weft/self",         "dynamic_events",     SETTING_ZONE,          "weft/tasks",       "weft/tasks_end",
		"weft/tasks_before", "weft/tasks_after",   "weft/cgroups",        "weft/cgroups_end", "weft/withheld",
		"weft/withheld_end", "weft/containers",    "weft/containers_end", "weft/disks"
	};

	for (size_t i = 0; i < array_size(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Those of the recording that the log stands in, and as inexact as the times of the log, too. */
static int put_like(struct unite *unite, struct member *member, const struct writer_setting *setting, struct fail *fail)
{
	struct buf *own = &member->samples[setting->buffer];
	const struct buf *like = &unite->like_samples;
	uint64_t bound = 0;
	int64_t ns;

	(void)!wall_of(member->walls[setting->buffer], 0, &ns, &bound);
	if (!wall_samples_shift(like->data, like->len, 0, bound, own))
		return fail_memory(fail);
	return put_setting(unite, unite->nr_buffers + setting->buffer, setting->name, own->data, own->len, fail);
}

/* The time in the new file of a time of the member, by the clocks of both machines. */
static uint64_t compared(const struct unite *unite, struct member *member, uint64_t ts)
{
	uint64_t here, there, near = ts + (uint64_t)pings_ahead(member->pings, ts, &there);
	uint64_t placed = pings_back(unite->near, near);

	(void)!pings_ahead(unite->near, placed, &here);
	member->worst = here + there > member->worst ? here + there : member->worst;
	return placed;
}

/* What the samples of the time of day say in the new file, and as inexact as the comparison, too. */
static bool compare_sample(const struct unite *unite, struct member *member, const struct text_word *line,
			   struct buf *into)
{
	struct wall_sample sample;
	uint64_t lo;

	if (!wall_sample_parse(line->at, line->len, &sample))
		return true;
	lo = compared(unite, member, sample.lo + trace_ts_offset(member->trace));
	sample.hi = lo + (sample.hi - sample.lo);
	sample.lo = lo;
	if (member->worst < (uint64_t)sample.wall_lo) {
		sample.wall_lo -= (int64_t)member->worst;
		sample.wall_hi += (int64_t)member->worst;
	}
	return wall_sample_put(&sample, into);
}

/* A ping of the new file's time; a line that is none is kept. */
static bool move_ping(const struct unite *unite, struct member *member, const struct text_word *line, struct buf *into)
{
	struct ping ping;
	uint64_t far;

	if (!ping_parse(line->at, line->len, &ping))
		return buf_add(into, line->at, line->len) && buf_add(into, "\n", 1);
	far = ping.far + trace_ts_offset(member->trace);
	ping.far = member->pings ? compared(unite, member, far) : far + (uint64_t)member->offset;
	if (member->pings && ping.lo > member->worst) {
		ping.lo -= member->worst;
		ping.hi += member->worst;
	}
	return ping_put(&ping, into);
}

static int move_lines(struct unite *unite, struct member *member, const struct writer_setting *setting,
		      bool (*move)(const struct unite *, struct member *, const struct text_word *, struct buf *),
		      struct buf *moved, struct fail *fail)
{
	const char *at = setting->text;
	size_t left = setting->len;
	struct text_word line;

	while (text_next_line(&at, &left, &line))
		if (!move(unite, member, &line, moved))
			return fail_memory(fail);
	return put_setting(unite, unite->nr_buffers + setting->buffer, setting->name, moved->data, moved->len, fail);
}

/* The samples of a clock, moved as the times of its events are. */
static int put_samples(struct unite *unite, struct member *member, const struct writer_setting *setting,
		       struct fail *fail)
{
	struct buf *moved = &member->samples[setting->buffer];
	int64_t by = (int64_t)(trace_ts_offset(member->trace) + (uint64_t)member->offset);

	if (member->walls)
		return put_like(unite, member, setting, fail);
	if (member->pings)
		return move_lines(unite, member, setting, compare_sample, moved, fail);
	if (!wall_samples_shift(setting->text, setting->len, by, 0, moved))
		return fail_memory(fail);
	return put_setting(unite, unite->nr_buffers + setting->buffer, setting->name, moved->data, moved->len, fail);
}

static int take_settings(struct unite *unite, struct member *member, struct fail *fail)
{
	const struct writer_metadata *from = &member->carried.metadata;
	uint32_t nr = (uint32_t)trace_buffers(member->trace);
	int r = 0;

	for (size_t i = 0; !r && i < from->nr_settings; i++) {
		const struct writer_setting *setting = &from->settings[i];

		if (setting->buffer < nr && !strcmp(setting->name, SETTING_CLOCKS)) {
			r = put_samples(unite, member, setting, fail);
			continue;
		}
		if (!setting->buffer && !strcmp(setting->name, SETTING_PINGS)) {
			r = move_lines(unite, member, setting, move_ping, &member->moved_pings, fail);
			continue;
		}
		if (setting->buffer < nr)
			r = put_setting(unite, unite->nr_buffers + setting->buffer, setting->name, setting->text,
					setting->len, fail);
		for (uint32_t other = 1; !r && other < nr && !setting->buffer && is_of_all(setting->name); other++)
			r = put_setting(unite, unite->nr_buffers + other, setting->name, setting->text, setting->len,
					fail);
		/* Data that the file has only once. */
		if (!r && member == unite->members && !setting->buffer && strncmp(setting->name, "per_cpu/", 8))
			r = put_setting(unite, 0, setting->name, setting->text, setting->len, fail);
	}
	for (uint32_t i = 0; !r && i < nr; i++) {
		const char *uname = from->uname ? from->uname : "";
		const char *recording = member->walls ? unite->like_name : member->name;

		r = put_setting(unite, unite->nr_buffers + i, "weft/kernel", uname, strlen(uname), fail);
		if (!r)
			r = put_setting(unite, unite->nr_buffers + i, "weft/recording", recording, strlen(recording),
					fail);
		if (!r)
			r = put_setting(unite, unite->nr_buffers + i, "weft/formats", buf_str(&member->own),
					member->own.len, fail);
		if (!r && from->cmdlines_len)
			r = put_setting(unite, unite->nr_buffers + i, "saved_cmdlines", from->cmdlines,
					from->cmdlines_len, fail);
	}
	return r;
}

/*
 * Symbols and texts of trace_printk of kernels other than the first become settings of their buffers. If they are too
 * large for settings, addresses get no names at all: names of another kernel would be wrong.
 */
static int take_own(struct unite *unite, struct member *member, const char *name, const char *text, size_t len,
		    const char *first, size_t first_len, struct fail *fail)
{
	int r = 0;

	if (len == first_len && (!len || !memcmp(text, first, len)))
		return 0;
	for (uint32_t i = 0; !r && i < (uint32_t)trace_buffers(member->trace); i++) {
		bool fits = unite->settings_len < OWN_TEXTS_MAX && len <= OWN_TEXTS_MAX - unite->settings_len;

		r = put_setting(unite, unite->nr_buffers + i, name, fits && len ? text : "", fits ? len : 0, fail);
	}
	return r;
}

static int take_symbols(struct unite *unite, struct member *member, struct fail *fail)
{
	const struct writer_metadata *first = &unite->members[0].carried.metadata, *from = &member->carried.metadata;
	int r = take_own(unite, member, "kallsyms", from->kallsyms, from->kallsyms_len, first->kallsyms,
			 first->kallsyms_len, fail);

	return r ? r :
		   take_own(unite, member, "printk_formats", from->printk, from->printk_len, first->printk,
			    first->printk_len, fail);
}

static int take_names(struct member *member, struct fail *fail)
{
	for (size_t i = 0; i < trace_buffers(member->trace); i++) {
		const char *instance = trace_buffer(member->trace, i)->name.text;

		bool own = instance && own_buffer(instance);

		/* A buffer that weft made for itself stays one. */
		if (asprintf(&member->names[i], "%s%s%s", own ? instance : member->name,
			     instance && *instance ? "." : "",
			     own      ? member->name :
			     instance ? instance :
					"") < 0) {
			member->names[i] = NULL;
			return fail_memory(fail);
		}
	}
	return 0;
}

static int is_alike(const struct unite *unite, const struct trace_info *info, struct fail *fail)
{
	const struct trace_info *first = trace_info(unite->members[0].trace);

	if (info->big_endian == first->big_endian && info->long_size == first->long_size)
		return 0;
	return fail_set(fail, -EINVAL, "its machine has another byte order or word size than the machine of '%s'",
			trace_path(unite->members[0].trace));
}

/* A line of the log may have come there late, by as much as others came later than it at least. */
static bool put_tie(const struct trace *trace, const struct kernel_ties *ties, int64_t offset, struct buf *into)
{
	struct wall_sample sample = { .lo = ties->ts + (uint64_t)offset,
				      .hi = ties->ts + (uint64_t)offset,
				      .wall_lo = ties->ns - (ties->most - ties->least),
				      .wall_hi = ties->ns + (ties->most - ties->least),
				      .error_us = -1,
				      .why = WALL_LOG };
	const struct trace_text *clock = &trace_buffer(trace, ties->buffer)->clock;
	const char *name = clock->text ? strchr(clock->text, '[') : NULL;

	snprintf(sample.clock, sizeof(sample.clock), "%.*s", name ? (int)strcspn(name + 1, "]") : 5,
		 name ? name + 1 : "local");
	return wall_sample_put(&sample, into);
}

int unite_like(struct unite *unite, struct trace *trace, const char *name, int64_t offset,
	       const struct kernel_ties *ties, struct fail *fail)
{
	int64_t by = (int64_t)(trace_ts_offset(trace) + (uint64_t)offset);

	for (size_t i = 0; i < trace_buffers(trace); i++) {
		struct trace_text text = trace_setting(trace, i, SETTING_CLOCKS);

		if (!text.text || !text.len)
			continue;
		unite->like = trace;
		unite->like_name = name;
		unite->like_buffer = i;
		if (!wall_samples_shift(text.text, text.len, by, 0, &unite->like_samples))
			return fail_memory(fail);
		return wall_new_of_text(unite->like_samples.data, unite->like_samples.len, 0, &unite->day, fail);
	}
	if (!ties || !ties->nr)
		return 0;
	unite->like = trace;
	unite->like_name = name;
	unite->like_buffer = ties->buffer;
	if (!put_tie(trace, ties, offset, &unite->like_samples))
		return fail_memory(fail);
	return wall_new_of_text(unite->like_samples.data, unite->like_samples.len, 0, &unite->day, fail);
}

bool unite_is_log(const struct trace *trace)
{
	const struct trace_text *clock = trace_buffers(trace) ? &trace_buffer(trace, 0)->clock : NULL;

	return clock && clock->text && strstr(clock->text, "realtime");
}

/* Whether events of the trace get their places by their time of day: those of a log. */
static int take_walls(struct unite *unite, struct member *member, struct fail *fail)
{
	size_t nr = trace_buffers(member->trace);
	int r = 0;

	if (!unite->day || !unite_is_log(member->trace))
		return 0;
	member->walls = calloc(nr + 1, sizeof(*member->walls));
	if (!member->walls)
		return fail_memory(fail);
	for (size_t i = 0; !r && i < nr; i++)
		r = wall_new(member->trace, i, &member->walls[i], fail);
	return r;
}

int unite_compare(struct unite *unite, struct trace *trace, struct fail *fail)
{
	unite->first = trace;
	return pings_of(trace, 0, &unite->near, fail);
}

bool unite_compared(const struct unite *unite, size_t which, int64_t *ret_by, uint64_t *ret_half)
{
	const struct member *member = &unite->members[which];

	*ret_by = member->moved;
	*ret_half = member->worst;
	return member->pings;
}

static int take_pings(const struct unite *unite, struct member *member, struct fail *fail)
{
	int r = unite->near && member->trace != unite->first && !member->offset && !member->walls ?
			pings_of(member->trace, 0, &member->pings, fail) :
			0;

	if (!r && member->pings && strcmp(pings_boot_id(member->pings), pings_boot_id(unite->near)) != 0)
		pings_free(take(member->pings));
	return r;
}

int unite_trace(struct unite *unite, struct trace *trace, const char *name, int64_t offset, struct fail *fail)
{
	struct member *member = vec_push(unite->members, unite->nr_members);
	size_t nr = trace_buffers(trace) + 1;
	int r;

	if (!member)
		return fail_memory(fail);
	*member = (struct member){ .trace = trace,
				   .name = name,
				   .offset = offset,
				   .first = unite->nr_buffers,
				   .ids = malloc(EVENT_TYPES_MAX * sizeof(*member->ids)),
				   .binders = calloc(nr, sizeof(*member->binders)),
				   .names = calloc(nr, sizeof(*member->names)),
				   .placed = calloc(nr, sizeof(*member->placed)),
				   .samples = calloc(nr, sizeof(*member->samples)) };
	if (!member->ids || !member->binders || !member->names || !member->placed || !member->samples)
		return fail_memory(fail);
	for (uint32_t id = 0; id < EVENT_TYPES_MAX; id++)
		member->ids[id] = (uint16_t)id;
	r = is_alike(unite, trace_info(trace), fail);
	if (!r)
		r = carried_init(&member->carried, trace, fail);
	for (size_t i = 0; !r && i < member->carried.metadata.nr_formats; i++)
		r = take_format(unite, member, &member->carried.metadata.formats[i], fail);
	if (!r)
		r = take_walls(unite, member, fail);
	if (!r)
		r = take_pings(unite, member, fail);
	if (!r)
		r = take_names(member, fail);
	if (!r)
		r = take_settings(unite, member, fail);
	if (!r)
		r = take_symbols(unite, member, fail);
	unite->nr_buffers += (uint32_t)trace_buffers(trace);
	return r;
}

/* The time of an event in the new file: its own and the offset, or where its time of day is. */
static int place_event(const struct unite *unite, struct member *member, size_t buffer, const struct event *event,
		       uint64_t *ret, struct fail *fail)
{
	int64_t ts;

	if (member->walls) {
		if (!wall_of(member->walls[buffer], event->ts, &ts, NULL) || !wall_places(unite->day, ts, ret, 1) ||
		    !*ret)
			return fail_set(fail, -ERANGE,
					"it has lines from before the clock of '%s' began: leave them out, as with "
					"journalctl --since",
					trace_path(unite->like));
		*ret += (uint64_t)member->offset;
		return 0;
	}
	if (member->pings) {
		*ret = compared(unite, member, event->ts);
		if (!member->has_moved)
			member->moved = (int64_t)(*ret - event->ts);
		member->has_moved = true;
		/* Where one of the clocks jumped, times may lie before those of the events before. */
		*ret = *ret < member->placed[buffer] ? member->placed[buffer] : *ret;
		member->placed[buffer] = *ret;
		return 0;
	}
	if (event->ts > INT64_MAX)
		return fail_set(fail, -ERANGE, "it has events later than 2^63 ns, which a merged file has no room for");
	if (__builtin_add_overflow((int64_t)event->ts, member->offset, &ts) || ts < 0)
		return fail_set(fail, -ERANGE, "with the offset %" PRId64 " an event would be before the time 0",
				member->offset);
	*ret = (uint64_t)ts;
	return 0;
}

int unite_event(struct unite *unite, size_t which, size_t buffer, const struct event *event, int64_t lost,
		struct fail *fail)
{
	struct member *member = &unite->members[which];
	const struct trace_info *info = trace_info(member->trace);
	const struct page_shape shape = { .size = trace_buffer(member->trace, buffer)->page_size,
					  .long_size = info->long_size,
					  .swap = info->swap };
	struct record record = { .data = event->data, .len = event->len };
	uint16_t id = member->ids[event->id];
	int r = place_event(unite, member, buffer, event, &record.ts, fail);

	if (r)
		return r;
	if (id != event->id) {
		id = info->swap ? __builtin_bswap16(id) : id;
		buf_clear(&unite->record);
		if (!buf_add(&unite->record, event->data, event->len))
			return fail_memory(fail);
		memcpy(unite->record.data, &id, sizeof(id));
		record.data = (const uint8_t *)unite->record.data;
	}
	if (!member->binders[buffer])
		r = binder_new(&shape, unite->form.temporaries, &member->binders[buffer], fail);
	return r ? r : binder_add(member->binders[buffer], event->cpu, &record, lost, fail);
}

/* The file has the first trace's names of tasks, if no other trace has different ones. */
static bool same_names(const struct unite *unite)
{
	const struct writer_metadata *first = &unite->members[0].carried.metadata;

	for (size_t i = 1; i < unite->nr_members; i++) {
		const struct writer_metadata *other = &unite->members[i].carried.metadata;

		if (other->cmdlines_len != first->cmdlines_len)
			return false;
		/* Without names there is no text either. */
		if (first->cmdlines_len && memcmp(other->cmdlines, first->cmdlines, first->cmdlines_len))
			return false;
	}
	return true;
}

static struct writer_metadata metadata_of(const struct unite *unite)
{
	struct writer_metadata metadata = unite->members[0].carried.metadata;

	metadata.formats = unite->formats;
	metadata.nr_formats = unite->nr_formats;
	metadata.settings = unite->settings;
	metadata.nr_settings = unite->nr_settings;
	metadata.nr_cpustats = 0;
	metadata.latency = NULL;
	metadata.latency_len = 0;
	/* The times already include the offsets, that of the date, too. */
	metadata.has_ts_offset = false;
	metadata.ts_offset = 0;
	metadata.date_offset_ns = 0;
	metadata.tsc_mult = 1;
	metadata.tsc_shift = 0;
	for (size_t i = 1; i < unite->nr_members; i++) {
		const struct writer_metadata *other = &unite->members[i].carried.metadata;

		metadata.has_tsc2nsec |= other->has_tsc2nsec;
		metadata.has_date &= other->has_date;
		if (other->cpu_count > metadata.cpu_count)
			metadata.cpu_count = other->cpu_count;
	}
	if (!same_names(unite)) {
		metadata.cmdlines = NULL;
		metadata.cmdlines_len = 0;
	}
	return metadata;
}

static int write_member(const struct unite *unite, struct member *member, struct part *part, struct writer *writer,
			struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < trace_buffers(member->trace); i++) {
		struct trace_buffer like = *trace_buffer(member->trace, i);

		if (member->walls)
			like.clock = trace_buffer(unite->like, unite->like_buffer)->clock;
		r = made_file_buffer(writer, member->names[i], &like, fail);
		if (!r && member->binders[i])
			r = binder_write(member->binders[i], part, writer, fail);
	}
	return r;
}

/* The new file has a top buffer without events; the buffers of the traces come after it. */
static int write_buffers(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	struct unite *unite = arg;
	const char *clock = unite->members[0].carried.metadata.clock;
	int r = writer_buffer(writer, "", clock ? clock : "local", trace_info(unite->members[0].trace)->page_size,
			      fail);

	for (size_t i = 0; !r && i < unite->nr_members; i++)
		r = write_member(unite, &unite->members[i], part, writer, fail);
	return r;
}

static int write_all(struct unite *unite, int fd, uint64_t *ret_size, struct fail *fail)
{
	const struct writer_options form = recast_form(&unite->form, unite->members[0].trace);
	const struct writer_metadata metadata = metadata_of(unite);

	return made_file_write(fd, &form, &metadata, write_buffers, unite, ret_size, fail);
}

/* How far times may be off those of the first trace's clock: of each buffer that was compared with it. */
static int put_errors(struct unite *unite, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < unite->nr_members; i++) {
		struct member *member = &unite->members[i];

		if (!member->pings && (!unite->near || member->trace != unite->first))
			continue;
		snprintf(member->error, sizeof(member->error), "%" PRIu64, member->worst);
		for (uint32_t j = 0; !r && j < (uint32_t)trace_buffers(member->trace); j++)
			r = put_setting(unite, member->first + j, SETTING_APART, member->error, strlen(member->error),
					fail);
	}
	return r;
}

int unite_write(struct unite *unite, int fd, uint64_t *ret_size, struct fail *fail)
{
	int r = put_errors(unite, fail);

	return r ? r : write_all(unite, fd, ret_size, fail);
}

int unite_first(struct trace *trace, const char *event, uint64_t *ret, struct fail *fail)
{
	struct reader reader;
	struct event first = { .kind = EVENT_LOST };
	int r;

	reader_init(&reader);
	r = reader_add_trace(&reader, trace, fail);
	for (size_t i = 0; !r && i < reader.nr_buffers; i++) {
		r = selection_new(reader.buffers[i].context, &reader.buffers[i].selection, fail);
		if (!r)
			r = selection_add_events(reader.buffers[i].selection, event, fail);
	}
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	while (!r && first.kind == EVENT_LOST) {
		r = reader_next(&reader, &first, fail);
		r = r > 0 ? 0 : r < 0 ? r : fail_set(fail, -ENOENT, "it has no event '%s'", event);
	}
	*ret = first.ts;
	reader_release(&reader);
	return r;
}

static int take_buffer(struct unite *unite, size_t which, struct trace *trace, size_t buffer, uint64_t *events,
		       bool *ret_damaged, struct fail *fail)
{
	struct event event;
	struct reader reader;
	int64_t *lost = calloc(trace_buffer(trace, buffer)->nr_cpus + 1, sizeof(*lost));
	int r;

	reader_init(&reader);
	r = lost ? reader_add(&reader, trace, buffer, fail) : fail_memory(fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	while (!r && (r = reader_next(&reader, &event, fail)) > 0) {
		if (event.kind == EVENT_LOST) {
			lost[event.cpu_index] = event.lost;
			r = 0;
			continue;
		}
		r = unite_event(unite, which, buffer, &event, lost[event.cpu_index], fail);
		lost[event.cpu_index] = 0;
		*events += !r;
	}
	*ret_damaged |= !r && reader_damage(&reader, &(const char *){ NULL });
	reader_release(&reader);
	free(lost);
	return r;
}

int unite_events(struct unite *unite, size_t which, struct trace *trace, uint64_t *events, bool *ret_damaged,
		 struct fail *fail)
{
	int r = 0;

	*ret_damaged = false;
	for (size_t buffer = 0; !r && buffer < trace_buffers(trace); buffer++)
		r = take_buffer(unite, which, trace, buffer, events, ret_damaged, fail);
	/* What was not read for lack of memory is not damaged. */
	if (!r && trace_starved(trace))
		r = fail_memory(fail);
	*ret_damaged |= trace_damage(trace) != NULL;
	return r;
}
