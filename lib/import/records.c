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

enum { USER_ADDRESSES = 8 };

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

bool records_function(const struct records *make, const struct head *head)
{
	const char *arrow = memmem(head->body, head->body_len, " <-", 3);
	uint64_t ip, parent;
	uint16_t id;

	if (!arrow || memchr(head->body, ':', head->body_len))
		return false;
	ip = import_names_symbol(make->names, head->body, (size_t)(arrow - head->body));
	parent = import_names_symbol(make->names, arrow + 3, head->body_len - (size_t)(arrow + 3 - head->body));
	if (!ip || !parent)
		return false;
	id = import_kinds_make(make->kinds, "ftrace", "function", "unsigned long ip;unsigned long parent_ip",
			       "\" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip");
	return begin(make, id, 0) && put_u64(make, ip) && put_u64(make, parent);
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
	const char *more;
	uint64_t address;

	if (len < 5 || memcmp(line, " => ", 4))
		return false;
	/* With sym-offset and sym-addr, the name is followed by an offset and an address. */
	more = memmem(line + 4, len - 4, " <", 2);
	len = more ? (size_t)(more - line) : len;
	more = memchr(line + 4, '+', len - 4);
	len = more ? (size_t)(more - line) : len;
	if (len - 4 == strlen(trampoline) && !memcmp(line + 4, trampoline, len - 4))
		address = INT_MAX;
	else
		address = import_names_symbol(make->names, line + 4, len - 4);
	address = htole64(address);
	return address && buf_add(addresses, &address, sizeof(address));
}

bool records_call(const struct records *make, const struct graph_call *call, bool retval)
{
	uint32_t depth = htole32((uint32_t)call->depth), overrun = 0;
	uint16_t id;

	if (!call->exit) {
		id = import_kinds_make(make->kinds, "ftrace", "funcgraph_entry", "unsigned long func;int depth",
				       "\"--> %ps (%d)\", (void *)REC->func, REC->depth");
		return begin(make, id, 0) && put_u64(make, call->func) && buf_add(make->record, &depth, sizeof(depth));
	}
	id = import_kinds_make(
		make->kinds, "ftrace", "funcgraph_exit",
		retval ? "unsigned long func;int depth;unsigned int overrun;u64 calltime;u64 "
			 "rettime;unsigned long retval" :
			 "unsigned long func;int depth;unsigned int overrun;u64 calltime;u64 rettime",
		"\"<-- %ps (%d) (start: %llx  end: %llx) over: %d\", (void *)REC->func, REC->depth, REC->calltime, "
		"REC->rettime, REC->depth");
	return begin(make, id, 0) && put_u64(make, call->func) && buf_add(make->record, &depth, sizeof(depth)) &&
	       buf_add(make->record, &overrun, sizeof(overrun)) && put_u64(make, call->calltime) &&
	       put_u64(make, call->ts) && (!retval || put_u64(make, call->retval));
}

void records_overrun(const struct records *make, uint32_t count)
{
	size_t at = (import_kinds_common(make->kinds) + 7) / 8 * 8 + 12;

	count = htole32(count);
	if (make->record->len >= at + sizeof(count))
		memcpy(make->record->data + at, &count, sizeof(count));
}
