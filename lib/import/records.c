// SPDX-License-Identifier: GPL-2.0-only
#include "lib/import/records.h"

#include "lib/base/buf.h"
#include "lib/base/bytes.h"
#include "lib/import/graph.h"
#include "lib/import/head.h"
#include "lib/import/kinds.h"
#include "lib/import/names.h"

#include <endian.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { USER_ADDRESSES = 8, TEXT_MAX = 1000, RECORD_ROOM = 256, SYMBOL_MAX = 256, LINE_MAX_LEN = 3900 };

/* Begins a record with zeros for the common fields, with the type, and with zeros that align a field of 8 bytes. */
static bool begin(const struct records *make, uint16_t id, size_t more)
{
	size_t len = (import_kinds_common(make->kinds) + more + 7) / 8 * 8;
	char common[16] = { 0 };

	id = htole16(id);
	memcpy(common, &id, sizeof(id));
	buf_clear(make->record);
	return id && buf_add(make->record, common, len);
}

static bool put_u64(const struct records *make, uint64_t value)
{
	value = htole64(value);
	return buf_add(make->record, &value, sizeof(value));
}

bool records_numbers(const struct records *make, const char *system, const char *name, const char *fields,
		     const uint64_t *values)
{
	uint16_t id = import_kinds_make(make->kinds, system, name, fields, "\"\"");
	size_t end = import_kinds_common(make->kinds);

	if (!begin(make, id, 0) || !buf_reserve(make->record, RECORD_ROOM))
		return false;
	for (; *fields; fields += strcspn(fields, ";"), fields += *fields == ';', values++) {
		size_t size = import_kinds_size(fields);
		uint64_t value = htole64(*values);

		end = (end + size - 1) / size * size;
		if (!size || end + size > RECORD_ROOM)
			return false;
		if (make->record->len < end + size) {
			memset(make->record->data + make->record->len, 0, end + size - make->record->len);
			make->record->len = end + size;
		}
		memcpy(make->record->data + end, &value, size);
		end += size;
	}
	return true;
}

/* Adds a text at the end of the record, and its place in the field at `at` (__data_loc). */
static bool put_text(const struct records *make, size_t at, const char *text, size_t len)
{
	uint32_t place;

	len = len < TEXT_MAX ? len : TEXT_MAX;
	place = htole32((uint32_t)make->record->len | (uint32_t)(len + 1) << 16);
	memcpy(make->record->data + at, &place, sizeof(place));
	return buf_add(make->record, text, len) && buf_add(make->record, "", 1);
}

/* Returns the length of "vfs_read+0x10/0x80 [mod] <ffff>" without offsets and addresses, as `into` has it. */
static size_t plain_symbol(const char *at, size_t len, char into[SYMBOL_MAX])
{
	const char *address = memmem(at, len, " <", 2), *offset;
	size_t name, behind;

	len = address ? (size_t)(address - at) : len;
	if (len >= SYMBOL_MAX)
		return 0;
	offset = memmem(at, len, "+0x", 3);
	name = offset ? (size_t)(offset - at) : len;
	behind = name;
	while (offset && behind < len && at[behind] != ' ')
		behind++;
	memcpy(into, at, name);
	memcpy(into + name, at + behind, len - behind);
	return name + len - behind;
}

/* Returns the address of a function by its text; 0 if it is none, or when memory runs out. */
static uint64_t address_of(const struct records *make, const char *at, size_t len)
{
	char name[SYMBOL_MAX];
	size_t plain = plain_symbol(at, len, name);

	return plain ? import_names_symbol(make->names, name, plain) : 0;
}

