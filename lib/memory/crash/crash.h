/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEMORY_CRASH_CRASH_H
#define WEFT_MEMORY_CRASH_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct dump;
struct fail;
struct writer_options;

/*
 * What the tracing of a kernel held when it crashed, out of its memory: the pages of all instances, and all that is
 * needed to print them (formats of events, symbols, names of tasks, options). It needs no debug package: the kernel's
 * own tables say where everything is (lib/memory/image). The memory is of unknown origin: each list and each text is
 * bounded, and what cannot be read is left out and counted.
 */
struct crash;

/* What somebody has kept of the kernel, for what its memory does not have. */
struct crash_help {
	const void *btf; /* type information, borrowed; or NULL */
	size_t btf_len;
	int symbols; /* a System.map, a copy of kallsyms, or a vmlinux; -1: none */
	const char *symbols_path;
};

/* The dump is borrowed. `help` NULL: none. */
int must_check crash_open(struct dump *dump, const struct crash_help *help, struct crash **ret, struct fail *fail);
void crash_free(struct crash *crash); /* NULL is a no-op */

struct crash_facts {
	char release[65], machine[65], host[65];
	size_t events, symbols, tasks; /* formats, symbols and names of tasks that were found */
	size_t unread;                 /* formats of events that cannot be read */
	bool live;                     /* the kernel is running (/proc/kcore) */
	size_t moved;                  /* its pages that were written again while they were copied: they are left out */
	bool cut;                      /* the list of events is damaged: there may be more */
	bool searched; /* the kernel has no symbols of variables: they were searched by what they hold */
	bool hash_key; /* the key is known by which the kernel hashed pointers */
	/* How it died, as far as it is known: */
	uint64_t crash_time; /* seconds since 1970, by the kernel's own clock; 0: it is not known */
	int64_t panic_cpu;   /* -1: no CPU has called panic(), or it is not known */
	int64_t panic_pid;   /* of the task that had this CPU; -1: not known */
	char panic_comm[16]; /* its name; "" not known */
};
void crash_facts(const struct crash *crash, struct crash_facts *ret);

/* A buffer: an instance, or the snapshot of one. The top instance comes first; its name is "". */
struct crash_buffer {
	const char *name; /* valid as long as the crash */
	bool snapshot;
	uint32_t sub_buffer; /* bytes of a page of the ring buffer */
	size_t nr_cpus;
	uint64_t pages;    /* bytes */
	uint64_t events;   /* in the pages */
	uint64_t counted;  /* what the kernel's counters say about the pages */
	uint64_t consumed; /* of the events, those that a reader of the pipe had read */
	uint64_t overwritten;
	uint64_t unfinished; /* bytes that were being written */
	uint64_t missing;    /* pages that the dump does not have */
	size_t broken;       /* CPUs of which the list of pages ends too early */
	bool remote;         /* another processor writes it: it is left out */
};
/* False after the last. */
bool crash_buffer_at(const struct crash *crash, size_t index, struct crash_buffer *ret);

/* The trace clock showed `ts` when it was that time of day, to `width_ns`. */
struct crash_moment {
	const char *clock; /* its name */
	uint64_t ts;
	int64_t wall_ns; /* CLOCK_REALTIME, since 1970 */
	uint64_t width_ns;
	uint64_t mono_ns, boot_ns; /* CLOCK_MONOTONIC, and CLOCK_BOOTTIME or 0 */
};

struct crash_choice {
	const char *const *names; /* of instances; nr 0: all that have events, and the top one */
	size_t nr;
	bool snapshot;       /* their snapshots instead of their buffers */
	bool hash_key;       /* keeps the key of hashed pointers in the file */
	const char *version; /* of weft */
	/* Appends what the setting `moments` says of a moment of a buffer's clock. NULL: there is no such setting. */
	bool (*put_moment)(const struct crash_moment *moment, struct buf *into);
	const char *moments;
};

bool crash_is_chosen(const struct crash_choice *choice, const struct crash_buffer *buffer);

/*
 * Writes a trace.dat. -ENOENT: there is no such instance. *ret_size: bytes of the file.
 */
int must_check crash_write(struct crash *crash, const struct crash_choice *choice, const struct writer_options *form,
			   int fd, uint64_t *ret_size, struct fail *fail);

#endif
