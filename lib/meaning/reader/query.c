// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/reader/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/day.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/extent.h"
#include "lib/meaning/reader/moment_internal.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

enum {
	SPAN_DIGITS = 3,
	PLACES_MAX = 8, /* how often the time of day may have been put back over a time */
};

static int no_time(const char *option, const char *text, struct fail *fail)
{
	(void)fail_set(
		fail, -EINVAL,
		"%s: '%s' is not a time; 12.345678 is one, +1ms from the first event, -2s from the last, "
		"@sched_switch#2-5ms before the second such event, 10:30:00 or '2026-11-28 10:30 UTC' by the clock on "
		"the wall",
		option, text);
	return fail_usage(fail, -EINVAL);
}

/* Reads "12.345678" or "1,234.5" at *at, times `unit`, which is 1 or a power of ten. */
static bool take_decimal(const char **at, uint64_t unit, uint64_t *ret)
{
	const char *to = *at;
	uint64_t whole = 0, rest = 0;

	if (*to < '0' || *to > '9')
		return false;
	for (; (*to >= '0' && *to <= '9') || (*to == ',' && to[1] >= '0' && to[1] <= '9'); to++)
		if (*to != ',' && (__builtin_mul_overflow(whole, 10u, &whole) ||
				   __builtin_add_overflow(whole, (uint64_t)(*to - '0'), &whole)))
			return false;
	if (__builtin_mul_overflow(whole, unit, &whole))
		return false;
	if (*to == '.')
		for (to++, unit /= 10; *to >= '0' && *to <= '9'; to++, unit /= 10)
			rest += (uint64_t)(*to - '0') * unit;
	*at = to;
	return !__builtin_add_overflow(whole, rest, ret);
}

/* Reads "1.5ms", "2s" or "3" as ns. Nothing may follow. */
static bool take_span(const char *text, uint64_t *ret)
{
	static const struct {
		const char name[4];
		uint64_t ns;
	} units[] = { { "", NS_PER_S }, { "s", NS_PER_S }, { "ms", 1000000 },
		      { "us", 1000 },   { "ns", 1 },       { "m", 60ull * NS_PER_S } };
	const char *unit = text + strspn(text, "0123456789.,");

	for (size_t i = 0; i < array_size(units); i++)
		if (!strcmp(unit, units[i].name))
			return take_decimal(&text, units[i].ns, ret) && text == unit;
	return false;
}

static int relative(const struct context *context, const char *option, const char *text, struct extent *extent,
		    uint64_t *ret, struct fail *fail)
{
	uint64_t span;
	int r;

	if (context->unit == CLOCK_UNIT_COUNT) {
		if (text_parse_u64(text + 1, &span, fail) < 0)
			return fail_usage(fail, -EINVAL);
	} else if (!take_span(text + 1, &span)) {
		return no_time(option, text, fail);
	}
	r = extent_find(context, extent, fail);
	if (r)
		return r;
	if (*text == '-')
		*ret = span < extent->last ? extent->last - span : 0;
	else if (__builtin_add_overflow(extent->first, span, ret))
		*ret = UINT64_MAX;
	return 0;
}

