/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_PACK_PACK_H
#define WEFT_FILES_PACK_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/* A setting of the first buffer that no file of the directory holds. */
struct pack_fact {
	const char *name, *text; /* "weft/...", a line without its newline; "proc/PID/maps" */
};

enum { PACK_FACTS_MAX = 64 };

/*
 * Builds a trace.dat from plain copies of tracefs files and of raw pages. The copies have the names they have in
 * tracefs, in `dir` or in dir/meta; instances are in instances/NAME (or instances/NAME.meta) below it; pages of a CPU
 * are per_cpu/cpuN/trace_pipe_raw or raw_main/cpuN.raw. Every small text becomes a setting under its relative name.
 * Data that the directory lacks comes from another trace.dat, if one is given. Nothing is invented: data that neither
 * has is absent.
 */
struct pack_options {
	const char *dir;
	const char *pages;         /* another trace.dat; NULL: dir/trace.dat if it exists */
	const char *kallsyms;      /* a file; NULL: dir's kallsyms if it exists */
	const char *kallsyms_text; /* replaces both if not NULL; it has kallsyms_len bytes */
	size_t kallsyms_len;
	const char *latency;       /* a file: the text of a latency tracer's `trace`; or NULL */
	const char *instance;      /* the directory describes this instance and not the top one; or NULL */
	const char *const *events; /* directories SYSTEM/EVENT/format; `dir` has precedence */
	size_t nr_events;
	struct pack_fact facts[PACK_FACTS_MAX];
	size_t nr_facts;
	const char *weft_version;
	unsigned version; /* 6 or 7 */
	bool compress;    /* v7 only */
	int level;
};

struct pack_summary {
	size_t buffers, cpus, formats, settings;
	uint64_t pages; /* bytes of pages, uncompressed */
	uint64_t size;  /* of the file */
	bool damaged;   /* the other trace.dat was damaged, see `damage` */
	char damage[512];
};

int must_check pack(const struct pack_options *options, int fd, struct pack_summary *ret, struct fail *fail);

/* What packing learns from files beside the directory, read together with the packed events. */
struct pack_learning {
	const char *sample; /* a text with the option latency-format; or NULL */
	const char *btf;    /* a copy of /sys/kernel/btf/vmlinux, or of its folder; or NULL */
	bool all_symbols;   /* keeps all symbols, not only those to which the pages can refer */
};

/*
 * Packs as pack() does, several times if something can only be learned from the packed events. If `fd` can be read
 * back, it is written anew; else the earlier files are temporary ones.
 */
int must_check pack_file(const struct pack_options *options, const struct pack_learning *learning, int fd,
			 struct pack_summary *ret, struct fail *fail);

#endif
