/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REMOTE_LINK_INTERNAL_H
#define WEFT_KERNEL_REMOTE_LINK_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"

struct fail;
struct pollfd;

/*
 * The two pipes of one side: bytes that came and are not taken yet, and bytes that wait to be sent. Nothing blocks.
 * Invariant: what came and waits is bounded by a frame and a read. What is sent is bounded by its caller, which adds
 * only when link_sends() is small.
 */
struct link {
	int in, out; /* -1: closed */
	struct buf came, going;
	size_t taken, sent; /* of these */
	uint64_t heard_ns;  /* when something came last, by now_ns() */
	uint64_t said_ns;   /* when this side said last that it is there */
};

/* The descriptors become non-blocking, and belong to the link. */
void link_init(struct link *link, int in, int out);
void link_release(struct link *link);

/* Fills two places for poll(2): fds[0] for what comes, fds[1] for what goes. */
void link_poll(const struct link *link, struct pollfd *fds);

/* Reads once, where something is there. 1: there may be something new; 0: the other side has ended; -errno. */
int must_check link_read(struct link *link);
/* What came and was not taken yet. link_took() says where a taker stopped. */
struct bytes link_came(const struct link *link);
void link_took(struct link *link, const struct bytes *rest);

/* Sends what the pipe takes. SIGPIPE is held. */
int must_check link_write(struct link *link);
static inline size_t link_sends(const struct link *link)
{
	return link->going.len - link->sent;
}

/*
 * A cut of what carries the connection ends nothing by itself: it only becomes silent, and goes on later. So that each
 * side can tell silence from a machine that has nothing to say, both say every LINK_HERE_MS that they are there.
 */
enum { LINK_HERE_MS = 5000 };

/* Says it, if it is time to and nothing waits that says the same. False: no memory. */
bool link_say(struct link *link);
/* So many ms until it is time; -1: nothing has to be said while something waits to be sent. */
int link_say_ms(const struct link *link);
/* For so long nothing has come. */
uint64_t link_silence_ns(const struct link *link);

void link_never_block(int fd);

/* Whether the signal ends a recording. */
bool link_stops(int sig);
/* Holds these signals, of which the descriptor tells, and SIGPIPE. The old mask is set also after an error. */
int must_check link_hold_signals(sigset_t *ret_old, int *ret_fd, struct fail *fail);
/* Drops a SIGPIPE that waits, because the other side had ended when something was sent, and sets the old mask. */
void link_release_signals(const sigset_t *old);

#endif
