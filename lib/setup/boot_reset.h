/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SETUP_BOOT_RESET_H
#define WEFT_SETUP_BOOT_RESET_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/tracing.h"

#include <stdbool.h>

struct fail;

/*
 * Brings all of tracefs to its state after boot (boot.h). It removes all other instances except the instances of the
 * kernel command line, which stay unchanged (boot_instance.h); sets every setting of the top instance to its boot
 * value; empties the buffers; and removes weft's journals in the directory `journals` (NULL: UNDO_DIR), which are
 * obsolete then. Dynamic events (kprobes, uprobes, synthetic events...) are removed only with `probes`. Nothing is
 * journaled, so nothing can be undone. Continues after a failure and returns the first one. -EBUSY: a process still
 * reads an instance, which therefore cannot be removed; the text names both.
 */
int must_check boot_reset(const struct tracing *tracing, const char *journals, bool probes, struct fail *fail);

/*
 * The same for one instance, which stays; "" is the top one, whose journals of weft are restored first. The buffers
 * keep their sizes. Of the dynamic events only those are removed whose kind has its bit, 1 << enum probe_kind,
 * in `kinds`.
 */
int must_check boot_reset_one(const struct tracing *tracing, const char *instance, unsigned kinds, struct fail *fail);

#endif
