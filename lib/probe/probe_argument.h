/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PROBE_PROBE_ARGUMENT_H
#define WEFT_PROBE_PROBE_ARGUMENT_H

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

struct buf;
struct fail;
struct instance;
struct probe;

/*
 * Appends what the kernel takes for one ARGUMENT of weft's syntax (probe_define.h) at this probe, whose kind and place are known.
 * -ENOENT: no such parameter or field; the words have those that there are.
 */
int must_check probe_argument(const struct instance *top, const struct probe *probe, struct text_word word,
			      struct buf *buf, struct fail *fail);

#endif
