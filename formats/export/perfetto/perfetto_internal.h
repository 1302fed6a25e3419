/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_PERFETTO_PERFETTO_INTERNAL_H
#define WEFT_FORMATS_EXPORT_PERFETTO_PERFETTO_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/export/export.h"
#include "formats/export/last_tasks_internal.h"
#include "formats/export/perfetto/kind_internal.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/kinds.h"
#include "lib/meaning/event/tasks.h"

struct context;
struct event;
struct path;
struct sink;
struct timeline;
struct timeline_slice;

/*
 * Private to perfetto*.c: the state of the exporter, the functions that write packets (perfetto_write.c), and those
 * that make slices of system calls (perfetto_calls.c).
 */
enum { PACKET_TIMESTAMP = 8, PACKET_PROCESS_TREE = 2 };
enum { EVENT_GRAPH_ENTRY = 437, EVENT_GRAPH_EXIT = 438 };
enum { PERFETTO_CALLS = 550 }; /* the importer drops system calls of higher numbers */
enum { SLICE_BEGIN = 1, SLICE_END = 2, SLICE_INSTANT = 3, SLICE_COUNTER = 4 };
/*
 * Tracks that weft defines: of a CPU, of a task, of an interval that is explained, of a process, of a clock; of a
 * guest's CPU: all of it, its tasks, what its thread did, and what the clocks leave unsure.
 */
enum {
	TRACK_LOST = 1,
	TRACK_INTERRUPT = 2,
	TRACK_UNKNOWN = 3,
	TRACK_TASK = 4,
	TRACK_WHY = 5,
	TRACK_PROCESS = 6,
	TRACK_CLOCK = 7,
	TRACK_GUEST = 8,
	TRACK_GUEST_TASKS = 9,
	TRACK_VCPU = 10,
	TRACK_UNSURE = 11,
};

/* A sched_waking in the compact form, which alone has the flags that tell a waker from a task that was interrupted. */
struct perfetto_waking {
	uint64_t ts;
	uint32_t pid, target_cpu, prio;
	uint8_t flags;
	char comm[TASK_COMM_LEN];
};

/* Events of a CPU that wait until there are enough for a packet. */
struct perfetto_bundle {
	struct out *events;
	struct perfetto_waking *wakings;
	size_t nr_wakings;
	bool lost;
	bool tracks[TRACK_TASK]; /* by TRACK_*: whether the track was described */
	uint64_t switched;       /* the time of the last sched_switch */
	int32_t to;              /* the task that it gave the CPU to */
	bool has_switched;
};

/*
 * A machine of the importer, which separates its CPUs and tasks from those of others. The buffers of one recording
 * share a machine. If two of them recorded events of the same family, the second one has a machine of its own for
 * these, because both would draw on the same tracks.
 */
struct perfetto_machine {
	uint32_t id; /* 0: the importer's default */
	bool begun;
};

/* What the timeline found at an event. */
struct perfetto_found {
	bool call; /* the beginning of the system call that ends with it */
	bool run;  /* that the task which loses the CPU had it since `run_start` */
	uint64_t run_start;
};

struct perfetto_buffer {
	struct perfetto *perfetto;
	const struct context *context;
	struct timeline *timeline;
	struct perfetto_found found;
	struct sink *sink;
	struct u64_map bundles;      /* by CPU, and PERFETTO_APART for the own machine: struct perfetto_bundle */
	struct u64_map pids;         /* seen */
	struct last_tasks seen;      /* in `pids` */
	struct u64_map functions[2]; /* by address: label + 1; of the shared and the own machine */
	struct u64_map calls;        /* by PID: struct perfetto_call */
	struct u64_map tracks;       /* by PID: its track was described */
	struct u64_map pairs;        /* by the uuid of a track: it was described */
	struct user_stacks *unwound; /* of programs, from record --stacks user */
	uint32_t stack_id;           /* of the events that these become; 0: there was none */
	bool has_exits, has_raw;
	/* By call_by_name and number: what perfetto_calls.c knows of a system call. */
	uint8_t named[2][PERFETTO_CALLS];
	uint16_t index, first;               /* `first`: the first buffer of the same recording */
	uint8_t apart[NR_FAMILIES];          /* 0: not seen, 1: on the shared machine, 2: on the own one */
	struct perfetto_machine shared, own; /* `shared`: of the first buffer of a recording */
};

enum { PERFETTO_APART = 1 << 16 };

struct perfetto {
	struct export export;             /* first */
	const struct export_guest *guest; /* NULL: none is asked for */
	struct u64_map guest_cpus;        /* whose tracks were described */
	struct kinds kinds;
	struct perfetto_buffer *buffers;
	size_t nr_buffers;
	struct labels labels; /* names of functions: a label's iid is its number + 1 */
	uint32_t next_id;
	struct out packet, message, payload, scratch, field;
	size_t pending;
	bool begun;
	uint64_t first, last;           /* times */
	uint64_t unknown, far, far_cpu; /* events left out */
	uint64_t unproven;              /* time that the importer takes for running although no switch proves it */
	uint64_t next_date;             /* the time from which on another pair of clocks with the time of day is due */
	size_t piece;                   /* of the time of day: lib/meaning/clock/wall.h */
};

/* The machine on which a buffer's events of a family are. */
struct perfetto_machine *perfetto_machine_of(struct perfetto_buffer *buffer, enum perfetto_family family);

