/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_FILES_LOAD_INTERNAL_H
#define WEFT_MEANING_FOLLOW_FILES_LOAD_INTERNAL_H

#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/files_internal.h"
#include "lib/meaning/follow/roles.h"

/* What is needed while the list and the events are read: files_load.c, and of sockets files_sockets.c. */
enum { FILES_LEVELS = 16, FILES_ITEMS_MAX = 1 << 26 };

/* A line of /proc/self/mountinfo: what the path of a device in the file system is for programs. */
struct files_mount {
	uint32_t device;
	char *root, *place;
};

enum { FILES_PEER_UNKNOWN = -1 };

struct files_socket {
	uint64_t inode, told; /* when its addresses became known; `named`: they did */
	int64_t peer;         /* the inode at the other end of a UNIX socket; 0: none, FILES_PEER_UNKNOWN */
	uint32_t file;        /* FILES_UNKNOWN: no descriptor has it yet */
	uint32_t between;     /* a text: the addresses, or of a UNIX socket its own; FILES_UNKNOWN: none */
	bool local, named;
};

/* What bind(2) is about to call a UNIX socket. */
struct files_binding {
	uint64_t inode;
	uint32_t name;
};

struct files_load {
	struct files *files;
	struct roles roles;
	struct u64_map tables;  /* by PID of a task: uint32_t, its table + 1 */
	struct u64_map groups;  /* by PID of a process: uint32_t, the table + 1 with which it began */
	struct u64_map last;    /* by PID of a task: uint32_t, the name that it had last */
	struct u64_map sockets; /* by inode: struct files_socket */
	struct u64_map socks;   /* by the address of the kernel's struct sock: uint64_t, the inode */
	struct u64_map binds;   /* by PID of a task: struct files_binding */
	struct u64_map rings; /* by the address of the kernel's struct io_kiocb: uint32_t, index + 1 in files::urings */
	struct u64_map fixed; /* by PID of a task: uint64_t, the request for which it is looking for a file */
	struct files_places {
		bool bound;
		struct place fd, ino, mode, device, name, pointer, pid, flags, last, level[FILES_LEVELS];
		struct place sock, state, family, port, peer_port, address, peer, address6, peer6;
		struct place other, length, path, abstract;
		struct place request, operation, number, result, more;
		struct place guard, to, to_socket, named; /* pointers: null, and what is behind them was not read */
	} * places;                                       /* by event_type::index */
	size_t nr_places;
	struct files_mount *mounts;
	size_t nr_mounts;
};

/* files_texts.c: the file of a text, which is stored once. */
uint32_t files_of_text(struct files_load *load, const char *text, size_t len);
/* The text of a field; its length. */
size_t files_field_text(const struct place *place, const struct event *event, const char **ret);

/* files_sockets.c: a socket of the list with this inode, and its name then. */
uint32_t files_list_socket(struct files_load *load, uint64_t inode, const char *name, size_t len);
bool files_is_socket(const char *name, size_t len);
/* A descriptor gets the socket. */
void files_name_socket(struct files_load *load, uint64_t inode, uint32_t file);
/* A new socket, or one whose connection now stands, that listens, or that has got addresses. */
void files_see_socket(struct files_load *load, const struct files_places *places, const struct event *event);
/* A UNIX socket that is connected, or gets its name. */
void files_see_local(struct files_load *load, const struct files_places *places, const struct event *event);

/* files_uring.c */
enum files_uring_role { FILES_URING_SUBMIT, FILES_URING_FILE, FILES_URING_FIXED, FILES_URING_COMPLETE };
/* `file` is only asked of FILES_URING_FIXED. */
void files_see_uring(struct files_load *load, const struct files_places *places, const struct event *event,
		     enum files_uring_role role, uint32_t file);

#endif
