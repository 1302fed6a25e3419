/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_TRACE_H
#define WEFT_PAGES_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct input;

/*
 * An opened trace.dat, version 6 or 7 (weft-dat(5)). Opening reads the small sections and the offsets of the large
 * ones; events stay on disk. The container stores pages and never looks inside one.
 * Invariants: no offset or size of the file is used before its range was checked; memory is bounded by the caps below,
 * not by the file's claims; damaged sections are reported in `damage`, and whole ones are used. A byte of the file
 * belongs to the pages of at most one CPU.
 * Ownership: everything that a getter returns belongs to the trace and lives as long as it. A file that cannot be
 * seeked (a pipe) is first copied to an unlinked temporary file.
 */
enum {
	TRACE_TEXT_MAX = 64 << 20, /* limit of one metadata section in bytes, uncompressed */
	TRACE_CPUS_MAX = 1 << 14,
	TRACE_BUFFERS_MAX = 1 << 10,
	TRACE_PAGE_MIN = 64,
	TRACE_PAGE_MAX = 1 << 20,
	TRACE_CHUNK_MAX = 16 << 20, /* limit of one compressed chunk of pages in bytes, uncompressed */
	TRACE_RATIO_MAX = 16384,    /* limit of a chunk's ratio: pages that repeat one event reach 5700 */
	/* smallest number of compressed bytes for each page; a page with a single event takes 9 */
	TRACE_PAGE_PACKED_MIN = 4,
};

struct trace;

/* A text of the file. `text` has a NUL after `len` bytes; it is NULL when the file lacks the text. */
struct trace_text {
	const char *text;
	size_t len;
};

struct trace_format {
	struct trace_text system; /* "sched"; "ftrace" for the internal entries */
	struct trace_text text;   /* content of the format file */
};

/* The place of one CPU's pages. */
struct trace_cpu {
	uint32_t cpu;    /* the kernel's number of the CPU */
	uint64_t offset; /* in the file */
	uint64_t size;   /* in the file */
};

/* One ring buffer: the top one (name "") or an instance. */
struct trace_buffer {
	struct trace_text name;
	struct trace_text clock; /* "local", or "[local] global ..." as in the file; NULL text when unknown */
	uint32_t page_size;
	bool compressed;              /* pages are in chunks: u32 count; { u32 size, u32 usize, frame } */
	const struct trace_cpu *cpus; /* the CPUs with data, ascending */
	size_t nr_cpus;
};

struct trace_info {
	unsigned version; /* 6 or 7 */
	bool swap;        /* the file's byte order is not this machine's */
	bool big_endian;
	uint8_t user_long_size; /* sizeof(long) of the recording program */
	/* sizeof(long) of the traced kernel, from header_page; user_long_size when that is missing */
	uint8_t long_size;
	uint32_t page_size;
	uint32_t page_data_offset; /* from header_page */
	const char *codec;         /* "none", "zstd", or another name, which weft cannot read */
	uint64_t size;             /* of the file */
	uint64_t replaced_size;    /* of the file whose place it took in trace_replace(); 0: it took none */
	uint32_t cpu_count;        /* CPUs of the recorded machine; 0 when unknown */
	bool has_date;             /* the option DATE is there, and readers give times of the day */
	int64_t date_offset_ns;    /* option DATE in ns; readers add it to all times */
	/* If has_date: a time that readers give plus this is ns since 1970. It is 0 without trace_shift_times(). */
	int64_t day_offset_ns;
	int64_t ts_offset; /* option OFFSET in raw units; readers add it to all times, too */
	bool has_tsc2nsec;
	uint32_t tsc_mult, tsc_shift;
	uint64_t tsc_offset;
	uint64_t trace_id;
};

/* For `info` and `check`: every section or region of the file in file order. */
struct trace_section {
	const char *what;      /* "header", "options", "event formats", "pages of CPU 3", ... */
	uint64_t offset, size; /* in the file */
	uint64_t raw_size;     /* uncompressed; 0 when unknown */
};

