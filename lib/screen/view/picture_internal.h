/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_PICTURE_INTERNAL_H
#define WEFT_SCREEN_VIEW_PICTURE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/reader/query.h"
#include "lib/meaning/state/vcpus.h"
#include "lib/meaning/timeline/lanes.h"

struct fail;
struct host_job;
struct trace;
struct guest_host;

/*
 * The timeline of a file as a picture of rows and columns, without a terminal. The whole
 * file is surveyed once, in the background; a part of it that is looked at more closely than this survey allows is
 * surveyed by itself. What is not known yet is told as such, and so is what is not exact yet.
 */
enum picture_sort {
	PICTURE_BY_RUN,   /* the time that a task ran, the longest first */
	PICTURE_BY_WAIT,  /* the time that it waited for a CPU */
	PICTURE_BY_WORST, /* its longest wait */
	PICTURE_BY_NAME,
	PICTURE_BY_PID,
	PICTURE_SORTS,
};

/* What a mark shows. */
enum picture_state {
	PICTURE_UNKNOWN, /* the events do not tell, or have not been read yet */
	PICTURE_OUTSIDE, /* before the recording or after it */
	PICTURE_NOTHING, /* known: no interrupt, no call */
	PICTURE_IDLE,
	PICTURE_RUN,     /* a task, a function, an interrupt, a call */
	PICTURE_WAIT,    /* runnable without a CPU */
	PICTURE_BLOCKED, /* D */
	PICTURE_SLEEP,
	PICTURE_STOPPED, /* stopped, traced or new */
	PICTURE_GONE,    /* the task was not born yet, or is dead */
	PICTURE_BEFORE,  /* it did nothing yet: it slept, or was not there */
	PICTURE_VALUE,   /* of a counter, or of the number of events */
	PICTURE_EXIT,    /* of a vCPU: the host works for the guest */
	PICTURE_UNSURE,  /* of a guest's CPU: the clocks are not exact enough to say whether its vCPU ran */
};

struct picture_mark {
	uint8_t state; /* enum picture_state */
	uint8_t level; /* 1 to 8: how much of the column is busy, or how large the value is; 0: not at all */
	bool lost;     /* events were lost in this column */
	bool goes_on;  /* shows the same slice as the column before */
	uint32_t name; /* picture_name(): of what it shows */
};

/* What a column holds, in numbers. */
struct picture_facts {
	uint64_t from, to; /* of the column */
	uint64_t start;    /* of the slice that the mark shows */
	uint64_t longest, busy, waited;
	uint32_t count; /* of slices that begin in it */
	bool exact;
	/* Of a CPU of a guest and of its vCPU, if the host is known: */
	bool has_vcpu;
	struct vcpu_time vcpu; /* what the vCPU did in the column */
	const char *exit;      /* the reason of the most time of VCPU_EXIT; "" not known */
};

enum picture_row_kind {
	PICTURE_EVENTS,
	PICTURE_CPU,
	PICTURE_VCPU, /* the thread of the host that is the CPU of the guest above it: its owner */
	PICTURE_IRQ,
	PICTURE_TASK,
	PICTURE_CALLS,
	PICTURE_MARKS,
	PICTURE_PAIRS,
	PICTURE_FUNCTION,
	PICTURE_COUNTER,
};

struct picture_row {
	enum picture_row_kind kind;
	char name[40];  /* "CPU 3", "  hardirq", "weaver-117" */
	uint32_t owner; /* a CPU, or a PID */
	bool of_task;
	bool marked; /* a counter of a program or of a field */
	/* Of the whole file, as far as it was surveyed: */
	uint64_t busy, waited, worst, worst_at;
	size_t lane; /* private */
};

struct picture;

struct picture_options {
	const char *const *counters; /* fields that are drawn, too (timeline_count_fields()) */
	size_t nr_counters;
	/* Of a guest: its host, and its own buffer, which alone is drawn; NULL: it is none. */
	const struct guest_host *host;
	const char *guest;
};

/* Borrows all. */
int must_check picture_new(struct trace *trace, const struct query *query, const struct picture_options *options,
			   struct picture **ret, struct fail *fail);
void picture_free(struct picture *picture);

/* The time of the first and the last event that the picture shows. */
void picture_span(const struct picture *picture, uint64_t *ret_from, uint64_t *ret_to);

/* Whether a guest's host was asked for, and is known: it is read in the background, too. */
enum picture_host { PICTURE_NO_HOST, PICTURE_HOST_READ, PICTURE_HOST_KNOWN, PICTURE_HOST_FAILED };
/* PICTURE_HOST_FAILED: *ret_why says why. */
enum picture_host picture_host(const struct picture *picture, const char **ret_why);
/* What the guest's CPUs did on it; NULL: that is not known, or not yet. */
const struct vcpus *picture_vcpus(const struct picture *picture);

/* How far the survey of the whole file is; *ret_events: of the events so far. True: it has ended. */
bool picture_progress(struct picture *picture, unsigned *ret_percent, uint64_t *ret_events);

/*
 * The number of events before the column of a time, and where that column begins; and the same of the column in which
 * the event with this number is, from 0. False: the survey has not come so far.
 */
bool picture_number(struct picture *picture, uint64_t ts, uint64_t *ret_from, uint64_t *ret_number);
bool picture_numbered(struct picture *picture, uint64_t number, uint64_t *ret_from, uint64_t *ret_before);

/*
 * The columns that are shown: `nr` of them from `first` on, so many ns long (or units of a clock that does not count
 * ns). Begins a survey of them if one is needed.
 */
int must_check picture_look(struct picture *picture, uint64_t length, uint64_t first, size_t nr, struct fail *fail);
/*
 * Multiples of this length need no other survey than that of the whole file. It grows while that goes on. Others suit
 * where they show a small part.
 */
uint64_t picture_grain(struct picture *picture);
bool picture_suits(struct picture *picture, uint64_t length, size_t nr);
/* Whether the columns are as exact as they will be. */
bool picture_settled(struct picture *picture);

/* Makes the rows anew: CPUs with their interrupts, tasks in this order, counters. They stay until the next call. */
int must_check picture_arrange(struct picture *picture, enum picture_sort sort, struct fail *fail);
size_t picture_rows(const struct picture *picture);
const struct picture_row *picture_row(const struct picture *picture, size_t index);

/* The marks of a row in the columns of picture_look(). Names are valid until the next call of any function. */
void picture_marks(struct picture *picture, size_t row, struct picture_mark *ret);
const char *picture_name(const struct picture *picture, uint32_t name);
/* Column: from 0 on. */
struct picture_facts picture_facts(struct picture *picture, size_t row, size_t column);

/* Private to picture*.c. */

enum { NR_MAX = 1 << 10 }; /* columns */

struct picture {
	struct trace *trace;       /* borrowed */
	const struct query *query; /* borrowed */
	struct query of_guest;     /* the same for its buffer; it owns nothing */
	struct host_job *host;     /* NULL: it is not asked for */
	struct lanes_job *whole;
	struct lanes_job *near; /* NULL: not needed so far */
	uint64_t length, first;
	size_t nr;
	struct picture_row *rows;
	size_t nr_rows;
	enum picture_sort sort;
	bool arranged; /* in this order, and the survey had ended */
	struct lane_cell cells[NR_MAX], rough[NR_MAX];
};

/* Whether the columns that are shown come from the survey of a part. */
bool picture_uses_near(struct picture *picture);

#endif