/* Begins a packet of the machine. */
struct out *perfetto_begin_packet(struct perfetto *perfetto, const struct perfetto_machine *machine);
/* Writes the packet that perfetto_begin_packet() began. */
void perfetto_put_packet(struct perfetto *perfetto);

/* Writes the clocks and the machine; `buffer` is one of the machine's, or NULL. */
/* Another pair of clocks with the time of day, when an event has come to perfetto::next_date. */
void perfetto_put_date(struct perfetto *perfetto, uint64_t ts);
void perfetto_put_head(struct perfetto *perfetto, struct perfetto_machine *machine,
		       const struct perfetto_buffer *buffer, uint64_t ts);

/* The bundle of a CPU, to which its events are added; NULL without memory. */
struct perfetto_bundle *perfetto_bundle_of(struct perfetto_buffer *buffer, uint16_t cpu, bool apart);
void perfetto_bundle_flush(struct perfetto *perfetto, struct perfetto_buffer *buffer, uint64_t key,
			   struct perfetto_bundle *bundle);
void perfetto_flush_all(struct perfetto *perfetto);

/* Writes an event, with perfetto->payload as its payload. */
void perfetto_put_event(struct perfetto *perfetto, struct perfetto_buffer *buffer, enum perfetto_family family,
			const struct event *event, uint32_t id);
/*
 * Writes a sched_waking in the compact form. False: it does not fit, because the importer takes the task that the last
 * sched_switch gave the CPU for the one that wakes.
 */
bool perfetto_put_waking(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct perfetto_kind *kind,
			 const struct event *event);
/* Writes an event as a kind, which is described first. */
/* An event of the export's own with a stack of a program, as the kernel's user_stack has, beside this event. */
void perfetto_put_unwound(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct event *event);
void perfetto_put_kind(struct perfetto *perfetto, struct perfetto_buffer *buffer, struct perfetto_kind *kind,
		       const struct event *event);

/* The number of a track; `id` is a CPU, or a PID for the track of a task, and `what` one of TRACK_*. */
uint64_t perfetto_track_uuid(const struct perfetto_buffer *buffer, uint32_t id, unsigned what);
/* That of a task's track, which is described; 0 without memory. */
uint64_t perfetto_task_track(struct perfetto *perfetto, struct perfetto_buffer *buffer, int32_t pid);
/* Describes a track below another one: `rank` is its place among its siblings, from 1; 0: it has such children. */
void perfetto_describe(struct perfetto *perfetto, const struct perfetto_machine *machine, uint64_t uuid,
		       uint64_t parent, const char *name, unsigned rank);
/* Writes the begin or the end of a slice on a track that was described. */
void perfetto_put_track_event(struct perfetto *perfetto, const struct perfetto_machine *machine, uint64_t uuid,
			      unsigned type, uint64_t ts, const char *name, size_t len);

/* Writes the begin or end of a slice, or an instant, on a track that weft defines. */
void perfetto_put_slice(struct perfetto *perfetto, struct perfetto_buffer *buffer, uint16_t cpu, unsigned what,
			unsigned type, uint64_t ts, const char *name, size_t len);
/* The same on the track of a task. */
void perfetto_put_task_slice(struct perfetto *perfetto, struct perfetto_buffer *buffer, int32_t pid, unsigned type,
			     uint64_t ts, const char *name);
/*
 * Whom the process belonged to at the end, as labels that are shown behind its name: "unit nginx.service". Nothing of
 * one of which that is not known.
 */
void perfetto_put_labels(struct perfetto *perfetto, const struct perfetto_buffer *buffer,
			 const struct perfetto_machine *machine, int32_t process);

/* Writes a pair of events of a task or of a CPU as a slice on a track of its own. */
void perfetto_put_pair(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct timeline_slice *slice);

/* Writes what an interval waited for on a track of its own, with arrows from each task to the one that it woke. */
void perfetto_put_path(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct path *path,
		       uint32_t number);

/* Writes how far the times of a machine may be off, as a slice as long as the trace on a track of its own. */
void perfetto_put_clock_error(struct perfetto *perfetto, struct perfetto_buffer *buffer, const char *name);

/* Writes a value of a field as that of a counter. */
void perfetto_put_counter(struct perfetto *perfetto, struct perfetto_buffer *buffer,
			  const struct timeline_slice *slice);

/* The label of a function; its name is written when it is new. */
uint32_t perfetto_function_label(struct perfetto_buffer *buffer, uint64_t address);

/* A run of a task of the guest has ended: it and what its CPU did meanwhile are slices beside the host's thread. */
void perfetto_guest_run(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct timeline_slice *slice);
/* Writes what the threads that are the guest's CPUs did in the time of the trace. */
void perfetto_guest_end(struct perfetto *perfetto);

void perfetto_calls_init(struct perfetto_buffer *buffer);
void perfetto_calls_release(struct perfetto_buffer *buffer);
/* Shows an event of a system call, which is written now or later; perfetto_buffer::found is that of the event. */
void perfetto_calls_see(struct perfetto *perfetto, struct perfetto_buffer *buffer, struct perfetto_kind *kind,
			const struct event *event);
/* Writes the calls that did not end. */
void perfetto_calls_end(struct perfetto *perfetto, struct perfetto_buffer *buffer);

#endif
