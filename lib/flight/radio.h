/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FLIGHT_RADIO_H
#define WEFT_FLIGHT_RADIO_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct fail;
struct pollfd;

/*
 * The socket by which other processes ask a flight: UNDO_DIR/NAME.sock, for root and, if it exists, the group "weft". A
 * client sends one line, "dump REASON" or "status"; it gets a text and the end of the connection. Nobody can configure
 * a flight through it.
 *
 * Who asks is known from the kernel (SO_PEERCRED), whatever the mode of the socket. Nothing waits for a client: one
 * that has not sent its line after RADIO_PATIENCE_S has to go, sooner if others come, and some places are for root.
 */
enum { RADIO_CLIENTS = 16, RADIO_GUESTS = 12, RADIO_LINE = 512, RADIO_NAME = 32, RADIO_PATIENCE_S = 5 };

struct radio {
	int fd;
	gid_t group;    /* who else may ask; 0: nobody */
	char path[108]; /* as in struct sockaddr_un */
	struct radio_client {
		int fd; /* -1: the place is free */
		char line[RADIO_LINE];
		size_t len;
		bool is_owner;      /* root, or the user of the flight */
		uint64_t since_ns;  /* when it came */
		unsigned waits_for; /* the number of the file after which it gets its answer; 0: none */
	} clients[RADIO_CLIENTS];
};

/* Whether it can be the name of a flight: letters, digits, '-' and '_'. */
bool radio_is_name(const char *name);

/* -EBUSY: a flight of this name runs. */
int must_check radio_open(const char *name, struct radio *ret, struct fail *fail);
/* Closes and removes the socket; its clients get the end of their connections. */
void radio_close(struct radio *radio);

/* The descriptors to wait for; returns their number, at most RADIO_CLIENTS + 1. */
size_t radio_fds(const struct radio *radio, struct pollfd *fds);
/* Takes new clients and what they send; calls `heed` for each complete line. */
void radio_look(struct radio *radio, void (*heed)(void *arg, struct radio_client *client), void *arg);
/* Sends the text to a client and ends its connection. */
void radio_answer(struct radio_client *client, const char *text, size_t len);

/* The other end: asks the flight of this name and appends its answer. -ENOENT: there is none. */
int must_check radio_ask(const char *name, const char *line, struct buf *answer, struct fail *fail);

#endif
