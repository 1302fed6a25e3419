// SPDX-License-Identifier: LGPL-2.1-or-later
/* The error texts are those of ERRORS in kernel/trace/trace_events_hist.c. */
#include "lib/answers/tally/tally_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/query/filter.h"
#include "lib/meaning/schema/format.h"

enum { SHOWN_MAX = 700 };

struct parser {
	struct tally *tally;
	const struct format *last, *first;
	const struct context *context;
	const char *option, *text; /* the option, "keys", and its text */
	struct fail *fail;
	struct near near;
	char sort[NEAR_NAME_SIZE]; /* the word of `near`, of a sort key */
};

static const struct modifier {
	const char *name;
	enum tally_how how;
	bool of_key, of_value;
	unsigned per_mille;
} modifiers[] = {
	{ "hex", TALLY_HEX, true, true, 0 },
	{ "sym", TALLY_SYM, true, false, 0 },
	{ "sym-offset", TALLY_SYM_OFFSET, true, false, 0 },
	{ "execname", TALLY_EXECNAME, true, false, 0 },
	{ "syscall", TALLY_SYSCALL, true, false, 0 },
	{ "log2", TALLY_LOG2, true, false, 0 },
	{ "usecs", TALLY_USECS, true, true, 0 },
	{ "percent", TALLY_PERCENT, false, true, 0 },
	{ "graph", TALLY_GRAPH, false, true, 0 },
	{ "min", TALLY_MIN, false, true, 0 },
	{ "p50", TALLY_QUANTILE, false, true, 500 },
	{ "p90", TALLY_QUANTILE, false, true, 900 },
	{ "p99", TALLY_QUANTILE, false, true, 990 },
	{ "p999", TALLY_QUANTILE, false, true, 999 },
	{ "max", TALLY_MAX, false, true, 0 },
};

static int refuse(struct parser *parser, int err, const char *culprit, const char *why)
{
	size_t column = (size_t)(culprit - parser->text);
	char hint[3 * NEAR_NAME_SIZE];

	near_hint(&parser->near, hint, sizeof(hint));
	if (column > SHOWN_MAX || strlen(parser->text) > SHOWN_MAX)
		return fail_set(parser->fail, err, "--%s: %s, at character %zu", parser->option, why, column + 1);
	return fail_set(parser->fail, err, "--%s: %s%s%s\n  %s\n  %*s^", parser->option, why, *hint ? "; " : "", hint,
			parser->text, (int)column, "");
}

/* Reads "buckets=10" or "bucket=10". */
static bool take_buckets(struct text_word modifier, uint64_t *ret)
{
	char copy[32];
	const char *at = copy + strlen("bucket");

	if (modifier.len >= sizeof(copy) || modifier.len < strlen("bucket=") ||
	    memcmp(modifier.at, "bucket", strlen("bucket")) != 0)
		return false;
	memcpy(copy, modifier.at, modifier.len);
	copy[modifier.len] = '\0';
	at += *at == 's';
	return *at == '=' && !text_parse_u64(at + 1, ret, NULL) && *ret;
}

static bool is_number(const struct tally_column *column)
{
	return column->of != TALLY_STRING && column->of != TALLY_TASK && column->of != TALLY_STACK;
}

/* The kernel sorts a pointer to a string as a string. */
static void of_field(struct tally_column *column, const struct field *field)
{
	column->of = field->flags & FIELD_STRING ? TALLY_STRING : TALLY_NUMBER;
	column->size = (uint8_t)(field->size <= 8 ? field->size : 8);
	column->is_signed = field->flags & FIELD_SIGNED;
	column->is_pointer = !strcmp(field->type, "char *") || !strcmp(field->type, "const char *");
}

