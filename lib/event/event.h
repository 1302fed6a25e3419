/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_EVENT_H
#define WEFT_EVENT_EVENT_H

#include "lib/schema/format.h"
#include "lib/schema/program.h"

#include <stdint.h>

/*
 * An event is a view of one record of the merged stream with its common fields read; or a gap, where the kernel lost
 * some. It borrows from the stream's blocks (lib/event/events.h says how long) and is copied freely.
 */
enum event_kind {
	EVENT_RECORD,
	EVENT_LOST, /* events of this CPU were lost here: `lost` of them, or PAGE_LOST_UNKNOWN */
};

/* trace_entry::flags, include/linux/trace_events.h: enum trace_flag_type */
enum event_flags {
	EVENT_IRQS_OFF = 0x01,
	EVENT_NEED_RESCHED_LAZY = 0x02, /* 6.12 and later; IRQS_NOSUPPORT before */
	EVENT_NEED_RESCHED = 0x04,
	EVENT_HARDIRQ = 0x08,
	EVENT_SOFTIRQ = 0x10,
	EVENT_PREEMPT_RESCHED = 0x20,
	EVENT_NMI = 0x40,
	EVENT_BH_OFF = 0x80,
};

enum { EVENT_TYPES_MAX = 1 << 16 }; /* as many as there are ids: no event_type::index is as large */

/* What the stream knows of one type of event: bound when it first occurs. */
struct event_type {
	int32_t id;
	uint16_t
		index; /* in the order of first occurrence, from 0: where a consumer's arrays keep what it knows of the type */
	const struct format *format; /* NULL: the file has no format of this id, or a broken one */
	const struct program
		*program;       /* NULL for the internal entries that the kernel prints in C, and without format */
	const char *why_fields; /* why the program prints name=value instead of the kernel's text; NULL: it does not */
	char apart[64]; /* padding against false sharing: `seen` is written while other threads read what is above */
	uint64_t seen;  /* events of this type so far */
	char end[64];
};

struct event {
	uint64_t ts;             /* ns, or raw units of a clock that does not count ns; offsets applied */
	const uint8_t *data;     /* the record, from its common fields on */
	struct event_type *type; /* never NULL for an EVENT_RECORD */
	int64_t lost;            /* of an EVENT_LOST */
	union {
		struct {
			uint16_t id;           /* common_type */
			uint8_t flags;         /* common_flags */
			uint8_t preempt_count; /* common_preempt_count */
			int32_t pid;           /* common_pid */
		};
		uint64_t common; /* all of them, as the record has them */
	};
	uint32_t len;
	uint16_t cpu;       /* its number in the kernel */
	uint16_t cpu_index; /* its place among the buffer's CPUs */
	uint16_t buffer;    /* of a reader of several buffers (lib/reader): whose event it is */
	uint8_t kind;
	bool first; /* a gap before the first record of its CPU */
};

#endif
