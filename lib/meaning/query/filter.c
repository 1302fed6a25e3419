// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/query/filter.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/plugin/decoded.h"
#include "lib/meaning/plugin/plugins.h"

/* The compiled program. */
enum filter_op {
	FILTER_GLOB,
	FILTER_NE,
	FILTER_EQ,
	FILTER_LE,
	FILTER_LT,
	FILTER_GE,
	FILTER_GT,
	FILTER_AND,
	FILTER_OPS
};

enum filter_of {
	FILTER_OF_NUMBER,
	FILTER_OF_CPU,
	FILTER_OF_STRING,
	FILTER_OF_TASK,
	FILTER_OF_MASK,
	FILTER_OF_DECODED,
	FILTER_OF_ANY /* filter_check(): no event says what the field is */
};

/* The values of filter_term::next that end a program. */
enum { FILTER_TRUE = -1, FILTER_FALSE = -2 };

struct filter_term {
	enum filter_op op;
	enum filter_of of;  /* what is compared */
	struct place place; /* the field's place */
	bool is_not;        /* the pattern began with '!' */
	bool has_cpus;      /* compare with `cpus`; else with `text` or `number` */
	bool is_glob;
	uint64_t number;                    /* cut to the field's size and sign-extended */
	const struct decoder *decoder;      /* FILTER_OF_DECODED */
	const struct decoded_name *decoded; /* its field */
	char *text;
	size_t len;
	struct cpus *cpus;
	int16_t next[2]; /* the term that follows when this one is false, and when it is true */
};

struct filter {
	const struct context *context;
	struct filter_term *terms; /* evaluation begins with terms[0] */
	size_t nr;
};

enum { STRING_MAX = 4096 };

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->nr; i++) {
		free(filter->terms[i].text);
		free(filter->terms[i].cpus);
	}
	free(filter->terms);
	free(filter);
}

static bool number_meets(enum filter_op op, uint64_t value, uint64_t number, bool is_signed)
{
	bool less = is_signed ? (int64_t)value < (int64_t)number : value < number;

	switch (op) {
	case FILTER_EQ:
		return value == number;
	case FILTER_NE:
		return value != number;
	case FILTER_LT:
		return less;
	case FILTER_LE:
		return less || value == number;
	case FILTER_GT:
		return !less && value != number;
	case FILTER_GE:
		return !less;
	case FILTER_AND:
		return value & number;
	case FILTER_GLOB:
	case FILTER_OPS:
		break;
	}
	return false;
}

/* do_filter_scalar_cpumask(): the CPU equals the only one of the list. */
static bool cpu_meets(enum filter_op op, uint64_t cpu, const struct cpus *cpus)
{
	bool has = cpu < CPUS_MAX && cpus_has(cpus, (uint32_t)cpu), only = has && cpus_count(cpus) == 1;

	return op == FILTER_AND ? has : op == FILTER_EQ ? only : !only;
}

/* Bit n of a bitmap that consists of longs of the traced machine. */
static bool mask_has(const struct schema_abi *abi, const uint8_t *at, size_t len, size_t bit)
{
	size_t word = abi->long_size ? abi->long_size : 8, byte = bit / 8;

	if (abi->big_endian)
		byte = byte / word * word + (word - 1 - byte % word);
	return byte < len && at[byte] >> bit % 8 & 1;
}

static bool mask_meets(const struct filter *filter, const struct filter_term *term, const struct event *event)
{
	bool equal = true, common = false;
	const uint8_t *at;
	size_t len;

	if (!place_bytes(&term->place, event, &at, &len))
		return false;
	for (size_t cpu = 0; cpu < CPUS_MAX; cpu++) {
		bool has = mask_has(&filter->context->abi, at, len, cpu), wanted = cpus_has(term->cpus, (uint32_t)cpu);

		equal = equal && has == wanted;
		common = common || (has && wanted);
	}
	return term->op == FILTER_AND ? common : term->op == FILTER_EQ ? equal : !equal;
}

