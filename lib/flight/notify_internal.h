/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FLIGHT_NOTIFY_INTERNAL_H
#define WEFT_FLIGHT_NOTIFY_INTERNAL_H

#include "lib/base/cleanup.h"

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct fail;

/*
 * Tells the manager of services how a service is, as sd_notify(3) does: a datagram of "NAME=VALUE" lines to the socket
 * that it names. Who does not listen, or too slowly, misses it: a flight does not wait for the manager.
 */
struct notify {
	int fd; /* -1: nobody wants to know */
	struct sockaddr_un address;
	socklen_t len;
	uint64_t every_ns; /* how often a sign of life is sent, half of what is allowed; 0: none is asked for */
	uint64_t alive_ns; /* when the last one was sent */
};

/*
 * `path` is the value of NOTIFY_SOCKET: a path, or a name of the abstract namespace after '@'; NULL: none.
 * `watchdog_ns`: without a sign of life for so long the manager ends the service; 0: it does not.
 */
int must_check notify_open(const char *path, uint64_t watchdog_ns, struct notify *ret, struct fail *fail);
void notify_close(struct notify *notify);

void notify_say(struct notify *notify, const char *text);
/* "STATUS=" and the text, which people read. */
__attribute__((format(printf, 2, 3))) void notify_status(struct notify *notify, const char *format, ...);
/* Says that the service reads its configuration anew, with the time as the manager wants it. */
void notify_reloading(struct notify *notify);
/* Sends a sign of life if it is time. Returns the ms until the next one, at most `most`. */
int notify_alive(struct notify *notify, int most);

#endif
