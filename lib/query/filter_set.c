// SPDX-License-Identifier: GPL-2.0-only
#include "lib/query/filter_set.h"

#include "lib/base/fail.h"
#include "lib/base/near.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/query/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A filter of one type, and the next of the same type. */
struct link {
	struct filter *filter;
	bool negated;
	struct link *next;
};

struct filter_set {
	const struct context *context;
	bool some;                           /* that are not negated */
	struct link *links[EVENT_TYPES_MAX]; /* by the type's id */
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

void filter_set_free(struct filter_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < array_size(set->links); i++)
		for (struct link *link = set->links[i], *next; link; link = next) {
			next = link->next;
			filter_free(link->filter);
			free(link);
		}
	free(set);
}

bool filter_set_keep(const struct filter_set *set, const struct event *event)
{
	bool meets = !set->some;

	for (const struct link *link = set->links[event->id]; link; link = link->next) {
		if ((meets && !link->negated) || !filter_match(link->filter, event))
			continue;
		if (link->negated)
			return false;
		meets = true;
	}
	return meets;
}

/* "system:event", "system/event", or one pattern for either name; "" for all. */
struct pattern {
	const char *whole;
	char *system;      /* to be freed */
	const char *event; /* NULL: there is one for both */
};

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

static int add(struct filter_set *set, int32_t id, struct filter *filter, bool negated, struct fail *fail)
{
	struct link *link = calloc(1, sizeof(*link));

	if (!link) {
		filter_free(filter);
		return fail_memory(fail);
	}
	*link = (struct link){ .filter = filter, .negated = negated, .next = set->links[id] };
	set->links[id] = link;
	set->some |= !negated;
	return 0;
}

/* The name in front of a filter has what no filter begins with: a ':' before the first blank, quote or operator. */
static size_t name_len(const char *text)
{
	size_t len = strcspn(text, " \t'\"()&|=<>~");

	while (len && text[len - 1] != ':')
		len--;
	return len ? len - 1 : 0;
}

static int no_event(const struct filter_set *set, const char *name, struct fail *fail)
{
	struct near near = near_to(name);
	const char *system, *event;
	int32_t id;

	for (size_t i = 0; schema_at(set->context->schema, i, &id, &system, &event); i++) {
		char full[NEAR_NAME_SIZE];

		snprintf(full, sizeof(full), "%s:%s", system, event);
		if (strpbrk(name, ":/"))
			near_offer(&near, full);
		else
			near_offer_as(&near, event, full);
	}
	return near_fail(&near, fail, -ENOENT, "the file knows no event '%s'", name);
}

/* The word under the caret, to which fields may be near: the first name that no event has is the first name of many filters. */
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

/* What is near goes behind the first line, in front of the filter and its caret. */
static int with_hint(struct fail *fail, int err, const struct near *near)
{
	char hint[3 * NEAR_NAME_SIZE], *line = strchrnul(fail->text, '\n');
	struct fail before = *fail;

	near_hint(near, hint, sizeof(hint));
	if (!*hint)
		return err;
	return fail_set(fail, err, "%.*s; %s%s", (int)(line - fail->text), before.text, hint,
			before.text + (line - fail->text));
}

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

		for (uint32_t j = 0; format && j < format->nr_fields; j++)
			near_offer(&near, format->fields[j].name);
	}
	return with_hint(fail, err, &near);
}

static int add_filter(struct filter_set *set, const struct pattern *pattern, const char *text, bool negated,
		      struct fail *fail)
{
	struct fail why = FAIL_INIT, this;
	bool named = false, added = false;
	const char *system, *event;
	int32_t id;
	int worst = 0;

	for (size_t i = 0; schema_at(set->context->schema, i, &id, &system, &event); i++) {
		const struct format *format;
		struct filter *filter;
		int err;

		if (id < 0 || id >= EVENT_TYPES_MAX || !pattern_fits(pattern, system, event))
			continue;
		named = true;
		format = schema_format(set->context->schema, id, NULL);
		if (!format)
			continue;
		err = filter_new(text, format, set->context, NULL, &filter, &this);
		if (!err)
			err = add(set, id, filter, negated, &this);
		added |= !err;
		if (err == -ENOMEM)
			return fail_memory(fail);
		/* What is wrong in a filter says more than what an event does not have. */
		if (err && (!worst || worst == -ENOENT)) {
			worst = err;
			why = this;
		}
	}
	if (schema_starved(set->context->schema))
		return fail_memory(fail);
	if (!named)
		return *pattern->whole ? no_event(set, pattern->whole, fail) :
					 fail_set(fail, -ENOENT, "the file knows no events");
	return added ? 0 : refuse(set, pattern, text, &why, worst, fail);
}

int filter_set_add(struct filter_set *set, const char *text, bool negated, struct fail *fail)
{
	size_t len = name_len(text);
	cleanup_free char *name = strndup(text, len);
	struct pattern pattern;
	int err = name ? pattern_init(&pattern, name, fail) : fail_memory(fail);

	if (err)
		return err;
	err = add_filter(set, &pattern, len ? text + len + 1 : text, negated, fail);
	free(pattern.system);
	return err;
}
