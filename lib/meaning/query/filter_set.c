// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/query/filter_set_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/query/filter.h"

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* A filter of one type of event, and the link to the next one of that type. */
struct link {
	struct filter *filter;
	bool negated;
	struct link *next;
};

/* "system:event", "system/event", or one pattern for either name; "" for all events. */
struct pattern {
	const char *whole;
	char *system;      /* owned */
	const char *event; /* NULL: one pattern for both names */
};

/* A filter as the user gave it. */
struct wish {
	char *name, *text; /* owned; the pattern borrows `name` */
	struct pattern pattern;
	bool negated;
	struct wish *next;
};

/*
 * A file has the formats of some hundred types and the events of a few: a filter is compiled for a type when its first
 * event comes, because then its format has already been parsed.
 */
struct filter_set {
	const struct context *context;
	bool some; /* there is a filter that is not negated */
	struct wish *wishes;
	uint64_t compiled[EVENT_TYPES_MAX / 64];
	struct link *links[EVENT_TYPES_MAX]; /* indexed by the type's id */
};

int filter_set_new(const struct context *context, struct filter_set **ret, struct fail *fail)
{
	struct filter_set *set = calloc(1, sizeof(*set));

	if (!set)
		return fail_memory(fail);
	set->context = context;
	*ret = set;
	return 0;
}

static int pattern_init(struct pattern *pattern, const char *whole, struct fail *fail)
{
	size_t len = strcspn(whole, ":/");

	*pattern = (struct pattern){ .whole = whole,
				     .system = strndup(whole, len),
				     .event = whole[len] ? whole + len + 1 : NULL };
	return pattern->system ? 0 : fail_memory(fail);
}

static bool pattern_fits(const struct pattern *pattern, const char *system, const char *event)
{
	if (!*pattern->whole)
		return true;
	if (pattern->event)
		return text_glob(pattern->system, system) && text_glob(pattern->event, event);
	return text_glob(pattern->system, system) || text_glob(pattern->system, event);
}

static int add(struct filter_set *set, int32_t id, struct filter *filter, bool negated)
{
	struct link *link = calloc(1, sizeof(*link));

	if (!link) {
		filter_free(filter);
		return -ENOMEM;
	}
	*link = (struct link){ .filter = filter, .negated = negated, .next = set->links[id] };
	set->links[id] = link;
	return 0;
}

static void wish_free(struct wish *wish)
{
	if (!wish)
		return;
	free(wish->pattern.system);
	free(wish->name);
	free(wish->text);
	free(wish);
}

/*
 * Compiles the filters for the type of the event, at its first event. Filters that do not fit the type's fields are
 * skipped.
 */
__attribute__((noinline)) static void compile(struct filter_set *set, const struct event *event)
{
	const struct format *format = event->type ? event->type->format : NULL;
	int err = 0;

	set->compiled[event->id / 64] |= UINT64_C(1) << event->id % 64;
	for (const struct wish *wish = format ? set->wishes : NULL; wish && err != -ENOMEM; wish = wish->next) {
		struct filter *filter;

		if (!pattern_fits(&wish->pattern, format->system, format->name))
			continue;
		err = filter_new(wish->text, format, set->context, NULL, &filter, NULL);
		if (!err)
			err = add(set, event->id, filter, wish->negated);
	}
	/* The next read returns the error and ends. */
	if (err == -ENOMEM)
		context_lacks_memory(set->context);
}

static void links_free(struct link *link)
{
	for (struct link *next; link; link = next) {
		next = link->next;
		filter_free(link->filter);
		free(link);
	}
}

void filter_set_free(struct filter_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < array_size(set->compiled); i++)
		for (uint64_t left = set->compiled[i]; left; left &= left - 1)
			links_free(set->links[i * 64 + (size_t)__builtin_ctzll(left)]);
	for (struct wish *wish = set->wishes, *next; wish; wish = next) {
		next = wish->next;
		wish_free(wish);
	}
	free(set);
}

bool filter_set_keep(struct filter_set *set, const struct event *event)
{
	bool meets = !set->some;

	if (__builtin_expect(!(set->compiled[event->id / 64] >> event->id % 64 & 1), 0))
		compile(set, event);
	for (const struct link *link = set->links[event->id]; link; link = link->next) {
		if ((meets && !link->negated) || !filter_match(link->filter, event))
			continue;
		if (link->negated)
			return false;
		meets = true;
	}
	return meets;
}

/*
 * The length of an event name in front of a filter: there is one when a ':' comes before the first blank, quote or
 * operator.
 */
static size_t name_len(const char *text)
{
	size_t len = strcspn(text, " \t'\"()&|=<>~");

	while (len && text[len - 1] != ':')
		len--;
	return len ? len - 1 : 0;
}

int filter_set_check(const char *text, struct fail *fail)
{
	size_t len = name_len(text);

	return filter_check(len ? text + len + 1 : text, fail);
}

static int no_event(const struct filter_set *set, const char *name, struct fail *fail)
{
	struct near near = near_to(name);

	schema_offer(set->context->schema, false, &near);
	return near_fail(&near, fail, -ENOENT, "the file knows no event '%s'", name);
}

