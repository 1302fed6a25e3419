/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_SERVICE_INTERNAL_H
#define WEFT_KERNEL_FLIGHT_SERVICE_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/flight/service.h"

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

struct pollfd;
struct wake;

/*
 * What makes a flight a service: the signals SIGUSR1 and SIGHUP, the manager of services (notify_internal.h), and
 * options that are read anew. Those are tried by a process of its own, which sets up what they say and removes it
 * again, so that wrong ones end no flight. The flight goes on meanwhile.
 */
struct service {
	struct service_options options;
	void (*tell)(const char *text);
	struct notify notify;
	int signal_fd; /* SIGUSR1; SIGHUP, if options can be read anew */
	sigset_t old_mask;
	pid_t trying; /* the process that tries the options; 0: none runs */
	int try_fd;   /* becomes readable when it has ended */
	bool again;   /* the options were changed once more meanwhile */
};

/* The state before service_open(), which service_close() allows. */
#define SERVICE_NONE                                                  \
	{                                                             \
		.notify = { .fd = -1 }, .signal_fd = -1, .try_fd = -1 \
	}

enum { SERVICE_FDS = 2 };
enum service_event { SERVICE_NOTHING, SERVICE_DUMP, SERVICE_END, SERVICE_RELOAD };

/* Threads that are started later leave the signals alone, too. */
int must_check service_open(struct service *service, const struct service_options *options,
			    void (*tell)(const char *text), struct wake *wake, struct fail *fail);
void service_close(struct service *service);

/* The first SERVICE_FDS places of `fds` are filled. */
void service_fds(const struct service *service, struct pollfd *fds);
/* Looks at them after poll(). *ret_pid: who asks for a dump. */
enum service_event service_look(struct service *service, const struct pollfd *fds, pid_t *ret_pid);
/* Sends a sign of life if it is time. Returns the ms until it is to be called again, at most `most`. */
int service_alive(struct service *service, int most);

/* Tells the manager, and no one else. */
void service_ready(struct service *service, const char *dir);
void service_stopping(struct service *service);

#endif
