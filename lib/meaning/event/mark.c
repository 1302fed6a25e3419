// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/mark.h"

#include <string.h>

#include "lib/ground/base/out.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/schema/program.h"

/* The grammar. */

enum { TGID_DIGITS = 9, NUMBER_DIGITS = 18 };

struct rest {
	const char *at, *end; /* at > end: nothing is left, not even an empty part */
};

static bool next_part(struct rest *rest, const char **ret, size_t *ret_len)
{
	const char *bar;

	if (rest->at > rest->end)
		return false;
	bar = memchr(rest->at, '|', (size_t)(rest->end - rest->at));
	if (!bar)
		bar = rest->end;
	*ret = rest->at;
	*ret_len = (size_t)(bar - rest->at);
	rest->at = bar + 1;
	return true;
}

static bool number_of_part(const char *text, size_t len, unsigned digits_max, bool is_signed, int64_t *ret)
{
	bool minus = is_signed && len && *text == '-';
	int64_t value = 0;

	text += minus;
	len -= minus;
	if (!len || len > digits_max)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (text[i] - '0');
	}
	*ret = minus ? -value : value;
	return true;
}

static bool next_number(struct rest *rest, int64_t *ret)
{
	const char *text;
	size_t len;

	return next_part(rest, &text, &len) && number_of_part(text, len, NUMBER_DIGITS, true, ret);
}

static bool next_text(struct rest *rest, const char **ret, size_t *ret_len)
{
	return next_part(rest, ret, ret_len) && *ret_len;
}

/* NAME|NUMBER, or "NAME NUMBER" as OpenHarmony writes it. */
static bool name_and_number(struct rest *rest, struct mark *ret)
{
	const char *blank;

	if (!next_text(rest, &ret->name, &ret->name_len))
		return false;
	if (rest->at <= rest->end)
		return next_number(rest, &ret->number);
	blank = memrchr(ret->name, ' ', ret->name_len);
	if (!blank || blank == ret->name ||
	    !number_of_part(blank + 1, (size_t)(ret->name + ret->name_len - blank - 1), NUMBER_DIGITS, true,
			    &ret->number))
		return false;
	ret->name_len = (size_t)(blank - ret->name);
	ret->as_atrace = false;
	return true;
}

static bool parse_rest(char letter, struct rest *rest, struct mark *ret)
{
	switch (letter) {
	case 'B':
	case 'I':
		/* The name is what is left, and may have bars in it. */
		ret->name = rest->at;
		ret->name_len = rest->at <= rest->end ? (size_t)(rest->end - rest->at) : 0;
		ret->kind = letter == 'B' ? MARK_BEGIN : MARK_INSTANT;
		return rest->at <= rest->end && (letter == 'B' || ret->name_len);
	case 'N':
		ret->kind = MARK_INSTANT;
		return next_text(rest, &ret->track, &ret->track_len) && next_text(rest, &ret->name, &ret->name_len) &&
		       rest->at > rest->end;
	case 'C':
		/* A category may follow. */
		ret->kind = MARK_COUNTER;
		return name_and_number(rest, ret);
	case 'S':
	case 'F':
		ret->kind = letter == 'S' ? MARK_ASYNC_BEGIN : MARK_ASYNC_END;
		return name_and_number(rest, ret) && rest->at > rest->end;
	case 'G':
	case 'T':
		ret->kind = MARK_ASYNC_BEGIN;
		return next_text(rest, &ret->track, &ret->track_len) && next_text(rest, &ret->name, &ret->name_len) &&
		       next_number(rest, &ret->number) && rest->at > rest->end;
	case 'H':
	case 'U':
		ret->kind = MARK_ASYNC_END;
		return next_text(rest, &ret->track, &ret->track_len) && next_text(rest, &ret->name, &ret->name_len) &&
		       (rest->at <= rest->end ?
				next_number(rest, &ret->number) && rest->at > rest->end :
				number_of_part(ret->name, ret->name_len, NUMBER_DIGITS, true, &ret->number));
	default:
		return false;
	}
}

bool mark_parse(struct mark *ret, const char *text, size_t len)
{
	struct rest rest;
	int64_t tgid = 0;
	const char *part;
	size_t part_len;

	while (len && text[len - 1] == '\n')
		len--;
	*ret = (struct mark){ .kind = MARK_NONE };
	if (!len || !strchr("BESFCINGHTU", *text) || (len > 1 && text[1] != '|') || (len == 1 && *text != 'E'))
		return false;
	rest = (struct rest){ text + (len > 1 ? 2 : 1), text + len };
	/* "E" and "E|" are of kernels and programs that do not say the process. */
	if (len > 2 &&
	    (!next_part(&rest, &part, &part_len) || !number_of_part(part, part_len, TGID_DIGITS, false, &tgid)))
		return false;
	ret->tgid = (int32_t)tgid;
	ret->as_atrace = *text != 'T' && *text != 'U';
	if (*text == 'E') {
		ret->kind = MARK_END;
		return true;
	}
	if (len > 2 && parse_rest(*text, &rest, ret))
		return true;
	*ret = (struct mark){ .kind = MARK_NONE };
	return false;
}

