/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_PERF_INTERNAL_H
#define WEFT_FILES_IMPORT_PERF_INTERNAL_H

#include "lib/files/import/perf.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/tasks.h"
#include "lib/pages/trace/carried.h"

/* What perf.c, perf_formats.c and perf_events.c share. */
struct binder;
struct format;
struct perf_data;
struct schema;
struct sorter;

enum {
	PERF_CPU_LIMIT = 4096,
	PERF_USER_CALLERS = 32,
	PERF_TWICE_LAST = 8,
	PERF_LOST_LAST = 64,
	/* ids of the kernel's own events, which no tracepoint has (enum trace_type of kernel/trace/trace.h) */
	PERF_KERNEL_STACK_ID = 4,
	PERF_USER_STACK_ID = 12,
};

/* An event of a tracepoint, or with raw NULL another sample. */
struct perf_event {
	uint64_t time;
	uint32_t cpu, what; /* what: the number of its attribute */
	uint8_t *raw;       /* may be changed */
	const uint8_t *chain;
	uint32_t raw_len, nr_chain;
	int32_t pid, tgid; /* pid: of a sample */
	bool late;         /* an event of its CPU before it is later, or perf may have written it before */
	uint64_t ip, period;
};

/* An event that was seen, to find it again under another attribute, or once more. */
struct perf_seen {
	uint64_t time, what;
	bool taken; /* another one was found to be the same, at this time under this attribute */
	uint64_t other_time, other_what;
	uint8_t *raw;
	size_t len;
};

/* What a record of lost events says. */
struct perf_loss {
	uint64_t time, lost;
	uint32_t cpu;
};

struct perf_task {
	char comm[TASK_COMM_LEN];
	bool named;
	int32_t tgid;
};

/* How the events of an attribute are bound; known from its first event on. */
struct perf_plan {
	bool known;
	const struct format *format; /* NULL: the file does not have it */
	uint32_t end;                /* where its record ends, for what perf fills it up with; UINT32_MAX: not known */
};

struct perf_import {
	const struct input *inputs;
	size_t nr_inputs;
	struct perf_data *data;
	struct trace *formats;
	struct recast_options form;
	const char *kallsyms;
	size_t kallsyms_len;
	struct perf_import_counts counts;
	struct sorter *sorter; /* NULL: the events of each CPU come in the order of time, and are bound at once */
	bool again;            /* it turned out that they do not, or that some count is 0: read from the start */
	bool has_zero;         /* an event has a preempt count of 0 */
	struct u64_map tasks;  /* struct perf_task, by tid */
	struct buf told;       /* the setting SETTING_TOLD_NAMES: the names of tasks at the times when they got them */
	uint32_t least;        /* of the preempt counts of all events */
	uint64_t placeless;    /* losses that only LOST_SAMPLES tells */
	uint64_t placed;
	/* once events are bound */
	size_t nr_attrs;
	struct schema *schema;
	struct carried carried;
	struct writer_format *texts; /* of all formats */
	size_t nr_texts;
	char **own; /* texts of formats that are made here */
	size_t nr_own;
	size_t common, callers; /* of the records of stacks: where the common fields end, and the offset of `caller` */
	bool big_endian, swap;
	uint8_t long_size;
	struct binder *binder;
	struct buf record;
	uint32_t cpu;  /* whose events come */
	uint32_t cpus; /* a number that is higher than those of all CPUs that were seen */
	int64_t pending[PERF_CPU_LIMIT];
	uint64_t last[PERF_CPU_LIMIT];  /* the time of the latest event */
	uint32_t round[PERF_CPU_LIMIT]; /* of the event before */
	uint32_t late_cpu;              /* of the event before, if that was late; UINT32_MAX: it was not */
	bool has_late;
	struct perf_loss losses[PERF_LOST_LAST];
	size_t nr_losses;
	int into;    /* the file that will be written, or -1 */
	bool *twins; /* by attribute: another one has the same tracepoint */
	bool samples;
	uint16_t *sample_ids; /* by attribute: the id of its event, if it is no tracepoint */
	size_t ip;            /* of the records of samples: its offset; the period is behind it */
	struct perf_seen seen[PERF_TWICE_LAST];
	size_t nr_seen;
	struct perf_plan *plans; /* by attribute */
};

/* perf_formats.c: takes the formats of the file, or of --formats-from, and makes those of stacks and samples. */
int must_check perf_formats_take(struct perf_import *import, struct fail *fail);

/* perf_events.c: puts an event and its stacks behind those of its CPU, and counts it if it cannot. */
int must_check perf_events_bind(struct perf_import *import, const struct perf_event *event, struct fail *fail);

#endif
