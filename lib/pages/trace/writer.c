// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/trace/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/body_internal.h"
#include "lib/pages/trace/internal.h"
#include "lib/pages/trace/output.h"
#include "lib/pages/trace/private_section_internal.h"
#include "lib/pages/trace/sums_internal.h"
#include "lib/pages/trace/trace.h"

/* A buffer of the file: the data about it so far. */
struct writer_ring {
	char *name, *clock;
	uint32_t page_size;
	uint64_t offset; /* of its section (v7) or its table (v6) */
	struct trace_cpu *cpus;
	size_t nr_cpus;
};

struct writer {
	struct output output;
	struct writer_options options;
	bool swap;
	bool has_metadata;
	bool has_sums;               /* from the setting "weft/sums" */
	struct frame_writer *frames; /* NULL when nothing is compressed */
	struct writer_ring *rings;
	size_t nr_rings;
	uint32_t cpu_count;
	uint64_t done;                 /* v7: where the offset of the next options goes */
	struct buf strings;            /* v7: names of the sections */
	uint64_t reserve, reserve_end; /* v6: room among the options, for those that announce instances */
	bool has_clock;                /* v6: the top table has a clock after it */
	struct buf settings;           /* v6: the body, which goes to the end */
};

static inline struct writer_ring *writer_last_ring(struct writer *writer)
{
	return writer->nr_rings ? &writer->rings[writer->nr_rings - 1] : NULL;
}

/*
 * The pages of a CPU begin at multiples of the buffer's page size and of the page size with which readers may map the
 * file.
 */
static inline uint64_t writer_align(const struct writer_ring *ring)
{
	enum { MAPPABLE = 4096 };

	return ring->page_size > MAPPABLE ? ring->page_size : MAPPABLE;
}

static bool put_initial_head(struct buf *buf, const struct writer *writer);

/*
 * Version 6 announces instances in the options, before all pages, when the instances are not known yet. Room for them
 * is reserved by an option whose content readers ignore, because a later option of the same kind replaces it.
 */
enum { RESERVE_SIZE = 4096, OPTION_HEAD_SIZE = 6 };

static int add_buf(struct writer *writer, const struct buf *buf, struct fail *fail)
{
	return output_add(&writer->output, buf->data, buf->len, fail);
}

static int v6_begin(struct writer *writer, struct fail *fail)
{
	cleanup_buf struct buf head = BUF_INIT;

	if (!put_initial_head(&head, writer))
		return fail_memory(fail);
	return add_buf(writer, &head, fail);
}

/* Writes the remaining room as such an option. */
static bool put_reserve(struct buf *buf, size_t size, bool swap)
{
	static const char zeros[RESERVE_SIZE];

	return put_option(buf, OPTION_VERSION, zeros, size - OPTION_HEAD_SIZE, swap);
}

static bool put_options(struct writer *writer, struct buf *buf, const struct writer_metadata *metadata)
{
	uint64_t start = writer->output.at;

	if (!put_u32(buf, metadata->cpu_count, writer->swap) || !buf_add(buf, "options  ", 10))
		return false;
	writer->reserve = start + buf->len;
	writer->reserve_end = writer->reserve + RESERVE_SIZE;
	return put_reserve(buf, RESERVE_SIZE, writer->swap) && options_first(buf, metadata, writer->swap) &&
	       options_last(buf, metadata, writer->swap) && put_u16(buf, OPTION_DONE, writer->swap);
}

static int v6_metadata(struct writer *writer, const struct writer_metadata *metadata, struct fail *fail)
{
	static bool (*const builders[])(struct buf * buf, const struct writer_metadata *metadata, bool swap) = {
		body_headers, body_ftrace, body_events, body_kallsyms, body_printk, body_cmdlines,
	};
	cleanup_buf struct buf options = BUF_INIT;

	for (size_t i = 0; i < array_size(builders); i++) {
		cleanup_buf struct buf body = BUF_INIT;
		int r;

		if (!builders[i](&body, metadata, writer->swap))
			return fail_memory(fail);
		r = add_buf(writer, &body, fail);
		if (r)
			return r;
	}
	writer->has_clock = metadata->clock;
	if ((metadata->nr_settings || metadata->latency) &&
	    !body_settings(&writer->settings, metadata, true, writer->swap))
		return fail_memory(fail);
	if (!put_options(writer, &options, metadata))
		return fail_memory(fail);
	return add_buf(writer, &options, fail);
}

