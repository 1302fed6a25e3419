/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REFUSALS_PRECHECK_H
#define WEFT_KERNEL_REFUSALS_PRECHECK_H

#include "lib/ground/base/cleanup.h"

struct fail;
struct instance;

/*
 * Finds wrong names before anything is written: a refused filter would remove the former filter, and a refused
 * histogram leaves an entry in the error_log. Only what is certainly wrong is refused; the kernel checks the rest. This
 * checks the fields of filters and histograms, the events that a trigger switches, the event of an event probe and its
 * fields, and the kernel functions of probes. -ENOENT: a name is wrong; the message, with a caret, looks like the
 * kernel's (error_log.h). Other errors: nothing was checked.
 */
int must_check precheck(const struct instance *instance, const char *file, const char *value, struct fail *fail);

#endif
