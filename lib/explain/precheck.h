/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EXPLAIN_PRECHECK_H
#define WEFT_EXPLAIN_PRECHECK_H

#include "lib/base/cleanup.h"

struct fail;
struct instance;

/*
 * Names that cannot be right, found before anything is written: a refused filter would switch the one before it off, a refused
 * histogram leaves its mark in the error_log. Only what is sure is refused; the rest is for the kernel to judge.
 * Looked at are fields of filters and of histograms, events that a trigger switches, the event of an event probe and its
 * fields, functions of the kernel that are probed. -ENOENT: the words, with a caret, are like those of the kernel (error_log.h). Other errors: nothing was checked.
 */
int must_check precheck(const struct instance *instance, const char *file, const char *value, struct fail *fail);

#endif