/* Announces an instance whose table is at `offset`. */
static int announce(struct writer *writer, const char *name, uint64_t offset, struct fail *fail)
{
	cleanup_buf struct buf options = BUF_INIT;
	size_t room = (size_t)(writer->reserve_end - writer->reserve), len = strlen(name) + 1;

	if (len > room || room - len < 2 * OPTION_HEAD_SIZE + sizeof(offset))
		return fail_set(fail, -ENOSPC, "version 6 of trace.dat has no room for instance '%s'; use version 7",
				name);
	if (!put_u16(&options, OPTION_BUFFER, writer->swap) ||
	    !put_u32(&options, (uint32_t)(sizeof(offset) + len), writer->swap) ||
	    !put_u64(&options, offset, writer->swap) || !buf_add(&options, name, len))
		return fail_memory(fail);
	len = options.len;
	if (!put_reserve(&options, room - len, writer->swap))
		return fail_memory(fail);
	offset = writer->reserve;
	writer->reserve += len;
	return output_patch(&writer->output, offset, options.data, options.len, fail);
}

static bool put_table(struct buf *buf, const struct writer *writer, const struct writer_ring *ring, uint64_t nowhere)
{
	size_t next = 0;

	for (uint32_t cpu = 0; cpu < writer->cpu_count; cpu++) {
		struct trace_cpu place = { .offset = nowhere };

		if (next < ring->nr_cpus && ring->cpus[next].cpu == cpu)
			place = ring->cpus[next++];
		if (!put_u64(buf, place.offset, writer->swap) || !put_u64(buf, place.size, writer->swap))
			return false;
	}
	return true;
}

/* Writes everything before the pages of a buffer; its table is patched when its pages are known. */
static int add_table(struct writer *writer, struct writer_ring *ring, bool has_clock, struct fail *fail)
{
	cleanup_buf struct buf table = BUF_INIT;
	size_t clock_len = strlen(ring->clock);
	int r;

	ring->offset = writer->output.at;
	if (!buf_add(&table, "flyrecord", 10) || !put_table(&table, writer, ring, 0) ||
	    (has_clock && (!put_u64(&table, clock_len, writer->swap) || !buf_add(&table, ring->clock, clock_len))))
		return fail_memory(fail);
	r = add_buf(writer, &table, fail);
	return r ? r : output_align(&writer->output, writer_align(ring), fail);
}

static int v6_begin_ring(struct writer *writer, struct writer_ring *ring, struct fail *fail)
{
	if (ring->page_size != writer->options.page_size)
		return fail_set(fail, -EINVAL,
				"version 6 of trace.dat has only one page size, %" PRIu32 " and not %" PRIu32,
				writer->options.page_size, ring->page_size);
	if ((writer->nr_rings == 1) != !*ring->name)
		return fail_set(fail, -EINVAL, "version 6 of trace.dat needs the top buffer first");
	if (*ring->name) {
		int r = announce(writer, ring->name, writer->output.at, fail);

		if (r)
			return r;
	}
	return add_table(writer, ring, *ring->name || writer->has_clock, fail);
}

static int v6_end_ring(struct writer *writer, struct writer_ring *ring, struct fail *fail)
{
	cleanup_buf struct buf table = BUF_INIT;

	if (ring->nr_cpus && ring->cpus[ring->nr_cpus - 1].cpu >= writer->cpu_count)
		return fail_set(fail, -EINVAL, "there is a CPU %" PRIu32 " in a trace.dat of %" PRIu32 " CPUs",
				ring->cpus[ring->nr_cpus - 1].cpu, writer->cpu_count);
	/* Empty CPUs also have an aligned place. */
	if (!put_table(&table, writer, ring, writer->output.at & -writer_align(ring)))
		return fail_memory(fail);
	return output_patch(&writer->output, ring->offset + 10, table.data, table.len, fail);
}

static int v6_finish(struct writer *writer, struct fail *fail)
{
	uint64_t offset = writer->output.at + sums_size(writer);
	struct buf *settings = &writer->settings;
	int r;

	if (!settings->len)
		return 0;
	if (!put_u64(settings, offset, writer->swap) ||
	    !buf_add(settings, SETTINGS_TRAILER_MAGIC, sizeof(SETTINGS_TRAILER_MAGIC) - 1))
		return fail_memory(fail);
	r = sums_write(writer, settings, fail);
	return r ? r : add_buf(writer, settings, fail);
}

