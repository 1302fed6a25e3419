// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/remote/receiver_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/arrival.h"
#include "lib/kernel/remote/outcome.h"
#include "lib/kernel/remote/wire_internal.h"

enum {
	CREDIT_STEP = 1 << 20, /* bytes that were stored before credit for them is given */
	ANSWERS_MAX = 4 << 20, /* who lets so much wait does not read */
};

int receiver_init(struct receiver *receiver, struct fail *fail)
{
	return vec_push(receiver->stored, receiver->nr_stored) ? 0 : fail_memory(fail);
}

void receiver_release(struct receiver *receiver)
{
	free(receiver->stored);
	receiver->stored = NULL;
	receiver->nr_stored = 0;
}

/* Says that so much of a stream was stored. */
static int credit(struct receiver *receiver, size_t stream, size_t len, struct fail *fail)
{
	cleanup_buf struct buf body = BUF_INIT;
	uint32_t *stored = &receiver->stored[stream];

	*stored += (uint32_t)len;
	if (*stored < CREDIT_STEP)
		return 0;
	if (receiver->answers->len > ANSWERS_MAX)
		return fail_set(fail, -EPROTO, "it takes nothing of what it is sent");
	if (!wire_add_u32(&body, *stored) ||
	    !wire_add(receiver->answers, WIRE_CREDIT, (uint16_t)stream, body.data, body.len))
		return fail_memory(fail);
	*stored = 0;
	return 0;
}

static int take_stream(struct receiver *receiver, const struct wire_frame *frame, struct fail *fail)
{
	struct bytes body = frame->body;
	uint32_t buffer, cpu;

	if (!bytes_u32(&body, &buffer) || !bytes_u32(&body, &cpu))
		return fail_set(fail, -EBADMSG, "it names no stream");
	if (!vec_push(receiver->stored, receiver->nr_stored))
		return fail_memory(fail);
	return arrival_stream(receiver->arrival, frame->stream, buffer, cpu, fail);
}

static int take_data(struct receiver *receiver, const struct wire_frame *frame, struct fail *fail)
{
	const struct bytes *body = &frame->body;
	int err = frame->type == WIRE_META ?
			  arrival_meta(receiver->arrival, body->at, body->left, fail) :
			  arrival_pages(receiver->arrival, frame->stream, body->at, body->left, fail);

	return err ? err : credit(receiver, frame->type == WIRE_META ? 0 : frame->stream, body->left, fail);
}

static int take_outcome(struct receiver *receiver, const struct wire_frame *frame, struct fail *fail)
{
	if (receiver->told)
		return fail_set(fail, -EBADMSG, "it says twice what became of the recording");
	receiver->told = true;
	return outcome_take(frame->body, receiver->result, fail);
}

static int take_clock(struct receiver *receiver, const struct wire_frame *frame, struct fail *fail)
{
	struct receiver_clock clock;
	struct bytes body = frame->body;
	const char *name;
	size_t len;

	if (!bytes_u64(&body, &clock.id) || !bytes_u64(&body, &clock.before) || !bytes_u64(&body, &clock.after) ||
	    !bytes_u64(&body, &clock.far) || !bytes_cstr(&body, &name, &len) || !len || len >= sizeof(clock.clock) ||
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-")])
		return fail_set(fail, -EBADMSG, "what it says of its clock is damaged");
	memcpy(clock.clock, name, len + 1);
	return receiver->clock(receiver->arg, &clock, fail);
}

static int take_end(struct receiver *receiver, const struct wire_frame *frame, struct fail *fail)
{
	struct bytes body = frame->body;

	if (!bytes_u8(&body, &receiver->status))
		return fail_set(fail, -EBADMSG, "its end has no status");
	receiver->ended = true;
	return 0;
}

static int take_text(struct receiver *receiver, const struct wire_frame *frame, struct fail *fail)
{
	int err = receiver->print(receiver->arg, frame->type == WIRE_STDERR, frame->body.at, frame->body.left);

	return err ? fail_set(fail, err, "cannot write what it prints: %s", strerror(-err)) : 0;
}

static bool is_of_recording(uint8_t type)
{
	return type == WIRE_META || type == WIRE_PAGES || type == WIRE_STREAM || type == WIRE_OUTCOME ||
	       type == WIRE_CLOCK;
}

static int take_frame(struct receiver *receiver, const struct wire_frame *frame, struct fail *fail)
{
	if (!receiver->arrival && is_of_recording(frame->type))
		return fail_set(fail, -EBADMSG, "it sends a recording, which was not asked for");
	switch (frame->type) {
	case WIRE_META:
	case WIRE_PAGES:
		return take_data(receiver, frame, fail);
	case WIRE_STREAM:
		return take_stream(receiver, frame, fail);
	case WIRE_STDOUT:
	case WIRE_STDERR:
		return take_text(receiver, frame, fail);
	case WIRE_OUTCOME:
		return take_outcome(receiver, frame, fail);
	case WIRE_END:
		return take_end(receiver, frame, fail);
	case WIRE_CLOCK:
		return take_clock(receiver, frame, fail);
	}
	if (frame->flags & WIRE_OPTIONAL)
		return 0;
	return fail_set(fail, -EPROTO, "a frame of type %u came, which this weft does not know: use the same on both",
			frame->type);
}

int receiver_take(struct receiver *receiver, struct bytes *in, struct fail *fail)
{
	struct wire_greeting greeting;
	struct wire_frame frame;
	int r = 1, err = 0;

	if (!receiver->greeted) {
		r = wire_take_greeting(in, &greeting, fail);
		receiver->greeted = r > 0;
		if (r > 0 && receiver->arrival)
			arrival_swaps(receiver->arrival,
				      greeting.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
	}
	while (!err && r > 0 && !receiver->ended) {
		r = wire_take(in, &frame, fail);
		err = r > 0 ? take_frame(receiver, &frame, fail) : 0;
	}
	return err ? err : r < 0 ? r : 0;
}