bool records_function(const struct records *make, const struct head *head)
{
	const char *end = head->body + head->body_len, *arrow = memmem(head->body, head->body_len, " <-", 3);
	const char *name_end = arrow ? arrow : end;
	const char *open = memchr(head->body, '(', (size_t)(name_end - head->body));
	bool args = open && open > head->body && name_end[-1] == ')';
	uint64_t ip, parent = 0;
	uint32_t none = 0;
	uint16_t id;
	size_t at;

	/* In a function graph, a line without a caller is a marker. */
	if (!head->body_len || (head->is_placed && !arrow) || (!args && memchr(head->body, ':', head->body_len)) ||
	    (open && !args))
		return false;
	ip = address_of(make, head->body, (size_t)((args ? open : name_end) - head->body));
	if (arrow)
		parent = address_of(make, arrow + 3, (size_t)(end - arrow - 3));
	if (!ip || (arrow && !parent))
		return false;
	id = import_kinds_make(make->kinds, "ftrace", "function",
			       args ? "unsigned long ip;unsigned long parent_ip;__data_loc char[] args_text" :
				      "unsigned long ip;unsigned long parent_ip",
			       "\" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip");
	if (!begin(make, id, 0) || !put_u64(make, ip) || !put_u64(make, parent))
		return false;
	at = make->record->len;
	return !args || (buf_add(make->record, &none, sizeof(none)) &&
			 put_text(make, at, open + 1, (size_t)(name_end - open - 2)));
}

bool records_line(const struct records *make, const char *text, size_t len)
{
	uint16_t id = import_kinds_make(make->kinds, "ftrace", "text_line", "__data_loc char[] text",
					"\"%s\", __get_str(text)");
	size_t at = import_kinds_common(make->kinds);
	uint32_t place = htole32((uint32_t)(at + sizeof(uint32_t)) | (uint32_t)(len + 1) << 16);

	if (len > LINE_MAX_LEN || !begin(make, id, 0) || !buf_reserve(make->record, sizeof(place)))
		return false;
	make->record->len = at;
	return buf_add(make->record, &place, sizeof(place)) && buf_add(make->record, text, len) &&
	       buf_add(make->record, "", 1);
}

bool records_mark(const struct records *make, const struct buf *mark)
{
	uint64_t ip = import_names_symbol(make->names, "tracing_mark_write", strlen("tracing_mark_write"));
	uint16_t id = import_kinds_make(make->kinds, "ftrace", "print", "unsigned long ip;char buf[]",
					"\"%ps: %s\", (void *)REC->ip, REC->buf");

	return ip && begin(make, id, 0) && put_u64(make, ip) && buf_add(make->record, mark->data, mark->len) &&
	       buf_add(make->record, "\n", 2);
}

bool records_stack(const struct records *make, const struct buf *addresses)
{
	uint32_t nr = htole32((uint32_t)(addresses->len / sizeof(uint64_t)));
	uint16_t id = import_kinds_make(make->kinds, "ftrace", "kernel_stack", "int size;unsigned long caller[]",
					"\"%ps\", (void *)REC->caller[0]");

	if (!begin(make, id, sizeof(nr)) || !buf_add(make->record, addresses->data, addresses->len))
		return false;
	memcpy(make->record->data + import_kinds_common(make->kinds), &nr, sizeof(nr));
	return true;
}

bool records_user_stack(const struct records *make, int32_t process, const struct buf *addresses)
{
	uint32_t tgid = htole32((uint32_t)process);
	uint16_t id =
		import_kinds_make(make->kinds, "ftrace", "user_stack", "unsigned int tgid;unsigned long caller[8]",
				  "\"%d %px\", REC->tgid, (void *)REC->caller[0]");
	size_t len =
		addresses->len < USER_ADDRESSES * sizeof(uint64_t) ? addresses->len : USER_ADDRESSES * sizeof(uint64_t);

	if (!begin(make, id, sizeof(tgid)) || !buf_add(make->record, addresses->data, len))
		return false;
	memcpy(make->record->data + import_kinds_common(make->kinds), &tgid, sizeof(tgid));
	for (; len < USER_ADDRESSES * sizeof(uint64_t); len += sizeof(uint64_t))
		if (!put_u64(make, 0))
			return false;
	return true;
}