static int64_t real_now(void)
{
	struct timespec now = { .tv_sec = 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Where the clock on the wall showed the time several times, `last` chooses. */
static int find_wall(const struct context *context, const struct day_time *time, const struct zone *here, bool last,
		     struct extent *extent, uint64_t *ret, struct fail *fail)
{
	int64_t from = 0, to = 0, at;
	uint64_t places[PLACES_MAX];
	size_t nr;
	int r = extent_find(context, extent, fail);

	if (r)
		return r;
	if (!wall_of(context->wall, extent->first, &from, NULL) || !wall_of(context->wall, extent->last, &to, NULL))
		return fail_set(fail, -ERANGE, "the times of day of the file are none");
	r = day_time_find(time, here, from, to, real_now(), &at, fail);
	if (r) {
		char span[DAY_SPAN_TEXT];

		(void)fail_hint(fail, r, "; the file has ");
		(void)fail_hint(fail, r, day_span_text(span, time->zone ? time->zone : here, from, to, SPAN_DIGITS));
		return fail_usage(fail, r);
	}
	nr = wall_places(context->wall, at, places, PLACES_MAX);
	if (nr > PLACES_MAX)
		nr = PLACES_MAX;
	/* Before the first piece there is the time 0. */
	*ret = !nr ? (at < from ? 0 : UINT64_MAX) : places[last ? nr - 1 : 0];
	return 0;
}

static int wall(const struct context *context, const char *option, const char *text, const struct zones *zones,
		struct extent *extent, uint64_t *ret, struct fail *fail)
{
	struct zone *here = NULL;
	struct day_time time;
	int r;

	/* What is no time of any day is wrong whatever the file has. */
	if (!day_time_parse(text, zones, &time))
		return no_time(option, text, fail);
	if (!context->wall)
		return fail_set(fail, -EINVAL,
				"%s: '%s': the file does not tell the time of day: 'weft record' and 'trace-cmd "
				"record --date' note it; use +1s from its first event, or a time as the trace prints "
				"it",
				option, text);
	r = zone_new("", &here, fail);
	if (!r)
		r = find_wall(context, &time, here, !strcmp(option + strspn(option, "-"), "until"), extent, ret, fail);
	zone_free(here);
	return r ? fail_in(fail, r, "%s: '%s'", option, text) : 0;
}

/*
 * Splits "NAME#N+1ms" into its parts; the offset has a unit, because a name may end with a number. False: it has no
 * name, or the number is none.
 */
static bool take_moment(char *text, struct moment *ret, uint64_t *ret_span, char *ret_sign)
{
	char *end = text + strlen(text), *hash;

	*ret = (struct moment){ .name = text, .nr = 1 };
	*ret_sign = 0;
	for (char *at = end; at > text && !*ret_sign; at--)
		if ((*at == '+' || *at == '-') && end[-1] >= 'a' && take_span(at + 1, ret_span)) {
			*ret_sign = *at;
			*at = '\0';
		}
	hash = strrchr(text, '#');
	if (hash && hash[1] && !hash[1 + strspn(hash + 1, "0123456789")]) {
		*hash = '\0';
		if (text_parse_u64(hash + 1, &ret->nr, NULL) || !ret->nr)
			return false;
	}
	if (!strncmp(text, "mark:", strlen("mark:"))) {
		ret->name = NULL;
		ret->mark = text + strlen("mark:");
	}
	return *text && (ret->name || *ret->mark);
}

static int at_event(const struct context *context, const char *option, const char *text, struct extent *extent,
		    uint64_t *ret, struct fail *fail)
{
	bool is_until = !strcmp(option + strspn(option, "-"), "until");
	struct extent_moment *known = &extent->moments[is_until];
	cleanup_free char *copy = strdup(text + 1);
	struct moment moment;
	uint64_t span = 0;
	char sign;
	int r;

	if (!copy)
		return fail_memory(fail);
	if (!take_moment(copy, &moment, &span, &sign) || (sign && context->unit == CLOCK_UNIT_COUNT))
		return no_time(option, text, fail);
	if (known->text != text) {
		r = moment_find(context, &moment, &known->at, fail);
		if (r)
			return fail_in(fail, r, "%s: '%s'", option, text);
		known->text = text;
	}
	*ret = known->at;
	if (sign == '-')
		*ret = span < *ret ? *ret - span : 0;
	else if (__builtin_add_overflow(*ret, span, ret))
		*ret = UINT64_MAX;
	return 0;
}

/* Whether it can only be meant as a time of day: it has a colon, or a date or a word. */
static bool is_of_day(const char *text)
{
	return text[strspn(text, "0123456789.,")] && text[strspn(text, "0123456789.,s")];
}

/*
 * A time as --since and --until take it: seconds with up to nine decimals, as the trace prints them; "+1.5ms" after
 * the first event of the file and "-2s" before its last, without a unit in seconds; or a time of day
 * (lib/meaning/clock/day.h) if the file tells it. For a clock that does not count ns, it is the count, or "+N" and
 * "-N". "@sched:sched_switch" is the time of the first such event, "@mark:TEXT" of the first marker that contains the
 * text. After it may follow "#3" for the third one, and "+1ms" or "-50ms". `extent` is looked for when it is needed,
 * and kept; it borrows the texts. `option` is the name in messages: "--since", or "since".
 */
static int stamp_at(const struct context *context, const char *option, const char *text, const struct zones *zones,
		    struct extent *extent, uint64_t *ret, struct fail *fail)
{
	const char *at = text;

	if (*text == '+' || *text == '-')
		return relative(context, option, text, extent, ret, fail);
	if (*text == '@')
		return at_event(context, option, text, extent, ret, fail);
	if (is_of_day(text))
		return wall(context, option, text, zones, extent, ret, fail);
	if (context->unit == CLOCK_UNIT_COUNT)
		return text_parse_u64(text, ret, fail) < 0 ? fail_usage(fail, -EINVAL) : 0;
	if (take_decimal(&at, NS_PER_S, ret) && (!*at || !strcmp(at, "s")))
		return 0;
	return no_time(option, text, fail);
}

/* Whether the text has the form of one; only a file tells which time it is. */
static int stamp_check(const char *option, const char *text, const struct zones *zones, struct fail *fail)
{
	cleanup_free char *copy = NULL;
	struct day_time when;
	struct moment moment;
	uint64_t number;
	const char *at = text;
	bool ok;
	char sign;

	if (*text == '@' && !(copy = strdup(text + 1)))
		return fail_memory(fail);
	if (copy)
		ok = take_moment(copy, &moment, &number, &sign);
	else if (*text == '+' || *text == '-')
		ok = take_span(text + 1, &number);
	else if (is_of_day(text))
		ok = day_time_parse(text, zones, &when);
	else
		ok = !text_parse_u64(text, &number, NULL) ||
		     (take_decimal(&at, NS_PER_S, &number) && (!*at || !strcmp(at, "s")));
	return ok ? 0 : no_time(option, text, fail);
}

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

static void mark_add(struct marks *marks, uint64_t ts, const char *text, size_t len)
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
	mark_add(&search->all, ts, text, len);
	if (search->all.nr <= OFFERED) {
		char name[SHOWN + 1];

		snprintf(name, sizeof(name), "%.*s", (int)(len < SHOWN ? len : SHOWN), text);
		near_offer(&search->near, name);
	}
	if (search->trigger ? !is_trigger(text, len) : !memmem(text, len, search->text, search->len))
		return;
	mark_add(&search->part, ts, text, len);
	if (len == search->len && !memcmp(text, search->text, len))
		mark_add(&search->same, ts, text, len);
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
	*ret = (uint64_t)s * NS_PER_S + (uint64_t)us * US;
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

/*
 * The marker of a recording that a user names by its text: the whole text of one, or a part that only one has, or with
 * "#N" behind it the Nth that has this part. "trigger" is the trigger of which `weft flight` wrote the file. The marker
 * of a trigger tells the trigger's own time in us; that counts, not the time when the marker was written.
 *
 * *ret_from to *ret_to (included) is its time: 1 us, if it is not known better. -ENODATA: there is no such marker;
 * -EINVAL: there are several. The message lists those that are there.
 */
static int mark_find(const struct context *context, const char *text, uint64_t *ret_from, uint64_t *ret_to,
		     struct fail *fail)
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

/* What is shown before a mark if no time is given. */
#define BEFORE_NS UINT64_C(5000000000)

void query_release(struct query *query)
{
	free(query->events.at);
	free(query->comms.at);
	free(query->marks.at);
	free(query->files.at);
	free(query->filters.at);
	free(query->negated);
	free(query->longer);
	free(query->pids);
	free(query->who);
	zones_release(&query->zones);
	*query = (struct query)QUERY_INIT;
}

int query_add_word(struct query_words *words, const char *word, struct fail *fail)
{
	const char **added = vec_push(words->at, words->nr);

	if (!added)
		return fail_memory(fail);
	*added = word;
	return 0;
}

int query_add_filter(struct query *query, const char *filter, struct fail *fail)
{
	size_t nr = query->filters.nr;
	bool *added = vec_push(query->negated, nr);

	if (!added)
		return fail_memory(fail);
	*added = query->invert;
	return query_add_word(&query->filters, filter, fail);
}

int query_add_longer(struct query *query, uint64_t ns, struct fail *fail)
{
	bool invert = query->invert;
	char *filter;
	int r;

	if (query->longer)
		return fail_set(fail, -EINVAL, "only one time is allowed");
	if (asprintf(&filter, "duration > %" PRIu64 "ns", ns) < 0)
		return fail_memory(fail);
	query->longer = filter;
	query->invert = false;
	r = query_add_filter(query, filter, fail);
	query->invert = invert;
	return r;
}

int query_add_who(struct query *query, enum who_part part, const char *word, struct fail *fail)
{
	struct who_want *added;

	if (!*word)
		return fail_set(fail, -EINVAL, "it is empty");
	added = vec_push(query->who, query->nr_who);
	if (!added)
		return fail_memory(fail);
	*added = (struct who_want){ part, word };
	return 0;
}

int query_add_pids(struct query *query, const char *list, struct fail *fail)
{
	struct text_word word;
	char text[32];

	while (text_next_word(&list, ",", &word)) {
		uint64_t pid;
		int32_t *added;
		int r;

		snprintf(text, sizeof(text), "%.*s", (int)word.len, word.at);
		r = text_parse_range(text, 0, INT32_MAX, &pid, fail);
		if (r)
			return r;
		added = vec_push(query->pids, query->nr_pids);
		if (!added)
			return fail_memory(fail);
		*added = (int32_t)pid;
	}
	return 0;
}

/* Those of the words that look at one event alone. */
static int select_shown(const struct query *query, struct selection *selection, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < query->events.nr; i++)
		r = selection_add_events(selection, query->events.at[i], fail);
	for (size_t i = 0; !r && i < query->filters.nr; i++)
		if ((r = selection_add_filter(selection, query->filters.at[i], query->negated[i], fail)))
			fail_in(fail, r, "%s%s", query->dashes,
				query->filters.at[i] == query->longer ? "longer" : "filter");
	if (!r && selection_asks_duration(selection) && query->tail != UINT64_MAX)
		r = fail_set(fail, -EINVAL,
			     "%stail reads only the last events, so a duration that began before them is unknown: "
			     "leave it out",
			     query->dashes);
	return r;
}

/* Those that look at all of an event but its task. */
static int select_events(const struct query *query, struct selection *selection, struct fail *fail)
{
	selection_leave_out_flags(selection, query->flags_out);
	return select_shown(query, selection, fail);
}

bool query_chooses_tasks(const struct query *query)
{
	return query->nr_pids || query->comms.nr || query->nr_who || query->marks.nr || query->files.nr ||
	       query->self == QUERY_SELF_OUT;
}

/* Those of the words that look at the task of an event. */
static int select_tasks(const struct query *query, struct selection *selection, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < query->comms.nr; i++)
		r = selection_add_comm(selection, query->comms.at[i], fail);
	for (size_t i = 0; !r && i < query->nr_pids; i++)
		r = selection_add_pid(selection, query->pids[i], fail);
	for (size_t i = 0; !r && i < query->nr_who; i++)
		r = selection_add_who(selection, &query->who[i], fail);
	if (!r)
		r = selection_add_marks(selection, query->marks.at, query->marks.nr, fail);
	return r ? r : selection_add_files(selection, query->files.at, query->files.nr, fail);
}