static bool string_meets(const struct filter_term *term, const char *text, size_t len)
{
	char copy[STRING_MAX];

	if (!term->is_glob)
		return (len == term->len && !memcmp(text, term->text, len)) == (term->op != FILTER_NE);
	if (len >= sizeof(copy))
		len = sizeof(copy) - 1;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return text_glob(term->text, copy);
}

/* A comparison with a decoded field, while the plugin decodes the event. */
struct asked {
	const struct filter_term *term;
	bool met;
};

static void meet_decoded(void *arg, const struct decoded *decoded)
{
	struct asked *asked = arg;
	const struct filter_term *term = asked->term;

	if (strcmp(decoded->name, term->decoded->name))
		return;
	if (decoded->kind == DECODED_TEXT)
		asked->met |= term->text && string_meets(term, decoded->text, decoded->len);
	else
		asked->met |= !term->text &&
			      number_meets(term->op, decoded->value, term->number, decoded->kind == DECODED_INTEGER);
}

static bool decoded_meets(const struct filter *filter, const struct filter_term *term, const struct event *event)
{
	struct asked asked = { .term = term };

	if (!decoder_each(term->decoder, event->data, event->len, meet_decoded, &asked))
		context_lacks_memory(filter->context);
	return asked.met;
}

static bool term_meets(const struct filter *filter, const struct filter_term *term, const struct event *event)
{
	struct task_name name;
	const char *text;
	size_t len;

	switch (term->of) {
	case FILTER_OF_NUMBER:
		if (term->has_cpus)
			return cpu_meets(term->op, place_u64(&term->place, event), term->cpus);
		return number_meets(term->op, place_u64(&term->place, event), term->number, term->place.is_signed);
	case FILTER_OF_CPU:
		if (term->has_cpus)
			return cpu_meets(term->op, event->cpu, term->cpus);
		return term->op != FILTER_AND && number_meets(term->op, event->cpu, term->number, true);
	case FILTER_OF_STRING:
		return place_string(&term->place, event, &text, &len) && string_meets(term, text, len);
	case FILTER_OF_TASK:
		name = context_comm(filter->context, event->pid, event->ts);
		return string_meets(term, name.text, name.len);
	case FILTER_OF_MASK:
		return mask_meets(filter, term, event);
	case FILTER_OF_DECODED:
		return decoded_meets(filter, term, event);
	case FILTER_OF_ANY:
		break;
	}
	return false;
}

bool filter_needs_task(const struct filter *filter)
{
	for (size_t i = 0; i < filter->nr; i++)
		if (filter->terms[i].of == FILTER_OF_TASK)
			return true;
	return false;
}

bool filter_match(const struct filter *filter, const struct event *event)
{
	int at = 0;

	while (at >= 0) {
		const struct filter_term *term = &filter->terms[at];

		at = term->next[term_meets(filter, term, event) != term->is_not];
	}
	return at == FILTER_TRUE;
}

/* The error texts are those of ERRORS in kernel/trace/trace_events_filter.c. */

enum { NAME_MAX_LEN = 127, PARSE_STRING_MAX = 255, NUMBER_MAX = 23, LIST_MAX = 1023, SHOWN_MAX = 700 };

struct parser {
	const char *text, *at;
	const struct format *format;
	struct near *near;
	struct filter *filter;
	struct fail *fail;
	int err;
	unsigned depth;
};

/*
 * A piece of the program that is not yet linked to what follows it. Its exits are chained through filter_term::next: a
 * link is 2 * TERM + OUTCOME, -1 ends the chain.
 */
struct piece {
	int first;
	int exits[2];
};

enum { CHAIN_END = -1 };

static bool refuse(struct parser *parser, int err, const char *culprit, const char *why)
{
	size_t column = (size_t)(culprit - parser->text);

	if (parser->err)
		return false;
	parser->err = err;
	if (column > SHOWN_MAX || strlen(parser->text) > SHOWN_MAX)
		fail_set(parser->fail, err, "%s, at character %zu of the filter", why, column + 1);
	else
		fail_set(parser->fail, err, "%s\n  %s\n  %*s^", why, parser->text, (int)column, "");
	/* Whether a field is there depends on the file. */
	if (err == -EINVAL)
		(void)fail_usage(parser->fail, err);
	return false;
}

