// SPDX-License-Identifier: LGPL-2.1-or-later
/* What sockets are called (files.h): between which addresses they are, and which other socket is at their other end. */
#include "lib/meaning/follow/files_load_internal.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"

static void add_rename(struct files_load *load, uint64_t since, uint32_t file, uint32_t to)
{
	struct files *files = load->files;
	struct files_rename *rename =
		files->nr_renames < FILES_ITEMS_MAX ? vec_push(files->renames, files->nr_renames) : NULL;

	files->starved |= !rename;
	if (rename)
		*rename = (struct files_rename){ since, file, to };
}

static void rename_socket(struct files_load *load, const struct files_socket *socket)
{
	struct files *files = load->files;
	cleanup_buf struct buf text = BUF_INIT;
	const char *name = files->texts.data + files->at[socket->file];
	const char *between = socket->between == FILES_UNKNOWN ? "" : files->texts.data + files->at[socket->between];
	bool ok = buf_addf(&text, "%.*s:[", (int)strcspn(name, ":"), name);

	if (socket->local || !*between)
		ok = ok && buf_addf(&text, "%llu", (unsigned long long)socket->inode);
	if (socket->peer)
		ok = ok &&
		     (socket->peer == FILES_PEER_UNKNOWN ? buf_add_str(&text, "->(unknown)") :
							   buf_addf(&text, "->%llu", (unsigned long long)socket->peer));
	if (!ok || !buf_add_str(&text, between) || !buf_add_str(&text, "]")) {
		files->starved = true;
		return;
	}
	add_rename(load, socket->told, socket->file, files_of_text(load, text.data, text.len));
}

/*
 * The socket with this inode; NULL without memory, and for what is none. It is where it is until another is asked for.
 */
static struct files_socket *socket_at(struct files_load *load, uint64_t inode)
{
	struct files_socket *socket = inode ? u64_map_add(&load->sockets, inode) : NULL;

	load->files->starved |= load->sockets.starved;
	if (socket)
		socket->inode = inode;
	return socket;
}

/*
 * A socket of the list: it has its number as a name of its own, behind which is what it is called at the start, because
 * several may be called the same.
 */
uint32_t files_list_socket(struct files_load *load, uint64_t inode, const char *name, size_t len)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *peer = strstr(name, "->"), *bound = strchr(name, ',');
	struct files_socket *socket = socket_at(load, inode);
	uint32_t called = files_of_text(load, name, len);

	if (!socket || !buf_addf(&text, "%.*s:[%llu]", (int)strcspn(name, ":"), name, (unsigned long long)inode))
		return called;
	if (socket->file != FILES_UNKNOWN)
		return socket->file;
	socket->file = files_of_text(load, text.data, text.len);
	socket->local = !strncmp(name, "UNIX", 4);
	if (socket->local) {
		if (peer && (!bound || peer < bound))
			socket->peer = peer[2] == '(' ? FILES_PEER_UNKNOWN : strtoll(peer + 2, NULL, 10);
		if (bound && name[len - 1] == ']')
			socket->between = files_of_text(load, bound, len - 1 - (size_t)(bound - name));
	}
	if (called != socket->file)
		add_rename(load, 0, socket->file, called);
	return socket->file;
}

bool files_is_socket(const char *name, size_t len)
{
	size_t kind = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_ ");

	return len > kind + 2 && name[kind] == ':' && name[kind + 1] == '[' && strncmp(name, "pipe:", 5) &&
	       strncmp(name, "anon_inode:", 11);
}

/* A descriptor gets the socket. */
void files_name_socket(struct files_load *load, uint64_t inode, uint32_t file)
{
	struct files_socket *socket = socket_at(load, inode);

	if (!socket || socket->file == file)
		return;
	socket->file = file;
	if (socket->named)
		rename_socket(load, socket);
}

/* What was asked for about the socket is known from this event on. */
static void tell_socket(struct files_load *load, struct files_socket *socket, const struct event *event)
{
	socket->told = event->ts;
	socket->named = true;
	if (socket->file != FILES_UNKNOWN)
		rename_socket(load, socket);
}

/* "127.0.0.1:80", or "[::1]:80" as strace prints it. */
static bool put_address(const struct place *place, const struct event *event, int family, unsigned port,
			struct buf *into)
{
	char text[INET6_ADDRSTRLEN];
	const uint8_t *address;
	size_t len;

	if (!place->field || !place_bytes(place, event, &address, &len) || len != (family == AF_INET ? 4 : 16) ||
	    !inet_ntop(family, address, text, sizeof(text)))
		return false;
	return buf_addf(into, family == AF_INET ? "%s:%u" : "[%s]:%u", text, port);
}

/* Between which addresses a socket is. False: between none. */
static bool put_between(const struct files_places *places, const struct event *event, struct buf *into)
{
	int family = (int)place_u64(&places->family, event);
	const struct place *address = family == AF_INET ? &places->address : &places->address6;
	const struct place *peer = family == AF_INET ? &places->peer : &places->peer6;
	unsigned port = (unsigned)place_u64(&places->port, event), peer_port = 0;
	const uint8_t *bytes;
	size_t len;

	if ((family != AF_INET && family != AF_INET6) || !port)
		return false;
	/* Ours is in the order of the network, that of the event is a number. */
	if (place_bytes(&places->peer_port, event, &bytes, &len) && len == 2)
		peer_port = places->state.field ? (unsigned)place_u64(&places->peer_port, event) :
						  (unsigned)bytes[0] << 8 | bytes[1];
	return put_address(address, event, family, port, into) &&
	       (!peer_port || (buf_add_str(into, "->") && put_address(peer, event, family, peer_port, into)));
}