int query_select(const struct query *query, const struct context *context, struct selection **ret, struct fail *fail)
{
	int r = selection_new(context, ret, fail);

	if (!r)
		r = select_events(query, *ret, fail);
	return r ? r : select_tasks(query, *ret, fail);
}

int query_select_again(void *arg, size_t buffer, struct selection **ret, struct fail *fail)
{
	const struct query_again *again = arg;

	return query_select(again->query, again->reader->buffers[buffer].context, ret, fail);
}

/* A mark whose text looks like a time is asked for as @mark:TEXT. */
static bool is_time(const char *text, const struct zones *zones)
{
	struct day_time time;

	return *text == '@' || (text[strspn(text, "0123456789.,:")] == '\0' && strpbrk(text, ".:")) ||
	       day_time_parse(text, zones, &time);
}

static int find_around(const struct query *query, const struct context *context, struct extent *extent,
		       uint64_t *ret_from, uint64_t *ret_to, struct fail *fail)
{
	struct extent_moment *known = &extent->moments[0];
	int r;

	if (query->moment || is_time(query->around, &query->zones)) {
		r = stamp_at(context, *query->dashes ? "--around" : "around", query->around, &query->zones, extent,
			     ret_from, fail);
		*ret_to = *ret_from;
		return r;
	}
	if (known->text != query->around) {
		r = mark_find(context, query->around, &known->at, &known->end, fail);
		if (r)
			return fail_in(fail, r, "%saround: '%s'", query->dashes, query->around);
		known->text = query->around;
	}
	*ret_from = known->at;
	*ret_to = known->end;
	return 0;
}

