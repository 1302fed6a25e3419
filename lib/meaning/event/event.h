/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_EVENT_H
#define WEFT_MEANING_EVENT_EVENT_H

#include <stdint.h>

#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/program.h"

/*
 * An event is a view of one record of the merged stream with its common fields decoded; or a gap, where the kernel lost
 * events. It borrows its bytes from the stream's blocks (lib/meaning/event/events.h says for how long) and may be
 * copied.
 */
struct foreign_text;

enum event_kind {
	EVENT_RECORD,
	EVENT_LOST, /* events of this CPU were lost here: `lost` of them, PAGE_LOST_UNKNOWN or EVENT_LOST_REST */
};

/*
 * The file has no more of this CPU from here on, because it is damaged or ends early. Such a loss comes once, and only
 * with events_options::tells_ends.
 */
#define EVENT_LOST_REST INT64_MIN

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
	EVENT_INTERRUPTS = EVENT_HARDIRQ | EVENT_SOFTIRQ | EVENT_NMI, /* one of them: it happened in an interrupt */
};

enum { EVENT_TYPES_MAX = 1 << 16 }; /* the number of possible ids: event_type::index is always smaller */

/* One type of event of a stream: bound when its first event occurs. */
struct event_type {
	int32_t id;
	/* from 0, in the order of first occurrence: the index of the type in a consumer's arrays */
	uint16_t index;
	const struct context *context; /* what is known of the kernel that recorded it */
	const struct format *format;   /* NULL: the file has no format of this id, or a broken one */
	/* NULL without a format, and for the internal entries that the kernel prints in C */
	const struct program *program;
	/* why the program prints name=value instead of the kernel's text; NULL: it prints the kernel's text */
	const char *why_fields;
	uint64_t since; /* raw time of the record with which it occurred first */
	/* padding against false sharing: `seen` is written while other threads read what is above */
	char apart[64];
	uint64_t seen; /* events of this type so far */
	char end[64];
};

struct event {
	uint64_t ts;             /* ns, or raw units of a clock that does not count ns; offsets applied */
	const uint8_t *data;     /* the record, from its common fields on */
	struct event_type *type; /* never NULL for an EVENT_RECORD */
	union {
		int64_t lost; /* for EVENT_LOST: how many, or PAGE_LOST_UNKNOWN, or EVENT_LOST_REST */
		/* for an EVENT_RECORD while it is rendered, and if context::foreign is set: its text, or NULL */
		const struct foreign_text *added;
	};
	union {
		struct {
			uint16_t id;           /* common_type */
			uint8_t flags;         /* common_flags */
			uint8_t preempt_count; /* common_preempt_count */
			int32_t pid;           /* common_pid */
		};
		uint64_t common; /* all common fields, as in the record */
	};
	union {
		struct {
			uint16_t cpu;       /* the kernel's number of the CPU */
			uint16_t cpu_index; /* index among the buffer's CPUs */
			/* with a reader of several buffers (lib/meaning/reader): the index of the event's buffer */
			uint16_t buffer;
			uint8_t kind;
			bool first; /* for EVENT_LOST: it comes before the first record of its CPU */
		};
		uint64_t origin; /* all of these at once: they are the same in all records of a page */
	};
	uint32_t len;
	/* bytes behind the record that the kernel takes for the event's, and prints (struct record) */
	uint32_t more;
};

/* event::origin of a record. Its parts written one by one and read as one number would have to wait for one another. */
static inline uint64_t event_origin(uint16_t cpu, uint16_t cpu_index, bool first)
{
	const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	return (uint64_t)cpu << (little ? 0 : 48) | (uint64_t)cpu_index << (little ? 16 : 32) |
	       (uint64_t)first << (little ? 56 : 0);
}

/*
 * Whether the flags and the preempt count say something. For an event of a uprobe, the kernel subtracts 1 from a
 * preempt count of 0, which is below the flags in one number (tracing_gen_ctx_dec()): then both have all bits. Its text
 * shows them.
 */
static inline bool event_flags_known(const struct event *event)
{
	return event->preempt_count != UINT8_MAX;
}

static inline uint8_t event_known_flags(const struct event *event)
{
	return event_flags_known(event) ? event->flags : 0;
}

#endif
