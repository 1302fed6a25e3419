// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/query/duration_internal.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/calls.h"
#include "lib/meaning/follow/spans.h"
#include "lib/meaning/query/filter_set_internal.h"

struct duration {
	bool less, or_equal, negated;
	uint64_t ns;
	struct filter_set *rest; /* the other conditions on the event; NULL: none */
	char *name;              /* the EVENT before the colon; NULL: any event */
};

/* A reader may look a few events ahead of the one that it prints. */
enum { ENDS_KEPT = 4, BEGIN_MAX = 1024 };

/* A copy of the event that began a task's system call. */
struct begun {
	bool open;
	struct event event; /* its data are those behind it */
	uint8_t data[BEGIN_MAX];
};

struct ended {
	const uint8_t *data; /* of the event that ended it */
	uint64_t ts, lasted;
	struct begun begun;
};

struct durations {
	const struct context *context;
	struct spans *spans;
	struct calls *calls;
	struct duration *items;
	size_t nr;
	bool some;
	struct u64_map begun; /* by PID: struct begun */
	struct ended ends[ENDS_KEPT];
	unsigned next_end;
};

/* One of the terms separated by "&&". */
struct term {
	const char *at;
	size_t len;
};

/* Parses "duration > 1ms"; `number` gets the number with its unit. */
static bool is_duration(struct term term, struct duration *ret, char number[32])
{
	const char *at = term.at, *end = term.at + term.len;

	for (; at < end && *at == ' '; at++)
		continue;
	for (; end > at && end[-1] == ' '; end--)
		continue;
	if (end - at < 8 || memcmp(at, "duration", 8))
		return false;
	for (at += 8; at < end && *at == ' '; at++)
		continue;
	if (at == end || (*at != '<' && *at != '>'))
		return false;
	ret->less = *at++ == '<';
	ret->or_equal = at < end && *at == '=';
	for (at += ret->or_equal; at < end && *at == ' '; at++)
		continue;
	/* Without a unit, it is the kernel's filter language, and `duration` is a field. */
	if (at == end || *at < '0' || *at > '9' || (end[-1] != 's' && end[-1] != 'm') || end - at >= 32)
		return false;
	snprintf(number, 32, "%.*s", (int)(end - at), at);
	return true;
}

/* The next term, up to "&&" outside of quotes and brackets. */
static bool next_term(const char **text, struct term *ret)
{
	unsigned depth = 0;
	char quote = '\0';
	const char *at = *text;

	if (!at)
		return false;
	for (; *at; at++) {
		if (quote)
			quote = *at == quote ? '\0' : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == '(' || *at == ')')
			depth += *at == '(' ? 1 : -1u;
		else if (!depth && at[0] == '&' && at[1] == '&')
			break;
	}
	*ret = (struct term){ *text, (size_t)(at - *text) };
	*text = *at ? at + 2 : NULL;
	return true;
}

/* The text after "EVENT:", if there is one; *ret_len is the length of the name without the colon. */
static const char *behind_name(const char *text, size_t *ret_len)
{
	size_t len = strcspn(text, " \t'\"()&|=<>~");

	*ret_len = len && text[len - 1] == ':' ? len - 1 : 0;
	return *ret_len ? text + len : text;
}

bool duration_asked(const char *text)
{
	struct duration duration;
	char number[32];
	struct term term;
	size_t name;

	text = behind_name(text, &name);
	while (next_term(&text, &term))
		if (is_duration(term, &duration, number))
			return true;
	return false;
}

int durations_new(const struct context *context, struct durations **ret, struct fail *fail)
{
	struct durations *durations;

	if (context->unit != CLOCK_UNIT_NS)
		return fail_set(fail, -EINVAL, "the clock '%s' does not count time, so there are no durations",
				context->clock);
	durations = calloc(1, sizeof(*durations));
	if (!durations)
		return fail_memory(fail);
	durations->context = context;
	durations->spans = spans_new(context);
	durations->calls = calls_new();
	u64_map_init(&durations->begun, sizeof(struct begun));
	*ret = durations;
	return durations->spans && durations->calls ? 0 : fail_memory(fail);
}

void durations_free(struct durations *durations)
{
	if (!durations)
		return;
	for (size_t i = 0; i < durations->nr; i++) {
		filter_set_free(durations->items[i].rest);
		free(durations->items[i].name);
	}
	free(durations->items);
	spans_free(durations->spans);
	calls_free(durations->calls);
	u64_map_release(&durations->begun);
	free(durations);
}

/*
 * Collects all terms except those of durations: a filter in the kernel's language; empty for none. False without
 * memory.
 */
static bool take_rest(const char *text, const char *name, size_t name_len, struct buf *rest)
{
	struct duration ignored;
	char number[32];
	struct term term;
	bool ok = true;

	while (ok && next_term(&text, &term)) {
		if (is_duration(term, &ignored, number))
			continue;
		if (rest->len)
			ok = buf_addf(rest, "&&");
		else if (name_len)
			ok = buf_addf(rest, "%.*s: ", (int)name_len, name);
		ok = ok && buf_addf(rest, "%.*s", (int)term.len, term.at);
	}
	return ok;
}

