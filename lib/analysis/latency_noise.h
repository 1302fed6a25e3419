/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_LATENCY_NOISE_H
#define WEFT_ANALYSIS_LATENCY_NOISE_H

#include "lib/base/cleanup.h"
#include "lib/base/samples.h"
#include "lib/base/u64_map.h"
#include "lib/event/place.h"
#include "lib/event/roles.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct findings;
struct pass;

/*
 * What took the CPU from the threads of the tracer osnoise. A thread reads the clock in a loop; where two readings are
 * further apart than its threshold that is a noise (sample_threshold), and the events irq_noise and so on tell what ran
 * meanwhile, each without what interrupted it. The noises of a period add up to the sample that the tracer writes at
 * its end.
 */
enum noise_part {
	NOISE_NMI,
	NOISE_IRQ,
	NOISE_SOFTIRQ,
	NOISE_THREAD,
	NOISE_HARDWARE, /* the kernel has counted nothing that ran meanwhile */
	NOISE_WAY,      /* all that the kernel has counted is known: into them, out of them, between them */
	NOISE_UNKNOWN,  /* what it has counted, and no event tells */
	NOISE_PARTS,
};

enum { NOISE_NO_SOURCE = UINT32_MAX };

/* A noise, or the noises of a sample. */
struct noise {
	uint64_t lasted, at;
	uint64_t parts[NOISE_PARTS];
	uint64_t count;            /* interferences by the kernel's count; noises of a sample that the file has */
	uint64_t runtime, largest; /* of a sample */
	uint64_t most;             /* of a single source */
	uint32_t source;           /* which; NOISE_NO_SOURCE */
	uint32_t cpu;
};

/* Something that ran; `start` is of the kernel's local clock, whichever the trace has. */
struct noise_piece {
	uint64_t start, duration, at; /* at: of its event, which comes when it has ended */
	uint32_t source;              /* NOISE_NO_SOURCE */
	uint8_t part;                 /* enum noise_part */
};

struct noises {
	struct pass *pass;
	size_t worst;
	struct roles roles;
	struct noise_places {
		struct place start, duration, interference, number, name, noise, runtime, largest;
	} * places;            /* by role */
	struct samples lasted; /* noises; for a comparison, as those of the sources */
	struct noise_source {
		uint64_t total, count, max, max_at;
		struct samples lasted;
		uint32_t max_cpu;
		int32_t number; /* a vector, or a PID */
		uint8_t part;   /* enum noise_part */
		char name[32];
		char called[48]; /* without its PID */
	} * sources;
	size_t nr_sources;
	struct u64_map by_key; /* uint32_t, index + 1 */
	struct noise_cpu {
		struct noise_piece *pieces; /* a ring of what ran last */
		uint64_t nr;
		struct noise period; /* since the last sample */
		bool sampled;        /* there was one */
		bool lost;           /* events, in this period */
	} * cpus;
	size_t nr_cpus;
	struct noise_list {
		struct noise *items; /* the longest first */
		size_t nr;
	} longest, samples;
	uint64_t nr_noises, nr_samples, cut, broken;
	uint64_t unexplained; /* noises of CPUs on which no event has told what ran */
	uint64_t wrong;       /* parts that do not add up */
	bool failed;
};

/* False: no memory. Borrows the pass. */
bool must_check noises_init(struct noises *noises, struct pass *pass, size_t worst);
void noises_release(struct noises *noises);

void noises_see(struct noises *noises, const struct event *event);

/* What ran on a CPU, the last first; false after the oldest that is kept. */
bool noises_back(const struct noises *noises, uint32_t cpu, size_t index, struct noise_piece *ret);
/* How an event has called the thread of this PID; NULL: none has. */
const char *noises_thread(const struct noises *noises, int32_t pid);

/* Whether there is anything to tell. */
bool noises_any(const struct noises *noises);
void noises_put(struct noises *noises, struct findings *findings);

#endif
