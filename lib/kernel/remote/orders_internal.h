/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REMOTE_ORDERS_INTERNAL_H
#define WEFT_KERNEL_REMOTE_ORDERS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct catalog;
struct fail;
struct setup;

/*
 * What the near side tells the shell of agentless_internal.h to do: lines "VERB NAME VALUE", which cmd/agentless.sh
 * does. What a setup has besides the main instance's events with filters, tasks, buffers and trace options is left out:
 * whoever asks has refused it.
 */
/* What is needed before anything can be chosen; the text available_events makes the catalog. False: no memory. */
bool orders_facts(struct buf *to);
/* Sets everything up, and asks for what a reader of the recording has to know. */
int must_check orders_setup(const struct setup *setup, const struct catalog *catalog, bool all_formats, struct buf *to,
			    struct fail *fail);
/* Turns tracing on. `page`: the bytes of a sub-buffer. */
bool orders_begin(uint32_t page, struct buf *to);
/* Behind the recording. */
bool orders_end(struct buf *to);

#endif
