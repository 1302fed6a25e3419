/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REMOTE_OUTCOME_H
#define WEFT_KERNEL_REMOTE_OUTCOME_H

#include <stdbool.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct record_result;

/*
 * What became of a recording (lib/kernel/record/result.h) as the body of WIRE_OUTCOME: the numbers that only the far
 * kernel knows. What is about files is not in it.
 */
/* False: no memory. */
bool outcome_add(struct buf *to, const struct record_result *result);

/* Sets these numbers in *ret, which has none; record_result_release() releases them, also after an error. */
int must_check outcome_take(struct bytes body, struct record_result *ret, struct fail *fail);

#endif