static bool find_generic(const struct parser *parser, struct tally_column *column)
{
	static const struct {
		const char *name, *shown;
		enum tally_of of;
		uint8_t size;
	} names[] = {
		{ "common_timestamp", "common_timestamp", TALLY_TIME, 8 },
		{ "common_stacktrace", "common_stacktrace", TALLY_STACK, 0 },
		{ "common_cpu", "common_cpu", TALLY_CPU, 8 },
		{ "common_comm", "common_comm", TALLY_TASK, 0 },
		{ "cpu", "common_cpu", TALLY_CPU, 8 },
		{ "CPU", "common_cpu", TALLY_CPU, 8 },
		{ "comm", "common_comm", TALLY_TASK, 0 },
		{ "COMM", "common_comm", TALLY_TASK, 0 },
		{ "stacktrace", "common_stacktrace", TALLY_STACK, 0 },
		{ "STACKTRACE", "common_stacktrace", TALLY_STACK, 0 },
		{ "hitcount", "hitcount", TALLY_HITS, 8 },
	};

	for (size_t i = 0; i < array_size(names); i++) {
		if (strcmp(names[i].name, column->name) != 0)
			continue;
		column->of = names[i].of;
		column->size = names[i].size;
		snprintf(column->name, sizeof(column->name), "%s", names[i].shown);
		if (column->of == TALLY_STACK && !context_since(parser->context, 6, 3))
			snprintf(column->name, sizeof(column->name), "stacktrace");
		return true;
	}
	return false;
}

static void offer_fields(struct parser *parser, const struct format *format, const char *name)
{
	if (format == parser->last)
		parser->near = near_to(name);
	filter_offer(format, parser->context, &parser->near);
}

/* NAME or decoded_NAME of what a plugin decodes from the event. */
static bool find_fact(const struct parser *parser, struct tally_column *column)
{
	static const char prefix[] = "decoded_";
	const char *name = column->name;
	const struct decoder *decoder = parser->context && parser->context->plugins && parser->last ?
						plugins_decoder(parser->context->plugins, parser->last) :
						NULL;
	const struct decoded_name *listed;

	name += strncmp(name, prefix, strlen(prefix)) ? 0 : strlen(prefix);
	listed = decoder ? decoder_find(decoder, name) : NULL;
	if (!listed)
		return false;
	column->fact = listed->name;
	column->of = listed->is_number ? TALLY_NUMBER : TALLY_STRING;
	column->size = 8;
	column->is_signed = true;
	return true;
}

/* As trace_find_event_field(): an event's own fields take precedence over the common ones. */
static int find_column(struct parser *parser, struct tally_column *column, const char *culprit)
{
	const struct field *field = format_field(parser->last, column->name);

	if (parser->first && !strcmp(column->name, "lat")) {
		column->of = TALLY_LATENCY;
		column->size = 8;
		return 0;
	}
	if (!field && strncmp(column->name, "common_", 7) != 0 && parser->first) {
		field = format_field(parser->first, column->name);
		column->of_first = field;
	}
	if (field) {
		of_field(column, field);
		if (column->of == TALLY_NUMBER && field->size != 1 && field->size != 2 && field->size != 4 &&
		    field->size != 8)
			return refuse(parser, -EINVAL, culprit, "The field is neither a number nor a text");
		if (column->of == TALLY_NUMBER && field->flags & (FIELD_ARRAY | FIELD_DYNAMIC | FIELD_RELATIVE))
			return refuse(parser, -EINVAL, culprit, "The field is an array");
		return 0;
	}
	if (find_generic(parser, column) || find_fact(parser, column))
		return 0;
	offer_fields(parser, parser->last, column->name);
	offer_fields(parser, parser->first, column->name);
	return refuse(parser, -ENOENT, culprit, "Couldn't find field");
}

static int find_modifier(struct parser *parser, struct tally_column *column, struct text_word word, bool is_key)
{
	for (size_t i = 0; i < array_size(modifiers); i++) {
		const struct modifier *modifier = &modifiers[i];

		if (!text_word_is(word, modifier->name) || !(is_key ? modifier->of_key : modifier->of_value))
			continue;
		if (modifier->how == TALLY_EXECNAME && strcmp(column->name, "common_pid") != 0)
			break;
		column->how = modifier->how;
		column->per_mille = modifier->per_mille;
		return 0;
	}
	if (is_key && take_buckets(word, &column->buckets)) {
		column->how = TALLY_BUCKETS;
		return 0;
	}
	return refuse(
		parser, -EINVAL, word.at,
		is_key ? "Invalid field modifier; the modifiers are hex, sym, sym-offset, execname (of common_pid), "
			 "syscall, log2, buckets=N and usecs" :
			 "Invalid field modifier; the modifiers are hex, usecs, percent, graph, "
			 "min, p50, p90, p99, p999 and max");
}

