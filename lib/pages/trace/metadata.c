// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/trace/internal.h"
#include "lib/pages/trace/private_section_internal.h"

/*
 * The bodies of the metadata regions, which are the same in both versions. Sizes and names are parsed from the loaded
 * body; the texts stay in it.
 */
static const struct {
	const char *what;
	size_t cap;
} regions[REGION_NR] = {
	[REGION_HEADERS] = { "the page header's description", HEADERS_TEXT_MAX },
	[REGION_FTRACE] = { "the ftrace formats", FORMATS_TEXT_MAX },
	[REGION_EVENTS] = { "the event formats", FORMATS_TEXT_MAX },
	[REGION_KALLSYMS] = { "kallsyms", TRACE_TEXT_MAX },
	[REGION_PRINTK] = { "printk formats", TRACE_TEXT_MAX },
	[REGION_CMDLINES] = { "command lines", TRACE_TEXT_MAX },
	[REGION_LATENCY] = { "the latency text", TRACE_TEXT_MAX },
	[REGION_SETTINGS] = { "the settings", SETTINGS_TEXT_MAX },
};

/* Takes a u64 or u32 size and as many bytes of text. */
static bool take_text(struct bytes *in, size_t size_of_size, struct trace_text *ret)
{
	const uint8_t *at;
	uint64_t size = 0;
	uint32_t small = 0;

	if (size_of_size == 8 ? !bytes_u64(in, &size) : !bytes_u32(in, &small))
		return false;
	size += small;
	if (size > in->left || !bytes_take(in, (size_t)size, &at))
		return false;
	*ret = (struct trace_text){ .text = (const char *)at, .len = (size_t)size };
	return true;
}

/*
 * Makes room for a NUL after a text whose next byte belongs to the following entry: the text moves down by one byte,
 * into its size, which was read. This avoids a copy of megabytes.
 */
static void terminate(struct trace_text *text)
{
	char *at = (char *)(uintptr_t)text->text - 1;

	memmove(at, text->text, text->len);
	at[text->len] = 0;
	text->text = at;
}

static int add_format(struct trace *trace, struct trace_text system, struct trace_text text, struct fail *fail)
{
	struct trace_format *added;

	if (trace->nr_formats >= FORMATS_MAX)
		return fail_set(fail, -EBADMSG, "there are more than %d event formats", FORMATS_MAX);
	added = vec_push(trace->formats, trace->nr_formats);
	if (!added)
		return fail_memory(fail);
	*added = (struct trace_format){ .system = system, .text = text };
	return 0;
}

/* Parses up to `count` formats of one system. */
static int parse_system(struct trace *trace, struct bytes *in, struct trace_text system, uint32_t count,
			struct fail *fail)
{
	while (count--) {
		struct trace_text text;
		int r;

		if (!take_text(in, 8, &text))
			return fail_set(fail, -EBADMSG, "a format of system '%.*s' is larger than what remains",
					system.len < 64 ? (int)system.len : 64, system.text);
		r = add_format(trace, system, text, fail);
		if (r)
			return r;
		terminate(&trace->formats[trace->nr_formats - 1].text);
	}
	return 0;
}

static int parse_ftrace(struct trace *trace, struct bytes *in, struct fail *fail)
{
	static const struct trace_text ftrace = { .text = "ftrace", .len = 6 };
	uint32_t count;

	if (!bytes_u32(in, &count))
		return fail_set(fail, -EBADMSG, "they are empty");
	return parse_system(trace, in, ftrace, count, fail);
}

static int parse_events(struct trace *trace, struct bytes *in, struct fail *fail)
{
	uint32_t systems, count;

	if (!bytes_u32(in, &systems))
		return fail_set(fail, -EBADMSG, "they are empty");
	while (systems--) {
		struct trace_text system;
		int r;

		if (!bytes_cstr(in, &system.text, &system.len) || !bytes_u32(in, &count))
			return fail_set(fail, -EBADMSG, "they end inside the name of a system");
		r = parse_system(trace, in, system, count, fail);
		if (r)
			return r;
	}
	return 0;
}

bool header_number(const char *text, const char *field, const char *name, uint32_t *ret)
{
	const char *line = strstr(text, field), *end, *at;

	if (!line)
		return false;
	end = strchrnul(line, '\n');
	at = strstr(line, name);
	if (!at || at >= end)
		return false;
	*ret = (uint32_t)strtoul(at + strlen(name), NULL, 10);
	return true;
}

/*
 * Finds the size of the kernel's long and the offset of a page's data: kernel/trace/ring_buffer.c,
 * ring_buffer_print_page_header().
 */
static void apply_header_page(struct trace *trace)
{
	const char *text = trace->meta[TRACE_HEADER_PAGE].text;
	struct trace_info *info = &trace->info;
	uint32_t size, offset;

	if (!text)
		return;
	if (header_number(text, " commit;", "size:", &size) && (size == 4 || size == 8)) {
		info->long_size = (uint8_t)size;
		info->page_data_offset = 8 + size;
	}
	if (header_number(text, " data;", "offset:", &offset) && offset >= 8 && offset < info->page_size)
		info->page_data_offset = offset;
}

