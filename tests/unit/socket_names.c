// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#include <arpa/inet.h>
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
	char want[96];
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
	CHECK(!strncmp(name_of(&names, pair[0]), "UNIX-STREAM:[", 13));
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
					 "0000000000000000: 00000002 00000000 00010000 0002 01 80\n";
	struct socket_names names = { .texts = BUF_INIT };

	u64_map_init(&names.places, sizeof(uint64_t));
	CHECK(socket_names_add(&names, "TCPv6", tcp6, strlen(tcp6)));
	CHECK(socket_names_add(&names, "UNIX", unix_lines, strlen(unix_lines)));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	CHECK_STR(socket_names_find(&names, 77), "TCPv6:[[::1]:8080]");
#endif
	CHECK(!socket_names_find(&names, 0) && !socket_names_find(&names, 78));
	CHECK_STR(socket_names_find(&names, 79), "UNIX-STREAM:[79,\"/run/a b\"]");
	CHECK_STR(socket_names_find(&names, 80), "UNIX-DGRAM:[80]");
	socket_names_release(&names);
}
