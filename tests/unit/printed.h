/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_PRINTED_H
#define WEFT_TESTS_UNIT_PRINTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"

struct context;
struct fail;
struct selection;
struct trace;

struct printed {
	const char *format;
	const char *option;    /* a trace option, as with -O; NULL: none */
	const char *events;    /* the events that are selected, as with -e; NULL: all */
	size_t buffer;         /* index of the buffer in the trace */
	uint64_t since, until; /* until 0: to the end */
	unsigned width;        /* width of the terminal; 0: none */
	bool color;
};

/* Prints one buffer of a trace as weft report does, on one thread; damage in the trace counts as an error. */
int printed_trace(struct trace *trace, const struct printed *how, struct buf *ret, struct fail *fail);

/* *ret is NULL if all events are selected. */
int printed_select(const struct context *context, const char *events, struct selection **ret, struct fail *fail);

/* The lines after the kernel's header. */
const char *printed_body(struct buf *text);

/*
 * Prints a file as weft report --format FORMAT does, with a trace option (-O OPTION) unless it is NULL, on one thread.
 * 0, or -errno with a text; damage in the file and a lack of memory count as errors.
 */
int printed(const char *path, const char *format, const char *option, struct buf *ret, struct fail *fail);

#endif
