/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEMORY_CRASH_CRASH_INTERNAL_H
#define WEFT_MEMORY_CRASH_CRASH_INTERNAL_H

#include "lib/ground/base/buf.h"
#include "lib/memory/crash/crash.h"
#include "lib/memory/image/image_symbols.h"
#include "lib/memory/image/layout.h"
#include "lib/memory/image/memory.h"
#include "lib/pages/trace/writer_metadata.h"

/* Caps of lists and texts in a kernel's memory. */
enum {
	CRASH_INSTANCES_MAX = 1024,
	CRASH_EVENTS_MAX = 1 << 16,
	CRASH_FIELDS_MAX = 512,
	CRASH_TEXT_MAX = 64 << 10, /* of a print fmt */
	CRASH_NAME_MAX = 256,
	CRASH_TASKS_MAX = 1 << 20,
	CRASH_CPUS_MAX = 8192,
	CRASH_PAGES_MAX = 1 << 22,   /* of all buffers together */
	CRASH_TEXTS_MAX = 256 << 20, /* all formats together */
};

/* The members of the kernel's structures by which tracing is found. */
struct crash_layout {
	struct layout_member array_list, array_name, array_buffer, array_max, array_tracer, array_clock, array_flags;
	struct layout_member tracer_name;
	struct layout_member buffer_cpus, buffer_buffers, buffer_size, buffer_order, buffer_remote;
	struct layout_member cpu_pages, cpu_nr_pages, cpu_tail, cpu_commit, cpu_reader, cpu_entries, cpu_overrun,
		cpu_read, cpu_commit_overrun, cpu_dropped, cpu_bytes, cpu_cpu;
	struct layout_member page_list, page_page, page_write, page_read;
	struct layout_member call_list, call_class, call_name, call_type, call_print, call_data, call_flags;
	struct layout_member class_system, class_fields, class_get_fields;
	struct layout_member point_name;
	struct layout_member field_link, field_name, field_type, field_offset, field_size, field_signed, field_len;
	struct layout_member syscall_fields;
	struct layout_member names_map, names_nr, names_names;
	struct layout_member task_tasks, task_pid, task_comm, task_group, task_threads, signal_threads;
	struct layout_member module_list, module_name, module_symbols, table_symbols, table_nr, table_strings,
		table_types;
	struct layout_member uts_name;
	struct layout_member rq_curr;
	struct layout_member fast_base, read_clock, read_cycles, read_shift, read_ns, read_base, read_real;
	struct layout_member keeper_mono, keeper_boot, keeper_tai;
	struct layout_member stamp_raw, stamp_mono, counter_mul, counter_shift, counter_offset;
	uint64_t is_tracepoint; /* the flag of a call */
};

struct crash_cpu {
	uint32_t cpu;
	uint64_t address; /* of its struct ring_buffer_per_cpu */
	uint64_t entries, overrun, read;
	uint64_t *pages; /* addresses of sub-buffers, in the order of reading */
	size_t nr_pages;
	uint64_t consumed; /* bytes of the first page that were read */
	uint64_t nr_events;
	bool broken;
};

struct crash_ring {
	char *name;
	uint64_t array; /* of its struct trace_array */
	bool snapshot;
	uint32_t page_size;
	struct crash_cpu *cpus;
	size_t nr_cpus;
	struct crash_buffer sum;
};

struct crash {
	struct memory memory;
	struct image_symbols symbols, given; /* those of the kernel's own table, and those of a file */
	void *btf_bytes;                     /* owned; NULL: the caller's */
	struct btf btf;
	struct crash_layout layout;
	struct crash_facts facts;
	struct crash_variable {
		const char *name; /* NULL: no more */
		uint64_t address;
	} found[8]; /* variables without a symbol, by crash_search() */
	uint64_t hash_key[2], page_array;
	struct crash_ring *rings;
	size_t nr_rings;
	uint64_t pages_left;           /* that may still be listed */
	struct writer_format *formats; /* their texts and systems are owned */
	size_t nr_formats, formats_size;
	struct buf names, printk, kallsyms, version_text;
};

/* Searches the variables of tracing in a kernel that has symbols of functions only. */
void crash_search(struct crash *crash);
/* The address of a variable or a function. */
bool crash_symbol(const struct crash *crash, const char *name, uint64_t *ret);

/* Follows a pointer or reads a number; 0 when it cannot be read. */
uint64_t crash_at(struct crash *crash, uint64_t structure, const struct layout_member *member);
/* Reads a text that a pointer names. False: it cannot be read, or is too long. */
bool crash_text(struct crash *crash, uint64_t address, char *into, size_t size);

/* The structure of which this is the list member. */
static inline uint64_t crash_owner(uint64_t link, const struct layout_member *member)
{
	return link - member->offset;
}

/*
 * A walk over a list of the kernel (struct list_head), of at most `left` structures. Where a link cannot be read, what
 * stands behind it is found from the list's end.
 */
struct crash_walk {
	struct crash *crash;
	const struct layout_member *member; /* by which the structures are linked */
	uint64_t head, link, last;
	size_t left;
	bool back;
	bool cut; /* a link cannot be read, or there are more structures: some of the list may be unknown */
};

/* False: the head of the list cannot be read. */
bool crash_walk_begin(struct crash_walk *walk, struct crash *crash, uint64_t head, const struct layout_member *member,
		      size_t max);
/* False after the last structure that is known. */
bool crash_walk_next(struct crash_walk *walk, uint64_t *ret);

/* Finds the members; -ENODATA names one without which nothing can be found. */
int must_check crash_layout_find(struct crash *crash, struct fail *fail);
/* Fills what it finds of the facts that are not counted. */
void crash_facts_read(struct crash *crash);
int must_check crash_formats_read(struct crash *crash, struct fail *fail);
int must_check crash_rings_read(struct crash *crash, struct fail *fail);
int must_check crash_names_read(struct crash *crash, struct fail *fail);
/* The texts of kallsyms with modules, of printk_formats. */
int must_check crash_texts_read(struct crash *crash, struct fail *fail);
/* False: the memory has no such moment of this trace clock. */
bool crash_moment(struct crash *crash, const char *clock, struct crash_moment *ret);
/* Adds the text of a file of tracefs that belongs to an instance. */
bool crash_put_options(struct crash *crash, const struct crash_ring *ring, struct buf *into);
/* The name of the clock; "local" if it cannot be read. */
void crash_clock(struct crash *crash, const struct crash_ring *ring, char into[32]);

#endif
