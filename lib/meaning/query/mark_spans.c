// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/query/mark_spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/event/mark.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/marks.h"
#include "lib/meaning/query/stretches_internal.h"

struct mark_spans {
	const char *const *globs;
	size_t nr_globs;
	struct stretches stretches; /* by PID; of a process OF_PROCESS | PID */
	size_t count;
	uint64_t longest;
	bool starved, too_many;
};

#define OF_PROCESS (UINT64_C(1) << 32)

struct mark_spans *mark_spans_new(const char *const *globs, size_t nr_globs)
{
	struct mark_spans *spans = calloc(1, sizeof(*spans));

	if (!spans)
		return NULL;
	spans->globs = globs;
	spans->nr_globs = nr_globs;
	stretches_init(&spans->stretches);
	return spans;
}

void mark_spans_free(struct mark_spans *spans)
{
	if (spans)
		stretches_release(&spans->stretches);
	free(spans);
}

/* What one buffer's events are read with. */
struct reading {
	struct mark_spans *spans;
	const struct context *context;
	struct marks marks;
};

static bool is_named(const struct mark_spans *spans, const struct marks_span *span)
{
	char name[512];

	if (span->name_len >= sizeof(name))
		return false;
	memcpy(name, span->name, span->name_len);
	name[span->name_len] = '\0';
	for (size_t i = 0; i < spans->nr_globs; i++)
		if (text_glob(spans->globs[i], name))
			return true;
	return false;
}

static void end_span(void *arg, const struct marks_span *span)
{
	struct reading *reading = arg;
	struct mark_spans *spans = reading->spans;
	int32_t tgid = task_tgid(reading->context->tasks, span->pid);

	if (!is_named(spans, span))
		return;
	if (span->to - span->start > spans->longest)
		spans->longest = span->to - span->start;
	spans->too_many |= ++spans->count > MARK_SPANS_MAX;
	if (spans->too_many)
		return;
	if (!tgid)
		tgid = span->tgid ? span->tgid : span->pid;
	if (!stretches_add(&spans->stretches, span->async ? OF_PROCESS | (uint32_t)tgid : (uint32_t)span->pid,
			   span->start, span->end == MARKS_OPEN ? UINT64_MAX : span->to))
		spans->starved = true;
}

static int read_all(struct reading *reading, struct fail *fail)
{
	struct events_options options = { .until = UINT64_MAX };
	struct events *events = NULL;
	struct event event;
	uint64_t last = 0;
	int r = events_open(reading->context, &options, &events, fail);

	while (!r && (r = events_next(events, &event, fail)) > 0) {
		marks_take(&reading->marks, &event);
		last = event.ts;
		r = 0;
	}
	events_free(events);
	marks_end(&reading->marks, last);
	return r;
}

int mark_spans_add(struct mark_spans *spans, const struct context *context, struct fail *fail)
{
	struct reading reading = { .spans = spans, .context = context };
	bool starved;
	int r;

	marks_init(&reading.marks, &(struct marks_calls){ .arg = &reading, .end = end_span });
	r = read_all(&reading, fail);
	starved = spans->starved || marks_starved(&reading.marks);
	marks_release(&reading.marks);
	if (!r && starved)
		return fail_memory(fail);
	if (!r && spans->too_many)
		return fail_set(fail, -E2BIG, "more than %d spans have such a name", MARK_SPANS_MAX);
	return r;
}

void mark_spans_end(struct mark_spans *spans)
{
	stretches_end(&spans->stretches);
}

size_t mark_spans_count(const struct mark_spans *spans)
{
	return spans->count;
}

uint64_t mark_spans_longest(const struct mark_spans *spans)
{
	return spans->longest;
}

bool mark_spans_cover(const struct mark_spans *spans, int32_t pid, int32_t tgid, uint64_t from, uint64_t to)
{
	return stretches_cover(&spans->stretches, (uint32_t)pid, from, to) ||
	       stretches_cover(&spans->stretches, OF_PROCESS | (uint32_t)(tgid ? tgid : pid), from, to);
}
