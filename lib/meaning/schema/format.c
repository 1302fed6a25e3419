// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/schema/format.h"

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/schema/arena_internal.h"
#include "lib/meaning/schema/format_internal.h"
#include "lib/meaning/schema/token_internal.h"
#include "lib/meaning/schema/type_internal.h"

struct text {
	const char *at, *end;
};

static bool text_starts(const struct text *text, const char *with)
{
	size_t len = strlen(with);

	return (size_t)(text->end - text->at) >= len && !memcmp(text->at, with, len);
}

static void skip_blanks(struct text *text)
{
	while (text->at < text->end && text_is_blank(*text->at))
		text->at++;
}

/* Takes the next line without its newline; false at the end. */
static bool take_line(struct text *from, struct text *ret)
{
	const char *end;

	if (from->at >= from->end)
		return false;
	end = memchr(from->at, '\n', (size_t)(from->end - from->at));
	*ret = (struct text){ .at = from->at, .end = end ? end : from->end };
	from->at = end ? end + 1 : from->end;
	return true;
}

static bool take_number(struct text *text, uint32_t max, uint32_t *ret)
{
	uint32_t value = 0;

	skip_blanks(text);
	if (text->at == text->end || *text->at < '0' || *text->at > '9')
		return false;
	for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
		value = value * 10 + (uint32_t)(*text->at - '0');
		if (value > max)
			return false;
	}
	*ret = value;
	return true;
}

/* Takes "KEY:NUMBER;" and the blanks before it. */
static bool take_key(struct text *text, const char *key, uint32_t max, uint32_t *ret)
{
	skip_blanks(text);
	if (!text_starts(text, key))
		return false;
	text->at += strlen(key);
	if (!take_number(text, max, ret))
		return false;
	if (text->at < text->end && *text->at == ';')
		text->at++;
	return true;
}

bool format_scan(const char *text, size_t len, const char **ret_name, size_t *ret_name_len, int32_t *ret_id)
{
	struct text all = { .at = text, .end = text + len }, line;
	bool has_name = false, has_id = false;
	uint32_t id;

	for (int lines = 0; lines < 8 && !(has_name && has_id) && take_line(&all, &line); lines++) {
		if (text_starts(&line, "name:")) {
			line.at += strlen("name:");
			skip_blanks(&line);
			while (line.end > line.at && (line.end[-1] == ' ' || line.end[-1] == '\r'))
				line.end--;
			*ret_name = line.at;
			*ret_name_len = (size_t)(line.end - line.at);
			has_name = line.at < line.end;
		} else if (text_starts(&line, "ID:")) {
			line.at += strlen("ID:");
			has_id = take_number(&line, INT32_MAX / 16, &id);
			*ret_id = has_id ? (int32_t)id : 0;
		}
	}
	return has_name && has_id;
}

static bool has_word(const struct text *text, const char *word)
{
	return memmem(text->at, (size_t)(text->end - text->at), word, strlen(word));
}

/* Splits "char comm[16]" into its name and "char[16]". False when there is no name. */
static bool split_declaration(struct arena *arena, struct text declaration, struct field *field)
{
	struct text type = declaration, name, brackets;
	size_t type_len, brackets_len;
	char *text;

	while (type.end > type.at && type.end[-1] == ' ')
		type.end--;
	brackets = (struct text){ .at = type.end, .end = type.end };
	if (type.end > type.at && type.end[-1] == ']') {
		while (brackets.at > type.at && *brackets.at != '[')
			brackets.at--;
	}
	name = (struct text){ .at = brackets.at, .end = brackets.at };
	while (name.end > type.at && name.end[-1] == ' ')
		name.end--;
	for (name.at = name.end; name.at > type.at && text_is_name_char(name.at[-1]);)
		name.at--;
	if (name.at == name.end)
		return false;
	type.end = name.at;
	while (type.end > type.at && type.end[-1] == ' ')
		type.end--;
	field->name = arena_text(arena, name.at, (size_t)(name.end - name.at));
	type_len = (size_t)(type.end - type.at);
	brackets_len = (size_t)(brackets.end - brackets.at);
	field->type = text = arena_alloc(arena, type_len + brackets_len + 1);
	if (!text || !field->name)
		return false;
	memcpy(text, type.at, type_len);
	memcpy(text + type_len, brackets.at, brackets_len);
	return true;
}