static void skip_blanks(struct parser *parser)
{
	parser->at += strspn(parser->at, " \t\n\v\f\r");
}

static int16_t *link_of(const struct parser *parser, int link)
{
	return &parser->filter->terms[link / 2].next[link % 2];
}

static void set_exits(const struct parser *parser, int chain, int to)
{
	while (chain != CHAIN_END) {
		int16_t *link = link_of(parser, chain);

		chain = *link;
		*link = (int16_t)to;
	}
}

static int join(const struct parser *parser, int chain, int behind)
{
	int last = chain;

	if (chain == CHAIN_END)
		return behind;
	while (*link_of(parser, last) != CHAIN_END)
		last = *link_of(parser, last);
	*link_of(parser, last) = (int16_t)behind;
	return chain;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A "char *" field: the string is not in the record. Since 6.19 system calls keep a copy in the record. */
static bool bind_pointer(struct parser *parser, struct filter_term *term, const char *name)
{
	char copy[NAME_MAX_LEN + sizeof("___val")];

	if (!(term->place.field->flags & FIELD_POINTER) || !strstr(term->place.field->type, "char"))
		return false;
	snprintf(copy, sizeof(copy), "__%s_val", name);
	(void)!place_bind(&term->place, parser->format, &parser->filter->context->abi, copy);
	term->of = FILTER_OF_STRING;
	return true;
}

static const struct decoder *decoder_of(const struct format *format, const struct context *context)
{
	return format && context->plugins ? plugins_decoder(context->plugins, format) : NULL;
}

void filter_offer(const struct format *format, const struct context *context, struct near *near)
{
	const struct decoder *decoder = decoder_of(format, context);
	const struct decoded_name *name;

	for (uint32_t i = 0; format && i < format->nr_fields; i++)
		near_offer(near, format->fields[i].name);
	for (size_t i = 0; decoder && (name = decoder_name(decoder, i)); i++)
		near_offer(near, name->name);
}

static bool bind_decoded(struct parser *parser, struct filter_term *term, const char *name)
{
	const struct decoder *decoder = decoder_of(parser->format, parser->filter->context);

	term->decoded = decoder ? decoder_find(decoder, name) : NULL;
	term->decoder = decoder;
	term->of = FILTER_OF_DECODED;
	return term->decoded != NULL;
}

/* What is no field of the event's own. */
static bool bind_other(struct parser *parser, struct filter_term *term, const char *name)
{
	if (!strcmp(name, "CPU") || !strcmp(name, "cpu") || !strcmp(name, "common_cpu")) {
		term->of = FILTER_OF_CPU;
		return true;
	}
	if (!strcmp(name, "COMM") || !strcmp(name, "comm")) {
		term->of = FILTER_OF_TASK;
		return true;
	}
	return bind_decoded(parser, term, name);
}

static bool not_found(struct parser *parser, const char *start)
{
	if (parser->near)
		filter_offer(parser->format, parser->filter->context, parser->near);
	return refuse(parser, -ENOENT, start, "Field not found");
}

static bool bind_field(struct parser *parser, struct filter_term *term, const char *start, const char *name)
{
	const struct schema_abi *abi = &parser->filter->context->abi;

	/* trace_find_event_field(): an event's own fields have precedence over the common ones. */
	if (place_bind(&term->place, parser->format, abi, name)) {
		if (term->place.field->flags & FIELD_STRING)
			term->of = FILTER_OF_STRING;
		else if (strstr(term->place.field->type, "cpumask"))
			term->of = FILTER_OF_MASK;
		else
			term->of = FILTER_OF_NUMBER;
		return true;
	}
	return bind_other(parser, term, name) || not_found(parser, start);
}

static bool take_field(struct parser *parser, struct filter_term *term)
{
	static const char decoded[] = "decoded.";
	bool is_decoded = !strncmp(parser->at, decoded, strlen(decoded)), user;
	const char *start = parser->at + (is_decoded ? strlen(decoded) : 0), *end = start;
	char name[NAME_MAX_LEN + 1];

	while (text_is_name_char(*end))
		end++;
	if (end == start)
		return refuse(parser, -EINVAL, start, "Meaningless filter expression");
	if (end - start > NAME_MAX_LEN)
		return refuse(parser, -ENOENT, start, "Field not found");
	memcpy(name, start, (size_t)(end - start));
	name[end - start] = '\0';
	if (!parser->format)
		term->of = FILTER_OF_ANY;
	else if (is_decoded ? !bind_decoded(parser, term, name) && !not_found(parser, start) :
			      !bind_field(parser, term, start, name))
		return false;
	user = !strncmp(end, ".ustring", strlen(".ustring"));
	parser->at = end + (user ? strlen(".ustring") : 0);
	if (!strncmp(parser->at, ".function", strlen(".function")))
		return refuse(parser, -EINVAL, parser->at,
			      "Only a running kernel can resolve function names: compare the address");
	if (term->of == FILTER_OF_NUMBER && bind_pointer(parser, term, name) && !term->place.field)
		return refuse(parser, -EINVAL, start, "The file has the pointer, but not the string that it points to");
	return true;
}

static bool take_op(struct parser *parser, struct filter_term *term)
{
	static const char *const ops[] = { "~", "!=", "==", "<=", "<", ">=", ">", "&" };

	skip_blanks(parser);
	for (size_t i = 0; i < array_size(ops); i++) {
		if (strncmp(parser->at, ops[i], strlen(ops[i])) != 0)
			continue;
		term->op = (enum filter_op)i;
		parser->at += strlen(ops[i]);
		skip_blanks(parser);
		return true;
	}
	return refuse(parser, -EINVAL, parser->at, "Invalid operator; the operators are ==, !=, <, <=, >, >=, & and ~");
}

static bool is_string(const struct filter_term *term)
{
	return term->of == FILTER_OF_STRING || term->of == FILTER_OF_TASK ||
	       (term->of == FILTER_OF_DECODED && !term->decoded->is_number);
}

/* filter_parse_regex(): a '!' in front negates the pattern; a pattern that begins with a digit is no glob. */
static void set_glob(struct filter_term *term)
{
	term->is_not = *term->text == '!';
	if (term->is_not)
		memmove(term->text, term->text + 1, term->len--);
	term->is_glob = !is_digit(*term->text);
}

static bool take_string(struct parser *parser, struct filter_term *term)
{
	const char *start = parser->at, *end = strchr(start + 1, *start);

	if (term->op != FILTER_NE && term->op != FILTER_EQ && term->op != FILTER_GLOB)
		return refuse(parser, -EINVAL, start, "Illegal operation for field type");
	if (!is_string(term) && term->of != FILTER_OF_ANY)
		return refuse(parser, -EINVAL, start, "Expecting numeric field");
	if (!end)
		return refuse(parser, -EINVAL, start, "Missing matching quote");
	term->len = (size_t)(end - start) - 1;
	if (term->len > PARSE_STRING_MAX)
		return refuse(parser, -EINVAL, start, "Operand too long");
	term->text = strndup(start + 1, term->len);
	if (!term->text)
		return refuse(parser, -ENOMEM, start, "out of memory");
	if (term->op == FILTER_GLOB)
		set_glob(term);
	parser->at = end + 1;
	return true;
}

/* kstrtoll() and kstrtoull() with base 0. */
static bool number_of_text(const char *text, bool is_signed, uint64_t *ret)
{
	bool minus = *text == '-';
	char *end;

	text += minus;
	if ((minus && !is_signed) || !is_digit(*text))
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 0);
	if (*end || errno || (is_signed && *ret > (uint64_t)INT64_MAX + minus))
		return false;
	if (minus)
		*ret = 0 - *ret;
	return true;
}

