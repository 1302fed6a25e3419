// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/reader/mark_internal.h"

#include "lib/base/fail.h"
#include "lib/base/near.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/reader/moment_internal.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What weft flight writes: "weft: trigger NAME at TIME: REASON". */
#define TRIGGER "weft: trigger "

enum {
	LISTED = 6,     /* how many marks a message lists */
	SHOWN = 100,    /* letters of each */
	OFFERED = 1000, /* marks that are compared with what the user wrote */
	US = 1000,
};

struct found {
	uint64_t ts;
	char text[SHOWN + 1];
};

/* The first marks of those that have something in common, and their number. */
struct marks {
	struct found first[LISTED];
	uint64_t nr;
};

struct search {
	const char *text;
	size_t len;
	bool trigger; /* any mark of a trigger */
	uint64_t nth; /* 0: the only one */
	struct found nth_found;
	struct marks all, same, part; /* same: the text is the whole text */
	struct near near;
};

static void copy(struct found *to, uint64_t ts, const char *text, size_t len)
{
	size_t nr = len < SHOWN ? len : SHOWN;

	to->ts = ts;
	for (size_t i = 0; i < nr; i++)
		to->text[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
	to->text[nr] = '\0';
}

static void add(struct marks *marks, uint64_t ts, const char *text, size_t len)
{
	if (marks->nr < LISTED)
		copy(&marks->first[marks->nr], ts, text, len);
	marks->nr++;
}

static bool is_trigger(const char *text, size_t len)
{
	return len > strlen(TRIGGER) && !memcmp(text, TRIGGER, strlen(TRIGGER));
}

static void see(void *arg, uint64_t ts, const char *text, size_t len)
{
	struct search *search = arg;

	while (len && (text[len - 1] == '\n' || text[len - 1] == '\0'))
		len--;
	add(&search->all, ts, text, len);
	if (search->all.nr <= OFFERED) {
		char name[SHOWN + 1];

		snprintf(name, sizeof(name), "%.*s", (int)(len < SHOWN ? len : SHOWN), text);
		near_offer(&search->near, name);
	}
	if (search->trigger ? !is_trigger(text, len) : !memmem(text, len, search->text, search->len))
		return;
	add(&search->part, ts, text, len);
	if (len == search->len && !memcmp(text, search->text, len))
		add(&search->same, ts, text, len);
	if (search->part.nr == search->nth)
		copy(&search->nth_found, ts, text, len);
}

/* "\n  TIME TEXT" of each. */
static void list(const struct context *context, const struct marks *marks, char *into, size_t size)
{
	size_t at = 0;

	*into = '\0';
	for (size_t i = 0; i < LISTED && i < marks->nr && at < size; i++) {
		const struct found *found = &marks->first[i];
		char stamp[TEXT_HUMAN];

		if (context->unit == CLOCK_UNIT_NS)
			text_stamp(stamp, found->ts);
		else
			snprintf(stamp, sizeof(stamp), "%" PRIu64, found->ts);
		at += (size_t)snprintf(into + at, size - at, "\n  %s %s", stamp, found->text);
	}
	if (marks->nr > LISTED && at < size)
		snprintf(into + at, size - at, "\n  ...");
}

static int none(const struct context *context, const struct search *search, struct fail *fail)
{
	char hint[256], marks[768];

	if (!search->all.nr)
		return fail_set(fail, -ENODATA, "the file has no markers");
	near_hint(&search->near, hint, sizeof(hint));
	list(context, &search->all, marks, sizeof(marks));
	if (search->nth)
		return fail_set(fail, -ENODATA, "%" PRIu64 " of its %" PRIu64 " markers have this text:%s",
				search->part.nr, search->all.nr, marks);
	return fail_set(fail, -ENODATA, "none of its %" PRIu64 " markers has this text%s%s%s", search->all.nr,
			*hint ? "; " : ":", hint, marks);
}

static int several(const struct context *context, const struct search *search, const struct marks *which,
		   struct fail *fail)
{
	char marks[768];

	list(context, which, marks, sizeof(marks));
	return fail_set(fail, -EINVAL,
			"%" PRIu64 " markers have this text; give more of it, or '%.*s#2' for the second:%s", which->nr,
			(int)search->len, search->text, marks);
}

/* The time in "weft: trigger NAME at 12.345678: REASON". */
static bool take_time(const char *text, uint64_t *ret)
{
	const char *at = strstr(text, " at ");
	char *end;
	unsigned long long s, us;

	if (!is_trigger(text, strlen(text)) || !at)
		return false;
	s = strtoull(at + 4, &end, 10);
	if (end == at + 4 || *end != '.' || strspn(end + 1, "0123456789") != 6 || s > UINT32_MAX)
		return false;
	us = strtoull(end + 1, NULL, 10);
	*ret = (uint64_t)s * 1000000000 + (uint64_t)us * US;
	return true;
}

static void time_of(const struct context *context, const struct found *found, uint64_t *ret_from, uint64_t *ret_to)
{
	*ret_from = *ret_to = found->ts;
	if (context->unit == CLOCK_UNIT_NS && take_time(found->text, ret_from))
		*ret_to = *ret_from + US - 1;
}

/* Of the setting "NAME TIME REASON". False: weft flight has not written the file. */
static bool find_own(const struct context *context, uint64_t *ret_from, uint64_t *ret_to)
{
	struct trace_text text = trace_setting(context->trace, 0, "weft/trigger");
	char copied[64], *space, *end;

	if (!text.text || context->unit != CLOCK_UNIT_NS)
		return false;
	snprintf(copied, sizeof(copied), "%.*s", text.len < 63 ? (int)text.len : 63, text.text);
	space = strchr(copied, ' ');
	if (!space)
		return false;
	*ret_from = *ret_to = strtoull(space + 1, &end, 10);
	/* The kernel's text of an event has its time in us. */
	if (*ret_from % US == 0)
		*ret_to += US - 1;
	return end > space + 1 && *end == ' ';
}

static int choose(const struct context *context, const struct search *search, uint64_t *ret_from, uint64_t *ret_to,
		  struct fail *fail)
{
	const struct marks *which = search->same.nr ? &search->same : &search->part;

	if (search->nth ? search->part.nr < search->nth : !which->nr)
		return none(context, search, fail);
	if (!search->nth && which->nr > 1)
		return several(context, search, which, fail);
	time_of(context, search->nth ? &search->nth_found : &which->first[0], ret_from, ret_to);
	return 0;
}

static int look(const struct context *context, struct search *search, uint64_t *ret_from, uint64_t *ret_to,
		struct fail *fail)
{
	int r = moment_each_mark(context, see, search, fail);

	if (r == -ENOENT)
		return fail_set(fail, -ENODATA, "the file has no markers");
	return r ? r : choose(context, search, ret_from, ret_to, fail);
}

int mark_find(const struct context *context, const char *text, uint64_t *ret_from, uint64_t *ret_to, struct fail *fail)
{
	const char *hash = strrchr(text, '#');
	struct search search = { .text = text, .len = strlen(text), .near = near_to(text) };
	uint64_t nth;

	search.trigger = !strcmp(text, "trigger");
	if (search.trigger && find_own(context, ret_from, ret_to))
		return 0;
	if (hash && hash > text && hash[1] && strspn(hash + 1, "0123456789") == strlen(hash + 1) &&
	    !text_parse_u64(hash + 1, &nth, NULL) && nth) {
		search.len = (size_t)(hash - text);
		search.nth = nth;
		search.trigger = search.len == strlen("trigger") && !strncmp(text, "trigger", search.len);
	}
	return look(context, &search, ret_from, ret_to, fail);
}
