/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_WRECK_WRECK_H
#define WEFT_WRECK_WRECK_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dump;
struct fail;
struct writer_options;

/*
 * What the tracing of a kernel held when it crashed, out of its memory: the pages of all instances, and all that is
 * needed to print them (formats of events, symbols, names of tasks, options). It needs no debug package: the kernel's
 * own tables say where everything is (lib/image). The memory is of unknown origin: each list and each text is bounded,
 * and what cannot be read is left out and counted.
 */
struct wreck;

/* What somebody has kept of the kernel, for what its memory does not have. */
struct wreck_help {
	const void *btf; /* type information, borrowed; or NULL */
	size_t btf_len;
	int symbols; /* a System.map, a copy of kallsyms, or a vmlinux; -1: none */
	const char *symbols_path;
};

/* The dump is borrowed. `help` NULL: none. */
int must_check wreck_open(struct dump *dump, const struct wreck_help *help, struct wreck **ret, struct fail *fail);
void wreck_free(struct wreck *wreck); /* NULL is a no-op */

struct wreck_facts {
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
void wreck_facts(const struct wreck *wreck, struct wreck_facts *ret);

/* A buffer: an instance, or the snapshot of one. The top instance comes first; its name is "". */
struct wreck_buffer {
	const char *name; /* valid as long as the wreck */
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
bool wreck_buffer_at(const struct wreck *wreck, size_t index, struct wreck_buffer *ret);

struct wreck_choice {
	const char *const *names; /* of instances; nr 0: all that have events, and the top one */
	size_t nr;
	bool snapshot;       /* their snapshots instead of their buffers */
	bool hash_key;       /* keeps the key of hashed pointers in the file */
	const char *version; /* of weft */
};

bool wreck_is_chosen(const struct wreck_choice *choice, const struct wreck_buffer *buffer);

/*
 * Writes a trace.dat. -ENOENT: there is no such instance. *ret_size: bytes of the file.
 */
int must_check wreck_write(struct wreck *wreck, const struct wreck_choice *choice, const struct writer_options *form,
			   int fd, uint64_t *ret_size, struct fail *fail);

#endif
