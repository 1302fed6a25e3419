/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REMOTE_AGENTLESS_INTERNAL_H
#define WEFT_KERNEL_REMOTE_AGENTLESS_INTERNAL_H

#include <stdint.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"

struct agentless_options;
struct buf;
struct fail;
struct receiver;

/*
 * The near side of a recording by a shell (agentless.h): in place of a `weft serve`, cmd/agentless.sh runs there, takes
 * orders (orders_internal.h) and sends answers (answers_internal.h). As the receiver, it knows no process and no
 * descriptor, and the bytes may be hostile; what has become of the recording is in the receiver.
 */
struct agentless;

/* Borrows all. The receiver has an arrival and a result. */
int must_check agentless_new(const struct agentless_options *options, struct receiver *receiver, struct agentless **ret,
			     struct fail *fail);
void agentless_free(struct agentless *agentless);

/* Adds the script. Until the receiver was greeted, nothing else may be sent: a shell reads ahead. False: no memory. */
bool agentless_greet(const struct agentless *agentless, struct buf *to);

/* As receiver_take(). */
int must_check agentless_take(struct agentless *agentless, struct bytes *in, struct fail *fail);

/* Adds the order to end the recording, or that this side is there. */
bool agentless_stop(struct buf *to);
bool agentless_say(struct buf *to);

/* Until the recording is to be ended, by now_ns(); UINT64_MAX: not, or not yet. */
uint64_t agentless_due(const struct agentless *agentless);

#endif