/* The kernel compares only as many bytes as the field has. */
static uint64_t fitted(uint64_t value, const struct place *place)
{
	unsigned shift = place->size && place->size < 8 ? 64 - 8u * place->size : 0;

	value <<= shift;
	return place->is_signed ? (uint64_t)((int64_t)value >> shift) : value >> shift;
}

/* A decoded number has 64 bits, with a sign or without. */
static bool is_signed(const struct filter_term *term, const char *number)
{
	bool either = term->of == FILTER_OF_DECODED || term->of == FILTER_OF_ANY;

	return term->of == FILTER_OF_CPU || term->place.is_signed || (either && *number == '-');
}

static bool take_number(struct parser *parser, struct filter_term *term)
{
	const char *start = parser->at, *end = start + (*start == '-');
	char number[NUMBER_MAX + 1];

	if (is_string(term))
		return refuse(parser, -EINVAL, start, "Expecting string field");
	if (term->op == FILTER_GLOB || term->of == FILTER_OF_MASK ||
	    (term->of == FILTER_OF_NUMBER && !term->place.size))
		return refuse(parser, -EINVAL, start, "Illegal operation for field type");
	while (text_is_name_char(*end) && *end != '_')
		end++;
	if (end - start > NUMBER_MAX)
		return refuse(parser, -EINVAL, start, "Operand too long");
	memcpy(number, start, (size_t)(end - start));
	number[end - start] = '\0';
	if (!number_of_text(number, is_signed(term, number), &term->number))
		return refuse(parser, -EINVAL, start, "Illegal integer value");
	if (term->of == FILTER_OF_NUMBER)
		term->number = fitted(term->number, &term->place);
	parser->at = end;
	return true;
}