static int patch_u64(struct writer *writer, uint64_t offset, uint64_t value, struct fail *fail)
{
	if (writer->swap)
		value = __builtin_bswap64(value);
	return output_patch(&writer->output, offset, &value, sizeof(value), fail);
}

static int v7_begin(struct writer *writer, struct fail *fail)
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

static int v7_metadata(struct writer *writer, const struct writer_metadata *metadata, struct fail *fail)
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

static int v7_begin_ring(struct writer *writer, struct writer_ring *ring, struct fail *fail)
{
	char name[128];

	ring->offset = writer->output.at;
	snprintf(name, sizeof(name), "buffer flyrecord%s%s", *ring->name ? " " : "", ring->name);
	return add_section_head(writer, OPTION_BUFFER, writer->options.compress ? SECTION_COMPRESSED : 0, name, 0,
				fail);
}

static int v7_end_ring(struct writer *writer, struct writer_ring *ring, struct fail *fail)
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

static int v7_finish(struct writer *writer, struct fail *fail)
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

struct version_ops {
	int (*begin)(struct writer *writer, struct fail *fail);
	int (*metadata)(struct writer *writer, const struct writer_metadata *metadata, struct fail *fail);
	int (*begin_ring)(struct writer *writer, struct writer_ring *ring, struct fail *fail);
	int (*end_ring)(struct writer *writer, struct writer_ring *ring, struct fail *fail);
	int (*finish)(struct writer *writer, struct fail *fail);
};

static const struct version_ops v6_ops = { v6_begin, v6_metadata, v6_begin_ring, v6_end_ring, v6_finish };
static const struct version_ops v7_ops = { v7_begin, v7_metadata, v7_begin_ring, v7_end_ring, v7_finish };

static const struct version_ops *ops_of(const struct writer *writer)
{
	return writer->options.version == 7 ? &v7_ops : &v6_ops;
}

/* The 18 bytes with which files of both versions begin. */
static bool put_initial_head(struct buf *buf, const struct writer *writer)
{
	static const unsigned char magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const struct writer_options *options = &writer->options;
	const char rest[] = { (char)('0' + options->version), 0, options->big_endian, (char)options->long_size };

	return buf_add(buf, magic, sizeof(magic)) && buf_add(buf, rest, sizeof(rest)) &&
	       put_u32(buf, options->page_size, writer->swap);
}

static int check_options(const struct writer_options *options, struct fail *fail)
{
	if (options->version != 6 && options->version != 7)
		return fail_set(fail, -EINVAL, "no version %u of trace.dat; there are 6 and 7", options->version);
	if (options->version == 6 && options->compress)
		return fail_set(fail, -EINVAL, "version 6 of trace.dat cannot be compressed");
	if (!page_size_ok(options->page_size))
		return fail_set(fail, -EINVAL, "pages cannot have %" PRIu32 " bytes", options->page_size);
	if (options->long_size != 4 && options->long_size != 8)
		return fail_set(fail, -EINVAL, "a word cannot have %u bytes", options->long_size);
	return 0;
}

int writer_new(int fd, const struct writer_options *options, struct writer **ret, struct fail *fail)
{
	struct writer *writer;
	int r = check_options(options, fail);

	if (r)
		return r;
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return fail_memory(fail);
	writer->options = *options;
	writer->swap = options->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	r = output_init(&writer->output, fd, fail);
	if (!r && options->compress)
		r = frame_writer_new(options->level ? options->level : FRAME_LEVEL_DEFAULT, &writer->frames, fail);
	if (writer->frames)
		frame_writer_checksum(writer->frames);
	if (!r)
		r = ops_of(writer)->begin(writer, fail);
	if (r) {
		writer_free(writer);
		return r;
	}
	*ret = writer;
	return 0;
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < writer->nr_rings; i++) {
		free(writer->rings[i].name);
		free(writer->rings[i].clock);
		free(writer->rings[i].cpus);
	}
	free(writer->rings);
	frame_writer_free(writer->frames);
	buf_release(&writer->strings);
	buf_release(&writer->settings);
	output_release(&writer->output);
	free(writer);
}

