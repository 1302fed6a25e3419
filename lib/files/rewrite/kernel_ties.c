// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/rewrite/kernel_ties.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/mark.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/schema/format.h"
#include "lib/pages/trace/trace.h"

/* Later lines tie nothing. */
enum { LINES_MOST = 1 << 16, TEXT_MOST = 256 };

struct line {
	int64_t ns; /* the time of day; of a recording that does not tell it, `ts` */
	uint64_t ts;
	size_t buffer;
	char *text;
};

struct lines {
	struct line *at;
	size_t nr;
	struct out scratch;
};

static void lines_release(struct lines *lines)
{
	for (size_t i = 0; i < lines->nr; i++)
		free(lines->at[i].text);
	free(lines->at);
	out_release(&lines->scratch);
}

/* Behind "[   12.345678] " and "[    T1] ", which kernels before 5.15 and syslog daemons put in front. */
static const char *behind_heads(const char *at, const char *end)
{
	while (at < end && *at == '[') {
		const char *close = memchr(at, ']', (size_t)(end - at));

		at++;
		while (at < end &&
		       (*at == ' ' || *at == '.' || *at == 'T' || *at == 'C' || isdigit((unsigned char)*at)))
			at++;
		if (!close || at != close)
			return close ? NULL : end;
		at += 1 + (at + 1 < end && at[1] == ' ');
	}
	return at;
}

static int add_line(struct lines *lines, const struct line *like, const char *text, size_t len)
{
	const char *end = text + len, *at = behind_heads(text, end);
	struct line *line;

	at = at ? at : text;
	while (end > at && (end[-1] == '\n' || end[-1] == ' '))
		end--;
	if (at == end || lines->nr == LINES_MOST)
		return 0;
	line = vec_push(lines->at, lines->nr);
	if (!line)
		return -ENOMEM;
	*line = *like;
	line->text = strndup(at, end - at < TEXT_MOST ? (size_t)(end - at) : TEXT_MOST);
	if (!line->text)
		return -ENOMEM;
	/* As the reader of logs does it. */
	for (char *byte = line->text; *byte; byte++)
		*byte = (unsigned char)*byte < ' ' || *byte == 0x7f ? ' ' : *byte;
	return 0;
}

/* An imported text does not name systems: its events have one field, `text`. */
static bool is_printk(const struct format *format)
{
	return !strcmp(format->system, "printk");
}

/* Whether the event is a line of the kernel, and its text. */
static bool text_of(struct lines *lines, const struct event *event, bool of_log, const char **ret, size_t *ret_len)
{
	static const char kernel[] = "kernel: ";
	const struct format *format = event->type->format;
	struct mark_source source;
	struct place place;

	if (!of_log)
		return format && !strcmp(format->name, "console") &&
		       place_find(&place, event->type, is_printk(format) ? "msg" : "text") &&
		       place_string(&place, event, ret, ret_len);
	out_clear(&lines->scratch);
	if (!mark_source_find(&source, event->type))
		return false;
	mark_source_text(&source, event, &lines->scratch, ret, ret_len);
	if (*ret_len < sizeof(kernel) - 1 || memcmp(*ret, kernel, sizeof(kernel) - 1))
		return false;
	*ret += sizeof(kernel) - 1;
	*ret_len -= sizeof(kernel) - 1;
	return true;
}

static int read_buffer(struct trace *trace, size_t buffer, bool of_log, struct lines *lines, struct fail *fail)
{
	struct reader reader;
	struct event event;
	int r;

	reader_init(&reader);
	r = reader_add(&reader, trace, buffer, fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	while (!r && (r = reader_next(&reader, &event, fail)) > 0) {
		struct line line = { .ts = event.ts, .ns = (int64_t)event.ts, .buffer = buffer };
		const char *text;
		size_t len;

		r = 0;
		if (event.kind == EVENT_LOST || !text_of(lines, &event, of_log, &text, &len))
			continue;
		if (reader.buffers[0].context->wall &&
		    !wall_of(reader.buffers[0].context->wall, event.ts, &line.ns, NULL))
			continue;
		if (line.ns >= 0 && line.ns < INT64_MAX / 3 && add_line(lines, &line, text, len))
			r = fail_memory(fail);
	}
	reader_release(&reader);
	return r;
}

static int by_text(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int r = strcmp(x->text, y->text);

	return r ? r : x->ns < y->ns ? -1 : x->ns > y->ns;
}

static int read_lines(struct trace *trace, bool of_log, struct lines *lines, struct fail *fail)
{
	int r = out_init(&lines->scratch, 1024) ? 0 : fail_memory(fail);

	for (size_t i = 0; !r && i < trace_buffers(trace); i++)
		r = read_buffer(trace, i, of_log, lines, fail);
	if (!r && lines->nr)
		qsort(lines->at, lines->nr, sizeof(*lines->at), by_text);
	return r;
}

static size_t same_text(const struct lines *lines, size_t from)
{
	size_t to = from;

	while (to < lines->nr && !strcmp(lines->at[to].text, lines->at[from].text))
		to++;
	return to - from;
}

static void tie(const struct line *event, const struct line *line, struct kernel_ties *ret)
{
	int64_t later = line->ns - event->ns;

	if (!ret->nr || later > ret->most)
		ret->most = later;
	if (!ret->nr || later < ret->least) {
		ret->least = later;
		ret->buffer = event->buffer;
		ret->ts = event->ts;
		ret->ns = line->ns;
	}
	ret->nr++;
}

static void tie_all(const struct lines *events, const struct lines *log, struct kernel_ties *ret)
{
	size_t i = 0, k = 0;

	while (i < events->nr && k < log->nr) {
		size_t nr = same_text(events, i), others = same_text(log, k);
		int order = strcmp(events->at[i].text, log->at[k].text);

		for (size_t n = 0; !order && nr == others && n < nr; n++)
			tie(&events->at[i + n], &log->at[k + n], ret);
		i += order <= 0 ? nr : 0;
		k += order >= 0 ? others : 0;
	}
}

int kernel_ties_find(struct trace *recording, struct trace *log, struct kernel_ties *ret, struct fail *fail)
{
	struct lines events = { .nr = 0 }, lines = { .nr = 0 };
	int r = read_lines(recording, false, &events, fail);

	*ret = (struct kernel_ties){ .nr = 0 };
	if (!r && events.nr)
		r = read_lines(log, true, &lines, fail);
	if (!r)
		tie_all(&events, &lines, ret);
	lines_release(&events);
	lines_release(&lines);
	return r;
}
