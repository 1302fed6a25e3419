/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FLIGHT_SERVICE_INTERNAL_H
#define WEFT_FLIGHT_SERVICE_INTERNAL_H

#include "lib/base/cleanup.h"
#include "lib/flight/notify_internal.h"
#include "lib/flight/service.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct fail;
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
