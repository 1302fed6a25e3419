// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fail.h"
#include "lib/codec/frame.h"
#include "lib/trace/body_internal.h"
#include "lib/trace/internal.h"
#include "lib/trace/sums_internal.h"
#include "lib/trace/writer_internal.h"

#include <errno.h>
#include <string.h>

static int add_buf(struct writer *writer, const struct buf *buf, struct fail *fail)
{
	return output_add(&writer->output, buf->data, buf->len, fail);
}

static int patch_u64(struct writer *writer, uint64_t offset, uint64_t value, struct fail *fail)
{
	if (writer->swap)
		value = __builtin_bswap64(value);
	return output_patch(&writer->output, offset, &value, sizeof(value), fail);
}

int v7_begin(struct writer *writer, struct fail *fail)
{
	cleanup_buf struct buf head = BUF_INIT;
	/* Readers match the name and ignore zstd's version; "none" has an empty one. */
	bool ok = put_initial_head(&head, writer) &&
		  (writer->options.compress ? buf_add(&head, "zstd\0001.5", 9) : buf_add(&head, "none\0", 6));

	writer->done = head.len;
	if (!ok || !put_u64(&head, 0, false))
		return fail_memory(fail);
	return add_buf(writer, &head, fail);
}

/* Writes the head of a section; `name` goes to the strings. */
static int add_section_head(struct writer *writer, unsigned id, unsigned flags, const char *name, uint64_t size,
			    struct fail *fail)
{
	cleanup_buf struct buf head = BUF_INIT;
	uint32_t string = (uint32_t)writer->strings.len;

	if (!buf_add(&writer->strings, name, strlen(name) + 1) || !put_u16(&head, (uint16_t)id, writer->swap) ||
	    !put_u16(&head, (uint16_t)flags, writer->swap) || !put_u32(&head, string, writer->swap) ||
	    !put_u64(&head, size, writer->swap))
		return fail_memory(fail);
	return add_buf(writer, &head, fail);
}

/* Writes a section whose body of `usize` bytes is one frame. */
static int add_frame(struct writer *writer, unsigned id, const char *name, const char *frame, size_t size, size_t usize,
		     struct fail *fail)
{
	cleanup_buf struct buf sizes = BUF_INIT;
	int r;

	if (size > UINT32_MAX || usize > UINT32_MAX)
		return fail_set(fail, -EFBIG, "the section '%s' of %zu bytes is too large", name, usize);
	if (!put_u32(&sizes, (uint32_t)size, writer->swap) || !put_u32(&sizes, (uint32_t)usize, writer->swap))
		return fail_memory(fail);
	r = add_section_head(writer, id, SECTION_COMPRESSED, name, sizes.len + size, fail);
	r = r ? r : add_buf(writer, &sizes, fail);
	return r ? r : output_add(&writer->output, frame, size, fail);
}

/* Writes a whole section, compressed if the file is and `plain` is not set. */
static int add_section(struct writer *writer, unsigned id, const char *name, const struct buf *body, bool plain,
		       struct fail *fail)
{
	cleanup_buf struct buf packed = BUF_INIT;
	size_t bound = frame_bound(body->len), len;
	int r;

	if (plain || !writer->frames) {
		r = add_section_head(writer, id, 0, name, body->len, fail);
		return r ? r : add_buf(writer, body, fail);
	}
	if (!buf_reserve(&packed, bound))
		return fail_memory(fail);
	r = frame_write(writer->frames, body->data, body->len, packed.data, bound, &len, fail);
	return r ? r : add_frame(writer, id, name, packed.data, len, body->len, fail);
}

/* Links the options that are about to be written to the ones before. */
static int add_options(struct writer *writer, struct buf *options, struct fail *fail)
{
	uint64_t offset = writer->output.at;
	int r;

	if (!put_option_u64(options, OPTION_DONE, 0, writer->swap))
		return fail_memory(fail);
	r = add_section(writer, OPTION_DONE, "options", options, true, fail);
	if (!r)
		r = patch_u64(writer, writer->done, offset, fail);
	writer->done = writer->output.at - sizeof(uint64_t);
	return r;
}

/* The latency text is stored like pages: in chunks. */
static int add_latency(struct writer *writer, const struct writer_metadata *metadata, struct buf *options,
		       struct fail *fail)
{
	enum { CHUNK = 40960 };
	const char *text = metadata->latency;
	cleanup_buf struct buf body = BUF_INIT, packed = BUF_INIT, option = BUF_INIT;
	uint64_t offset = writer->output.at;
	uint32_t chunks = (uint32_t)((metadata->latency_len + CHUNK - 1) / CHUNK);
	int r;

	if (!put_u64(&option, offset, writer->swap) || !buf_add(&option, "", 1) ||
	    !buf_add_str(&option, metadata->clock ? metadata->clock : "") || !buf_add(&option, "", 1) ||
	    !put_option(options, OPTION_BUFFER_TEXT, option.data, option.len, writer->swap))
		return fail_memory(fail);
	if (!writer->frames) {
		if (!buf_add(&body, text, metadata->latency_len))
			return fail_memory(fail);
		return add_section(writer, OPTION_BUFFER_TEXT, "buffer latency", &body, true, fail);
	}
	if (!put_u32(&body, chunks, writer->swap) || !buf_reserve(&packed, frame_bound(CHUNK)))
		return fail_memory(fail);
	for (size_t done = 0, len; done < metadata->latency_len; done += CHUNK) {
		size_t left = metadata->latency_len - done, size = left < CHUNK ? left : CHUNK;

		r = frame_write(writer->frames, text + done, size, packed.data, packed.size, &len, fail);
		if (r)
			return r;
		if (!put_u32(&body, (uint32_t)len, writer->swap) || !put_u32(&body, (uint32_t)size, writer->swap) ||
		    !buf_add(&body, packed.data, len))
			return fail_memory(fail);
	}
	r = add_section_head(writer, OPTION_BUFFER_TEXT, SECTION_COMPRESSED, "buffer latency", body.len, fail);
	return r ? r : add_buf(writer, &body, fail);
}

