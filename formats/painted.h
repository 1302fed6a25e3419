/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_PAINTED_H
#define WEFT_FORMATS_PAINTED_H

#include "formats/sink.h"
#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * A sink that adds colours for a terminal to lines with the kernel's columns: tasks, flags that are set, names of
 * events, times of the function graph by their size, errors, and lost events. Without the colour sequences the bytes
 * are those of the wrapped sink, escaped.
 */

/*
 * Makes a sink of `ops`, wrapped if the options ask for colour and its lines have the kernel's columns; otherwise as it
 * is.
 */
int must_check painted_new(const struct sink_ops *ops, const struct context *context,
			   const struct sink_options *options, struct sink **ret, struct fail *fail);

#endif
