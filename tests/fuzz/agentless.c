// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a hostile machine sends to `weft record --on --agentless`. The first byte of the input chooses: frames that are
 * only taken apart, in pieces (0), or a whole connection whose recording is then made into a file (1). In the place of
 * the token, which is random, the input has "{token}".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/record/result.h"
#include "lib/kernel/remote/agentless.h"
#include "lib/kernel/remote/agentless_internal.h"
#include "lib/kernel/remote/answers_internal.h"
#include "lib/kernel/remote/receiver_internal.h"
#include "lib/kernel/setup/setup.h"
#include "tests/fuzz/shared/received.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char place[] = "{token}";
/* The bytes with the token in its places. The caller releases them. */
static struct buf with_token(const uint8_t *data, size_t len, const char *token)
{
	struct buf to = BUF_INIT;

	while (len) {
		const uint8_t *at = memmem(data, len, place, strlen(place));
		size_t before = at ? (size_t)(at - data) : len, skip = at ? strlen(place) : 0;

		if (!buf_add(&to, data, before) || (at && !buf_add(&to, token, ANSWER_TOKEN)))
			abort();
		data += before + skip;
		len -= before + skip;
	}
	return to;
}

/* However the bytes are cut, the same pieces come out: each byte of a frame once, and nothing but them. */
static uint64_t take_apart(const struct buf *all, const char *token, size_t step)
{
	struct answers answers;
	struct answer answer;
	uint64_t sum = 0;
	size_t there = 0, taken = 0;
	int r = 1;

	answers_init(&answers, token);
	while (r >= 0 && there < all->len) {
		struct fail fail = FAIL_INIT;

		there = there + step < all->len ? there + step : all->len;
		do {
			struct bytes in = bytes_of(all->data + taken, there - taken, false);

			r = answers_take(&answers, &in, &answer, &fail);
			if (r < 0 && !*fail.text)
				abort();
			if (in.at < (uint8_t *)all->data + taken || in.at + in.left != (uint8_t *)all->data + there)
				abort();
			taken = there - in.left;
			if (r > 0 && answer.begins)
				sum = sum * 31 + (uint64_t)answers.kind + strlen(answers.name);
			for (size_t i = 0; r > 0 && i < answer.data.left; i++)
				sum = sum * 31 + answer.data.at[i];
		} while (r > 0);
		if (!r && there - taken > ANSWER_LINE_MAX)
			abort();
	}
	return sum + (r < 0);
}

static void receive(const uint8_t *data, size_t len)
{
	struct record_result result = { .has_status = false };
	struct buf answers = BUF_INIT, script = BUF_INIT, all;
	struct receiver receiver = { .print = received_ignore, .result = &result, .answers = &answers };
	struct setup setup = { .nr_instances = 0 };
	struct agentless_options options = { .script = "",
					     .setup = &setup,
					     .file = { .version = 7, .compress = true, .level = 1 } };
	struct agentless *agentless;
	struct fail fail = FAIL_INIT;
	char token[ANSWER_TOKEN + 1];
	struct setup_event *event;
	struct bytes in;

	if (!setup_add_instance(&setup, NULL) || !(event = setup_add_event(&setup.instances[0], "sched")))
		abort();
	event->filter = "prev_pid > 1";
	if (arrival_new(&(struct arrival_options){ received_output, NULL, "far" }, &receiver.arrival, &fail) ||
	    agentless_new(&options, &receiver, &agentless, &fail) || !agentless_greet(agentless, &script) ||
	    sscanf(buf_str(&script), "token=%32s", token) != 1)
		abort();
	all = with_token(data, len, token);
	in = bytes_of(all.data ? all.data : "", all.len, false);
	if (agentless_take(agentless, &in, &fail) && !*fail.text)
		abort();
	agentless_free(agentless);
	received_finish(receiver.arrival);
	setup_release(&setup);
	record_result_release(&result);
	buf_release(&answers);
	buf_release(&script);
	buf_release(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char token[] = "0123456789abcdef0123456789abcdef";
	struct buf all;

	if (!len)
		return 0;
	received_prepare();
	if (*data & 1) {
		receive(data + 1, len - 1);
		return 0;
	}
	all = with_token(data + 1, len - 1, token);
	if (all.len && take_apart(&all, token, all.len) != take_apart(&all, token, 1))
		abort();
	buf_release(&all);
	return 0;
}
