/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_INTERNAL_H
#define WEFT_PAGES_TRACE_INTERNAL_H

#include <pthread.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/header_page.h"
#include "lib/pages/trace/input.h"
#include "lib/pages/trace/trace.h"

struct frame_reader;

/* Shared by the files of lib/pages/trace: the fields of an opened trace. No other file may include this. */

/* Ids of the options and of the sections they point to, as in trace.dat version 7 (weft-dat(5)). */
enum option_id {
	OPTION_DONE = 0,
	OPTION_DATE = 1,
	OPTION_CPUSTAT = 2,
	OPTION_BUFFER = 3,
	OPTION_TRACECLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_OFFSET = 7,
	OPTION_CPUCOUNT = 8,
	OPTION_VERSION = 9,
	OPTION_TRACEID = 11,
	OPTION_TSC2NSEC = 14,
	OPTION_STRINGS = 15,
	OPTION_HEADER_INFO = 16,
	OPTION_FTRACE_FORMATS = 17,
	OPTION_EVENT_FORMATS = 18,
	OPTION_KALLSYMS = 19,
	OPTION_PRINTK = 20,
	OPTION_CMDLINES = 21,
	OPTION_BUFFER_TEXT = 22,
	OPTION_BTF = 23,
	OPTION_MODULES = 25,
	SECTION_SETTINGS = 0x7766, /* weft's own; no option points to it */
	SECTION_SUMS = 0x7767,
};

enum {
	SECTION_HEAD_SIZE = 16,
	SECTION_COMPRESSED = 1 << 0,
	SECTION_NO_NAME = 0xffffffff,
	SECTIONS_MAX = 1 << 14,
	OPTIONS_MAX = 1 << 22, /* limit of one options section in bytes */
	OPTION_SECTIONS_MAX = 1 << 12,
	HEADERS_TEXT_MAX = 1 << 20,
	FORMATS_TEXT_MAX = 24 << 20,
	SETTINGS_TEXT_MAX = 24 << 20,
	TEXTS_MAX = 64 << 20,       /* limit of all texts together in bytes */
	OPTIONS_ALL_MAX = 16 << 20, /* limit of all options sections in bytes */
	/* limit for the ratio of compressed texts; formats, the most regular ones, reach 20 */
	TEXT_RATIO_MAX = 1024,
	TEXT_SMALL = 64 << 10, /* texts below this size are not checked for their ratio */
	FORMATS_MAX = 1 << 16, /* types of events have 16-bit ids */
	INITIAL_HEAD_SIZE = 18,
};

/* A part of the file that holds one kind of metadata. */
struct region {
	uint64_t offset, size; /* of the body */
	bool present;
	bool packed;  /* compressed: u32 compressed size, u32 size, frame */
	bool chunked; /* compressed like pages: u32 count; { u32 size, u32 usize, frame } */
};

enum region_id {
	REGION_HEADERS,
	REGION_FTRACE,
	REGION_EVENTS,
	REGION_KALLSYMS,
	REGION_PRINTK,
	REGION_CMDLINES,
	REGION_LATENCY,
	REGION_SETTINGS,
	REGION_SUMS,
	REGION_NR,
};

struct setting {
	uint32_t buffer;
	const char *name;
	struct trace_text text;
};

/* A buffer with the data needed to read it. */
struct trace_ring {
	struct trace_buffer pub;
	struct trace_cpu *cpus;
	bool *cut; /* for each entry of `cpus`: the file ends inside its pages */
	char *name, *clock;
	uint64_t section; /* v7: offset of its section; 0 when unknown */
};

struct trace {
	struct input input;
	/* of what is loaded when it is first asked for, and of the damage: several threads may read the trace */
	pthread_mutex_t lock;
	char *path;
	struct trace_info info;
	char *codec;
	struct region regions[REGION_NR];
	struct trace_text meta[TRACE_META_NR];
	bool meta_loaded[TRACE_META_NR];
	char *bodies[REGION_NR];       /* the bodies that were loaded */
	char *uname, *version, *clock; /* values of options */
	struct buf cpustat;
	struct trace_format *formats;
	size_t nr_formats;
	struct setting *settings;
	size_t nr_settings;
	struct trace_ring *rings;
	size_t nr_rings;
	struct trace_section *sections;
	size_t nr_sections;
	struct frame_reader *reader;      /* for metadata; made on first use */
	struct fail damage;               /* "" as long as there is no damage */
	bool lacks_memory;                /* atomic */
	uint64_t texts;                   /* bytes of metadata loaded so far */
	uint64_t options, options_packed; /* bytes of options, uncompressed and in the file */
	bool trusted;                     /* set by trace_trust_sizes() */
};

/* file.c */
void trace_note_damage(struct trace *trace, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int must_check trace_add_section(struct trace *trace, uint64_t offset, uint64_t size, uint64_t raw_size,
				 struct fail *fail, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Both copy their arguments. The ring is valid until the next one is added. */
int must_check trace_add_ring(struct trace *trace, const char *name, const char *clock, uint32_t page_size,
			      struct trace_ring **ret, struct fail *fail);
int must_check ring_set_cpus(struct trace *trace, struct trace_ring *ring, const struct trace_cpu *cpus, size_t count,
			     struct fail *fail);

/* region.c: loads the body, followed by a NUL; a broken one is -EBADMSG. The caller frees it. */
int must_check region_load(struct trace *trace, const struct region *region, size_t cap, char **ret, size_t *ret_len,
			   struct fail *fail);
int must_check trace_frame_reader(struct trace *trace, struct frame_reader **ret, struct fail *fail);
/* Whether a frame of `packed` bytes can hold `size` bytes: a block of 128 KiB takes at least 4 bytes (RFC 8878). */
bool frame_size_plausible(uint64_t packed, uint64_t size);
/*
 * Adds `len` to the bytes of text in memory: -EBADMSG when all texts together exceed the size of those of any
 * recording.
 */
int must_check trace_count_text(struct trace *trace, size_t len, struct fail *fail);

/* overlap.c: removes pages that already belong to another CPU from all buffers. */
int must_check trace_take_overlaps(struct trace *trace, struct fail *fail);

/* metadata.c: loads and parses the metadata that is always kept in memory. Broken bodies become damage. */
int must_check metadata_load(struct trace *trace, struct fail *fail);

/* settings.c */
int must_check settings_load(struct trace *trace, struct fail *fail);
int must_check settings_find_trailer(struct trace *trace, struct fail *fail);

/* option.c: applies an option that both versions share; others are ignored. */
int must_check option_apply(struct trace *trace, unsigned id, struct bytes data, struct fail *fail);

/* salvage.c: adds a buffer whose description is lost; its section's body begins at `at`. */
int must_check salvage_ring(struct trace *trace, uint64_t at, uint64_t size, bool compressed, struct fail *fail);

/* v6.c, v7.c: `at` is the offset after the initial header. */
int must_check trace_open_v6(struct trace *trace, uint64_t at, struct fail *fail);
int must_check trace_open_v7(struct trace *trace, uint64_t at, struct fail *fail);

#endif
