// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/day.h"
#include "lib/meaning/reader/query.h"
#include "lib/screen/view/event_cursor_internal.h"
#include "lib/screen/view/prompt_internal.h"
#include "lib/screen/view/search_internal.h"

/* What the prompts do. */

/* "+1.5s" and "-2ms" count from the cursor; without a unit in seconds, or in what the clock counts. */
static int from_cursor(struct view *view, const char *text, uint64_t *ret, struct fail *fail)
{
	uint64_t span;
	int r = view->counts ? text_parse_u64(text + 1, &span, fail) : text_parse_time(text + 1, &span, fail);

	if (r)
		return r;
	*ret = *text == '+' ? view->cursor.ts + span : view->cursor.ts > span ? view->cursor.ts - span : 0;
	return 0;
}

/* Learns the zone that a time names. */
static int learn_zone(struct view *view, const char *text, struct fail *fail)
{
	struct zone *zone = NULL, **added;
	char name[ZONE_LABEL];

	if (!view->zone || !day_time_zone_name(text, name) || zones_find(&view->zones, name))
		return 0;
	if (!view->zone(view->zone_arg, text, &zone))
		return fail_set(fail, -EINVAL, "'%s': there is no time zone '%s'", text, name);
	added = vec_push(view->zones.at, view->zones.nr);
	if (!added) {
		zone_free(zone);
		return fail_memory(fail);
	}
	*added = zone;
	return 0;
}

/* Any time that --since takes. */
static int as_since(struct view *view, const char *text, uint64_t *ret, struct fail *fail)
{
	struct reader_buffer buffer = { .context = view->reader.buffers[0].context, .window.until = UINT64_MAX };
	struct query query = QUERY_INIT;
	int r = learn_zone(view, text, fail);

	if (r)
		return r;
	query.since = text;
	query.zones = view->zones;
	r = query_narrow(&query, &buffer, false, &view->extent, NULL, fail);
	/* The extent remembers the texts that it was asked for, and this one goes away. */
	view->extent.moments[0].text = view->extent.moments[1].text = NULL;
	if (!r)
		*ret = buffer.window.since;
	return r;
}

static int to_share(struct view *view, const char *text, struct fail *fail)
{
	char number[32];
	uint64_t percent, from = view->extent.first, to = view->extent.last;
	int r;

	snprintf(number, sizeof(number), "%.*s", (int)strcspn(text, "%."), text);
	r = text_parse_range(number, 0, 100, &percent, fail);
	if (!r)
		view_go(view, (struct walk_place){ from + (uint64_t)((double)(to - from) * (double)percent / 100), 0 });
	return r;
}

/* The user typed no option, and a message has one line. */
static int reword(const char *text, int r, struct fail *fail)
{
	static const char option[] = "--since: ";
	const size_t len = strlen(option);

	if (fail->usage)
		return fail_set(fail, r, "':%.15s' is no command and no time: 15.6, +2ms, 50%%, #1000, 10:30:00", text);
	if (!strncmp(fail->text, option, len))
		memmove(fail->text, fail->text + len, strlen(fail->text + len) + 1);
	return r;
}

/* Where there are no events any more, the cursor stays beside the last or the first one. */
static void tell_outside(struct view *view, const char *text, uint64_t ts)
{
	bool late = ts > view->extent.last;
	struct out out;

	if ((!late && ts >= view->extent.first) || !out_init(&out, 64))
		return;
	view_put_time(view, late ? view->extent.last : view->extent.first, &out);
	out_char(&out, '\0');
	view_say(view, "%.40s is %s event, at %s", text, late ? "after the last" : "before the first", out.start);
	out_release(&out);
}

static int to_time(struct view *view, const char *text, struct fail *fail)
{
	uint64_t ts, number;
	int r;

	if (*text == '#')
		return text_parse_u64(text + 1, &number, fail) ?: view_go_number(view, number, fail);
	if (strchr(text, '%'))
		return to_share(view, text, fail);
	r = *text == '+' || *text == '-' ? from_cursor(view, text, &ts, fail) : as_since(view, text, &ts, fail);
	if (r)
		return reword(text, r, fail);
	view_go(view, (struct walk_place){ ts, 0 });
	tell_outside(view, text, ts);
	return 0;
}

