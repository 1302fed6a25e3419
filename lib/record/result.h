/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_RESULT_H
#define WEFT_RECORD_RESULT_H

#include "lib/base/cleanup.h"
#include "lib/record/session.h"

struct fail;
struct target;

/* Adds what the recorders of a target saved and what its buffer lost; they must have been joined. */
int must_check record_result_add(struct record_result *result, const struct target *target, struct fail *fail);

#endif