/* `path` is for messages. trace_open() of "-" reads standard input. */
int must_check trace_open(const char *path, struct trace **ret, struct fail *fail);
int must_check trace_open_fd(int fd, const char *path, struct trace **ret, struct fail *fail);

/* Whether a file with these first bytes, at least eight, looks like a trace.dat. */
bool trace_is_own(const uint8_t *head, size_t len);
/*
 * Whether a file with these first bytes looks like one of Perfetto: it begins with the head of a packet, which is no
 * text. What is said of it stands behind the file's name.
 */
bool trace_is_perfetto(const uint8_t *head, size_t len);
#define TRACE_OF_PERFETTO                                                                                             \
	"looks like a trace of Perfetto; 'traceconv systrace FILE - | weft import -o trace.dat -' makes a trace.dat " \
	"of it"

/*
 * The same in two steps: the first opens the file without reading it, so that trace_sandbox() can be called in between.
 */
int must_check trace_new(const char *path, struct trace **ret, struct fail *fail);
int must_check trace_load(struct trace *trace, struct fail *fail);

/* The file, before or after it was read; trace_replace() makes another one of it, which must be before. */
const struct input *trace_input(const struct trace *trace);
int must_check trace_replace(struct trace *trace, int fd, struct fail *fail);
void trace_free(struct trace *trace);

/*
 * Gives up privileges before untrusted bytes are read: lib/ground/base/sandbox.h, as the file's owner when root reads.
 * Nothing can be opened afterwards; call it before threads are started.
 */
int must_check trace_sandbox(const struct trace *trace, struct fail *fail);

/*
 * A small hostile file can claim huge pages. Without this call, the reader refuses more than any recording reaches: a
 * ratio above TRACE_RATIO_MAX, and more memory than all readers may take. After this call it reads such a file.
 */
void trace_trust_sizes(struct trace *trace);
bool trace_trusted(const struct trace *trace);

/* What readers add to all time stamps, modulo 2^64: the options DATE and OFFSET. */
uint64_t trace_ts_offset(const struct trace *trace);

/* Adds `by` to all time stamps, in raw units like the option OFFSET; call it before anything is read. */
void trace_shift_times(struct trace *trace, int64_t by);

const char *trace_path(const struct trace *trace);
const struct trace_info *trace_info(const struct trace *trace);
const struct trace_section *trace_sections(const struct trace *trace, size_t *ret_count);
/* Copies bytes of the file as they are. Returns how many there were: fewer at its end, 0 after an error. */
size_t trace_bytes(const struct trace *trace, uint64_t offset, void *into, size_t size);
const struct trace_format *trace_formats(const struct trace *trace, size_t *ret_count);

/*
 * The rest of the metadata. Loaded and decompressed on first use; an absent one has a NULL text, which is no failure.
 */
enum trace_meta {
	TRACE_HEADER_PAGE,
	TRACE_HEADER_EVENT,
	TRACE_KALLSYMS,
	TRACE_PRINTK,
	TRACE_CMDLINES,
	TRACE_UNAME,
	TRACE_VERSION, /* of the recording program */
	TRACE_CPUSTAT, /* all CPUSTAT options of the top instance, concatenated */
	TRACE_LATENCY, /* the text of a latency tracer's `trace` file */
	TRACE_META_NR,
};
int must_check trace_meta(struct trace *trace, enum trace_meta which, struct trace_text *ret, struct fail *fail);

/*
 * weft's private section: the content of tracefs and /proc files, by the name of the file, relative to the instance:
 * "trace_options", "current_tracer", "per_cpu/cpu0/stats", "saved_tgids", "weft/mode"... An absent one has a NULL text.
 * `buffer` is an index of trace_buffer().
 */
struct trace_text trace_setting(const struct trace *trace, size_t buffer, const char *name);
/* Version 6 cannot hold a latency text beside pages, so there it is a setting of this name. */
#define SETTING_LATENCY "weft/latency"
#define SETTING_SELECTED "weft/selected"
#define SETTING_TOLD_NAMES "weft/told_names"
#define SETTING_DIVIDED "weft/divided"
#define SETTING_SAMPLE "weft/sample"
#define SETTING_ENDED "weft/ended"
/* Lists all settings: false when `index` is after the last. */
bool trace_setting_at(const struct trace *trace, size_t index, size_t *ret_buffer, const char **ret_name,
		      struct trace_text *ret_text);

