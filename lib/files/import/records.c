// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/records_internal.h"

#include <ctype.h>
#include <endian.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/files/import/column_layout_internal.h"
#include "lib/files/import/graph_internal.h"
#include "lib/files/import/head_internal.h"
#include "lib/files/import/kinds_internal.h"
#include "lib/files/import/known_internal.h"
#include "lib/files/import/names_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/text.h"

enum { USER_ADDRESSES = RECORDS_USER_CALLERS, TEXT_MAX = RECORDS_TEXT_MAX, RECORD_ROOM = 256, LINE_MAX_LEN = 12000 };

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
		size_t size = known_size(fields);
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

/* Reads "0x1f" as %lx prints it, up to 16 digits. Returns what is behind it; NULL: there is none. */
static const char *take_hex(const char *at, const char *end, uint64_t *ret)
{
	const char *start = at + 2;

	if (end - at < 3 || at[0] != '0' || at[1] != 'x')
		return NULL;
	for (at = start, *ret = 0; at < end && at - start < 16; at++) {
		if (!isxdigit((unsigned char)*at) || isupper((unsigned char)*at))
			break;
		*ret = *ret << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	}
	return at == start || (*start == '0' && at > start + 1) ? NULL : at;
}

/* Takes " <ffffffff81234567>" off the end of the text. An address of 32 bits does not come back, so it is left out. */
static const char *take_address(const char *at, const char *end, struct import_place *place)
{
	const char *open = memmem(at, (size_t)(end - at), " <", 2);
	char digits[20] = "0x";

	if (!open || end[-1] != '>')
		return end;
	if (end - open == 19) {
		size_t zeros = strspn(open + 2, "0");

		if (zeros < 16) {
			const char *behind;

			memcpy(digits + 2, open + 2 + zeros, 16 - zeros);
			behind = take_hex(digits, digits + 18 - zeros, &place->address);
			if (behind != digits + 18 - zeros)
				place->address = 0;
		}
	}
	return open;
}

/* Reads what may follow a name: "+0x10/0x80", and a module. */
static bool take_place(const char *at, const char *end, struct import_place *place)
{
	const char *name_end, *behind;

	*place = (struct import_place){ .name = at, .module = "" };
	end = take_address(at, end, place);
	for (name_end = at; name_end < end && *name_end != '+' && *name_end != ' '; name_end++)
		;
	place->len = (size_t)(name_end - at);
	if (name_end < end && *name_end == '+') {
		behind = take_hex(name_end + 1, end, &place->offset);
		behind = behind && behind < end && *behind == '/' ? take_hex(behind + 1, end, &place->size) : NULL;
		if (!behind || !place->size)
			return false;
		name_end = behind;
	}
	if (name_end == end)
		return true;
	place->module = name_end + 1;
	place->module_len = (size_t)(end - name_end - 1);
	return *name_end == ' ' && place->module_len;
}

/* "[unknown/kretprobe'd]": the kernel prints this for one of its own functions. */
static bool is_trampoline(const char *at, size_t len)
{
	static const char text[] = "[unknown/kretprobe'd]";

	return len == strlen(text) && !memcmp(at, text, len);
}

uint64_t records_address(const struct records *make, const char *at, size_t len)
{
	static const char trampoline[] = "arch_rethook_trampoline";
	struct import_place place;
	uint64_t address;
	bool unnamed;

	if (!len)
		return 0;
	if (!take_place(at, at + len, &place))
		return 0;
	unnamed = is_trampoline(place.name, place.len) || (place.len > 1 && !memcmp(at, "0x", 2));
	if (is_trampoline(place.name, place.len))
		place = (struct import_place){ trampoline, "", strlen(trampoline), .address = place.address };
	place.named = !make->shape->offsets;
	address = import_names_place(make->names, &place);
	if (address)
		column_layout_symbol(make->shape, place.size, place.address, unnamed);
	return address;
}

