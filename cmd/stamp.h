/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_STAMP_H
#define WEFT_CMD_STAMP_H

#include "lib/base/cleanup.h"

#include <stdint.h>

struct context;
struct fail;

/* A time that the user gave: seconds with up to nine decimals, as the trace prints them; or the count of a clock that does not count ns. */
int must_check stamp_parse(const struct context *context, const char *option, const char *text, uint64_t *ret, struct fail *fail);

#endif
