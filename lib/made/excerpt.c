// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/made/excerpt.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/event/event.h"
#include "lib/made/binder.h"
#include "lib/names/symbol_subset.h"
#include "lib/ring/page.h"
#include "lib/trace/carried.h"
#include "lib/trace/made_file.h"
#include "lib/trace/trace.h"
#include "lib/trace/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct excerpt {
	struct trace *trace;
	struct recast_options form;
	struct binder **binders; /* for each buffer of the trace; NULL until it has an event */
	uint64_t count;
	int64_t ts_offset; /* the offset that the events' time stamps include */
	struct carried carried;
	struct buf stats;   /* texts of the settings with the counts of the excerpt */
	struct buf symbols; /* those that the excerpt's events need; empty: all are kept */
};

/* If the pages are more than this many times as large as all symbols, a choice would make the file little smaller. */
enum { LITTLE_BESIDE = 2 };

int excerpt_new(struct trace *trace, const struct recast_options *form, struct excerpt **ret, struct fail *fail)
{
	struct excerpt *excerpt = calloc(1, sizeof(*excerpt));

	if (!excerpt)
		return fail_memory(fail);
	excerpt->trace = trace;
	excerpt->form = *form;
	excerpt->ts_offset = trace_info(trace)->ts_offset + trace_info(trace)->date_offset_ns;
	excerpt->binders = calloc(trace_buffers(trace) + 1, sizeof(*excerpt->binders));
	if (!excerpt->binders) {
		excerpt_free(excerpt);
		return fail_memory(fail);
	}
	*ret = excerpt;
	return 0;
}

void excerpt_free(struct excerpt *excerpt)
{
	if (!excerpt)
		return;
	for (size_t i = 0; excerpt->binders && i < trace_buffers(excerpt->trace); i++)
		binder_free(excerpt->binders[i]);
	free(excerpt->binders);
	carried_release(&excerpt->carried);
	buf_release(&excerpt->stats);
	buf_release(&excerpt->symbols);
	free(excerpt);
}

int excerpt_add(struct excerpt *excerpt, size_t buffer, const struct event *event, int64_t lost, struct fail *fail)
{
	const struct trace_info *info = trace_info(excerpt->trace);
	const struct page_shape shape = { .size = trace_buffer(excerpt->trace, buffer)->page_size,
					  .long_size = info->long_size,
					  .swap = info->swap };
	const struct record record = { .ts = event->ts - (uint64_t)excerpt->ts_offset,
				       .data = event->data,
				       .len = event->len };
	int r = 0;

	if (!excerpt->binders[buffer])
		r = binder_new(&shape, excerpt->form.temporaries, &excerpt->binders[buffer], fail);
	if (!r)
		r = binder_add(excerpt->binders[buffer], event->cpu, &record, lost, fail);
	excerpt->count += !r;
	return r;
}

uint64_t excerpt_count(const struct excerpt *excerpt)
{
	return excerpt->count;
}

uint64_t excerpt_size(const struct excerpt *excerpt)
{
	uint64_t size = 0;

	for (size_t i = 0; i < trace_buffers(excerpt->trace); i++)
		size += excerpt->binders[i] ? binder_size(excerpt->binders[i]) : 0;
	return size;
}

static bool counts_all(const char *name)
{
	return !strcmp(name, "weft/entries") ||
	       (!strncmp(name, "per_cpu/", 8) && strlen(name) > 6 && !strcmp(name + strlen(name) - 6, "/stats"));
}

/* Adds a setting with the counts of a CPU. The settings' texts are offsets into `stats` until all were added. */
static int count_cpu(struct excerpt *excerpt, size_t buffer, uint32_t cpu, uint64_t records, uint64_t lost,
		     struct fail *fail)
{
	struct writer_metadata *metadata = &excerpt->carried.metadata;
	struct writer_setting *setting = vec_push(excerpt->carried.settings, metadata->nr_settings);
	size_t name = excerpt->stats.len, text;

	if (!setting || !buf_addf(&excerpt->stats, "per_cpu/cpu%" PRIu32 "/stats", cpu) ||
	    !buf_add(&excerpt->stats, "", 1))
		return fail_memory(fail);
	text = excerpt->stats.len;
	if (!buf_addf(&excerpt->stats,
		      "entries: %" PRIu64 "\noverrun: %" PRIu64
		      "\ncommit overrun: 0\ndropped events: 0\nread events: 0\n",
		      records, lost) ||
	    !buf_add(&excerpt->stats, "", 1))
		return fail_memory(fail);
	*setting = (struct writer_setting){ .buffer = (uint32_t)buffer,
					    .name = (const char *)name,
					    .text = (const char *)text,
					    .len = excerpt->stats.len - text - 1 };
	return 0;
}

