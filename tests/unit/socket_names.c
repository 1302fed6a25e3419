// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/socket_names_internal.h"

static const char *name_of(const struct socket_names *names, int fd)
{
	struct stat stat;
	const char *name = fstat(fd, &stat) ? NULL : socket_names_find(names, stat.st_ino);

	return name ? name : "";
}

TEST(socket_names_are_those_of_this_kernel)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	cleanup_fd int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cleanup_fd int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in own;
	socklen_t len = sizeof(address);
	struct socket_names names;
	char want[96], unasked[96];
	struct stat one, other;
	int pair[2];

	/* Without a network there is nothing to see. */
	if (bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &len) ||
	    connect(client, (struct sockaddr *)&address, len) || getsockname(client, (struct sockaddr *)&own, &len))
		return;
	REQUIRE(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	REQUIRE(socket_names_read(&names));
	snprintf(want, sizeof(want), "TCP:[127.0.0.1:%d]", ntohs(address.sin_port));
	CHECK_STR(name_of(&names, listener), want);
	snprintf(want, sizeof(want), "TCP:[127.0.0.1:%d->127.0.0.1:%d]", ntohs(own.sin_port), ntohs(address.sin_port));
	CHECK_STR(name_of(&names, client), want);
	REQUIRE(!fstat(pair[0], &one) && !fstat(pair[1], &other));
	snprintf(want, sizeof(want), "UNIX-STREAM:[%lu->%lu]", (unsigned long)one.st_ino, (unsigned long)other.st_ino);
	snprintf(unasked, sizeof(unasked), "UNIX-STREAM:[%lu->(unknown)]", (unsigned long)one.st_ino);
	/* A kernel may lack the answer (CONFIG_UNIX_DIAG). */
	CHECK(!strcmp(name_of(&names, pair[0]), want) || !strcmp(name_of(&names, pair[0]), unasked));
	close(pair[0]);
	close(pair[1]);
	socket_names_release(&names);
}

TEST(socket_names_of_other_lines)
{
	static const char tcp6[] =
		"  sl  local_address                         remote_address  st tx_queue rx_queue\n"
		"   0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A "
		"00000000:00000000 00:00000000 00000000     0        0 77 1 0000000000000000 100 0\n"
		"   1: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:0050 06 "
		"00000000:00000000 00:00000000 00000000     0        0 0 1 0000000000000000 100 0\n"
		"   2: 0000:1F90 00000000000000000000000001000000:0050 01 00000000:00000000 "
		"00:00000000 00000000 0 0 78\n",
			  unix_lines[] = "Num       RefCount Protocol Flags    Type St Inode Path\n"
					 "0000000000000000: 00000002 00000000 00010000 0001 01 79 /run/a b\n"
					 "0000000000000000: 00000002 00000000 00010000 0002 01 80\n"
					 "0000000000000000: 00000002 00000000 00010000 0005 03 81 @x\n";
	struct socket_names names = { .texts = BUF_INIT };

	u64_map_init(&names.places, sizeof(uint64_t));
	CHECK(socket_names_add(&names, "TCPv6", tcp6, strlen(tcp6)));
	CHECK(socket_names_add(&names, "UNIX", unix_lines, strlen(unix_lines)));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	CHECK_STR(socket_names_find(&names, 77), "TCPv6:[[::1]:8080]");
#endif
	CHECK(!socket_names_find(&names, 0) && !socket_names_find(&names, 78));
	CHECK_STR(socket_names_find(&names, 79), "UNIX-STREAM:[79,\"/run/a b\"]");
	CHECK_STR(socket_names_find(&names, 80), "UNIX:[80]");
	CHECK_STR(socket_names_find(&names, 81), "UNIX:[81->(unknown),@\"x\"]");
	socket_names_release(&names);
}

/* A message of the kernel about one UNIX socket: its inode, the inode of its peer, and its name. */
static size_t put_message(char *into, uint16_t type, uint32_t inode, uint32_t peer, const char *name, size_t name_len)
{
	struct unix_diag_msg message = { .udiag_family = AF_UNIX, .udiag_type = SOCK_STREAM, .udiag_ino = inode };
	struct nlmsghdr head = { .nlmsg_type = type };
	struct nlattr attribute = { .nla_type = UNIX_DIAG_PEER, .nla_len = sizeof(attribute) + sizeof(peer) };
	char *at = into + sizeof(head);

	memcpy(at, &message, sizeof(message));
	at += sizeof(message);
	if (peer) {
		memcpy(at, &attribute, sizeof(attribute));
		memcpy(at + sizeof(attribute), &peer, sizeof(peer));
		at += sizeof(attribute) + sizeof(peer);
	}
	if (name) {
		attribute.nla_type = UNIX_DIAG_NAME;
		attribute.nla_len = (uint16_t)(sizeof(attribute) + name_len);
		memcpy(at, &attribute, sizeof(attribute));
		memcpy(at + sizeof(attribute), name, name_len);
		at += (attribute.nla_len + 3U) & ~3U;
	}
	head.nlmsg_len = (uint32_t)(at - into);
	memcpy(into, &head, sizeof(head));
	return head.nlmsg_len;
}

TEST(socket_names_of_unix_sockets_have_their_peer_and_name)
{
	struct socket_names names = { .texts = BUF_INIT };
	char messages[512] = "";
	size_t len = 0;
	bool more;

	u64_map_init(&names.places, sizeof(uint64_t));
	len += put_message(messages + len, SOCK_DIAG_BY_FAMILY, 5, 6, NULL, 0);
	len += put_message(messages + len, SOCK_DIAG_BY_FAMILY, 6, 5, "/run/x", 7);
	len += put_message(messages + len, SOCK_DIAG_BY_FAMILY, 7, 0, "\0a\0b", 4);
	len += put_message(messages + len, SOCK_DIAG_BY_FAMILY, 8, 0, NULL, 0);
	CHECK(socket_names_add_diag(&names, messages, len, &more) && more);
	CHECK_STR(socket_names_find(&names, 5), "UNIX-STREAM:[5->6]");
	CHECK_STR(socket_names_find(&names, 6), "UNIX-STREAM:[6->5,\"/run/x\"]");
	CHECK_STR(socket_names_find(&names, 7), "UNIX-STREAM:[7,@\"a\\0b\"]");
	CHECK_STR(socket_names_find(&names, 8), "UNIX-STREAM:[8]");
	/* What ends the list, and what is cut. */
	len = put_message(messages, NLMSG_DONE, 9, 0, NULL, 0);
	CHECK(socket_names_add_diag(&names, messages, len, &more) && !more && !socket_names_find(&names, 9));
	len = put_message(messages, SOCK_DIAG_BY_FAMILY, 10, 11, "name", 5);
	for (size_t cut = 0; cut < len; cut++)
		CHECK(socket_names_add_diag(&names, messages, cut, &more));
	CHECK(!socket_names_find(&names, 10));
	socket_names_release(&names);
}
