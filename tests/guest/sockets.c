// SPDX-License-Identifier: GPL-2.0-only
/*
 * sockets: servers and clients in one process, over TCP, UDP and UNIX sockets. It writes to each end; the length of a
 * write says to which: 1 to what was accepted over TCP, 2 to what connected, and so on. Prints what it was between, as
 * strace -yy does: "1 TCP:[127.0.0.1:5000->127.0.0.1:40000]", "9 UNIX-STREAM:[12->13,@"name"]".
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
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

/* Both ends of UDP; the one that is written to has sent a datagram before it is connected. */
static int exchange(int family, int length)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in *old = (struct sockaddr_in *)&address;
	socklen_t len = family == AF_INET6 ? sizeof(address) : sizeof(*old);
	int server = socket(family, SOCK_DGRAM, 0), client = socket(family, SOCK_DGRAM, 0);
	char text[16] = "";

	if (family == AF_INET)
		*old = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (bind(server, (struct sockaddr *)&address, len) || getsockname(server, (struct sockaddr *)&address, &len) ||
	    sendto(client, text, 1, 0, (struct sockaddr *)&address, len) != 1 ||
	    connect(client, (struct sockaddr *)&address, len) || write(client, text, (size_t)length) != length)
		return 1;
	printf("%d UDP%s:[", length, family == AF_INET6 ? "v6" : "");
	put_name(client, 0);
	put_name(client, 1);
	close(server);
	close(client);
	return 0;
}

static void put_local(int length, int fd, int peer, const char *name)
{
	char kind[64] = "";
	struct stat own, other;

	if (fgetxattr(fd, "system.sockprotoname", kind, sizeof(kind) - 1) <= 0 || fstat(fd, &own) ||
	    fstat(peer, &other))
		return;
	printf("%d %s:[%lu->%lu%s]\n", length, kind, (unsigned long)own.st_ino, (unsigned long)other.st_ino, name);
}

/* UNIX sockets whose server has this name; `first` is the length of a write to what is accepted. */
static int talk(int type, const struct sockaddr_un *address, socklen_t len, const char *name, int first)
{
	int listener = socket(AF_UNIX, type, 0), client = socket(AF_UNIX, type, 0), server = listener;
	char text[32] = "";

	if (bind(listener, (const struct sockaddr *)address, len) || (type != SOCK_DGRAM && listen(listener, 1)) ||
	    connect(client, (const struct sockaddr *)address, len))
		return 1;
	if (type != SOCK_DGRAM) {
		server = accept(listener, NULL, NULL);
		if (write(server, text, (size_t)first) != first)
			return 1;
		put_local(first, server, client, name);
	}
	if (write(client, text, (size_t)first + 1) != first + 1)
		return 1;
	put_local(first + 1, client, server, "");
	if (listener != server)
		close(listener);
	close(server);
	close(client);
	return 0;
}

int main(void)
{
	static const struct sockaddr_un path = { .sun_family = AF_UNIX, .sun_path = "/tmp/sockets.named" };
	static const struct sockaddr_un abstract = { .sun_family = AF_UNIX, .sun_path = "\0sockets.hidden" };
	const socklen_t abstract_len = (socklen_t)(sizeof(abstract.sun_family) + 1 + strlen(abstract.sun_path + 1));
	int failed = converse(AF_INET), pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || write(pair[0], "def", 3) != 3)
		failed = 1;
	put_local(3, pair[0], pair[1], "");
	failed |= exchange(AF_INET, 5);
	unlink(path.sun_path);
	failed |= talk(SOCK_STREAM, &path, sizeof(path), ",\"/tmp/sockets.named\"", 7);
	failed |= talk(SOCK_SEQPACKET, &abstract, abstract_len, ",@\"sockets.hidden\"", 9);
	failed |= talk(SOCK_DGRAM, &abstract, abstract_len, ",@\"sockets.hidden\"", 11);
	unlink(path.sun_path);
	/* A kernel may lack it. */
	(void)converse(AF_INET6);
	(void)exchange(AF_INET6, 6);
	return failed;
}
