// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/live/far_live.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/reader/relay_reader.h"
#include "lib/pages/stream/relay.h"
#include "lib/pages/trace/trace.h"

enum { ROUND_NS = 100000000, TEXT = 64 << 10 };

struct far_live {
	struct relay_pipe pipe;
	struct relay_reader *relay; /* NULL: the buffers were not described */
	struct trace *trace;
	struct reader reader;
	struct flow flow;
	struct out out;
};

static int next_frame(void *arg, uint64_t end_ns, struct relay_head *ret, const uint8_t **ret_data, struct fail *fail)
{
	return relay_pipe_next(arg, end_ns, ret, ret_data, fail);
}

static int open_reader(struct far_live *far, int file, struct fail *fail)
{
	const struct relay_reader_options options = {
		.next = next_frame, .arg = &far->pipe, .file = file, .name = "the other machine"
	};
	int r = out_init(&far->out, 0) ? relay_reader_new(&options, &far->relay, fail) : fail_memory(fail);

	if (r)
		return r;
	far->trace = relay_reader_take_trace(far->relay);
	for (size_t i = 0; !r && i < relay_reader_buffers(far->relay); i++)
		r = relay_reader_add(far->relay, i, far->trace, &far->reader, fail);
	return r ? r : reader_start(&far->reader, &(struct reader_options){ .fails_at_once = true }, fail);
}

int far_live_new(int fd, int file, struct far_live **ret, struct fail *fail)
{
	struct far_live *far = calloc(1, sizeof(*far));
	int r;

	if (!far)
		return fail_memory(fail);
	far->pipe.fd = fd;
	reader_init(&far->reader);
	r = open_reader(far, file, fail);
	if (r)
		far_live_free(far);
	else
		*ret = far;
	return r;
}

void far_live_free(struct far_live *far)
{
	if (!far)
		return;
	reader_release(&far->reader);
	relay_reader_free(far->relay);
	trace_free(far->trace);
	relay_pipe_release(&far->pipe);
	out_release(&far->out);
	free(far);
}

struct reader *far_live_reader(struct far_live *far)
{
	return &far->reader;
}

struct trace *far_live_trace(const struct far_live *far)
{
	return far->trace;
}

struct out *far_live_out(struct far_live *far)
{
	return &far->out;
}

int far_live_texts(const struct far_live *far, struct buf *cmdlines, struct buf *kallsyms, struct fail *fail)
{
	const struct buf *names = relay_reader_names(far->relay), *symbols = relay_reader_symbols(far->relay);

	return buf_add(cmdlines, names->data, names->len) && buf_add(kallsyms, symbols->data, symbols->len) ?
		       0 :
		       fail_memory(fail);
}

/* Gives the consumer what the sources have, and then the losses that no page tells. */
static int show(struct far_live *far, struct fail *fail)
{
	const struct event *lost;
	size_t nr;
	int r;

	while ((r = flow_run(&far->flow, TEXT, fail)) > 0)
		out_clear(&far->out);
	if (r)
		return r;
	nr = relay_reader_dry(far->relay, &lost);
	for (size_t i = 0; i < nr; i++)
		flow_gap(&far->flow, lost[i].buffer, lost[i].cpu, lost[i].lost);
	return 0;
}

int far_live_run(struct far_live *far, const struct flow_consumer *consumer, bool (*ends)(void *arg), void *arg,
		 struct fail *fail)
{
	int r;

	far->flow =
		(struct flow){ .reader = &far->reader, .consumer = *consumer, .out = &far->out, .limit = UINT64_MAX };
	flow_begin(&far->flow);
	do {
		r = show(far, fail);
		if (r || relay_reader_ended(far->relay))
			break;
		r = relay_reader_take(far->relay, now_ns() + ROUND_NS, fail);
		if (r == -EAGAIN || r == -EINTR)
			r = 0;
	} while (!r && !ends(arg));
	return r ? r : flow_end(&far->flow);
}
