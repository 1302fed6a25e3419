/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_PERF_PERF_DATA_H
#define WEFT_PAGES_PERF_PERF_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/pages/trace/writer_metadata.h"

struct fail;
struct input;

/*
 * Reads a perf.data, the file of `perf record` (tools/perf/Documentation/perf.data-file-format.txt,
 * include/uapi/linux/perf_event.h): its head, its events (attributes), what its features say of the machine, the
 * formats of its tracepoints, and its records, in the order of the file. All three shapes are read: a file, what was
 * written to a pipe, and a directory (--threads), of which each data.N is an input; either byte order; compressed ones
 * (-z). A recording that was killed is read as far as it goes; it has no features, so no formats either.
 * Memory is bounded: a window of the file, the formats, 32 MiB of a compressed stream.
 * Not supported: the format before 2012 (PERFFILE); what a sample has behind its raw record is not looked at.
 */
struct perf_data;

/* Whether these are the first bytes of one. */
enum { PERF_MAGIC_SIZE = 8 };
bool perf_data_is(const uint8_t magic[PERF_MAGIC_SIZE]);

/* The inputs are borrowed; the first one has the head. */
int must_check perf_data_open(const struct input *inputs, size_t nr, struct perf_data **ret, struct fail *fail);
void perf_data_free(struct perf_data *data);

enum { PERF_TYPE_TRACEPOINT = 2 };

/* Bits of perf_attr.flags (struct perf_event_attr). */
enum { PERF_INHERIT = 1 << 1, PERF_FREQ = 1 << 10, PERF_ID_ALL = 1 << 18, PERF_USE_CLOCKID = 1 << 25 };
/* Bits of perf_attr.sample_type (enum perf_event_sample_format). */
enum {
	PERF_HAS_IP = 1 << 0,
	PERF_HAS_TID = 1 << 1,
	PERF_HAS_TIME = 1 << 2,
	PERF_HAS_ADDR = 1 << 3,
	PERF_HAS_READ = 1 << 4,
	PERF_HAS_CHAIN = 1 << 5,
	PERF_HAS_ID = 1 << 6,
	PERF_HAS_CPU = 1 << 7,
	PERF_HAS_PERIOD = 1 << 8,
	PERF_HAS_STREAM = 1 << 9,
	PERF_HAS_RAW = 1 << 10,
	PERF_HAS_IDENTIFIER = 1 << 16,
};

/* An event that was asked for. */
struct perf_attr {
	uint32_t type;
	uint64_t config; /* of a tracepoint: the id of its format */
	uint64_t period; /* or, with PERF_FREQ, samples per second */
	uint64_t sample_type, read_format, flags;
	int32_t clock; /* clockid_t, with PERF_USE_CLOCKID */
	char *name;    /* NULL: the file does not say it */
	/* where the fields of its samples lie that are not behind one whose size differs; `end`: of all such fields */
	struct {
		uint8_t ip, tid, time, cpu, period, end;
	} at;
};

/* Whether its samples have the bytes of a tracepoint's event; others have an address and a stack at most. */
bool perf_attr_is_event(const struct perf_attr *attr);

const struct perf_attr *perf_data_attrs(const struct perf_data *data, size_t *ret_nr);

/* What the features say; strings are NULL and numbers 0 if the file does not have them. */
struct perf_facts {
	char *host, *release, *version, *arch;
	char *command; /* the words of `perf record ...`, with blanks between them */
	uint32_t cpus;
	bool has_wall; /* the time of day wall_ns was clock_ns of the clock of the events */
	uint64_t wall_ns, clock_ns;
	bool has_index,
		of_tasks; /* a record ID_INDEX says whether all tasks of a CPU were recorded, or only some tasks */
	bool killed;      /* the file has no end: its recorder was killed, or still runs */
};
const struct perf_facts *perf_data_facts(const struct perf_data *data);

/* The formats of the tracepoints, as a trace.dat has them; nr_formats 0: the file has none. */
struct perf_formats {
	bool big_endian;
	uint8_t long_size;
	uint32_t page_size;
	const char *header_page, *header_event;
	struct writer_format *formats;
	size_t nr_formats;
	const char *printk, *cmdlines;
	size_t printk_len, cmdlines_len;
};
const struct perf_formats *perf_data_formats(const struct perf_data *data);

/* The numbers of enum perf_event_type. */
enum perf_kind {
	PERF_LOST = 2,
	PERF_COMM = 3,
	PERF_THROTTLE = 5,
	PERF_FORK = 7,
	PERF_SAMPLE = 9,
	PERF_LOST_SAMPLES = 13,
};

/* A record; what it does not say is 0. Its pointers are valid until the next one is read. */
struct perf_record {
	uint32_t kind;
	uint64_t time;
	bool has_time, has_cpu;
	uint32_t cpu;
	uint32_t round;   /* how often perf had told before that it has written what all buffers had (FINISHED_ROUND) */
	int32_t pid, tid; /* of a COMM and a FORK: whose it is */
	int32_t parent_pid, parent_tid; /* of a FORK */
	const struct perf_attr *attr;   /* of a SAMPLE, or that which lost samples */
	uint64_t lost;
	uint64_t ip, period; /* of a SAMPLE */
	const char *comm;    /* not ended by a NUL */
	size_t comm_len;
	const uint8_t *chain; /* of a SAMPLE: u64 addresses in the order of the file */
	uint8_t *raw;         /* of a SAMPLE: the bytes of the event, which the caller may change */
	size_t nr_chain, raw_len;
};

/*
 * 1: *ret is the next record of enum perf_kind; others are passed over. 0: there is no more. -EBADMSG: what follows is
 * damaged, and `fail` says where; the records before are whole.
 */
int must_check perf_data_next(struct perf_data *data, struct perf_record *ret, struct fail *fail);

/* Whether numbers of the file have to be swapped to be those of this machine. */
bool perf_data_swaps(const struct perf_data *data);

#endif
