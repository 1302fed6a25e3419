/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_READER_CPU_COUNT_H
#define WEFT_MEANING_READER_CPU_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct reader;

/* One CPU of a buffer, as its events show it. */
struct cpu_count {
	uint64_t first, last, events, lost;
	bool seen, lost_some; /* lost_some: a gap of unknown size */
};

/* Reads the events of the reader's only buffer. *ret, which the caller frees, has one entry for each of its CPUs. */
int must_check cpu_count_all(struct reader *reader, struct cpu_count **ret, struct fail *fail);

#endif