/* Adds the setting that says whether the file has sums; such a setting from another file is dropped. */
static int write_metadata(struct writer *writer, const struct writer_metadata *metadata, struct fail *fail)
{
	struct writer_metadata with = *metadata;
	cleanup_free struct writer_setting *settings = calloc(metadata->nr_settings + 1, sizeof(*settings));

	if (!settings)
		return fail_memory(fail);
	with.settings = settings;
	with.nr_settings = 0;
	for (size_t i = 0; i < metadata->nr_settings; i++)
		if (strcmp(metadata->settings[i].name, SUMS_SETTING))
			settings[with.nr_settings++] = metadata->settings[i];
	if (writer->has_sums)
		settings[with.nr_settings++] =
			(struct writer_setting){ .name = SUMS_SETTING, .text = "xxh64\n", .len = 6 };
	return ops_of(writer)->metadata(writer, &with, fail);
}

int writer_metadata(struct writer *writer, const struct writer_metadata *metadata, struct fail *fail)
{
	if (!metadata->header_page || !metadata->header_event)
		return fail_set(fail, -EINVAL, "a trace.dat needs header_page and header_event");
	if (metadata->kallsyms_frame && !writer->options.compress)
		return fail_set(fail, -EINVAL, "compressed symbols are for a compressed file");
	if (metadata->kallsyms_len > UINT32_MAX || metadata->printk_len > UINT32_MAX ||
	    metadata->kallsyms_frame_len > UINT32_MAX || metadata->kallsyms_size > UINT32_MAX)
		return fail_set(fail, -EFBIG, "kallsyms or printk formats are larger than a trace.dat can hold");
	writer->cpu_count = metadata->cpu_count;
	writer->has_metadata = true;
	writer->has_sums = metadata->nr_settings && writer->output.readable >= 0 && !writer->options.passing;
	return write_metadata(writer, metadata, fail);
}

static int end_ring(struct writer *writer, struct fail *fail)
{
	struct writer_ring *ring = writer_last_ring(writer);

	return ring ? ops_of(writer)->end_ring(writer, ring, fail) : 0;
}

int writer_buffer(struct writer *writer, const char *name, const char *clock, uint32_t page_size, struct fail *fail)
{
	struct writer_ring *ring;
	int r;

	if (!writer->has_metadata)
		return fail_set(fail, -EINVAL, "the metadata must come before the pages");
	if (!page_size_ok(page_size))
		return fail_set(fail, -EINVAL, "pages cannot have %" PRIu32 " bytes", page_size);
	r = end_ring(writer, fail);
	if (r)
		return r;
	ring = vec_push(writer->rings, writer->nr_rings);
	if (!ring)
		return fail_memory(fail);
	*ring = (struct writer_ring){ .name = strdup(name),
				      .clock = strdup(clock ? clock : ""),
				      .page_size = page_size };
	if (!ring->name || !ring->clock)
		return fail_memory(fail);
	return ops_of(writer)->begin_ring(writer, ring, fail);
}

static int add_cpu(struct writer_ring *ring, const struct trace_cpu *cpu, struct fail *fail)
{
	struct trace_cpu *added = vec_push(ring->cpus, ring->nr_cpus);

	if (!added)
		return fail_memory(fail);
	*added = *cpu;
	return 0;
}

int writer_cpu(struct writer *writer, uint32_t cpu, const struct writer_run *runs, size_t nr, struct fail *fail)
{
	uint64_t size = 0;
	uint32_t chunks = 0;
	struct writer_ring *ring = writer_last_ring(writer);
	struct trace_cpu place = { .cpu = cpu };
	int r;

	for (size_t i = 0; i < nr; i++) {
		size += runs[i].size;
		chunks += runs[i].chunks;
	}
	if (!ring)
		return fail_set(fail, -EINVAL, "a buffer must begin before its pages");
	if (cpu >= TRACE_CPUS_MAX || (ring->nr_cpus && ring->cpus[ring->nr_cpus - 1].cpu >= cpu))
		return fail_set(fail, -EINVAL, "the pages of CPU %" PRIu32 " come out of order", cpu);
	if (!size)
		return 0;
	if (!writer->options.compress && size % ring->page_size)
		return fail_set(fail, -EINVAL, "%" PRIu64 " bytes of CPU %" PRIu32 " are no whole pages of %" PRIu32,
				size, cpu, ring->page_size);
	/* They are in their place already. */
	if (nr == 1 && runs->fd == writer->output.fd && !writer->options.compress) {
		place.offset = runs->offset;
		place.size = runs->size;
		return add_cpu(ring, &place, fail);
	}
	r = output_align(&writer->output, writer_align(ring), fail);
	if (r)
		return r;
	place.offset = writer->output.at;
	if (writer->options.compress) {
		uint32_t count = writer->swap ? __builtin_bswap32(chunks) : chunks;

		r = output_add(&writer->output, &count, sizeof(count), fail);
		if (r)
			return r;
	}
	for (size_t i = 0; !r && i < nr; i++)
		r = output_copy(&writer->output, runs[i].fd, runs[i].offset, runs[i].size, fail);
	if (r)
		return fail_in(fail, r, "pages of CPU %" PRIu32, cpu);
	place.size = writer->output.at - place.offset;
	return add_cpu(ring, &place, fail);
}