static int parse_column(struct parser *parser, struct text_word word, bool is_key, struct tally_column *ret)
{
	const char *dot = memchr(word.at, '.', word.len);
	size_t len = dot ? (size_t)(dot - word.at) : word.len;
	struct tally_column column = { .how = TALLY_PLAIN };
	int err;

	parser->near = near_to("");
	if (len >= sizeof(column.name))
		return refuse(parser, -ENOENT, word.at, "Couldn't find field");
	/* "execname" is a short form of common_pid.execname. */
	memcpy(column.name, word.at, len);
	if (is_key && text_word_is(word, "execname") && !format_field(parser->last, "execname")) {
		snprintf(column.name, sizeof(column.name), "common_pid");
		column.how = TALLY_EXECNAME;
	}
	err = find_column(parser, &column, word.at);
	if (!err && dot)
		err = find_modifier(parser, &column, (struct text_word){ dot + 1, word.len - len - 1 }, is_key);
	if (!err && ((column.how != TALLY_PLAIN && !is_number(&column)) || (!is_key && !is_number(&column)) ||
		     (is_key && column.of == TALLY_HITS) || (column.how == TALLY_USECS && column.of != TALLY_TIME)))
		err = refuse(parser, -EINVAL, word.at,
			     is_key || column.how != TALLY_PLAIN ? "Invalid field modifier" :
								   "Only numbers can be summed up");
	if (!err)
		*ret = column;
	return err;
}

static int parse_columns(struct parser *parser, const char *option, const char *text, bool is_key,
			 struct tally_column *columns, size_t *nr)
{
	const char *at = text;
	struct text_word word;
	int err = 0;

	parser->option = option;
	parser->text = text;
	while (!err && text_next_word(&at, ", ", &word)) {
		/* The hitcount is always counted. */
		if (!is_key && text_word_is(word, "hitcount"))
			continue;
		if (*nr == TALLY_COLUMNS_MAX)
			return refuse(parser, -EINVAL, word.at, "These are too many");
		err = parse_column(parser, word, is_key, &columns[*nr]);
		*nr += !err;
	}
	return err;
}

static bool column_is(const struct tally_column *column, struct text_word name)
{
	size_t len = strlen(column->name);

	if (text_word_is(name, column->name))
		return true;
	if (name.len <= len || memcmp(name.at, column->name, len) != 0 || name.at[len] != '.')
		return false;
	for (size_t i = 0; i < array_size(modifiers); i++)
		if (modifiers[i].how == column->how && modifiers[i].per_mille == column->per_mille &&
		    text_word_is((struct text_word){ name.at + len + 1, name.len - len - 1 }, modifiers[i].name))
			return true;
	return false;
}

static bool ends_with(struct text_word *name, const char *end)
{
	size_t len = strlen(end);

	if (name->len <= len || memcmp(name->at + name->len - len, end, len) != 0)
		return false;
	name->len -= len;
	return true;
}

/* Returns the index of a sort key's column, 0 being the hits; 0: there is none. */
static size_t find_sort(const struct tally_program *program, struct text_word name)
{
	size_t nr = program->nr_values + program->nr_keys, percentile = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct tally_column *column =
			i < program->nr_values ? &program->values[i] : &program->keys[i - program->nr_values];

		if (!column_is(column, name))
			continue;
		/* The field's name alone means its sum or the key, as in the kernel, and only then a percentile. */
		if (!tally_is_of_samples(column) || !text_word_is(name, column->name))
			return i + 1;
		percentile = percentile ? percentile : i + 1;
	}
	return percentile;
}