int query_check_time(const char *key, const char *time, struct fail *fail)
{
	return stamp_check(key, time, NULL, fail);
}

int query_check_filter(const char *filter, struct fail *fail)
{
	return selection_check_filter(filter, fail);
}

static int find_range(const struct query *query, const struct context *context, struct extent *extent,
		      uint64_t *ret_since, uint64_t *ret_until, struct fail *fail)
{
	bool options = *query->dashes;
	int r = 0;

	if (query->since)
		r = stamp_at(context, options ? "--since" : "since", query->since, &query->zones, extent, ret_since,
			     fail);
	if (!r && query->until)
		r = stamp_at(context, options ? "--until" : "until", query->until, &query->zones, extent, ret_until,
			     fail);
	if (!r && query->since && query->until && *ret_until < *ret_since)
		return fail_usage(fail, fail_set(fail, -EINVAL, "%suntil %s is before %ssince %s: nothing is chosen",
						 query->dashes, query->until, query->dashes, query->since));
	return r;
}

int query_around(const struct query *query, const struct context *context, struct extent *extent, uint64_t *ret,
		 struct fail *fail)
{
	uint64_t from = 0, to = 0;
	int r = find_around(query, context, extent, &from, &to, fail);

	if (!r)
		*ret = from;
	return r;
}