/* The size of one element, from the count between the brackets, or else from the name of the type. */
static uint32_t element_size(const struct field *field, uint8_t long_size)
{
	const char *bracket = strrchr(field->type, '[');
	struct text type = { .at = field->type, .end = field->type + strlen(field->type) };
	struct tokens tokens;
	struct ctype ctype;
	uint32_t count;

	if (bracket && !(field->flags & FIELD_DYNAMIC)) {
		struct text number = { .at = bracket + 1, .end = type.end };

		if (take_number(&number, FORMAT_SIZE_MAX, &count) && count && field->size % count == 0)
			return field->size / count;
	}
	tokens_init(&tokens, type.at, (size_t)(type.end - type.at));
	if (token_named(&tokens.now, "__data_loc") || token_named(&tokens.now, "__rel_loc"))
		tokens_next(&tokens);
	if (ctype_take(&tokens, long_size, false, &ctype) && (ctype.stars || ctype.size))
		return ctype.stars ? long_size : ctype.size;
	return field->flags & FIELD_STRING ? 1 : field->size;
}

static void set_flags(struct field *field, bool is_signed, uint8_t long_size)
{
	struct text type = { .at = field->type, .end = field->type + strlen(field->type) };
	/* In a synthetic event the place of a dynamic array is the first half of a u64 (union trace_synth_field). */
	bool has_place = field->size == 4 || field->size == 8;

	field->flags = is_signed ? FIELD_SIGNED : 0;
	if (has_word(&type, "__data_loc") && has_place)
		field->flags |= FIELD_DYNAMIC;
	if (has_word(&type, "__rel_loc") && has_place)
		field->flags |= FIELD_DYNAMIC | FIELD_RELATIVE;
	if (has_word(&type, "*"))
		field->flags |= FIELD_POINTER;
	if (has_word(&type, "[") && !(field->flags & FIELD_DYNAMIC))
		field->flags |= FIELD_ARRAY;
	if (has_word(&type, "[") && has_word(&type, "char") && !(field->flags & FIELD_POINTER))
		field->flags |= FIELD_STRING;
	if (field->size == long_size && (!strcmp(field->type, "long") || !strcmp(field->type, "unsigned long")))
		field->flags |= FIELD_LONG;
	field->elem_size = field->flags & (FIELD_ARRAY | FIELD_DYNAMIC) ? element_size(field, long_size) : field->size;
}

/* Parses "\tfield:TYPE NAME;\toffset:N;\tsize:N;\tsigned:N;". Returns why it cannot, or NULL. */
static const char *parse_field(struct arena *arena, uint8_t long_size, struct text line, struct field *field)
{
	const char *semicolon;
	struct text declaration;
	uint32_t is_signed = 0;

	line.at += strlen("field:");
	semicolon = memchr(line.at, ';', (size_t)(line.end - line.at));
	if (!semicolon)
		return "a field's declaration has no end";
	declaration = (struct text){ .at = line.at, .end = semicolon };
	skip_blanks(&declaration);
	line.at = semicolon + 1;
	if (!take_key(&line, "offset:", FORMAT_SIZE_MAX, &field->offset) ||
	    !take_key(&line, "size:", FORMAT_SIZE_MAX, &field->size) || field->size > FORMAT_SIZE_MAX - field->offset)
		return "a field's offset or size is missing or absurd";
	/* The formats of kernels before 2.6.32 lack the sign. */
	if (!take_key(&line, "signed:", 1, &is_signed))
		is_signed = 0;
	if (!split_declaration(arena, declaration, field))
		return "a field has no name";
	set_flags(field, is_signed, long_size);
	return NULL;
}

static const char *parse_lines(struct arena *arena, uint8_t long_size, struct text all, struct format *format,
			       struct field *fields, uint32_t max)
{
	struct text line;
	const char *why;

