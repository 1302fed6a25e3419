/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_READER_STAMP_INTERNAL_H
#define WEFT_READER_STAMP_INTERNAL_H

#include "lib/base/cleanup.h"

#include <stdint.h>

struct context;
struct extent;
struct fail;

/*
 * The times of --since and --until; one that was not given (NULL) leaves its *ret as it is. A time is: seconds with up
 * to nine decimals, as the trace prints them; "+1.5ms" after the first event of the file and "-2s" before its last,
 * without a unit in seconds; or what the clock on the wall showed, "2026-11-22 10:30:00.5" or without the date on the
 * day of the first event, if the file's times have that clock. For a clock that does not count ns, it is the count, or
 * "+N" and "-N". "@sched:sched_switch" is the time of the first such event, "@mark:TEXT" of the first marker that
 * contains the text. After it may follow "#3" for the third one, and "+1ms" or "-50ms". `extent` is looked for when it
 * is needed, and kept; it borrows the texts.
 */
int must_check stamp_range(const struct context *context, const char *since, const char *until, struct extent *extent,
			   uint64_t *ret_since, uint64_t *ret_until, struct fail *fail);

/* One such time, of the option of this name. */
int must_check stamp_at(const struct context *context, const char *option, const char *text, struct extent *extent,
			uint64_t *ret, struct fail *fail);

#endif
