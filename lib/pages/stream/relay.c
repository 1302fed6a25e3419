// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/stream/relay.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"

void relay_put(struct out *out, enum relay_kind kind, size_t buffer, size_t cpu, const void *data, size_t len)
{
	const struct relay_head head = { (uint32_t)kind, (uint32_t)buffer, (uint32_t)cpu, (uint32_t)len };

	if (len > RELAY_FRAME_MAX) {
		out->failed = true;
		return;
	}
	out_mem(out, &head, sizeof(head));
	if (len)
		out_mem(out, data, len);
}

int relay_check(const struct relay_head *head, bool first, struct fail *fail)
{
	if (first && head->kind != RELAY_HELLO)
		return fail_set(fail, -EBADMSG, "these are no pages of weft stream --pages of this byte order");
	if (first && head->cpu != RELAY_VERSION)
		return fail_set(fail, -EBADMSG,
				"weft stream --pages is of another version of weft: it must be the same");
	if (head->len > RELAY_FRAME_MAX || (!first && head->kind > RELAY_END))
		return fail_set(fail, -EBADMSG, "what weft stream --pages writes is damaged");
	return 0;
}

enum { ROOM = 1 << 20 };

void relay_pipe_release(struct relay_pipe *pipe)
{
	free(pipe->data);
	pipe->data = NULL;
	pipe->size = pipe->from = pipe->to = 0;
}

/* Waits until there are bytes. 1; 0: not until then; -EINTR. */
static int wait_for(const struct relay_pipe *pipe, uint64_t end_ns, struct fail *fail)
{
	struct pollfd fd = { .fd = pipe->fd, .events = POLLIN };
	uint64_t now = now_ns(), left = end_ns > now ? (end_ns - now + 999999) / 1000000 : 0;
	int r = poll(&fd, 1, end_ns == UINT64_MAX ? -1 : left > INT_MAX ? INT_MAX : (int)left);

	return r < 0 ? fail_set(fail, -errno, "%s", strerror(errno)) : r;
}

/* Makes room for `more` bytes behind those that are there. */
static int make_room(struct relay_pipe *pipe, size_t more, struct fail *fail)
{
	size_t have = pipe->to - pipe->from;
	uint8_t *data = pipe->data;

	if (pipe->size - pipe->to >= more)
		return 0;
	if (have)
		memmove(data, data + pipe->from, have);
	pipe->from = 0;
	pipe->to = have;
	if (pipe->size - have >= more)
		return 0;
	more = more < ROOM ? ROOM : more;
	data = realloc(data, have + more);
	if (!data)
		return fail_memory(fail);
	pipe->data = data;
	pipe->size = have + more;
	return 0;
}

/* Reads until `need` bytes are there. As relay_pipe_next(). */
static int fill(struct relay_pipe *pipe, size_t need, uint64_t end_ns, struct fail *fail)
{
	size_t have;

	while ((have = pipe->to - pipe->from) < need) {
		/* Memory follows from what has come, not from what a head claims. */
		int r = make_room(pipe, need - have < have + ROOM ? need - have : have + ROOM, fail);
		ssize_t got;

		if (!r)
			r = wait_for(pipe, end_ns, fail);
		if (r <= 0)
			return r;
		got = read(pipe->fd, pipe->data + pipe->to, pipe->size - pipe->to);
		if (!got)
			return fail_set(fail, -ENODATA, "weft has ended before the end of its pages");
		if (got < 0 && errno != EAGAIN)
			return fail_set(fail, -errno, "cannot read the pages: %s", strerror(errno));
		if (got > 0)
			pipe->to += (size_t)got;
	}
	return 1;
}

int relay_pipe_next(struct relay_pipe *pipe, uint64_t end_ns, struct relay_head *ret, const uint8_t **ret_data,
		    struct fail *fail)
{
	struct relay_head head;
	int r = fill(pipe, sizeof(head), end_ns, fail);

	if (r <= 0)
		return r;
	memcpy(&head, pipe->data + pipe->from, sizeof(head));
	r = relay_check(&head, !pipe->met, fail);
	if (!r)
		r = fill(pipe, sizeof(head) + head.len, end_ns, fail);
	if (r <= 0)
		return r;
	pipe->met = true;
	*ret = head;
	*ret_data = pipe->data + pipe->from + sizeof(head);
	pipe->from += sizeof(head) + head.len;
	return 1;
}
