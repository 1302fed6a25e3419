/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_CONTROL_SOCKET_H
#define WEFT_KERNEL_FLIGHT_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct pollfd;

/*
 * The socket by which other processes ask a flight: UNDO_DIR/NAME.sock, for root and, if it exists, the group "weft". A
 * client sends one line, "dump REASON", "sample N REASON" (a dump that stands for N), "status" or "status json"; it
 * gets a text and the end of the connection. Nobody can configure a flight through it.
 *
 * Who asks is known from the kernel (SO_PEERCRED), whatever the mode of the socket. Nothing waits for a client: one
 * that has not sent its line after CONTROL_SOCKET_PATIENCE_S has to go, sooner if others come, and some places are for
 * root.
 */
enum {
	CONTROL_SOCKET_CLIENTS = 16,
	CONTROL_SOCKET_GUESTS = 12,
	CONTROL_SOCKET_LINE = 512,
	CONTROL_SOCKET_NAME = 32,
	CONTROL_SOCKET_PATIENCE_S = 5
};

struct control_socket {
	int fd;
	gid_t group;    /* who else may ask; 0: nobody */
	char path[108]; /* as in struct sockaddr_un */
	struct control_socket_client {
		int fd; /* -1: the place is free */
		char line[CONTROL_SOCKET_LINE];
		size_t len;
		bool is_owner;      /* root, or the user of the flight */
		uint64_t since_ns;  /* when it came */
		unsigned waits_for; /* the number of the file after which it gets its answer; 0: none */
	} clients[CONTROL_SOCKET_CLIENTS];
};

/* Whether it can be the name of a flight: letters, digits, '-' and '_'. */
bool control_socket_is_name(const char *name);

/* -EBUSY: a flight of this name runs. */
int must_check control_socket_open(const char *name, struct control_socket *ret, struct fail *fail);
/* Closes and removes the socket; its clients get the end of their connections. */
void control_socket_close(struct control_socket *control);

/* The descriptors to wait for; returns their number, at most CONTROL_SOCKET_CLIENTS + 1. */
size_t control_socket_fds(const struct control_socket *control, struct pollfd *fds);
/* Takes new clients and what they send; calls `heed` for each complete line. */
void control_socket_look(struct control_socket *control, void (*heed)(void *arg, struct control_socket_client *client),
			 void *arg);
/* Sends the text to a client and ends its connection. */
void control_socket_answer(struct control_socket_client *client, const char *text, size_t len);

/* The other end: asks the flight of this name and appends its answer. -ENOENT: there is none. */
int must_check control_socket_ask(const char *name, const char *line, struct buf *answer, struct fail *fail);

#endif