/* "CPUS{0-3,7}" */
static bool take_cpus(struct parser *parser, struct filter_term *term)
{
	const char *start = parser->at, *list = start + strlen("CPUS{"), *end;
	char copy[LIST_MAX + 1];

	if (is_string(term) || term->of == FILTER_OF_DECODED || (term->of == FILTER_OF_NUMBER && !term->place.size) ||
	    (term->op != FILTER_EQ && term->op != FILTER_NE && term->op != FILTER_AND))
		return refuse(parser, -EINVAL, start, "Illegal operation for field type");
	if (list[-1] != '{')
		return refuse(parser, -EINVAL, list - 1, "Missing '{'");
	end = strchr(list, '}');
	if (!end)
		return refuse(parser, -EINVAL, list, "Missing '}'");
	if (end == list || end - list > LIST_MAX)
		return refuse(parser, -EINVAL, list, "Invalid cpulist");
	memcpy(copy, list, (size_t)(end - list));
	copy[end - list] = '\0';
	term->has_cpus = true;
	term->cpus = calloc(1, sizeof(*term->cpus));
	if (!term->cpus)
		return refuse(parser, -ENOMEM, start, "out of memory");
	if (cpus_parse(copy, term->cpus, NULL))
		return refuse(parser, -EINVAL, list, "Invalid cpulist");
	parser->at = end + 1;
	return true;
}

static bool take_value(struct parser *parser, struct filter_term *term)
{
	if (*parser->at == '"' || *parser->at == '\'')
		return take_string(parser, term);
	if (is_digit(*parser->at) || *parser->at == '-')
		return take_number(parser, term);
	if (!strncmp(parser->at, "CPUS", 4))
		return take_cpus(parser, term);
	return refuse(parser, -EINVAL, parser->at, "Invalid value (did you forget quotes)?");
}

