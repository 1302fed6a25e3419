// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/syscall_internal.h"

#include <ctype.h>
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/files/import/kinds_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/bytes.h"
#include "lib/meaning/uapi/names.h"

enum { ARGUMENTS = 6, WORD = 80, TEXT_MAX = 12000 };

struct call {
	char name[WORD];
	bool is_exit;
	size_t nr;
	char names[ARGUMENTS][WORD];
	uint64_t values[ARGUMENTS];
};

static size_t word(const char *at, const char *end, char into[WORD])
{
	size_t len = 0;

	while (at + len < end && len < WORD - 1 && (isalnum((unsigned char)at[len]) || at[len] == '_'))
		len++;
	memcpy(into, at, len);
	into[len] = '\0';
	return len;
}

/* Reads hex digits as %lx prints them. Returns how many there are. */
static size_t hex(const char *at, const char *end, uint64_t *ret)
{
	size_t len = 0;

	for (*ret = 0;
	     at + len < end && len < 16 && isxdigit((unsigned char)at[len]) && !isupper((unsigned char)at[len]); len++)
		*ret = *ret << 4 | (uint64_t)(at[len] <= '9' ? at[len] - '0' : at[len] - 'a' + 10);
	return len > 1 && *at == '0' ? 0 : len;
}

static bool take_arguments(struct call *call, const char *at, const char *end)
{
	while (at < end && *at != ')') {
		size_t len;

		if (call->nr == ARGUMENTS || (call->nr && (end - at < 2 || memcmp(at, ", ", 2))))
			return false;
		at += call->nr ? 2 : 0;
		len = word(at, end, call->names[call->nr]);
		at += len;
		if (!len || end - at < 3 || memcmp(at, ": ", 2))
			return false;
		at += 2;
		len = hex(at, end, &call->values[call->nr]);
		if (!len)
			return false;
		at += len;
		call->nr++;
	}
	return at + 1 == end;
}

static bool parse(const char *text, size_t len, struct call *call)
{
	const char *at = text + 4, *end = text + len;
	size_t name;

	if (len < 6 || memcmp(text, "sys_", 4))
		return false;
	name = word(at, end, call->name);
	at += name;
	if (!name || at >= end)
		return false;
	if (*at == '(')
		return take_arguments(call, at + 1, end);
	if (end - at < 7 || memcmp(at, " -> 0x", 6))
		return false;
	call->is_exit = true;
	call->nr = 1;
	name = hex(at + 6, end, &call->values[0]);
	return name && at + 6 + name == end;
}

static uint16_t id_of(struct import_kinds *kinds, const struct call *call)
{
	cleanup_buf struct buf fields = BUF_INIT, print = BUF_INIT, args = BUF_INIT;
	char name[WORD + 16];

	snprintf(name, sizeof(name), "sys_%s_%s", call->is_exit ? "exit" : "enter", call->name);
	if (call->is_exit)
		return import_kinds_make(kinds, "syscalls", name, "int __syscall_nr;long ret", "\"0x%lx\", REC->ret");
	if (!buf_add_str(&fields, "int __syscall_nr") || !buf_add_str(&print, "\""))
		return 0;
	for (size_t i = 0; i < call->nr; i++)
		if (!buf_addf(&fields, ";u64 %s", call->names[i]) ||
		    !buf_addf(&print, "%s%s: 0x%%08lx", i ? ", " : "", call->names[i]) ||
		    !buf_addf(&args, ", ((unsigned long)(REC->%s))", call->names[i]))
			return 0;
	if (!buf_addf(&print, "\"%s", buf_str(&args)))
		return 0;
	return import_kinds_make(kinds, "syscalls", name, buf_str(&fields), buf_str(&print));
}

/*
 * An entry whose arguments are printed in another form, "dfd: 0xb" or "filename: 0x16833fc0 \"/\"" since 6.18, keeps
 * its text: analyses need only which call it is.
 */
static bool take_as_text(struct import_kinds *kinds, const char *text, size_t len, struct buf *record)
{
	char word_of[WORD], name[WORD + 16];
	size_t at = len > 6 && len <= TEXT_MAX && !memcmp(text, "sys_", 4) ? word(text + 4, text + len, word_of) : 0;
	int32_t nr = at && text[4 + at] == '(' && text[len - 1] == ')' ? system_call_number("x86_64", word_of) : -1;
	uint32_t common = import_kinds_common(kinds), facts[2];
	uint16_t id;

	if (nr < 0)
		return false;
	snprintf(name, sizeof(name), "sys_enter_%s", word_of);
	id = htole16(import_kinds_make(kinds, "syscalls", name, "int __syscall_nr;__data_loc char[] text",
				       "\"%s\", __get_str(text)"));
	buf_clear(record);
	if (!id || !buf_add(record, (const char[16]){ 0 }, common))
		return false;
	memcpy(record->data, &id, sizeof(id));
	facts[0] = htole32((uint32_t)nr);
	facts[1] = htole32((common + 8) | (uint32_t)(len + 1) << 16);
	return buf_add(record, facts, 8) && buf_add(record, text, len) && buf_add(record, "", 1);
}

bool import_syscall(struct import_kinds *kinds, const char *text, size_t len, struct buf *record)
{
	struct call call = { .nr = 0 };
	char head[16] = { 0 };
	uint16_t id;
	uint32_t nr;

	if (!parse(text, len, &call))
		return take_as_text(kinds, text, len, record);
	id = htole16(id_of(kinds, &call));
	nr = htole32((uint32_t)system_call_number("x86_64", call.name));
	memcpy(head, &id, sizeof(id));
	memcpy(head + import_kinds_common(kinds), &nr, sizeof(nr));
	buf_clear(record);
	if (!id || !buf_add(record, head, sizeof(head)))
		return false;
	for (size_t i = 0; i < call.nr; i++) {
		uint64_t value = htole64(call.values[i]);

		if (!buf_add(record, &value, sizeof(value)))
			return false;
	}
	return true;
}
