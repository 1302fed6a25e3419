// SPDX-License-Identifier: LGPL-2.1-or-later
/* The memory that weft and a runner share: whose turn it is, and the answers in it. */
#include "lib/meaning/plugin/foreign_internal.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

void foreign_wait(struct foreign_memory *memory, enum foreign_turn turn)
{
	const struct timespec second = { .tv_sec = 1 };

	if (atomic_load(&memory->turn) == turn)
		(void)futex(&memory->turn, FUTEX_WAIT, turn, &second);
}

void foreign_give(struct foreign_memory *memory, enum foreign_turn turn)
{
	atomic_store(&memory->turn, turn);
	(void)futex(&memory->turn, FUTEX_WAKE, INT32_MAX, NULL);
}

bool foreign_is_gone(int pipe)
{
	struct pollfd ask = { .fd = pipe, .events = POLLIN };

	return poll(&ask, 1, 0) > 0;
}

const struct foreign_text *foreign_reply_next(struct bytes *reply)
{
	struct bytes rest = *reply;
	const uint8_t *start, *text;
	uint32_t len;

	start = rest.at;
	if (!bytes_u32(&rest, &len) || len > FOREIGN_AREA ||
	    !bytes_take(&rest, foreign_padded(sizeof(len) + len) - sizeof(len), &text))
		return NULL;
	*reply = rest;
	return (const struct foreign_text *)(const void *)start;
}