static int add_settings(struct writer *writer, const struct writer_metadata *metadata, struct fail *fail)
{
	cleanup_buf struct buf body = BUF_INIT;

	if (!metadata->nr_settings)
		return 0;
	if (!body_settings(&body, metadata, false, writer->swap))
		return fail_memory(fail);
	return add_section(writer, SECTION_SETTINGS, "weft settings", &body, false, fail);
}

struct metadata_section {
	unsigned id;
	const char *name;
	bool (*build)(struct buf *buf, const struct writer_metadata *metadata, bool swap);
};

static int add_metadata(struct writer *writer, const struct writer_metadata *metadata,
			const struct metadata_section *section, struct fail *fail)
{
	cleanup_buf struct buf body = BUF_INIT;

	if (section->id == OPTION_KALLSYMS && metadata->kallsyms_frame)
		return add_frame(writer, section->id, section->name, metadata->kallsyms_frame,
				 metadata->kallsyms_frame_len, metadata->kallsyms_size, fail);
	if (!section->build(&body, metadata, writer->swap))
		return fail_memory(fail);
	return add_section(writer, section->id, section->name, &body, false, fail);
}

int v7_metadata(struct writer *writer, const struct writer_metadata *metadata, struct fail *fail)
{
	static const struct metadata_section sections[] = {
		{ OPTION_HEADER_INFO, "headers", body_headers },
		{ OPTION_FTRACE_FORMATS, "ftrace events", body_ftrace },
		{ OPTION_EVENT_FORMATS, "events format", body_events },
		{ OPTION_KALLSYMS, "kallsyms", body_kallsyms },
		{ OPTION_PRINTK, "printk", body_printk },
		{ OPTION_CMDLINES, "command lines", body_cmdlines },
	};
	cleanup_buf struct buf options = BUF_INIT;
	uint64_t at = 0;
	int r;

	for (size_t i = 0; i < array_size(sections); i++) {
		at = writer->output.at;
		r = add_metadata(writer, metadata, &sections[i], fail);
		if (r)
			return r;
		/* Readers expect the command lines among the last. */
		if (sections[i].id != OPTION_CMDLINES &&
		    !put_option_u64(&options, (uint16_t)sections[i].id, at, writer->swap))
			return fail_memory(fail);
	}
	r = add_settings(writer, metadata, fail);
	if (r)
		return r;
	if (!options_first(&options, metadata, writer->swap) ||
	    !put_option_u64(&options, OPTION_CMDLINES, at, writer->swap) ||
	    !options_last(&options, metadata, writer->swap))
		return fail_memory(fail);
	if (metadata->latency) {
		r = add_latency(writer, metadata, &options, fail);
		if (r)
			return r;
	}
	return add_options(writer, &options, fail);
}

int v7_begin_ring(struct writer *writer, struct writer_ring *ring, struct fail *fail)
{
	char name[128];

	ring->offset = writer->output.at;
	snprintf(name, sizeof(name), "buffer flyrecord%s%s", *ring->name ? " " : "", ring->name);
	return add_section_head(writer, OPTION_BUFFER, writer->options.compress ? SECTION_COMPRESSED : 0, name, 0,
				fail);
}

int v7_end_ring(struct writer *writer, struct writer_ring *ring, struct fail *fail)
{
	uint64_t body = ring->offset + SECTION_HEAD_SIZE;

	return patch_u64(writer, body - sizeof(uint64_t), writer->output.at - body, fail);
}

static bool put_ring(struct buf *options, const struct writer_ring *ring, bool swap)
{
	cleanup_buf struct buf data = BUF_INIT;

	if (!put_u64(&data, ring->offset, swap) || !buf_add(&data, ring->name, strlen(ring->name) + 1) ||
	    !buf_add(&data, ring->clock, strlen(ring->clock) + 1) || !put_u32(&data, ring->page_size, swap) ||
	    !put_u32(&data, (uint32_t)ring->nr_cpus, swap))
		return false;
	for (size_t i = 0; i < ring->nr_cpus; i++)
		if (!put_u32(&data, ring->cpus[i].cpu, swap) || !put_u64(&data, ring->cpus[i].offset, swap) ||
		    !put_u64(&data, ring->cpus[i].size, swap))
			return false;
	return put_option(options, OPTION_BUFFER, data.data, data.len, swap);
}

int v7_finish(struct writer *writer, struct fail *fail)
{
	cleanup_buf struct buf options = BUF_INIT, strings = BUF_INIT;
	int r;

	for (size_t i = 0; i < writer->nr_rings; i++)
		if (!put_ring(&options, &writer->rings[i], writer->swap))
			return fail_memory(fail);
	r = add_options(writer, &options, fail);
	if (r)
		return r;
	/* The strings also contain the name of their own section. */
	if (!buf_add(&strings, writer->strings.data, writer->strings.len) || !buf_add(&strings, "strings", 8))
		return fail_memory(fail);
	r = add_section(writer, OPTION_STRINGS, "strings", &strings, false, fail);
	return r ? r : sums_write(writer, NULL, fail);
}
