// SPDX-License-Identifier: LGPL-2.1-or-later
/* What weft's own probes and lists say about descriptors: paths, sockets, addresses (weft record --files). */
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/files/rewrite/redact_internal.h"

enum { V4 = 4, V6 = 16, MAPPED = 12 };

/* What files are called that have no path: names of the kernel. */
static const char kinds[] = " TCP TCPv6 UDP UDPv6 UDPLITE UDPLITEv6 RAW RAWv6 PING PINGv6 UNIX UNIX-STREAM UNIX-DGRAM "
			    "UNIX-SEQPACKET NETLINK PACKET MPTCP VSOCK socket pipe anon_inode [eventpoll] [eventfd] "
			    "[timerfd] [signalfd] [pidfd] [io_uring] [userfaultfd] [perf_event] [fanotify] [fscontext] "
			    "inotify bpf-map bpf-prog ";

static const char memfd[] = "memfd:", deleted[] = " (deleted)";

void redact_file_name(struct redact_names *names, const char *name, size_t len, char *into)
{
	size_t head = len > strlen(memfd) && !memcmp(name, memfd, strlen(memfd)) ? strlen(memfd) : 0;

	if (redact_listed(kinds, name, len) || (len == 1 && *name == '/')) {
		memcpy(into, name, len);
		return;
	}
	memcpy(into, name, head);
	redact_name(names, name + head, len - head, into + head);
}

/* Of an address nothing is kept, but that it is none, or of the machine itself. */
void redact_host(const struct redact_names *names, const uint8_t *from, size_t len, uint8_t *into)
{
	static const uint8_t zeros[V6], self[V6] = { [V6 - 1] = 1 }, mapped[MAPPED] = { [10] = 0xff, [11] = 0xff };
	char text[2 * V6 + 1];
	uint64_t number;

	if (len == V6 && !memcmp(from, mapped, MAPPED)) {
		memcpy(into, mapped, MAPPED);
		redact_host(names, from + MAPPED, V4, into + MAPPED);
		return;
	}
	if (len != V4 && len != V6)
		return;
	if (!memcmp(from, zeros, len) || (len == V4 ? *from == 127 : !memcmp(from, self, V6))) {
		memcpy(into, from, len);
		return;
	}
	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", from[i]);
	for (size_t i = 0; i < len; i += sizeof(number)) {
		text[0] = (char)('g' + i);
		number = redact_number(names, text);
		memcpy(into + i, &number, len - i < sizeof(number) ? len - i : sizeof(number));
	}
	/* Of networks that nobody owns: 10.0.0.0/8, fd00::/8 */
	*into = len == V4 ? 10 : 0xfd;
}

/* An address as a text up to `end`; false: it is none. */
static bool put_host(struct redact_texts *texts, int family, const char *at, size_t len, struct buf *into)
{
	uint8_t bytes[V6], made[V6] = { 0 };
	char text[INET6_ADDRSTRLEN];

	if (len >= sizeof(text))
		return false;
	memcpy(text, at, len);
	text[len] = '\0';
	if (inet_pton(family, text, bytes) != 1)
		return false;
	redact_host(texts->names, bytes, family == AF_INET ? V4 : V6, made);
	return inet_ntop(family, made, text, sizeof(text)) && buf_add_str(into, text);
}

bool redact_put(struct redact_texts *texts, struct buf *into, const char *at, size_t len,
		void (*how)(struct redact_names *names, const char *text, size_t len, char *into))
{
	if (!buf_reserve(into, len + 1))
		return false;
	how(texts->names, at, len, into->data + into->len);
	into->len += len;
	return true;
}

/* The name of a socket in quotes, from its first one on. */
static bool put_bound(struct redact_texts *texts, const char *at, const char *end, struct buf *into)
{
	const char *last = memrchr(at, '"', (size_t)(end - at));

	return last == at ||
	       (buf_add(into, "\"", 1) && redact_put(texts, into, at + 1, (size_t)(last - at - 1), redact_path) &&
		buf_add(into, "\"", 1));
}

