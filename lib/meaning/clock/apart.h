/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_CLOCK_APART_H
#define WEFT_MEANING_CLOCK_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/pages/trace/trace.h"

struct fail;

/*
 * Whether events of several machines in one file have an order. Times that were compared by pings (pings.h) may be off
 * by a known number of ns at most: two events of two machines are in order only if they are further apart than both
 * together.
 */

/* A decimal number: so many ns the times of the buffer may be off those of the first file's clock; 0: that file. */
#define SETTING_APART "weft/clock_error"

/* False: the times of the buffer were not compared with those of another machine. */
bool apart_error(const struct trace *trace, size_t buffer, uint64_t *ret);

struct apart;

/* *ret NULL: the file has no times of two machines that were compared. */
int must_check apart_of(const struct trace *trace, struct apart **ret, struct fail *fail);
void apart_free(struct apart *apart);

/*
 * Takes the next event, in the order in which they are printed. True: an earlier one of another machine is so close
 * that it may have happened later. `buffer` is an index of trace_buffer().
 */
bool apart_next(struct apart *apart, size_t buffer, uint64_t ts);

/* What is known of the order beside another machine. */
struct apart_other {
	struct trace_text name; /* of its recording; borrowed from the trace */
	uint64_t within;        /* the two are in order only if they are further apart */
	bool seen;              /* apart_next() has taken an event of it, the last one at `last` */
	uint64_t last;
};
/* The machines besides that of the buffer, from 0. False: there is no such one. */
bool apart_other(const struct apart *apart, size_t buffer, size_t index, struct apart_other *ret);

/* The widest that two events of two machines may be apart, and still have no order. */
uint64_t apart_widest(const struct apart *apart);

#endif
