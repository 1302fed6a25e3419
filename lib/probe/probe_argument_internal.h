/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PROBE_PROBE_ARGUMENT_INTERNAL_H
#define WEFT_PROBE_PROBE_ARGUMENT_INTERNAL_H

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

struct buf;
struct fail;
struct instance;
struct probe;

/*
 * Appends the kernel's form of one ARGUMENT of weft's syntax (probe_define.h). The kind and the place of the probe must
 * be known. -ENOENT: there is no such parameter or field; the text lists those that exist.
 */
int must_check probe_argument(const struct instance *top, const struct probe *probe, struct text_word word,
			      struct buf *buf, struct fail *fail);

#endif