bool records_function(const struct records *make, const struct head *head)
{
	const char *end = head->body + head->body_len, *arrow = memmem(head->body, head->body_len, " <-", 3);
	const char *name_end = arrow ? arrow : end;
	const char *open = memchr(head->body, '(', (size_t)(name_end - head->body));
	bool args = open && open > head->body && name_end[-1] == ')', zero; /* zero: the kernel prints no name for it */
	uint64_t ip, parent = 0;
	uint32_t none = 0;
	uint16_t id;
	size_t at;

	/* In a function graph, a line without a caller is a marker. */
	if (!head->body_len || head->body_len > TEXT_MAX || (head->is_placed && !arrow) ||
	    (!args && memchr(head->body, ':', head->body_len)) || (open && !args))
		return false;
	zero = name_end == head->body + 1 && *head->body == '0';
	ip = zero ? 0 : records_address(make, head->body, (size_t)((args ? open : name_end) - head->body));
	if (arrow)
		parent = records_address(make, arrow + 3, (size_t)(end - arrow - 3));
	if ((!ip && !zero) || (arrow && !parent))
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

size_t records_marker(const struct records *make, const char *text, size_t len, uint64_t *ret_ip)
{
	static const char name[] = "tracing_mark_write";
	const char *colon = len > strlen(name) && !memcmp(text, name, strlen(name)) ? memmem(text, len, ": ", 2) : NULL;
	uint64_t ip = colon ? records_address(make, text, (size_t)(colon - text)) : 0;

	if (!ip || !strchr(":+ ", text[strlen(name)]))
		return 0;
	*ret_ip = ip;
	return (size_t)(colon - text) + 2;
}

bool records_printk(const struct records *make, uint64_t ip, const char *text, size_t len)
{
	uint16_t id = import_kinds_make(make->kinds, "ftrace", "print", "unsigned long ip;char buf[]",
					"\"%ps: %s\", (void *)REC->ip, REC->buf");

	return begin(make, id, 0) && put_u64(make, ip) && buf_add(make->record, text, len) &&
	       buf_add(make->record, "", 1);
}

bool records_mark(const struct records *make, uint64_t ip, const struct buf *mark)
{
	return records_printk(make, ip, mark->data, mark->len) && buf_add(make->record, "", 1) &&
	       (make->record->data[make->record->len - 2] = '\n', true);
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

/* Leaves the name of " => NAME". Mails and pages change the blanks around it. */
static bool take_caller(const char **line, size_t *len)
{
	const char *at = *line, *end = at + *len;

	while (at < end && text_is_blank(*at))
		at++;
	if (end - at < 3 || memcmp(at, "=>", 2) != 0 || !text_is_blank(at[2]))
		return false;
	for (at += 2; at < end && text_is_blank(*at);)
		at++;
	while (end > at && text_is_blank(end[-1]))
		end--;
	*line = at;
	*len = (size_t)(end - at);
	return at < end;
}

bool records_user_caller(const char *line, size_t len, struct buf *addresses)
{
	char text[32] = "";
	uint64_t address;
	int end = 0;

	if (!take_caller(&line, &len) || len >= sizeof(text))
		return false;
	memcpy(text, line, len);
	if (sscanf(text, "<%16" SCNx64 ">%n", &address, &end) != 1 || (size_t)end != len)
		return false;
	address = htole64(address);
	return buf_add(addresses, &address, sizeof(address));
}

bool records_is_object(const char *line, size_t len)
{
	const char *at, *end;

	if (!take_caller(&line, &len))
		return false;
	at = memmem(line, len, "[+0x", 4);
	end = at ? memchr(at, ']', (size_t)(line + len - at)) : NULL;
	return end && at > line && (end + 1 == line + len || end[1] == ' ');
}

bool records_caller(const struct records *make, const char *line, size_t len, struct buf *addresses)
{
	/* In kernel/trace/trace_output.c, a caller that is a trampoline of ftrace is a number, not an address. */
	static const char trampoline[] = "[FTRACE TRAMPOLINE]";
	uint64_t address;
	bool zero;

	if (!take_caller(&line, &len))
		return false;
	zero = len == 1 && *line == '0'; /* the kernel prints no name for it */
	if (len == strlen(trampoline) && !memcmp(line, trampoline, len))
		address = INT_MAX;
	else
		address = zero ? 0 : records_address(make, line, len);
	address = htole64(address);
	return (address || zero) && buf_add(addresses, &address, sizeof(address));
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
	    !buf_add(make->record, &none, sizeof(none)) || !put_u64(make, call->calltime) ||
	    !put_u64(make, call->rettime) || (call->has_retval && !put_u64(make, call->retval)))
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