static bool take_term(struct parser *parser, struct piece *ret)
{
	struct filter *filter = parser->filter;
	struct filter_term *term;
	int link = 2 * (int)filter->nr;

	if (filter->nr == FILTER_TERMS_MAX)
		return refuse(parser, -EINVAL, parser->at, "Too many terms in predicate expression");
	term = vec_push(filter->terms, filter->nr);
	if (!term)
		return refuse(parser, -ENOMEM, parser->at, "out of memory");
	*term = (struct filter_term){ .next = { CHAIN_END, CHAIN_END } };
	*ret = (struct piece){ .first = link / 2, .exits = { link, link + 1 } };
	return take_field(parser, term) && take_op(parser, term) && take_value(parser, term);
}

static bool take_or(struct parser *parser, struct piece *ret);

static bool take_not(struct parser *parser, struct piece *ret)
{
	const char *open;
	bool is_not = false;

	for (skip_blanks(parser); *parser->at == '!'; skip_blanks(parser)) {
		is_not = !is_not;
		parser->at++;
	}
	open = parser->at;
	if (*open != '(') {
		if (!take_term(parser, ret))
			return false;
	} else {
		if (++parser->depth > FILTER_DEPTH_MAX)
			return refuse(parser, -EINVAL, open, "Too many '('");
		parser->at++;
		if (!take_or(parser, ret))
			return false;
		if (*parser->at != ')')
			return refuse(parser, -EINVAL, open, "Too many '('");
		parser->at++;
		parser->depth--;
	}
	if (is_not)
		*ret = (struct piece){ .first = ret->first, .exits = { ret->exits[1], ret->exits[0] } };
	return true;
}

/*
 * Parses one piece, or several with `word` between them; `outcome` is the result of a piece that makes the next one be
 * evaluated.
 */
static bool take_chain(struct parser *parser, const char *word, int outcome,
		       bool (*taker)(struct parser *, struct piece *), struct piece *ret)
{
	struct piece next;

	if (!taker(parser, ret))
		return false;
	for (skip_blanks(parser); !strncmp(parser->at, word, 2); skip_blanks(parser)) {
		parser->at += 2;
		if (!taker(parser, &next))
			return false;
		set_exits(parser, ret->exits[outcome], next.first);
		ret->exits[outcome] = next.exits[outcome];
		ret->exits[!outcome] = join(parser, ret->exits[!outcome], next.exits[!outcome]);
	}
	return true;
}

static bool take_and(struct parser *parser, struct piece *ret)
{
	return take_chain(parser, "&&", 1, take_not, ret);
}

static bool take_or(struct parser *parser, struct piece *ret)
{
	return take_chain(parser, "||", 0, take_and, ret);
}

static bool take_all(struct parser *parser)
{
	struct piece all;

	skip_blanks(parser);
	if (!*parser->at)
		return refuse(parser, -EINVAL, parser->at, "No filter found");
	if (!take_or(parser, &all))
		return false;
	if (*parser->at == ')')
		return refuse(parser, -EINVAL, parser->at, "Too few '('");
	if (*parser->at)
		return refuse(parser, -EINVAL, parser->at, "Too many terms in predicate expression");
	set_exits(parser, all.exits[1], FILTER_TRUE);
	set_exits(parser, all.exits[0], FILTER_FALSE);
	return true;
}

static int new_of(struct parser *parser, const struct context *context, struct filter **ret)
{
	parser->at = parser->text;
	parser->filter = calloc(1, sizeof(*parser->filter));
	if (!parser->filter)
		return fail_memory(parser->fail);
	parser->filter->context = context;
	if (!take_all(parser)) {
		filter_free(parser->filter);
		return parser->err;
	}
	*ret = parser->filter;
	return 0;
}

int filter_check(const char *text, struct fail *fail)
{
	struct parser parser = { .text = text, .fail = fail };
	struct filter *filter = NULL;
	int r = new_of(&parser, NULL, &filter);

	filter_free(filter);
	return r == -ENOENT ? 0 : r;
}

int filter_new(const char *text, const struct format *format, const struct context *context, struct near *near,
	       struct filter **ret, struct fail *fail)
{
	struct parser parser = { .text = text, .format = format, .near = near, .fail = fail };

	return new_of(&parser, context, ret);
}
