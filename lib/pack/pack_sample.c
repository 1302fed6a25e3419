// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pack/pack_sample_internal.h"

#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/pack/pack.h"
#include "lib/trace/trace.h"
#include "lib/trace/tree.h"
#include "lib/trace/whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_beside(struct trace *trace, const char *text, size_t len, struct pack_sample *sample, struct fail *fail)
{
	struct context *context = NULL;
	int r = context_new(trace, 0, &context, fail);

	if (!r)
		r = latency_facts_read(context, text, len, &sample->facts, fail);
	context_free(context);
	return r;
}

static void copy_head(struct pack_sample *sample, const char *text, size_t len)
{
	const char *at = text;
	struct text_word line;
	size_t head = 0;

	while (text_next_line(&at, &len, &line) && line.len && *line.at == '#')
		head = (size_t)(at - text);
	if (head >= sizeof(sample->head))
		head = 0;
	memcpy(sample->head, text, head);
	sample->head[head] = '\0';
}

int pack_sample_read(int fd, const char *path, struct pack_sample *ret, struct fail *fail)
{
	cleanup_free char *text = NULL;
	struct trace *trace = NULL;
	size_t len;
	int r = tree_read_file(path, &text, &len, fail);

	if (r)
		return r == -ENOENT ? fail_set(fail, r, "there is no file '%s'", path) : r;
	r = trace_open_fd(fd, "the new file", &trace, fail);
	if (!r)
		r = read_beside(trace, text, len, ret, fail);
	trace_free(trace);
	if (r)
		return r;
	if (strncmp(text, "# tracer: ", 10) || (ret->facts.lines && !ret->facts.time_start_known))
		return fail_set(fail, -EINVAL, "'%s' is not a text of these events with the option latency-format",
				path);
	copy_head(ret, text, len);
	snprintf(ret->time_start, sizeof(ret->time_start), "%" PRIu64, ret->facts.time_start);
	snprintf(ret->buffer_cpu, sizeof(ret->buffer_cpu), "%u", ret->facts.head.cpu);
	return 0;
}

static void add(struct pack_options *options, const char *name, const char *text)
{
	if (options->nr_facts < PACK_FACTS_MAX)
		options->facts[options->nr_facts++] = (struct pack_fact){ .name = name, .text = text };
}

void pack_sample_facts(const struct pack_sample *sample, struct pack_options *options)
{
	const struct latency_facts *facts = &sample->facts;

	if (facts->head.preempt_model[0])
		add(options, "weft/preempt_model", facts->head.preempt_model);
	if (facts->head.cpu_known)
		add(options, "weft/buffer_cpu", sample->buffer_cpu);
	if (sample->head[0])
		add(options, "weft/latency_head", sample->head);
	if (facts->time_start_known)
		add(options, "weft/time_start", sample->time_start);
}
