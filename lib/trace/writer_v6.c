// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fail.h"
#include "lib/trace/body_internal.h"
#include "lib/trace/internal.h"
#include "lib/trace/private_section_internal.h"
#include "lib/trace/sums_internal.h"
#include "lib/trace/writer_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/*
 * Version 6 announces instances in the options, before all pages, when the instances are not known yet. Room for them
 * is reserved by an option whose content readers ignore, because a later option of the same kind replaces it.
 */
enum { RESERVE_SIZE = 4096, OPTION_HEAD_SIZE = 6 };

static int add_buf(struct writer *writer, const struct buf *buf, struct fail *fail)
{
	return output_add(&writer->output, buf->data, buf->len, fail);
}

int v6_begin(struct writer *writer, struct fail *fail)
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

int v6_metadata(struct writer *writer, const struct writer_metadata *metadata, struct fail *fail)
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

int v6_begin_ring(struct writer *writer, struct writer_ring *ring, struct fail *fail)
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

int v6_end_ring(struct writer *writer, struct writer_ring *ring, struct fail *fail)
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

int v6_finish(struct writer *writer, struct fail *fail)
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