/* The first part of what stands in the brackets of a socket; NULL: it is none that is known. */
static const char *put_part(struct redact_texts *texts, const char *at, const char *end, struct buf *into)
{
	const char *close = *at == '[' ? memchr(at, ']', (size_t)(end - at)) : NULL;
	size_t digits = 0;
	char *rest;

	if (strchr("->:,@", *at))
		return buf_add(into, at, 1) ? at + 1 : NULL;
	if (close)
		return buf_add(into, "[", 1) && put_host(texts, AF_INET6, at + 1, (size_t)(close - at - 1), into) &&
				       buf_add(into, "]", 1) ?
			       close + 1 :
			       NULL;
	if (*at == '"')
		return put_bound(texts, at, end, into) ? end : NULL;
	while (at + digits < end && (isdigit((unsigned char)at[digits]) || at[digits] == '.'))
		digits++;
	if (memchr(at, '.', digits))
		return put_host(texts, AF_INET, at, digits, into) ? at + digits : NULL;
	if (!digits)
		return NULL;
	/* A port stands behind a colon; any other number is that of an inode. */
	if (into->len && into->data[into->len - 1] == ':')
		return buf_add(into, at, digits) ? at + digits : NULL;
	return buf_addf(into, "%" PRIu64, redact_value(texts->shifts, REDACT_INODE, strtoull(at, &rest, 10))) ?
		       at + digits :
		       NULL;
}

/* "TCP:[10.0.0.1:80->10.0.0.2:4711]", "pipe:[123]": false: it is none of these. */
static bool put_nameless(struct redact_texts *texts, const char *at, size_t len, struct buf *into)
{
	const char *open = memchr(at, '[', len), *end = at + len - 1;
	size_t kind = open && open > at ? (size_t)(open - at - 1) : 0;

	if (!kind || open[-1] != ':' || !redact_listed(kinds, at, kind) || *end != ']')
		return false;
	/* anon_inode:[eventfd] */
	if (redact_listed(kinds, open, (size_t)(end + 1 - open)))
		return buf_add(into, at, len);
	if (!buf_add(into, at, kind + 2))
		return false;
	for (const char *next = open + 1; next && next < end;) {
		const char *after = put_part(texts, next, end, into);

		if (!after && !redact_put(texts, into, next, (size_t)(end - next), redact_words))
			return false;
		next = after;
	}
	return buf_add(into, "]", 1);
}

bool redact_target(struct redact_texts *texts, const char *target, size_t len, struct buf *into)
{
	size_t from = into->len, tail = strlen(deleted);
	bool gone = len > tail && !memcmp(target + len - tail, deleted, tail);

	if (len && put_nameless(texts, target, len, into))
		return true;
	into->len = from;
	len -= gone ? tail : 0;
	if (len > 1 && *target == '/' && !memchr(target + 1, '/', len - 1))
		return buf_add(into, "/", 1) && redact_put(texts, into, target + 1, len - 1, redact_file_name) &&
		       buf_add_str(into, gone ? deleted : "");
	return redact_put(texts, into, target, len, redact_path) && buf_add_str(into, gone ? deleted : "");
}

bool redact_knows_disk(const char *name, size_t len)
{
	static const char *const lettered[] = { "sd", "vd", "xvd", "hd" };
	static const char *const numbered[] = { "nvme", "mmcblk", "dm-", "md",  "loop",
						"zram", "nbd",    "sr",  "ram", "pmem" };
	static const char *const behind[] = { "n", "p", "boot" };
	size_t at = 0;

	for (size_t i = 0; !at && i < array_size(lettered); i++)
		if (len > strlen(lettered[i]) && !memcmp(name, lettered[i], strlen(lettered[i])))
			for (at = strlen(lettered[i]);
			     at < len && at < strlen(lettered[i]) + 3 && islower((unsigned char)name[at]);)
				at++;
	for (size_t i = 0; !at && i < array_size(numbered); i++)
		if (len > strlen(numbered[i]) && !memcmp(name, numbered[i], strlen(numbered[i])))
			at = strlen(numbered[i]);
	while (at && at < len) {
		size_t from = at;

		while (at < len && isdigit((unsigned char)name[at]))
			at++;
		for (size_t i = 0; at > from && i < array_size(behind); i++)
			if (len - at > strlen(behind[i]) && !memcmp(name + at, behind[i], strlen(behind[i]))) {
				at += strlen(behind[i]);
				break;
			}
		if (at == from)
			return false;
	}
	return at;
}