	format->print_fmt = "";
	for (const char *start = all.at; take_line(&all, &line); start = all.at) {
		if (text_starts(&line, "print fmt:")) {
			/* A print fmt with a newline in its text continues on the next lines: it comes last. */
			start += strlen("print fmt:");
			while (start < all.end && *start == ' ')
				start++;
			while (all.end > start && (all.end[-1] == '\n' || all.end[-1] == ' ' || !all.end[-1]))
				all.end--;
			format->print_fmt = arena_text(arena, start, (size_t)(all.end - start));
			return format->print_fmt ? NULL : "it is too large";
		}
		skip_blanks(&line);
		if (!text_starts(&line, "field:"))
			continue;
		if (format->nr_fields == max)
			return "it has too many fields";
		why = parse_field(arena, long_size, line, &fields[format->nr_fields]);
		if (why)
			return why;
		if (format->nr_common == format->nr_fields && !strncmp(fields[format->nr_fields].name, "common_", 7))
			format->nr_common++;
		if (fields[format->nr_fields].offset + fields[format->nr_fields].size > format->size)
			format->size = fields[format->nr_fields].offset + fields[format->nr_fields].size;
		format->nr_fields++;
	}
	return NULL;
}

static uint32_t count_fields(struct text all)
{
	struct text line;
	uint32_t count = 0;

	while (count < FORMAT_FIELDS_MAX && take_line(&all, &line)) {
		skip_blanks(&line);
		count += text_starts(&line, "field:");
	}
	return count;
}

const struct format *format_parse(struct arena *arena, uint8_t long_size, const char *system, const char *text,
				  size_t len, const char **ret_why)
{
	struct text all = { .at = text, .end = text + len };
	struct format *format = arena_alloc(arena, sizeof(*format));
	uint32_t max = count_fields(all);
	struct field *fields = arena_array(arena, max ? max : 1, sizeof(*fields));
	const char *name;
	size_t name_len;

	*ret_why = "it is too large";
	if (!format || !fields || len > FORMAT_TEXT_MAX)
		return NULL;
	*ret_why = "it has no name or ID";
	if (!format_scan(text, len, &name, &name_len, &format->id))
		return NULL;
	*ret_why = parse_lines(arena, long_size, all, format, fields, max);
	if (*ret_why)
		return NULL;
	format->system = system;
	format->name = arena_text(arena, name, name_len);
	format->fields = fields;
	*ret_why = format->name ? NULL : "it is too large";
	return format->name ? format : NULL;
}

const struct field *format_field(const struct format *format, const char *name)
{
	for (uint32_t i = 0; i < format->nr_fields; i++)
		if (!strcmp(format->fields[i].name, name))
			return &format->fields[i];
	return NULL;
}

uint64_t field_int(const struct field *field, const struct schema_abi *abi, const uint8_t *data, size_t len)
{
	bool is_signed = field->flags & FIELD_SIGNED;
	uint64_t value;

	if (field->size > len || field->offset > len - field->size)
		return 0;
	data += field->offset;
	switch (field->size) {
	case 1:
		value = *data;
		break;
	case 2:
		value = load_u16(data, abi->swap);
		break;
	case 4:
		value = load_u32(data, abi->swap);
		break;
	case 8:
		return load_u64(data, abi->swap);
	default:
		return 0;
	}
	return ctype_fit(value, (uint8_t)field->size, is_signed);
}

bool field_bytes(const struct field *field, const struct schema_abi *abi, const uint8_t *data, size_t len,
		 const uint8_t **ret, size_t *ret_len)
{
	size_t offset = field->offset, size = field->size;

	if (offset > len || size > len - offset)
		return false;
	if (field->flags & FIELD_DYNAMIC) {
		uint32_t where = load_u32(data + offset, abi->swap);

		offset = (where & 0xffff) + (field->flags & FIELD_RELATIVE ? offset + sizeof(where) : 0);
		size = where >> 16;
	} else if (!size && field->flags & FIELD_ARRAY) {
		/* A flexible array extends to the end of the record. */
		size = len - offset;
	}
	if (offset > len)
		return false;
	if (size > len - offset)
		return false;
	*ret = data + offset;
	*ret_len = size;
	return true;
}