/*
 * The word under the caret, to look for near field names: the first name that no event has is the first unknown name of
 * many filters.
 */
static void take_name(const struct fail *fail, const char *filter, char name[NEAR_NAME_SIZE])
{
	const char *caret = strrchr(fail->text, '\n'), *at = filter;
	size_t column = caret ? strspn(caret + 1, " ") : 0, len = 0;

	*name = '\0';
	if (column < 2 || column - 2 > strlen(filter))
		return;
	for (at += column - 2; text_is_name_char(at[len]) && len + 1 < NEAR_NAME_SIZE; len++)
		name[len] = at[len];
	name[len] = '\0';
}

/* Inserts the near names after the first line of the text, before the filter and its caret. */
static int with_hint(struct fail *fail, int err, const struct near *near)
{
	char hint[3 * NEAR_NAME_SIZE], *line = strchrnul(fail->text, '\n');
	struct fail before = *fail;

	near_hint(near, hint, sizeof(hint));
	if (!*hint)
		return err;
	(void)fail_set(fail, err, "%.*s; %s%s", (int)(line - fail->text), before.text, hint,
		       before.text + (line - fail->text));
	return before.usage ? fail_usage(fail, err) : err;
}

/* The result of trying to compile a filter. */
struct attempt {
	bool named; /* the filter's EVENT matches some type */
	int worst;
	struct fail why;
};

static int refuse(struct filter_set *set, const struct pattern *pattern, const char *filter, struct fail *why, int err,
		  struct fail *fail)
{
	char word[NEAR_NAME_SIZE];
	const char *system, *event;
	struct near near;
	int32_t id;

	if (fail)
		*fail = *why;
	if (err != -ENOENT || !fail)
		return err;
	take_name(why, filter, word);
	near = near_to(word);
	for (size_t i = 0; schema_at(set->context->schema, i, &id, &system, &event); i++) {
		const struct format *format =
			pattern_fits(pattern, system, event) ? schema_format(set->context->schema, id, NULL) : NULL;

		filter_offer(format, set->context, &near);
	}
	return with_hint(fail, err, &near);
}

/* The first name in a filter, which is a field in most cases: types whose format has that field are tried first. */
static struct text_word first_name(const char *text)
{
	struct text_word word = { .at = text + strcspn(text, NAME_CHARS) };

	word.len = strspn(word.at, NAME_CHARS);
	return word;
}

/*
 * Whether the filter can be compiled for one of the types that its EVENT matches: of those with the first name in their
 * format, or of the others.
 */
static int try_types(struct filter_set *set, const struct wish *wish, bool have, struct attempt *attempt)
{
	struct schema *schema = set->context->schema;
	struct text_word name = first_name(wish->text);
	const char *system, *event;
	int32_t id;

	for (size_t i = 0; schema_at(schema, i, &id, &system, &event); i++) {
		const struct format *format;
		struct filter *filter;
		struct fail why;
		int err;

		if (id < 0 || id >= EVENT_TYPES_MAX || !pattern_fits(&wish->pattern, system, event) ||
		    schema_mentions(schema, i, name.at, name.len) != have)
			continue;
		attempt->named = true;
		format = schema_format(schema, id, NULL);
		if (!format)
			continue;
		err = filter_new(wish->text, format, set->context, NULL, &filter, &why);
		if (!err)
			filter_free(filter);
		if (!err || err == -ENOMEM)
			return err ? err : 1;
		/* An error in the filter is more useful to the user than a missing field. */
		if (!attempt->worst || attempt->worst == -ENOENT) {
			attempt->worst = err;
			attempt->why = why;
		}
	}
	return schema_starved(schema) ? -ENOMEM : 0;
}

static int try_filter(struct filter_set *set, const struct wish *wish, struct fail *fail)
{
	struct attempt attempt = { .why = FAIL_INIT };
	int r = try_types(set, wish, true, &attempt);

	if (!r)
		r = try_types(set, wish, false, &attempt);
	if (r)
		return r > 0 ? 0 : fail_memory(fail);
	if (!attempt.named)
		return *wish->name ? no_event(set, wish->name, fail) :
				     fail_set(fail, -ENOENT, "the file knows no events");
	return refuse(set, &wish->pattern, wish->text, &attempt.why, attempt.worst, fail);
}

int filter_set_add(struct filter_set *set, const char *text, bool negated, struct fail *fail)
{
	size_t len = name_len(text);
	struct wish *wish = calloc(1, sizeof(*wish)), **end = &set->wishes;
	int err;

	if (!wish)
		return fail_memory(fail);
	wish->negated = negated;
	wish->name = strndup(text, len);
	wish->text = strdup(len ? text + len + 1 : text);
	err = wish->name && wish->text ? pattern_init(&wish->pattern, wish->name, fail) : fail_memory(fail);
	if (!err)
		err = try_filter(set, wish, fail);
	if (err) {
		wish_free(wish);
		return err;
	}
	while (*end)
		end = &(*end)->next;
	*end = wish;
	set->some |= !negated;
	return 0;
}
