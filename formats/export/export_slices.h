/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_EXPORT_SLICES_H
#define WEFT_FORMATS_EXPORT_EXPORT_SLICES_H

#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct export;
struct export_input;
struct fail;
struct out;
struct pool;
struct slices;
struct text_end;

/*
 * The driver of an exporter whose lines need nothing of the lines before (ops->join): each thread has an exporter of
 * its own, which makes the lines of slices of time (formats/slices.h). The bytes are those of export_events().
 */
struct export_slices {
	const struct slices *slices;
	const struct export_input *input; /* with which the exporter was made */
	struct pool *pool;
	struct export *export;
	struct out *out; /* the export's */
	struct text_end *end;
	void (*wrote)(uint64_t slices, uint64_t all); /* as struct sliced has it */
	uint64_t events, gaps;                        /* results */
};

/* 0; or -EAGAIN: the events must be exported in order, and text_end::written bytes have been written; or -errno. */
int must_check export_slices(struct export_slices *driver, struct fail *fail);

#endif
