// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a hostile machine sends to `weft record --on`, or to `weft serve`. The first byte of the input chooses: frames
 * that are only taken apart (0), or a whole connection whose recording is then made into a file (1). Nothing outside of
 * the parts may appear, and each failure has a text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/record/result.h"
#include "lib/kernel/remote/outcome.h"
#include "lib/kernel/remote/receiver_internal.h"
#include "lib/kernel/remote/wire_internal.h"
#include "lib/meaning/clock/pings.h"
#include "tests/fuzz/shared/received.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { ANSWERS_BOUND = 8 << 20 };

static void use(struct bytes body)
{
	struct record_result result = { .has_status = false };
	struct buf again = BUF_INIT;
	struct fail fail = FAIL_INIT;

	if (outcome_take(body, &result, &fail) && !*fail.text)
		abort();
	if (!outcome_add(&again, &result))
		abort();
	record_result_release(&result);
	buf_release(&again);
}

static void take_apart(struct bytes in)
{
	struct wire_greeting greeting;
	struct wire_frame frame;
	struct fail fail = FAIL_INIT;
	struct bytes line = in;
	int r;

	if (wire_take_greeting(&line, &greeting, &fail) < 0 && !*fail.text)
		abort();
	while ((r = wire_take(&in, &frame, &fail)) > 0) {
		char **words;
		int nr;

		if (frame.body.left > WIRE_BODY_MAX || frame.body.at + frame.body.left != in.at)
			abort();
		if (!wire_words(&frame, &words, &nr, &fail)) {
			size_t sum = 0;

			for (int i = 0; i < nr; i++)
				sum += strlen(words[i]) + 1;
			if (sum != frame.body.left || words[nr])
				abort();
			free(words);
		}
		use(frame.body);
	}
	if (r < 0 && !*fail.text)
		abort();
}

static int keep_clock(void *arg, const struct receiver_clock *clock, struct fail *fail)
{
	const struct receiver *receiver = arg;
	struct ping ping = { .lo = clock->before, .hi = clock->before + clock->after % 1000000, .far = clock->far };

	snprintf(ping.clock, sizeof(ping.clock), "%s", clock->clock);
	return arrival_ping(receiver->arrival, &ping, fail);
}

static void receive(struct bytes in)
{
	struct record_result result = { .has_status = false };
	struct buf answers = BUF_INIT;
	struct receiver receiver = {
		.print = received_ignore, .clock = keep_clock, .arg = &receiver, .result = &result, .answers = &answers
	};
	struct fail fail = FAIL_INIT;
	int err;

	if (arrival_new(&(struct arrival_options){ received_output, NULL, "far" }, &receiver.arrival, &fail) ||
	    receiver_init(&receiver, &fail))
		abort();
	err = receiver_take(&receiver, &in, &fail);
	if ((err && !*fail.text) || answers.len > ANSWERS_BOUND)
		abort();
	received_finish(receiver.arrival);
	receiver_release(&receiver);
	record_result_release(&result);
	buf_release(&answers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (!len)
		return 0;
	received_prepare();
	if (*data & 1)
		receive(wire_bytes(data + 1, len - 1));
	else
		take_apart(wire_bytes(data + 1, len - 1));
	return 0;
}
