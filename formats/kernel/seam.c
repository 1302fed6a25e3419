// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/kernel/seam_internal.h"

#include "formats/kernel/ftrace.h"
#include "formats/kernel/graph.h"
#include "lib/event/buffers.h"

#include <stdlib.h>
#include <string.h>

/* The first part of a seam; the bits of CPUs, and the seam of the graph, follow. */
struct frame_seam {
	size_t words; /* of `started`, and of `said` after it; 0: no line announces a CPU */
	uint64_t settled;
	bool guesses;
	bool begun_annotated, annotate; /* at the start, and at the end */
	uint64_t started[];
};

/* Whether any line may announce a CPU: settle_gap() of ftrace_sink.c, and the overruns of the header. */
static bool may_annotate(const struct ftrace *ftrace)
{
	const struct context *context = ftrace->context;

	return ftrace->annotate || (!context->frozen && !context->recorded && !context->nr_stats &&
				    context_option(context, OPTION_ANNOTATE));
}

static size_t words_of(const struct ftrace *ftrace)
{
	const struct context *context = ftrace->context;

	return may_annotate(ftrace) ? (buffers_own_cpus(context) + 63) / 64 : 0;
}

static size_t frame_size(size_t words)
{
	return sizeof(struct frame_seam) + 2 * words * sizeof(uint64_t);
}

static bool has_graph(const struct ftrace *ftrace)
{
	return ftrace->tracer == &graph_tracer;
}

static bool seam_can(const struct sink *sink)
{
	const struct ftrace *ftrace = (const struct ftrace *)sink;

	return ftrace->settles_plain && (!ftrace->tracer || !ftrace->tracer->settle || has_graph(ftrace));
}

static size_t seam_size(const struct sink *sink)
{
	const struct ftrace *ftrace = (const struct ftrace *)sink;

	return frame_size(words_of(ftrace)) + (has_graph(ftrace) ? graph_seam_size(ftrace->graph) : 0);
}

static bool seam_forget(struct sink *sink)
{
	struct ftrace *ftrace = (struct ftrace *)sink;
	size_t words = words_of(ftrace), size = words * sizeof(uint64_t);

	if (!ftrace->earlier) {
		ftrace->earlier = calloc(2 * words + 1, sizeof(uint64_t));
		if (!ftrace->earlier)
			return false;
		ftrace->said = ftrace->earlier + words;
	}
	memset(ftrace->started, 0, size);
	memset(ftrace->earlier, 0, 2 * size);
	/* `annotate` is guessed to be as in the slice that this sink had before. */
	ftrace->settled = 3;
	ftrace->guesses = false;
	return !has_graph(ftrace) || graph_seam_forget(ftrace->graph);
}

static void seam_begin(struct sink *sink, struct sink_patches *patches)
{
	struct ftrace *ftrace = (struct ftrace *)sink;
	size_t size = words_of(ftrace) * sizeof(uint64_t);

	memcpy(ftrace->earlier, ftrace->started, size);
	memset(ftrace->started, 0, size);
	ftrace->guesses = true;
	ftrace->begun_annotated = ftrace->annotate;
	if (has_graph(ftrace))
		graph_seam_begin(ftrace->graph, patches);
}

static bool seam_patches(const struct sink *sink)
{
	return has_graph((const struct ftrace *)sink);
}

bool ftrace_seam_started(struct ftrace *ftrace, uint16_t cpu_index)
{
	uint64_t bit = ftrace->earlier[cpu_index / 64] & UINT64_C(1) << cpu_index % 64;

	ftrace->said[cpu_index / 64] |= bit;
	return bit;
}

static void seam_save(const struct sink *sink, void *seam)
{
	const struct ftrace *ftrace = (const struct ftrace *)sink;
	struct frame_seam *frame = seam;
	size_t words = words_of(ftrace), size = words * sizeof(uint64_t);

	*frame = (struct frame_seam){
		.words = words,
		.settled = ftrace->settled,
		.guesses = ftrace->guesses,
		.begun_annotated = ftrace->begun_annotated,
		.annotate = ftrace->annotate,
	};
	memcpy(frame->started, ftrace->started, size);
	if (ftrace->guesses)
		memcpy(frame->started + words, ftrace->said, size);
	if (has_graph(ftrace))
		graph_seam_save(ftrace->graph, (char *)seam + frame_size(words));
}

static void seam_load(struct sink *sink, const void *seam)
{
	struct ftrace *ftrace = (struct ftrace *)sink;
	const struct frame_seam *frame = seam;

	ftrace->settled = frame->settled;
	ftrace->annotate = frame->annotate;
	ftrace->guesses = false;
	memcpy(ftrace->started, frame->started, frame->words * sizeof(uint64_t));
	if (has_graph(ftrace))
		graph_seam_load(ftrace->graph, (const char *)seam + frame_size(frame->words));
}

/* A line of each CPU in `started` of the slice depends on whether it had started before. */
static bool join_frame(const struct frame_seam *before, struct frame_seam *frame)
{
	const uint64_t *said = frame->started + frame->words;

	if (!frame->guesses)
		return true;
	if (before->words != frame->words || before->settled < 3 || before->annotate != frame->begun_annotated)
		return false;
	for (size_t i = 0; i < frame->words; i++)
		if ((before->started[i] & frame->started[i]) != said[i])
			return false;
	for (size_t i = 0; i < frame->words; i++)
		frame->started[i] |= before->started[i];
	frame->guesses = false;
	return true;
}

static bool seam_join(const void *before, void *seam, size_t size, struct sink_patches *patches)
{
	struct frame_seam *frame = seam;
	size_t own = frame_size(frame->words);

	return join_frame(before, seam) &&
	       (size <= own || graph_seam_join((const char *)before + own, (char *)seam + own, size - own, patches));
}

const struct sink_seam_ops ftrace_seam = {
	.can = seam_can,
	.size = seam_size,
	.forget = seam_forget,
	.begin = seam_begin,
	.patches = seam_patches,
	.save = seam_save,
	.load = seam_load,
	.join = seam_join,
};
