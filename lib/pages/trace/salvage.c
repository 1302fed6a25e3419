// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/trace/internal.h"

/*
 * Finds pages of a version 7 file that was cut: the description of the pages stood after them and is lost. Each chunk
 * has its length, so the chunks of each CPU can be found again; raw pages cannot be told apart.
 */
enum { CHUNK_HEAD_SIZE = 8 };

/* The CPUs with events, in order, from the kernel's counters among the options. */
struct cpu_order {
	uint32_t *cpus;
	size_t count;
};

static uint64_t counter(const char *text, const char *end, const char *name)
{
	const char *at = memmem(text, (size_t)(end - text), name, strlen(name));

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static int read_order(struct trace *trace, struct cpu_order *order, struct fail *fail)
{
	const char *text = buf_str(&trace->cpustat);
	uint32_t *cpu;

	for (const char *next; (text = strstr(text, "CPU: ")); text = next) {
		const char *end = strstr(text + 5, "CPU: ");

		next = end ? end : text + strlen(text);
		if (!counter(text, next, "entries: ") && !counter(text, next, "read events: "))
			continue;
		cpu = vec_push(order->cpus, order->count);
		if (!cpu)
			return fail_memory(fail);
		*cpu = (uint32_t)strtoul(text + 5, NULL, 10);
	}
	return 0;
}

/*
 * Walks the chunks from `at`: *ret_end is the offset after the last whole one; the result shows whether all are there.
 */
static bool walk_chunks(const struct trace *trace, uint64_t at, uint64_t end, uint32_t count, uint64_t *ret_end)
{
	uint8_t head[CHUNK_HEAD_SIZE];

	for (at += sizeof(count); count; count--) {
		uint32_t packed, size;

		*ret_end = at;
		if (end - at < sizeof(head) || input_read(&trace->input, at, head, sizeof(head), NULL))
			return false;
		packed = load_u32(head, trace->info.swap);
		size = load_u32(head + 4, trace->info.swap);
		if (!size || size > TRACE_CHUNK_MAX || packed > end - at - sizeof(head) ||
		    !frame_size_plausible(packed, size))
			return false;
		at += sizeof(head) + packed;
	}
	*ret_end = at;
	return true;
}

/* Finds the chunks of each CPU between `at` and `end`; the last ones may be cut. */
static int find_cpus(struct trace *trace, uint64_t at, uint64_t end, struct trace_cpu **ret, size_t *ret_count,
		     struct fail *fail)
{
	cleanup_free struct trace_cpu *cpus = NULL;
	struct trace_cpu *cpu;
	uint64_t align = trace->info.page_size;
	size_t count = 0;
	bool whole = true;

	while (whole && count < TRACE_CPUS_MAX) {
		uint8_t data[4];
		uint32_t chunks;
		uint64_t behind;

		at = (at + align - 1) & -align;
		if (at > end || end - at < sizeof(data) || input_read(&trace->input, at, data, sizeof(data), NULL))
			break;
		chunks = load_u32(data, trace->info.swap);
		if (!chunks) {
			at += align; /* padding */
			continue;
		}
		whole = walk_chunks(trace, at, end, chunks, &behind);
		cpu = vec_push(cpus, count);
		if (!cpu)
			return fail_memory(fail);
		/* One byte too many marks the CPU as cut: readers then stop at the end of the file. */
		*cpu = (struct trace_cpu){ .offset = at, .size = whole ? behind - at : trace->input.size - at + 1 };
		at = behind;
	}
	*ret = take(cpus);
	*ret_count = count;
	return 0;
}

int salvage_ring(struct trace *trace, uint64_t at, uint64_t size, bool compressed, struct fail *fail)
{
	uint64_t end = size ? at + size : trace->input.size;
	cleanup_free struct trace_cpu *cpus = NULL;
	struct cpu_order order = { .cpus = NULL };
	struct trace_ring *ring;
	char name[32] = "";
	size_t count = 0, nr;
	int r = 0;

	if (compressed)
		r = find_cpus(trace, at, end, &cpus, &count, fail);
	if (!r)
		r = read_order(trace, &order, fail);
	if (r || !count) {
		free(order.cpus);
		return r;
	}
	for (size_t i = 0; i < count; i++)
		cpus[i].cpu = count <= order.count ? order.cpus[i] : (uint32_t)i;
	nr = count;
	for (size_t i = count; !r && i < order.count; i++) {
		struct trace_cpu *cpu = vec_push(cpus, nr);

		/* Its pages were cut off. */
		if (cpu)
			*cpu = (struct trace_cpu){ .cpu = order.cpus[i], .offset = trace->input.size, .size = 1 };
		else
			r = -ENOMEM;
	}
	trace_note_damage(trace, trace->input.size,
			  "the file ends there, before the table that says which CPU each page belongs "
			  "to; pages of %zu CPU%s were found%s",
			  count, count == 1 ? "" : "s", count <= order.count ? "" : ", whose numbers are a guess");
	free(order.cpus);
	if (r)
		return fail_memory(fail);
	if (trace->nr_rings)
		snprintf(name, sizeof(name), "buffer-%zu", trace->nr_rings);
	r = trace_add_ring(trace, name, NULL, trace->info.page_size, &ring, fail);
	if (r)
		return r;
	ring->pub.compressed = compressed;
	return ring_set_cpus(trace, ring, cpus, nr, fail);
}