static void offer_sorts(struct parser *parser, struct text_word name)
{
	const struct tally_program *program = &parser->tally->program;

	snprintf(parser->sort, sizeof(parser->sort), "%.*s", (int)name.len, name.at);
	parser->near = near_to(parser->sort);
	near_offer(&parser->near, "hitcount");
	for (size_t i = 0; i < program->nr_values; i++)
		near_offer(&parser->near, program->values[i].name);
	for (size_t i = 0; i < program->nr_keys; i++)
		near_offer(&parser->near, program->keys[i].name);
}

static int parse_sort(struct parser *parser, struct text_word name, struct tally_sort *ret)
{
	ret->descending = ends_with(&name, ".descending");
	if (!ret->descending)
		ends_with(&name, ".ascending");
	if (text_word_is(name, "hitcount"))
		return 0;
	ret->column = find_sort(&parser->tally->program, name);
	if (ret->column)
		return 0;
	if (memchr(name.at, '.', name.len))
		return refuse(parser, -EINVAL, (const char *)memchr(name.at, '.', name.len) + 1,
			      "Invalid sort modifier");
	offer_sorts(parser, name);
	return refuse(parser, -EINVAL, name.at, "Sort field must be a key or a val");
}

static int parse_sorts(struct parser *parser, const char *text)
{
	struct tally_program *program = &parser->tally->program;
	const char *at = text;
	struct text_word word;
	int err = 0;

	parser->option = "sort";
	parser->text = text;
	parser->near = near_to("");
	while (!err && text_next_word(&at, ",", &word)) {
		if (program->nr_sorts == TALLY_COLUMNS_MAX)
			return refuse(parser, -EINVAL, word.at, "Too many sort fields");
		err = parse_sort(parser, word, &program->sorts[program->nr_sorts]);
		program->nr_sorts += !err;
	}
	return !err && !program->nr_sorts ? refuse(parser, -EINVAL, text, "Empty sort field") : err;
}

static bool has_steps(const struct tally_column *key)
{
	return key->how == TALLY_LOG2 || key->how == TALLY_BUCKETS;
}

/*
 * Sets the default sort order, as in the kernel's hist_add_sort(): by steps in their order, after the first key;
 * otherwise the most hits first.
 */
static void sort_by_itself(struct tally_program *program)
{
	size_t steps = SIZE_MAX;

	for (size_t i = 0; i < program->nr_keys; i++)
		if (has_steps(&program->keys[i]))
			steps = i;
	if (steps == SIZE_MAX) {
		program->sorts[program->nr_sorts++] = (struct tally_sort){ .column = 0, .descending = true };
		return;
	}
	program->sorts[program->nr_sorts++] = (struct tally_sort){ .column = 1 + program->nr_values };
	if (steps)
		program->sorts[program->nr_sorts++] = (struct tally_sort){ .column = 1 + program->nr_values + steps };
}

/*
 * If the user writes `pid`, but the event has prev_pid and next_pid instead (sched_switch), the second event is about
 * the task that is switched in, and the first one about the task that is switched out.
 */
static int find_match(struct parser *parser, const char *culprit, size_t len, const struct format *format,
		      const char *prefix, struct tally_column *ret)
{
	const struct format *last = parser->last, *first = parser->first;
	struct tally_column column = { .how = TALLY_PLAIN };
	int err;

	parser->near = near_to("");
	if (!len || len >= sizeof(column.name) - strlen("prev_"))
		return refuse(parser, -EINVAL, culprit, "This is no name of a field");
	snprintf(column.name, sizeof(column.name), "%s%.*s", prefix, (int)len, culprit);
	if (!format_field(format, column.name))
		snprintf(column.name, sizeof(column.name), "%.*s", (int)len, culprit);
	else if (format_field(format, column.name + strlen(prefix)))
		memmove(column.name, column.name + strlen(prefix), strlen(column.name + strlen(prefix)) + 1);
	parser->last = format;
	parser->first = NULL;
	err = find_column(parser, &column, culprit);
	parser->last = last;
	parser->first = first;
	if (!err && column.of != TALLY_NUMBER && column.of != TALLY_STRING && column.of != TALLY_CPU)
		return refuse(parser, -EINVAL, culprit, "Events cannot have this in common");
	if (!err)
		*ret = column;
	return err;
}