static int add_filter(struct view *view, const char *text, struct fail *fail)
{
	struct view_filter filter;

	if (!search_option(text, &filter))
		filter = (struct view_filter){ .kind = VIEW_FILTER_EXPRESSION, .text = (char *)(uintptr_t)text };
	return view_filter_add(view, &filter, fail);
}

static int command(struct view *view, const char *text, struct fail *fail)
{
	static const struct {
		const char *name;
		enum view_filter_kind kind;
	} filters[] = { { "filter ", VIEW_FILTER_EXPRESSION },
			{ "event ", VIEW_FILTER_EVENT },
			{ "pid ", VIEW_FILTER_PID },
			{ "comm ", VIEW_FILTER_COMM },
			{ "cpu ", VIEW_FILTER_CPU } };

	for (size_t i = 0; i < array_size(filters); i++) {
		size_t len = strlen(filters[i].name);

		if (!strncmp(text, filters[i].name, len)) {
			const struct view_filter filter = { .kind = filters[i].kind,
							    .text = (char *)(uintptr_t)(text + len) };

			return view_filter_add(view, &filter, fail);
		}
	}
	if (!strcmp(text, "q") || !strcmp(text, "quit")) {
		view->quit = true;
		return 0;
	}
	if (!strcmp(text, "columns"))
		return view_choose_columns(view, "", fail);
	if (!strncmp(text, "columns ", 8))
		return view_choose_columns(view, text + 8, fail);
	if (!strcmp(text, "w") || !strcmp(text, "write")) {
		view->save = true;
		return 0;
	}
	return to_time(view, text, fail);
}

static int search(struct view *view, const char *text, bool back, struct fail *fail)
{
	if (*text) {
		char *copy = strdup(text);

		if (!copy)
			return fail_memory(fail);
		free(view->searched);
		view->searched = copy;
	}
	view->searched_back = back;
	return view->searched ? search_text(view, view->searched, !back, fail) : 0;
}

/* "1ms", or "1ms PID". */
static int late(struct view *view, const char *text, bool forward, struct fail *fail)
{
	char time[64];
	size_t len = strcspn(text, " ");
	int32_t pid = 0;
	const struct context *context = view->reader.buffers[0].context;
	struct event_cursor *event_cursor = NULL;
	struct walk_place place;
	struct event event;
	uint64_t ns, number;
	int r;

	snprintf(time, sizeof(time), "%.*s", (int)(len < 60 ? len : 60), text);
	r = text_parse_time(time, &ns, fail);
	text += len + strspn(text + len, " ");
	if (!r && *text) {
		r = text_parse_range(text, 0, INT32_MAX, &number, fail);
		pid = (int32_t)number;
	}
	if (r)
		return r;
	/* The task is one of the machine whose event the cursor is on. */
	r = event_cursor_find(view, view->cursor, &event_cursor, &event, &place, fail);
	/* Behind the last event: of its time. */
	if (!r)
		r = event_cursor_find(view, (struct walk_place){ view->extent.last, 0 }, &event_cursor, &event, &place,
				      fail);
	if (r > 0)
		context = reader_context(&view->reader, &event);
	if (r > 0 && !*text)
		pid = event.pid;
	event_cursor_free(event_cursor);
	return r < 0 ? r : search_late(view, context, pid, ns, forward, fail);
}

int prompt_do(struct prompt *prompt, struct view *view, struct fail *fail)
{
	char sign = prompt->sign;
	const char *text = prompt->text;

	prompt->sign = 0;
	text += strspn(text, " ");
	switch (sign) {
	case '/':
	case '\\':
		return search(view, text, sign == '\\', fail);
	case '&':
		return *text ? add_filter(view, text, fail) : 0;
	case 'w':
	case 'W':
		return *text ? late(view, text, sign == 'w', fail) : 0;
	}
	return *text ? command(view, text, fail) : 0;
}