int query_times(const struct query *query, const struct context *context, struct extent *extent, uint64_t *ret_since,
		uint64_t *ret_until, struct fail *fail)
{
	uint64_t unsaid[] = { query->moment ? QUERY_MOMENT_NS : BEFORE_NS, query->moment ? QUERY_MOMENT_NS : 0 };
	uint64_t from = 0, to = 0, before = query->before_ns == QUERY_UNSAID ? unsaid[0] : query->before_ns,
		 after = query->after_ns == QUERY_UNSAID ? unsaid[1] : query->after_ns;
	int r;

	if (!query->around)
		return find_range(query, context, extent, ret_since, ret_until, fail);
	if (context->unit == CLOCK_UNIT_COUNT)
		return fail_set(fail, -EINVAL,
				"%saround: the clock '%s' counts no time: use %ssince and %suntil @mark:TEXT",
				query->dashes, context->clock, query->dashes, query->dashes);
	r = find_around(query, context, extent, &from, &to, fail);
	if (r)
		return r;
	*ret_since = from > before ? from - before : 0;
	if (__builtin_add_overflow(to, after, ret_until))
		*ret_until = UINT64_MAX;
	return 0;
}

static int narrow_time(const struct query *query, struct reader_buffer *buffer, struct extent *extent,
		       struct fail *fail)
{
	return query_times(query, buffer->context, extent, &buffer->window.since, &buffer->window.until, fail);
}

/* The same for all words. */
static int narrow_all(const struct query *query, struct reader_buffer *buffer, struct extent *extent, struct fail *fail)
{
	int r = query_narrow(query, buffer, false, extent, NULL, fail);

	buffer->shown = take(buffer->selection);
	return r;
}

/* The reader gets all events; reader_shows() those that the words choose. */
static int narrow_shown(const struct query *query, struct reader_buffer *buffer, struct extent *extent,
			struct fail *fail)
{
	int r = 0;

	if (query->events.nr || query->filters.nr) {
		r = selection_new(buffer->context, &buffer->shown, fail);
		if (!r)
			r = select_shown(query, buffer->shown, fail);
	}
	return r ? r : narrow_time(query, buffer, extent, fail);
}

/* The CPUs and the time, of which the selection may read the events first. */
static int narrow_window(const struct query *query, struct reader_buffer *buffer, struct extent *extent,
			 struct fail *fail)
{
	int r;

	if (selection_empty(buffer->selection)) {
		selection_free(buffer->selection);
		buffer->selection = NULL;
	}
	if (query->some_cpus) {
		buffer->window.cpu_mask = query->cpus.bits;
		buffer->window.cpu_mask_words = array_size(query->cpus.bits);
	}
	r = narrow_time(query, buffer, extent, fail);
	/* Where the last events begin is found by reading parts, and a source of pages is read only once. */
	if (!r && buffer->selection && query->tail == UINT64_MAX && !buffer->window.source)
		r = selection_read_first(buffer->selection, &buffer->window, fail);
	return r;
}

