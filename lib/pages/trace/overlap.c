// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/trace/internal.h"

/*
 * Resolves pages that several CPUs claim: otherwise thousands of CPUs could share a few bytes, and each would be read.
 * The first claim in the order of the file counts; the other CPUs lose those pages.
 */
struct claim {
	size_t ring, cpu; /* indices */
	uint64_t offset, size;
};

static int compare_claims(const void *a, const void *b)
{
	const struct claim *left = a, *right = b;

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	if (left->ring != right->ring)
		return left->ring < right->ring ? -1 : 1;
	return (left->cpu > right->cpu) - (left->cpu < right->cpu);
}

static struct claim *claims_of(const struct trace *trace, size_t *ret_count)
{
	struct claim *claims;
	size_t count = 0;

	for (size_t i = 0; i < trace->nr_rings; i++)
		count += trace->rings[i].pub.nr_cpus;
	claims = calloc(count + 1, sizeof(*claims));
	if (!claims)
		return NULL;
	count = 0;
	for (size_t i = 0; i < trace->nr_rings; i++)
		for (size_t j = 0; j < trace->rings[i].pub.nr_cpus; j++) {
			const struct trace_cpu *cpu = &trace->rings[i].cpus[j];

			claims[count++] =
				(struct claim){ .ring = i, .cpu = j, .offset = cpu->offset, .size = cpu->size };
		}
	*ret_count = count;
	return claims;
}

/*
 * Removes the CPUs that have no pages any more. A CPU whose pages were cut off by the end of the file stays: it is
 * reported as cut.
 */
static void drop_cpus(struct trace_ring *ring)
{
	size_t kept = 0;

	for (size_t i = 0; i < ring->pub.nr_cpus; i++) {
		if (ring->cpus[i].cpu == UINT32_MAX)
			continue;
		ring->cut[kept] = ring->cut[i];
		ring->cpus[kept++] = ring->cpus[i];
	}
	ring->pub.nr_cpus = kept;
}

int trace_take_overlaps(struct trace *trace, struct fail *fail)
{
	size_t count = 0, first = 0, dropped = 0;
	cleanup_free struct claim *claims = claims_of(trace, &count);
	uint64_t end = 0;

	if (!claims)
		return fail_memory(fail);
	qsort(claims, count, sizeof(*claims), compare_claims);
	for (size_t i = 0; i < count; i++) {
		const struct claim *claim = &claims[i];

		if (claim->size && claim->offset < end) {
			trace->rings[claim->ring].cpus[claim->cpu].cpu = UINT32_MAX;
			if (!dropped++)
				first = i;
		} else if (claim->size) {
			end = claim->offset + claim->size;
		}
	}
	if (!dropped)
		return 0;
	for (size_t i = 0; i < trace->nr_rings; i++)
		drop_cpus(&trace->rings[i]);
	trace_note_damage(trace, claims[first].offset,
			  "the pages of %zu CPU%s overlap the pages of another CPU, and are left out", dropped,
			  dropped == 1 ? "" : "s");
	return 0;
}