static int parse_headers(struct trace *trace, struct bytes *in, struct fail *fail)
{
	struct trace_text *page = &trace->meta[TRACE_HEADER_PAGE], *event = &trace->meta[TRACE_HEADER_EVENT];
	const char *name;
	size_t len;

	if (!bytes_cstr(in, &name, &len) || strcmp(name, "header_page") || !take_text(in, 8, page))
		return fail_set(fail, -EBADMSG, "no header_page is there");
	if (!bytes_cstr(in, &name, &len) || strcmp(name, "header_event") || !take_text(in, 8, event)) {
		terminate(page);
		apply_header_page(trace);
		return fail_set(fail, -EBADMSG, "no header_event is there");
	}
	terminate(page);
	terminate(event);
	apply_header_page(trace);
	return 0;
}

static int load(struct trace *trace, enum region_id id, struct bytes *ret, struct fail *fail)
{
	size_t len;
	int r;

	free(trace->bodies[id]);
	trace->bodies[id] = NULL;
	r = region_load(trace, &trace->regions[id], regions[id].cap, &trace->bodies[id], &len, fail);
	if (!r)
		r = trace_count_text(trace, len, fail);
	if (!r)
		*ret = bytes_of(trace->bodies[id], len, trace->info.swap);
	return r;
}

int metadata_load(struct trace *trace, struct fail *fail)
{
	static const struct {
		enum region_id id;
		int (*parse)(struct trace *trace, struct bytes *in, struct fail *fail);
	} parsers[] = {
		{ REGION_HEADERS, parse_headers },
		{ REGION_FTRACE, parse_ftrace },
		{ REGION_EVENTS, parse_events },
	};

	trace->meta_loaded[TRACE_HEADER_PAGE] = trace->meta_loaded[TRACE_HEADER_EVENT] = true;
	for (size_t i = 0; i < array_size(parsers); i++) {
		enum region_id id = parsers[i].id;
		struct fail why = FAIL_INIT;
		struct bytes in;
		int r;

		if (!trace->regions[id].present) {
			if (id == REGION_HEADERS)
				trace_note_damage(trace, 0, "%s is missing", regions[id].what);
			continue;
		}
		r = load(trace, id, &in, &why);
		if (!r)
			r = parsers[i].parse(trace, &in, &why);
		if (r == -ENOMEM)
			return fail_memory(fail);
		if (r)
			trace_note_damage(trace, trace->regions[id].offset, "%s: %s", regions[id].what, why.text);
	}
	return 0;
}

/* Loads regions that are a size and one text. */
static int load_sized(struct trace *trace, enum region_id id, size_t size_of_size, struct trace_text *ret,
		      struct fail *fail)
{
	const struct region *region = &trace->regions[id];
	struct bytes in;
	int r;

	if (!region->present)
		return 0;
	r = load(trace, id, &in, fail);
	if (!r && !size_of_size) {
		*ret = (struct trace_text){ .text = (const char *)in.at, .len = in.left };
		return 0;
	}
	if (!r && !take_text(&in, size_of_size, ret))
		r = fail_set(fail, -EBADMSG, "the text is larger than its section");
	if (r)
		return fail_in(fail, r, "'%s': %s at offset %" PRIu64, trace->path, regions[id].what, region->offset);
	terminate(ret);
	return 0;
}

static struct trace_text text_of(const char *text)
{
	return (struct trace_text){ .text = text, .len = text ? strlen(text) : 0 };
}

/* Loads one of the texts that are read when they are first asked for. The lock is held. */
static int meta_load(struct trace *trace, enum trace_meta which, struct trace_text *text, struct fail *fail)
{
	static const struct {
		enum region_id id;
		size_t size_of_size;
	} texts[TRACE_META_NR] = {
		[TRACE_KALLSYMS] = { REGION_KALLSYMS, 4 },
		[TRACE_PRINTK] = { REGION_PRINTK, 4 },
		[TRACE_CMDLINES] = { REGION_CMDLINES, 8 },
		[TRACE_LATENCY] = { REGION_LATENCY, 0 },
	};
	int r = 0;

	switch (which) {
	case TRACE_HEADER_PAGE:
	case TRACE_HEADER_EVENT:
	case TRACE_META_NR:
		break;
	case TRACE_UNAME:
		*text = text_of(trace->uname);
		break;
	case TRACE_VERSION:
		*text = text_of(trace->version);
		break;
	case TRACE_CPUSTAT:
		*text = text_of(trace->cpustat.len ? buf_str(&trace->cpustat) : NULL);
		break;
	case TRACE_KALLSYMS:
	case TRACE_PRINTK:
	case TRACE_CMDLINES:
	case TRACE_LATENCY:
		r = load_sized(trace, texts[which].id, texts[which].size_of_size, text, fail);
		if (!r && which == TRACE_LATENCY && !text->text)
			*text = trace_setting(trace, 0, SETTING_LATENCY);
		break;
	}
	return r;
}

int trace_meta(struct trace *trace, enum trace_meta which, struct trace_text *ret, struct fail *fail)
{
	int r = 0;

	pthread_mutex_lock(&trace->lock);
	if (!trace->meta_loaded[which])
		r = meta_load(trace, which, &trace->meta[which], fail);
	trace->meta_loaded[which] |= !r;
	if (!r)
		*ret = trace->meta[which];
	pthread_mutex_unlock(&trace->lock);
	return r;
}
