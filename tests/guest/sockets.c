// SPDX-License-Identifier: GPL-2.0-only
/*
 * sockets: a server and a client in one process, over TCP of both versions and over UNIX. It writes to each end; the
 * length of a write says which: 1 for what accepted, 2 for what connected. Prints what it was between, as strace -yy:
 * "1 TCP:[127.0.0.1:5000->127.0.0.1:40000]".
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void put_name(int fd, int peer)
{
	struct sockaddr_in6 address;
	socklen_t len = sizeof(address);
	char text[INET6_ADDRSTRLEN];

	memset(&address, 0, sizeof(address));
	if (peer)
		getpeername(fd, (struct sockaddr *)&address, &len);
	else
		getsockname(fd, (struct sockaddr *)&address, &len);
	if (address.sin6_family == AF_INET6)
		printf("[%s]", inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof(text)));
	else
		printf("%s", inet_ntop(AF_INET, &((struct sockaddr_in *)&address)->sin_addr, text, sizeof(text)));
	printf(":%d%s", ntohs(address.sin6_port), peer ? "]\n" : "->");
}

static int converse(int family)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in *old = (struct sockaddr_in *)&address;
	socklen_t len = family == AF_INET6 ? sizeof(address) : sizeof(*old);
	int listener = socket(family, SOCK_STREAM, 0), client = socket(family, SOCK_STREAM, 0), server;

	if (family == AF_INET)
		*old = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &len) ||
	    connect(client, (struct sockaddr *)&address, len))
		return 1;
	server = accept(listener, NULL, NULL);
	if (write(server, "a", 1) != 1 || write(client, "bc", 2) != 2 || listen(listener, 2))
		return 1;
	for (int i = 1; i <= 2; i++) {
		printf("%d TCP%s:[", i, family == AF_INET6 ? "v6" : "");
		put_name(i == 1 ? server : client, 0);
		put_name(i == 1 ? server : client, 1);
	}
	close(server);
	close(client);
	close(listener);
	return 0;
}

int main(void)
{
	int failed = converse(AF_INET), pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || write(pair[0], "def", 3) != 3)
		failed = 1;
	/* A kernel may lack it. */
	(void)converse(AF_INET6);
	return failed;
}
