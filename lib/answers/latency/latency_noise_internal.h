/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_LATENCY_LATENCY_NOISE_INTERNAL_H
#define WEFT_ANSWERS_LATENCY_LATENCY_NOISE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/samples.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"

struct event;
struct findings;
struct pass;

/*
 * What took the CPU from the threads of the tracer osnoise. A thread reads the clock in a loop. If two readings are
 * further apart than its threshold, that is a noise (event sample_threshold). The events irq_noise and so on show what
 * ran during it, each without the time of what interrupted it. The noises of a period add up to the sample that the
 * tracer writes at the end of the period.
 */
enum noise_part {
	NOISE_NMI,
	NOISE_IRQ,
	NOISE_SOFTIRQ,
	NOISE_THREAD,
	NOISE_HARDWARE, /* the kernel has counted nothing that ran during the noise */
	NOISE_WAY,      /* the way into, out of and between them, if all that the kernel has counted is known */
	NOISE_UNKNOWN,  /* the kernel has counted something that no event reports */
	NOISE_PARTS,
};

enum { NOISE_NO_SOURCE = UINT32_MAX };

/* A noise, or the sum of the noises of a sample. */
struct noise {
	uint64_t lasted, at;
	uint64_t parts[NOISE_PARTS];
	uint64_t count; /* of a noise: interferences that the kernel counted; of a sample: its noises in the file */
	uint64_t runtime, largest; /* of a sample */
	uint64_t most;             /* the time of the largest source */
	uint32_t source;           /* that source, or NOISE_NO_SOURCE */
	uint32_t cpu;
};

/* Something that ran. `start` counts by the kernel's local clock, whichever clock the trace has. */
struct noise_piece {
	uint64_t start, duration, at; /* at: when its event came, after its end */
	uint32_t source;              /* or NOISE_NO_SOURCE */
	uint8_t part;                 /* enum noise_part */
};

struct noises {
	struct pass *pass;
	size_t worst;
	struct roles roles;
	struct noise_places {
		struct place start, duration, interference, number, name, noise, runtime, largest;
	} * places;            /* by role */
	struct samples lasted; /* times of noises, and of each source below; kept for a comparison */
	struct noise_source {
		uint64_t total, count, max, max_at;
		struct samples lasted;
		uint32_t max_cpu;
		int32_t number; /* a vector, or a PID */
		uint8_t part;   /* enum noise_part */
		char name[32];
	} * sources;
	size_t nr_sources;
	struct u64_map by_key; /* uint32_t, index + 1 */
	struct noise_cpu {
		struct noise_piece *pieces; /* a ring of the last pieces */
		uint64_t nr;
		struct noise period; /* the noises since the last sample */
		bool sampled;        /* the CPU has had a sample */
		bool lost;           /* events were lost in this period */
	} * cpus;
	size_t nr_cpus;
	struct noise_list {
		struct noise *items; /* the longest first */
		size_t nr;
	} longest, samples;
	uint64_t nr_noises, nr_samples, cut, broken;
	uint64_t unexplained; /* noises of CPUs for which no event shows what ran */
	uint64_t wrong;       /* noises whose parts do not add up */
	bool failed;
};

/* Returns false when memory runs out. Borrows the pass. */
bool must_check noises_init(struct noises *noises, struct pass *pass, size_t worst);
void noises_release(struct noises *noises);

/*
 * Returns the role of the type of an event, for noises_see(); 0: it is of no use. Call it with the first event of each
 * type.
 */
uint8_t noises_look(struct noises *noises, const struct event *event);
/* Sees an event with a role, and each gap. */
void noises_see(struct noises *noises, const struct event *event, uint8_t role);

/* Gets a piece that ran on a CPU: `index` 0 is the last one. Returns false after the oldest that is kept. */
bool noises_back(const struct noises *noises, uint32_t cpu, size_t index, struct noise_piece *ret);
/* Returns the name that an event gave the thread with this PID; NULL: no event has named it. */
const char *noises_thread(const struct noises *noises, int32_t pid);

/* Returns whether there is anything to report. */
bool noises_any(const struct noises *noises);
void noises_put(struct noises *noises, struct findings *findings);

#endif
