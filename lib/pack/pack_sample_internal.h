/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PACK_PACK_SAMPLE_INTERNAL_H
#define WEFT_PACK_PACK_SAMPLE_INTERNAL_H

#include "lib/base/cleanup.h"
#include "lib/event/latency_facts.h"

struct fail;
struct pack_options;

enum { PACK_HEAD_MAX = 4096 };

/* What packing learns from a text with the option latency-format: see lib/event/latency_facts.h. */
struct pack_sample {
	struct latency_facts facts;
	char time_start[24], buffer_cpu[12]; /* as text */
	char head[PACK_HEAD_MAX];            /* the head of the text; "": it is too long */
};

/* Reads the text together with the trace.dat of this descriptor. */
int must_check pack_sample_read(int fd, const char *path, struct pack_sample *ret, struct fail *fail);

/* Adds the facts to the options, which borrow the sample. */
void pack_sample_facts(const struct pack_sample *sample, struct pack_options *options);

#endif