void mark_put(const struct mark *mark, struct out *out)
{
	static const char letters[] = { [MARK_BEGIN] = 'B',     [MARK_END] = 'E',     [MARK_ASYNC_BEGIN] = 'S',
					[MARK_ASYNC_END] = 'F', [MARK_COUNTER] = 'C', [MARK_INSTANT] = 'I' };
	static const char on_track[] = { [MARK_ASYNC_BEGIN] = 'G', [MARK_ASYNC_END] = 'H', [MARK_INSTANT] = 'N' };
	bool numbered = mark->kind == MARK_ASYNC_BEGIN || mark->kind == MARK_ASYNC_END || mark->kind == MARK_COUNTER;

	if (mark->kind == MARK_NONE)
		return;
	out_char(out, mark->track ? on_track[mark->kind] : letters[mark->kind]);
	out_char(out, '|');
	out_s64(out, mark->tgid);
	if (mark->kind == MARK_END)
		return;
	if (mark->track) {
		out_char(out, '|');
		out_mem(out, mark->track, mark->track_len);
	}
	if (!mark->track || mark->kind != MARK_ASYNC_END) {
		out_char(out, '|');
		out_mem(out, mark->name, mark->name_len);
	}
	if (numbered) {
		out_char(out, '|');
		out_s64(out, mark->number);
	}
}

/* Where the texts are. */

static bool find_print(struct mark_source *source, const struct event_type *type)
{
	const char *name = type->format->name;

	source->of = !strcmp(name, "print")     ? MARK_SOURCE_PRINT :
		     !strcmp(name, "bputs")     ? MARK_SOURCE_PUTS :
		     !strcmp(name, "bprint")    ? MARK_SOURCE_PRINTF :
		     !strcmp(name, "text_line") ? MARK_SOURCE_LINE :
						  MARK_SOURCE_NONE;
	switch (source->of) {
	case MARK_SOURCE_PRINT:
		return place_find(&source->text, type, "buf");
	case MARK_SOURCE_PUTS:
		return place_find(&source->text, type, "str");
	case MARK_SOURCE_PRINTF:
		return place_find(&source->text, type, "fmt") && place_find(&source->args, type, "buf");
	case MARK_SOURCE_LINE:
		return place_find(&source->text, type, "text");
	case MARK_SOURCE_PROGRAM:
	case MARK_SOURCE_NONE:
		break;
	}
	return false;
}

/* "%s|%d|%s", "%c|%d|%s", "B|%d|%s": the letter is a field, or one that begins marks. */
static bool begins_as_mark(const char *print_fmt)
{
	const char *at = strchr(print_fmt, '"');

	if (!at)
		return false;
	at++;
	return (!strncmp(at, "%s|", 3) || !strncmp(at, "%c|", 3)) ? at[3] == '%' :
								    *at && strchr("BESFCINGHTU", *at) && at[1] == '|';
}

bool mark_source_find(struct mark_source *ret, const struct event_type *type)
{
	const struct format *format = type->format;

	*ret = (struct mark_source){ .of = MARK_SOURCE_NONE, .type = type };
	if (!format)
		return false;
	if (!strcmp(format->system, "ftrace")) {
		if (!find_print(ret, type))
			ret->of = MARK_SOURCE_NONE;
	} else if (type->program && (!strcmp(format->system, "text") || begins_as_mark(format->print_fmt))) {
		ret->of = MARK_SOURCE_PROGRAM;
	}
	return ret->of != MARK_SOURCE_NONE;
}

/* trace_output.c: these arrays have no length of their own, and fill the record; a NUL may end a text before. */
static const char *rest_of(const struct place *place, const struct event *event, size_t *ret_len)
{
	uint32_t at = place->offset < event->len ? place->offset : event->len;

	*ret_len = event->len - at;
	return (const char *)event->data + at;
}

/*
 * An imported line whose function has another name than the kernel gives it: the compiler appended to it what tells
 * copies apart, "tracing_mark_write.llvm.8232844412049014381: B|990|draw".
 */
static void text_of_line(const struct mark_source *source, const struct event *event, const char **ret, size_t *ret_len)
{
	static const char name[] = "tracing_mark_write.";
	const char *text, *colon;
	size_t len;

	if (!place_string(&source->text, event, &text, &len) || len < sizeof(name) ||
	    memcmp(text, name, sizeof(name) - 1))
		return;
	colon = memmem(text, len, ": ", 2);
	if (!colon)
		return;
	*ret = colon + 2;
	*ret_len = len - (size_t)(colon + 2 - text);
}

void mark_source_text(const struct mark_source *source, const struct event *event, struct out *scratch,
		      const char **ret, size_t *ret_len)
{
	const struct context *context = source->type->context;
	const char *text = NULL;

	*ret = "";
	*ret_len = 0;
	if (source->of == MARK_SOURCE_PUTS || source->of == MARK_SOURCE_PRINTF)
		text = symbols_string(context->symbols, place_u64(&source->text, event));
	switch (source->of) {
	case MARK_SOURCE_PRINT:
		*ret = rest_of(&source->text, event, ret_len);
		*ret_len = strnlen(*ret, *ret_len);
		break;
	case MARK_SOURCE_PUTS:
		*ret = text ? text : "";
		*ret_len = strlen(*ret);
		break;
	case MARK_SOURCE_PRINTF:
		if (text) {
			const char *args = rest_of(&source->args, event, ret_len);

			program_bprintf(context->schema, &context->env, text, (const uint8_t *)args, *ret_len, scratch);
		}
		*ret = scratch->start;
		*ret_len = out_len(scratch);
		break;
	case MARK_SOURCE_LINE:
		text_of_line(source, event, ret, ret_len);
		break;
	case MARK_SOURCE_PROGRAM:
		program_run(source->type->program, &context->env, event->data, event->len, scratch);
		*ret = scratch->start;
		*ret_len = out_len(scratch);
		break;
	case MARK_SOURCE_NONE:
		break;
	}
	while (*ret_len && (*ret)[*ret_len - 1] == '\n')
		--*ret_len;
}

bool mark_source_read(const struct mark_source *source, const struct event *event, struct out *scratch,
		      struct mark *ret)
{
	const char *text;
	size_t len;

	out_clear(scratch);
	mark_source_text(source, event, scratch, &text, &len);
	return mark_parse(ret, text, len);
}