/* The name of a UNIX socket, as strace prints it: ,"/run/x", or ,@"name" of one without a file. */
static uint32_t bound_of(struct files_load *load, const struct files_places *places, const struct event *event)
{
	/* of the family, before the name */
	enum { FAMILY = 2, NAME_SIZE = 108 };
	cleanup_buf struct buf text = BUF_INIT;
	uint64_t length = place_u64(&places->length, event);
	const char *name;
	size_t len = files_field_text(&places->path, event, &name);
	bool whole = true, abstract = !len;

	if ((places->named.field && !place_u64(&places->named, event)) || length <= FAMILY ||
	    length > FAMILY + NAME_SIZE)
		return FILES_UNKNOWN;
	length -= FAMILY;
	if (abstract) {
		len = files_field_text(&places->abstract, event, &name);
		length--;
		/* A zero byte in the name ends what was recorded of it. */
		whole = len >= length;
	}
	len = len < length ? len : (size_t)length;
	if (!buf_addf(&text, ",%s\"", abstract ? "@" : "") || !buf_add(&text, name, len) ||
	    !buf_add_str(&text, whole ? "\"" : "\"..."))
		return FILES_UNKNOWN;
	return files_of_text(load, text.data, text.len);
}

/* On a kernel that forgets arguments, a UNIX socket has its name when bind(2) has returned. */
static void see_bound(struct files_load *load, const struct event *event)
{
	const struct files_binding *binding = u64_map_find(&load->binds, (uint32_t)event->pid);
	struct files_socket *socket = binding ? socket_at(load, binding->inode) : NULL;

	if (socket) {
		socket->local = true;
		socket->between = binding->name;
		tell_socket(load, socket, event);
	}
	u64_map_remove(&load->binds, (uint32_t)event->pid);
}

/* The inode of the socket at the other end; 0: there is none, or nobody has accepted it yet. */
static uint64_t other_of(const struct files_places *places, const struct event *event)
{
	if (places->to.field && (!place_u64(&places->to, event) || !place_u64(&places->to_socket, event)))
		return 0;
	return place_u64(&places->other, event);
}

void files_see_local(struct files_load *load, const struct files_places *places, const struct event *event)
{
	uint64_t inode = place_u64(&places->ino, event), other = other_of(places, event);
	uint32_t bound = places->length.field ? bound_of(load, places, event) : FILES_UNKNOWN;
	struct files_socket *socket;

	if (!places->ino.field) {
		see_bound(load, event);
		return;
	}
	if (places->length.field && !places->other.field) {
		struct files_binding *binding = u64_map_add(&load->binds, (uint32_t)event->pid);

		if (binding)
			*binding = (struct files_binding){ inode, bound };
		return;
	}
	socket = socket_at(load, inode);
	if (!socket)
		return;
	socket->local = true;
	socket->peer = places->other.field ? (int64_t)other : FILES_PEER_UNKNOWN;
	if (places->length.field)
		socket->between = bound;
	tell_socket(load, socket, event);
	/* A pair, and what was accepted, are connected in both directions. */
	socket = !places->length.field || places->family.field ? socket_at(load, other) : NULL;
	if (!socket || !places->other.field)
		return;
	socket->local = true;
	socket->peer = (int64_t)inode;
	tell_socket(load, socket, event);
}

/* A new socket, or one whose connection now stands, or that listens. */
void files_see_socket(struct files_load *load, const struct files_places *places, const struct event *event)
{
	/* TCP_ESTABLISHED and TCP_LISTEN of include/net/tcp_states.h */
	enum { ESTABLISHED = 1, LISTEN = 10 };
	cleanup_buf struct buf text = BUF_INIT;
	uint64_t sock = place_u64(&places->sock, event), inode = place_u64(&places->ino, event), *known;
	uint64_t state = place_u64(&places->state, event);
	struct files_socket *socket;
	uint32_t between;

	if (places->guard.field && !place_u64(&places->guard, event))
		return;
	if (places->state.field) {
		known = u64_map_find(&load->socks, sock);
		if (!known || (state != ESTABLISHED && state != LISTEN))
			return;
		inode = *known;
	} else {
		known = sock ? u64_map_add(&load->socks, sock) : NULL;
		load->files->starved |= load->socks.starved;
		if (known)
			*known = inode;
		socket = places->family.field ? NULL : u64_map_find(&load->sockets, inode);
		/* The inode is of another socket than before. */
		if (socket && socket->file != FILES_UNKNOWN)
			u64_map_remove(&load->sockets, inode);
	}
	if (places->family.field && place_u64(&places->family, event) == AF_UNIX) {
		files_see_local(load, places, event);
		return;
	}
	socket = socket_at(load, inode);
	if (!socket || !places->family.field)
		return;
	between = put_between(places, event, &text) ? files_of_text(load, text.data, text.len) : FILES_UNKNOWN;
	/* What is unlocked without addresses had none before, or has lost them. */
	if (between == socket->between)
		return;
	socket->between = between;
	tell_socket(load, socket, event);
}
