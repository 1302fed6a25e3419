// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_syscalls.c: print_syscall_enter(), print_syscall_exit(). */
#include "formats/kernel/syscall_internal.h"

#include "formats/kernel/ftrace.h"
#include "formats/kernel/renderers_internal.h"
#include "lib/base/digits.h"
#include "lib/base/out.h"

#include <string.h>

enum { ARGS_MAX = 6 };

/* The pieces of text of one system call, put together once. */
struct call {
	struct piece {
		struct place place; /* after the text; size 0 for none */
		uint32_t len;
		char text[128]; /* a multiple of STEP */
	} pieces[ARGS_MAX + 1];
	unsigned nr_pieces;
	uint32_t size; /* of a record that has all places */
	uint32_t room; /* for the whole text, and for the bytes that a copy writes beyond it */
	bool prefix;   /* as 6.18 and later print it: 0x in front, from PREFIX_FROM on */
};

enum { PREFIX_FROM = 10 };

/* Texts are copied in steps of a constant size, beyond their ends. */
enum { STEP = 32 };

static void piece_add(struct piece *piece, const char *text)
{
	size_t len = strlen(text);

	if (len > sizeof(piece->text) - piece->len)
		len = sizeof(piece->text) - piece->len;
	memcpy(piece->text + piece->len, text, len);
	piece->len += (uint32_t)len;
}

/* The kernel prints registers as unsigned numbers. */
static struct place register_of(const struct field *field, const struct schema_abi *abi)
{
	struct place place = place_of(field, abi);

	place.is_signed = false;
	return place;
}

static bool is_word(const struct field *field)
{
	return !(field->flags & (FIELD_ARRAY | FIELD_DYNAMIC)) && (field->size == 4 || field->size == 8);
}

static void call_settle(struct call *call)
{
	call->room = 2 * STEP;
	for (unsigned i = 0; i < call->nr_pieces; i++) {
		const struct piece *piece = &call->pieces[i];
		uint32_t end = piece->place.offset + piece->place.size;

		call->room += piece->len + 2 + DIGITS_MAX;
		if (piece->place.size && end > call->size)
			call->size = end;
	}
}

/* "sys_NAME(" ARG ": " VALUE ", " ARG ": " VALUE ")". The first field after the common ones is the number. */
static bool enter_bind(struct ftrace *ftrace, struct binding *binding)
{
	const struct format *format = binding->format;
	uint32_t first = format->nr_common + 1, count = format->nr_fields < first ? 0 : format->nr_fields - first;
	struct call *call;

	if (format->nr_fields < first || count > ARGS_MAX)
		return false;
	call = calloc(1, sizeof(*call));
	if (!call) {
		context_lacks_memory(ftrace->context);
		return false;
	}
	binding->data = call;
	piece_add(&call->pieces[0], "sys_");
	piece_add(&call->pieces[0], format->name + strlen("sys_enter_"));
	piece_add(&call->pieces[0], "(");
	for (uint32_t i = 0; i < count; i++) {
		const struct field *field = &format->fields[first + i];
		struct piece *piece = &call->pieces[i];

		if (!is_word(field))
			return false;
		if (ftrace_option(ftrace, OPTION_VERBOSE)) {
			piece_add(piece, field->type);
			piece_add(piece, " ");
		}
		piece_add(piece, field->name);
		piece_add(piece, ": ");
		piece->place = register_of(field, &ftrace->context->abi);
		if (i + 1 < count)
			piece_add(&call->pieces[i + 1], ", ");
	}
	piece_add(&call->pieces[count], ")\n");
	call->nr_pieces = count + 1;
	call->prefix = ftrace->context->release_major && context_since(ftrace->context, 6, 18);
	call_settle(call);
	return true;
}

/* Formats a record that was cut, or one in the other byte order. */
static void enter_format_slowly(const struct call *call, const struct event *event, struct out *out)
{
	for (unsigned i = 0; i < call->nr_pieces; i++) {
		const struct piece *piece = &call->pieces[i];
		uint64_t value = place_u64(&piece->place, event);

		out_mem(out, piece->text, piece->len);
		if (piece->place.size && call->prefix && value >= PREFIX_FROM)
			out_mem(out, "0x", 2);
		if (piece->place.size)
			out_hex(out, value);
	}
}

static inline char *put_steps(char *at, const char *text, uint32_t len)
{
	memcpy(at, text, STEP);
	for (uint32_t done = STEP; __builtin_expect(done < len, 0); done += STEP)
		memcpy(at + done, text + done, STEP);
	return at + len;
}

static void enter_format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			 struct out *out)
{
	const struct call *call = binding->data;
	const struct piece *piece = call->pieces, *last = piece + call->nr_pieces - 1;
	char *at;

	if (__builtin_expect(event->len < call->size || ftrace->context->abi.swap, 0)) {
		enter_format_slowly(call, event, out);
		return;
	}
	out_need(out, call->room);
	at = out->at;
	for (; piece < last; piece++) {
		const uint8_t *from = event->data + piece->place.offset;
		uint64_t value = piece->place.size == 8 ? load_u64(from, false) : load_u32(from, false);

		at = put_steps(at, piece->text, piece->len);
		if (call->prefix && value >= PREFIX_FROM) {
			memcpy(at, "0x", 2);
			at += 2;
		}
		at = digits_put_hex(at, value);
	}
	/* Only the last piece has nothing after its text. */
	out->at = put_steps(at, piece->text, piece->len);
}

static bool exit_bind(struct ftrace *ftrace, struct binding *binding)
{
	const struct field *ret = format_field(binding->format, "ret");
	struct call *call;

	if (!ret || !is_word(ret))
		return false;
	call = calloc(1, sizeof(*call));
	if (!call) {
		context_lacks_memory(ftrace->context);
		return false;
	}
	binding->data = call;
	piece_add(&call->pieces[0], "sys_");
	piece_add(&call->pieces[0], binding->format->name + strlen("sys_exit_"));
	piece_add(&call->pieces[0], " -> 0x");
	call->pieces[0].place = register_of(ret, &ftrace->context->abi);
	piece_add(&call->pieces[1], "\n");
	call->nr_pieces = 2;
	call_settle(call);
	return true;
}

static const struct renderer enter_renderer = { .plain = true, .bind = enter_bind, .format = enter_format };
static const struct renderer exit_renderer = { .plain = true, .bind = exit_bind, .format = enter_format };

const struct renderer *syscall_renderer(const struct format *format)
{
	if (strcmp(format->system, "syscalls"))
		return NULL;
	/* An import keeps the text of arguments that it cannot read. */
	if (format_field(format, "text"))
		return &text_line_renderer;
	if (!strncmp(format->name, "sys_enter_", strlen("sys_enter_")))
		return format->nr_fields && format->fields[format->nr_fields - 1].flags & FIELD_DYNAMIC ?
			       &syscall_user_renderer :
			       &enter_renderer;
	if (!strncmp(format->name, "sys_exit_", strlen("sys_exit_")))
		return &exit_renderer;
	return NULL;
}
