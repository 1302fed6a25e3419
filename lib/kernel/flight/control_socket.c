// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/control_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/dir.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/trust.h"
#include "lib/kernel/undo/undo.h"

enum { ANSWER_MAX = 1 << 20, BACKLOG = 32, GROUPS_MAX = 1024 };

static const char group_name[] = "weft";
static const char too_long[] = "error the line is too long\n";

bool control_socket_is_name(const char *name)
{
	size_t len = strlen(name);

	for (const char *at = name; *at; at++)
		if (!text_is_name_char(*at) && *at != '-')
			return false;
	return len && len < CONTROL_SOCKET_NAME;
}

static struct sockaddr_un address_of(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), UNDO_DIR "/%s.sock", name);
	return address;
}

/* Whether a process listens there. */
static bool is_served(const struct sockaddr_un *address)
{
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd >= 0 && (!connect(fd, (const struct sockaddr *)address, sizeof(*address)) || errno == EAGAIN);
}

/*
 * Lets the members of the group reach the socket. What else is in its directory has a mode of its own, for root only.
 * Returns the group; 0: there is none.
 */
static gid_t admit(const char *path)
{
	cleanup_fd int dir = open(UNDO_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct group group, *found = NULL;
	char memory[4096];

	if (getgrnam_r(group_name, &group, memory, sizeof(memory), &found) || !found)
		return 0;
	if (dir < 0 || trust_check(dir, S_IFDIR, UNDO_DIR, NULL) || fchown(dir, (uid_t)-1, group.gr_gid) ||
	    fchmod(dir, 0710) || chown(path, (uid_t)-1, group.gr_gid) || chmod(path, 0660))
		return 0;
	return group.gr_gid;
}

int control_socket_open(const char *name, struct control_socket *ret, struct fail *fail)
{
	struct sockaddr_un address = address_of(name);
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return fail_set(fail, -errno, "cannot make a socket: %s", strerror(errno));
	/* The mode of the socket's file is that of the socket. */
	if (fchmod(fd, 0600))
		return fail_set(fail, -errno, "cannot make a socket: %s", strerror(errno));
	err = bind(fd, (struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
	if (err == -EADDRINUSE && is_served(&address))
		return fail_set(fail, -EBUSY, "a flight named '%s' runs already; --name gives this one another name",
				name);
	/* A flight that was killed has left its socket. */
	if (err == -EADDRINUSE && !unlink(address.sun_path))
		err = bind(fd, (struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
	if (!err && listen(fd, BACKLOG))
		err = -errno;
	if (err)
		return fail_set(fail, err, "cannot listen at '%s': %s", address.sun_path, strerror(-err));
	*ret = (struct control_socket){ .fd = fd_take(&fd), .group = admit(address.sun_path) };
	snprintf(ret->path, sizeof(ret->path), "%s", address.sun_path);
	for (size_t i = 0; i < CONTROL_SOCKET_CLIENTS; i++)
		ret->clients[i].fd = -1;
	return 0;
}

static void drop(struct control_socket_client *client)
{
	cleanup_fd_close(&client->fd);
	*client = (struct control_socket_client){ .fd = -1 };
}

void control_socket_close(struct control_socket *control)
{
	if (control->fd < 0)
		return;
	for (size_t i = 0; i < CONTROL_SOCKET_CLIENTS; i++)
		drop(&control->clients[i]);
	unlink(control->path);
	cleanup_fd_close(&control->fd);
	control->fd = -1;
}

size_t control_socket_fds(const struct control_socket *control, struct pollfd *fds)
{
	size_t nr = 0;

	fds[nr++] = (struct pollfd){ .fd = control->fd, .events = POLLIN };
	for (size_t i = 0; i < CONTROL_SOCKET_CLIENTS; i++)
		if (control->clients[i].fd >= 0)
			fds[nr++] = (struct pollfd){ .fd = control->clients[i].fd, .events = POLLIN };
	return nr;
}

/* Whether the process at the other end belongs to the group. */
static bool is_member(int fd, gid_t gid, gid_t group)
{
	gid_t groups[GROUPS_MAX];
	socklen_t size = sizeof(groups);

	if (!group || gid == group)
		return group;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size))
		return false;
	for (size_t i = 0; i < size / sizeof(*groups); i++)
		if (groups[i] == group)
			return true;
	return false;
}

/*
 * Makes a place free of the client that is the longest in sending its line, and of no owner. NULL: all have sent
 * theirs.
 */
static struct control_socket_client *make_room(struct control_socket *control)
{
	struct control_socket_client *oldest = NULL;

	for (size_t i = 0; i < CONTROL_SOCKET_CLIENTS; i++) {
		struct control_socket_client *client = &control->clients[i];

		if (client->fd >= 0 && !client->is_owner && !client->waits_for &&
		    (!oldest || client->since_ns < oldest->since_ns))
			oldest = client;
	}
	if (oldest)
		drop(oldest);
	return oldest;
}

static struct control_socket_client *find_place(struct control_socket *control, bool is_owner)
{
	struct control_socket_client *place = NULL;
	unsigned guests = 0;

	for (size_t i = 0; i < CONTROL_SOCKET_CLIENTS; i++) {
		struct control_socket_client *client = &control->clients[i];

		if (client->fd < 0)
			place = client;
		else
			guests += !client->is_owner;
	}
	return place && (is_owner || guests < CONTROL_SOCKET_GUESTS) ? place : make_room(control);
}

static void say(int fd, const char *text)
{
	(void)!send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Takes a client, if there is one. */
static bool greet(struct control_socket *control)
{
	cleanup_fd int fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct control_socket_client *place;
	struct ucred peer;
	socklen_t size = sizeof(peer);
	bool is_owner;

	if (fd < 0)
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return true;
	is_owner = trust_is_ours(peer.uid);
	if (!is_owner && !is_member(fd, peer.gid, control->group)) {
		say(fd, "error only root and the members of the group 'weft' may ask a flight\n");
		return true;
	}
	place = find_place(control, is_owner);
	if (!place)
		say(fd, "error too many ask at the same time\n");
	else
		*place = (struct control_socket_client){ .fd = fd_take(&fd),
							 .is_owner = is_owner,
							 .since_ns = now_ns() };
	return true;
}

/* Takes what a client has sent. True: its line is complete. */
static bool take_line(struct control_socket_client *client)
{
	ssize_t got = io_again(read(client->fd, client->line + client->len, sizeof(client->line) - 1 - client->len));
	char *newline;

	if (got < 0 && errno == EAGAIN) {
		if (!client->waits_for && now_ns() - client->since_ns > CONTROL_SOCKET_PATIENCE_S * NS_PER_S)
			drop(client);
		return false;
	}
	/* It has gone, or it sends more than one line. */
	if (got <= 0 || client->waits_for) {
		drop(client);
		return false;
	}
	client->len += (size_t)got;
	newline = memchr(client->line, '\n', client->len);
	if (newline)
		*newline = '\0';
	else if (client->len == sizeof(client->line) - 1)
		control_socket_answer(client, too_long, strlen(too_long));
	return newline;
}

void control_socket_look(struct control_socket *control, void (*heed)(void *arg, struct control_socket_client *client),
			 void *arg)
{
	/* Not more in one turn than there are places: a flood of clients must not hold the flight up. */
	for (size_t i = 0; i < CONTROL_SOCKET_CLIENTS && greet(control); i++)
		continue;
	for (size_t i = 0; i < CONTROL_SOCKET_CLIENTS; i++) {
		struct control_socket_client *client = &control->clients[i];

		if (client->fd >= 0 && take_line(client))
			heed(arg, client);
	}
}

void control_socket_answer(struct control_socket_client *client, const char *text, size_t len)
{
	/* An answer is small: a client that does not read it loses it. */
	(void)!send(client->fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	drop(client);
}

static int talk(int fd, const char *line, struct buf *answer)
{
	cleanup_buf struct buf text = BUF_INIT;
	int err = buf_addf(&text, "%s\n", line) ? 0 : -ENOMEM;

	if (!err)
		err = io_write(fd, buf_str(&text), text.len);
	return err ? err : io_read_all(fd, ANSWER_MAX, answer);
}

/* The flights that run, as "'a', 'b'"; their number. Who may not read the directory sees none. */
static size_t list_flights(struct buf *into)
{
	cleanup_fd int dir = open(UNDO_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = dir < 0 ? NULL : dir_entries(dir);
	const struct dirent *entry;
	char name[CONTROL_SOCKET_NAME];
	struct sockaddr_un address;
	size_t nr = 0;

	while (entries && (entry = readdir(entries))) {
		size_t len = strlen(entry->d_name), end = strlen(".sock");

		if (len <= end || len - end >= sizeof(name) || strcmp(entry->d_name + len - end, ".sock") != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(len - end), entry->d_name);
		address = address_of(name);
		if (is_served(&address) && buf_addf(into, "%s'%s'", nr ? ", " : "", name))
			nr++;
	}
	if (entries)
		closedir(entries);
	return nr;
}

static int tell_none(const char *name, struct fail *fail)
{
	cleanup_buf struct buf names = BUF_INIT;
	size_t nr = list_flights(&names);

	if (nr)
		return fail_set(fail, -ENOENT, "no flight named '%s' runs; --name chooses %s%s, which run%s", name,
				nr > 1 ? "one of " : "", buf_str(&names), nr > 1 ? "" : "s");
	return fail_set(fail, -ENOENT, "no flight named '%s' runs; 'weft flight start' begins one", name);
}

int control_socket_ask(const char *name, const char *line, struct buf *answer, struct fail *fail)
{
	struct sockaddr_un address = address_of(name);
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return fail_set(fail, -errno, "cannot make a socket: %s", strerror(errno));
	if (strlen(line) > CONTROL_SOCKET_LINE - 2)
		return fail_set(fail, -E2BIG, "the reason has more than %d letters", CONTROL_SOCKET_LINE - 32);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		err = -errno;
		if (err == -ENOENT || err == -ECONNREFUSED)
			return tell_none(name, fail);
		return fail_set(fail, err, "cannot ask the flight '%s': %s%s", name, strerror(-err),
				err == -EACCES ? "; root and the group 'weft' may" : "");
	}
	err = talk(fd, line, answer);
	return err ? fail_set(fail, err, "the flight '%s' does not answer: %s", name, strerror(-err)) : 0;
}
