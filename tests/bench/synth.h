/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BENCH_SYNTH_H
#define WEFT_BENCH_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace;
struct trace_format;

/*
 * Made-up events for `make bench`. Their types are those of a kernel whose formats a template file holds, plus the
 * types that events.c describes. Their fields lie where 6.12 has them. The same arguments give the same bytes.
 */
enum { SYNTH_PAGE = 4096, SYNTH_TASKS = 40, SYNTH_SYMBOLS = 1024, SYNTH_EVENT_MAX = 256 };

struct synth {
	uint64_t random;
	uint32_t cpu, cpus;
	int32_t pid; /* the task that runs on the CPU */
	uint64_t ts;
	uint64_t step; /* ns between two events of a CPU */
	bool rare;     /* a few events are of a separate task */
	uint64_t symbols[SYNTH_SYMBOLS];
	uint64_t calls[16]; /* function graph: the times when the open calls began */
	uint32_t functions[16], depth;
	unsigned turn;   /* the place in a sequence of events */
	uint64_t number; /* number of the system call */
};

/* Writes the next event at time `ts`. Returns its size, a multiple of 4. */
typedef size_t (*synth_next)(struct synth *synth, uint8_t event[SYNTH_EVENT_MAX]);

size_t synth_event(struct synth *synth, uint8_t event[SYNTH_EVENT_MAX]); /* sched, irq, raw_syscalls */
size_t synth_graph(struct synth *synth, uint8_t event[SYNTH_EVENT_MAX]); /* function_graph */
size_t synth_stack(struct synth *synth, uint8_t event[SYNTH_EVENT_MAX]); /* sched events with a kernel stack */

/* Formats that the template may lack. Each is appended if the template has no format of that name. */
extern const struct synth_format {
	const char *system, *name, *text;
} synth_formats[];
extern const size_t synth_nr_formats;

/* Each CPU has tasks of its own. */
static inline uint32_t synth_tasks_of_cpu(uint32_t cpus)
{
	return SYNTH_TASKS / cpus > 4 ? SYNTH_TASKS / cpus : 4;
}

uint32_t synth_random(struct synth *synth, uint32_t below);
const char *synth_comm(int32_t pid, char into[16]);

#endif
