// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/trace/writer.h"

#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/codec/frame.h"
#include "lib/trace/body_internal.h"
#include "lib/trace/internal.h"
#include "lib/trace/sums_internal.h"
#include "lib/trace/writer_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

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

bool put_initial_head(struct buf *buf, const struct writer *writer)
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
	writer->has_sums = metadata->nr_settings && writer->output.readable >= 0;
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
