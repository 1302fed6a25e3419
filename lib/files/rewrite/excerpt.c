// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/rewrite/excerpt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/rewrite/binder.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/names/symbols.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/carried.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"

struct excerpt {
	struct trace *trace;
	struct recast_options form;
	struct binder **binders; /* for each buffer of the trace; NULL until it has an event */
	uint64_t count;
	uint64_t ts_offset; /* the offset that the events' time stamps include */
	struct carried carried;
	struct buf stats;     /* texts of the settings with the counts of the excerpt */
	const char *chosen;   /* lines for the setting weft/selected; NULL: nothing was left out */
	struct buf *selected; /* the text of that setting of each buffer */
	bool all_selected;    /* `in_all` is the text of that setting of all buffers */
	struct buf in_all;
	char divided[64];     /* the text of the setting weft/divided; "": the setting is kept */
	struct buf *told;     /* for each buffer the text of the setting weft/told_names */
	struct u64_map named; /* by buffer and PID: the hash of the name that `told` has last */
	struct excerpt_newer newer;
	struct buf symbols; /* those that are kept; empty: all of the trace */
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
	excerpt->ts_offset = trace_ts_offset(trace);
	u64_map_init(&excerpt->named, sizeof(uint64_t));
	excerpt->binders = calloc(trace_buffers(trace) + 1, sizeof(*excerpt->binders));
	excerpt->told = calloc(trace_buffers(trace) + 1, sizeof(*excerpt->told));
	if (!excerpt->binders || !excerpt->told) {
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
	for (size_t i = 0; excerpt->selected && i < trace_buffers(excerpt->trace); i++)
		buf_release(&excerpt->selected[i]);
	for (size_t i = 0; excerpt->told && i < trace_buffers(excerpt->trace); i++)
		buf_release(&excerpt->told[i]);
	u64_map_release(&excerpt->named);
	free(excerpt->told);
	free(excerpt->selected);
	free(excerpt->binders);
	carried_release(&excerpt->carried);
	buf_release(&excerpt->stats);
	buf_release(&excerpt->symbols);
	buf_release(&excerpt->in_all);
	free(excerpt);
}

/*
 * A task that saved_cmdlines lacks, or that has several names, is called as the events of the trace or the trace
 * itself say, which the excerpt may lack. Returns false without memory.
 */
static bool keep_name(struct excerpt *excerpt, size_t buffer, const struct event *event)
{
	const struct context *context = event->type->context;
	struct buf *told = &excerpt->told[buffer];
	struct task_name name;
	uint64_t *last, hash;

	if (event->pid <= 0 || (task_known(context->tasks, event->pid) && !context_renames(context, event->pid)))
		return true;
	name = context_comm(context, event->pid, event->ts);
	if (name.text == task_no_name)
		return true;
	hash = xxh64(name.text, name.len);
	last = u64_map_add(&excerpt->named, (uint64_t)buffer << 32 | (uint32_t)event->pid);
	if (!last || *last == hash)
		return last;
	*last = hash;
	return buf_addf(told, "%" PRIu64 " %" PRId32 " %" PRIu32 " ", event->ts - excerpt->ts_offset, event->pid,
			name.len) &&
	       buf_add(told, name.text, name.len) && buf_add(told, "\n", 1);
}

int excerpt_add(struct excerpt *excerpt, size_t buffer, const struct event *event, int64_t lost, struct fail *fail)
{
	const struct trace_info *info = trace_info(excerpt->trace);
	const struct page_shape shape = { .size = trace_buffer(excerpt->trace, buffer)->page_size,
					  .long_size = info->long_size,
					  .swap = info->swap };
	const struct record record = { .ts = event->ts - excerpt->ts_offset, .data = event->data, .len = event->len };
	int r = 0;

	if (!excerpt->binders[buffer])
		r = binder_new(&shape, excerpt->form.temporaries, &excerpt->binders[buffer], fail);
	if (!r)
		r = binder_add(excerpt->binders[buffer], event->cpu, &record, lost, fail);
	if (!r && !keep_name(excerpt, buffer, event))
		r = fail_memory(fail);
	excerpt->count += !r;
	return r;
}

void excerpt_newer(struct excerpt *excerpt, const struct excerpt_newer *newer)
{
	excerpt->newer = *newer;
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

void excerpt_selected(struct excerpt *excerpt, const char *lines)
{
	excerpt->chosen = lines && *lines ? lines : NULL;
}

int excerpt_selected_in_all(struct excerpt *excerpt, const char *lines, struct fail *fail)
{
	excerpt->all_selected = true;
	buf_clear(&excerpt->in_all);
	return buf_add_str(&excerpt->in_all, lines) ? 0 : fail_memory(fail);
}

void excerpt_divided(struct excerpt *excerpt, uint64_t part, uint64_t events)
{
	struct trace_text before = trace_setting(excerpt->trace, 0, SETTING_DIVIDED);

	if (part)
		snprintf(excerpt->divided, sizeof(excerpt->divided), "part %" PRIu64 "%s", part,
			 before.text ? " of a part" : "");
	else
		snprintf(excerpt->divided, sizeof(excerpt->divided), "of %" PRIu64 " events", events);
}

int excerpt_symbols(struct excerpt *excerpt, const char *text, size_t len, struct fail *fail)
{
	buf_clear(&excerpt->symbols);
	return buf_add(&excerpt->symbols, text, len) ? 0 : fail_memory(fail);
}

static void drop_setting(struct excerpt *excerpt, const char *name)
{
	struct writer_metadata *metadata = &excerpt->carried.metadata;
	size_t kept = 0;

	for (size_t i = 0; i < metadata->nr_settings; i++)
		if (strcmp(excerpt->carried.settings[i].name, name))
			excerpt->carried.settings[kept++] = excerpt->carried.settings[i];
	metadata->nr_settings = kept;
}

static int add_setting(struct excerpt *excerpt, size_t buffer, const char *name, const char *text, size_t len,
		       struct fail *fail)
{
	struct writer_metadata *metadata = &excerpt->carried.metadata;
	struct writer_setting *setting = vec_push(excerpt->carried.settings, metadata->nr_settings);

	if (!setting)
		return fail_memory(fail);
	*setting = (struct writer_setting){ .buffer = (uint32_t)buffer, .name = name, .text = text, .len = len };
	metadata->settings = excerpt->carried.settings;
	return 0;
}

/*
 * Events between the lists of tasks and the excerpt are not in it, so what the lists say may have changed meanwhile. A
 * descriptor soon has another file: of these the list is left out.
 */
static void age_lists(struct excerpt *excerpt)
{
	static const char *const names[][2] = { { "weft/tasks", "weft/tasks_before" },
						{ "weft/tasks_end", "weft/tasks_after" } };

	for (size_t i = 0; i < excerpt->carried.metadata.nr_settings; i++)
		for (size_t j = 0; j < array_size(names); j++)
			if (!strcmp(excerpt->carried.settings[i].name, names[j][0]))
				excerpt->carried.settings[i].name = names[j][1];
}

static int add_told(struct excerpt *excerpt, struct fail *fail)
{
	int r = 0;

	age_lists(excerpt);
	drop_setting(excerpt, "weft/open_files");
	drop_setting(excerpt, SETTING_TOLD_NAMES);
	for (size_t i = 0; !r && i < trace_buffers(excerpt->trace); i++) {
		const struct buf *told = &excerpt->told[i];

		if (told->len)
			r = add_setting(excerpt, i, SETTING_TOLD_NAMES, told->data, told->len, fail);
	}
	return r;
}

/* Says what was left out, now and where the trace was made before. */
static int say_selected(struct excerpt *excerpt, struct fail *fail)
{
	size_t nr = trace_buffers(excerpt->trace);
	int r = 0;

	if (!excerpt->chosen && !excerpt->all_selected)
		return 0;
	excerpt->selected = calloc(nr + 1, sizeof(*excerpt->selected));
	if (!excerpt->selected)
		return fail_memory(fail);
	drop_setting(excerpt, SETTING_SELECTED);
	for (size_t i = 0; !r && i < nr; i++) {
		struct trace_text before = trace_setting(excerpt->trace, i, SETTING_SELECTED);
		struct buf *text = &excerpt->selected[i];

		if (excerpt->all_selected)
			before = (struct trace_text){ excerpt->in_all.data, excerpt->in_all.len };
		if (!buf_addf(text, "%.*s%s", (int)before.len, before.text ? before.text : "",
			      excerpt->chosen ? excerpt->chosen : ""))
			return fail_memory(fail);
		if (text->len)
			r = add_setting(excerpt, i, SETTING_SELECTED, buf_str(text), text->len, fail);
	}
	return r;
}

static int say_divided(struct excerpt *excerpt, struct fail *fail)
{
	if (*excerpt->divided || excerpt->all_selected)
		drop_setting(excerpt, SETTING_DIVIDED);
	return *excerpt->divided ?
		       add_setting(excerpt, 0, SETTING_DIVIDED, excerpt->divided, strlen(excerpt->divided), fail) :
		       0;
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

	if (excerpt->symbols.len) {
		metadata->kallsyms = excerpt->symbols.data;
		metadata->kallsyms_len = excerpt->symbols.len;
		return 0;
	}
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

static void take_newer(struct excerpt *excerpt)
{
	const struct excerpt_newer *newer = &excerpt->newer;
	struct writer_metadata *metadata = &excerpt->carried.metadata;

	if (newer->cmdlines && newer->cmdlines->len) {
		metadata->cmdlines = newer->cmdlines->data;
		metadata->cmdlines_len = newer->cmdlines->len;
	}
	if (newer->kallsyms && newer->kallsyms->len) {
		metadata->kallsyms = newer->kallsyms->data;
		metadata->kallsyms_len = newer->kallsyms->len;
	}
}

int excerpt_write(struct excerpt *excerpt, int fd, uint64_t *ret_size, struct fail *fail)
{
	const struct writer_options form = recast_form(&excerpt->form, excerpt->trace);
	int r = carried_init(&excerpt->carried, excerpt->trace, fail);

	if (!r)
		take_newer(excerpt);
	if (!r)
		r = count(excerpt, fail);
	if (!r)
		r = say_selected(excerpt, fail);
	if (!r)
		r = say_divided(excerpt, fail);
	if (!r)
		r = add_told(excerpt, fail);
	if (!r)
		r = choose_symbols(excerpt, fail);
	if (!r)
		r = made_file_write(fd, &form, &excerpt->carried.metadata, write_buffers, excerpt, ret_size, fail);
	return r;
}