/* Replaces the counts of the trace by the counts of the excerpt. */
static int count(struct excerpt *excerpt, struct fail *fail)
{
	struct writer_metadata *metadata = &excerpt->carried.metadata;
	size_t kept = 0, first;
	int r = 0;

	for (size_t i = 0; i < metadata->nr_settings; i++)
		if (!counts_all(excerpt->carried.settings[i].name))
			excerpt->carried.settings[kept++] = excerpt->carried.settings[i];
	metadata->nr_settings = first = kept;
	for (size_t i = 0; !r && i < trace_buffers(excerpt->trace); i++) {
		const struct binder *binder = excerpt->binders[i];
		uint64_t records, lost;

		for (uint32_t cpu = 0; !r && binder && cpu < binder_cpus(binder); cpu++)
			if (binder_count(binder, cpu, &records, &lost))
				r = count_cpu(excerpt, i, cpu, records, lost, fail);
	}
	for (size_t i = first; !r && i < metadata->nr_settings; i++) {
		struct writer_setting *setting = &excerpt->carried.settings[i];

		setting->name = excerpt->stats.data + (size_t)setting->name;
		setting->text = excerpt->stats.data + (size_t)setting->text;
	}
	metadata->settings = excerpt->carried.settings;
	metadata->nr_cpustats = 0;
	metadata->latency = NULL;
	metadata->latency_len = 0;
	/* The events' times are already in ns. */
	metadata->tsc_mult = 1;
	metadata->tsc_shift = 0;
	return r;
}

static void see_page(void *arg, const struct page_shape *shape, const uint8_t *page)
{
	symbol_subset_pages(arg, shape, page, shape->size);
}

static int see_all(struct excerpt *excerpt, struct symbol_subset *subset, struct fail *fail)
{
	const struct writer_metadata *metadata = &excerpt->carried.metadata;
	int r = 0;

	for (size_t i = 0; !r && i < metadata->nr_formats; i++)
		r = symbol_subset_format(subset, metadata->formats[i].text, metadata->formats[i].len, fail);
	for (size_t i = 0; !r && i < metadata->nr_settings; i++)
		symbol_subset_text(subset, metadata->settings[i].text, metadata->settings[i].len);
	for (size_t i = 0; !r && i < trace_buffers(excerpt->trace); i++)
		if (excerpt->binders[i])
			r = binder_show(excerpt->binders[i], see_page, subset, fail);
	return r;
}

/* Addresses of the last boot do not match its symbols. */
static bool is_of_last_boot(const struct writer_metadata *metadata)
{
	for (size_t i = 0; i < metadata->nr_settings; i++)
		if (!strcmp(metadata->settings[i].name, "last_boot_info") && metadata->settings[i].len)
			return true;
	return false;
}

/* A few events need few of the kernel's symbols, which would be nearly all of the file. */
static int choose_symbols(struct excerpt *excerpt, struct fail *fail)
{
	struct writer_metadata *metadata = &excerpt->carried.metadata;
	struct symbol_subset *subset = NULL;
	int r;

	if (excerpt_size(excerpt) / LITTLE_BESIDE >= metadata->kallsyms_len || is_of_last_boot(metadata))
		return 0;
	r = symbol_subset_new(metadata->kallsyms, metadata->kallsyms_len, trace_info(excerpt->trace)->long_size,
			      &subset, fail);
	if (!r && subset)
		r = see_all(excerpt, subset, fail);
	if (!r && subset)
		r = symbol_subset_take(subset, &excerpt->symbols, fail);
	symbol_subset_free(subset);
	if (!r && excerpt->symbols.len) {
		metadata->kallsyms = excerpt->symbols.data;
		metadata->kallsyms_len = excerpt->symbols.len;
	}
	return r;
}

static int write_buffers(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	struct excerpt *excerpt = arg;
	int r = 0;

	for (size_t i = 0; !r && i < trace_buffers(excerpt->trace); i++) {
		const struct trace_buffer *buffer = trace_buffer(excerpt->trace, i);

		r = made_file_buffer(writer, buffer->name.text, buffer, fail);
		if (!r && excerpt->binders[i])
			r = binder_write(excerpt->binders[i], part, writer, fail);
	}
	return r;
}

int excerpt_write(struct excerpt *excerpt, int fd, uint64_t *ret_size, struct fail *fail)
{
	const struct writer_options form = recast_form(&excerpt->form, excerpt->trace);
	int r = carried_init(&excerpt->carried, excerpt->trace, fail);

	if (!r)
		r = count(excerpt, fail);
	if (!r)
		r = choose_symbols(excerpt, fail);
	if (!r)
		r = made_file_write(fd, &form, &excerpt->carried.metadata, write_buffers, excerpt, ret_size, fail);
	return r;
}
