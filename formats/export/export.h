/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_EXPORT_H
#define WEFT_FORMATS_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/who.h"

struct context;
struct db;
struct out;
struct path;
struct pool;
struct reader;
struct state;
struct vcpus;
struct wall;

/*
 * An exporter turns the events of a reader into a file of another program. It sees every event in order, and every gap
 * (including events that were overwritten before the first event of a CPU), and appends bytes to an out that its driver
 * empties between two events. The same events give the same bytes: no locale, no wall clock, no pointers. Errors are
 * sticky (export_failed()): the driver checks for them now and then. What the other format cannot represent, and what
 * the user should know about the file, goes into the notes, one line each, which the driver prints at the end.
 * Invariant: memory depends on what is distinct in a trace (types, tasks, stacks), never on the number of its events.
 */
/* Of a file that was merged from the recordings of a guest and its host: indexes of the reader's buffers. */
struct export_guest {
	const struct vcpus *vcpus; /* borrowed */
	size_t guest, host;        /* EXPORT_GUEST_ALONE: the guest's buffer is the only one */
};
/* Which of both machines an exporter that supports --host gets. */
enum export_host { EXPORT_NO_HOST, EXPORT_BOTH, EXPORT_GUEST_ALONE };

struct export_input {
	const struct reader *reader; /* the contexts of its buffers are indexed by event::buffer; borrowed */
	const char *fields;          /* for --fields; NULL: the exporter chooses; borrowed */
	const char *weight;          /* for --weight; NULL: the first weight that the trace has; borrowed */
	/*
	 * for --diff: an exporter of the same kind that has got all events of the other file; NULL without --diff;
	 * borrowed
	 */
	struct export *before;
	/* for --counter: "EVENT:FIELD"; borrowed */
	const char *const *counters;
	size_t nr_counters;
	const struct export_guest *guest; /* for --host; NULL: none; borrowed */
	uint64_t max_size;                /* for --max-size; 0: the exporter chooses */
	struct pool *pool; /* for work that an exporter gives away; NULL: there are no threads; borrowed */
	struct db *db;     /* the database opened by ops->open(); NULL without it; borrowed */
};

struct export
{
	const struct export_ops *ops;
	const struct reader *reader;
	struct out *out;
	struct buf notes;  /* one line for each note */
	struct buf head;   /* if ops->has_head: after ops->end(), what replaces the first bytes of the output */
	uint64_t left_out; /* events that the output does not have */
	/* if ops->takes_tables: the text of weft summary, set before ops->end(); NULL: none; borrowed */
	const struct out *tables;
	/*
	 * if ops->takes_tables: what the tasks and CPUs do, which sees each event before the exporter does, set before
	 * the first event; NULL: none; borrowed
	 */
	const struct state *state;
	/* if ops->paths: what intervals waited for, by when they began, set before ops->end(); borrowed */
	const struct path *paths;
	size_t nr_paths;
	/* if ops->needs_all or of_tasks: whether the user chose the next event, or what was lost; else always true */
	bool shows;
	int error;           /* the first error, or 0 */
	struct fail failure; /* the text of that error */
};

struct export_ops {
	const char *name;    /* for --to NAME */
	const char *summary; /* one line for the help */
	bool binary;         /* is not written to a terminal */
	bool takes_fields;   /* supports --fields */
	bool takes_weight;   /* supports --weight */
	bool needs_all;      /* sees all events of the time; export::shows tells which were chosen */
	/*
	 * Of what tasks do: it is told where the data of a CPU ends early (EVENT_LOST_REST), and sees what all tasks
	 * did, also where the user chose some: export::shows tells which. Its timelines are told with export_choose().
	 */
	bool of_tasks;
	bool takes_size;       /* supports --max-size */
	bool takes_counters;   /* supports --counter */
	enum export_host host; /* supports --host */
	bool takes_tables;     /* shows the tables of weft summary */
	unsigned paths;        /* of so many of the longest calls and wakeups it shows what they waited for */
	bool takes_diff;       /* supports --diff */
	bool takes_decode;     /* has columns for what plugins know */
	bool folder;           /* makes a folder: it writes pieces of files (folder.h) */
	bool has_head;         /* the first bytes are known last (export::head), so the output must be a regular file */
	/*
	 * For an exporter that writes its file in any order instead of the out: begins with an empty file, which the
	 * caller keeps open until close(). NULL for others.
	 */
	int (*open)(int fd, struct db **ret, struct fail *fail);
	void (*close)(struct db *db);
	int (*create)(const struct export_input *input, struct export **ret, struct fail *fail);
	void (*free)(struct export *export);
	void (*begin)(struct export *export); /* may be NULL */
	void (*event)(struct export *export, const struct event *event);
	void (*end)(struct export *export); /* may be NULL */
	/*
	 * Adds what end() needs of another exporter, made alike, that has got other events. NULL: a line may need the
	 * lines before it, so that slices of time cannot be exported apart (export_slices.h).
	 */
	void (*join)(struct export *export, const struct export *other);
};

/* All exporters: the values of --to, and NAME_export in exports_internal.h. A new one has one line here. */
/* clang-format off */
#define EXPORTS(X) \
	X(jsonl) \
	X(csv) \
	X(perfetto) \
	X(sqlite) \
	X(chrome) \
	X(folded) \
	X(flame) \
	X(speedscope) \
	X(html) \
	X(parquet) \
	X(intervals) \
	X(ctf) \
	X(pprof) \
	X(firefox) \
	X(otlp) \
	X(perf)
/* clang-format on */

/* Lists the exporters; NULL after the last. */
const struct export_ops *export_at(size_t index);
const struct export_ops *export_find(const char *name);

int must_check export_new(const struct export_ops *ops, const struct export_input *input, struct out *out,
			  struct export **ret, struct fail *fail);
void export_free(struct export *export);

/* Sets the exporter's error; the first error is kept. */
void export_failed(struct export *export, int error, const struct fail *failure);
void export_no_memory(struct export *export);
__attribute__((format(printf, 2, 3))) void export_note(struct export *export, const char *format, ...);

/*
 * What is added to a time of the first buffer for the time of day: for formats that know one clock and its offset.
 * False: the file does not tell it. export_wall() is the one that asks lib/meaning/clock/wall.h for more.
 */
const struct wall *export_wall(const struct reader *reader);
bool export_day_offset(const struct reader *reader, uint64_t ts, int64_t *ret);

/*
 * A row of the table clock, which databases have: what the time of day was at this time of the trace, and by how many
 * parts of 10^12 it ran faster from then on. False: it is not known. *ret_next: the time up to `last` from which on
 * another row holds, because the time of day was set, else UINT64_MAX.
 */
struct export_date {
	uint64_t ts;
	int64_t wall_ns;
	uint64_t bound_ns; /* WALL_NO_BOUND: nobody knows it */
	int64_t drift;
};
bool export_date_at(const struct reader *reader, uint64_t ts, uint64_t last, struct export_date *ret,
		    uint64_t *ret_next);

/*
 * A row of the table who, which databases have: whom a task belonged to from this time on, until something of it
 * changed, or to `last`. tgid 0, and texts that are NULL: not known. "": it belonged to none.
 */
struct export_who {
	uint64_t ts, until;
	int32_t tgid;
	const char *texts[WHO_PARTS]; /* live as long as the context */
};
void export_who_at(const struct context *context, int32_t pid, uint64_t ts, uint64_t last, struct export_who *ret);

/* The context of an event's buffer. */
const struct context *export_context(const struct export *export, const struct event *event);

#endif
