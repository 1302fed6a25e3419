// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is found in a file while it is opened: its sections, its buffers with the pages of their CPUs, and damage. */
#include "lib/pages/trace/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"

void trace_note_damage(struct trace *trace, uint64_t offset, const char *format, ...)
{
	struct fail what;
	va_list args;

	if (trace->damage.text[0])
		return;
	va_start(args, format);
	vsnprintf(what.text, sizeof(what.text), format, args);
	va_end(args);
	fail_set(&trace->damage, 0, "'%s' is damaged at offset %" PRIu64 ": %s", trace->path, offset, what.text);
}

int trace_add_section(struct trace *trace, uint64_t offset, uint64_t size, uint64_t raw_size, struct fail *fail,
		      const char *format, ...)
{
	struct trace_section *section;
	char *what;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&what, format, args);
	va_end(args);
	section = len < 0 ? NULL : vec_push(trace->sections, trace->nr_sections);
	if (!section) {
		if (len >= 0)
			free(what);
		return fail_memory(fail);
	}
	*section = (struct trace_section){ .what = what, .offset = offset, .size = size, .raw_size = raw_size };
	return 0;
}

bool page_size_ok(uint32_t page_size)
{
	return page_size >= TRACE_PAGE_MIN && page_size <= TRACE_PAGE_MAX && !(page_size & (page_size - 1));
}

int trace_add_ring(struct trace *trace, const char *name, const char *clock, uint32_t page_size,
		   struct trace_ring **ret, struct fail *fail)
{
	struct trace_ring *ring;

	if (trace->nr_rings >= TRACE_BUFFERS_MAX)
		return fail_set(fail, -EBADMSG, "broken: it has more than %d buffers", TRACE_BUFFERS_MAX);
	ring = vec_push(trace->rings, trace->nr_rings);
	if (!ring)
		return fail_memory(fail);
	*ring = (struct trace_ring){ .name = strdup(name), .clock = clock ? strdup(clock) : NULL };
	if (!ring->name || (clock && !ring->clock)) {
		free(ring->name);
		free(ring->clock);
		trace->nr_rings--;
		return fail_memory(fail);
	}
	ring->pub.name = (struct trace_text){ .text = ring->name, .len = strlen(name) };
	ring->pub.clock = (struct trace_text){ .text = ring->clock, .len = clock ? strlen(clock) : 0 };
	ring->pub.page_size = page_size;
	*ret = ring;
	return 0;
}

static int compare_cpus(const void *a, const void *b)
{
	const struct trace_cpu *left = a, *right = b;

	return (left->cpu > right->cpu) - (left->cpu < right->cpu);
}

/* Reports pages beyond the end of the file, and keeps those before it. */
static void clip_cpu(struct trace *trace, const struct trace_ring *ring, struct trace_cpu *cpu, bool *ret_cut)
{
	uint64_t end = trace->input.size, whole = cpu->size;

	*ret_cut = cpu->offset > end || cpu->size > end - cpu->offset;
	if (!*ret_cut)
		return;
	cpu->size = cpu->offset > end ? 0 : end - cpu->offset;
	trace_note_damage(trace, cpu->size ? end : cpu->offset,
			  "the pages of CPU %" PRIu32 "%s%s end after %" PRIu64 " of %" PRIu64 " bytes", cpu->cpu,
			  *ring->name ? " of instance " : "", ring->name, cpu->size, whole);
}

int ring_set_cpus(struct trace *trace, struct trace_ring *ring, const struct trace_cpu *cpus, size_t count,
		  struct fail *fail)
{
	size_t kept = 0;

	ring->cpus = calloc(count ? count : 1, sizeof(*cpus));
	ring->cut = calloc(count ? count : 1, sizeof(*ring->cut));
	if (!ring->cpus || !ring->cut)
		return fail_memory(fail);
	if (count)
		memcpy(ring->cpus, cpus, count * sizeof(*cpus));
	qsort(ring->cpus, count, sizeof(*cpus), compare_cpus);
	for (size_t i = 0; i < count; i++) {
		struct trace_cpu cpu = ring->cpus[i];

		if (!cpu.size)
			continue;
		if (cpu.cpu >= TRACE_CPUS_MAX || (kept && ring->cpus[kept - 1].cpu == cpu.cpu)) {
			trace_note_damage(trace, cpu.offset, "there is no place for pages of a CPU %" PRIu32, cpu.cpu);
			continue;
		}
		clip_cpu(trace, ring, &cpu, &ring->cut[kept]);
		ring->cpus[kept++] = cpu;
	}
	ring->pub.cpus = ring->cpus;
	ring->pub.nr_cpus = kept;
	return 0;
}