/* The reader gets what the words for events choose; reader_shows() what those for tasks choose of it. */
static int narrow_tasks(const struct query *query, struct reader_buffer *buffer, struct extent *extent,
			struct fail *fail)
{
	bool some = query_chooses_tasks(query);
	uint64_t *left_out;
	int r = some ? selection_new(buffer->context, &buffer->shown, fail) : 0;

	if (!r && some)
		r = select_tasks(query, buffer->shown, fail);
	if (!r && query->self == QUERY_SELF_OUT)
		r = selection_leave_out_self(buffer->shown, &left_out, fail);
	if (!r)
		r = selection_new(buffer->context, &buffer->selection, fail);
	if (!r)
		r = select_events(query, buffer->selection, fail);
	return r ? r : narrow_window(query, buffer, extent, fail);
}

int query_narrow(const struct query *query, struct reader_buffer *buffer, bool leaves_out_self, struct extent *extent,
		 uint64_t **ret_left_out, struct fail *fail)
{
	bool out = query->self == QUERY_SELF_UNSAID ? leaves_out_self : query->self == QUERY_SELF_OUT;
	uint64_t *left_out = NULL;
	int r = query_select(query, buffer->context, &buffer->selection, fail);

	if (!r && out)
		r = selection_leave_out_self(buffer->selection, &left_out, fail);
	if (r)
		return r;
	if (selection_empty(buffer->selection))
		left_out = NULL;
	if (ret_left_out)
		*ret_left_out = left_out;
	return narrow_window(query, buffer, extent, fail);
}

int query_check_durations(const struct reader *reader, struct fail *fail)
{
	bool lacks = false;

	for (size_t i = 0; i < reader->nr_buffers; i++) {
		const struct reader_buffer *buffer = &reader->buffers[i];
		const struct selection *selection = buffer->selection ? buffer->selection : buffer->shown;

		if (!selection || !selection_lacks_durations(selection))
			return 0;
		lacks = true;
	}
	return lacks ? fail_set(fail, -ENOENT,
				"nothing among the events has a duration: there is no function graph, no system call, "
				"no interrupt and no task that ran; record with -p function_graph, -e syscalls, -e irq "
				"or -e sched_switch") :
		       0;
}

static bool is_of_ticks(const struct trace_buffer *info)
{
	return own_buffer_is(info->name.text, OWN_BUFFER_PROFILE);
}

bool query_wants(const struct query *query, struct trace *trace, size_t buffer, bool texts)
{
	const struct trace_buffer *info = trace_buffer(trace, buffer);

	if (query->instance)
		return own_buffer(query->instance) ? own_buffer_is(info->name.text, query->instance) :
						     !strcmp(query->instance, info->name.text);
	if (own_buffer(info->name.text) && query->own != QUERY_OWN_ALL)
		return query->own == QUERY_OWN_TICKS && is_of_ticks(info);
	return trace_buffers(trace) == 1 || info->nr_cpus || (texts && context_latency(trace, buffer));
}

static bool is_imported(const struct trace *trace)
{
	struct trace_text mode = trace_setting(trace, 0, "weft/mode");

	return mode.text && mode.len >= strlen("import") && !strncmp(mode.text, "import", strlen("import"));
}

int query_no_instance(const struct query *query, struct trace *trace, struct fail *fail)
{
	/* Only what was imported from a text has the columns of the text. */
	if (!strcmp(query->instance, OWN_BUFFER_PROFILE) && is_imported(trace) &&
	    trace_setting(trace, 0, "weft/columns").text)
		return fail_set(fail, -ENOENT,
				"'%s' has no samples of weft record --profile: it was imported from a text, which has "
				"none; 'weft stacks' without --on-cpu counts the stacks of its events",
				trace_path(trace));
	if (!strcmp(query->instance, OWN_BUFFER_PROFILE) && is_imported(trace))
		return fail_set(fail, -ENOENT,
				"'%s' has no samples of weft record --profile; samples that perf took are events, and "
				"'weft stacks' without --on-cpu counts them",
				trace_path(trace));
	if (!strcmp(query->instance, OWN_BUFFER_PROFILE))
		return fail_set(fail, -ENOENT, "'%s' has no samples of what CPUs did: record with --profile",
				trace_path(trace));
	return fail_set(fail, -ENOENT, "'%s' has no buffer of an instance '%s'", trace_path(trace), query->instance);
}