int writer_skip(struct writer *writer, uint64_t offset, struct fail *fail)
{
	if (offset < writer->output.at)
		return fail_set(fail, -EFBIG, "what comes before the pages has %" PRIu64 " bytes", writer->output.at);
	writer->output.at = offset;
	return 0;
}

int writer_finish(struct writer *writer, struct fail *fail)
{
	int r;

	if (!writer->has_metadata)
		return fail_set(fail, -EINVAL, "a trace.dat needs its metadata");
	r = end_ring(writer, fail);
	if (!r)
		r = ops_of(writer)->finish(writer, fail);
	return r ? r : output_finish(&writer->output, fail);
}

uint64_t writer_size(const struct writer *writer)
{
	return writer->output.at;
}

static int add_sums(int fd, uint64_t covered, struct buf *body, bool swap, struct fail *fail)
{
	cleanup_free char *block = malloc(SUMS_BLOCK);

	if (!block)
		return fail_memory(fail);
	for (uint64_t at = 0; at < covered; at += SUMS_BLOCK) {
		size_t size = covered - at < SUMS_BLOCK ? (size_t)(covered - at) : SUMS_BLOCK, have = 0;

		while (have < size) {
			ssize_t got = io_pread(fd, block + have, size - have, at + have);

			if (got <= 0)
				return fail_set(fail, got ? (int)got : -EIO,
						"cannot read back what was written at offset %" PRIu64 ": %s", at,
						got ? strerror((int)-got) : "it is gone");
			have += (size_t)got;
		}
		if (!put_u64(body, xxh64(block, size), swap))
			return fail_memory(fail);
	}
	return 0;
}

static uint64_t covered_of(const struct writer *writer)
{
	return writer->output.at < SUMS_COVERED_MAX ? writer->output.at : SUMS_COVERED_MAX;
}

uint64_t sums_size(const struct writer *writer)
{
	uint64_t blocks = (covered_of(writer) + SUMS_BLOCK - 1) / SUMS_BLOCK;

	return writer->has_sums ? SECTION_HEAD_SIZE + SUMS_HEAD + blocks * sizeof(uint64_t) + SUMS_TAIL : 0;
}

int sums_write(struct writer *writer, const struct buf *tail, struct fail *fail)
{
	uint64_t covered = covered_of(writer), size = sums_size(writer);
	cleanup_buf struct buf section = BUF_INIT;
	bool swap = writer->swap;
	int r;

	if (!writer->has_sums)
		return 0;
	if (!put_u16(&section, SECTION_SUMS, swap) || !put_u16(&section, 0, swap) ||
	    !put_u32(&section, SECTION_NO_NAME, swap) || !put_u64(&section, size - SECTION_HEAD_SIZE, swap) ||
	    !put_u32(&section, SUMS_VERSION, swap) || !put_u32(&section, SUMS_BLOCK, swap) ||
	    !put_u64(&section, covered, swap) || !put_u64(&section, tail ? tail->len : 0, swap) ||
	    !put_u64(&section, tail ? xxh64(tail->data, tail->len) : 0, swap))
		return fail_memory(fail);
	r = add_sums(writer->output.readable, covered, &section, swap, fail);
	if (r)
		return r;
	if (!put_u64(&section, size, swap) || !put_u64(&section, xxh64(section.data, section.len), swap))
		return fail_memory(fail);
	return output_add(&writer->output, section.data, section.len, fail);
}