/* "FIELD" or "FIELD=FIELD"; several with commas. */
static int parse_match(struct parser *parser)
{
	struct tally *tally = parser->tally;
	const char *at = tally->wanted.match ? tally->wanted.match : "common_pid";
	int err = 0;

	parser->option = "key";
	parser->text = at;
	for (bool more = true; more && !err;) {
		size_t len = strcspn(at, ","), first = strcspn(at, "=,"), second = at[first] == '=' ? first + 1 : 0;

		if (tally->nr_match == TALLY_MATCH_MAX)
			return refuse(parser, -EINVAL, at, "Events are paired by at most three fields");
		err = find_match(parser, at, first, parser->first, "prev_", &tally->first_match[tally->nr_match]);
		if (!err)
			err = find_match(parser, at + second, len - second, parser->last, "next_",
					 &tally->match[tally->nr_match]);
		tally->nr_match++;
		more = at[len];
		at += len + more;
	}
	return err;
}

/* The keys that are the default. */
static void name_match(const struct tally *tally, char into[TALLY_MATCH_MAX * TALLY_NAME_SIZE])
{
	size_t len = 0;

	into[0] = '\0';
	for (size_t i = 0; i < tally->nr_match; i++)
		len += (size_t)snprintf(into + len, TALLY_MATCH_MAX * TALLY_NAME_SIZE - len, "%s%s", i ? "," : "",
					tally->match[i].name);
}

/* Adds the time to the keys that are the default. */
static int add_time(struct parser *parser)
{
	struct tally_program *program = &parser->tally->program;

	return parse_columns(parser, "keys", "lat.log2", true, program->keys, &program->nr_keys);
}

static void sum_up(struct tally_program *program)
{
	for (size_t i = 0; i < program->nr_keys + program->nr_values; i++) {
		const struct tally_column *column =
			i < program->nr_keys ? &program->keys[i] : &program->values[i - program->nr_keys];

		program->usecs |= column->how == TALLY_USECS;
		program->timestamps |= column->of == TALLY_TIME;
		program->stacks |= column->of == TALLY_STACK;
		program->samples |= tally_is_of_samples(column);
	}
}

int tally_parse(struct tally *tally, const struct format *last, const struct format *first,
		const struct context *context, struct fail *fail)
{
	struct parser parser = { .tally = tally, .last = last, .first = first, .context = context, .fail = fail };
	const struct tally_wanted *wanted = &tally->wanted;
	struct tally_program *program = &tally->program;
	size_t stacks = 0;
	char fallback[TALLY_MATCH_MAX * TALLY_NAME_SIZE];
	int err = first ? parse_match(&parser) : 0;

	name_match(tally, fallback);
	if (!err)
		err = parse_columns(&parser, "keys", wanted->keys ? wanted->keys : fallback, true, program->keys,
				    &program->nr_keys);
	if (!err && first && !wanted->keys)
		err = add_time(&parser);
	if (!err && !program->nr_keys)
		err = fail_usage(fail, fail_set(fail, -EINVAL, "--keys: no key"));
	if (!err && wanted->values)
		err = parse_columns(&parser, "values", wanted->values, false, program->values, &program->nr_values);
	if (!err && wanted->sort)
		err = parse_sorts(&parser, wanted->sort);
	else if (!err)
		sort_by_itself(program);
	for (size_t i = 0; i < program->nr_keys; i++)
		stacks += program->keys[i].of == TALLY_STACK;
	if (!err && stacks > 1)
		err = fail_usage(fail, fail_set(fail, -EINVAL, "--keys: an event has one stack, not %zu", stacks));
	if (!err)
		sum_up(program);
	return err;
}