static int add(const struct query *query, const struct query_manner *manner, struct trace *trace, size_t index,
	       struct reader *reader, struct extent *extent, struct fail *fail)
{
	const struct trace_buffer *info = trace_buffer(trace, index);
	struct reader_buffer *buffer;
	int r = reader_add(reader, trace, index, fail);

	if (r)
		return r;
	buffer = &reader->buffers[reader->nr_buffers - 1];
	if (manner->prepare)
		r = manner->prepare(manner->arg, buffer->context, fail);
	if (r)
		return r;
	if (!query->instance && own_buffer(info->name.text) && !is_of_ticks(info))
		return narrow_time(query, buffer, extent, fail);
	if (manner->gives == QUERY_GIVES_ALL)
		return narrow_all(query, buffer, extent, fail);
	if (manner->gives == QUERY_GIVES_TASKS)
		return narrow_tasks(query, buffer, extent, fail);
	return manner->times_only ? narrow_shown(query, buffer, extent, fail) :
				    query_narrow(query, buffer, false, extent, NULL, fail);
}

int query_add(const struct query *query, const struct query_manner *manner, struct trace *trace, struct reader *reader,
	      struct fail *fail)
{
	struct extent extent = { .known = false };
	bool wanted = false;
	int r = 0;

	for (size_t i = 0; !r && i < trace_buffers(trace); i++) {
		if (!query_wants(query, trace, i, manner->texts))
			continue;
		wanted = true;
		r = add(query, manner, trace, i, reader, &extent, fail);
	}
	if (!r && query->instance && !wanted)
		return query_no_instance(query, trace, fail);
	return r ? r : query_check_durations(reader, fail);
}

int query_tail(const struct query *query, struct reader *reader, struct fail *fail)
{
	return query->tail == UINT64_MAX ? 0 : reader_tail(reader, query->tail, fail);
}

/* A line of a text is one criterion. */
static bool put_word(struct buf *into, const char *before, const char *word)
{
	bool ok = buf_add_str(into, before);

	for (; ok && *word; word++)
		ok = buf_add(into, *word == '\n' ? " " : word, 1);
	return ok;
}

static bool put_words(struct buf *into, const char *option, const struct query_words *words)
{
	bool ok = true;

	for (size_t i = 0; ok && i < words->nr; i++)
		ok = put_word(into, i ? "," : option, words->at[i]);
	return ok && (!words->nr || buf_add_str(into, "\n"));
}

bool query_put_choice(const struct query *query, struct buf *into)
{
	static const struct {
		uint8_t flag;
		const char *line;
	} flags[] = { { EVENT_HARDIRQ, "--no-hardirq\n" }, { EVENT_SOFTIRQ, "--no-softirq\n" } };
	bool ok = put_words(into, "-e ", &query->events) && put_words(into, "--comm ", &query->comms) &&
		  put_words(into, "--mark ", &query->marks) && put_words(into, "--file ", &query->files);

	for (size_t i = 0; ok && i < query->nr_pids; i++)
		ok = buf_addf(into, "%s%" PRId32, i ? "," : "--pid ", query->pids[i]);
	ok = ok && (!query->nr_pids || buf_add_str(into, "\n"));
	for (size_t i = 0; ok && i < query->nr_who; i++)
		ok = buf_addf(into, "--%s", who_part_word(query->who[i].part)) &&
		     put_word(into, " ", query->who[i].word) && buf_add_str(into, "\n");
	if (ok && query->some_cpus)
		ok = buf_add_str(into, "--cpu ") && cpus_list(&query->cpus, into) && buf_add_str(into, "\n");
	for (size_t i = 0; ok && i < query->filters.nr; i++)
		ok = put_word(into, query->negated[i] ? "-v -f " : "-f ", query->filters.at[i]) &&
		     buf_add_str(into, "\n");
	for (size_t i = 0; ok && i < array_size(flags); i++)
		ok = !(query->flags_out & flags[i].flag) || buf_add_str(into, flags[i].line);
	return ok;
}
