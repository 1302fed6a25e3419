// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/made/unite.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/event/event.h"
#include "lib/event/own_formats.h"
#include "lib/made/binder.h"
#include "lib/ring/page.h"
#include "lib/trace/carried.h"
#include "lib/trace/made_file.h"
#include "lib/trace/trace.h"
#include "lib/trace/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Limit for texts that become settings: below the limit of all settings (lib/trace/internal.h: SETTINGS_TEXT_MAX) to
 * leave room for others.
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
};

struct unite {
	struct recast_options form;
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
	}
	free(member->binders);
	free(member->names);
	free(member->ids);
	buf_release(&member->own);
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
	static const char *const names[] = { "weft/online", "weft/preempt_model", "weft/uname",    "weft/hz",
					     "weft/mode",   "weft/self",          "dynamic_events" };

	for (size_t i = 0; i < array_size(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static int take_settings(struct unite *unite, struct member *member, struct fail *fail)
{
	const struct writer_metadata *from = &member->carried.metadata;
	uint32_t nr = (uint32_t)trace_buffers(member->trace);
	int r = 0;

	for (size_t i = 0; !r && i < from->nr_settings; i++) {
		const struct writer_setting *setting = &from->settings[i];

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

		r = put_setting(unite, unite->nr_buffers + i, "weft/kernel", uname, strlen(uname), fail);
		if (!r)
			r = put_setting(unite, unite->nr_buffers + i, "weft/recording", member->name,
					strlen(member->name), fail);
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

		if (asprintf(&member->names[i], "%s%s%s", member->name, instance && *instance ? "." : "",
			     instance ? instance : "") < 0) {
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
				   .ids = malloc(EVENT_TYPES_MAX * sizeof(*member->ids)),
				   .binders = calloc(nr, sizeof(*member->binders)),
				   .names = calloc(nr, sizeof(*member->names)) };
	if (!member->ids || !member->binders || !member->names)
		return fail_memory(fail);
	for (uint32_t id = 0; id < EVENT_TYPES_MAX; id++)
		member->ids[id] = (uint16_t)id;
	r = is_alike(unite, trace_info(trace), fail);
	if (!r)
		r = carried_init(&member->carried, trace, fail);
	for (size_t i = 0; !r && i < member->carried.metadata.nr_formats; i++)
		r = take_format(unite, member, &member->carried.metadata.formats[i], fail);
	if (!r)
		r = take_names(member, fail);
	if (!r)
		r = take_settings(unite, member, fail);
	if (!r)
		r = take_symbols(unite, member, fail);
	unite->nr_buffers += (uint32_t)trace_buffers(trace);
	return r;
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
	int64_t ts;
	int r = 0;

	if (event->ts > INT64_MAX || __builtin_add_overflow((int64_t)event->ts, member->offset, &ts) || ts < 0)
		return fail_set(fail, -ERANGE, "with the offset %" PRId64 " an event would be before the time 0",
				member->offset);
	record.ts = (uint64_t)ts;
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
	/* The times already include the offsets. */
	metadata.has_ts_offset = false;
	metadata.ts_offset = 0;
	metadata.tsc_mult = 1;
	metadata.tsc_shift = 0;
	for (size_t i = 1; i < unite->nr_members; i++) {
		const struct writer_metadata *other = &unite->members[i].carried.metadata;

		metadata.has_tsc2nsec |= other->has_tsc2nsec;
		if (other->cpu_count > metadata.cpu_count)
			metadata.cpu_count = other->cpu_count;
	}
	if (!same_names(unite)) {
		metadata.cmdlines = NULL;
		metadata.cmdlines_len = 0;
	}
	return metadata;
}

static int write_member(struct member *member, struct part *part, struct writer *writer, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < trace_buffers(member->trace); i++) {
		const struct trace_buffer *buffer = trace_buffer(member->trace, i);

		r = made_file_buffer(writer, member->names[i], buffer, fail);
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
		r = write_member(&unite->members[i], part, writer, fail);
	return r;
}

int unite_write(struct unite *unite, int fd, uint64_t *ret_size, struct fail *fail)
{
	const struct writer_options form = recast_form(&unite->form, unite->members[0].trace);
	const struct writer_metadata metadata = metadata_of(unite);

	return made_file_write(fd, &form, &metadata, write_buffers, unite, ret_size, fail);
}