bool records_user_caller(const char *line, size_t len, struct buf *addresses)
{
	char text[32] = "";
	uint64_t address;
	int end = 0;

	if (len >= sizeof(text))
		return false;
	memcpy(text, line, len);
	if (sscanf(text, " => <%16" SCNx64 ">%n", &address, &end) != 1 || (size_t)end != len)
		return false;
	address = htole64(address);
	return buf_add(addresses, &address, sizeof(address));
}

bool records_caller(const struct records *make, const char *line, size_t len, struct buf *addresses)
{
	/* In kernel/trace/trace_output.c, a caller that is a trampoline of ftrace is a number, not an address. */
	static const char trampoline[] = "[FTRACE TRAMPOLINE]";
	uint64_t address;

	if (len < 5 || memcmp(line, " => ", 4))
		return false;
	if (len - 4 == strlen(trampoline) && !memcmp(line + 4, trampoline, len - 4))
		address = INT_MAX;
	else
		address = address_of(make, line + 4, len - 4);
	address = htole64(address);
	return address && buf_add(addresses, &address, sizeof(address));
}

static bool put_entry(const struct records *make, const struct graph_call *call)
{
	static const char print[] = "\"--> %ps (%d)\", (void *)REC->func, REC->depth";
	uint32_t depth = htole32((uint32_t)call->depth), none = 0;
	bool texts = call->text_len || call->note_len;
	uint16_t id = import_kinds_make(make->kinds, "ftrace", "funcgraph_entry",
					texts ? "unsigned long func;int depth;__data_loc char[] args_text;"
						"__data_loc char[] note" :
						"unsigned long func;int depth",
					print);
	size_t at;

	if (!begin(make, id, 0) || !put_u64(make, call->func) || !buf_add(make->record, &depth, sizeof(depth)))
		return false;
	at = make->record->len;
	return !texts || (buf_add(make->record, &none, sizeof(none)) && buf_add(make->record, &none, sizeof(none)) &&
			  put_text(make, at, call->text, call->text_len) &&
			  put_text(make, at + sizeof(none), call->note, call->note_len));
}

static bool put_exit(const struct records *make, const struct graph_call *call)
{
#define EXIT_FIELDS "unsigned long func;int depth;unsigned int overrun;u64 calltime;u64 rettime"
	static const char print[] = "\"<-- %ps (%d) (start: %llx  end: %llx) over: %d\", (void *)REC->func, "
				    "REC->depth, REC->calltime, REC->rettime, REC->depth";
	static const char *const fields[2][2] = {
		{ EXIT_FIELDS, EXIT_FIELDS ";__data_loc char[] note" },
		{ EXIT_FIELDS ";unsigned long retval", EXIT_FIELDS ";unsigned long retval;__data_loc char[] note" },
	};
	uint32_t depth = htole32((uint32_t)call->depth), none = 0;
	uint16_t id = import_kinds_make(make->kinds, "ftrace", "funcgraph_exit",
					fields[call->has_retval][call->note_len > 0], print);
	size_t at;

	if (!begin(make, id, 0) || !put_u64(make, call->func) || !buf_add(make->record, &depth, sizeof(depth)) ||
	    !buf_add(make->record, &none, sizeof(none)) || !put_u64(make, call->calltime) || !put_u64(make, call->ts) ||
	    (call->has_retval && !put_u64(make, call->retval)))
		return false;
	at = make->record->len;
	return !call->note_len ||
	       (buf_add(make->record, &none, sizeof(none)) && put_text(make, at, call->note, call->note_len));
}

bool records_call(const struct records *make, const struct graph_call *call)
{
	return call->exit ? put_exit(make, call) : put_entry(make, call);
}

void records_overrun(const struct records *make, uint32_t count)
{
	size_t at = (import_kinds_common(make->kinds) + 7) / 8 * 8 + 12;

	count = htole32(count);
	if (make->record->len >= at + sizeof(count))
		memcpy(make->record->data + at, &count, sizeof(count));
}