static int add_rest(struct durations *durations, struct duration *duration, const char *rest, struct fail *fail)
{
	int err = filter_set_new(durations->context, &duration->rest, fail);

	return err ? err : filter_set_add(duration->rest, rest, false, fail);
}

int durations_add(struct durations *durations, const char *text, bool negated, struct fail *fail)
{
	size_t name_len;
	const char *terms = behind_name(text, &name_len), *at = terms;
	cleanup_buf struct buf rest = BUF_INIT;
	struct duration *added = vec_push(durations->items, durations->nr);
	struct term term;
	char number[32];
	int err = 0;

	if (!added || !take_rest(terms, text, name_len, &rest))
		return fail_memory(fail);
	*added = (struct duration){ .negated = negated, .name = name_len ? strndup(text, name_len) : NULL };
	if (name_len && !added->name)
		return fail_memory(fail);
	durations->some |= !negated;
	while (!err && next_term(&at, &term))
		if (is_duration(term, added, number))
			err = text_parse_time(number, &added->ns, fail) ? fail_usage(fail, -EINVAL) : 0;
	return err || !rest.len ? err : add_rest(durations, added, buf_str(&rest), fail);
}

static bool is_called(const struct duration *duration, const struct event *event)
{
	const struct format *format = event->type->format;
	const char *name = duration->name;
	size_t system = name ? strcspn(name, ":/") : 0;
	char part[64];

	if (!name)
		return true;
	if (!format)
		return false;
	if (!name[system])
		return text_glob(name, format->name) || text_glob(name, format->system);
	snprintf(part, sizeof(part), "%.*s", (int)system, name);
	return text_glob(part, format->system) && text_glob(name + system + 1, format->name);
}

static bool is_met(const struct duration *duration, const struct event *event, uint64_t lasted)
{
	if (duration->or_equal && lasted == duration->ns)
		return is_called(duration, event) && (!duration->rest || filter_set_keep(duration->rest, event));
	if (duration->less ? lasted >= duration->ns : lasted <= duration->ns)
		return false;
	return is_called(duration, event) && (!duration->rest || filter_set_keep(duration->rest, event));
}

/* The duration of the span that the event ends; false when it ends none. */
static bool lasted(struct durations *durations, const struct event *event, uint64_t *ret)
{
	struct span span;
	struct call call;

	if (spans_see(durations->spans, event, &span)) {
		*ret = span.lasted;
		return true;
	}
	if (!calls_see(durations->calls, event, &call) || !call.timed)
		return false;
	*ret = call.lasted;
	return true;
}

static bool begins_call(const struct event *event)
{
	const struct format *format = event->kind == EVENT_RECORD ? event->type->format : NULL;

	return format && !strncmp(format->name, "sys_enter", strlen("sys_enter"));
}

/* Without memory, or where the record is too long, the end of the call has no beginning. */
static void see_begin(struct durations *durations, const struct event *event)
{
	struct begun *begun = begins_call(event) ? u64_map_add(&durations->begun, (uint32_t)event->pid) : NULL;

	if (!begun)
		return;
	begun->open = event->len <= BEGIN_MAX;
	begun->event = *event;
	memcpy(begun->data, event->data, begun->open ? event->len : 0);
}

static void keep_end(struct durations *durations, const struct event *event, uint64_t ns)
{
	const struct format *format = event->type->format;
	struct ended *ended = &durations->ends[durations->next_end++ % ENDS_KEPT];
	struct begun *begun = format && !strncmp(format->name, "sys_exit", strlen("sys_exit")) ?
				      u64_map_find(&durations->begun, (uint32_t)event->pid) :
				      NULL;

	ended->data = event->data;
	ended->ts = event->ts;
	ended->lasted = ns;
	ended->begun.open = begun && begun->open && begun->event.ts + ns == event->ts;
	if (ended->begun.open)
		ended->begun = *begun;
}

bool durations_ended(const struct durations *durations, const struct event *event, uint64_t *ret_lasted,
		     struct event *ret_begin)
{
	for (size_t i = 0; i < ENDS_KEPT; i++) {
		const struct ended *ended = &durations->ends[i];

		if (ended->data != event->data || ended->ts != event->ts)
			continue;
		*ret_lasted = ended->lasted;
		*ret_begin = ended->begun.event;
		ret_begin->data = ended->begun.open ? ended->begun.data : NULL;
		return true;
	}
	return false;
}

bool durations_met(struct durations *durations, const struct event *event, uint64_t ns, bool *ret_out)
{
	bool met = false;

	*ret_out = false;
	for (size_t i = 0; i < durations->nr; i++) {
		if (!is_met(&durations->items[i], event, ns))
			continue;
		*ret_out |= durations->items[i].negated;
		met |= !durations->items[i].negated;
	}
	if (met)
		keep_end(durations, event, ns);
	return met;
}

bool durations_keep(struct durations *durations, const struct event *event, bool *ret_out)
{
	uint64_t ns;

	*ret_out = false;
	see_begin(durations, event);
	return lasted(durations, event, &ns) && durations_met(durations, event, ns, ret_out);
}

bool durations_some(const struct durations *durations)
{
	return durations->some;
}
