/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EXPLAIN_PRECHECK_H
#define WEFT_EXPLAIN_PRECHECK_H

#include "lib/base/cleanup.h"

struct fail;
struct instance;

/*
 * Finds wrong names before anything is written: a refused filter would remove the filter before it, a refused histogram
 * leaves its mark in the error_log. Only what is certainly wrong is refused; the kernel judges the rest. Checked are
 * fields of filters and of histograms, events that a trigger switches, the event of an event probe and its fields,
 * functions of the kernel that are probed. -ENOENT: the message, with a caret, looks like the kernel's (error_log.h).
 * Other errors: nothing was checked.
 */
int must_check precheck(const struct instance *instance, const char *file, const char *value, struct fail *fail);

#endif
