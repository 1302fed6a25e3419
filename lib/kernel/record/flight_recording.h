/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_FLIGHT_RECORDING_H
#define WEFT_KERNEL_RECORD_FLIGHT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/setup/setup.h"
#include "lib/meaning/clock/wall.h"

struct fail;
struct instance;
struct rig;

/*
 * A recording without end that holds its last seconds in memory, compressed, and writes any part of them to a file
 * while it goes on. `weft flight` flies with it. The kernel is set up as for a recording; each CPU has a recorder.
 *
 * Invariant: every setting that flight_recording_open() changed is restored and its instances are removed when
 * flight_recording_close() has returned, or when flight_recording_open() has failed; after a kill the journal of
 * lib/kernel/undo/undo does that, and the parts (kept_parts_dir.h) have what was held.
 *
 * Times are those of the trace clock, in ns. It must be one that programs can read, too:
 * flight_recording_clock_known(). Not supported: max-latency tracers, which keep one latency and no history.
 */
struct flight_recording;

struct flight_recording_options {
	const struct setup *setup;
	const char *name;   /* finds what a killed recording left: kept_parts_dir.h */
	uint64_t span_ns;   /* how long events are held at least, if max_bytes suffice */
	uint64_t max_bytes; /* of compressed chunks */
	/*
	 * Nothing is read before a file is written: the kernel's buffers hold the span, as far as they are large
	 * enough, and no thread wakes up.
	 */
	bool in_kernel;
	bool empties;  /* at its end, the main instance, which is not weft's */
	int failed_fd; /* eventfd: gets 1 when a recorder fails */
};

/* Whether programs can read a trace clock of this name. The caller chooses one of them for each instance. */
bool flight_recording_clock_known(const char *clock);

int must_check flight_recording_open(const struct flight_recording_options *options, struct flight_recording **ret,
				     struct fail *fail);
/* What the kernel was set up with; for instances of the caller's own, which share the journal. */
const struct rig *flight_recording_rig(const struct flight_recording *recording);
/* The name of the trace clock of all instances. */
const char *flight_recording_clock(const struct flight_recording *recording);
uint64_t flight_recording_now(const struct flight_recording *recording);

/*
 * Closes an instance of the caller's own when everything is restored: one whose histograms the journal has. The caller
 * must have closed its files.
 */
int must_check flight_recording_adopt(struct flight_recording *recording, struct instance *instance, struct fail *fail);

/* Turns tracing on. */
int must_check flight_recording_start(struct flight_recording *recording, struct fail *fail);

/*
 * Starts recorders for CPUs that have come online since. *ret: their number. A CPU that goes offline keeps its
 * recorder, and what it has recorded.
 */
int must_check flight_recording_add_cpus(struct flight_recording *recording, unsigned *ret, struct fail *fail);

/* Takes a sample of the clock: a file has those of the last day (lib/meaning/clock/wall.h). Used by one thread. */
void flight_recording_sample(struct flight_recording *recording, enum wall_why why);

/* Writes a marker into the buffers of all instances. */
int must_check flight_recording_mark(struct flight_recording *recording, const char *text, struct fail *fail);

/* Nothing after this time is dropped because of the span. UINT64_MAX: only the span counts. */
void flight_recording_keep_from(struct flight_recording *recording, uint64_t from);

/*
 * The file of a part of what is held: the events from the time `from`, or from when on all of them are held if that is
 * later, to the time `to`. With `ragged` it has what is held of each CPU before that, too.
 */
struct flight_recording_file {
	uint64_t from, to;
	bool ragged;
	const char *output;
	mode_t mode;
	const char *trigger; /* the text of the setting weft/trigger */
	uint32_t sample_of;  /* it stands for so many (sampling.h); 0: for itself */
};

/* What is held, or was written, of one CPU. */
struct flight_recording_cpu {
	const char *instance; /* "" is the main one */
	uint32_t cpu;
	uint64_t chunks, bytes, raw;
	uint64_t first, last; /* times of the first and the last event; valid if there are chunks */
	/* nothing after this time was dropped: the later of the start and of the last event that was dropped */
	uint64_t since;
	uint64_t kernel;  /* bytes of events in the kernel's buffer, not yet read */
	uint64_t lost;    /* events that the kernel lost since the start, besides those that it overwrote as too old */
	uint64_t crowded; /* bytes of pages, of all CPUs, that were dropped early or lost because memory was full */
};

struct flight_recording_cpus {
	struct flight_recording_cpu *at;
	size_t nr;
};

/* What all CPUs hold together in the memory of the recorders, compressed. */
static inline uint64_t flight_recording_bytes(const struct flight_recording_cpus *cpus)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < cpus->nr; i++)
		bytes += cpus->at[i].bytes;
	return bytes;
}

/* What the kernel lost of all CPUs since the start. */
static inline uint64_t flight_recording_lost(const struct flight_recording_cpus *cpus)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < cpus->nr; i++)
		lost += cpus->at[i].lost;
	return lost;
}

struct flight_recording_written {
	struct flight_recording_cpus cpus; /* what the file has of them */
	uint64_t from;    /* from here on it has every event of all CPUs, except those that the kernel lost */
	uint64_t size;    /* of the file */
	struct stat stat; /* of the descriptor that wrote it */
	bool late;        /* a recorder did not empty its buffer in time, so the end of its CPU may be missing */
};

/*
 * Writes a file, while the recording goes on: may be called on a thread of its own, one at a time. The file gets its
 * name when it is complete and on the disk. -EEXIST: the name is taken. The caller frees ret->cpus.at.
 */
int must_check flight_recording_write(struct flight_recording *recording, const struct flight_recording_file *file,
				      struct flight_recording_written *ret, struct fail *fail);

/* What is held now, also as a bound of a file's size. The caller frees ret->at. */
int must_check flight_recording_look(struct flight_recording *recording, struct flight_recording_cpus *ret,
				     struct fail *fail);

/* The first failure of a recorder: 0 if there is none. */
int must_check flight_recording_failed(const struct flight_recording *recording, struct fail *fail);

/* Turns tracing off, restores everything and frees the recording, which may be NULL. */
int flight_recording_close(struct flight_recording *recording, struct fail *fail);

#endif
