// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/socket_names_internal.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/tracing.h"

enum { LINE_SIZE = 512, WORD_DIGITS = 8, ADDRESS_SIZE = 16 };

/* get_tcp4_sock() and get_tcp6_sock() of the kernel print each word of an address as a number of this machine. */
static bool put_address(const char *digits, unsigned port, struct buf *into)
{
	size_t words = strlen(digits) / WORD_DIGITS;
	uint32_t address[ADDRESS_SIZE / 4];
	char text[INET6_ADDRSTRLEN];

	if (words != 1 && words != array_size(address))
		return false;
	for (size_t i = 0; i < words; i++)
		if (sscanf(digits + i * WORD_DIGITS, "%8" SCNx32, &address[i]) != 1)
			return false;
	return inet_ntop(words == 1 ? AF_INET : AF_INET6, address, text, sizeof(text)) &&
	       buf_addf(into, words == 1 ? "%s:%u" : "[%s]:%u", text, port);
}

static bool put_inet(const char *kind, const char *line, uint64_t *ret_inode, struct buf *into)
{
	char address[33], peer[33];
	unsigned port, peer_port;

	if (sscanf(line, " %*u: %32[0-9A-F]:%x %32[0-9A-F]:%x %*x %*s %*s %*s %*u %*u %" SCNu64, address, &port, peer,
		   &peer_port, ret_inode) != 5)
		return false;
	if (!port)
		return buf_addf(into, "%s:[%" PRIu64 "]", kind, *ret_inode);
	return buf_addf(into, "%s:[", kind) && put_address(address, port, into) &&
	       (!peer_port || (buf_add_str(into, "->") && put_address(peer, peer_port, into))) &&
	       buf_add_str(into, "]");
}

static bool put_unix(const char *line, uint64_t *ret_inode, struct buf *into)
{
	static const char *const types[] = { [1] = "-STREAM", [2] = "-DGRAM", [5] = "-SEQPACKET" };
	unsigned type;
	int path = 0;

	if (sscanf(line, "%*x: %*x %*x %*x %x %*x %" SCNu64 "%n", &type, ret_inode, &path) != 2)
		return false;
	return buf_addf(into, "UNIX%s:[%" PRIu64, type < array_size(types) && types[type] ? types[type] : "",
			*ret_inode) &&
	       (line[path] != ' ' || !line[path + 1] || buf_addf(into, ",\"%s\"", line + path + 1)) &&
	       buf_add_str(into, "]");
}

bool socket_names_add(struct socket_names *names, const char *kind, const char *text, size_t len)
{
	struct text_word word;

	while (text_next_line(&text, &len, &word)) {
		size_t before = names->texts.len;
		char line[LINE_SIZE];
		uint64_t inode = 0, *place;

		snprintf(line, sizeof(line), "%.*s", (int)(word.len < LINE_SIZE ? word.len : LINE_SIZE - 1), word.at);
		/* The first line is a head; a connection that has ended is no file's. */
		if (!(strcmp(kind, "UNIX") ? put_inet(kind, line, &inode, &names->texts) :
					     put_unix(line, &inode, &names->texts)) ||
		    !inode) {
			names->texts.len = before;
			continue;
		}
		place = u64_map_add(&names->places, inode);
		if (!place || !buf_add(&names->texts, "", 1))
			return false;
		*place = before + 1;
	}
	return true;
}

bool socket_names_read(struct socket_names *names)
{
	static const struct {
		const char *kind, *path;
	} files[] = {
		{ "TCP", "/proc/net/tcp" },    { "TCPv6", "/proc/net/tcp6" }, { "UDP", "/proc/net/udp" },
		{ "UDPv6", "/proc/net/udp6" }, { "UNIX", "/proc/net/unix" },
	};
	bool ok = true;

	*names = (struct socket_names){ .texts = BUF_INIT };
	u64_map_init(&names->places, sizeof(uint64_t));
	for (size_t i = 0; ok && i < array_size(files); i++) {
		cleanup_buf struct buf text = BUF_INIT;

		if (!tracing_read_path(files[i].path, &text, NULL))
			ok = socket_names_add(names, files[i].kind, buf_str(&text), text.len);
	}
	return ok;
}

void socket_names_release(struct socket_names *names)
{
	u64_map_release(&names->places);
	buf_release(&names->texts);
}

const char *socket_names_find(const struct socket_names *names, uint64_t inode)
{
	const uint64_t *place = u64_map_find(&names->places, inode);

	return place ? names->texts.data + *place - 1 : NULL;
}