size_t trace_buffers(const struct trace *trace);
const struct trace_buffer *trace_buffer(const struct trace *trace, size_t index);
/* The index of the first buffer of this name; false: there is none, and *ret is as it was. */
bool trace_find_buffer(const struct trace *trace, const char *name, size_t *ret);

/*
 * The damage that opening found, in one line with the offset; NULL when the file is whole. Reading can go on, but the
 * exit status must not be zero at the end. Later it also reports that a read error or a lack of memory made the output
 * incomplete.
 */
const char *trace_damage(struct trace *trace);

/*
 * Notes that something is left out or shown as unknown for lack of memory: trace_damage() reports it. May be called
 * from any thread.
 */
void trace_lacks_memory(struct trace *trace);
/* Whether trace_lacks_memory() was called: then the output is incomplete, although the file may be whole. */
bool trace_starved(const struct trace *trace);

/*
 * The pages of one CPU, in pieces that a reader asks for in order: a chunk of a compressed buffer, or a run of raw
 * pages. The caller owns the position and the memory.
 */
struct trace_pages {
	struct trace *trace;
	const struct trace_buffer *buffer;
	const struct trace_cpu *cpu;
	uint64_t next; /* offset in the file */
	uint64_t end;
	uint32_t chunks_left; /* number of chunks of a compressed buffer; not counted any more after a jump */
	bool jumped;
	uint64_t head_at; /* offset of the chunk whose head is in `head`; 0: none */
	uint8_t head[8];  /* the next chunk's head, as in the file: read together with the chunk before */
};

/* Whether the file ends before the pages of this CPU do: those that are there are handed out without an error. */
bool trace_cpu_is_cut(const struct trace *trace, size_t buffer, size_t cpu_index);

int must_check trace_pages_init(struct trace_pages *pages, struct trace *trace, size_t buffer, size_t cpu_index,
				struct fail *fail);

/*
 * The size of the next piece: 1 and the bytes of memory it needs (a multiple of page_size unless the file was cut
 * short), 0 at the end, -errno. `max` bounds a run of raw pages, not a chunk.
 */
int must_check trace_pages_size(struct trace_pages *pages, size_t max, size_t *ret_size, struct fail *fail);

/*
 * Moves to the first piece that begins at or after `offset` of the file: 1, or 0 and no change when none was found
 * before `limit`. A chunk is found by its frame, and accepted when another chunk or the end follows it: so a large file
 * can be searched without walking it.
 */
int must_check trace_pages_jump(struct trace_pages *pages, uint64_t offset, uint64_t limit, struct buf *scratch,
				struct fail *fail);

struct frame_reader;
/*
 * Reads that piece into `data`, which has room for it, and moves on. `scratch` keeps a buffer for compressed bytes
 * between calls.
 */
int must_check trace_pages_read(struct trace_pages *pages, struct frame_reader *reader, struct buf *scratch, void *data,
				size_t size, struct fail *fail);

/* Moves on without reading the piece. */
int must_check trace_pages_skip(struct trace_pages *pages, size_t size, struct fail *fail);

/* The bytes that the next piece takes in the file; 0 when there is none, or it is damaged. `max` as above. */
uint64_t trace_pages_packed(const struct trace_pages *pages, size_t max);

/* The uncompressed size of all pages of a CPU, from the heads of its chunks; 0 if these are damaged. */
uint64_t trace_pages_total(struct trace *trace, size_t buffer, size_t cpu_index);

/* Reads only the first `size` bytes of a raw piece, or decompresses a chunk's start, without moving on. */
int must_check trace_pages_peek(struct trace_pages *pages, struct frame_reader *reader, struct buf *scratch, void *data,
				size_t size, struct fail *fail);

#endif
