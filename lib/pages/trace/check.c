// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/trace/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/internal.h"
#include "lib/pages/trace/sums_internal.h"

struct check {
	struct trace *trace;
	void (*found)(void *arg, uint64_t offset, const char *text);
	void *arg;
	struct check_summary summary;
	bool found_some;
};

__attribute__((format(printf, 3, 4))) static void found(struct check *check, uint64_t offset, const char *format, ...)
{
	struct fail text;
	va_list args;

	va_start(args, format);
	vsnprintf(text.text, sizeof(text.text), format, args);
	va_end(args);
	check->found_some = true;
	check->found(check->arg, offset, text.text);
}

/* Checks sections of version 7 that nothing else loads: those that hold one compressed block. */
static int check_section(struct check *check, const struct trace_section *section, struct fail *fail)
{
	struct trace *trace = check->trace;
	uint8_t head[SECTION_HEAD_SIZE];
	cleanup_free char *data = NULL;
	struct fail why = FAIL_INIT;
	struct region region;
	uint16_t id;
	size_t len;
	int r;

	check->summary.sections++;
	/* The header and pages are not sections of their own. */
	if (!section->offset || !strncmp(section->what, "pages of", 8) || section->size < sizeof(head))
		return 0;
	r = input_read(&trace->input, section->offset, head, sizeof(head), fail);
	if (r)
		return r;
	id = load_u16(head, trace->info.swap);
	if (id == OPTION_BUFFER || !(load_u16(head + 2, trace->info.swap) & SECTION_COMPRESSED))
		return 0;
	region = (struct region){ .offset = section->offset + sizeof(head),
				  .size = section->size - sizeof(head),
				  .present = true,
				  .packed = true,
				  .chunked = id == OPTION_BUFFER_TEXT };
	r = region_load(trace, &region, TRACE_TEXT_MAX, &data, &len, &why);
	if (r == -ENOMEM)
		return fail_memory(fail);
	if (r)
		found(check, section->offset, "%s: %s", section->what, why.text);
	return 0;
}

static int check_pages(struct check *check, size_t buffer, size_t cpu, struct frame_reader *reader, struct buf *scratch,
		       struct buf *data, struct fail *fail)
{
	enum { READ_SIZE = 1 << 20 };
	struct fail why = FAIL_INIT;
	struct trace_pages pages;
	size_t size;
	int r = trace_pages_init(&pages, check->trace, buffer, cpu, &why);

	while (!r) {
		r = trace_pages_size(&pages, READ_SIZE, &size, &why);
		if (r <= 0)
			break;
		buf_clear(data);
		if (!buf_reserve(data, size))
			return fail_memory(fail);
		r = trace_pages_read(&pages, reader, scratch, data->data, size, &why);
		if (r)
			break;
		if (size % pages.buffer->page_size && pages.buffer->compressed)
			found(check, pages.next,
			      "the pages of CPU %" PRIu32 ": a chunk of %zu bytes holds no whole pages of %" PRIu32,
			      pages.cpu->cpu, size, pages.buffer->page_size);
		check->summary.pages += size;
		check->summary.chunks += pages.buffer->compressed;
	}
	if (r == -ENOMEM)
		return fail_memory(fail);
	if (r < 0)
		found(check, pages.next, "%s", why.text);
	return 0;
}

static int check_rings(struct check *check, struct fail *fail)
{
	cleanup_buf struct buf scratch = BUF_INIT, data = BUF_INIT;
	struct frame_reader *reader;
	int r = trace_frame_reader(check->trace, &reader, fail);

	for (size_t i = 0; !r && i < trace_buffers(check->trace); i++)
		for (size_t j = 0; !r && j < trace_buffer(check->trace, i)->nr_cpus; j++)
			r = check_pages(check, i, j, reader, &scratch, &data, fail);
	return r;
}

/* Reports overlaps and bytes that belong to no section; pages are inside the section of their buffer. */
static void check_places(struct check *check)
{
	const struct trace *trace = check->trace;
	uint64_t end = 0, pages_end = 0;
	bool nested = trace->info.version == 7;

	for (size_t i = 0; i < trace->nr_sections; i++) {
		const struct trace_section *section = &trace->sections[i];
		bool pages = !strncmp(section->what, "pages of", 8);
		uint64_t *behind = pages && nested ? &pages_end : &end;

		if (section->offset < *behind && section->size)
			found(check, section->offset, "the %s overlap what comes before them", section->what);
		if (section->offset + section->size > *behind)
			*behind = section->offset + section->size;
	}
	if (!trace->damage.text[0] && end < trace->input.size)
		found(check, end, "%" PRIu64 " bytes at the end of the file belong to no section",
		      trace->input.size - end);
}

int trace_check(struct trace *trace, void (*callback)(void *arg, uint64_t offset, const char *text), void *arg,
		struct check_summary *ret, struct fail *fail)
{
	struct check check = { .trace = trace, .found = callback, .arg = arg };
	int r = 0;

	for (size_t i = 0; !r && trace->info.version == 7 && i < trace->nr_sections; i++)
		r = check_section(&check, &trace->sections[i], fail);
	if (!r)
		r = check_rings(&check, fail);
	if (r)
		return r;
	check_places(&check);
	/* With known damage the sums would only report the same again. */
	r = check.found_some || trace->damage.text[0] ? 0 : sums_check(trace, callback, arg, fail);
	if (r)
		return r;
	if (trace->info.version == 6)
		check.summary.sections = trace->nr_sections;
	*ret = check.summary;
	return 0;
}
