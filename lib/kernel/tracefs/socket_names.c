// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/socket_names_internal.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/tracing.h"

enum {
	LINE_SIZE = 512,
	WORD_DIGITS = 8,
	ADDRESS_SIZE = 16,
	DIAG_SIZE = 1 << 16,
	CONNECTED = 3, /* SS_CONNECTED of include/uapi/linux/net.h */
};

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

/* unix_proto and unix_dgram_proto of net/unix/af_unix.c: only streams have a name of their own. */
static const char *unix_kind(unsigned type)
{
	return type == SOCK_STREAM ? "UNIX-STREAM" : "UNIX";
}

static bool put_unix(const char *line, uint64_t *ret_inode, struct buf *into)
{
	unsigned type, state;
	int path = 0;

	if (sscanf(line, "%*x: %*x %*x %*x %x %x %" SCNu64 "%n", &type, &state, ret_inode, &path) != 3)
		return false;
	if (!buf_addf(into, "%s:[%" PRIu64 "%s", unix_kind(type), *ret_inode, state == CONNECTED ? "->(unknown)" : ""))
		return false;
	/* unix_seq_show() prints @ for each zero byte, as the first one of an abstract name. */
	if (line[path] == ' ' && line[path + 1] == '@' && !buf_addf(into, ",@\"%s\"", line + path + 2))
		return false;
	if (line[path] == ' ' && line[path + 1] && line[path + 1] != '@' && !buf_addf(into, ",\"%s\"", line + path + 1))
		return false;
	return buf_add_str(into, "]");
}

/* Stores what was added behind `before` as the name of this inode. */
static bool keep(struct socket_names *names, uint64_t inode, size_t before)
{
	uint64_t *place = u64_map_add(&names->places, inode);

	if (!place || !buf_add(&names->texts, "", 1))
		return false;
	*place = before + 1;
	return true;
}

bool socket_names_add(struct socket_names *names, const char *kind, const char *text, size_t len)
{
	struct text_word word;

	while (text_next_line(&text, &len, &word)) {
		size_t before = names->texts.len;
		char line[LINE_SIZE];
		uint64_t inode = 0;

		snprintf(line, sizeof(line), "%.*s", (int)(word.len < LINE_SIZE ? word.len : LINE_SIZE - 1), word.at);
		/* The first line is a head; a connection that has ended is no file's. */
		if (!(strcmp(kind, "UNIX") ? put_inet(kind, line, &inode, &names->texts) :
					     put_unix(line, &inode, &names->texts)) ||
		    !inode) {
			names->texts.len = before;
			continue;
		}
		if (!keep(names, inode, before))
			return false;
	}
	return true;
}

/* Puts the name that the socket is bound to: a path, or behind a zero byte a name without a file. */
static bool put_bound(const char *name, size_t len, struct buf *into)
{
	bool abstract = len && !*name;

	name += abstract;
	len = abstract ? len - 1 : strnlen(name, len);
	if (!len && !abstract)
		return true;
	if (!buf_addf(into, ",%s\"", abstract ? "@" : ""))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!(name[i] ? buf_add(into, name + i, 1) : buf_add_str(into, "\\0")))
			return false;
	return buf_add_str(into, "\"");
}

/* Messages of netlink and what is in them begin at multiples of 4 bytes. */
static size_t padded(size_t size, size_t most)
{
	size = (size + 3) & ~(size_t)3;
	return size < most ? size : most;
}

/* One socket: struct unix_diag_msg and its attributes, in `len` bytes. */
static bool add_diag(struct socket_names *names, const char *at, size_t len)
{
	size_t before = names->texts.len, name_len = 0;
	struct unix_diag_msg message;
	const char *name = NULL;
	uint32_t peer = 0;

	if (len < sizeof(message))
		return true;
	memcpy(&message, at, sizeof(message));
	at += sizeof(message);
	len -= sizeof(message);
	while (len >= sizeof(struct nlattr)) {
		struct nlattr attribute;
		size_t size;

		memcpy(&attribute, at, sizeof(attribute));
		if (attribute.nla_len < sizeof(attribute) || attribute.nla_len > len)
			break;
		size = attribute.nla_len - sizeof(attribute);
		if (attribute.nla_type == UNIX_DIAG_NAME) {
			name = at + sizeof(attribute);
			name_len = size;
		} else if (attribute.nla_type == UNIX_DIAG_PEER && size >= sizeof(peer)) {
			memcpy(&peer, at + sizeof(attribute), sizeof(peer));
		}
		size = padded(attribute.nla_len, len);
		at += size;
		len -= size;
	}
	if (!message.udiag_ino)
		return true;
	return buf_addf(&names->texts, "%s:[%" PRIu32, unix_kind(message.udiag_type), message.udiag_ino) &&
	       (!peer || buf_addf(&names->texts, "->%" PRIu32, peer)) &&
	       (!name || put_bound(name, name_len, &names->texts)) && buf_add_str(&names->texts, "]") &&
	       keep(names, message.udiag_ino, before);
}

bool socket_names_add_diag(struct socket_names *names, const void *messages, size_t len, bool *ret_more)
{
	const char *at = messages;

	*ret_more = true;
	while (len >= sizeof(struct nlmsghdr)) {
		struct nlmsghdr head;
		size_t size;

		memcpy(&head, at, sizeof(head));
		if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || head.nlmsg_len < sizeof(head) || head.nlmsg_len > len) {
			*ret_more = false;
			return true;
		}
		if (!add_diag(names, at + sizeof(head), head.nlmsg_len - sizeof(head)))
			return false;
		size = padded(head.nlmsg_len, len);
		at += size;
		len -= size;
	}
	return true;
}

/* What the kernel tells of all UNIX sockets, as ss(8) asks it. False: no memory. */
static bool ask_diag(struct socket_names *names)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req request;
	} ask = {
		.head = { .nlmsg_len = sizeof(ask),
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.request = { .sdiag_family = AF_UNIX,
			     .udiag_states = ~0U,
			     .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER },
	};
	static const struct timeval patience = { .tv_sec = 1 };
	cleanup_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	cleanup_free char *answer = malloc(DIAG_SIZE);
	bool more = fd >= 0, ok = answer != NULL;
	ssize_t len;

	if (!ok || !more || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    send(fd, &ask, sizeof(ask), 0) != (ssize_t)sizeof(ask))
		return ok;
	while (ok && more && (len = recv(fd, answer, DIAG_SIZE, 0)) > 0)
		ok = socket_names_add_diag(names, answer, (size_t)len, &more);
	return ok;
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
	/* Of UNIX sockets it knows more, and replaces what /proc/net said. */
	return ok && ask_diag(names);
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
